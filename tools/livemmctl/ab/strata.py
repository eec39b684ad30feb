# SPDX-License-Identifier: GPL-2.0-only
"""The effect in each kind of machine, and whether it differs between them."""

import math
from dataclasses import dataclass, replace
from functools import cache, partial

from scipy import stats

from livemmctl.ab.analyse import Comparison, Report
from livemmctl.ab.effects import HOSTS_LEAST, Effect, between_hosts
from livemmctl.ab.model import ANY_TIME, HOST
from livemmctl.ab.stats import sequential
from livemmctl.ab.stats.estimate import ALPHA


@dataclass(frozen=True)
class Stratum:
    """The effect in one kind of machine; the interval is as the report's others."""

    name: str
    #: Hosts.
    control: int
    treatment: int
    relative: float
    low: float
    high: float


@dataclass(frozen=True)
class Strata:
    metric: str
    arm: str
    rows: list[Stratum]
    #: That one kind's effect is the other kinds'; corrected for the number of kinds.
    p: float

    @property
    def differ(self) -> bool:
        return self.p < ALPHA


def effects_by_stratum(report: Report) -> list[Strata]:
    """Of each comparison by host that has two kinds of machines or more with enough hosts."""
    if report.experiment.mode != HOST or report.failed:
        return []
    found = [_strata_of(report, item) for item in report.comparisons if not item.effect.refused]
    return [item for item in found if item is not None]


def _strata_of(report: Report, item: Comparison) -> Strata | None:
    hosts, arms = report.seen.hosts, (report.experiment.control, item.arm)
    names = sorted({host.stratum for host in hosts.values()})
    counts = {name: [sum(1 for host in hosts.values() if (host.stratum, host.arm) == (name, arm))
                     for arm in arms] for name in names}
    names = [name for name in names if min(counts[name]) >= HOSTS_LEAST]
    if len(names) < 2:
        return None
    rows, p = [], math.nan
    # Of two kinds each is the other's rest.
    effect = cache(partial(_effect, report, item))
    for name in names:
        here = effect(frozenset({name}))
        rest = effect(frozenset(names) - {name})
        row = _row(name, here, item)
        if row is None or rest.estimate is None:
            return None
        rows.append(row)
        p = min(p, _contrast(here, rest, item), key=lambda q: math.inf if math.isnan(q) else q)
    # One of two kinds differs from the other, and the other from the one: one question.
    questions = 1 if len(names) == 2 else len(names)
    return Strata(item.metric.name, item.arm, rows, min(1.0, p * questions))


def _effect(report: Report, item: Comparison, names: frozenset[str]) -> Effect:
    """The effect among hosts of these kinds, as if they were all."""
    hosts = {host: replace(info, stratum="") for host, info in report.seen.hosts.items()
             if info.stratum in names}
    points = [point for point in report.seen.points[item.metric.name] if point.host in hosts]
    return between_hosts(item.metric, points, hosts, report.experiment.control, item.arm,
                         report.experiment.looks == ANY_TIME,
                         len(report.experiment.ramp.percents))


def _row(name: str, effect: Effect, item: Comparison) -> Stratum | None:
    found = effect.estimate
    if found is None:
        return None
    interval = effect.look or found
    return Stratum(name, found.n_control, found.n_treatment, found.relative,
                   interval.relative_low, interval.relative_high)


def _contrast(here: Effect, rest: Effect, item: Comparison) -> float:
    """The p of that both are the same effect, at this look or at all."""
    one, other = here.estimate, rest.estimate
    assert one is not None and other is not None
    variance = one.relative_error**2 + other.relative_error**2
    if not variance > 0:
        return math.nan
    z = abs(one.relative - other.relative) / math.sqrt(variance)
    if here.look is None:
        return 2 * float(stats.norm.sf(z))
    mixed = sequential.mixing(sequential.planned_information(item.metric.detect_pct / 100))
    # Of each step of a ramp by itself, as the effects are.
    return min(1.0, float(sequential.p_value(z, 1 / variance, mixed)) * ALPHA / here.look.alpha)
