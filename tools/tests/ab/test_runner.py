# SPDX-License-Identifier: GPL-2.0-only
"""A run on a host whose kernel answers as livemm does, with time turned by hand."""

import errno
import fcntl
import json
import os
import signal
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from ab.doubles import START_S, World, drawn, experiment, in_arm, is_stock
from conftest import fails
from fake_tree import FakeHost
from livemmctl.ab import place, switch
from livemmctl.ab.assign import entry_pct, host_id
from livemmctl.ab.clock import STOP_SIGNAL
from livemmctl.ab.from_journals import seen_in
from livemmctl.ab.journal import read_journal
from livemmctl.ab.model import Experiment
from livemmctl.ab.timeline import blocks_of
from livemmctl.control import MODULE, open_control
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Ran


def test_a_switchback_runs_through(world: World) -> None:
    outcome = world.run(experiment())
    assert (outcome.kind, outcome.status) == ("end", Exit.OK)
    blocks = world.records("block")
    assert [block["block"] for block in blocks] == list(range(12))
    assert all(block["complete"] for block in blocks)
    assert sorted(block["arm"] for block in blocks) == ["off"] * 6 + ["on"] * 6
    assert is_stock(world)
    assert [record["type"] for record in world.records()][-1] == "end"


def test_only_the_policy_differs_between_blocks(world: World) -> None:
    world.run(experiment())
    seen: dict[str, set[str]] = {"off": set(), "on": set()}
    for write in world.host.kernel.writes:
        seen["on" if "pcp:enabled=1" in write else "off"].add(write.strip())
    assert seen == {"on": {"pcp:enabled=1"}, "off": {"pcp:enabled=0"}}


def test_knobs_of_an_arm_do_not_outlive_it(world: World) -> None:
    arms = {"off": {}, "on": {"policy": {"pcp": {"enabled": True, "mode": "depth",
                                                 "decay_ms": 500}}}}
    before = dict(world.host.kernel.values["pcp"])
    world.run(experiment(arms=arms))
    assert world.host.kernel.values["pcp"] == before
    assert any("decay_ms=500" in write for write in world.host.kernel.writes)


def test_samples_in_the_washout_are_marked(world: World) -> None:
    world.run(experiment())
    begins = {record["block"]: record["t"] for record in world.records("apply")}
    samples = world.records("sample")
    for record in samples:
        washed = record["t"] - begins[record["block"]] >= 10
        assert record["washed"] == washed
    assert {record["washed"] for record in samples} == {True, False}


def test_the_lease_is_renewed_at_every_tick(world: World) -> None:
    left: list[int] = []
    plain = world.clock.each

    def each(seconds: float) -> None:
        left.append(world.host.kernel.lease)
        plain(seconds)

    world.clock.each = each
    world.run(experiment())
    assert min(left) == 60


def test_the_arm_is_shown_while_it_lasts(world: World) -> None:
    shown: list[tuple[bool, str]] = []

    def look() -> None:
        text = (world.host.root / "run/livemm/arm.json").read_text(encoding="utf-8")
        assert json.loads(text)["experiment"] == "trial"
        shown.append((world.is_on(), json.loads(text)["arm"]))

    for second in range(30, 720, 60):
        world.later(second, look)
    world.run(experiment())
    assert len(shown) == 12
    assert all(on == (arm == "on") for on, arm in shown)


@pytest.mark.parametrize("number,kind,status", [
    (signal.SIGINT, "stop", Exit.INTERRUPTED), (signal.SIGTERM, "stop", Exit.PARTIAL),
    (STOP_SIGNAL, "end", Exit.OK),
])
def test_a_signal_restores_stock(world: World, number: int, kind: str, status: Exit) -> None:
    world.later(100, lambda: world.clock.tell(number))
    outcome = world.run(experiment())
    assert (outcome.kind, outcome.status) == (kind, status)
    assert is_stock(world)
    last = world.records()[-1]
    assert (last["type"], last["stock"]) == (kind, "yes")
    assert world.records("block")[-1]["complete"] is False


