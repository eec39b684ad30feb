# SPDX-License-Identifier: GPL-2.0-only
"""Rollouts over fleets that are made up: what is decided, and when."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from ab.doubles import START_S, experiment
from livemmctl.ab.analyse import analyse
from livemmctl.ab.assign import app_specific_id, arm_of, entry_pct
from livemmctl.ab.decision import Decision, first_decision
from livemmctl.ab.history import looks_back
from livemmctl.ab.model import Experiment
from livemmctl.ab.points import HostSeen, Point, Seen
from livemmctl.app import App
from livemmctl.errors import CtlError
from livemmctl.rollout.cli import _show
from livemmctl.rollout.decide import ADVANCE, DONE, HALT, HOLD, WAIT, Verdict, decide, replay
from livemmctl.rollout.plan import Listed, waves

START = datetime.fromtimestamp(START_S, UTC)
TICK_S = 60.0


def fleet_experiment() -> Experiment:
    return experiment(
        "host", start=START, duration="14d", tick="1m", lease="5m", looks="any",
        ramp={"percent": [2, 5, 25, 100], "every": "30m", "margin_times": [10, 5, 2, 1]},
        gate={"decision": "/x"},
        metrics=[
            {"name": "stalls", "kind": "count", "source": "vmstat:allocstall_normal",
             "detect_pct": 20, "margin_pct": 20},
            {"name": "faults", "source": "vmstat:pgfault", "detect_pct": 2, "margin_pct": 2,
             "better": "more"},
        ])


class Fleet:
    """2,000 hosts that follow decisions; each tick is seen at once."""

    def __init__(self, made: Experiment, harm: Callable[[float], float], seed: int) -> None:
        self.made, self.harm = made, harm
        self.draw = np.random.default_rng(seed)
        ids = [app_specific_id(f"{seed:08x}{number:024x}") for number in range(2000)]
        self.hosts = {host: (arm_of(made, host, {}), entry_pct(made, host)) for host in ids}
        self.seen = Seen({metric.name: [] for metric in made.metrics})
        self.level = {host: self.draw.lognormal(0, 0.3) for host in ids}
        self.exposed: set[str] = set()
        self.now_s = START_S
        #: Is the metric there?  Can hosts read the decision?
        self.is_silent: Callable[[str], bool] = lambda host: False
        self.is_cut_off = False

    def tick(self, decided: Decision) -> None:
        """A minute of every host that takes part."""
        self.now_s += TICK_S
        for host, (arm, entry) in self.hosts.items():
            is_in = host in self.seen.hosts
            if entry >= decided.percent or decided.halt or (self.is_cut_off and not is_in):
                continue
            self.seen.hosts.setdefault(host, HostSeen(arm, arm_now=arm, joined_s=self.now_s))
            treated = arm != self.made.control
            self.exposed |= {host} if treated else set()
            worse = self.harm(decided.percent) if treated else 1.0
            stalls = float(self.draw.poisson(0.5 * self.level[host] * worse))
            faults = 1e6 * (1 + 0.002 * self.draw.standard_normal()) * (2 - max(worse, 0.999))
            if not self.is_silent(host):
                self.seen.points["stalls"].append(Point(host, stalls, TICK_S, at_s=self.now_s))
            self.seen.points["faults"].append(
                Point(host, faults if worse <= 1 else 1e6, TICK_S, at_s=self.now_s))

    def roll(
        self, ticks: int, every: int = 1, decided: Decision | None = None
    ) -> list[Verdict]:
        """A decision each `every` ticks, until halt or the last step."""
        decided = decided or first_decision(self.made, START_S)
        verdicts: list[Verdict] = []
        for tick in range(1, ticks + 1):
            self.tick(decided)
            if tick % every:
                continue
            verdicts.append(decide(analyse(self.made, self.seen), decided, self.now_s))
            decided = verdicts[-1].decision
            if verdicts[-1].what in (HALT, DONE):
                break
        return verdicts


@pytest.mark.parametrize(("times", "ticks"), [(3.0, 10), (5.0, 3)])
def test_a_harm_at_the_second_step_halts_the_fleet(
    times: float, ticks: int, record_property: Callable[[str, object], None]
) -> None:
    """So many times the stalls once 5 % take part: 95 % of the hosts are never exposed."""
    def rolled() -> tuple[Fleet, list[Verdict]]:
        fleet = Fleet(fleet_experiment(), lambda percent: times if percent >= 5 else 1.0, 1)
        (before,) = fleet.roll(30, every=30)
        assert before.decision.percent == 5.0
        return fleet, fleet.roll(100, decided=before.decision)

    fleet, verdicts = rolled()
    record_property("note", f"{times:g} times the stalls: halted at tick {len(verdicts)} of the"
                    f" step, {len(fleet.exposed)} of {len(fleet.hosts)} hosts exposed")
    assert (verdicts[-1].what, verdicts[-1].decision.percent) == (HALT, 5.0)
    assert "stalls, on: worse" in verdicts[-1].reason
    assert len(fleet.exposed) <= 0.05 * len(fleet.hosts)
    assert len(verdicts) <= ticks
    # Replayed, the same data give the same decisions.
    assert [verdict.decision for verdict in rolled()[1]] == [
        verdict.decision for verdict in verdicts]


def test_a_benefit_completes_by_itself() -> None:
    fleet = Fleet(fleet_experiment(), lambda percent: 0.6, 2)
    verdicts = fleet.roll(600, every=10)
    taken = [verdict.decision.percent for verdict in verdicts if verdict.what == ADVANCE]
    assert taken == [5.0, 25.0, 100.0]
    assert verdicts[-1].what == DONE
    # No step is shorter than the ramp says.
    waits = [verdict.reason for verdict in verdicts if verdict.what == WAIT]
    assert any("min more" in words for words in waits)


@pytest.mark.parametrize(("fault", "words"), [
    # An exporter that is gone on all hosts; hosts of one arm that died; hosts that are cut off.
    (lambda fleet: setattr(fleet, "is_silent", lambda host: True), "no number for 10 min from"),
    (lambda fleet: setattr(fleet, "is_silent", lambda host: (
        fleet.hosts[host][0] == "on" and fleet.hosts[host][1] < 2)), "no number for 10 min from"),
    (lambda fleet: setattr(fleet, "is_cut_off", True), "0 hosts have joined in this step"),
])
def test_a_gate_without_its_metric_stays_shut(
    fault: Callable[[Fleet], None], words: str
) -> None:
    """What was known of a guard before lets no further step be taken."""
    fleet = Fleet(fleet_experiment(), lambda percent: 0.6, 2)
    before = fleet.roll(30, every=30)[-1].decision
    assert before.percent == 5.0
    if "joined" not in words:
        for _ in range(20):
            fleet.tick(before)
    fault(fleet)
    verdict = fleet.roll(40, every=40, decided=before)[-1]
    assert (verdict.what, verdict.decision.percent) == (HOLD, 5.0)
    assert words in verdict.reason


def one_metric(metric: dict[str, object], **over: object) -> Experiment:
    keys = {"name": "it", "source": "vmstat:pgfault", "margin_pct": 2, "detect_pct": 2}
    return replace(fleet_experiment(), metrics=experiment(
        "host", metrics=[keys | metric]).metrics, **over)  # type: ignore[arg-type]


def decided_at_first(
    made: Experiment, value: Callable[[bool, int], float], seconds: float = TICK_S
) -> Verdict:
    """A decision at the first step, from the values of 400 hosts, half of them treated."""
    seen = Seen({"it": []})
    for number in range(400):
        treated = bool(number % 2)
        seen.hosts[str(number)] = HostSeen("on" if treated else "off", arm_now="on"
                                           if treated else "off")
        seen.points["it"].append(Point(str(number), value(treated, number), seconds,
                                       at_s=START_S + 2 * made.ramp.every_s))
    first = first_decision(made, START_S)
    return decide(analyse(made, seen), first, START_S + 2 * made.ramp.every_s)


def test_no_event_anywhere_holds_nothing_up() -> None:
    made = one_metric({"kind": "count"})
    verdict = decided_at_first(made, lambda treated, number: 0.0)
    assert (verdict.what, verdict.guards[0].words) == (ADVANCE, "no event on a treated host")


def test_a_bound_that_is_infinite_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Control has no event: no number bounds the ratio from above."""
    verdict = decided_at_first(one_metric({"kind": "count"}),
                               lambda treated, number: float(treated and number < 9))
    assert verdict.guards[0].high_pct == math.inf
    _show(App(json=True), verdict, {})
    said = capsys.readouterr().out
    assert "Infinity" not in said
    assert json.loads(said)["guards"][0]["high_pct"] is None


