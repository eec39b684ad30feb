# SPDX-License-Identifier: GPL-2.0-only
"""Names of knobs: what to say of an unknown name, and what ABI 2 renamed.

Profiles, experiments and journals that were written for ABI 1 may hold the old names.
"""

import re
from collections.abc import Iterable, Mapping

from livemmctl.errors import CtlError, UsageError

#: Old name -> name since ABI 2, by policy; the same table is in CHANGELOG.md.
RENAMED: dict[str, dict[str, str]] = {
    "pcp": {"keep_at_exit": "limit_exit_drain"},
}

_REFUSED = re.compile(r"(\w+)/(\w+): no such knob")


def hint(policy: str, key: str) -> str | None:
    """What to do about a name that was renamed; None for any other name."""
    name = RENAMED.get(policy, {}).get(key)
    return f"since ABI 2 the knob is called {policy}/{name}" if name else None


def hint_for(reason: str) -> str | None:
    """The same for the kernel's words of a refused write."""
    found = _REFUSED.match(reason)
    return hint(found[1], found[2]) if found else None


def unknown(policy: str, key: str, knobs: Iterable[str], where: str = "") -> CtlError:
    """The error for a knob that the policy does not have; `where` names a file."""
    place = f"{where}: " if where else ""
    return UsageError(f"{place}{policy}/{key}: no such knob; there are: {', '.join(knobs)}",
                      hint(policy, key))


def renewed(policy: str, knobs: Mapping[str, str]) -> dict[str, str]:
    """Knobs under the names of ABI 2."""
    names = RENAMED.get(policy, {})
    return {names.get(key, key): value for key, value in knobs.items()}
