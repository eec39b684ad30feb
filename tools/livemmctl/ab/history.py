# SPDX-License-Identifier: GPL-2.0-only
"""What a report would have said at earlier looks, from the same data."""

from dataclasses import replace

from livemmctl.ab.analyse import Report, analyse
from livemmctl.ab.model import ANY_TIME, Experiment
from livemmctl.ab.points import Seen

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
    found = []
    for number in range(1, looks + 1):
        upto = first + (last - first) * number / looks
        points = {metric.name: [point for point in seen.points[metric.name]
                                if point.before or point.at_s <= upto]
                  for metric in quick.metrics}
        # A guardrail that was passed later was not known yet.
        hosts = {host: replace(info, guard="") if info.guard_s > upto else info
                 for host, info in seen.hosts.items()}
        found.append((upto - first, analyse(quick, replace(seen, points=points, hosts=hosts))))
    return found
