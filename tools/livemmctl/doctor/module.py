# SPDX-License-Identifier: GPL-2.0-only
"""Checks of livemm itself: DKMS, the modules, their hooks."""

import re

from livemmctl import __version__
from livemmctl.control import MODULE, UNSETTLED, Reach, other_abi
from livemmctl.doctor.finding import INSTALL, Finding, Scene, fail, ok, warn
from livemmctl.errors import CtlError

#: Number of hooks that are named with their reason.
HOOKS_NAMED = 3


def dkms(scene: Scene) -> Finding:
    """Is livemm built and installed for this kernel?"""
    said = scene.run("dkms", "status", "livemm")
    states = re.findall(r"^livemm[/,] ?([\w.]+), ([\w.+-]+), [\w-]+: (\w+)",
                        said.out if said else "", re.M)
    here = {state: version for version, release, state in states if release == scene.release}
    if "installed" in here:
        return ok(f"livemm {here['installed']} is installed for {scene.release}")
    if here:
        state, version = next(iter(here.items()))
        return fail(f"livemm {version} is {state}, not installed, for {scene.release}",
                    f"dkms install livemm/{version} -k {scene.release}")
    if version := scene.modinfo("version"):
        return ok(f"livemm {version} is installed, not by DKMS")
    if scene.loaded:
        return warn("livemm is loaded, but not installed: a reboot ends livemm",
                    INSTALL)
    others = sorted({release for _, release, _ in states})
    elsewhere = f" (only for {', '.join(others)})" if others else ""
    build = f"dkms autoinstall -k {scene.release}" if others else INSTALL
    return fail(f"livemm is not installed for {scene.release}{elsewhere}",
                f"apt install linux-headers-{scene.release}, then {build}; if that fails, see"
                " /var/lib/dkms/livemm/*/build/make.log")


def headers(scene: Scene) -> Finding:
    """Can DKMS build for this kernel?"""
    if scene.host.exists(f"/lib/modules/{scene.release}/build"):
        return ok(f"headers of {scene.release} are installed")
    return warn(f"no headers of {scene.release}: DKMS cannot build an upgrade of livemm",
                f"apt install linux-headers-{scene.release}")


def loaded(scene: Scene) -> Finding:
    """Is it loaded, and is it what is installed?"""
    if not scene.loaded:
        return warn("livemm is not loaded", "livemmctl load")
    if error := other_abi(scene.host):
        return fail(error.message, error.hint or "")
    running = scene.line(f"{MODULE}/srcversion")
    installed = scene.modinfo("srcversion")
    if running and installed and running != installed:
        return warn("the module that is loaded is not the one installed: an upgrade waits",
                    "livemmctl profile save NAME, livemmctl unload, livemmctl load, livemmctl"
                    " profile apply NAME, when it suits you")
    version = scene.line(f"{MODULE}/version")
    if version and version != __version__:
        return warn(f"livemm {version} is loaded, livemmctl is {__version__}",
                    "bring both to one version")
    if scene.line(f"{MODULE}/parameters/off") == "Y":
        return warn("livemm.off=1: every policy is refused",
                    "if the kernel command line has livemm.off=1: take it out and reboot; else"
                    " livemmctl unload, then livemmctl load")
    return ok(f"livemm {version or 'of unknown version'} is loaded")


def debugfs(scene: Scene) -> Finding:
    """Can counters and hooks be seen?"""
    if scene.control is None:
        return ok("not looked at while livemm is not loaded")
    if scene.control.reach is Reach.ABSENT:
        return warn("debugfs is not there: no counters, states or hooks",
                    "mount -t debugfs none /sys/kernel/debug (and no debugfs=off at boot)")
    return ok(scene.control.reach)


def hooks(scene: Scene) -> Finding:
    """Hooks that this kernel does not offer, does not call, or does not let go of."""
    pinned = [hook.name for hook in scene.hooks if "cannot be unhooked" in hook.reason]
    if pinned:
        return fail(f"cannot be unhooked: {', '.join(pinned)}; livemm stays loaded",
                    "reboot when it suits you; see dmesg")
    silent = [hook for hook in scene.hooks if hook.state == "idle" and hook.reason]
    if silent:
        return warn("idle for a reason: "
                    + "; ".join(f"{hook.name}: {hook.reason}" for hook in silent[:HOOKS_NAMED]),
                    "see livemmctl hooks --only idle")
    missing = [hook for hook in scene.hooks if hook.state == "unavailable"]
    if missing:
        return warn(f"{len(missing)} of {len(scene.hooks)} are unavailable: "
                    + ", ".join(hook.name for hook in missing),
                    "livemmctl hooks --only unavailable says why, and what is lost")
    if not scene.hooks:
        return ok("not looked at: livemm is not loaded, or debugfs not there")
    return ok(f"all {len(scene.hooks)} are there")


def held(scene: Scene) -> Finding:
    """Free memory that policies hold, which the kernel counts neither free nor available."""
    if scene.control is None or scene.control.reach is Reach.ABSENT:
        return ok("not looked at: livemm is not loaded, or debugfs not there")
    sums: dict[str, int] = {}
    for (policy, _, _), pages in scene.control.held().items():
        sums[policy] = sums.get(policy, 0) + pages
    if not sums:
        return ok("no policy that is on holds any")
    words = ", ".join(f"{policy} {pages >> 8} MiB" for policy, pages in sums.items())
    return ok(f"add to MemFree and MemAvailable: {words}")


def policies(scene: Scene) -> Finding:
    """Policies that cannot run, or that are neither on nor off."""
    try:
        rows = scene.control.policies() if scene.control else []
    except CtlError as error:
        return fail(error.message, error.hint or "livemmctl status")
    bad = [f"{row.name}: {row.reason or 'no reason given'}" for row in rows
           if row.state == "unsupported"]
    if bad:
        return warn("unsupported: " + "; ".join(bad), "livemmctl hooks says what is missing")
    between = [row.words() for row in rows if row.state in UNSETTLED]
    if between:
        return warn("; ".join(between), "wait; livemmctl status and hooks say what for")
    on = [row.name for row in rows if row.state == "on"]
    if not rows:
        return ok("not looked at while livemm is not loaded")
    return ok("on: " + ", ".join(on) if on else "all are off")
