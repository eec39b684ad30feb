# SPDX-License-Identifier: GPL-2.0-only
"""Journals of one host or of a fleet, to what was seen."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from livemmctl.ab.facts import series_of
from livemmctl.ab.journal import TIME_OVER, Lines, Record, number
from livemmctl.ab.model import HOST, Experiment, Metric
from livemmctl.ab.points import BlockSeen, HostSeen, Point, Seen
from livemmctl.ab.timeline import BASELINE, RUN
from livemmctl.errors import UsageError

#: After these, what grows may have begun again at 0, or is another arm's.
BREAKS = ("start", "resume", "apply", "drift", "block", "stop", "end")


def seen_in(lines: Lines, experiment: Experiment, now_s: float) -> Seen:
    """What the records show.  Raises CtlError, USAGE, if they are of another experiment."""
    seen = Seen({metric.name: [] for metric in experiment.metrics}, step_s=experiment.tick_s)
    mine = [record for record in lines.records if record["experiment"] == experiment.name]
    others = {record["experiment"] for record in lines.records} - {experiment.name}
    if not mine:
        words = f"; there is {', '.join(sorted(others)[:3])}" if others else ""
        raise UsageError(f"no record of experiment {experiment.name!r}{words}")
    if others:
        seen.notes.append(f"records of other experiments passed over: {', '.join(sorted(others))}")
    if lines.unreadable:
        seen.notes.append(f"{lines.unreadable} lines could not be read (torn by a crash?)")
    starts = Counter((record["host"], record["t"]) for record in mine if record["type"] == "start")
    twice = [host for (host, _), times in starts.items() if times > 1]
    if twice:
        raise UsageError(f"journals are given twice: of {len(twice)} hosts, {twice[0][:8]} is one")
    by_host: dict[str, list[Record]] = {}
    for record in mine:
        by_host.setdefault(record["host"], []).append(record)
    for host, records in by_host.items():
        # In the order of their lines: a clock that was set back would sort them wrongly.
        _one_host(host, records, experiment, seen)
    _digests(mine, experiment, seen)
    _ends(mine, experiment, seen, now_s)
    return seen


def _ends(records: Iterable[Record], experiment: Experiment, seen: Seen, now_s: float) -> None:
    """Has the planned time passed, and what ended before it?"""
    cut = [info.ended for info in seen.hosts.values() if info.ended not in ("", TIME_OVER)]
    seen.over = bool(seen.hosts) and all(info.ended for info in seen.hosts.values())
    if experiment.mode == HOST:
        if cut:
            seen.notes.append(f"{len(cut)} hosts ended before their time")
        begun = experiment.start_s
        if begun is None:
            starts = [float(r["t"]) for r in records if r["type"] == "start"]
            begun = max(starts, default=now_s) + experiment.baseline_s
        # A host that is gone for good is not waited for.
        seen.over |= now_s >= begun + experiment.duration_s
    elif cut:
        # What ends a run early has to do with an arm, more likely than not.
        seen.faults.append(f"the run was cut short: {cut[0]}")


def _digests(records: Iterable[Record], experiment: Experiment, seen: Seen) -> None:
    digests = {str(r.get("digest")) for r in records if r["type"] in ("start", "resume")}
    if digests - {experiment.digest}:
        words = "some hosts ran another version of the experiment's file"
        # By host, weights may change on the way; a switchback's plan may not.
        (seen.notes if experiment.mode == HOST else seen.faults).append(words)


def _one_host(host: str, records: list[Record], experiment: Experiment, seen: Seen) -> None:
    if not any(record["type"] == "start" for record in records):
        return
    info = HostSeen(arm="")
    arms = {arm.name for arm in experiment.arms}
    complete: dict[int, str] = {}
    begun: dict[int, str] = {}
    joined = experiment.mode != HOST
    kernel = ""
    for record in records:
        arm = record.get("arm")
        arm = arm if isinstance(arm, str) and arm in arms else ""
        kind = record["type"]
        if kind in ("start", "resume"):
            kernel = series_of(str(record.get("kernel", "")))
            strata = record.get("strata")
            if isinstance(strata, dict) and not info.stratum:
                info.stratum = ", ".join(f"{key}={strata[key]}" for key in sorted(strata))
            if arm and experiment.mode == HOST:
                info.moved |= bool(info.arm) and info.arm != arm
                info.arm = info.arm or arm
                info.arm_now = arm
        elif kind == "guard":
            info.guard = str(record.get("guard", ""))
            info.guard_s = info.guard_s or float(record["t"])
            seen.guards.append((arm, info.guard))
        elif kind in ("switch", "apply"):
            joined = True
            info.joined_s = info.joined_s or float(record["t"])
            info.kernel = info.kernel or kernel
            if kind == "apply" and not record.get("ok"):
                info.held = str(record.get("reason", ""))
        elif kind == "gate" and record.get("quiet") is True:
            info.held = info.held or str(record.get("words", ""))
        elif kind == "end":
            info.ended = str(record.get("reason") or "no reason given")
        index = _block(record)
        if arm and index is not None:
            begun[index] = arm
            if kind == "block" and record.get("complete") is True:
                complete[index] = arm
    if not joined:
        return
    if experiment.mode == HOST and not info.arm:
        seen.notes.append(f"host {host[:8]}: no arm in its journal; left out")
        return
    seen.hosts[host] = info
    seen.blocks += [BlockSeen(host, index, arm, index in complete)
                    for index, arm in sorted(begun.items())]
    for metric in experiment.metrics:
        seen.points[metric.name] += _points(host, records, metric, set(complete),
                                            experiment.mode == HOST)


def _points(
    host: str, records: list[Record], metric: Metric, complete: set[int], by_host: bool
) -> list[Point]:
    points: list[Point] = []
    last: Record | None = None
    had_arm = False
    for record in records:
        if record["type"] in BREAKS:
            last = None
        had_arm |= record["type"] in ("switch", "apply")
        if by_host and had_arm and record.get("phase") == BASELINE:
            # Let in again under another kernel: the time between is not the time before.
            continue
        if record["type"] != "sample" or record.get("phase") not in (RUN, BASELINE):
            continue
        if not by_host and (_block(record) not in complete or not record.get("washed")):
            last = None
            continue
        pair = None
        if metric.grows and last is not None and _place(last) == _place(record):
            pair = _growth(metric, last, record)
        elif not metric.grows and (value := _value(record, metric.source)) is not None:
            pair = (value, 1.0)
        last = record
        if pair is not None:
            points.append(Point(host, *pair, before=record["phase"] == BASELINE,
                                block=None if by_host else _block(record),
                                at_s=float(record["t"])))
    return points


def _block(record: Record) -> int | None:
    """The number of the record's block; None where there is none."""
    index = record.get("block")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _place(record: Record) -> tuple[object, object]:
    return record.get("phase"), record.get("block")


def _value(record: Record, source: object) -> float | None:
    values: Mapping[str, Any] | Any = record.get("values")
    return number(values.get(str(source))) if isinstance(values, dict) else None


def _growth(metric: Metric, last: Record, record: Record) -> tuple[float, float] | None:
    grown = _grown(_value(last, metric.source), _value(record, metric.source))
    if metric.per is None:
        over = _grown(number(last.get("m")), number(record.get("m")))
    else:
        over = _grown(_value(last, metric.per), _value(record, metric.per))
    if grown is None or over is None or (over == 0 and metric.per is None):
        return None
    return grown, over


def _grown(first: float | None, second: float | None) -> float | None:
    """By how much; None if it cannot be told: a counter that fell began afresh."""
    if first is None or second is None or second < first:
        return None
    return second - first
