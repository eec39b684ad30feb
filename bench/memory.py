# SPDX-License-Identifier: GPL-2.0-only
"""The pcp claims about memory: what the lists keep, and what that does under pressure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench import compare, guest
from bench.table import Row
from guests.kernels import Image
from guests.programs import pagetouch
from guests.report import ToolError

PCP = compare.Policy("pcp", ("depth", "event"), ("depth", "event"))

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


def held(image: Image, config: str) -> list[Row]:
    """How long the lists keep memory after a load, without livemm and in each mode."""
    guest.need_livemm(image)
    modes = PCP.chosen(config)
    plan = guest.Plan(f"pcp-held-{image.name}", image)

    def load(side: str) -> None:
        plan.add(
            "held",
            side,
            program=str(pagetouch()),
            args=HELD_LOAD.split(),
            seconds=HELD_SECONDS,
            every=HELD_EVERY,
        )

    load(compare.BASE)
    compare.load_module(plan)
    for mode in modes:
        PCP.enable(plan, config, f" {mode}", mode)
        load(mode)
        PCP.disable(plan)
    results = guest.run(plan, timeout=1800, show=compare.progress(image))

    # Before any load, for a later side begins with what the one before it left in the
    # lists; and how full these are by chance is no claim: they may be full.
    first = results[compare.BASE]
    limit = max(first["before"], first["default"]) * (1 + HELD_SHARE) + HELD_SLACK

    def kept(side: str) -> float:
        return seconds_held(results[side]["curve"], limit)

    rows = []
    for mode in modes:
        PCP.check(image, results, mode, f" {mode}")
        detail: dict[str, Any] = {"limit": limit}
        for key, side in (("base", compare.BASE), ("policy", mode)):
            detail[key] = {part: results[side][part] for part in ("before", "default", "curve")}
        rows.append(
            Row(image.name, HELD_WORDS, HELD_METRIC, kept(compare.BASE), kept(mode), HELD_TARGET,
                mode, detail)
        )
    return rows


PRESSURE_METRIC = "events a run under memory pressure, mean"
RUNS = 5
# Two sides that are alike differ by less than so many standard errors 19 times in
# 20.  A policy's mean may be that much above the base's: a limit at the base's mean
# itself would fail every other time for a policy that does nothing.
NOISE = 2.0
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
DISK_MIB = 1536


@dataclass(frozen=True)
class Event:
    """A row of the pressure table.

    words    how the tables call it
    names    lines of /proc/vmstat, summed; all that begin so if one ends in "_"
    claimed  no more of it than without the policy
    needed   the guest was not under pressure at all if the base shows none
    """

    words: str
    names: tuple[str, ...]
    claimed: bool = True
    needed: bool = False

    def covers(self, name: str) -> bool:
        """Whether a line of /proc/vmstat counts."""
        return name.startswith(self.names) if self.names[0].endswith("_") else name in self.names


EVENTS = (
    Event("allocation stalls", ("allocstall_",), needed=True),
    Event("kswapd wake-ups", ("pageoutrun",), needed=True),
    Event("kswapd kept awake", ("kswapd_low_wmark_hit_quickly",), claimed=False),
    # One row: what kswapd does not scan the allocators do, and the other way round.
    Event("pages scanned", ("pgscan_kswapd", "pgscan_direct")),
    Event("OOM kills", ("oom_kill",)),
)


def order_of(run: int, names: Sequence[str]) -> list[str]:
    """The sides in another order each run, so that each comes first, and last, in turn."""
    first = run % len(names)
    return [*names[first:], *names[:first]]


def pressure(image: Image, config: str) -> list[Row]:
    """What reclaim does in the same load, off and in each mode, in turn in one boot."""
    guest.need_livemm(image)
    modes = PCP.chosen(config)
    plan = guest.Plan(
        f"pcp-pressure-{image.name}",
        image,
        memory=PRESSURE_MEMORY,
        disk=DISK_MIB,
        # The OOM killer, whose kills are a result here, prints one.
        allowed=[r"\bCall Trace:"],
    )

    def load(name: str) -> None:
        plan.add(
            "pressure",
            name,
            program=str(pagetouch()),
            args=PRESSURE_LOAD.split(),
            serial=guest.DISK_SERIAL,
            leave=LEAVE_MIB,
            events=[name for event in EVENTS for name in event.names],
        )

    # Loaded before the first run, so that every run of the base is like the others.
    # The first load after boot is not: it takes longer, with more allocation stalls.
    compare.load_module(plan)
    load("warm-up")
    for run in range(RUNS):
        for side in order_of(run, [compare.BASE, *modes]):
            if side != compare.BASE:
                PCP.enable(plan, config, f" {side} {run}", side)
            load(f"{side} {run}")
            if side != compare.BASE:
                PCP.disable(plan)
    results = guest.run(plan, timeout=3600, show=compare.progress(image))
    for mode in modes:
        for run in range(RUNS):
            PCP.check(image, results, mode, f" {mode} {run}")
    return pressure_rows(image, results, modes)


def counts_of(results: guest.Results, side: str, event: Event) -> dict[str, Any]:
    """An event in each run of a side, its sum and what that is made of."""
    runs = [results[f"{side} {run}"]["events"] for run in range(RUNS)]
    parts = {name: [run[name] for run in runs] for name in runs[0] if event.covers(name)}
    sums = [sum(values) for values in zip(*parts.values(), strict=True)]
    return {"runs": sums, "min": min(sums), "max": max(sums), "parts": parts}


def standard_error(base: Sequence[int], policy: Sequence[int]) -> float:
    """Of the difference of the means of two sides."""
    return math.sqrt((statistics.variance(base) + statistics.variance(policy)) / RUNS)


def pressure_rows(image: Image, results: guest.Results, modes: Sequence[str]) -> list[Row]:
    """A row for each event and mode: the mean of the runs, each run in the detail."""
    rows = []
    for mode in modes:
        for event in EVENTS:
            base = counts_of(results, compare.BASE, event)
            policy = counts_of(results, mode, event)
            if event.needed and not base["max"]:
                raise ToolError(f"{image.name}: no pressure: the base shows no {event.words}")
            mean = statistics.fmean(base["runs"])
            noise = NOISE * standard_error(base["runs"], policy["runs"])
            detail = {"base": base, "policy": policy, "noise": noise}
            rows.append(
                Row(image.name, event.words, PRESSURE_METRIC, mean,
                    statistics.fmean(policy["runs"]), mean + noise if event.claimed else None,
                    mode, detail)
            )
    return rows
