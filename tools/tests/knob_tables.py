# SPDX-License-Identifier: GPL-2.0-only
"""What the module and its documents say, for the tests of the tools."""

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "module"
TOOLS = ROOT / "tools"
sys.path.insert(0, str(ROOT))

from tests.tables import Knob, defaults_toml, judge, tables  # noqa: E402

__all__ = ["MODULE", "ROOT", "TOOLS", "Knob", "counters", "defaults_toml", "documented", "judge",
           "knobs"]


def knobs(release: tuple[int, int] = (6, 1)) -> dict[str, list[Knob]]:
    """Knobs of every policy, in the order of the module, as built for a kernel release."""
    return {policy: found.knobs for policy, found in tables(release).items()}


def counters() -> dict[str, list[str]]:
    return {policy: found.counters for policy, found in tables().items()}


@cache
def documented() -> dict[str, str]:
    """Every file that debugfs-docs/ has an entry of, and the entry's text.

    An entry with <policy> in its name is an entry of each policy's file.
    """
    found = {}
    for path in (ROOT / "debugfs-docs").iterdir():
        for entry in path.read_text(encoding="utf-8").split("What:\t")[1:]:
            name, _, text = entry.partition("\n")
            for policy in tables():
                path_of_file = name.strip().replace("<policy>", policy)
                found[path_of_file] = text.partition("Description:\n")[2]
    return found