def test_ended_by_a_signal_it_goes_on_with_the_next_block(world: World) -> None:
    world.later(100, world.clock.tell)
    world.run(experiment())
    outcome = world.run(experiment())
    assert outcome.kind == "end"
    blocks = world.records("block")
    assert [block["block"] for block in blocks] == list(range(12))
    assert [block["block"] for block in blocks if not block["complete"]] == [1]
    assert len(world.records("start")) == len(world.records("resume")) == 1


def test_what_is_over_is_not_begun_again(world: World, journal: Path) -> None:
    world.run(experiment())
    size = journal.stat().st_size
    outcome = world.run(experiment())
    assert (outcome.kind, outcome.status) == ("end", Exit.OK)
    assert "already over" in outcome.reason
    assert journal.stat().st_size == size
    assert is_stock(world)


class Crash(BaseException):
    """What no code of ours catches, like SIGKILL."""


def crash(world: World, made: Experiment | None = None, at_switch: bool = False) -> None:
    """Run for 100 seconds, or to the switch, and die of what no code of ours catches."""
    def die(*_: object) -> None:
        raise Crash

    with pytest.MonkeyPatch.context() as patch:
        if at_switch:
            patch.setattr(switch.Switch, "to_arm", die)
        else:
            world.later(world.clock.now_s + 100, die)
        # A process that is killed restores nothing: neither may the exception.
        patch.setattr(switch.Switch, "to_stock", lambda *args: None)
        with pytest.raises(Crash):
            world.run(made or experiment())


def test_after_a_crash_the_lease_goes_on_and_the_next_run_cleans_up(world: World) -> None:
    while not world.is_on():
        crash_at = world.clock.now_s
        crash(world)
        assert crash_at < 2000
    assert world.host.kernel.lease > 0
    found = world.records("start")[0]["found"]
    outcome = world.run(experiment())
    assert outcome.kind == "end"
    assert is_stock(world)
    assert world.records("resume")[-1]["found"] == found
    assert found["pcp"]["enabled"] == "0"


def test_without_a_runner_the_kernel_goes_back(world: World) -> None:
    while not world.is_on():
        crash(world)
    for _ in range(12):
        world.grow(5)
    assert not world.is_on()


def test_what_an_admin_switched_on_is_not_taken_for_ours(world: World) -> None:
    world.host.kernel.set("pcp", enabled="1")
    with pytest.raises(CtlError, match="pcp: already on"):
        world.run(experiment())
    assert world.is_on()
    assert world.records() == []


def test_nor_after_a_crash_that_is_long_over(world: World) -> None:
    crash(world)
    world.host.kernel.expire_lease()
    world.host.kernel.set("pcp", enabled="1")
    with pytest.raises(CtlError, match="already on"):
        world.run(experiment())
    assert world.is_on()


def test_nor_after_a_stop_that_left_the_host_at_stock(world: World) -> None:
    """An admin tries a policy under a lease, as docs/recipes.md says."""
    world.later(100, world.clock.tell)
    world.run(experiment())
    world.host.kernel.lease = 3600
    world.host.kernel.set("pcp", enabled="1")
    with pytest.raises(CtlError, match="already on"):
        world.run(experiment())
    assert world.is_on()


def test_an_admins_change_ends_the_run_and_stays(world: World) -> None:
    world.later(200, lambda: world.host.kernel.set("numa", enabled="1"))
    outcome = world.run(experiment())
    assert outcome.status == Exit.DRIFT
    assert "numa/enabled" in outcome.reason
    assert world.host.kernel.values["numa"]["enabled"] == "1"
    assert not world.is_on("pcp")
    assert world.host.kernel.lease == 0


def first_on(world: World, made: Experiment) -> int:
    """The first block of a switchback with the policy on."""
    return next(block.index for block in blocks_of(made, host_id(world.host))
                if block.arm == "on")


def lease_runs_out(world: World, made: Experiment) -> None:
    world.clock.now_s += made.lease_s
    world.host.kernel.expire_lease()


