# SPDX-License-Identifier: GPL-2.0-only
"""What the module's knobs are when nobody has set them.

The module does not show its defaults, so they come from two places.  Best is what a
freshly loaded module showed: `livemmctl load` notes it, with the build that it is true
of.  Where somebody else has loaded the module there is defaults.toml, made of the
module's own tables and checked against them by a test.  A knob that neither knows is
not guessed at: whoever needs its default is told to name it.
"""

import json
import re
from functools import cache
from importlib import resources
from typing import Any

from livemmctl.control import MODULE, PARAMETERS, Knobs, parse_settings
from livemmctl.errors import CtlError
from livemmctl.files import json_of, parse_toml, replace_on
from livemmctl.host import Host

NOTED = "/run/livemm/defaults.json"


def default_of(known: Knobs, policy: str, key: str) -> str | None:
    """A knob's default, None where it is not known; that of `enabled` is always 0."""
    return "0" if key == "enabled" else known.get(policy, {}).get(key)


def build_of(host: Host) -> str:
    """Which build of the module is loaded, on which kernel; empty where not to be had."""
    source = host.read_or(f"{MODULE}/srcversion").strip()
    return f"{source} {host.release()}" if source else ""


def release_of(host: Host) -> tuple[int, int]:
    """The kernel's version, (0, 0) where it is not to be read."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", host.release())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def documented(release: tuple[int, int]) -> Knobs:
    """defaults.toml, for a kernel release."""
    text = resources.files("livemmctl").joinpath("defaults.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = parse_toml(text, "defaults.toml")
    found = {policy: dict(knobs) for policy, knobs in document["policy"].items()}
    for change in document.get("since", []):
        if release >= tuple(change["kernel"]):
            found[change["policy"]][change["knob"]] = change["value"]
    return found


@cache
def limits() -> dict[str, dict[str, tuple[str, str, str]]]:
    """Of each knob that is a number, by policy: the least value, the largest, and the step."""
    text = resources.files("livemmctl").joinpath("defaults.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = parse_toml(text, "defaults.toml")
    return {policy: {knob: (low, high, step) for knob, (low, high, step) in knobs.items()}
            for policy, knobs in document["limits"].items()}


def _noted(host: Host) -> Knobs:
    data = json_of(host, NOTED)
    build, policies = data.get("build"), data.get("policies")
    if not build or build != build_of(host) or not isinstance(policies, dict):
        return {}
    return {policy: {key: str(value) for key, value in knobs.items()}
            for policy, knobs in policies.items() if isinstance(knobs, dict)}


def defaults(host: Host) -> Knobs:
    """All defaults that are known of the module on this host."""
    known = documented(release_of(host))
    for policy, knobs in _noted(host).items():
        known[policy] = known.get(policy, {}) | knobs
    return known


def _given_at_load(host: Host) -> bool:
    """May the module have come up with settings of modprobe.d or of the command line?"""
    if "livemm.policies=" in host.read_or("/proc/cmdline"):
        return True
    try:
        shown = host.run(["modprobe", "--showconfig"], 10)
    except CtlError:
        return True
    return bool(shown.status) or any(
        line.split()[:2] == ["options", "livemm"] and "policies=" in line
        for line in shown.out.splitlines()
    )


def learn(host: Host) -> bool:
    """Note the defaults of a module that was loaded just now; returns whether it could."""
    build = build_of(host)
    if not build or _given_at_load(host):
        return False
    settings = parse_settings(host.read_or(f"{PARAMETERS}/policies"))
    for knobs in settings.values():
        knobs.pop("enabled", None)
    try:
        replace_on(host, NOTED, json.dumps({"build": build, "policies": settings}) + "\n")
    except CtlError:
        # It only makes defaults surer.
        return False
    return True
