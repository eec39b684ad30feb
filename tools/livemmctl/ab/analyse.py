# SPDX-License-Identifier: GPL-2.0-only
"""From what was seen to what may be said; no I/O."""

import math
from dataclasses import dataclass, field

from livemmctl.ab.assign import BUCKETS, experiment_layout
from livemmctl.ab.effects import NO_SPREAD, Effect, between_blocks, between_hosts
from livemmctl.ab.model import ANY_TIME, HOST, Experiment, Metric
from livemmctl.ab.points import Seen
from livemmctl.ab.stats import checks, sequential
from livemmctl.ab.stats.estimate import ALPHA, Estimate

BETTER, WORSE = "better", "worse"
NOTHING_SEEN, NOT_CONCLUDED = "no difference seen", "not concluded"
#: Looked at any time: not worse than the metric's margin, and not yet to be told.
NO_WORSE, UNDECIDED = "no worse", "undecided"
#: More units are written as so many.
MOST_UNITS = 10**9
#: More hosts than this in another arm than at first make the effect look smaller.
MOVED_MOST = 0.05


@dataclass(frozen=True)
class Check:
    """An assumption that was looked at; `p` is NaN where there is none."""

    name: str
    ok: bool
    words: str
    p: float = math.nan


@dataclass
class Comparison:
    """A metric of a treatment against control."""

    metric: Metric
    arm: str
    effect: Effect
    #: Corrected for the number of comparisons.
    p: float = math.nan
    verdict: str = NOT_CONCLUDED
    #: The smallest effect that would have been seen 4 times in 5, in percent of control.
    detectable_pct: float = math.nan
    #: Units an arm for the effect that the experiment's file asks for.
    needed: int | None = None
    #: 95 %, of the relative effect; of all looks together where any may be looked at.
    low: float = math.nan
    high: float = math.nan
    #: Part of the data that is there of what the effect needs; NaN: cannot be told.
    gathered: float = math.nan

    @property
    def harm(self) -> tuple[float, float]:
        """The interval turned so that more is worse."""
        less = self.metric.better == "less"
        return (self.low, self.high) if less else (-self.high, -self.low)

    @property
    def is_within_margin(self) -> bool:
        """Is treatment, whatever else, no worse than the margin?"""
        return self.is_within(1.0)

    def is_within(self, times: float) -> bool:
        """The same for a margin so many times as wide."""
        margin = self.metric.margin_pct
        return (margin is not None and self.verdict != NOT_CONCLUDED
                and self.harm[1] * 100 < margin * times)


@dataclass
class Report:
    experiment: Experiment
    seen: Seen
    checks: list[Check]
    comparisons: list[Comparison]
    notes: list[str] = field(default_factory=list)

    @property
    def failed(self) -> list[Check]:
        """The assumptions that fail, for which nothing at all is concluded."""
        return [check for check in self.checks if not check.ok]

    def units(self, arm: str) -> int:
        if self.experiment.mode == HOST:
            return sum(1 for host in self.seen.hosts.values() if host.arm == arm)
        return sum(1 for block in self.seen.blocks if block.arm == arm and block.complete)


def analyse(experiment: Experiment, seen: Seen) -> Report:
    by_host = experiment.mode == HOST
    found = [*_ratio_checks(experiment, seen)] if by_host else [_block_check(experiment, seen)]
    any_time = experiment.looks == ANY_TIME
    early = ("has not passed; intervals hold at every look" if any_time
             else "has not passed: looking early finds what is not there")
    found.append(Check("planned time", seen.over or any_time,
                       "has passed" if seen.over else early))
    found += [Check("data", False, fault) for fault in seen.faults]
    comparisons = []
    for arm in experiment.treatments:
        for metric in experiment.metrics:
            points = seen.points[metric.name]
            effect = (
                between_hosts(metric, points, seen.hosts, experiment.control, arm, any_time,
                              len(experiment.ramp.percents))
                if by_host else
                between_blocks(metric, points, seen.blocks, experiment.control, arm, any_time)
            )
            comparisons.append(Comparison(metric, arm, effect))
    report = Report(experiment, seen, found, comparisons, list(seen.notes))
    _conclude(report)
    _remark(report)
    return report


