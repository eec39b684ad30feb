# SPDX-License-Identifier: GPL-2.0-only
"""Loading and unloading: the modules, the livepatches' switches, their transitions.

The livepatches of livemm are modules of their own.  A livepatch is loaded when a policy needs
the livepatch.  The kernel tells which livepatches are loaded: their names begin with KLP_PREFIX.

Nothing is ever forced: a forced transition pins the module until the next boot.
"""

import errno
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from livemmctl.control import (
    DEBUGFS,
    PARAMETERS,
    is_loaded,
    parse_settings,
    parse_status,
    refusal,
    settings_text,
)
from livemmctl.errors import CtlError, Exit, os_words
from livemmctl.host import Host, Ran

#: Begin of the name of every livepatch of livemm, and of its module.
KLP_PREFIX = "livemm_klp"
#: The module that a recording needs besides.
RECORDER = "livemm_record"
MODULES = "/sys/module"
PATCHES = "/sys/kernel/livepatch"
#: Bits of the kernel's taint mask that livemm itself may set.  See the kernel's
#: Documentation/admin-guide/tainted-kernels.rst.
TAINTS = {12: "an out-of-tree module", 13: "an unsigned module", 15: "a livepatch"}
POLL_S = 0.2
#: On 6.12 the kernel patches thousands of calls while a livepatch loads, which takes minutes on
#: emulated CPUs.
MODPROBE_S = 300.0
#: The least time that rmmod gets, however little is left: most often rmmod ends sooner.
RMMOD_LEAST_S = 1.0
#: Number of tasks that are named.
TASKS_NAMED = 10


class LivepatchState(StrEnum):
    """In rising order of weight: the state of several livepatches is the last of theirs."""

    ABSENT = "not loaded"
    ON = "on"
    #: Disabled from outside; the module may still be loaded.
    OFF = "off"
    TRANSITION = "in transition"


@dataclass(frozen=True)
class Clock:
    """Time, so that tests need not wait."""

    #: Seconds since any point in time; never goes back.
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def is_ours(name: str) -> bool:
    return name.startswith(KLP_PREFIX)


def klp_modules(host: Host) -> list[str]:
    """Names of the livepatch modules of livemm that are loaded, of any version."""
    return [name for name in host.names(MODULES) if is_ours(name)]


def state_of(host: Host, name: str) -> LivepatchState:
    folder = f"{PATCHES}/{name}"
    if not host.exists(folder):
        # A disabled livepatch has left sysfs; its module may still be loaded.
        loaded = host.exists(f"{MODULES}/{name}")
        return LivepatchState.OFF if loaded else LivepatchState.ABSENT
    if host.read_or(f"{folder}/transition").strip() == "1":
        return LivepatchState.TRANSITION
    enabled = host.read_or(f"{folder}/enabled").strip() == "1"
    return LivepatchState.ON if enabled else LivepatchState.OFF


def livepatches(host: Host) -> dict[str, LivepatchState]:
    """State of each livepatch of livemm, by name."""
    names = {*klp_modules(host), *filter(is_ours, host.names(PATCHES))}
    return {name: state_of(host, name) for name in sorted(names)}


def livepatch_state(host: Host) -> LivepatchState:
    return max(livepatches(host).values(), key=list(LivepatchState).index,
               default=LivepatchState.ABSENT)


def patched(host: Host) -> set[str]:
    """Names of the kernel's functions that livepatches of livemm replace."""
    return {function.partition(",")[0]
            for name in filter(is_ours, host.names(PATCHES))
            for function in host.names(f"{PATCHES}/{name}/vmlinux") if "," in function}


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


def moving(host: Host) -> str:
    """The livepatch in transition, of livemm or of somebody else; there is one at most."""
    for name in host.names(PATCHES):
        if host.read_or(f"{PATCHES}/{name}/transition").strip() == "1":
            return name
    return ""


def held_up(host: Host) -> str:
    """The livepatch in transition and the tasks that hold the transition up, in words."""
    name = moving(host)
    if not name:
        return "no livepatch is in transition any more"
    enabling = host.read_or(f"{PATCHES}/{name}/enabled").strip() == "1"
    return f"{name} is in transition, {named(holders(host, not enabling))}"


