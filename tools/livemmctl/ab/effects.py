# SPDX-License-Identifier: GPL-2.0-only
"""One metric, one treatment: the effect, or why there is none to be told."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from livemmctl.ab.model import Metric
from livemmctl.ab.points import BlockSeen, HostSeen, Point
from livemmctl.ab.stats import blocks as by_block
from livemmctl.ab.stats import bootstrap, checks, hosts, sequential
from livemmctl.ab.stats.estimate import Estimate, Vector, vector
from livemmctl.ab.stats.sequential import Sequence as Look

#: With fewer an interval is not worth its name.
HOSTS_LEAST = 10
BLOCKS_LEAST = 6
#: Beyond it a t-interval misses on one side; Kohavi et al., Seven rules of thumb (KDD
#: 2014), ask for less still, of each arm alone.
SKEW_MOST = 0.1
CARRY_OVER_P = 0.01
NO_SPREAD = "no spread within the arms: an interval cannot be told"
#: The time before is only used if so many hosts have it.
BASELINE_SHARE = 0.95


@dataclass
class Effect:
    """What came out; `refused` are the assumptions that fail, in words."""

    estimate: Estimate | None = None
    #: The same as an interval that holds at all looks together.
    look: Look | None = None
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: What each unit of control and of treatment had, for pictures.
    control_values: Vector = field(default_factory=lambda: np.zeros(0))
    treatment_values: Vector = field(default_factory=lambda: np.zeros(0))


@dataclass
class Unit:
    """All that was seen of one host, or of one block of one host."""

    host: str
    nums: list[float] = field(default_factory=list)
    dens: list[float] = field(default_factory=list)
    num_before: float = 0.0
    den_before: float = 0.0

    def add(self, point: Point) -> None:
        if point.before:
            self.num_before += point.num
            self.den_before += point.den
        else:
            self.nums.append(point.num)
            self.dens.append(point.den)

    @property
    def usable(self) -> bool:
        """Is there anything to divide by?"""
        return sum(self.dens) > 0

    def level(self, metric: Metric) -> float:
        if metric.kind == "quantile":
            return float(np.quantile(self.samples, metric.quantile))
        return sum(self.nums) / sum(self.dens)

    @property
    def before(self) -> float | None:
        return self.num_before / self.den_before if self.den_before > 0 else None

    @property
    def samples(self) -> Vector:
        """The metric between each two readings."""
        nums, dens = vector(self.nums), vector(self.dens)
        return np.asarray(nums[dens > 0] / dens[dens > 0])


def units_by_host(points: Sequence[Point]) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for point in points:
        units.setdefault(point.host, Unit(point.host)).add(point)
    return {host: unit for host, unit in units.items() if unit.usable}


def units_by_block(points: Sequence[Point]) -> dict[tuple[str, int], Unit]:
    units: dict[tuple[str, int], Unit] = {}
    for point in points:
        if point.block is not None:
            units.setdefault((point.host, point.block), Unit(point.host)).add(point)
    return {key: unit for key, unit in units.items() if unit.usable}


def _pooled(metric: Metric, sides: Sequence[list[Unit]], any_time: bool) -> Estimate:
    """Of all numbers of an arm together; at many looks the bootstrap would take too long."""
    if metric.kind == "quantile":
        control, treatment = ([unit.samples for unit in units] for units in sides)
        return bootstrap.quantile(control, treatment, metric.quantile)
    compare = hosts.ratio if any_time else bootstrap.ratio
    return compare(_sums(sides[0]), _sums(sides[1]))


def _sums(units: list[Unit]) -> tuple[Vector, Vector]:
    return (vector([sum(unit.nums) for unit in units]),
            vector([sum(unit.dens) for unit in units]))


def _compared(
    metric: Metric, what: str, least: int, counts: Sequence[int], sides: Sequence[list[Unit]]
) -> Effect:
    """The values of control and of treatment, and why they may not be compared.

    `counts` are the units of each with and without data; without values there are too few.
    """
    effect = Effect()
    found = [len(side) for side in sides]
    if min(found) < least:
        effect.refused.append(f"too few {what} with data: {found[0]} of control, {found[1]} of"
                              f" treatment; {least} of each are wanted")
        return effect
    without = [count - number for count, number in zip(counts, found, strict=True)]
    if sum(without):
        effect.notes.append(f"{sum(without)} of {sum(counts)} {what} have no data")
    p = checks.attrition_p(found, without)
    if p < checks.MISMATCH_P:
        effect.refused.append(
            f"{what} without data are not alike in the arms: {without[0]} of {counts[0]} of"
            f" control, {without[1]} of {counts[1]} of treatment (p = {p:.1g})"
        )
    effect.control_values, effect.treatment_values = (
        vector([unit.level(metric) for unit in side]) for side in sides)
    return effect


def _all_alike(effect: Effect) -> bool:
    both = np.concatenate([effect.control_values, effect.treatment_values])
    return float(np.ptp(both)) == 0


def _no_spread(effect: Effect) -> bool:
    """Does the value differ between the arms only?"""
    return float(np.ptp(effect.control_values)) == float(np.ptp(effect.treatment_values)) == 0


def between_hosts(
    metric: Metric, points: Sequence[Point], seen: dict[str, HostSeen], control: str, arm: str,
    any_time: bool = False, steps: int = 1,
) -> Effect:
    """The effect between hosts of two arms; as one look of many where `any_time`.

    `steps` of a ramp have added hosts, or will.
    """
    units = units_by_host(points)
    sides = [
        [units[host] for host, info in seen.items() if info.arm == name and host in units]
        for name in (control, arm)
    ]
    counts = [sum(1 for info in seen.values() if info.arm == name) for name in (control, arm)]
    effect = _compared(metric, "hosts", HOSTS_LEAST, counts, sides)
    if not len(effect.control_values):
        return effect
    if metric.kind == "count":
        # No event anywhere is a number like others: nothing is known, and nothing is wrong.
        effect.estimate, effect.look = _counted(metric, sides)
        return effect
    if _all_alike(effect):
        effect.refused.append("the value is the same on every host: there is nothing to compare")
    elif metric.kind != "quantile" and _no_spread(effect):
        # A quantile has the spread of the numbers within hosts.
        effect.refused.append(NO_SPREAD)
    elif metric.kind in ("ratio", "quantile"):
        if metric.kind == "ratio" and any_time:
            # The bootstrap, which is for one look, allows for skew by itself.
            base, other = (hosts.linearised(*_sums(units)) for units in sides)
            _look_for_skew(effect, base, other, "count")
        effect.estimate = _pooled(metric, sides, any_time)
    else:
        effect.estimate = _means(effect, sides, [seen[u.host].stratum for s in sides for u in s])
    if any_time:
        _look(effect, metric, steps)
    return effect


def _look(effect: Effect, metric: Metric, steps: int = 1) -> None:
    """The estimate as one look of many."""
    if effect.estimate is not None:
        effect.look = sequential.sequence_of(effect.estimate, metric.detect_pct / 100, steps)


def _counted(metric: Metric, sides: list[list[Unit]]) -> tuple[Estimate, Look]:
    (there, there_s), (here, here_s) = (_sums(units) for units in sides)
    treated = np.concatenate([np.zeros(len(there)), np.ones(len(here))])
    spread = sequential.dispersion(
        np.concatenate([there, here]), np.concatenate([there_s, here_s]), treated)
    counts = sequential.Counts(float(there.sum()), float(here.sum()), float(there_s.sum()),
                               float(here_s.sum()), spread)
    estimate = sequential.rates(counts, len(there), len(here))
    return estimate, sequential.sequence_of_counts(counts, metric.detect_pct / 100)


def _look_for_skew(effect: Effect, control: Vector, treatment: Vector, instead: str) -> None:
    skew = checks.skew_of_difference(control, treatment)
    if abs(skew) > SKEW_MOST:
        effect.refused.append(
            f"values too skewed for so few hosts (skewness of the difference {skew:.2f}):"
            f" more hosts, or kind = \"{instead}\""
        )


def _means(effect: Effect, sides: list[list[Unit]], strata: list[str]) -> Estimate:
    base, other = effect.control_values, effect.treatment_values
    values = np.concatenate([base, other])
    treated = np.concatenate([np.zeros(len(base)), np.ones(len(other))])
    level, words = float(base.mean()), []
    before = [unit.before for side in sides for unit in side]
    known = vector([value for value in before if value is not None])
    if len(known) >= BASELINE_SHARE * len(before):
        # A host without a time before is taken for an average one: it is left as it is.
        filled = vector([known.mean() if value is None else value for value in before])
        values = hosts.cuped(values, filled)
        words.append("CUPED")
    elif len(known):
        effect.notes.append("the time before is not used: too many hosts lack it")
    _look_for_skew(effect, values[: len(base)], values[len(base):], "quantile")
    merged = hosts.merge_small_strata(strata, treated)
    if len(set(merged)) > 1:
        method = " + ".join(["regression with strata", *words])
        return hosts.stratified(values, treated, merged, level, method)
    method = " + ".join(["Welch", *words])
    return hosts.welch(values[: len(base)], values[len(base):], level, method)


def between_blocks(
    metric: Metric, points: Sequence[Point], blocks: Sequence[BlockSeen], control: str, arm: str,
    any_time: bool = False,
) -> Effect:
    """The effect between blocks of two arms, on one host or more; see between_hosts()."""
    units = units_by_block(points)
    arms = {(block.host, block.index): block.arm for block in blocks}
    complete = [
        (block.host, block.index) for block in blocks
        if block.complete and block.arm in (control, arm)
    ]
    usable = [key for key in complete if key in units]
    sides = [[units[key] for key in usable if arms[key] == name] for name in (control, arm)]
    counts = [sum(1 for key in complete if arms[key] == name) for name in (control, arm)]
    effect = _compared(metric, "blocks", BLOCKS_LEAST, counts, sides)
    if not len(effect.control_values):
        return effect
    if _all_alike(effect):
        effect.refused.append("the value is the same in every block: there is nothing to compare")
        return effect
    treated = vector([arms[key] == arm for key in usable])
    levels = vector([units[key].level(metric) for key in usable])
    _look_for_carry_over(effect, usable, levels, treated, arms, arm)
    if metric.kind == "quantile":
        effect.estimate = _pooled(metric, sides, any_time)
        if any_time:
            _look(effect, metric)
        return effect
    rows = [
        (num, den, flag, key)
        for key, flag in zip(usable, treated, strict=True)
        for num, den in zip(units[key].nums, units[key].dens, strict=True) if den > 0
    ]
    effect.estimate = by_block.clustered(
        vector([row[0] for row in rows]), vector([row[1] for row in rows]),
        vector([row[2] for row in rows]), [row[3] for row in rows], [row[3][0] for row in rows],
    )
    if not effect.estimate.high > effect.estimate.low:
        effect.refused.append(NO_SPREAD)
        effect.estimate = None
    if any_time:
        _look(effect, metric)
    return effect


def _look_for_carry_over(
    effect: Effect, usable: list[tuple[str, int]], levels: Vector,
    treated: Vector, arms: dict[tuple[str, int], str], arm: str,
) -> None:
    followers = [
        number for number, (host, index) in enumerate(usable) if (host, index - 1) in arms
    ]
    before = vector([arms[usable[n][0], usable[n][1] - 1] == arm for n in followers])
    p = by_block.carry_over(
        levels[followers], treated[followers], before,
        [usable[n][0] for n in followers],
    ) if followers else float("nan")
    if np.isnan(p):
        effect.notes.append("carry-over could not be looked for")
    elif p < CARRY_OVER_P:
        effect.refused.append(
            f"carry-over: a block depends on the arm of the one before (p = {p:.1g});"
            " a longer washout is wanted"
        )
