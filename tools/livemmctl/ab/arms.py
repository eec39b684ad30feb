# SPDX-License-Identifier: GPL-2.0-only
"""An arm's settings: written in the experiment, or those of a profile."""

from __future__ import annotations

from pathlib import Path

from livemmctl.ab.fields import Fields
from livemmctl.errors import CtlError
from livemmctl.host import Host
from livemmctl.profile.model import parse_policies
from livemmctl.profile.store import find


def arm_settings(fields: Fields, folder: Path, host: Host) -> dict[str, dict[str, str]]:
    """Settings by policy and knob, of an arm's table; empty is stock.

    `profile` is the name of a profile of the host, or the path of a file, which may be
    relative to the experiment's own folder.  Raises CtlError, USAGE, that names the key.
    """
    if fields.has("profile"):
        name = fields.text("profile")
        if fields.has("policy"):
            raise fields.error("policy", "either a profile or [policy.NAME] tables, not both")
        path = "/" in name or name.endswith(".toml")
        try:
            return find(host, str(folder / name) if path else name).read().policies
        except CtlError as error:
            raise fields.error("profile", error.message) from None
    where = f"{fields.source}: {fields.where}"
    return parse_policies(fields.table("policy").rest(), where)
