# SPDX-License-Identifier: GPL-2.0-only
"""The zonelock claims: what is done under zone->lock, and what that costs huge pages."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench import compare, guest, pcp
from bench.agent import CROSSINGS
from bench.compare import Metric, Policy
from bench.pageblock import events
from bench.table import Row
from guests.kernels import Image
from guests.report import say

# Knobs besides the usual.
CONFIG = ""
MODE = "depot"
ZONELOCK = Policy("zonelock", ("depot", "nomerge"), (MODE,))

# Both sides in one boot, in turn, so that what one leaves to the next evens out.
ORDER = ("base", "policy", "policy", "base")
# Where runs of a side differ much among themselves.
LONG_ORDER = ORDER + ORDER
QUICK = ORDER[:2]
MAX_AGE = 1.0

HOLDS = "holds of zone->lock, 1000 pages"
TOUCHED = "pages under zone->lock, 1000 pages"
UNDER = "instructions under zone->lock a page"
TOTAL = "instructions a page"
HUGE = "instructions a huge page"
FAILED = "% of huge faults that fail"
COMPACTIONS = "direct compactions that failed"
COMPACTED = "direct compactions that succeeded"
HELD = "pages held at the end"
HELD_SECONDS = "seconds until they are back"
MISSING = "huge pages not to be had afterwards"
UNHAD = "% of huge pages not to be had"


Run = guest.Result


def counted(name: str, run: Run, scale: float = 1000.0) -> float:
    """A count of the counted run, for each page."""
    return float(run["counted"][name] * scale / run["counted"]["pages"])


def crossings(run: Run) -> float:
    """Pages that were touched under the lock, of a thousand."""
    return sum(counted(event, run) for event in CROSSINGS)


def under_lock(run: Run) -> float:
    """Instructions under the lock for each page, those of the probes taken off."""
    found = run["counted"]
    return float((found["held_ns"] - found["holds"] * found["overhead_ns"]) / found["pages"])


def a_page(run: Run) -> float:
    """Instructions for each page, all CPUs together."""
    return float(run["plain"]["ns"] / run["plain"]["pages"])


def a_huge_page(run: Run) -> float:
    """Instructions for each huge page, those of the small ones beside it included."""
    return float(run["plain"]["ns"] / run["plain"]["huge_pages"])


def failed(run: Run) -> float:
    """Share of huge faults that fell back."""
    counts = run["plain"]["events"]
    tried = counts["thp_fault_alloc"] + counts["thp_fault_fallback"]
    return float(100.0 * counts["thp_fault_fallback"] / max(tried, 1))


def unhad(run: Run) -> float:
    """Share of the huge pages asked for that were not to be had."""
    return float(100.0 * (1 - run["plain"]["huge_pages"] / run["plain"]["asked"]))


TOTALS = Metric(TOTAL, a_page)
LOCK_METRICS = (
    Metric(HOLDS, lambda run: counted("holds", run)),
    Metric(TOUCHED, crossings),
    Metric(UNDER, under_lock),
)
# What is claimed of pairs of producer and consumer.
# Where refills can be hooked, 95 % fewer holds.
PAIR_METRICS = (replace(LOCK_METRICS[0], claim=0.05, kernel="6.1"), *LOCK_METRICS[1:],
                replace(TOTALS, claim=1.0))
COMPACTION_METRICS = (
    Metric(COMPACTIONS, lambda run: events("compact_fail")(run["plain"])),
    Metric(COMPACTED, lambda run: events("compact_success")(run["plain"])),
)
MIXED_METRICS = (
    Metric(HUGE, a_huge_page, 1.01),
    replace(TOTALS, claim=1.0, chance=compare.two_errors),
    Metric(FAILED, failed),
    *COMPACTION_METRICS,
)
STRESS_METRICS = (
    Metric(UNHAD, unhad, 1.0, compare.two_errors),
    Metric(HUGE, a_huge_page),
    TOTALS,
    *COMPACTION_METRICS,
)


@dataclass(frozen=True)
class Load:
    """A load: how the tables call it, what the program is told, and its figures.

    huge    huge pages are what it is about: holds of the lock are not counted, runs are many
    """

    words: str
    args: str
    metrics: Sequence[Metric] = (*LOCK_METRICS, TOTALS)
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
COST = "cost"
PARTS = (*(load.name for load in LOADS), COST)


def rows_of(image: Image, load: Load, mode: str, runs: Mapping[str, Sequence[Run]]) -> list[Row]:
    """A row for each figure of a load."""
    rows = compare.rows_of(image, load.words, load.metrics, mode, runs)
    held = [run["plain"] for run in runs[compare.POLICY]]
    rows.append(Row(image.name, load.words, HELD, 0.0,
                    statistics.fmean(run["held"] for run in held), mode=mode))
    limit_seconds = MAX_AGE if mode == MODE else None
    rows.append(Row(image.name, load.words, HELD_SECONDS, 0.0,
                    max(run["held_seconds"] for run in held), limit_seconds, mode))
    return rows


def order_of(load: Load, quick: bool) -> Sequence[str]:
    """The sides of a load's runs."""
    return QUICK if quick else LONG_ORDER if load.huge else ORDER


