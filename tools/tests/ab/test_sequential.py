# SPDX-License-Identifier: GPL-2.0-only
"""Intervals that hold however often somebody looks, and how soon they find what is there."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ab.doubles import experiment
from ab.fleet import fleet_experiment, machines, seen_of
from livemmctl.ab.analyse import BETTER, NO_WORSE, UNDECIDED, WORSE, Report, analyse
from livemmctl.ab.history import looks_back
from livemmctl.ab.html import report_html
from livemmctl.ab.model import Experiment
from livemmctl.ab.points import HostSeen, Point, Seen
from livemmctl.ab.report import report_data, report_text
from livemmctl.ab.stats import sequential
from livemmctl.ab.stats.checks import units_for
from livemmctl.ab.stats.estimate import Estimate, Vector
from livemmctl.ab.strata import effects_by_stratum
from livemmctl.app import json_text
from scipy import stats

#: A look every ten minutes.
TICKS = 14 * 144
HOSTS = 40


def looks_at_fleet(
    draw: np.random.Generator, ticks: int, hosts: int, noise: float, spread: float, effect: float
) -> tuple[Vector, Vector]:
    """The relative effect and the standard error that a report finds at each tick.

    `noise` is of a host's number of one tick, `spread` is what hosts differ by all the time.
    """
    half = hosts // 2
    numbers = draw.standard_normal((ticks, hosts), dtype=np.float32)
    numbers *= noise
    sums = np.cumsum(numbers, axis=0, out=numbers)
    sums /= np.arange(1, ticks + 1, dtype=np.float32)[:, None]
    sums += (1 + spread * draw.standard_normal(hosts)).astype(np.float32)
    control, treatment = sums[:, :half], sums[:, half:] + np.float32(effect)
    level = control.mean(axis=1)
    relative = treatment.mean(axis=1) / level - 1
    variance = (treatment.var(axis=1, ddof=1)
                + (1 + relative) ** 2 * control.var(axis=1, ddof=1)) / half
    return relative, np.sqrt(variance) / level


def crossings(relative: Vector, errors: Vector, mixed: float, degrees: float) -> Vector:
    width = sequential.standard_errors(errors**-2.0, mixed)
    found: Vector = np.abs(relative) > errors * stats.t.isf(stats.norm.sf(width), degrees)
    return found


def test_four_thousand_fleets_without_effect(record_property: Any) -> None:
    """Looked at every tick for 14 days: at most 5 % false alarms; naive looks find many more."""
    draw = np.random.Generator(np.random.SFC64(2027))
    mixed = sequential.mixing(sequential.planned_information(0.02))
    naive = false = 0
    # Read off once: Student's is dear, and the bound depends on the information alone.
    grid = np.geomspace(1, 1e9, 400)
    bound = stats.t.isf(stats.norm.sf(sequential.standard_errors(grid, mixed)), HOSTS - 2)
    fixed = stats.t.ppf(0.975, HOSTS - 2)
    for number in range(4000):
        # Half of the fleets are of hosts that differ for good, as without CUPED.
        relative, errors = looks_at_fleet(draw, TICKS, HOSTS, 0.5, 0.01 * (number % 2), 0.0)
        z = np.abs(relative) / errors
        false += bool((z > np.interp(-2 * np.log(errors), np.log(grid), bound)).any())
        naive += bool((z > fixed).any())
    record_property("note", f"4,000 fleets: {false} false alarms, {naive} by naive looks")
    assert false <= 0.05 * 4000
    assert naive >= 0.25 * 4000


def test_means_of_a_ramp_without_effect(record_property: Any) -> None:
    """Each step adds hosts that have been seen for a moment: less is known than before."""
    draw = np.random.Generator(np.random.SFC64(78))
    mixed = sequential.mixing(sequential.planned_information(0.02))
    percents, ticks, hosts, fleets = (0.2, 0.3, 0.5, 1.0), 600, 120, 300
    joined = np.repeat(np.searchsorted(percents, (np.arange(hosts // 2) + 0.5) / (hosts // 2)), 2)
    is_in = np.arange(len(percents) * ticks)[:, None] >= joined * ticks
    seen_for = np.maximum(np.cumsum(is_in, axis=0), 1)
    counts = is_in[:, ::2].sum(axis=1)
    fixed, split = np.zeros(fleets, bool), np.zeros(fleets, bool)
    for fleet in range(fleets):
        values = draw.standard_normal(is_in.shape, dtype=np.float32) * np.float32(0.3)
        means = 1 + np.cumsum(values * is_in, axis=0) / seen_for
        sides = []
        for arm in (0, 1):
            mine, there = means[:, arm::2], is_in[:, arm::2]
            level = (mine * there).sum(axis=1) / counts
            spread = ((mine - level[:, None]) ** 2 * there).sum(axis=1) / (counts - 1)
            sides.append((level, spread / counts))
        (control, one), (treatment, other) = sides
        z = np.abs(treatment - control) / np.sqrt(one + other)
        information = control**2 / (one + other)
        for found, parts in ((fixed, 1), (split, len(percents))):
            width = sequential.standard_errors(information, mixed, 0.05 / parts)
            found[fleet] = (z > stats.t.isf(stats.norm.sf(width), 2 * counts - 2)).any()
    record_property("note", f"{fleets} ramps: {split.sum()} false alarms; as one sequence"
                    f" {fixed.sum()}")
    assert split.mean() <= 0.05
    assert fixed.mean() > 0.05


def test_an_effect_of_a_mean_is_found_soon(record_property: Any) -> None:
    """2 %: in the median no later than 1.3 times the time of a test that looks once."""
    draw = np.random.Generator(np.random.SFC64(5))
    fixed, hosts = 400, 200
    # So that a test that looks once, at `fixed`, sees 2 % with a power of 80 %.
    units = units_for(0.02 / 0.01)
    assert units is not None
    noise = 0.02 / (1.959964 + 0.841621) * math.sqrt(fixed * hosts / 4)
    mixed = sequential.mixing(sequential.planned_information(0.02))
    first = []
    for _ in range(300):
        relative, errors = looks_at_fleet(draw, 3 * fixed, hosts, noise, 0.0, 0.02)
        hit = crossings(relative, errors, mixed, hosts - 2)
        first.append(int(hit.argmax()) + 1 if hit.any() else 3 * fixed)
    record_property("note", f"2 % found after {np.median(first) / fixed:.2f} times the fixed"
                    " horizon in the median")
    assert np.median(first) <= 1.3 * fixed


def counts_of(events: Vector, treated: Vector, seconds: float) -> sequential.Counts:
    watched = np.full(len(events), seconds)
    return sequential.Counts(
        float(events[treated == 0].sum()), float(events[treated == 1].sum()),
        seconds * np.count_nonzero(treated == 0), seconds * np.count_nonzero(treated == 1),
        sequential.dispersion(events, watched, treated))


def first_alarm(draw: np.random.Generator, hosts: int, looks: int, rate: float, effect: float,
                uneven: float) -> float:
    """The look at which counts are found to differ; inf: never.

    `uneven` is how much hosts differ, and rates follow the time of day.
    """
    treated = np.arange(hosts) % 2
    level = draw.gamma(1 / uneven, uneven, hosts) if uneven else np.ones(hosts)
    level = rate * level * np.where(treated == 1, 1 + effect, 1)
    day = 1 + 0.8 * np.sin(np.arange(looks) * 2 * np.pi / 24)
    events = np.cumsum(draw.poisson(level * day[:, None]), axis=0)
    for look, row in enumerate(events.astype(float), 1):
        counts = counts_of(row, treated, float(look))
        if counts.control + counts.treatment and (
                sequential.sequence_of_counts(counts, 0.1).p < 0.05):
            return look
    return math.inf


@pytest.mark.parametrize(("rate", "uneven"), [(0.5, 0.0), (0.5, 0.7), (0.02, 1.5)])
def test_counts_without_effect(rate: float, uneven: float) -> None:
    """However rates vary over hosts and over the day."""
    draw = np.random.default_rng(31)
    found = [first_alarm(draw, 60, 48, rate, 0.0, uneven) < math.inf for _ in range(150)]
    assert np.mean(found) <= 0.05


def alarms_of_ramps(treated_share: float, first_day: float, burst: float, runs: int) -> float:
    """The part of rollouts without effect in which a count is found to differ.

    Hosts join at 2, 5, 25 and 100 %.  At the first step rates are `first_day` times as high;
    with `burst` a host has many events at once, and most have none.
    """
    draw, found = np.random.default_rng(33), 0
    for _ in range(runs):
        treated = (draw.random(1000) < treated_share).astype(int)
        entry = draw.random(1000) * 100
        events, seconds, alarm = np.zeros(1000), np.zeros(1000), False
        for step in (2, 5, 25, 100):
            on = entry < step
            rate = 0.2 * (first_day if step == 2 else 1)
            for _ in range(8):
                came = draw.poisson(rate, 1000).astype(float)
                if burst:
                    size = np.minimum(np.round(draw.pareto(1.2, 1000) * burst + 1), 2000)
                    came = (draw.random(1000) < 0.002) * size
                events, seconds = events + on * came, seconds + on
                arms = treated[on]
                if min(np.count_nonzero(arms == 0), np.count_nonzero(arms)) < 10:
                    continue
                came_there, came_here, there_s, here_s = (
                    float(total[on & (treated == arm)].sum())
                    for total in (events, seconds) for arm in (0, 1))
                spread = sequential.dispersion(events[on], seconds[on], arms)
                alarm |= sequential.sequence_of_counts(sequential.Counts(
                    came_there, came_here, there_s, here_s, spread), 0.2).p < 0.05
        found += alarm
    return found / runs


@pytest.mark.parametrize(("share", "first_day", "burst"), [
    (0.5, 20.0, 0.0), (0.9, 20.0, 0.0), (0.1, 1.0, 5.0), (0.5, 1.0, 5.0)])
def test_counts_of_a_ramp_without_effect(share: float, first_day: float, burst: float) -> None:
    """A first step on a bad day, which few hosts saw; and events that come in bursts."""
    assert alarms_of_ramps(share, first_day, burst, 60) <= 0.05


def test_more_stalls_are_found_in_half_of_the_time(record_property: Any) -> None:
    """+20 % where a test that looks once, after 100 looks, is planned for 10 %."""
    draw = np.random.default_rng(32)
    hosts, fixed = 100, 100
    # Events of both arms that a test that looks once needs.
    events = 4 * sequential.planned_information(math.log1p(0.1))
    found = [first_alarm(draw, hosts, fixed // 2, events / hosts / fixed, 0.2, 0.0)
             for _ in range(200)]
    power = np.mean(np.array(found) <= fixed / 2)
    record_property("note", f"+20 % stalls: {power:.0%} of fleets by half of the fixed horizon,"
                    f" {np.median(found) / fixed:.2f} of the horizon in the median")
    assert power >= 0.8


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_evidence_of_counts_is_one_on_average(share: float) -> None:
    """The property that all follows from, summed over every outcome of 40 events."""
    total = 0.0
    for here in range(41):
        counts = sequential.Counts(40 - here, here, 1e6 * (1 - share), 1e6 * share)
        evidence = math.exp(sequential._evidence(counts, 0.0, 30.0))
        total += evidence * float(stats.binom.pmf(here, 40, share))
    assert total == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(("control", "treatment", "sign"), [(0, 15, 1), (15, 0, -1), (0, 0, 0)])
def test_a_few_events_on_one_side_only(control: int, treatment: int, sign: int) -> None:
    found = sequential.sequence_of_counts(
        sequential.Counts(control, treatment, 1e6, 1e6), 0.1)
    assert (found.p < 0.05) == (sign != 0)
    assert (found.relative_low > 0) == (sign > 0)
    assert (found.relative_high < 0) == (sign < 0)


def test_few_hosts_have_a_wider_interval() -> None:
    def width(degrees: float) -> float:
        fixed = float(stats.t.ppf(0.975, degrees)) * 0.01
        made = Estimate(control=1, treatment=1, difference=0, low=-fixed, high=fixed, relative=0,
                        relative_low=-fixed, relative_high=fixed, p=1, n_control=10,
                        n_treatment=10, method="", degrees=degrees)
        found = sequential.sequence_of(made, 0.02)
        assert found is not None
        return found.relative_high

    assert width(18) > 1.15 * width(1e6)


# ---- reports


def any_time(**over: Any) -> Experiment:
    return replace(fleet_experiment(**over), looks="any")


def report_of(effect: float, hosts: int = 400, seed: int = 9, margin: float | None = None,
              kinds: dict[str, float] | None = None) -> Report:
    """A fleet's report half-way; `kinds` has an effect of their own, by kind of machine."""
    made = any_time()
    made = replace(made, metrics=tuple(replace(m, margin_pct=margin) for m in made.metrics))
    fleet = machines(made, hosts, effect, seed)
    if kinds is not None:
        fleet = [replace(m, rate=m.rate * (1 + (kinds[m.kind] if m.arm == "on" else 0)))
                 for m in fleet]
    seen = seen_of(made, fleet)
    seen.over = False
    return analyse(made, seen)