def test_an_admin_who_switches_all_off_is_not_overruled(world: World) -> None:
    """`disable --all` and `lease 0` look like the end of a lease, but come too early for that."""
    made = in_arm(world, "on")
    world.later(100, world.host.kernel.expire_lease)
    assert world.run(made).status == Exit.DRIFT
    assert not world.is_on()


def test_refused_after_a_lease_the_host_stays_and_is_read_at_stock(world: World) -> None:
    made = in_arm(world, "on")

    def action() -> None:
        lease_runs_out(world, made)
        world.host.kernel.refuse["pcp"] = (errno.EBUSY, "a livepatch transition is under way")

    world.later(100, action)
    assert world.run(made).kind == "end"
    assert is_stock(world) and world.records("sample")[-1]["state"] == "stock"


def test_what_an_admin_has_under_a_lease_in_another_boot_is_the_admins(world: World) -> None:
    while not world.is_on():
        crash(world)
    reboot(world)
    world.host.kernel.set("numa", enabled="1")
    world.host.kernel.lease = 3600
    with pytest.raises(CtlError, match="numa: already on"):
        world.run(experiment())
    assert world.host.kernel.values["numa"]["enabled"] == "1"


def test_a_lease_that_ran_out_spoils_the_block_alone(world: World) -> None:
    made = replace(experiment(), lease_s=15)
    first = first_on(world, made)
    world.later(60 * first + 25, lambda: lease_runs_out(world, made))
    world.run(made)
    spoilt = [block for block in world.records("block") if not block["complete"]]
    assert [block["block"] for block in spoilt] == [first]
    assert "held up" in spoilt[0]["reason"]
    assert len(world.records("drift")) == 1
    assert len(world.records("block")) == 12


def reboot(world: World) -> None:
    """A boot later; the module is loaded, and every policy off."""
    world.host.kernel.put("/proc/sys/kernel/random/boot_id", f"boot at {world.clock.now_s}\n")
    world.host.kernel.unload()
    world.host.kernel.load()
    (world.host.root / "run/livemm/arm.json").unlink(missing_ok=True)


def test_told_to_end_before_a_reboot_it_goes_on_after_it(world: World) -> None:
    made = in_arm(world, "on")
    world.later(100, world.clock.tell)
    assert world.run(made).kind == "stop"
    assert is_stock(world)
    reboot(world)
    seen = world.look(150)
    outcome = world.run(made)
    assert (outcome.kind, outcome.status, seen) == ("end", Exit.OK, [True])
    assert world.records("guard") == []
    # By the wall clock, whatever passed in between.
    assert world.records()[-1]["t"] - START_S == pytest.approx(300, abs=5)
    assert is_stock(world)


@pytest.mark.parametrize("arm", ["off", "on"])
def test_a_host_that_went_down_in_its_arm_stays_at_stock(world: World, arm: str) -> None:
    made = in_arm(world, arm)
    crash(world, made)
    reboot(world)
    world.later(150, world.clock.tell)
    writes = len(world.host.kernel.writes)
    assert world.run(made).kind == "stop"
    # However often it is started again.
    reboot(world)
    assert world.run(made).status == Exit.OK
    assert len(world.host.kernel.writes) == writes
    (guard,) = world.records("guard")
    assert (guard["guard"], guard["arm"]) == ("went_down", arm)
    after = [record for record in world.records("sample") if record["t"] > guard["t"]]
    assert len(after) > 20
    assert {(record["arm"], record["state"]) for record in after} == {(arm, "stock")}


def test_so_does_one_that_went_down_at_the_switch(world: World, journal: Path) -> None:
    made = in_arm(world, "on")
    crash(world, made, at_switch=True)
    assert world.records("apply") == []
    reboot(world)
    assert world.run(made).status == Exit.OK
    assert "went_down" in world.records("guard")[0]["guard"]
    assert {record["state"] for record in world.records("sample")} == {"stock"}
    # It counts in its arm.
    seen = seen_in(read_journal(journal), made, world.clock.wall())
    (found,) = seen.hosts.values()
    assert (found.arm, found.guard, seen.guards) == ("on", "went_down", [("on", "went_down")])