def test_a_harm_that_is_known_is_not_let_on_by_a_wide_margin() -> None:
    """5 % worse: within the first step's margin of 20 %, and beyond the last one's of 2 %."""
    made = one_metric({})
    draw = np.random.default_rng(8)
    noise = draw.standard_normal(400)
    worse = decided_at_first(made, lambda treated, number: 60 * (
        (105.0 if treated else 100.0) + noise[number]))
    assert (worse.what, worse.guards[0].state) == (HALT, "harmful")
    # Worse, and within the last margin: no harm.
    little = decided_at_first(made, lambda treated, number: 60 * (
        (100.8 if treated else 100.0) + noise[number]))
    assert (little.what, little.guards[0].state) == (ADVANCE, "ok")


@pytest.mark.parametrize(("treated_level", "state"), [(-120.0, "ok"), (-80.0, "harmful")])
def test_a_level_below_zero(treated_level: float, state: str) -> None:
    """Less is better: -120 is less than -100."""
    made = one_metric({"kind": "mean", "source": "command:/bin/true"})
    noise = np.random.default_rng(9).standard_normal(400)
    verdict = decided_at_first(made, lambda treated, number: (
        treated_level if treated else -100.0) + noise[number], 1.0)
    assert verdict.guards[0].state == state


def test_hosts_without_data_do_not_make_an_arm_quiet() -> None:
    """Treated hosts that are missing more often may have died: none of them has an event."""
    made = one_metric({"kind": "count"})
    seen = Seen({"it": []})
    for number in range(400):
        arm = "on" if number % 2 else "off"
        seen.hosts[str(number)] = HostSeen(arm, arm_now=arm)
        if arm == "off" or number > 100:
            seen.points["it"].append(Point(str(number), float(arm == "off"), TICK_S))
    verdict = decide(analyse(made, seen), first_decision(made, START_S),
                     START_S + 2 * made.ramp.every_s)
    assert verdict.what == HOLD
    assert "not alike in the arms" in verdict.reason


