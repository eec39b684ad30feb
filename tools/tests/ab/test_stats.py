# SPDX-License-Identifier: GPL-2.0-only
"""Intervals that hold, tests that find no more than they should, and refusals."""

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ab.doubles import experiment
from ab.fleet import KINDS, fleet_experiment, machines, seen_of
from livemmctl.ab.analyse import BETTER, NOT_CONCLUDED, NOTHING_SEEN, WORSE, Report, analyse
from livemmctl.ab.effects import between_hosts
from livemmctl.ab.points import BlockSeen, HostSeen, Point, Seen
from livemmctl.ab.stats import blocks, bootstrap, checks, hosts
from livemmctl.ab.stats.estimate import Vector, vector


def test_a_thousand_fleets_without_effect() -> None:
    """5 % +- 1.5 points false positives, through strata, CUPED and Welch as reports are made."""
    made = fleet_experiment()
    metric = made.metrics[0]
    draw = np.random.default_rng(2026)
    false = []
    for _ in range(1000):
        kinds = draw.random(80) < 0.5
        before = np.where(kinds, 4000, 1000) * draw.lognormal(0, 0.15, 80)
        after = before * draw.normal(1, 0.05, 80)
        arms = draw.random(80) < 0.5
        seen = {str(n): HostSeen("on" if arms[n] else "off", KINDS[int(kinds[n])])
                for n in range(80)}
        points = [Point(str(n), before[n], 1.0, before=True) for n in range(80)]
        points += [Point(str(n), after[n], 1.0) for n in range(80)]
        effect = between_hosts(metric, points, seen, "off", "on")
        assert effect.estimate is not None
        assert effect.estimate.method == "regression with strata + CUPED"
        false.append(effect.estimate.p < 0.05)
    assert 0.035 <= np.mean(false) <= 0.065


def test_blocks_without_effect() -> None:
    """The same of a switchback whose readings hang together within a block."""
    draw = np.random.default_rng(11)
    false, carried = [], []
    for _ in range(400):
        arms = np.concatenate([draw.permutation([0.0, 1.0]) for _ in range(10)])
        levels = draw.normal(100, 3, 20)
        nums = (levels[:, None] + draw.normal(0, 1, (20, 8))).ravel()
        keys = np.repeat(np.arange(20), 8)
        found = blocks.clustered(nums, np.ones(160), arms[keys], list(keys), ["h"] * 160)
        false.append(found.p < 0.05)
        carried.append(blocks.carry_over(levels[1:], arms[1:], arms[:-1], ["h"] * 19) < 0.05)
    assert 0.025 <= np.mean(false) <= 0.075
    assert 0.025 <= np.mean(carried) <= 0.08


def test_readings_of_a_block_are_not_taken_for_many() -> None:
    """Without clustering nearly every run would find something."""
    draw = np.random.default_rng(3)
    false = []
    for _ in range(100):
        levels = np.repeat(draw.normal(100, 3, 20), 40)
        treated = np.repeat(np.tile([0.0, 1.0], 10), 40)
        values = levels + draw.normal(0, 0.5, 800)
        false.append(hosts.welch(values[treated == 0], values[treated == 1]).p < 0.05)
    assert np.mean(false) > 0.5


def coverage(count: int, seed: int, kind: str) -> float:
    draw = np.random.default_rng(seed)
    inside = []
    for _ in range(count):
        sides = []
        for level in (0.20, 0.22):
            den = draw.gamma(4, 50, 60)
            sides.append((den * level * draw.lognormal(0, 0.2, 60) / math.exp(0.02), den))
        if kind == "ratio":
            found = bootstrap.ratio(sides[0], sides[1])
            truth = 0.02
        else:
            control, treatment = (
                [np.full(3, n / d) for n, d in zip(*side, strict=True)] for side in sides)
            found = bootstrap.quantile(control, treatment, 0.5)
            truth = 0.02 / math.exp(0.02)
        inside.append(found.low <= truth <= found.high)
    return float(np.mean(inside))


@pytest.mark.parametrize("kind", ["ratio", "quantile"])
def test_bootstrap_intervals_hold_what_they_say(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "RESAMPLES", 499)
    assert coverage(120, 5, kind) >= 0.88


