# SPDX-License-Identifier: GPL-2.0-only
"""What a report would have said at earlier looks, from the same data."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from livemmctl.ab.analyse import Report, analyse
from livemmctl.ab.model import ANY_TIME, HOST, Experiment
from livemmctl.ab.points import Point, Seen

#: Looks that a picture shows.
LOOKS = 24


def looks_back(
    experiment: Experiment, seen: Seen, looks: int = LOOKS
) -> list[tuple[float, Report]]:
    """Reports at even times, the last with all data; times are in seconds since the first point.

    Empty for experiments that are looked at once.  Quantiles are left out: each look would draw
    thousands of samples.
    """
    times = [point.at_s for points in seen.points.values() for point in points
             if not point.before]
    if experiment.looks != ANY_TIME or not times or max(times) <= min(times):
        return []
    first, last = min(times), max(times)
    quick = replace(experiment, metrics=tuple(m for m in experiment.metrics
                                              if m.kind != "quantile"))
    if not quick.metrics:
        return []
    ends = [first + (last - first) * number / looks for number in range(1, looks + 1)]
    so_far = _summed if experiment.mode == HOST else _listed
    known = {metric.name: so_far(_arriving(seen.points[metric.name], ends))
             for metric in quick.metrics}
    found = []
    for upto in ends:
        points = {name: next(each) for name, each in known.items()}
        # A guardrail that was passed later was not known yet.
        hosts = {host: replace(info, guard="") if info.guard_s > upto else info
                 for host, info in seen.hosts.items()}
        found.append((upto - first, analyse(quick, replace(seen, points=points, hosts=hosts))))
    return found


def _arriving(points: Sequence[Point], ends: Sequence[float]) -> list[list[Point]]:
    """What is new at each look; the time before the arm is known at the first."""
    new: list[list[Point]] = [[] for _ in ends]
    for point in points:
        look = 0 if point.before else min(bisect_left(ends, point.at_s), len(ends) - 1)
        new[look].append(point)
    return new


def _listed(new: list[list[Point]]) -> Iterator[list[Point]]:
    known: list[Point] = []
    for points in new:
        known += points
        yield [*known]


def _summed(new: list[list[Point]]) -> Iterator[list[Point]]:
    """A point or two a host: a report by host adds a host's points up, here once for all looks."""
    sums: dict[tuple[str, bool], tuple[float, float, float]] = {}
    for points in new:
        for point in points:
            key = point.host, point.before
            num, den, at_s = sums.get(key, (0.0, 0.0, 0.0))
            sums[key] = num + point.num, den + point.den, max(at_s, point.at_s)
        yield [Point(host, num, den, before=before, at_s=at_s)
               for (host, before), (num, den, at_s) in sums.items()]
