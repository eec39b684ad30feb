# SPDX-License-Identifier: GPL-2.0-only
"""Where profiles are, which one was applied, and what the service shall do."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from livemmctl.errors import UsageError
from livemmctl.files import json_of, only_keys, parse_toml, replace_on
from livemmctl.host import Host
from livemmctl.profile.model import Profile, parse_profile

#: The admin's own, which come first, and those of the package.
FOLDERS = ("/etc/livemm/profiles", "/usr/share/livemm/profiles")
CONFIG = "/etc/livemm/livemm.toml"
APPLIED = "/run/livemm/profile.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")


@dataclass(frozen=True)
class Found:
    """A profile's file: on the host, or where the user said."""

    name: str
    #: For people.
    where: str
    host: Host
    path: str

    def read(self) -> Profile:
        return parse_profile(self.host.read(self.path), self.name, self.where)


@dataclass(frozen=True)
class Service:
    profile: str
    #: What becomes of the policies when the service stops: keep or off.
    at_stop: str


def _shelves(host: Host) -> list[tuple[Host, str]]:
    shelves = [(host, folder) for folder in FOLDERS]
    # From a checkout the ready ones are beside the package.
    tools = Path(__file__).resolve().parents[2]
    if tools.name == "tools":
        shelves.append((Host(), str(tools / "profiles")))
    return shelves


def profiles(host: Host) -> list[Found]:
    """Every profile, by name; the admin's hides a ready one of the same name."""
    found: dict[str, Found] = {}
    for shelf, folder in _shelves(host):
        for file in shelf.names(folder):
            name = file.removesuffix(".toml")
            if file.endswith(".toml") and _NAME.match(name) and name not in found:
                path = f"{folder}/{file}"
                found[name] = Found(name, str(shelf.path(path)), shelf, path)
    return [found[name] for name in sorted(found)]


def find(host: Host, name: str) -> Found:
    """A profile by name, or by the path of its file.  Raises CtlError, USAGE."""
    if "/" in name or name.endswith(".toml"):
        path = Path(name).absolute()
        return Found(path.name.removesuffix(".toml"), name, Host(), str(path))
    every = profiles(host)
    for found in every:
        if found.name == name:
            return found
    there = ", ".join(found.name for found in every) or "none"
    raise UsageError(f"{name[:80]}: no such profile; there are: {there}")


def own_path(name: str) -> str:
    """Where a profile of the admin's is kept.  Raises CtlError, USAGE, for a bad name."""
    if not _NAME.match(name) or name.endswith(".toml"):
        raise UsageError(f"{name[:80]!r}: a profile's name has letters, digits, _ . and -, and does"
                         " not end in .toml")
    return f"{FOLDERS[0]}/{name}.toml"


def note_applied(host: Host, found: Found) -> None:
    """Remember which profile was applied, for `verify` and for dashboards."""
    data = {"profile": found.name, "path": str(found.host.path(found.path))}
    replace_on(host, APPLIED, json.dumps(data) + "\n")


def applied(host: Host) -> Found | None:
    """The profile that was applied last since boot, if any."""
    data = json_of(host, APPLIED)
    if not {"profile", "path"} <= data.keys():
        return None
    name, path = str(data["profile"]), str(data["path"])
    return Found(name, path, Host(), path)


def named_or_applied(host: Host, name: str | None) -> Found:
    """The profile by that name, or the one applied.  Raises CtlError, USAGE."""
    if name is not None:
        return find(host, name)
    found = applied(host)
    if found is None:
        raise UsageError("no profile has been applied since boot: name one",
                         "livemmctl profile list")
    return found


def service(host: Host) -> Service:
    if not host.exists(CONFIG):
        raise UsageError(f"{CONFIG} is not there",
                         'put profile = "NAME" into it; see: livemmctl profile list')
    document = parse_toml(host.read(CONFIG), CONFIG)
    only_keys(document, {"profile", "at_stop"}, CONFIG)
    name, at_stop = document.get("profile"), document.get("at_stop", "keep")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{CONFIG}: profile: not the name of a profile", "livemmctl profile list")
    if at_stop not in ("keep", "off"):
        raise UsageError(f"{CONFIG}: at_stop: {str(at_stop)[:40]}: not one of keep, off")
    return Service(name, at_stop)
