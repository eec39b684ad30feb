# SPDX-License-Identifier: GPL-2.0-only
"""A fleet that never was: hosts of two kinds, half of them with an effect that we planted.

The same hosts as what was seen in memory, as journals, or as OpenMetrics.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
from ab.doubles import START_S, experiment
from livemmctl.ab.assign import app_specific_id, arm_of
from livemmctl.ab.journal import VERSION
from livemmctl.ab.model import Experiment
from livemmctl.ab.points import HostSeen, Point, Seen

KINDS = ("machine_type=big", "machine_type=small")


@dataclass(frozen=True)
class FakeMachine:
    """A host and how fast its numbers grow."""

    host: str
    arm: str
    kind: str
    #: Page faults a second before and in the experiment, and stalls in it.
    before: float
    rate: float
    stalls: float


def fleet_experiment(**over: Any) -> Experiment:
    keys: dict[str, Any] = {
        "duration": "4h", "baseline": "1h", "tick": "1m", "lease": "5m", "looks": "end",
        "metrics": [
            {"name": "faults", "source": "vmstat:pgfault", "better": "less", "detect_pct": 2},
            {"name": "stalls_per_fault", "kind": "ratio", "source": "vmstat:allocstall_normal",
             "per": "vmstat:pgfault"},
        ],
    }
    return experiment("host", **(keys | over))


def machines(made: Experiment, count: int, effect: float, seed: int) -> list[FakeMachine]:
    """Hosts drawn by the experiment itself; `effect` is added to 1 in every arm but control."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        host = app_specific_id(f"{seed:08x}{number:024x}")
        kind = KINDS[int(draw.random() < 0.5)]
        arm = arm_of(made, host, {})
        before = (4000.0 if kind == KINDS[0] else 1000.0) * draw.lognormal(0, 0.15)
        factor = 1 + (effect if arm != made.control else 0.0)
        rate = before * draw.normal(1, 0.05) * factor
        stalls = rate * 0.001 * draw.lognormal(0, 0.1) * factor
        found.append(FakeMachine(host, arm, kind, before, rate, stalls))
    return found


def seen_of(made: Experiment, fleet: list[FakeMachine]) -> Seen:
    seen = Seen({metric.name: [] for metric in made.metrics}, over=True)
    hour = 3600.0
    for machine in fleet:
        host, time_s = machine.host, made.duration_s
        seen.hosts[host] = HostSeen(machine.arm, machine.kind, arm_now=machine.arm)
        seen.points["faults"] += [
            Point(host, machine.before * hour, hour, before=True),
            Point(host, machine.rate * time_s, time_s),
        ]
        seen.points["stalls_per_fault"].append(
            Point(host, machine.stalls * time_s, machine.rate * time_s))
    return seen


def journal_lines(made: Experiment, fleet: list[FakeMachine], step_s: float) -> Iterator[str]:
    """The journals of all hosts, one after the other."""
    for machine in fleet:
        def line(at: float, kind: str, machine: FakeMachine = machine, **fields: Any) -> str:
            return json.dumps({"v": VERSION, "t": START_S + at, "type": kind,
                               "experiment": made.name, "host": machine.host, **fields})

        yield line(0, "start", digest=made.digest, mode="host", arm=machine.arm,
                   strata={"machine_type": machine.kind.partition("=")[2]})
        faults = stalls = 1000.0
        at = 0.0
        while at <= made.baseline_s + made.duration_s:
            phase = "baseline" if at < made.baseline_s else "run"
            if at == made.baseline_s:
                yield line(at, "apply", arm=machine.arm, ok=True, reason="")
            yield line(at, "sample", phase=phase, arm=machine.arm, m=at, state="arm", values={
                "vmstat:pgfault": round(faults), "vmstat:allocstall_normal": round(stalls)})
            faults += step_s * (machine.rate if at >= made.baseline_s else machine.before)
            stalls += step_s * machine.stalls
            at += step_s
        yield line(at, "end", reason="its time is over")


def write_open_metrics(made: Experiment, fleet: list[FakeMachine], step_s: float,
                       out: TextIO, arm_metric: str) -> None:
    """The same as a Prometheus that scraped every `step_s` would have it."""
    times = [START_S - made.baseline_s + step_s * n
             for n in range(int((made.baseline_s + made.duration_s) / step_s) + 1)]
    out.write(f"# TYPE {arm_metric.removesuffix('_info')} info\n")
    for number, machine in enumerate(fleet):
        labels = (f'instance="h{number}:9100",experiment="{made.name}",arm="{machine.arm}",'
                  f'kind="{machine.kind.partition("=")[2]}"')
        for at in times:
            if at > START_S:
                out.write(f"{arm_metric}{{{labels}}} 1 {at:.0f}\n")
    for name in ("pgfault", "allocstall_normal"):
        # node_exporter's own type for them.
        out.write(f"# TYPE node_vmstat_{name} unknown\n")
        for number, machine in enumerate(fleet):
            for at in times:
                since = at - START_S
                if name == "pgfault":
                    value = 1e6 + machine.before * min(since + made.baseline_s, made.baseline_s)
                    value += machine.rate * max(since, 0)
                else:
                    value = machine.stalls * (since + made.baseline_s)
                out.write(f'node_vmstat_{name}{{instance="h{number}:9100"}} {value:.0f}'
                          f" {at:.0f}\n")
    out.write("# EOF\n")