def _ratio_checks(experiment: Experiment, seen: Seen) -> list[Check]:
    names = [arm.name for arm in experiment.arms]
    layout = experiment_layout(experiment)
    weights = [layout.count(name) / BUCKETS for name in names]
    by_stratum: dict[str, list[int]] = {}
    for host in seen.hosts.values():
        row = by_stratum.setdefault(host.stratum, [0] * len(names))
        row[names.index(host.arm_now or host.arm)] += 1
    counts = [sum(row[index] for row in by_stratum.values()) for index in range(len(names))]
    plan = ", ".join(f"{name} {count} (of {weight:.0%})"
                     for name, count, weight in zip(names, counts, weights, strict=True))
    p = checks.sample_ratio_p(counts, weights)
    found = [Check("sample ratio", p >= checks.MISMATCH_P, plan, p)]
    if len(by_stratum) > 1 and p >= checks.MISMATCH_P:
        p = checks.strata_ratio_p(list(by_stratum.values()), weights)
        found.append(Check("sample ratio within strata", p >= checks.MISMATCH_P,
                           f"{len(by_stratum)} strata", p))
    return found


def _block_check(experiment: Experiment, seen: Seen) -> Check:
    names = [arm.name for arm in experiment.arms]
    lost = [sum(1 for b in seen.blocks if b.arm == name and not b.complete) for name in names]
    kept = [sum(1 for b in seen.blocks if b.arm == name and b.complete) for name in names]
    p = checks.attrition_p(kept, lost)
    words = ", ".join(f"{name} {count}" for name, count in zip(names, kept, strict=True))
    if sum(lost):
        words += f"; not complete: {sum(lost)}"
    return Check("blocks lost alike in all arms", p >= checks.MISMATCH_P, words, p)


def _conclude(report: Report) -> None:
    any_time = report.experiment.looks == ANY_TIME
    corrected = checks.corrected(
        [_p_of(item.effect, any_time) for item in report.comparisons],
        report.experiment.correction,
    )
    for item, p in zip(report.comparisons, corrected, strict=True):
        found = item.effect.estimate
        if found is None:
            continue
        item.p = p
        if any_time:
            _look_at(item)
        else:
            item.low, item.high = found.relative_low, found.relative_high
            _plan_for(item, found)
        if report.failed or item.effect.refused or math.isnan(p):
            continue
        if p < ALPHA:
            good = (found.difference < 0) == (item.metric.better == "less")
            item.verdict = BETTER if good else WORSE
            continue
        item.verdict = UNDECIDED if any_time else NOTHING_SEEN
        if item.is_within_margin:
            item.verdict = NO_WORSE


def _p_of(effect: Effect, any_time: bool) -> float:
    found = effect.look if any_time else effect.estimate
    return math.nan if found is None else found.p


def _plan_for(item: Comparison, found: Estimate) -> None:
    """What a test at the end could see, and how many units it needs."""
    if found.control:
        item.detectable_pct = abs(checks.detectable(found) / found.control) * 100
        wanted = abs(found.control) * item.metric.detect_pct / 100
        item.needed = checks.needed(found, wanted)


def _look_at(item: Comparison) -> None:
    """What the looks so far can tell, and how much more data the rest needs."""
    look, found = item.effect.look, item.effect.estimate
    if look is None or found is None:
        item.effect.refused.append(
            NO_SPREAD if found is not None and found.control
            else "control's level is 0: no effect in percent can be told")
        return
    item.low, item.high = look.relative_low, look.relative_high
    if not look.information > 0:
        return
    mixed = sequential.mixing(look.planned)
    item.detectable_pct = sequential.detectable(look.information, mixed, look.alpha) * 100
    wanted = min(filter(None, (item.metric.detect_pct, item.metric.margin_pct))) / 100
    item.gathered = look.information / sequential.needed(wanted, mixed, look.alpha)
    if item.gathered < 1:
        units = max(found.n_control, found.n_treatment)
        item.needed = math.ceil(min(units / item.gathered, MOST_UNITS))


def _remark(report: Report) -> None:
    hosts = report.seen.hosts
    for arm in report.experiment.arms:
        mine = [host for host in hosts.values() if host.arm == arm.name]
        held = sum(1 for host in mine if host.held)
        if held and report.experiment.mode == HOST:
            report.notes.append(
                f"{held} of {len(mine)} hosts of {arm.name} could not be switched, or had no news"
                " of the rollout for a time; they count in that arm all the same (intention to"
                " treat), so the effect is understated"
            )
        passed = [guard for name, guard in report.seen.guards if name == arm.name]
        for guard in sorted(set(passed)):
            report.notes.append(f"guardrail {guard} passed {passed.count(guard)} times"
                                f" in {arm.name}")
    moved = sum(1 for host in hosts.values() if host.moved)
    if moved:
        words = f"{moved} of {len(hosts)} hosts changed arms; these hosts count in their first"
        if moved > MOVED_MOST * len(hosts):
            words += ", so effects are understated"
        report.notes.append(words)
