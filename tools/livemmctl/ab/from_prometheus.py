# SPDX-License-Identifier: GPL-2.0-only
"""A fleet's Prometheus, asked by range queries, to what was seen."""

import contextlib
import http.client
import json
import math
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from livemmctl.ab.fields import duration_text
from livemmctl.ab.model import HOST, Experiment, Metric, Source
from livemmctl.ab.points import HostSeen, Point, Seen
from livemmctl.errors import CtlError, Exit, UsageError

ARM_METRIC = "livemm_arm_info"
#: In a metric's own PromQL it stands for the time between two points.
WINDOW = "$window"
TIMEOUT_S = 120.0
#: Points of a series in one query; Prometheus itself allows 11,000.
POINTS_MOST = 1000
#: Points of a host unless a step is given: more tells nothing new of a host's mean.
POINTS_WANTED = 100
#: In a rollout's step points are nearer to each other, so that a new host soon counts: four
#: scrapes a minute apart, or twice that again and again for as long as there are more points.
NEAR_LEAST_S, NEAR_POINTS = 240.0, 200
#: Of fewer seconds a server knows nothing.
WINDOW_LEAST_S = 60.0
#: A textfile of ours that is older stands still, as the alert has it: its counters look as if
#: nothing happened.
STALE_S = 300.0
TEXTFILE_AGE = 'time() - node_textfile_mtime_seconds{file=~".*/livemm[.]prom"}'
#: No answer to our queries is larger; what is, is not held in memory.
ANSWER_MAX_BYTES = 1 << 30

#: From when, until when, and seconds between two points.
Span = tuple[float, float, float]
Labels = dict[str, str]
#: When a host was first seen, and how long before it may have joined.
Joined = tuple[float, float]
Series = list[tuple[Labels, list[tuple[float, float]]]]


@dataclass(frozen=True)
class Prometheus:
    """A server, by the address that its own pages have."""

    url: str

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            # Raises for a port that is none, too.
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            if parts.username is not None:
                raise UsageError("an address with a password in it would end up in reports")
        except ValueError:
            good = False
        if not good:
            raise UsageError(f"{self.url}: not an address of a server",
                             "--prometheus http://HOST:9090")

    def range(self, query: str, start_s: float, end_s: float, step_s: float) -> Series:
        """A range query, in several requests if it is long.  Raises CtlError."""
        found: dict[str, tuple[Labels, list[tuple[float, float]]]] = {}
        at = start_s
        while at <= end_s:
            upto = min(at + (POINTS_MOST - 1) * step_s, end_s)
            for labels, values in self._ask(query, at, upto, step_s):
                key = json.dumps(labels, sort_keys=True)
                found.setdefault(key, (labels, []))[1].extend(values)
            at = upto + step_s
        return list(found.values())

    def _ask(self, query: str, start_s: float, end_s: float, step_s: float) -> Series:
        form = urllib.parse.urlencode({
            "query": query, "start": f"{start_s:.3f}", "end": f"{end_s:.3f}",
            "step": f"{step_s:.3f}",
        }).encode()
        # As a form in the body: an address may not be as long as a query.
        request = urllib.request.Request(self.url.rstrip("/") + "/api/v1/query_range", form)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                data = answer.read(ANSWER_MAX_BYTES + 1)
        except urllib.error.HTTPError as error:
            raise CtlError(f"{self.url}: {_refusal(error)}", Exit.FAILED) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            words = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
            raise CtlError(f"{self.url}: {words}", Exit.FAILED) from None
        if len(data) > ANSWER_MAX_BYTES:
            raise CtlError(f"{self.url}: the answer is too large", Exit.FAILED, "a longer --step")
        try:
            return _series(json.loads(data))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise CtlError(f"{self.url}: what answers is no Prometheus", Exit.FAILED) from None


def _refusal(error: urllib.error.HTTPError) -> str:
    with contextlib.suppress(ValueError, TypeError, KeyError, OSError, RecursionError,
                             http.client.HTTPException):
        return str(json.loads(error.read(1 << 16))["error"])
    return f"HTTP {error.code} {error.reason}"