def named(tasks: list[str]) -> str:
    """Tasks in words, not too many."""
    if not tasks:
        return "no task is seen that holds the transition"
    more = len(tasks) - TASKS_NAMED
    return "held by " + ", ".join(tasks[:TASKS_NAMED]) + (f" and {more} more" if more > 0 else "")


def load(host: Host, limit_s: float, clock: Clock, parameters: list[str]) -> bool:
    """Load livemm, and wait until no policy waits, and all transitions of livepatches have ended.

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
    while livepatch_state(host) is LivepatchState.TRANSITION or _waits(host):
        if clock.now() >= end:
            raise CtlError(
                f"livemm is loaded, but its livepatches have not settled after {limit_s:g} s; "
                + held_up(host), Exit.TIMEOUT,
                "the transition goes on by itself: see livemmctl status"
            )
        clock.sleep(POLL_S)
    return True


def load_recorder(host: Host) -> None:
    """Load the module that records.  Raises CtlError, REFUSED, with modprobe's words."""
    if host.exists(f"{MODULES}/{RECORDER}"):
        return
    ran = host.run(["modprobe", RECORDER], MODPROBE_S)
    if ran.status:
        raise CtlError(f"{RECORDER} does not load: {ran.said or 'no reason given'}", Exit.REFUSED,
                       "see dmesg")


def _waits(host: Host) -> bool:
    """Does a policy wait for a livepatch, as far as debugfs tells?"""
    return any(row.state == "waiting"
               for row in parse_status(host.read_or(f"{DEBUGFS}/status")))


def load_error(host: Host, said: str, logged: list[str]) -> CtlError:
    """Why modprobe failed, in words, with what to do; `logged` is the log before."""
    lower = said.lower()
    if "not found" in lower and "module" in lower:
        return CtlError(f"livemm is not installed for kernel {host.release()}", Exit.UNSUPPORTED,
                        "dkms status livemm")
    if "key was rejected" in lower or "required key not available" in lower:
        return CtlError("the kernel refuses livemm: livemm is not signed with a key that the kernel"
                        " trusts", Exit.DENIED, "livemmctl doctor")
    if "operation not permitted" in lower:
        return not_permitted(host)
    return CtlError(
        f"livemm does not load: {kernel_words(host, logged) or said or 'no reason given'}",
        Exit.REFUSED, "see dmesg"
    )