def load_rows(image: Image, loads: Sequence[Load], quick: bool, config: str) -> list[Row]:
    """The loads, both sides of each in turn, in one boot."""
    guest.need_livemm(image)
    locks = guest.build_locks(image)
    mode = ZONELOCK.mode(config)
    plan = guest.Plan(f"zonelock-{image.name}", image, shift=0, huge="madvise", memory="1G")
    compare.load_module(plan)
    for load in loads:
        for number, side in enumerate(order_of(load, quick)):
            run = f" {load.name} {number}"
            if side != compare.BASE:
                ZONELOCK.enable(plan, config, run)
            plan.zone(f"{side}{run}", load.args, locks, load.huge,
                      stays=side != compare.BASE and mode != MODE)
            if side != compare.BASE:
                plan.add("read", f"counters{run}", path=f"{guest.DEBUGFS}/zonelock/counters")
                if load.huge:
                    plan.add("huge", f"huge {side}{run}")
                ZONELOCK.disable(plan)
            elif load.huge:
                plan.add("huge", f"huge {side}{run}")
    results = guest.run(plan, timeout=3600, show=compare.progress(image))
    rows: list[Row] = []
    for load in loads:
        runs: dict[str, list[Run]] = {}
        missing: dict[str, list[float]] = {}
        for number, side in enumerate(order_of(load, quick)):
            run = f" {load.name} {number}"
            runs.setdefault(side, []).append(results[f"{side}{run}"])
            if load.huge:
                found = results[f"huge {side}{run}"]
                missing.setdefault(side, []).append(found["asked"] - found["got"])
            if side != compare.BASE:
                ZONELOCK.check(image, results, mode, run)
                runs[side][-1]["counters"] = results[f"counters{run}"]["text"]
        rows += rows_of(image, load, mode, runs)
        if missing:
            base = statistics.fmean(missing[compare.BASE])
            rows.append(Row(image.name, load.words, MISSING, base,
                            statistics.fmean(missing[compare.POLICY]), base, mode, dict(missing)))
    return rows


def cost(image: Image, config: str) -> list[Row]:
    """Instructions of a page fault on a load that the policy cannot help."""
    return pcp.policy_cost(image, ZONELOCK, config)


def measure(images: Sequence[Image], quick: bool, config: str, only: Sequence[str]) -> list[Row]:
    """Every row, or those of the parts named.

    quick: the first load, once a side, on the first kernel.
    """
    rows: list[Row] = []
    for image in images[:1] if quick else images:
        loads = [load for load in LOADS if not only or load.name in only]
        if quick:
            loads = loads[:1]
        if loads:
            say(f"---- zonelock on {image.name}: {', '.join(load.name for load in loads)}")
            rows += load_rows(image, loads, quick, config)
        if not quick and (not only or COST in only):
            say(f"---- zonelock on {image.name}: {pcp.CHEAPEST_METRIC}")
            rows += cost(image, config)
    return rows