def _series(answer: dict[str, Any]) -> Series:
    if answer["status"] != "success" or answer["data"]["resultType"] != "matrix":
        raise ValueError
    series: Series = []
    for item in answer["data"]["result"]:
        pairs = [(float(at), float(value)) for at, value in item["values"]]
        labels = {str(key): str(value) for key, value in item["metric"].items()}
        series.append((labels, [pair for pair in pairs if all(map(math.isfinite, pair))]))
    return series


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def names_of(source: Source) -> list[str]:
    """What livemmctl export and node_exporter call a source."""
    if source.kind == "counter":
        policy, _, name = source.what.partition("/")
        return [f"livemm_{policy}_{name}_total"]
    if source.kind == "vmstat":
        return [f"node_vmstat_{name}" for name in source.what.split("+")]
    if source.kind == "psi":
        resource, _, line = source.what.partition("/")
        state = {"full": "stalled", "some": "waiting"}[line]
        return [f"node_pressure_{resource}_{state}_seconds_total"]
    return []


def query_for(source: Source, own: str, grows: bool, host_label: str, step_s: float) -> str:
    """PromQL for one source, a series a host.

    `own` is the experiment's: a selector, or an expression with $window in it.  Raises
    CtlError, USAGE, for a command without one.
    """
    window = f"{step_s:.0f}s"
    if WINDOW in own:
        return own.replace(WINDOW, window)
    selectors = [own] if own else names_of(source)
    if not selectors:
        raise UsageError(f"{source}: the name of this metric in Prometheus is not known",
                         "give the metric a promql")
    function = "increase" if grows else "avg_over_time"
    # A sum of sums: increase() drops the name, and refuses series that then have the same labels.
    return " + ".join(f"sum by ({host_label}) ({function}({selector}[{window}]))"
                      for selector in selectors)


@dataclass(frozen=True)
class Ask:
    host_label: str = "instance"
    arm_metric: str = ARM_METRIC
    stratum_label: str = ""
    #: 0: chosen by the experiment's length.
    step_s: float = 0.0
    #: When the step of a rollout began; 0: no rollout.
    since_s: float = 0.0


def seen_by(server: Prometheus, experiment: Experiment, ask: Ask, now_s: float) -> Seen:
    """What a Prometheus has seen of an experiment by host.  Raises CtlError."""
    if experiment.mode != HOST:
        raise UsageError("a switchback's blocks are only in its journals",
                         "livemmctl ab report EXPERIMENT JOURNAL...")
    if experiment.start_s is None:
        raise UsageError("the experiment's file has no start: which time to ask for?",
                         "start = 2026-11-30T08:00:00Z")
    start_s = experiment.start_s
    end_s = min(start_s + experiment.duration_s, now_s)
    if end_s <= start_s:
        raise UsageError("the experiment has not begun yet")
    step_s = ask.step_s or max(
        math.ceil(experiment.duration_s / POINTS_WANTED), experiment.tick_s, 60.0)
    if ask.since_s and not ask.step_s:
        # Hosts of one step of a rollout are to be told from those of the step before.
        step_s = max(min(step_s, experiment.ramp.every_s), NEAR_LEAST_S)
    # Whole steps before the start, so that a point is on one side of it.
    before_s = math.ceil(experiment.baseline_s / step_s) * step_s
    seen = Seen({metric.name: [] for metric in experiment.metrics})
    seen.over = now_s >= start_s + experiment.duration_s
    parts = spans((start_s, end_s, step_s), ask.since_s, experiment.tick_s)
    seen.step_s = parts[-1][2]
    joined: dict[str, Joined] = {}
    for host, rows in _stays(server, experiment, ask, parts).items():
        at_s, width_s, arm, stratum, kernel = min(rows)
        joined[host] = at_s, width_s
        arm_now = max(rows)[2]
        seen.hosts[host] = HostSeen(arm, stratum, moved=arm != arm_now, arm_now=arm_now,
                                    joined_s=at_s, kernel=kernel)
    if not seen.hosts and not ask.since_s:
        # A rollout decides from the first minute on: that nobody has joined is an answer.
        raise CtlError(f"no host has {ask.arm_metric}{{experiment={quoted(experiment.name)}}}"
                       " in the experiment's time", Exit.FAILED, "livemmctl export; --arm-metric")
    seen.notes.append(f"from {server.url}, a point every {duration_text(step_s)}; hosts that"
                      " could not be switched are not told apart here")
    parts[0] = (start_s - before_s, *parts[0][1:])
    stale: set[tuple[str, float]] = set()
    if any(_reads_textfile(metric) for metric in experiment.metrics):
        stale = {pair for span in parts for pair in _stale(server, ask, span)}
        still = len({host for host, _ in stale} & joined.keys())
        if still:
            seen.notes.append(f"on {still} hosts livemm.prom stood still for a time, which is"
                              " left out where livemm's own counters are compared")
    for metric in experiment.metrics:
        reads_textfile = _reads_textfile(metric)
        for span in parts:
            pairs = (pair for pair in _pairs(server, metric, ask, span)
                     if not reads_textfile or pair[:2] not in stale)
            seen.points[metric.name] += _points(pairs, joined, before_s, span[2])
    return seen