def not_permitted(host: Host) -> CtlError:
    """Who may not load a module, or which kernel takes none."""
    if host.user_id() != 0:
        return CtlError("cannot load livemm: operation not permitted", Exit.DENIED,
                        "run the command as root")
    if host.read_or("/proc/sys/kernel/modules_disabled").strip() == "1":
        return CtlError("no module can be loaded until reboot: kernel.modules_disabled is 1",
                        Exit.DENIED, "load livemm earlier at boot (modules-load.d)")
    if "[none]" not in host.read_or("/sys/kernel/security/lockdown", "[none]"):
        return CtlError("the kernel refuses livemm: under lockdown a module has to be signed"
                        " with a key that the kernel trusts", Exit.DENIED, "livemmctl doctor")
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
    """Take all modules out: every policy off, the livepatches off, the end of that awaited.

    The recorder and the livepatches use livemm, so livemm goes last.  `limit_s` is for all of it.
    Raises CtlError: REFUSED (livemm stays, and no livepatch is loaded), TIMEOUT (rmmod or a
    transition goes on by itself; its tasks are named), PARTIAL (every policy is off, a module is
    still loaded).
    """
    end = clock.now() + limit_s

    def rmmod(name: str) -> Ran:
        try:
            return host.run(["rmmod", name], max(end - clock.now(), RMMOD_LEAST_S))
        except CtlError as error:
            if error.status is not Exit.TIMEOUT:
                raise
            raise CtlError(f"{name} is not unloaded yet: {error.message}", Exit.TIMEOUT,
                           "the kernel goes on to unload the module: run the command again"
                           ) from None

    def wait(name: str) -> None:
        if clock.now() >= end:
            raise CtlError(f"{name} is not off after {limit_s:g} s; {held_up(host)}", Exit.TIMEOUT,
                           "the transition goes on by itself: run the command again, or end"
                           " those tasks")
        clock.sleep(POLL_S)

    def livepatches_out() -> None:
        # A livepatch in transition comes first: the kernel can turn back only that livepatch.
        for name in sorted(klp_modules(host), key=lambda name: name != moving(host)):
            while True:
                _switch_off(host, name, wait, say)
                # The kernel lets go of the module a moment after the livepatch has gone.  A module
                # that is being loaded has its livepatch a moment later.
                ran = rmmod(name)
                if not ran.status or name not in klp_modules(host):
                    break
                if clock.now() >= end:
                    raise CtlError(f"{name} stays loaded: {ran.said}", Exit.PARTIAL)
                clock.sleep(POLL_S)
            say(f"{name} is unloaded")

    if is_loaded(host):
        _policies_off(host)
        say("every policy is off")
    if host.exists(f"{MODULES}/{RECORDER}"):
        ran = rmmod(RECORDER)
        if ran.status:
            raise CtlError(f"{RECORDER} stays loaded: {ran.said}", Exit.PARTIAL,
                           "somebody records: end that first")
        say(f"{RECORDER} is unloaded")
    if not klp_modules(host):
        say("no livepatch of livemm is loaded")
    livepatches_out()
    while is_loaded(host):
        ran = rmmod("livemm")
        if not ran.status:
            say("livemm is unloaded")
            break
        # The kernel may have asked for a livepatch before the policies went off.
        clock.sleep(POLL_S)
        if not klp_modules(host):
            raise _stays(host, ran.said)
        livepatches_out()


def _policies_off(host: Host) -> None:
    """Switch every policy off, which takes effect at once."""
    try:
        names = parse_settings(host.fetch(f"{PARAMETERS}/policies"))
        host.store(f"{PARAMETERS}/policies",
                   settings_text({name: {"enabled": "0"} for name in names}) + "\n")
    except OSError as error:
        raise refusal("policies", error, host.read_or(f"{PARAMETERS}/last_error").strip()) from None


def _stays(host: Host, said: str) -> CtlError:
    words = f"livemm stays loaded: {said}"
    if host.user_id() != 0:
        return CtlError(words, Exit.DENIED, "run the command as root")
    return CtlError(words, Exit.REFUSED,
                    "livemmctl hooks tells of a hook that cannot be unhooked; or close a file of"
                    " livemm that is open, as of a recording")


def _switch_off(
    host: Host, name: str, wait: Callable[[str], None], say: Callable[[str], None]
) -> None:
    """Switch a livepatch off, if it is on, and wait until it has gone."""
    folder = f"{PATCHES}/{name}"

    def is_on() -> bool:
        return host.read_or(f"{folder}/enabled").strip() == "1"

    while is_on():
        try:
            host.store(f"{folder}/enabled", "0\n")
            say(f"switching {name} off")
        except OSError as error:
            if error.errno == errno.EBUSY:
                # The transition of another livepatch is under way.
                wait(name)
            elif is_on():
                raise CtlError(f"{name} cannot be switched off: {os_words(error)}",
                               Exit.PARTIAL, "see dmesg") from None
    while host.exists(folder):
        wait(name)


def _tell(words: str) -> None:
    """A line of progress; unloading goes on where nobody reads the line."""
    try:
        print(words, flush=True)
    except OSError:
        # Python tries once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main() -> int:
    """`make unload`: unload on a host that has Python but not the command's libraries."""
    if sys.argv[1:]:
        print("usage: python3 -m livemmctl.modules: switch every policy off, unload all modules",
              file=sys.stderr)
        return Exit.USAGE
    try:
        unload(Host(), 60, Clock(), _tell)
    except CtlError as error:
        print(f"unload: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"unload: {error.hint}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
