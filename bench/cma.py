# SPDX-License-Identifier: GPL-2.0-only
"""The cma claims: what a reserve costs a build that does not use it, and its user then.

Three sides: a guest with no reserve, one with a reserve and the kernel's own rule, and one
with the policy.  What a load leaves in memory lasts, so each has boots of its own; boots of
one seed differ in nothing but the side.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bench import compare, cost, guest
from bench.compare import POLICY, Bench, Metric, Part, Task, events
from bench.table import Row

NONE, STOCK, AGAIN = "no CMA", "stock", "stock again"

RESERVE_MIB = 512
MEMORY = "1G"
DISKS = {"livemm-files": 512, "livemm-swap": 1024}

BUILT = "cma"
SWAP = "swap"
LATENCY = "latency"
SWAP_FITS = "swap_fits"

# Without a reserve this just fits, and swaps a little.  What the reserve costs shows where
# the kernel's own memory is a good part of the whole, here page tables: with little of it
# 6.1 by its own rule swaps no more than without a reserve.
LOAD = "-j 6 -n 120 -H 280 -K 520"
LOAD_WORDS = "build-like, 6 at once"
SEEDS = (1, 2, 3)

# At times the page tables of that load are more than regular memory, and then nobody can help.
# Those of this load never are: nearly all of regular memory.
FITS_LOAD = "-j 6 -n 120 -H 355 -K 370"
FITS_WORDS = f"{LOAD_WORDS}, page tables fit"

# The load beside allocations: more workers are more pressure, up to the other load's.
WORKERS = {"latency1": "-j 1 -H 280 -K 85", "latency4": "-j 4 -H 280 -K 340",
           "latency8": "-j 8 -H 280 -K 520", "latency16": "-j 16 -H 280 -K 520"}
LATENCY_SEEDS = (1, 2, 3, 4, 5)

Run = guest.Result


def mib(name: str) -> Callable[[Run], float]:
    """A mean of /proc/meminfo during the load."""
    return lambda run: float(run[name]) / 1024


SWAP_METRICS = (
    Metric("swapped in and out, pages", events("pswpin", "pswpout"), 1.01, chance=compare.spread),
    Metric("swapped in", events("pswpin")),
    Metric("swapped out", events("pswpout")),
    Metric("refaults, anonymous", events("workingset_refault_anon")),
    Metric("refaults, file", events("workingset_refault_file")),
    Metric("mean MemFree, MiB", mib("MemFree")),
    Metric("mean CmaFree, MiB", mib("CmaFree")),
    Metric("free CMA at the end, pages", lambda run: float(run["left"].get("nr_free_cma", 0))),
    Metric("kswapd pages scanned", events("pgscan_kswapd")),
    Metric("kswapd pages reclaimed", events("pgsteal_kswapd")),
    Metric("direct pages scanned", events("pgscan_direct")),
    Metric("direct pages reclaimed", events("pgsteal_direct")),
    Metric("allocation stalls", events("allocstall_")),
    Metric("jobs killed", lambda run: float(run["lost"]), 1.0),
    Metric("instructions, 10^9", lambda run: float(run["busy"])),
    # Waits for the disk are the host's time.
    Metric("the same and waits", lambda run: float(run["ns"] / 1e9)),
)


def millions(name: str, pick: Callable[[Sequence[float]], float]) -> Callable[[Run], float]:
    """Of all allocations' times, which is an instruction a nanosecond."""
    return lambda run: pick([one[name] / 1e6 for one in run["allocations"]])


