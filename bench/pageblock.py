# SPDX-License-Identifier: GPL-2.0-only
"""The pageblock claims: huge pages under a build's load, and what that costs.

Fragmentation is history: a load leaves the blocks of its guest otherwise than it found
them, and no step puts them back.  So each side has boots of its own, with one load each,
in turn, and two boots of a pair differ in nothing but the policy.  Only what a load without
history costs, storms of page tables on one node, is measured in turns in one boot.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from bench import compare, cost, guest
from bench.compare import Bench, Metric, Part, Task, events, fail_rate, huge_missing
from bench.table import Row
from guests.programs import compile_program, pagetouch
from guests.report import ROOT, ToolError

MEMORY = "1G"
# Swap is a disk too: with none there would be little to reclaim.
DISKS = {"livemm-files": 1536, "livemm-swap": 1024}
# Huge pages make their daemon raise this to 45 MiB whatever the machine has: 0.1 % of a
# server's 64 GiB, but 4.5 % of this guest, which would keep whole blocks free under any
# load.  So it is what the kernel takes for so much memory without huge pages.
MIN_FREE_KIB = 4096

# What the rows are called: the policy has no modes.
MODE = "claim"

PART = "load"
PAIR = "load2"  # of --only: the same on two CPUs
TOGETHER = "beside"  # of --only: the same beside other policies
STORM = "node"  # of --only: page tables asked for on one of two nodes
LOAD_WORDS = "build-like, under pressure"
LOAD = "-r 16"
# Boots of one seed, one a side, differ in the side alone; every second seed runs the other
# way round, so that no side gains from what the host does meanwhile.
SEEDS = (1, 2, 3, 4, 5)
# The kernel's own answer, merged with e3aa7df331bc ("mm: page_alloc: defrag_mode", 6.15).
DEFRAG = "vm.defrag_mode=1"
HAS_DEFRAG = ("7.2",)

# The policy beside those that size and keep lists of free pages, each with its defaults.
OTHERS = ("pcp", "zonelock")
BESIDE = "beside pcp and zonelock"

# The share of huge faults that must fail without the policy, as it did for the series;
# with less the load shows nothing.
FAILS = 8.0
# Requests for one page, as the module that times slow paths tells them apart.
CLASSES = ("atomic", "unmovable", "movable")
MOVABLE = 1


def blocks(name: str) -> Callable[[guest.Result], float]:
    """Blocks of a kind after the load."""
    return lambda result: float(result["blocks"]["after"][name])


def mixed(when: str, types: Sequence[str]) -> Callable[[guest.Result], float | None]:
    """Blocks of these types in which the policy's census finds pages of others."""

    def value(result: guest.Result) -> float | None:
        lines = result["blocks"][when].get("census", "").splitlines()
        header = lines[0].split()[1:] if lines else []
        # Not there, or with a last line that says what was left out.
        if "mixed" not in header or lines[-1].startswith("#"):
            return None
        column = header.index("mixed")
        rows = (line.split() for line in lines[1:])
        return float(sum(int(row[column]) for row in rows if row[2] in types))

    return value


def count(name: str) -> Callable[[guest.Result], float]:
    """A counter of the policy; 0 without the policy."""

    def value(result: guest.Result) -> float:
        counters = result.get("policy", {}).get("counters", "")
        return float(dict(line.split() for line in counters.splitlines()).get(name, 0))

    return value


def kernel_share(result: guest.Result) -> float:
    """Percent of all blocks that the kernel's own pages are in; the detail has the pages."""
    after = result["blocks"]["after"]
    total = sum(after[f"blocks_{what}"] for what in ("free", "lru", "kernel", "mixed"))
    return float(100 * (after["blocks_kernel"] + after["blocks_mixed"]) / max(total, 1))


def slow(name: str, share: float) -> Callable[[guest.Result], float | None]:
    """Nanoseconds within which a share of the slow paths ended; None: there were none."""

    def value(result: guest.Result) -> float | None:
        total, done = sum(count for _, count in result[name]), 0
        for limit, count in result[name]:
            done += count
            if done >= share * total:
                return float(limit)
        return None

    return value


def slow_count(result: guest.Result, names: Sequence[str]) -> float:
    """How many requests for one page took the slow path."""
    return float(sum(count for name in names for _, count in result[name]))


def slow_ms(result: guest.Result, names: Sequence[str]) -> float:
    """Milliseconds of the slow paths, each as long as its bucket allows."""
    return float(sum(limit * count for name in names for limit, count in result[name]) / 1e6)


def slow_metrics(name: str) -> Iterator[Metric]:
    """The slow paths of a class of requests.  How many there are differs from boot to boot."""
    what = f"{name} slow paths"
    yield Metric(what, lambda result: slow_count(result, [name]))
    yield Metric(f"{what}, ms in all", lambda result: slow_ms(result, [name]))
    for words, share in (("p50", 0.5), ("p99", 0.99), ("longest", 1.0)):
        yield Metric(f"{what}, ns, {words}", slow(name, share))