@pytest.mark.parametrize(("effect", "verdict"), [(-0.05, BETTER), (0.05, WORSE)])
def test_a_verdict_before_the_time_is_over(effect: float, verdict: str) -> None:
    report = report_of(effect)
    assert not report.failed
    assert report.comparisons[0].verdict == verdict
    assert report.comparisons[0].low <= effect <= report.comparisons[0].high


def test_no_worse_than_a_margin() -> None:
    report = report_of(0.0, margin=5.0)
    item = report.comparisons[0]
    assert (item.verdict, item.is_within_margin) == (NO_WORSE, True)
    assert "no worse by 5 %" in report_text(report)
    assert report_data(report)["comparisons"][0]["within_margin"] is True


def test_worse_but_within_the_margin() -> None:
    item = report_of(0.03, margin=10.0).comparisons[0]
    assert (item.verdict, item.is_within_margin) == (WORSE, True)


def test_undecided_says_how_much_is_missing() -> None:
    report = report_of(0.0, hosts=60)
    item = report.comparisons[0]
    assert item.verdict == UNDECIDED
    assert 0 < item.gathered < 1
    assert item.needed is not None
    # As many hosts as that do decide.
    decided = report_of(0.02, hosts=3 * item.needed)
    assert decided.comparisons[0].verdict == WORSE
    assert f"{item.gathered:.0%} of the data" in report_text(report)