def percentile(percent: int) -> Callable[[Sequence[float]], float]:
    """The value that so many of a hundred do not exceed; 99: the second highest of a hundred."""
    return lambda values: sorted(values)[max(len(values) * percent // 100 - 1, 0)]


def surplus(run: Run) -> float:
    """Pages that the kernel has given, and zeroed, beyond one for each request."""
    return events("pgalloc_")(run) - events("numa_hit")(run)


LATENCY_METRICS = (
    Metric("mean latency, 10^6 instructions", millions("ns", statistics.fmean), 1.0),
    Metric("p90, 10^6 instructions", millions("ns", percentile(90)), 1.0),
    Metric("longest, 10^6 instructions", millions("ns", max), 1.0),
    Metric("mean of its own, 10^6 instructions", millions("own_ns", statistics.fmean)),
    Metric("retries", lambda run: float(run["traced"]["cma_alloc_busy_retry"]), 1.0),
    Metric("failures",
           lambda run: float(sum(1 for one in run["allocations"] if one["errno"])), 1.0),
    Metric("pages migrated", events("pgmigrate_success")),
    Metric("migrations that failed", events("pgmigrate_fail")),
    Metric("pages of blocks beyond the first", surplus),
    Metric("jobs done, of 10^9 instructions", lambda run: float(run["done"] / run["busy"])),
)

# Of the allocations of all boots.
POOLED_METRICS = (
    Metric("p99 of all boots, 10^6 instructions", millions("ns", percentile(99)), 1.0),
)

def reserve(side: str) -> list[str]:
    """What the kernel's command line says of CMA."""
    return [] if side == NONE else [f"cma={RESERVE_MIB}M"]


def workers(task: Task) -> list[str]:
    """Those of WORKERS that are wanted."""
    return [name for name in WORKERS if name in task.names or LATENCY in task.names]


def boot(task: Task, part: str, side: str, seed: int) -> list[Run]:
    """One boot of a side; the runs of its loads."""
    image = task.image
    plan = guest.Plan(
        f"cma-{part}-{side.replace(' ', '-')}-{seed}-{image.name}",
        image,
        icount=True,
        memory=MEMORY,
        disks=DISKS,
        kargs=reserve(side),
        allowed=[guest.OOM_PRINTS],
    )
    # On all sides, so that they differ in the policy alone.
    task.load_module(plan)
    owner = part not in (SWAP, SWAP_FITS)
    if owner and image.name != BUILT:
        # Has the files of CMA_DEBUGFS, which stock kernels are built without.
        plan.add("modprobe", "modprobe lmm_owner", module="lmm_owner")
    plan.program("workplace", "workplace", "cmaload", "", disks=list(DISKS))
    if side == POLICY:
        task.enable(plan)
    one = {SWAP: LOAD, SWAP_FITS: FITS_LOAD}
    loads = {part: one[part]} if part in one else {name: WORKERS[name] for name in workers(task)}
    for name, args in loads.items():
        plan.program("build_load", name, "cmaload", f"{args} -s {seed}",
                     contiguous=owner)
        if side == POLICY:
            task.read(plan, "counters", name)
            task.read(plan, "state", name)
    results = guest.run(plan, lambda run: f"{side}, seed {seed}: done" if "events" in run else "")
    return [results[name] for name in loads]


def swap(task: Task, part: str = SWAP, load: str = LOAD_WORDS) -> list[Row]:
    """The load: without a reserve, with one, and with the policy; quick: one boot a side."""
    order = [NONE, STOCK, *([] if task.alone else [POLICY])]
    runs: dict[str, list[Run]] = {side: [] for side in order}
    for seed in SEEDS[:1] if task.quick else SEEDS:
        for side in order:
            runs[side] += boot(task, part, side, seed)
    words = f"{load}, CMA {RESERVE_MIB} MiB"
    return compare.rows_of(task.image, words, SWAP_METRICS, task.mode, runs, NONE)


def pooled(task: Task, words: str, runs: dict[str, list[Run]]) -> list[Row]:
    """Of the allocations of all boots of a side together."""
    whole = {side: [{"allocations": [one for run in boots for one in run["allocations"]]}]
             for side, boots in runs.items()}
    return compare.rows_of(task.image, words, POOLED_METRICS, task.mode, whole, STOCK)


def latency(task: Task) -> list[Row]:
    """Allocations from the reserve while loads run."""
    order = [STOCK, AGAIN if task.alone else POLICY]
    found: dict[str, list[list[Run]]] = {side: [] for side in order}
    for seed in LATENCY_SEEDS:
        for side in order:
            found[side].append(boot(task, LATENCY, side, seed))
    rows: list[Row] = []
    for number, name in enumerate(workers(task)):
        runs = {side: [boots[number] for boots in found[side]] for side in order}
        words = f"8 MiB x 20, {name.removeprefix(LATENCY)} at once"
        rows += compare.rows_of(task.image, words, LATENCY_METRICS, task.mode, runs, STOCK)
        rows += pooled(task, words, runs)
    return rows


BENCH = Bench(
    "cma", ("keep", "ratio"), ("keep",),
    (Part((SWAP,), swap, LOAD_WORDS),
     Part((LATENCY, *WORKERS), latency, "allocations under load"),
     Part((SWAP_FITS,), partial(swap, part=SWAP_FITS, load=FITS_WORDS), FITS_WORDS),
     replace(cost.PART, rows=partial(cost.rows, kargs=reserve(STOCK)))),
    quick=(SWAP,),
    # Of the stock kernels only 7.2 is built with CMA, and `ratio` is not supported there.
    kernel=BUILT,
    stock=("7.2",),
    # Stock is all there is to see then: against no reserve, and against itself.
    idle=True,
)
