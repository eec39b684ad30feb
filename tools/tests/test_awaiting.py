# SPDX-License-Identifier: GPL-2.0-only
"""Waiting for livepatches that settings need."""

import pytest
from ab.doubles import HandClock
from conftest import fails
from fake_tree import FakeHost
from livemmctl import awaiting
from livemmctl.control import ModuleControl, Reach
from livemmctl.errors import Exit
from livemmctl.host import Ran
from livemmctl.modules import MODULES, Clock

LISTS = "livemm_klp_lists"
ON = {"pcp": {"enabled": "1"}}
WAITS = f"{LISTS} is being loaded"


def clock_of(hand: HandClock) -> Clock:
    return Clock(hand.elapsed, hand.wait)


def control_of(host: FakeHost) -> ModuleControl:
    return ModuleControl(host, Reach.OPEN)


def test_waits_until_the_policy_is_on(host: FakeHost) -> None:
    host.kernel.be("pcp", "waiting", WAITS)
    time = HandClock(at=[(2.0, lambda: host.kernel.be("pcp", "on", ""))])
    said: list[str] = []
    awaiting.apply(control_of(host), ON, 60, clock_of(time), said.append)
    assert 2 <= time.now_s < 3
    assert said == [f"pcp is to come on when a livepatch is in force ({WAITS})"]


def test_says_why_the_kernel_gave_up(host: FakeHost) -> None:
    host.kernel.be("pcp", "waiting", WAITS)
    time = HandClock(at=[(2.0, lambda: host.kernel.be("pcp", "off", "hook drain: gone"))])
    with fails(Exit.REFUSED, r"pcp is off \(hook drain: gone\)"):
        awaiting.apply(control_of(host), ON, 60, clock_of(time))


def test_gives_up_and_names_the_tasks(host: FakeHost) -> None:
    host.kernel.load_klp(LISTS)
    host.kernel.put(f"/sys/kernel/livepatch/{LISTS}/transition", "1\n")
    host.kernel.put("/proc/9/task/9/patch_state", "0\n")
    host.kernel.put("/proc/9/task/9/comm", "sleeper\n")
    host.kernel.be("pcp", "waiting", f"livepatch {LISTS} is in transition")
    with fails(Exit.TIMEOUT, r"held by 9 \(sleeper\)"):
        awaiting.apply(control_of(host), ON, 10, clock_of(HandClock()))
    assert not host.ran


def test_runs_modprobe_for_its_words(host: FakeHost) -> None:
    host.kernel.be("pcp", "waiting", WAITS)
    host.answers[f"modprobe {LISTS}"] = Ran(1, "", "modprobe: FATAL: Module not found")
    time = HandClock()
    with fails(Exit.REFUSED, f"{LISTS} does not load: modprobe: FATAL"):
        awaiting.apply(control_of(host), ON, 60, clock_of(time))
    assert 5 <= time.now_s < 6


@pytest.mark.parametrize("loaded", [True, False])
def test_runs_modprobe_once(host: FakeHost, loaded: bool) -> None:
    if loaded:
        host.kernel.put(f"{MODULES}/{LISTS}/refcnt", "0\n")
    host.kernel.be("pcp", "waiting", WAITS)
    time = HandClock(at=[(20.0, lambda: host.kernel.be("pcp", "on", ""))])
    host.answers[f"modprobe {LISTS}"] = Ran(0, "", "")
    awaiting.apply(control_of(host), ON, 60, clock_of(time))
    assert host.ran == ([] if loaded else [["modprobe", LISTS]])


def test_off_waits_for_nothing(host: FakeHost) -> None:
    host.kernel.be("numa", "waiting", WAITS)
    time = HandClock()
    awaiting.apply(control_of(host), {"pcp": {"enabled": "0"}}, 60, clock_of(time))
    assert time.now_s == 0