def test_effects_by_kind_of_machine() -> None:
    apart = report_of(0.0, 800, kinds={"machine_type=big": 0.0, "machine_type=small": 0.10})
    found = effects_by_stratum(apart)[0]
    assert found.differ
    assert [row.low <= truth <= row.high for row, truth in zip(found.rows, (0.0, 0.1), strict=True)
            ] == [True, True]
    assert "differs" in report_text(apart)
    alike = effects_by_stratum(report_of(0.0, 800, kinds={
        "machine_type=big": 0.05, "machine_type=small": 0.05}))[0]
    assert not alike.differ


def test_counts_in_a_report() -> None:
    """Stalls of 200 hosts that differ, +60 %."""
    made = experiment("host", looks="any", metrics=[
        {"name": "stalls", "kind": "count", "source": "vmstat:allocstall_normal",
         "detect_pct": 20, "margin_pct": 20}])
    draw = np.random.default_rng(4)
    seen = Seen({"stalls": []})
    for number in range(200):
        host, arm = str(number), "off" if number % 2 else "on"
        seen.hosts[host] = HostSeen(arm, arm_now=arm)
        rate = draw.gamma(4, 0.25) * (1.6 if arm == "on" else 1)
        seen.points["stalls"] += [Point(host, float(draw.poisson(rate)), 3600) for _ in range(30)]
    item = analyse(made, seen).comparisons[0]
    assert item.effect.refused == []
    assert (item.verdict, item.is_within_margin) == (WORSE, False)
    assert item.low <= 0.6 <= item.high