def test_a_quantile_is_of_all_readings() -> None:
    control = [vector(range(100)) for _ in range(20)]
    treatment = [vector(range(10, 110)) for _ in range(20)]
    found = bootstrap.quantile(control, treatment, 0.9)
    assert found.control == pytest.approx(89, abs=1)
    assert found.difference == pytest.approx(10, abs=0.5)


def test_one_stratum_is_welch() -> None:
    draw = np.random.default_rng(1)
    control, treatment = draw.normal(10, 1, 30), draw.normal(11, 3, 90)
    both = np.concatenate([control, treatment])
    flags = np.repeat([0.0, 1.0], [30, 90])
    two = hosts.stratified(both, flags, ["a"] * 60 + ["b"] * 60, float(control.mean()), "")
    one = hosts.stratified(both, flags, ["a"] * 120, float(control.mean()), "")
    plain = hosts.welch(control, treatment)
    assert one.standard_error == pytest.approx(plain.standard_error, rel=0.02)
    assert one.difference == pytest.approx(plain.difference)
    assert two.difference != pytest.approx(plain.difference, rel=1e-6)


def test_strata_take_out_what_kinds_of_machines_differ_in() -> None:
    draw = np.random.default_rng(1)
    big = draw.random(400) < 0.5
    flags = (draw.random(400) < 0.5).astype(float)
    values = np.where(big, 4000, 1000) * draw.normal(1, 0.05, 400)
    strata = ["big" if flag else "small" for flag in big]
    found = hosts.stratified(values, flags, strata, 2500.0, "")
    plain = hosts.welch(values[flags == 0], values[flags == 1])
    assert found.standard_error < 0.2 * plain.standard_error


def test_small_strata_are_put_together() -> None:
    flags = vector([0, 1, 0, 1, 0, 1, 0, 0, 1])
    names = ["a", "a", "a", "a", "b", "b", "c", "c", "d"]
    assert hosts.merge_small_strata(names, flags) == ["a"] * 4 + ["(small)"] * 5
    names = ["a", "a", "a", "a", "a", "a", "c", "c", "c"]
    assert hosts.merge_small_strata(names, flags) == ["a"] * 9
    # The kind that is too small is the largest of all.
    flags = vector([0, 1, 0, 1, 0, 0, 0, 0, 1])
    assert hosts.merge_small_strata(["a"] * 4 + ["b"] * 5, flags) == ["a"] * 9


def test_corrections() -> None:
    assert checks.corrected([0.01, 0.04, math.nan], "holm")[:2] == pytest.approx([0.02, 0.04])
    assert math.isnan(checks.corrected([0.01, 0.04, math.nan], "holm")[2])
    assert checks.corrected([0.01, 0.04], "bonferroni") == pytest.approx([0.02, 0.08])
    assert checks.corrected([0.01, 0.04], "none") == [0.01, 0.04]
    assert checks.corrected([], "holm") == []


def test_units_that_are_needed() -> None:
    # The textbook's 16 / size^2, and the t-distribution's little more.
    assert checks.units_for(0.1) == pytest.approx(1571, abs=2)
    assert checks.units_for(0.5) == pytest.approx(64, abs=1)
    assert checks.units_for(50) == 4
    assert checks.units_for(1e-9) is None


def test_what_could_be_seen_is_seen_four_times_in_five() -> None:
    draw = np.random.default_rng(9)
    size = checks.detectable(hosts.welch(draw.normal(0, 1, 50), draw.normal(0, 1, 50)))
    seen = [hosts.welch(draw.normal(0, 1, 50), draw.normal(0.566, 1, 50)).p < 0.05
            for _ in range(300)]
    assert size == pytest.approx(0.566, rel=0.2)
    assert 0.72 <= np.mean(seen) <= 0.88


def test_sample_ratio() -> None:
    assert checks.sample_ratio_p([500, 500], [0.5, 0.5]) == 1.0
    assert checks.sample_ratio_p([450, 550], [0.5, 0.5]) == pytest.approx(0.00157, rel=0.01)
    assert checks.sample_ratio_p([440, 560], [0.5, 0.5]) < checks.MISMATCH_P
    assert checks.sample_ratio_p([10, 10, 1], [0.5, 0.5, 0]) == 0.0
    assert checks.sample_ratio_p([0, 0], [0.5, 0.5]) == 1.0
    # Opposite in two kinds of machines: right in all, and still wrong.
    assert checks.strata_ratio_p([[60, 140], [140, 60]], [0.5, 0.5]) < checks.MISMATCH_P


