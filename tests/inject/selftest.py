# SPDX-License-Identifier: GPL-2.0-only
"""The cases in which allocations fail, tried without a guest; tests.selftest runs these checks."""

from __future__ import annotations

from tests import tables
from tests.inject import cases


def cases_cover_policies() -> str:
    """Each policy is switched on, off and into each mode; a case is read as it was written."""
    rows = tables.tables()
    groups = cases.groups(rows, tables.policies())
    for policy, found in rows.items():
        names = [case.name for case in groups[policy]]
        wanted = ["on", "off", *(f"on in mode {mode}" for mode in cases.modes(found)[1:])]
        if missing := set(wanted) - set(names):
            return f"{policy}: no case {', '.join(missing)}"
    every = [case for group in groups.values() for case in group]
    return "" if cases.parse(cases.dump(every)) == every else "a case is read otherwise"


def settings_are_legal() -> str:
    """The settings that cases write are no defaults, and are accepted."""
    for policy, found in tables.tables().items():
        text = f"{policy}:{cases.some_settings(found)}"
        errno, reason = tables.judge("", text)
        if errno:
            return f"{text}: {reason}"
    return ""


CHECKS = {
    "cases of failing allocations cover each policy": cases_cover_policies,
    "settings of failing allocations are legal": settings_are_legal,
}
