# SPDX-License-Identifier: GPL-2.0-only
"""A profile as a TOML document, read and written.

    description = "what it is for"

    [policy.pcp]
    enabled = true
    decay_ms = 2000
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from livemmctl.control import Knobs, Settings, settings_text
from livemmctl.errors import CtlError, UsageError
from livemmctl.files import only_keys, parse_toml

_NUMBER = re.compile(r"\d+(\.\d+)?\Z", re.A)


@dataclass(frozen=True)
class Profile:
    """What a profile names, in the module's words."""

    name: str
    description: str
    #: Policy to knob to value; `enabled` is always among the knobs.
    policies: Knobs


def value_text(value: Any, where: str) -> str:
    """A TOML value as the module reads it.  Raises CtlError, USAGE, naming `where`."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        # More digits than any knob takes; Python would refuse to print some.
        if abs(value) >= 10**20:
            raise UsageError(f"{where}: too large a number")
        return str(value)
    if isinstance(value, float):
        # The module's decimals are tenths: 12.5, and 10 for 10.0.
        text = repr(value)
        return text.removesuffix(".0")
    if isinstance(value, str):
        return value
    raise UsageError(
        f"{where}: {type(value).__name__}: neither a number, true or false, nor a text"
    )


def parse_policies(tables: Any, where: str) -> Knobs:
    """The tables [policy.NAME].  Raises CtlError, USAGE, that names policy and key."""
    if not isinstance(tables, dict):
        raise UsageError(f"{where}: policy: not a table; write [policy.NAME]")
    found: Knobs = {}
    for policy, table in tables.items():
        if not isinstance(table, dict):
            raise UsageError(f"{where}: policy.{policy}: not a table; write [policy.{policy}]")
        found[policy] = {
            key: value_text(value, f"{where}: {policy}/{key}") for key, value in table.items()
        }
        if found[policy].get("enabled") not in ("0", "1"):
            said = found[policy].get("enabled", "not given")
            raise UsageError(f"{where}: {policy}/enabled: {said}: must be true or false")
    try:
        settings_text(found)
    except CtlError as error:
        raise UsageError(f"{where}: {error.message}") from None
    return found


def parse_profile(text: str, name: str, where: str) -> Profile:
    """A profile's text.  Raises CtlError, USAGE, that names the key that is wrong."""
    document = parse_toml(text, where)
    only_keys(document, {"description", "policy"}, where)
    description = document.get("description", "")
    if not isinstance(description, str):
        raise UsageError(f"{where}: description: not a text")
    return Profile(name, description, parse_policies(document.get("policy", {}), where))


def same_value(one: str, other: str) -> bool:
    """Do two texts mean the same value?  10.0 and 10 do."""
    if _NUMBER.match(one) and _NUMBER.match(other):
        return float(one) == float(other)
    return one == other


def differing(now: Settings, wanted: Settings) -> Knobs:
    """The knobs in `wanted` that are not so now, with what they are now."""
    found: Knobs = {}
    for policy, knobs in wanted.items():
        for key, value in knobs.items():
            there = now.get(policy, {}).get(key)
            if there is None or not same_value(there, value):
                found.setdefault(policy, {})[key] = there or ""
    return found


def names_of(settings: Settings) -> str:
    """The knobs in settings, in words."""
    return ", ".join(f"{policy}/{key}" for policy, knobs in settings.items() for key in knobs)


def _toml_value(key: str, value: str) -> str:
    if key == "enabled":
        return "true" if value == "1" else "false"
    # No leading zeros in TOML; what JSON quotes, TOML reads alike.
    if re.match(r"(0|[1-9]\d{0,15})(\.\d)?\Z", value, re.A):
        return value
    return _toml_text(value)


def _toml_text(text: str) -> str:
    """A text, quoted.  What is no character becomes a question mark."""
    quoted = json.dumps(text.encode(errors="replace").decode(), ensure_ascii=False)
    # TOML takes no DEL as it is, and a file with U+FFFD is taken for one that is not UTF-8.
    return quoted.replace("\x7f", "\\u007f").replace("\ufffd", "\\ufffd")


def profile_text(policies: Settings, description: str) -> str:
    """A profile's file.  Reads back as what was given."""
    lines = [f"description = {_toml_text(description)}"]
    for policy, knobs in policies.items():
        lines += ["", f"[policy.{policy}]"]
        lines += [f"{key} = {_toml_value(key, value)}" for key, value in knobs.items()]
    return "\n".join(lines) + "\n"


def modprobe_text(profile: Profile, source: str) -> str:
    """A modprobe.d file that has the module come up with the profile's settings.

    Raises CtlError, USAGE, for a value that cannot be quoted there.
    """
    for policy, knobs in profile.policies.items():
        for key, value in knobs.items():
            if set(value) & set("\"'\\"):
                raise UsageError(f"{policy}/{key}: {value}: a quote or backslash in it")
    text = settings_text(profile.policies)
    return (
        f"# Profile {profile.name}, of {source}; made by livemmctl profile modprobe.\n"
        + (f'options livemm policies="{text}"\n' if text else "")
    )