def test_by_time_it_ends_there(world: World) -> None:
    crash(world)
    (begun,) = world.records("apply")[-1:]
    reboot(world)
    outcome = world.run(experiment())
    assert (outcome.kind, outcome.status) == ("end", Exit.FAILED)
    assert f"went down while arm {begun['arm']} was on" in outcome.reason
    assert world.records("guard")[0]["block"] == begun["block"]
    assert "already over" in world.run(experiment()).reason
    assert is_stock(world)


def test_a_host_may_go_down_where_that_is_said(world: World) -> None:
    made = in_arm(world, "on", guardrails={"went_down": False})
    crash(world, made)
    reboot(world)
    seen = world.look(150)
    assert world.run(made).status == Exit.OK
    assert seen == [True]
    assert world.records("guard") == []


def test_what_a_runner_was_killed_by_counts(world: World) -> None:
    made = in_arm(world, "on")
    crash(world, made)
    # The same boot: the OOM killer chose the runner, whose unit starts it again.
    harm(world, {"oom_kill": 1})
    writes = len(world.host.kernel.writes)
    world.later(150, world.clock.tell)
    assert world.run(made).kind == "stop"
    (guard,) = world.records("guard")
    assert (guard["guard"], guard["arm"], guard["seen"]) == ("oom_kills", "on", 1)
    assert not world.is_on()
    # It was put back to stock, once, and the arm is not tried again.
    assert len(world.host.kernel.writes) == writes + 1
    assert {r["state"] for r in world.records("sample") if r["t"] > guard["t"]} == {"stock"}


def test_by_time_it_ends_it(world: World) -> None:
    crash(world)
    world.host.kernel.put("/proc/sys/kernel/tainted", f"{1 << 7}\n")
    outcome = world.run(experiment())
    assert (outcome.kind, outcome.status) == ("end", Exit.FAILED)
    assert "new taint bit: 7" in outcome.reason
    assert is_stock(world)


def test_killed_again_and_again_it_still_counts(world: World) -> None:
    made = in_arm(world, "on", guardrails={"oom_kills": 1})
    for _ in range(2):
        crash(world, made)
        assert world.records("guard") == []
        harm(world, {"oom_kill": 1})
    world.later(150, world.clock.tell)
    world.run(made)
    (guard,) = world.records("guard")
    assert guard["seen"] == 2


def test_after_a_stop_what_others_did_does_not_count(world: World) -> None:
    made = in_arm(world, "on")
    world.later(150, world.clock.tell)
    assert world.run(made).kind == "stop"
    harm(world, {"oom_kill": 5})
    assert world.run(made).status == Exit.OK
    assert world.records("guard") == []


def test_an_admins_knob_of_a_policy_of_ours_does_not_keep_it_on(world: World) -> None:
    world.later(25, lambda: world.host.kernel.set("pcp", decay_ms="4000"))
    assert world.run(experiment()).status == Exit.DRIFT
    assert is_stock(world)


def test_a_block_in_which_the_host_slept_is_not_complete(world: World) -> None:
    def sleep() -> None:
        world.clock.now_s += 100

    world.later(200, sleep)
    world.run(experiment())
    blocks = {block["block"]: block for block in world.records("block")}
    assert [number for number, block in blocks.items() if not block["complete"]] == [3]
    assert "held up for 100 s" in blocks[3]["reason"]
    # It woke in the sixth block; the fifth was slept over.
    assert sorted(blocks) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]


def test_a_clock_that_is_set_back_undoes_nothing(world: World) -> None:
    made = in_arm(world, "on", baseline="2m")

    def back() -> None:
        world.clock.offset_s -= 100

    world.later(150, back)
    world.run(made)
    phases = [record["phase"] for record in world.records("sample")]
    assert phases == sorted(phases)
    assert len(world.records("apply")) == 1
    assert is_stock(world)