def test_skew_is_of_the_difference() -> None:
    draw = np.random.default_rng(4)
    heavy = draw.pareto(2.1, 60)
    assert abs(checks.skew_of_difference(heavy, heavy)) < 1e-12
    assert abs(checks.skew_of_difference(draw.normal(0, 1, 60), heavy)) > 0.1


# What a report concludes ------------------------------------------------------


def fleet_report(count: int, effect: float, seed: int = 1,
                 change: Callable[[Seen], None] = lambda seen: None, **over: Any) -> Report:
    """The report on a fleet, of which something has been changed before."""
    made = fleet_experiment(**over)
    seen = seen_of(made, machines(made, count, effect, seed))
    change(seen)
    return analyse(made, seen)


def test_a_planted_effect_is_found() -> None:
    report = fleet_report(2000, -0.02)
    faults, ratio = report.comparisons
    assert (faults.verdict, ratio.verdict) == (BETTER, BETTER)
    for item in (faults, ratio):
        found = item.effect.estimate
        assert found is not None
        assert found.relative_low <= -0.02 <= found.relative_high
    assert not report.failed


def test_the_wrong_way_is_worse() -> None:
    assert fleet_report(1000, 0.05).comparisons[0].verdict == WORSE


def test_no_effect_is_none_and_says_what_could_be_seen() -> None:
    report = fleet_report(400, 0.0, 5)
    assert [item.verdict for item in report.comparisons] == [NOTHING_SEEN] * 2
    assert report.comparisons[0].detectable_pct == pytest.approx(1.5, abs=0.5)
    assert (report.comparisons[1].needed or 0) > 400


def lose_hosts(seen: Seen) -> None:
    """One in five hosts of one arm vanishes: all that is known of it."""
    for n, (host, info) in enumerate(list(seen.hosts.items())):
        if info.arm == "on" and n % 100 < 20:
            del seen.hosts[host]


def test_a_sample_ratio_that_is_off_stops_everything() -> None:
    report = fleet_report(2000, -0.02, change=lose_hosts)
    assert [check.name for check in report.failed] == ["sample ratio"]
    assert {item.verdict for item in report.comparisons} == {NOT_CONCLUDED}


def test_hosts_without_data_in_one_arm_only() -> None:
    def silence(seen: Seen) -> None:
        silent = {h for n, (h, i) in enumerate(seen.hosts.items()) if i.arm == "on" and n % 5 == 0}
        seen.points["faults"] = [p for p in seen.points["faults"] if p.host not in silent]

    report = fleet_report(1000, -0.02, change=silence)
    assert report.comparisons[0].verdict == NOT_CONCLUDED
    assert "without data are not alike" in report.comparisons[0].effect.refused[0]
    assert report.comparisons[1].verdict == BETTER


def test_nothing_is_concluded_early() -> None:
    report = fleet_report(1000, -0.05, change=lambda seen: setattr(seen, "over", False))
    assert [check.name for check in report.failed] == ["planned time"]
    assert report.comparisons[0].verdict == NOT_CONCLUDED


def test_too_few_hosts() -> None:
    assert "too few hosts" in fleet_report(12, -0.5).comparisons[0].effect.refused[0]


def test_values_that_are_all_alike() -> None:
    def level(seen: Seen) -> None:
        seen.points["faults"] = [dataclasses.replace(p, num=0.0) for p in seen.points["faults"]]

    report = fleet_report(100, 0, change=level)
    assert "same on every host" in report.comparisons[0].effect.refused[0]


@pytest.mark.parametrize(("looks", "kind"), [
    ("any", "mean"), ("end", "mean"), ("any", "quantile")])
