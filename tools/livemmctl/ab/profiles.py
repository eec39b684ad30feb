# SPDX-License-Identifier: GPL-2.0-only
"""An arm's settings: written in the experiment, or those of a profile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from livemmctl.ab.fields import Fields

_NAME = re.compile(r"[a-z0-9_]+\Z")
# What the parameter's own grammar uses, or cannot carry.
_VALUE = re.compile(r"[^\s,;\x00-\x1f\x7f-\U0010ffff]*\Z")


def arm_settings(fields: Fields, folder: Path) -> dict[str, dict[str, str]]:
    """Settings by policy and knob, of an arm's table; empty is stock.

    Raises CtlError, USAGE, that names the key.
    """
    return policy_tables(fields.table("policies"))


def policy_tables(tables: Fields) -> dict[str, dict[str, str]]:
    """`[policies.NAME]` tables with a knob a key.  Raises CtlError, USAGE."""
    settings: dict[str, dict[str, str]] = {}
    for policy, table in tables.rest().items():
        if not _NAME.match(policy):
            raise tables.error(policy, "not a policy's name")
        knobs = Fields(table, tables.place(policy), tables.source)
        settings[policy] = {}
        for key, value in knobs.rest().items():
            if not _NAME.match(key):
                raise knobs.error(key, "not a knob's name")
            settings[policy][key] = _text(knobs, key, value)
        enabled = settings[policy].setdefault("enabled", "1")
        if enabled not in ("0", "1"):
            raise knobs.error("enabled", "true or false is wanted")
    return settings


def _text(knobs: Fields, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    # Bounded before it becomes text: Python refuses to print larger integers.
    if isinstance(value, int) and abs(value) < 1 << 64:
        return str(value)
    if isinstance(value, str) and _VALUE.match(value):
        return value
    raise knobs.error(key, "wanted is true, false, an integer, or a text without blanks")
