# SPDX-License-Identifier: GPL-2.0-only
"""The zonelock claims: what is done under zone->lock, and what that costs huge pages."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from bench import compare, cost, guest
from bench.agent import CROSSINGS
from bench.compare import BASE, POLICY, Bench, Metric, Part, Task, events
from bench.table import Row

#: The policy has no modes; its rows are of this one.
MODE = "depot"

# Both sides in one boot, in turn, so that what one leaves to the next evens out.
ORDER = (BASE, POLICY, POLICY, BASE)
MAX_AGE = 1.0

Run = guest.Result


def counted(name: str, run: Run) -> float:
    """A count of the counted run, for 1000 pages."""
    return float(run["counted"][name] * 1000 / run["counted"]["pages"])


def under_lock(run: Run) -> float:
    """Instructions under the lock for each page, those of the probes taken off."""
    found = run["counted"]
    return float((found["held_ns"] - found["holds"] * found["overhead_ns"]) / found["pages"])


def unhad(run: Run) -> float:
    """Share of the huge pages asked for that were not to be had."""
    return float(100.0 * (1 - run["plain"]["huge_pages"] / run["plain"]["asked"]))


HOLDS = Metric("holds of zone->lock, 1000 pages", lambda run: counted("holds", run))
UNDER_LOCK = (
    Metric("pages under zone->lock, 1000 pages",
           lambda run: sum(counted(event, run) for event in CROSSINGS)),
    Metric("instructions under zone->lock a page", under_lock),
)
# Of all CPUs together, and for a huge page with those of the small ones beside it.
TOTAL = Metric("instructions a page", lambda run: float(run["plain"]["ns"] / run["plain"]["pages"]))
HUGE = Metric("instructions a huge page",
              lambda run: float(run["plain"]["ns"] / run["plain"]["huge_pages"]))
LOCK_METRICS = (HOLDS, *UNDER_LOCK, TOTAL)
# What is claimed of pairs of producer and consumer.
# Where refills can be hooked, 95 % fewer holds.
PAIR_METRICS = (replace(HOLDS, claim=0.05, kernel="6.1"), *UNDER_LOCK, replace(TOTAL, claim=1.0))
HUGE_METRICS = (
    Metric("direct compactions that failed", lambda run: events("compact_fail")(run["plain"])),
    Metric("direct compactions that succeeded",
           lambda run: events("compact_success")(run["plain"])),
    Metric("huge pages not to be had afterwards", compare.huge_missing, 1.0),
)
MIXED_METRICS = (
    replace(HUGE, claim=1.01),
    replace(TOTAL, claim=1.0, chance=compare.two_errors),
    Metric("% of huge faults that fail", lambda run: compare.fail_rate(run["plain"])),
    *HUGE_METRICS,
)
STRESS_METRICS = (
    Metric("% of huge pages not to be had", unhad, 1.0, compare.two_errors),
    HUGE,
    TOTAL,
    *HUGE_METRICS,
)


# Loads are keys, and metrics have a dict, which has no hash.
@dataclass(frozen=True, eq=False)
class Load:
    """A load: how the tables call it, what the program is told, and its figures.

    huge    huge pages are what it is about: holds of the lock are not counted, runs are many
    """

    words: str
    args: str
    metrics: Sequence[Metric] = LOCK_METRICS
    huge: bool = False

    @property
    def name(self) -> str:
        """What --only takes."""
        return self.args.split()[0]


LOADS = (
    Load("pipe from CPU to CPU, 256 MiB", "pipe 256", PAIR_METRICS),
    Load("socket from CPU to CPU, 128 MiB", "socket 128", PAIR_METRICS),
    Load("two processes of 96 MiB exit", "exit 96"),
    Load("two processes fault 32 MiB x 8", "fault 32"),
    Load("huge pages on one CPU, small on the other", "mixed 2000", MIXED_METRICS, huge=True),
    Load("huge pages from memory in pieces", "stress 80", STRESS_METRICS, huge=True),
)


def load_rows(task: Task) -> list[Row]:
    """The loads, both sides of each in turn, in one boot; quick: once a side."""
    image = task.image
    locks = str(guest.build_modules(image, "zoneload/locks") / "lmm_locks.ko")
    plan = guest.Plan(f"zonelock-{image.name}", image, shift=0, huge="madvise", memory="1G")
    task.load_module(plan)
    names: dict[Load, dict[str, list[str]]] = {}
    for load in LOADS:
        if load.name not in task.names:
            continue
        names[load] = {BASE: [], POLICY: []}
        # Twice as often where runs of a side differ much among themselves.
        order = ORDER[:2] if task.quick else ORDER * (2 if load.huge else 1)
        for number, side in enumerate(order):
            name, on = f"{side} {load.name} {number}", side == POLICY
            names[load][side].append(name)
            with task.on(plan, f" {load.name} {number}") if on else nullcontext():
                plan.program("zone", name, "zoneload", load.args, locks=locks, plain=load.huge,
                             crossings=True)
                if on:
                    task.read(plan, "counters", name)
    results = guest.run(plan)
    rows: list[Row] = []
    for load, sides in names.items():
        runs = {side: [results[name] for name in mine] for side, mine in sides.items()}
        rows += compare.rows_of(image, load.words, load.metrics, task.mode, runs)
        held = [run["plain"] for run in runs[POLICY]]
        rows.append(Row(image.name, load.words, "pages held at the end", 0.0,
                        statistics.fmean(run["held"] for run in held), mode=task.mode))
        rows.append(Row(image.name, load.words, "seconds until they are back", 0.0,
                        max(run["held_seconds"] for run in held), MAX_AGE, task.mode))
    return rows


BENCH = Bench(
    "zonelock", (MODE,), (MODE,),
    (Part([load.name for load in LOADS], load_rows), cost.PART),
    quick=(LOADS[0].name,), has_modes=False,
)