METRICS = (
    Metric("huge faults that fail, %", fail_rate, most={"": 2.0}),
    Metric("fall-backs", compare.fallbacks(mix=False)),
    Metric("fall-backs that mix types", compare.fallbacks()),
    Metric("unmovable into movable blocks", compare.fallbacks(into=[MOVABLE]), 0.1),
    Metric("movable blocks with other pages, before", mixed("before", ["movable"])),
    Metric("movable blocks with other pages, after", mixed("after", ["movable"]), most={"": 2.0}),
    Metric("other blocks with movable pages, after", mixed("after", ["unmovable", "reclaimable"])),
    Metric("blocks mixed afterwards", blocks("blocks_mixed")),
    Metric("blocks with few kernel pages", blocks("blocks_few_kernel")),
    Metric("blocks with kernel pages, %", kernel_share),
    Metric("allocation stalls", events("allocstall_"), 1.0, chance=compare.spread),
    Metric("kswapd wake-ups", events("pageoutrun")),
    Metric("kswapd pages scanned", events("pgscan_kswapd")),
    Metric("kswapd pages reclaimed", events("pgsteal_kswapd")),
    Metric("direct pages scanned", events("pgscan_direct")),
    Metric("direct pages reclaimed", events("pgsteal_direct")),
    Metric("compaction, pages scanned", events("compact_migrate_scanned", "compact_free_scanned")),
    Metric("compaction, by its daemon",
           events("compact_daemon_migrate_scanned", "compact_daemon_free_scanned")),
    Metric("direct compactions", events("compact_stall")),
    Metric("direct compactions failed", events("compact_fail")),
    Metric("swapped in", events("pswpin")),
    Metric("swapped out", events("pswpout")),
    Metric("refaults", events("workingset_refault_")),
    Metric("swap and refaults",
           events("pswpin", "pswpout", "workingset_refault_file"), 1.03),
    Metric("order-0 slow paths", lambda result: slow_count(result, CLASSES)),
    Metric("order-0 slow paths, ms in all", lambda result: slow_ms(result, CLASSES)),
    *(metric for name in CLASSES for metric in slow_metrics(name)),
    Metric("atomic requests failed", lambda result: float(result["failed"]["atomic"]), 1.0),
    # A failed one of these costs nothing: its maker goes on to ask for less.
    Metric("casual requests failed", lambda result: float(result["failed"]["casual"])),
    Metric("others failed, order 3 or less", lambda result: float(result["failed"]["waiting"])),
    Metric("page allocation failures logged", lambda result: float(result["complaints"])),
    Metric("OOM kills", events("oom_kill"), 1.0),
    Metric("hugetlb pages not to be had", huge_missing, 1.0, chance=compare.spread),
    Metric("pages moved by the policy", count("moved"), most={"6.1": 25000.0, "6.12": 40000.0}),
    Metric("blocks made by the policy", count("made")),
    Metric("seconds of the guest", lambda result: float(result["seconds"]), 1.03),
)


# What the policy is for: beside others within a tenth of alone, and what the runs differ by.
OWN = ("huge faults that fail, %", "movable blocks with other pages, after")
BESIDE_METRICS = tuple(
    replace(metric, claim=1.1 if metric.words in OWN else None, chance=compare.spread, most={})
    for metric in METRICS
)


def boot(task: Task, side: str, seed: int, cpus: int = 1) -> guest.Result:
    """One boot of a side, with one load; what it left, and what the policy says of it."""
    image = task.image
    on = side in (compare.POLICY, BESIDE) and not task.alone
    plan = guest.Plan(
        f"pageblock-{re.sub('[^a-z0-9_]', '-', side)}-{seed}-{cpus}-{image.name}",
        image,
        icount=cpus == 1,
        shift=-1 if cpus == 1 else 0,
        cpus=cpus,
        memory=MEMORY,
        disks=DISKS,
        huge="madvise",
        allowed=[guest.OOM_PRINTS],
    )
    folder = guest.build_modules(image, "fragload/slowpath")
    plan.add("insmod", "insmod lmm_slowpath", path=str(folder / "lmm_slowpath.ko"))
    plan.add("write", "min_free_kbytes", path="/proc/sys/vm/min_free_kbytes",
             text=str(MIN_FREE_KIB))
    if side == DEFRAG:
        plan.add("write", DEFRAG, path="/proc/sys/vm/defrag_mode", text="1")
    # On all sides, so that they differ in the policy alone, and its census is there.
    task.load_module(plan)
    if on:
        task.enable(plan)
    for policy in OTHERS if side == BESIDE else ():
        plan.add("write", f"{policy} on", up=1, text="enabled=1",
                 path=f"{guest.DEBUGFS}/{policy}/config")
    plan.program("fragment", PART, "fragload", f"{LOAD} -s {seed}", disks=list(DISKS))
    if on:
        task.read(plan, "counters", PART)
        task.read(plan, "state", PART)

    def words(result: guest.Result) -> str:
        if "extfrag" not in result:
            return ""
        return f"{side}, seed {seed}: {fail_rate(result):.1f} % of huge faults fail"

    return guest.run(plan, words)[PART]


