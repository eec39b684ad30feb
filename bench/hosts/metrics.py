# SPDX-License-Identifier: GPL-2.0-only
"""Every figure that is measured on every host; of each, less is better."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from bench import compare, guest
from bench.agent import CROSSINGS
from bench.compare import events

Value = Callable[[guest.Result], float]
# Requests of so many pages and more are opportunities: who asks can do without.
COSTLY_ORDER = 3
PAGES_A_MIB = 256


def crossed(result: guest.Result, pages: bool) -> float:
    """What crossed zone->lock for each 1000 pages that the kernel allocated."""
    hits = sum(count << int(order) if pages else count
               for event in CROSSINGS for order, count in result["hits"][event].items())
    return float(1000 * hits / max(events("pgalloc_")(result), 1))


def failed(result: guest.Result, least: int, most: int, which: str = "failed") -> float:
    """Requests of these orders that got nothing: all, or atomic ones."""
    return float(sum(count for order, count in result[which].items()
                     if least <= int(order) <= most))


def instructions(result: guest.Result) -> float:
    """Millions that all tasks ran, without what counting crossings of zone->lock costs."""
    times = sum(count for event in CROSSINGS for count in result["hits"][event].values())
    return float(result["cpu_ns"] - times * result["cost_ns"]) / 1e6


def remote_faults(result: guest.Result) -> float:
    """Hint faults of pages that another node has."""
    return events("numa_hint_faults")(result) - events("numa_hint_faults_local")(result)


def flushes(*reasons: int) -> Value:
    """TLB flushes for one of these reasons, as enum tlb_flush_reason numbers them."""
    return lambda result: float(sum(result["flushes"].get(str(reason), 0) for reason in reasons))


def scans(figure: Callable[[list[int]], float]) -> Value:
    """A figure of the microseconds of all calls of task_numa_work()."""
    return lambda result: float(figure(result.get("scans") or [0]))


def flips(result: guest.Result) -> float:
    """How often a task's preferred node became another: its first one is none of these."""
    return float(sum(hits - 1 for hits in result.get("preferred", {}).values()))


def owner_us(result: guest.Result, pick: Callable[[list[float]], float]) -> float:
    """Of the times that an owner of CMA waits for its pages."""
    return pick([one["ns"] / 1e3 for one in result["load"].get("allocations", [])] or [0.0])


def owner_failed(result: guest.Result) -> float:
    """Requests of an owner of CMA that got nothing."""
    return float(sum(bool(one["errno"]) for one in result["load"].get("allocations", [])))


def mean(*names: str) -> Value:
    """The mean of the sum of samples."""
    return lambda result: statistics.fmean(
        sum(sample[name] for name in names) for sample in result["samples"])


def hidden(result: guest.Result) -> float:
    """MiB that are free, and in neither MemFree nor MemAvailable: in lists and depots."""
    return mean("lists", "depots")(result) / PAGES_A_MIB


def not_available(result: guest.Result) -> float:
    """MiB that are not in MemAvailable, at most: earlyoom kills when these are too many."""
    return float(max(sample["total"] - sample["available"] for sample in result["samples"])) / 1024


METRICS: Mapping[str, Value] = {
    "pages over zone->lock, of 1000": lambda result: crossed(result, True),
    "blocks over zone->lock, of 1000 pages": lambda result: crossed(result, False),
    "instructions, millions": instructions,
    "seconds of the guest": lambda result: float(result["seconds"]),
    "us a unit of work":
        lambda result: 1e6 * result["seconds"] / (
            result["load"].get("work") or result["load"].get("done") or float("inf")),
    "kswapd wake-ups": events("pageoutrun"),
    "pages scanned by kswapd": events("pgscan_kswapd"),
    "pages scanned directly": events("pgscan_direct"),
    "allocation stalls": events("allocstall_"),
    "pages refaulted": events("workingset_refault_"),
    "pages swapped out": events("pswpout", "zswpout"),
    "pages swapped in": events("pswpin", "zswpin"),
    "watermark boost, pages": mean("boost"),
    "fall-backs that mix types": compare.fallbacks(),
    "huge faults that failed": events("thp_fault_fallback"),
    "direct compactions": events("compact_stall"),
    "kcompactd wake-ups": events("compact_daemon_wake"),
    "pages migrated": events("pgmigrate_success"),
    "failed requests, orders 0 to 3": lambda result: failed(result, 0, COSTLY_ORDER),
    "failed requests, orders 4 and more": lambda result: failed(result, COSTLY_ORDER + 1, 99),
    "failed atomic requests, order 0": lambda result: failed(result, 0, 0, "failed_atomic"),
    "failed atomic requests, orders 1 to 3":
        lambda result: failed(result, 1, COSTLY_ORDER, "failed_atomic"),
    "blocks reserved for atomic requests": lambda result: float(result["reserved"]),
    "free memory not in huge blocks, %": lambda result: 100 * (1 - float(result["blocks"])),
    "huge pages not to be had afterwards":
        lambda result: compare.huge_missing(result) if "huge" in result else 0.0,
    "pages from another node": events("numa_miss"),
    "hint faults": events("numa_hint_faults"),
    "hint faults of pages of another node": remote_faults,
    "task_numa_work, us of all calls": scans(sum),
    "task_numa_work, us of the longest call": scans(max),
    "changes of a preferred node": flips,
    "pages promoted": events("pgpromote_success"),
    "pages demoted": events("pgdemote_"),
    "TLB flushes at a task switch": flushes(0),
    "TLB flushes sent to other CPUs": flushes(4),
    "TLB flushes of a CPU's own": flushes(2, 3),
    "ranges taken from a VM": lambda result: float(result["load"].get("invalidations", 0)),
    "mean wait for CMA, us": lambda result: owner_us(result, statistics.fmean),
    "longest wait for CMA, us": lambda result: owner_us(result, max),
    "failed requests for CMA": owner_failed,
    "OOM kills": events("oom_kill"),
    "longest wake-up delay, us": lambda result: float(result["late"].get("worst_ns", 0)) / 1e3,
    "wake-up delay of one in 100, us":
        lambda result: float(result["late"].get("hundredth_ns", 0)) / 1e3,
    "free, and not in MemAvailable, MiB": hidden,
    "not in MemAvailable, at most, MiB": not_available,
    "interrupts": lambda result: float(result["stat"]["intr"]),
    "context switches": lambda result: float(result["stat"]["ctxt"]),
}