def spans(whole: Span, since_s: float, tick_s: float) -> list[Span]:
    """Ranges of points, each as far from the one before as its range says, that cover `whole`.

    From `since_s` on, points are near to each other, and the last is of now; 0: one range.
    """
    start_s, end_s, step_s = whole
    if not since_s:
        return [whole]
    # The last far point; near ones follow it without a gap.
    far_s = start_s + max(math.floor((min(since_s, end_s) - start_s) / step_s), 0) * step_s
    near_s = max(NEAR_LEAST_S, tick_s)
    while (end_s - far_s) / near_s > NEAR_POINTS:
        near_s *= 2
    if near_s >= step_s:
        near_s, far_s = step_s, start_s
    found = [(start_s, far_s, step_s)]
    # The last point's window is no shorter than the others': it takes one of these in.
    count = max(math.floor((end_s - far_s) / near_s) - 1, 0)
    last_s = far_s + count * near_s
    if count:
        found.append((far_s + near_s, last_s, near_s))
    if end_s - last_s >= WINDOW_LEAST_S:
        found.append((end_s, end_s, end_s - last_s))
    return found


def _reads_textfile(metric: Metric) -> bool:
    sources = ((metric.source, metric.promql), (metric.per, metric.per_promql))
    return any(source is not None and source.kind == "counter" and not own
               for source, own in sources)


def _stale(server: Prometheus, ask: Ask, span: Span) -> set[tuple[str, float]]:
    """Hosts and times at which the textfile was too old; none where there is no textfile."""
    query = f"max by ({ask.host_label}) ({TEXTFILE_AGE}) > {max(STALE_S, span[2]):.0f}"
    return {(labels.get(ask.host_label, ""), at)
            for labels, values in server.range(query, *span)
            for at, _ in values}


def _stays(
    server: Prometheus, experiment: Experiment, ask: Ask, parts: list[Span]
) -> dict[str, list[tuple[float, float, str, str, str]]]:
    """Of each host every time in the experiment, how long that is, its arm, stratum and kernel."""
    labels = ", ".join(filter(None, (ask.host_label, "arm", ask.stratum_label,
                                     "kernel" if experiment.ramp.kernels else "")))
    selector = f"{ask.arm_metric}{{experiment={quoted(experiment.name)}}}"
    arms = {arm.name for arm in experiment.arms}
    times: dict[str, list[tuple[float, float, str, str, str]]] = {}
    for span in parts:
        query = f"max by ({labels}) (max_over_time({selector}[{span[2]:.0f}s])) > 0"
        for found, values in server.range(query, *span):
            host, arm = found.get(ask.host_label, ""), found.get("arm", "")
            if host and arm in arms and values:
                stratum = found.get(ask.stratum_label, "") if ask.stratum_label else ""
                times.setdefault(host, []).extend(
                    (at, span[2], arm, stratum, found.get("kernel", "")) for at, _ in values)
    return times


def _pairs(
    server: Prometheus, metric: Metric, ask: Ask, span: Span
) -> Iterator[tuple[str, float, float, float]]:
    """Host, time, and the metric as a fraction."""
    def fetch(source: Source, own: str) -> Iterator[tuple[str, float, float]]:
        query = query_for(source, own, metric.grows, ask.host_label, span[2])
        for labels, values in server.range(query, *span):
            host = labels.get(ask.host_label)
            if host is not None:
                yield from ((host, at, value) for at, value in values)

    if metric.per is None:
        den = span[2] if metric.grows else 1.0
        yield from ((host, at, value, den) for host, at, value in fetch(
            metric.source, metric.promql))
        return
    dens = {(host, at): value for host, at, value in fetch(metric.per, metric.per_promql)}
    for host, at, value in fetch(metric.source, metric.promql):
        if (host, at) in dens:
            yield host, at, value, dens[host, at]


def _points(
    pairs: Iterator[tuple[str, float, float, float]], joined: dict[str, Joined],
    before_s: float, step_s: float,
) -> Iterator[Point]:
    """A point at a time tells of the step before it: that in which the arm began is left out."""
    for host, at, num, den in pairs:
        if host not in joined or num < 0:
            continue
        seen_s, width_s = joined[host]
        since_s = at - seen_s
        # Times are floats.
        if since_s > step_s - 0.5:
            yield Point(host, num, den, at_s=at)
        elif -before_s - step_s / 2 < since_s < 0.5 - width_s:
            yield Point(host, num, den, before=True, at_s=at)
