# SPDX-License-Identifier: GPL-2.0-only
"""The pcp claims about memory: what the lists keep, and what that does under pressure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from contextlib import nullcontext

from bench import guest
from bench.compare import BASE, POLICY, Metric, Task, events, rows_of
from bench.table import Row
from guests.report import ToolError

HELD_METRIC = "seconds (of 10) until raised lists are empty"
HELD_LOAD = "-w 64 -r 16"
HELD_WORDS = "after 64 MiB x 16"
HELD_SECONDS = 10.0
HELD_EVERY = 0.5
# Empty of what raising them put there: of what they hold without, so much may come
# on top, and so many pages.
HELD_SHARE = 0.1
HELD_SLACK = 512
HELD_TARGET = 5.0


def seconds_held(curve: Sequence[tuple[float, int]], limit: float) -> float:
    """When the lists came to hold at most `limit` pages for good; infinite: never."""
    since = math.inf
    for at, pages in curve:
        since = min(since, at) if pages <= limit else math.inf
    return since


def held(task: Task) -> list[Row]:
    """How long the lists keep memory after a load, without livemm and in each mode."""
    plan = guest.Plan(f"pcp-held-{task.image.name}", task.image)

    def load(side: str) -> None:
        plan.program("held", side, guest.PAGETOUCH, HELD_LOAD, seconds=HELD_SECONDS,
                     every=HELD_EVERY)

    load(BASE)
    task.load_module(plan)
    for mode in task.modes:
        with task.on(plan, f" {mode}", mode):
            load(mode)
    results = guest.run(plan)

    # Before any load, for a later side begins with what the one before it left in the
    # lists; and how full these are by chance is no claim: they may be full.
    first = results[BASE]
    limit = max(first["before"], first["default"]) * (1 + HELD_SHARE) + HELD_SLACK
    return [
        Row(task.image.name, HELD_WORDS, HELD_METRIC, seconds_held(first["curve"], limit),
            seconds_held(results[mode]["curve"], limit), HELD_TARGET, mode,
            {"limit": limit, BASE: first, POLICY: results[mode]})
        for mode in task.modes
    ]


PRESSURE_METRIC = "events a run under memory pressure, mean"
RUNS = 5
# No swap: what the hog and the page-touch program hold cannot be reclaimed.  They
# leave the page cache so little that a list kept as large as it may ever be (12.5 %
# of the zone, all lists together) would be missed.
PRESSURE_MEMORY = "1G"
# With pauses: memory that is free then, and kept in a list, is what the page cache
# has to do without.  (What a careless policy would show: stock 6.1 with all lists at
# their largest, percpu_pagelist_high_fraction = 8, had 28 % more kswapd wake-ups than
# without in three runs of half this load, and 12 % more if it did not pause.)
PRESSURE_LOAD = "-w 40 -r 16 -H 100 -F 300"
LEAVE_MIB = 112
# A disk of nothing but a hole: to read it costs the host nothing, and fills the
# guest's page cache, which a guest on the host's file system has no use for.
DISK = "livemm-bench"
DISK_MIB = 1536


def noise(base: Sequence[float], policy: Sequence[float]) -> float:
    """Two standard errors of the difference of the means.

    Two sides that are alike differ by less 19 times in 20: a limit at the base's mean itself
    would fail every other time for a policy that does nothing.
    """
    return 2 * math.sqrt((statistics.variance(base) + statistics.variance(policy)) / RUNS)


def event(*names: str, claim: float | None = 1.0) -> Metric:
    """Lines of /proc/vmstat, summed: no more of it than without the policy."""
    return Metric(PRESSURE_METRIC, events(*names), claim, noise)


EVENTS = {
    "allocation stalls": event("allocstall_"),
    "kswapd wake-ups": event("pageoutrun"),
    "kswapd kept awake": event("kswapd_low_wmark_hit_quickly", claim=None),
    # One row: what kswapd does not scan the allocators do, and the other way round.
    "pages scanned": event("pgscan_kswapd", "pgscan_direct"),
    "OOM kills": event("oom_kill"),
}
# The guest was not under pressure at all if the base shows none of these.
NEEDED = ("allocation stalls", "kswapd wake-ups")


def pressure(task: Task) -> list[Row]:
    """What reclaim does in the same load, off and in each mode, in turn in one boot."""
    image = task.image
    plan = guest.Plan(
        f"pcp-pressure-{image.name}",
        image,
        memory=PRESSURE_MEMORY,
        disks={DISK: DISK_MIB},
        allowed=[guest.OOM_PRINTS],
    )

    def load(name: str) -> None:
        plan.program("pressure", name, guest.PAGETOUCH, PRESSURE_LOAD, serial=DISK, leave=LEAVE_MIB)

    # Loaded before the first run, so that every run of the base is like the others.
    # The first load after boot is not: it takes longer, with more allocation stalls.
    task.load_module(plan)
    load("warm-up")
    sides = [BASE, *task.modes]
    for run in range(RUNS):
        # In another order each run, so that each side comes first, and last, in turn.
        first = run % len(sides)
        for side in sides[first:] + sides[:first]:
            with nullcontext() if side == BASE else task.on(plan, f" {side} {run}", side):
                load(f"{side} {run}")
    results = guest.run(plan)
    runs = {side: [results[f"{side} {run}"] for run in range(RUNS)] for side in sides}
    for words in NEEDED:
        if not any(EVENTS[words].values(runs[BASE])):
            raise ToolError(f"{image.name}: no pressure: the base shows no {words}")
    rows = []
    for mode in task.modes:
        both = {BASE: runs[BASE], POLICY: runs[mode]}
        for words, metric in EVENTS.items():
            rows += rows_of(image, words, [metric], mode, both)
    return rows