def load_rows(task: Task, cpus: int = 1) -> list[Row]:
    """The load, in boots of all sides; quick: one boot a side."""
    defrag = [DEFRAG] if task.image.name in HAS_DEFRAG else []
    loads: dict[str, list[guest.Result]] = {
        side: [] for side in (compare.BASE, *defrag, compare.POLICY)
    }
    for seed in SEEDS[:1] if task.quick else SEEDS:
        for side in loads if seed % 2 else reversed(loads):
            loads[side].append(boot(task, side, seed, cpus))
    mean = statistics.fmean(fail_rate(run) for run in loads[compare.BASE])
    if mean < FAILS:
        raise ToolError(f"{task.image.name}: {mean:.1f} % of huge faults fail without the policy: "
                        f"the load shows nothing below {FAILS:.0f} %")
    words = LOAD_WORDS if cpus == 1 else f"{LOAD_WORDS}, {cpus} CPUs"
    return compare.rows_of(task.image, words, METRICS, task.mode, loads)


def beside_rows(task: Task) -> list[Row]:
    """The policy alone, and beside others, in boots of both."""
    loads: dict[str, list[guest.Result]] = {side: [] for side in (compare.POLICY, BESIDE)}
    for seed in SEEDS[:1] if task.quick else SEEDS:
        for side in loads if seed % 2 else reversed(loads):
            loads[side].append(boot(task, side, seed))
    return compare.rows_of(task.image, f"{LOAD_WORDS}, {BESIDE}", BESIDE_METRICS,
                           task.mode, loads, base=compare.POLICY, held=BESIDE)


# Storms in one boot, each as often with the policy as without; neither side is always first.
STORMS = (compare.BASE, compare.POLICY, compare.POLICY, compare.BASE) * 3
STORM_TABLES = 15000
STORM_WORDS = f"{STORM_TABLES:,} page tables on one of two nodes"
# What is mixed or missing is left so: the filter is to be seen alone.
STORM_KNOBS = "move_pages_per_s=0"
STORM_METRICS = (
    # 7.2 itself takes pages of the other node, more or fewer from storm to storm.
    Metric("page tables from the other node", lambda run: float(run["foreign"]), 1.0,
           chance=compare.two_errors),
    Metric("direct reclaims", events("allocstall_"), 1.0),
    Metric("direct pages scanned", events("pgscan_direct"), 1.0),
    Metric("MiB free before", lambda run: float(run["free"] / 256)),
)


def storm_rows(task: Task) -> list[Row]:
    """Storms of page tables, in turn without and with the policy, in one boot."""
    image = task.image
    plan = guest.Plan(f"pageblock-{STORM}-{image.name}", image, nodes=2, memory="512M")
    task.load_module(plan)
    if not task.alone:
        task = replace(task, config=",".join(filter(None, [STORM_KNOBS, task.config])))
    plan.add("write", "compaction_proactiveness", text="0",
             path="/proc/sys/vm/compaction_proactiveness")
    tables = guest.OUT / "pagetables"
    compile_program(tables, [ROOT / "tests/programs/pagetables.c"])
    args = ["-m", "bench.storm", str(pagetouch()), str(tables), str(STORM_TABLES)]
    runs: dict[str, list[str]] = {side: [] for side in (compare.BASE, compare.POLICY)}
    for place, side in enumerate(STORMS[:2] if task.quick else STORMS):
        run = f"storm {place} {side}"
        runs[side].append(run)
        on = side == compare.POLICY and not task.alone
        with task.on(plan, f" {run}") if on else nullcontext():
            plan.add("program", run, program="/usr/bin/python3", args=args)

    def words(result: guest.Result) -> str:
        return f"{result['foreign']} from the other node" if "foreign" in result else ""

    results = guest.run(plan, words)
    return compare.rows_of(image, STORM_WORDS, STORM_METRICS, task.mode, {
        side: [results[name] for name in names] for side, names in runs.items()
    })


BENCH = Bench(
    "pageblock", (MODE,), (MODE,),
    (Part((PART,), load_rows, LOAD_WORDS),
     Part((PAIR,), partial(load_rows, cpus=2), f"{LOAD_WORDS}, two CPUs"),
     Part((TOGETHER,), beside_rows, f"{LOAD_WORDS}, {BESIDE}"),
     Part((STORM,), storm_rows, STORM_WORDS), cost.PART),
    quick=(PART,),
    idle=True, has_modes=False,
)