def test_an_earlier_look_is_what_was_known_then() -> None:
    made = any_time(baseline="1h")
    draw = np.random.default_rng(6)
    seen = Seen({metric.name: [] for metric in made.metrics})
    for number in range(60):
        host, arm = str(number), "off" if number % 2 else "on"
        seen.hosts[host] = HostSeen(arm, arm_now=arm)
        for points in seen.points.values():
            points.append(Point(host, draw.normal(100, 5), 1.0, before=True))
            points += [Point(host, draw.normal(100, 5), 1.0, at_s=60.0 * tick)
                       for tick in range(9)]
    back = looks_back(made, seen, 4)
    assert [since_s for since_s, _ in back] == [120.0, 240.0, 360.0, 480.0]
    for since_s, report in back:
        known = {name: [point for point in found if point.before or point.at_s <= since_s]
                 for name, found in seen.points.items()}
        wanted = analyse(made, replace(seen, points=known))
        assert [(item.low, item.high, item.p) for item in report.comparisons] == [
            (item.low, item.high, item.p) for item in wanted.comparisons]


def test_no_event_at_all_is_undecided() -> None:
    made = experiment("host", looks="any", metrics=[
        {"name": "kills", "kind": "count", "source": "vmstat:oom_kill", "margin_pct": 50}])
    seen = Seen({"kills": []})
    for number in range(40):
        arm = "off" if number % 2 else "on"
        seen.hosts[str(number)] = HostSeen(arm, arm_now=arm)
        seen.points["kills"] += [Point(str(number), 0.0, 60, at_s=60.0 * tick)
                                 for tick in range(9)]
    report = analyse(made, seen)
    assert report.comparisons[0].verdict == UNDECIDED
    assert report.comparisons[0].effect.refused == []
    assert "undecided" in report_text(report)
    assert "kills" in json_text(report_data(report))
    assert "kills" in report_html(report)


def test_a_count_needs_hosts() -> None:
    with pytest.raises(Exception, match='count only with mode = "host"'):
        experiment("switchback", metrics=[
            {"name": "stalls", "kind": "count", "source": "vmstat:allocstall_normal"}])