GUARDS: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("allocation_stalls_per_s", {"allocation_stalls_per_s": 10}, {"allocstall_normal": 700}),
    ("oom_kills", {}, {"oom_kill": 1}),
    ("psi_memory_full_pct", {"psi_memory_full_pct": 5}, {"pressure": 4e6}),
    ("thp_fallback_pct", {"thp_fallback_pct": 50},
     {"thp_fault_alloc": 90, "thp_fault_fallback": 110}),
    ("taint", {}, {"taint": 1 << 9}),
]


def harm(world: World, numbers: dict[str, float]) -> None:
    for name, number in numbers.items():
        if name == "pressure":
            world.pressure_us += number
        elif name == "taint":
            world.host.kernel.put("/proc/sys/kernel/tainted", f"{int(number)}\n")
        else:
            world.counts[name] += number
    world.write()


@pytest.mark.parametrize("name,limits,numbers", GUARDS)
def test_a_guardrail_stops_a_switchback_at_once(
    world: World, name: str, limits: dict[str, Any], numbers: dict[str, float],
) -> None:
    world.later(200, lambda: harm(world, numbers))
    outcome = world.run(experiment(guardrails=limits))
    assert (outcome.kind, outcome.status) == ("end", Exit.FAILED)
    assert name in outcome.reason
    assert is_stock(world)
    (guard,) = world.records("guard")
    assert (guard["guard"], guard["stock"]) == (name, "yes")
    # The tick after it happened.
    assert guard["t"] - START_S <= 205
    assert "already over" in world.run(experiment(guardrails=limits)).reason


@pytest.mark.parametrize("numbers", [
    {"allocstall_normal": 500}, {"pressure": 2e6}, {"taint": 1 << 12 | 1 << 13 | 1 << 15},
    {"thp_fault_fallback": 50},
])
def test_what_is_within_bounds_stops_nothing(world: World, numbers: dict[str, float]) -> None:
    limits = {"allocation_stalls_per_s": 10, "psi_memory_full_pct": 5, "thp_fallback_pct": 50}
    world.later(200, lambda: harm(world, numbers))
    assert world.run(experiment(guardrails=limits)).status == Exit.OK
    assert world.records("guard") == []


@pytest.mark.parametrize("arm", ["off", "on"])
def test_by_host_a_guardrail_leaves_the_host_in_its_arm_at_stock(world: World, arm: str) -> None:
    made = in_arm(world, arm)
    # At once, and at the next tick.
    seen = world.look(100, 105)
    world.later(100, lambda: harm(world, {"oom_kill": 1}))
    assert world.run(made).status == Exit.OK
    assert seen == [arm == "on", False]
    samples = world.records("sample")
    assert samples[-1]["t"] - START_S >= 295
    assert {record["arm"] for record in samples} == {arm}
    assert [record["state"] for record in samples] == sorted(r["state"] for r in samples)
    assert samples[-1]["state"] == "stock"
    assert is_stock(world)


def test_once_passed_a_guardrail_holds_after_a_restart(world: World) -> None:
    made = in_arm(world, "on")
    world.later(100, lambda: harm(world, {"oom_kill": 1}))
    world.later(150, world.clock.tell)
    world.run(made)
    writes = len(world.host.kernel.writes)
    world.run(made)
    assert len(world.host.kernel.writes) == writes
    assert world.records("sample")[-1]["state"] == "stock"


@pytest.mark.parametrize("gone", ["/proc/pressure/memory", "/proc/sys/kernel/tainted"])
def test_a_guardrail_that_cannot_be_seen_is_refused(world: World, gone: str) -> None:
    world.host.path(gone).unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "write", lambda: None)
        with pytest.raises(CtlError, match="no numbers for the guardrail") as caught:
            world.run(experiment())
    assert caught.value.hint is not None and "= false" in caught.value.hint
    assert world.host.kernel.writes == []