def test_a_step_does_not_last_before_the_start() -> None:
    """The timer may run for days before."""
    early = first_decision(fleet_experiment(), START_S - 9e5)
    assert (early.at_s, early.since_s) == (START_S - 9e5, START_S)


def test_all_that_may_halt_shares_five_percent() -> None:
    """Whatever a report corrects for: of four guards, one alone has p = 0.023."""
    made = one_metric({"kind": "count"}, correction="none")
    made = replace(made, metrics=tuple(replace(made.metrics[0], name=f"m{number}")
                                       for number in range(4)))
    seen = Seen({metric.name: [] for metric in made.metrics})
    for number in range(200):
        arm = "on" if number % 2 else "off"
        seen.hosts[str(number)] = HostSeen(arm, arm_now=arm)
        for metric in made.metrics:
            events = number < (32 if arm == "on" else 1) and metric.name == "m0"
            seen.points[metric.name].append(Point(str(number), float(events), TICK_S))
    report = analyse(made, seen)
    assert 0.05 / 4 < report.comparisons[0].p < 0.05
    assert decide(report, first_decision(made, START_S), START_S + TICK_S).what == WAIT


def test_guardrails_that_trip_on_treated_hosts_halt() -> None:
    made = fleet_experiment()
    seen = Seen({metric.name: [] for metric in made.metrics})
    for number in range(200):
        arm = "on" if number % 2 else "off"
        guard = "oom_kills" if number % 2 and number < 40 else ""
        seen.hosts[str(number)] = HostSeen(arm, arm_now=arm, guard=guard)
    verdict = decide(analyse(made, seen), first_decision(made, START_S), START_S + TICK_S)
    assert verdict.what == HALT
    assert "guardrails were passed on 20 of 100 hosts of on" in verdict.reason
    assert verdict.decision.serial == 2
    again = decide(analyse(made, seen), verdict.decision, START_S + 2 * TICK_S)
    assert (again.what, again.decision.serial) == (HALT, 2)


