# SPDX-License-Identifier: GPL-2.0-only
"""The cma claims: what a reserve costs a build that does not use it, and its user then.

Three sides: a guest with no reserve, one with a reserve and the kernel's own rule, and one
with the policy.  What a load leaves in memory lasts, so each has boots of its own; boots of
one seed differ in nothing but the side.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from bench import compare, guest, pcp
from bench.compare import POLICY, Metric
from bench.pageblock import IDLE_CONFIG, events
from bench.table import Row
from guests.kernels import Image
from guests.report import say

# Stock kernels of the matrix have no CMA.
KERNEL = "cma"
# Knobs besides the usual.  With enabled=0 nothing is loaded, and stock is all there is to
# see: against no reserve, and against itself.
CONFIG = ""
CMA = compare.Policy("cma", ("ratio", "cma_first", "regular_first"), ("cma_first",))

NONE, STOCK, AGAIN = "no CMA", "stock", "stock again"

COUNTERS = f"{guest.DEBUGFS}/cma/counters"
STATE = f"{guest.DEBUGFS}/cma/state"

RESERVE_MIB = 512
MEMORY = "1G"
SCRATCH = {"livemm-files": 512, "livemm-swap": 1024}

SWAP = "swap"
LATENCY = "latency"
COST = "cost"
PARTS = (SWAP, LATENCY, COST)

# Without a reserve this just fits, and swaps a little.  What the reserve costs shows where
# the kernel's own memory is a good part of the whole, here page tables: with little of it
# 6.1 by its own rule swaps no more than without a reserve.
LOAD = "-j 6 -n 120 -H 280 -K 520"
LOAD_WORDS = "build-like, 6 at once"
SEEDS = (1, 2, 3)

WORKERS = (1, 4, 8, 16)
# 8 MiB, 20 times.
ALLOCATIONS = "-t 20 -l 2048 -w 200"
LATENCY_SEEDS = (1, 2)

Run = guest.Result


def during(workers: int) -> str:
    """The load beside allocations: more workers are more pressure, up to the other load's."""
    return f"-j {workers} -H 280 -K {min(85 * workers, 520)}"


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


LATENCY_METRICS = (
    Metric("mean latency, 10^6 instructions", millions("ns", statistics.fmean), 1.0),
    Metric("longest, 10^6 instructions", millions("ns", max), 1.0),
    Metric("mean of its own, 10^6 instructions", millions("own_ns", statistics.fmean)),
    Metric("retries", lambda run: float(run["traced"]["cma_alloc_busy_retry"]), 1.0),
    Metric("failures",
           lambda run: float(sum(1 for one in run["allocations"] if one["errno"])), 1.0),
    Metric("pages migrated", events("pgmigrate_success")),
    Metric("migrations that failed", events("pgmigrate_fail")),
)


def reserve(side: str) -> list[str]:
    """What the kernel's command line says of CMA."""
    return [] if side == NONE else [f"cma={RESERVE_MIB}M"]


def boot(image: Image, part: str, side: str, seed: int, config: str) -> list[Run]:
    """One boot of a side; the runs of its loads."""
    plan = guest.Plan(
        f"cma-{part}-{side.replace(' ', '-')}-{seed}-{image.name}",
        image,
        icount=True,
        memory=MEMORY,
        scratch=SCRATCH,
        kargs=reserve(side),
        # The OOM killer prints one, and what it kills is in the figures.
        allowed=[r"\bCall Trace:"],
    )
    # On all sides, so that they differ in the policy alone.
    if config != IDLE_CONFIG:
        compare.load_module(plan)
    plan.workplace("workplace")
    if side == POLICY:
        CMA.enable(plan, config)
    loads = {SWAP: LOAD} if part == SWAP else {
        f"{LATENCY} {workers}": f"{during(workers)} {ALLOCATIONS}" for workers in WORKERS
    }
    for name, args in loads.items():
        plan.build_load(name, f"{args} -s {seed}", contiguous=part == LATENCY)
        if side == POLICY:
            plan.add("read", f"counters {name}", path=COUNTERS)
            plan.add("read", f"state {name}", path=STATE)
    results = guest.run(plan, timeout=3600)
    if side == POLICY:
        CMA.check(image, results, CMA.mode(config))
        for name in loads:
            results[name]["policy"] = {
                what: results[f"{what} {name}"]["text"] for what in ("counters", "state")
            }
    say(f"    {image.name}: {part}, {side}, seed {seed}: done")
    return [results[name] for name in loads]


def swap(image: Image, config: str, seeds: Sequence[int]) -> list[Row]:
    """The load: without a reserve, with one, and with the policy."""
    order = [NONE, STOCK, *([] if config == IDLE_CONFIG else [POLICY])]
    runs: dict[str, list[Run]] = {side: [] for side in order}
    for seed in seeds:
        for side in order:
            runs[side] += boot(image, SWAP, side, seed, config)
    words = f"{LOAD_WORDS}, CMA {RESERVE_MIB} MiB"
    return compare.rows_of(image, words, SWAP_METRICS, CMA.mode(config), runs, NONE)


def latency(image: Image, config: str) -> list[Row]:
    """Allocations from the reserve while loads run."""
    order = [STOCK, AGAIN if config == IDLE_CONFIG else POLICY]
    found: dict[str, list[list[Run]]] = {side: [] for side in order}
    for seed in LATENCY_SEEDS:
        for side in order:
            found[side].append(boot(image, LATENCY, side, seed, config))
    rows: list[Row] = []
    for number, workers in enumerate(WORKERS):
        runs = {side: [boots[number] for boots in found[side]] for side in order}
        rows += compare.rows_of(image, f"8 MiB x 20, {workers} at once", LATENCY_METRICS,
                                CMA.mode(config), runs, STOCK)
    return rows


def cost(image: Image, config: str) -> list[Row]:
    """Instructions of a page fault on a load that the policy cannot help."""
    return pcp.policy_cost(image, CMA, None if config == IDLE_CONFIG else config, reserve(STOCK))


def measure(images: Sequence[Image], quick: bool, config: str, only: Sequence[str]) -> list[Row]:
    """Every row, or those of the parts named.

    quick: the load, one boot a side.
    """
    rows: list[Row] = []
    for image in images:
        if config != IDLE_CONFIG:
            guest.need_livemm(image)
        if quick or not only or SWAP in only:
            say(f"---- cma on {image.name}: {LOAD_WORDS}")
            rows += swap(image, config, SEEDS[:1] if quick else SEEDS)
        if not quick and (not only or LATENCY in only):
            say(f"---- cma on {image.name}: allocations under load")
            rows += latency(image, config)
        if not quick and (not only or COST in only):
            say(f"---- cma on {image.name}: {pcp.CHEAPEST_METRIC}")
            rows += cost(image, config)
    return rows