def test_a_guardrail_that_goes_blind_counts_as_passed(world: World) -> None:
    world.later(200, lambda: world.host.path("/proc/sys/kernel/tainted").unlink())
    outcome = world.run(experiment())
    assert "can no longer be read" in outcome.reason
    assert is_stock(world)


def test_a_host_that_refuses_its_arm_counts_in_it(world: World) -> None:
    world.host.kernel.unsupported["pcp"] = "hook drain: not found"
    world.host.kernel.show()
    outcome = world.run(in_arm(world, "on"))
    assert outcome.status == Exit.OK
    (apply,) = world.records("apply")
    assert (apply["arm"], apply["ok"]) == ("on", False)
    assert {record["state"] for record in world.records("sample")} == {"stock"}


def test_so_does_one_without_the_module(bare: FakeHost) -> None:
    world = World(bare)
    assert world.run(in_arm(world, "on")).status == Exit.OK
    assert world.records("apply")[0]["reason"] == "livemm is not loaded"
    assert len(world.records("sample")) > 50


def test_by_time_it_is_refused(bare: FakeHost) -> None:
    with fails(Exit.NOT_LOADED):
        World(bare).run(experiment())


def test_by_time_a_refused_arm_ends_it(world: World) -> None:
    world.host.kernel.refuse["pcp"] = (110, "the transition did not end")
    with pytest.raises(CtlError, match="the transition did not end.*back to stock"):
        world.run(experiment())
    assert is_stock(world)
    assert world.records()[-1]["type"] == "stop"


def test_a_module_that_is_unloaded_ends_it(world: World) -> None:
    world.later(200, world.host.kernel.unload)
    outcome = world.run(experiment())
    assert not world.host.exists(MODULE)
    assert outcome.status == Exit.DRIFT
    assert "unloaded" in outcome.reason