def test_a_rollout_needs_a_margin_and_many_looks() -> None:
    made = fleet_experiment()
    bare = replace(made, metrics=tuple(replace(m, margin_pct=None) for m in made.metrics))
    seen = Seen({metric.name: [] for metric in made.metrics})
    for broken, words in ((bare, "no metric has a margin"),
                          (replace(made, looks="end"), "looks at every tick")):
        with pytest.raises(CtlError, match=words):
            decide(analyse(broken, seen), first_decision(made, START_S), START_S)


def kernels_experiment() -> Experiment:
    return experiment(
        "host", start=START, duration="14d", tick="1m", lease="5m", looks="any",
        ramp={"percent": [5, 100], "every": "30m", "kernels": ["6.1", "6.12"]},
        gate={"decision": "/x"},
        metrics=[{"name": "stalls", "kind": "count", "source": "vmstat:allocstall_normal",
                  "detect_pct": 20, "margin_pct": 100}])


def roll_kernels(made: Experiment, harm: dict[str, float]) -> list[Verdict]:
    """600 hosts, of two kernels by turns, and some of a third; a decision every half an hour."""
    draw = np.random.default_rng(12)
    hosts = {host: ("6.1", "6.12", "6.1", "6.12", "7.2")[number % 5] for number, host in enumerate(
        app_specific_id(f"{number:032x}") for number in range(1500))}
    seen = Seen({"stalls": []})
    decided, now_s = first_decision(made, START_S), START_S
    verdicts: list[Verdict] = []
    while len(verdicts) < 12 and (not verdicts or verdicts[-1].what not in (HALT, DONE)):
        now_s += 1800
        for host, kernel in hosts.items():
            percent = made.ramp.percent_at(decided.kernel, decided.percent, kernel)
            if entry_pct(made, host) >= percent:
                continue
            arm = arm_of(made, host, {})
            seen.hosts.setdefault(host, HostSeen(arm, arm_now=arm, joined_s=now_s - 1700,
                                                 kernel=kernel))
            rate = 20 * (harm.get(kernel, 1.0) if arm == "on" else 1.0)
            seen.points["stalls"].append(Point(host, float(draw.poisson(rate)), 1700, at_s=now_s))
        verdicts.append(decide(analyse(made, seen), decided, now_s))
        decided = verdicts[-1].decision
    assert {info.kernel for info in seen.hosts.values()} <= {"6.1", "6.12"}
    return verdicts


def test_kernels_take_their_steps_one_after_the_other() -> None:
    made = kernels_experiment()
    verdicts = roll_kernels(made, {})
    assert verdicts[-1].what == DONE
    taken = [(v.decision.kernel, v.decision.percent) for v in verdicts if v.what == ADVANCE]
    assert taken == [("6.1", 100.0), ("6.12", 5.0), ("6.12", 100.0)]


def test_a_harm_of_the_second_kernel_alone_halts_at_its_first_step() -> None:
    """3 % of the hosts: all others, which are well, do not hide the harm."""
    (*_, last) = roll_kernels(kernels_experiment(), {"6.12": 3.0})
    assert (last.what, last.decision.kernel, last.decision.percent) == (HALT, "6.12", 5.0)
    assert "stalls, on, 6.12: worse" in last.reason


def test_steps_only_ever_add_hosts() -> None:
    made = fleet_experiment()
    hosts = [Listed(app_specific_id(f"{number:032x}"), "d") for number in range(500)]
    counts = [wave.hosts or 0 for wave in waves(made, hosts)]
    assert counts == sorted(counts)
    assert counts[-1] == 500


def test_a_replay_knows_no_later_guardrail() -> None:
    made = fleet_experiment()
    seen = Seen({metric.name: [] for metric in made.metrics})
    for number in range(200):
        arm = "on" if number % 2 else "off"
        late = number % 2 and number < 60
        seen.hosts[str(number)] = HostSeen(arm, arm_now=arm, guard="taint" if late else "",
                                           guard_s=START_S + 5000 if late else 0.0)
        seen.points["stalls"] += [Point(str(number), 0.0, TICK_S, at_s=START_S + 100 * tick)
                                  for tick in range(101)]
    verdicts = replay(looks_back(made, seen, 20), START_S)
    assert verdicts[-1][1].what == HALT
    assert verdicts[-1][0] == pytest.approx(5000, abs=1)
