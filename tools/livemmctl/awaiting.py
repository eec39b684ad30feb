# SPDX-License-Identifier: GPL-2.0-only
"""Settings that need a livepatch: the kernel asks for the module and goes on, and we wait.

A policy that waits comes on by itself, whether or not somebody waits here.
"""

import re
from collections.abc import Callable

from livemmctl.control import ModuleControl, PolicyStatus, Settings, on_in
from livemmctl.errors import CtlError, Exit
from livemmctl.modules import MODPROBE_S, MODULES, POLL_S, Clock, held_up

WAIT_S = 60.0
#: The kernel has run modprobe, and does not tell how that ended: then we run it, for its words.
MODPROBE_AFTER_S = 5.0
_PASSING = ("waiting", "loading")


def _modprobe(control: ModuleControl, name: str) -> None:
    """Load a module that the kernel has asked for in vain.  Raises CtlError in modprobe's words."""
    ran = control.host.run(["modprobe", name], MODPROBE_S)
    if ran.status:
        raise CtlError(f"{name} does not load: {ran.said or 'no reason given'}", Exit.REFUSED,
                       "see dmesg; livemmctl doctor")


def apply(control: ModuleControl, settings: Settings, limit_s: float = WAIT_S,
          clock: Clock | None = None, say: Callable[[str], None] = lambda _: None) -> None:
    """ModuleControl.apply(), and wait until no policy that comes on waits for a livepatch.

    Raises CtlError as well: TIMEOUT with the tasks that hold a transition up (the policy goes on to
    wait), REFUSED with the kernel's reason where a policy was given up, or modprobe's words.
    """
    control.apply(settings)
    clock = clock or Clock()
    begun, said, tried = clock.now(), "", set[str]()
    names = {name for name, knobs in settings.items()
             if knobs.get("enabled") == "1" or "mode" in knobs}

    def rows(*states: str) -> list[PolicyStatus]:
        return [row for row in control.policies() if row.name in names and row.state in states]

    while waiting := rows(*_PASSING):
        words = "; ".join(row.words() for row in waiting)
        if words != said:
            say(words)
            said = words
        passed = clock.now() - begun
        if passed >= limit_s:
            raise CtlError(f"{words}, after {limit_s:g} s; {held_up(control.host)}", Exit.TIMEOUT,
                           "the policy comes on by itself, or give it up: livemmctl disable")
        for name in re.findall(r"livemm_klp_\w+", words) if passed >= MODPROBE_AFTER_S else ():
            if name not in tried and not control.host.exists(f"{MODULES}/{name}"):
                tried.add(name)
                _modprobe(control, name)
        clock.sleep(POLL_S)
    lost = [row for row in rows("off", "unsupported")
            if row.name in on_in(settings) and row.reason]
    if lost:
        raise CtlError("; ".join(row.words() for row in lost), Exit.REFUSED,
                       "livemmctl hooks, livemmctl doctor")