def test_a_journal_that_cannot_be_written_puts_the_host_back(
    world: World, monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = os.write

    def full(descriptor: int, data: bytes) -> int:
        if world.clock.now_s > 200 and data[:4] == b'{"v"':
            raise OSError(28, "No space left on device")
        return plain(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CtlError, match="no space left on device; the host is back to stock"):
        world.run(experiment())
    assert is_stock(world)


def test_a_baseline_comes_before_the_arm(world: World) -> None:
    made = in_arm(world, "on", baseline="2m")
    world.run(made)
    samples = world.records("sample")
    before = [record for record in samples if record["phase"] == "baseline"]
    assert max(record["t"] for record in before) - START_S <= 120
    assert min(r["t"] for r in samples if r["phase"] == "run") - START_S >= 120
    assert {record["state"] for record in before} == {"stock"}
    assert samples[-1]["t"] - START_S == pytest.approx(420, abs=5)


def test_the_ramp_decides_when_a_host_joins(world: World) -> None:
    start = "2027-01-15T08:00:00Z"
    moment = datetime.fromisoformat(start)
    assert moment.timestamp() == START_S
    ramp = {"percent": [10, 100], "every": "2m"}
    world.run(drawn(lambda made: entry_pct(made, host_id(world.host)) >= 10,
                    start=moment, ramp=ramp))
    (apply,) = world.records("apply")
    assert apply["t"] - START_S == pytest.approx(120, abs=1)
    assert world.records()[-1]["t"] - START_S == pytest.approx(300, abs=1)


def test_a_host_beyond_the_ramp_takes_no_part(world: World) -> None:
    made = drawn(lambda made: entry_pct(made, host_id(world.host)) >= 10,
                 ramp={"percent": [10], "every": "2m"})
    outcome = world.run(made)
    assert "does not take part" in outcome.reason
    assert world.host.kernel.writes == []


def test_two_runners_do_not_share_a_host(world: World, tmp_path: Path) -> None:
    other: list[str] = []

    def again() -> None:
        with pytest.raises(CtlError, match="another experiment is running"):
            world.run(experiment(), tmp_path / "other.jsonl")
        other.append("refused")

    world.later(100, again)
    world.run(experiment())
    assert other == ["refused"]


def test_somebody_who_looks_does_not_keep_a_runner_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ab status` holds the lock for the moment in which it looks whether a runner lives."""
    path = world.host.path(place.LOCK)
    path.parent.mkdir(parents=True, exist_ok=True)
    looks = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(looks, fcntl.LOCK_EX)
    monkeypatch.setattr("time.sleep", lambda _: fcntl.flock(looks, fcntl.LOCK_UN))
    assert world.run(experiment()).status == Exit.OK
    os.close(looks)


def test_a_journal_of_another_experiment_is_refused(world: World, journal: Path) -> None:
    world.run(experiment())
    with pytest.raises(CtlError, match="journal is of experiment 'trial'"):
        world.run(experiment(name="other"))


def test_a_command_is_a_metric(world: World) -> None:
    world.host.answers["/bin/count"] = Ran(0, "42.5 things\n", "")
    metrics = [{"name": "n", "kind": "mean", "source": "command:/bin/count --all 'a b'"}]
    world.run(experiment(metrics=metrics))
    assert ["/bin/count", "--all", "a b"] in world.host.ran
    values = {record["values"]["command:/bin/count --all 'a b'"]
              for record in world.records("sample")}
    assert values == {42.5}


def waiting(world: World, state: str) -> None:
    """Set the state of pcp in `status`; empty: the state that `enabled` shows."""
    states = world.host.kernel.states
    if state:
        states["pcp"] = (state, "livepatch x is in transition")
    else:
        states.pop("pcp", None)
    world.host.kernel.show()


def test_a_block_whose_policy_waited_does_not_count(world: World) -> None:
    made = experiment()
    first = first_on(world, made)
    world.later(60.0 * first + 30, lambda: waiting(world, "waiting"))
    world.later(60.0 * first + 40, lambda: waiting(world, ""))
    outcome = world.run(made)
    assert outcome.status == Exit.OK
    cut = [record for record in world.records("block") if not record["complete"]]
    assert [record["block"] for record in cut] == [first]
    assert "pcp is to come on" in cut[0]["reason"]
    (drift,) = world.records("drift")
    assert "livepatch x is in transition" in drift["reason"]
    states = [record["state"] for record in world.records("sample")
              if record["block"] == first]
    assert states.count("stock") == 2 and states[-1] == "arm"
    assert is_stock(world)


def test_by_host_a_policy_that_waits_is_read_on(world: World) -> None:
    world.later(60.0, lambda: waiting(world, "waiting"))
    world.later(120.0, lambda: waiting(world, ""))
    assert world.run(in_arm(world, "on")).status == Exit.OK
    assert len(world.records("drift")) == 1
    states = {record["state"] for record in world.records("sample")
              if record["phase"] == "run"}
    assert states == {"arm", "stock"}
    assert world.records("sample")[-1]["state"] == "arm"
    assert is_stock(world)


def test_stock_is_first_off_and_then_knobs(world: World) -> None:
    arms = {"off": {}, "on": {"policy": {"pcp": {"enabled": True, "decay_ms": 500}}}}
    world.later(30.0, lambda: world.clock.tell(signal.SIGTERM))
    world.run(in_arm(world, "on", arms=arms))
    assert [text.strip() for text in world.host.kernel.writes[-2:]] == [
        "pcp:enabled=0", "pcp:decay_ms=3000"]


def test_a_knob_that_cannot_be_put_back_holds_up_no_other(world: World) -> None:
    """What an earlier module had, this one may refuse."""
    control = open_control(world.host)
    before = switch.found_on(control)
    found = before | {"numa": before["numa"] | {"promote_rate_mb": "999999999"}}
    hands = switch.Switch(control, found, 60, before)
    hands.to_arm({"pcp": {"enabled": "1", "decay_ms": "500"}})
    with fails(Exit.PARTIAL, "every policy is off, but not put back: numa/promote_rate_mb"):
        hands.to_stock()
    assert control.settings() == before
    assert control.lease() == 0