def test_arms_without_spread_have_no_interval(looks: str, kind: str) -> None:
    """Control's level is not 0, and the report does not say so."""
    quantile = {"quantile": 0.5, "grows": False} if kind == "quantile" else {}
    made = experiment("host", looks=looks, metrics=[
        {"name": "faults", "kind": kind, "source": "vmstat:pgfault", **quantile}])
    seen = Seen({"faults": []}, over=True)
    for number in range(40):
        arm = "off" if number % 2 else "on"
        seen.hosts[str(number)] = HostSeen(arm, arm_now=arm)
        seen.points["faults"] += [Point(str(number), 5.0 if arm == "off" else 6.0, 1.0)] * 2
    (item,) = analyse(made, seen).comparisons
    assert item.effect.refused == ["no spread within the arms: an interval cannot be told"]
    assert item.verdict == NOT_CONCLUDED


def test_one_wild_host_in_an_arm_without_spread() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skew = checks.skew_of_difference(np.full(20, 5.0), np.array([5.0] * 19 + [500.0]))
    assert skew > 0.1


def test_one_wild_host_is_not_concluded_from() -> None:
    def go_wild(seen: Seen) -> None:
        wild = next(host for host, info in seen.hosts.items() if info.arm == "on")
        seen.points["faults"] = [
            dataclasses.replace(p, num=p.num * 1e4) if p.host == wild else p
            for p in seen.points["faults"] if not p.before
        ]

    report = fleet_report(200, 0, change=go_wild, baseline=None)
    assert "too skewed" in report.comparisons[0].effect.refused[0]


def switchback_seen(levels: Vector, arms: list[str]) -> Seen:
    seen = Seen({"faults": []}, {"h": HostSeen("")}, over=True)
    for index, (level, arm) in enumerate(zip(levels, arms, strict=True)):
        seen.blocks.append(BlockSeen("h", index, arm, True))
        seen.points["faults"] += [
            Point("h", level * 5 * (1 + 0.002 * (n - 2)), 5.0, block=index) for n in range(5)]
    return seen


def blocks_drawn(count: int) -> tuple[Vector, list[str]]:
    draw = np.random.default_rng(17)
    arms = [str(arm) for _ in range(count // 2) for arm in draw.permutation(["off", "on"])]
    return draw.normal(1000, 10, count), arms


def test_a_switchback_finds_its_effect() -> None:
    levels, arms = blocks_drawn(24)
    levels += np.array([60.0 if arm == "on" else 0.0 for arm in arms])
    (item,) = analyse(experiment(), switchback_seen(levels, arms)).comparisons
    assert item.verdict == BETTER
    assert item.effect.estimate is not None
    assert item.effect.estimate.low <= 60 <= item.effect.estimate.high
    assert item.effect.estimate.n_control == item.effect.estimate.n_treatment == 12


def test_a_carry_over_is_not_concluded_from() -> None:
    levels, arms = blocks_drawn(24)
    on = np.array([float(arm == "on") for arm in arms])
    levels += 60 * on + 40 * np.concatenate([[0], on[:-1]])
    (item,) = analyse(experiment(), switchback_seen(levels, arms)).comparisons
    assert item.verdict == NOT_CONCLUDED
    assert "carry-over" in item.effect.refused[0]


def test_too_few_blocks() -> None:
    levels, arms = blocks_drawn(10)
    (item,) = analyse(experiment(), switchback_seen(levels, arms)).comparisons
    assert "too few blocks" in item.effect.refused[0]


def test_blocks_lost_in_one_arm_only_stop_everything() -> None:
    levels, arms = blocks_drawn(60)
    seen = switchback_seen(levels, arms)
    seen.blocks = [dataclasses.replace(b, complete=b.arm == "off" or b.index % 3 == 0)
                   for b in seen.blocks]
    assert [check.name for check in analyse(experiment(), seen).failed] == [
        "blocks lost alike in all arms"]


def test_three_arms_are_each_compared_with_control() -> None:
    arms = {"off": {}, "a": {"policy": {"pcp": {"enabled": True}}},
            "b": {"policy": {"pcp": {"enabled": True, "mode": "depth"}}}}
    report = fleet_report(900, -0.03, 2, arms=arms)
    assert [item.arm for item in report.comparisons] == ["a", "a", "b", "b"]
    for item in report.comparisons:
        assert item.effect.estimate is not None
        assert item.p >= item.effect.estimate.p
