# SPDX-License-Identifier: GPL-2.0-only
"""Loading and unloading: the two modules, the livepatch switch, its transition.

Nothing is ever forced: a forced transition pins the module until the next boot.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from livemmctl.control import is_loaded
from livemmctl.errors import CtlError, Exit, os_words
from livemmctl.host import Host

KLP_MODULE = "/sys/module/livemm_klp"
PATCH = "/sys/kernel/livepatch/livemm_klp"
POLL_S = 0.2
#: A module is loaded with policies on, and the kernel may wait for a transition meanwhile.
MODPROBE_S = 300.0
#: Of many tasks so many are named.
TASKS_NAMED = 10


class LivepatchState(Enum):
    """What the livepatch of livemm_klp is doing."""

    ABSENT = "not loaded"
    ON = "on"
    OFF = "off"
    TRANSITION = "in transition"


@dataclass(frozen=True)
class Clock:
    """Time, so that tests need not wait."""

    #: Seconds since any point in time; never goes back.
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def livepatch_state(host: Host) -> LivepatchState:
    """What the livepatch is doing."""
    if not host.exists(PATCH):
        return LivepatchState.ABSENT
    if host.read_or(f"{PATCH}/transition").strip() == "1":
        return LivepatchState.TRANSITION
    enabled = host.read_or(f"{PATCH}/enabled").strip() == "1"
    return LivepatchState.ON if enabled else LivepatchState.OFF


def holders(host: Host, patched: bool) -> list[str]:
    """Tasks that are not yet where the transition takes them, as `PID (name)`.

    `patched`: those that still run in patched code, else those that do not yet.
    """
    wanted = "1" if patched else "0"
    found = []
    for pid in filter(str.isdigit, host.names("/proc")):
        for task in host.names(f"/proc/{pid}/task"):
            folder = f"/proc/{pid}/task/{task}"
            # A task may end while we look.
            if host.read_or(f"{folder}/patch_state").strip() == wanted:
                found.append((int(task), host.read_or(f"{folder}/comm").strip()))
    return [f"{pid} ({name})" for pid, name in sorted(found)]


def named(tasks: list[str]) -> str:
    """Tasks in words, not too many."""
    if not tasks:
        return "no task is to be seen that holds it"
    more = len(tasks) - TASKS_NAMED
    return "held by " + ", ".join(tasks[:TASKS_NAMED]) + (f" and {more} more" if more > 0 else "")


def load(host: Host, limit_s: float, clock: Clock, parameters: list[str]) -> bool:
    """Load livemm, and wait until a livepatch that this brought on has settled.

    Returns whether it was loaded only now.  Raises CtlError: REFUSED with the kernel's
    words, TIMEOUT naming tasks (the module stays loaded), DENIED.
    """
    if is_loaded(host):
        return False
    logged = kernel_log(host)
    ran = host.run(["modprobe", "livemm", *parameters], MODPROBE_S)
    if ran.status:
        raise load_error(host, ran.said, logged)
    end = clock.now() + limit_s
    while livepatch_state(host) is LivepatchState.TRANSITION:
        if clock.now() >= end:
            raise CtlError(
                f"livemm is loaded, but its livepatch has not settled after {limit_s:g} s; "
                + named(holders(host, patched=False)),
                Exit.TIMEOUT,
                "it goes on by itself: see livemmctl status",
            )
        clock.sleep(POLL_S)
    return True


def load_error(host: Host, said: str, logged: list[str]) -> CtlError:
    """Why modprobe failed, in words, with what to do; `logged` is the log before."""
    lower = said.lower()
    if "not found" in lower and "module" in lower:
        return CtlError(f"livemm is not installed for kernel {host.release()}", Exit.UNSUPPORTED,
                        "dkms status livemm")
    if "key was rejected" in lower or "required key not available" in lower:
        return CtlError("the kernel refuses livemm: it is not signed with a key that it trusts",
                        Exit.DENIED, "livemmctl doctor")
    if "operation not permitted" in lower:
        return not_permitted(host)
    return CtlError(
        f"livemm does not load: {kernel_words(host, logged) or said or 'no reason given'}",
        Exit.REFUSED, "see dmesg")


def not_permitted(host: Host) -> CtlError:
    """Who may not load a module, or which kernel takes none."""
    if host.user_id() != 0:
        return CtlError("cannot load livemm: operation not permitted", Exit.DENIED,
                        "run it as root")
    if host.read_or("/proc/sys/kernel/modules_disabled").strip() == "1":
        return CtlError("no module can be loaded until reboot: kernel.modules_disabled is 1",
                        Exit.DENIED, "load livemm earlier at boot (modules-load.d)")
    if "[none]" not in host.read_or("/sys/kernel/security/lockdown", "[none]"):
        return CtlError("the kernel refuses livemm: under lockdown a module has to be signed"
                        " with a key that it trusts", Exit.DENIED, "livemmctl doctor")
    return CtlError("the kernel lets nobody load a module here: is this a container?",
                    Exit.DENIED, "livemmctl doctor")


def kernel_log(host: Host) -> list[str]:
    """Lines of the kernel's log with their times; none where it cannot be had."""
    try:
        log = host.run(["dmesg", "--kernel"], 10)
    except CtlError:
        return []
    return [] if log.status else log.out.splitlines()


def kernel_words(host: Host, logged: list[str]) -> str:
    """The last that the module has said since the log was `logged`; empty: nothing."""
    old = set(logged)
    said = [found[1] for line in kernel_log(host) if line not in old
            and (found := re.match(r"(?:\[[ \d.]*\] )?livemm: (.*)", line))]
    return said[-1] if said else ""


def unload(host: Host, limit_s: float, clock: Clock, say: Callable[[str], None]) -> None:
    """Take both modules out: every policy off, the livepatch off, its end awaited.

    Raises CtlError: REFUSED (livemm stays, nothing has changed), TIMEOUT (the transition
    goes on by itself; its tasks are named), PARTIAL (livemm is out, livemm_klp is not).
    """
    if is_loaded(host):
        ran = host.run(["rmmod", "livemm"])
        if ran.status:
            denied = host.user_id() != 0
            raise CtlError(f"livemm stays loaded: {ran.said}",
                           Exit.DENIED if denied else Exit.REFUSED,
                           "run it as root" if denied else None)
        say("livemm is unloaded, every policy is off")
    if not host.exists(KLP_MODULE):
        say("livemm_klp is not loaded")
        return
    end = clock.now() + limit_s
    _switch_off(host, say)
    while host.exists(PATCH):
        if clock.now() >= end:
            raise CtlError(
                f"the livepatch is not off after {limit_s:g} s; "
                + named(holders(host, patched=True)),
                Exit.TIMEOUT,
                "it goes on by itself: run this again, or end those tasks",
            )
        clock.sleep(POLL_S)
    # The kernel lets go of the module a moment after the livepatch has gone.
    while (ran := host.run(["rmmod", "livemm_klp"])).status:
        if clock.now() >= end:
            raise CtlError(f"livemm_klp stays loaded: {ran.said}", Exit.PARTIAL)
        clock.sleep(POLL_S)
    say("livemm_klp is unloaded")


def _switch_off(host: Host, say: Callable[[str], None]) -> None:
    if host.read_or(f"{PATCH}/enabled").strip() != "1":
        return
    say("switching the livepatch off")
    try:
        host.store(f"{PATCH}/enabled", "0\n")
    except FileNotFoundError:
        return
    except OSError as error:
        raise CtlError(
            f"the livepatch of livemm_klp cannot be switched off: {os_words(error)}",
            Exit.PARTIAL, "see dmesg",
        ) from None
