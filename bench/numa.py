# SPDX-License-Identifier: GPL-2.0-only
"""The numa claims: what NUMA balancing does under patterns of memory use, and its cost."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from bench import compare, guest
from bench.compare import BASE, POLICY, Bench, Chance, Metric, Part, Task, exact, never_more, spread
from bench.table import Row
from guests.report import say

# The guest's second is so many instructions, over all its CPUs: 2^30 / 2^3.
SHIFT = 3
CPUS = 2
NODES = 2
MEMORY = "1G"
# In turn, so that neither side gains from how the guest ages; a pattern that is
# named again with --only is run so often again.
ORDER = (BASE, POLICY, POLICY, BASE)
AFTER = "off after"
# When the kernel scans hangs on who runs at which tick, and a guest that counts
# instructions repeats itself: what differs from one pair of runs to the next is how
# long after the first thread the second begins.
STAGGER_MS = 70

# The program looks so often, in seconds, where the pages are.
LOOK = 0.1


def mean_seconds(result: guest.Result) -> float | None:
    """Seconds until the memory was local, phases in which it never was as a whole phase.

    A phase that begins with local memory does not count: it had nothing to move, since
    the one before did not come to an end either.
    """
    times = result.get("seconds_to_local", [])
    length = result["seconds"] / max(len(times), 1)
    moved = [length if at is None else at for at in times if at is None or at > LOOK]
    return statistics.fmean(moved or times) if times else None


def pages_remote(result: guest.Result) -> float | None:
    """Percent of pages not on the node of the thread that uses them, all of the run."""
    return 100 - result["pages_local"] if "pages_local" in result else None


def faults_remote(result: guest.Result) -> float | None:
    """Percent of hint faults that were remote."""
    faults = result["numa_hint_faults"]
    return 100 - 100 * result["numa_hint_faults_local"] / faults if faults else None


def time_each(result: guest.Result) -> float:
    """Microseconds of the guest, all CPUs together, for each unit of work."""
    return float(1e6 * result["seconds"] / max(result["work"], 1))


UPDATES = Metric("PTE updates", lambda result: result["numa_pte_updates"])
FAULTS = Metric("hint faults", lambda result: result["numa_hint_faults"])
# What is left out are pages that would be local: of the faults that remain more are
# remote, however well the pages lie.  So nothing is claimed of this share, but of:
FAULTS_REMOTE = Metric("hint faults remote, %", faults_remote)
PAGES_REMOTE = Metric("pages remote, mean of the run, %", pages_remote)
MIGRATED = Metric("pages migrated", lambda result: result["numa_pages_migrated"])
SECONDS = Metric("seconds until 90 % are local", mean_seconds)
WORK = Metric("us a unit of work", time_each)
# Ranges in which a scan armed entries; each is a TLB flush and a round of mmu notifiers.
FLUSHES = Metric("TLB flushes of scans", lambda result: result["flush_hits"])
FLUSHES_EACH = Metric("TLB flushes of a scan",
                      lambda result: result["flush_hits"] / max(result["scan_hits"], 1))
METRICS = (UPDATES, FAULTS, FAULTS_REMOTE, PAGES_REMOTE, MIGRATED, SECONDS, WORK, FLUSHES,
           FLUSHES_EACH)

HOT_SLOW = Metric("hot pages on the slow node at the end, %", lambda result: result["hot_slow_pct"])
COLD_SLOW = Metric("cold pages on the slow node at the end, %",
                   lambda result: result["cold_slow_pct"])
# Percent of the hot pages that mode promote is to have promoted.
PROMOTE = "promote"
PROMOTED = 95
TIER_METRICS = (
    HOT_SLOW, COLD_SLOW,
    Metric("us a unit of work, second half of the run",
           lambda result: 1e6 * result["seconds"] / 2 / result["work"], 1.01),
    Metric("us a unit of work, promotion included",
           lambda result: 1e6 * result["seconds"] / result["work_all"]),
    UPDATES, FAULTS, FLUSHES,
)

# Of every pattern: never more PTE updates, hint faults and flushes, at most 2 % less work, and
# no scan with more flushes.
NEVER_MORE = (UPDATES.words, FAULTS.words, FLUSHES.words)
ALWAYS = {**dict.fromkeys(NEVER_MORE, 1.0), WORK.words: 1 / 0.98, FLUSHES_EACH.words: 1.0}
PLACES = {PAGES_REMOTE.words: 1.0, SECONDS.words: 1.0}
# Besides, where there are next to none: the faults of programs of the harness.
FEW = {UPDATES.words: 64, FAULTS.words: 64, FLUSHES.words: 4}
# Chance, where runs of the base do not differ by more among themselves.
SLACK = {PAGES_REMOTE.words: 1, SECONDS.words: 2 * LOOK}


@dataclass(frozen=True)
class Pattern:
    """A run of the program of NUMA loads.

    args       for it
    claims     besides ALWAYS: the highest share of the base, by metric
    on         the claims on one kernel
    scan       limits of the kernel's own scans
    gigabytes  memory of the guest
    full       node 1 has no room for a page that is to move, from then on
    long       only by --only
    """

    args: str
    claims: Mapping[str, float] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    scan: Mapping[str, int] = field(default_factory=dict)
    gigabytes: int = 1
    full: bool = False
    long: bool = False

    def metrics(self, kernel: str) -> list[Metric]:
        """Every figure with what is claimed on a kernel; less than the base allows no chance."""
        claims = {**ALWAYS, **self.claims, **self.on.get(kernel, {})}
        return [replace(metric, claim=claims.get(metric.words),
                        chance=exact if claims.get(metric.words, 1) < 1 else chance(metric))
                for metric in METRICS]


def chance(metric: Metric) -> Chance:
    """What is allowed besides a claim."""
    few, slack = FEW.get(metric.words, 0), SLACK.get(metric.words, 0)
    if metric.words in NEVER_MORE:
        return lambda base, policy: max(few - statistics.fmean(base), never_more(base, policy))
    return lambda base, policy: max(slack, spread(base, policy))


STABLE_ON = dict.fromkeys(("6.1", "6.12"), {FAULTS.words: 0.7})
# A pass of the kernel takes one scan, if no more than scan_size_mb is there.  With
# less the memory stands for that of a large process, of many scans.
LARGE = {"scan_size_mb": 2}
# What leaves node 1 no room: all but some 100 MiB of a GiB as huge pages, and pages move to no
# node whose free pages are below the high watermark.
FULL = {"/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages": "440",
        "/proc/sys/vm/min_free_kbytes": "262144"}

PATTERNS: dict[str, Pattern] = {
    "stable": Pattern("-p stable", PLACES, STABLE_ON),
    "large": Pattern("-p stable", PLACES, scan=LARGE),
    # As large as a process of 32 GiB, for several passes.
    "larger": Pattern("-p stable -m 128 -s 600", PLACES, STABLE_ON, scan=LARGE, long=True),
    # And of 512 GiB.
    "largest": Pattern("-p stable -m 2048 -s 3600", PLACES, STABLE_ON, scan=LARGE, gigabytes=6,
                       long=True),
    "local": Pattern("-p local", PLACES),
    "shared": Pattern("-p shared"),
    "phase": Pattern("-p phase", PLACES),
    # And with phases of which each is long enough for a pass.
    "phase_larger": Pattern("-p phase -m 128 -s 600 -q 150000", PLACES, scan=LARGE, long=True),
    # Half of the memory stays remote; to be named alone.
    "stuck_larger": Pattern("-p stable -m 128 -s 600", scan=LARGE, gigabytes=2, full=True,
                            long=True),
    "random": Pattern("-p random"),
    "pingpong": Pattern("-p pingpong", {MIGRATED.words: 0.5}),
    # Of so many passes that one more hardly counts; the runs above have three to five on 6.12.
    "random_long": Pattern("-p random -s 200", long=True),
    "pingpong_long": Pattern("-p pingpong -s 200", long=True),
    "shared_long": Pattern("-p shared -s 200", long=True),
    "idle": Pattern("-p idle"),
    "forks": Pattern("-p forks"),
    "batch": Pattern("-p batch"),
    "pipes": Pattern("-p pipes"),
    "rr": Pattern("-p rr"),
}

COST_METRIC = "instructions of a hint fault"
# A scan soon after the last, so that the next round need not wait; the process is
# scanned as a whole each time.
COST_SCAN = {"scan_delay_ms": 100, "scan_period_min_ms": 100, "scan_period_max_ms": 100}
COST_LIMIT = 0.03
# Processes that are known and sleep, and threads of the process that is measured.
CROWD = 1000
CROWD_ARGS = f"-p cost -c {CROWD} -t 511"
CROWD_SCAN = {**COST_SCAN, "scan_delay_ms": 4}
# The figures of a run beside them, and how much dearer each may become.
CROWD_FIGURES = {"best_ns": (COST_METRIC, COST_LIMIT),
                 "fork_ns": ("instructions of a process that only ends", 0.01),
                 "exit_ns": ("instructions of the end of a known process", 0.05)}
UNMEASURABLE = 0.001


def patterns(task: Task) -> list[Row]:
    """The patterns named, each as often: base and policy in one boot, in turn."""
    image = task.image
    gigabytes = max(PATTERNS[name].gigabytes for name in task.names)
    plan = guest.Plan(
        f"numa-{image.name}", image, cpus=CPUS, shift=SHIFT, nodes=NODES, memory=f"{gigabytes}G"
    )
    # Loaded before the first run, so that every run of the base is like the others.
    task.load_module(plan)

    def load(run: str, args: str, scan: Mapping[str, int]) -> None:
        plan.program("load", run, "numaload", args, scan=dict(scan), flushes=True)

    if any(PATTERNS[name].full for name in task.names):
        for path, text in FULL.items():
            plan.add("write", f"{path} {text}", path=path, text=text)
    # The first run after boot does less work than the others.
    load("warm-up", "-p forks", {})
    runs: dict[str, dict[str, list[str]]] = {}
    for name in dict.fromkeys(task.names):
        runs[name] = {BASE: [], POLICY: []}
        for place, side in enumerate(ORDER * task.names.count(name)):
            run = f"{name} {place} {side}"
            runs[name][side].append(run)
            on = side == POLICY and not task.alone
            with task.on(plan, f" {run}") if on else nullcontext():
                load(run, f"{PATTERNS[name].args} -g {place // 2 * STAGGER_MS}",
                     PATTERNS[name].scan)
                if on:
                    task.read(plan, "counters", run)
    results = guest.run(plan, came_to, timeout=14400)
    rows = []
    for name, sides in runs.items():
        loads = {side: [results[run] for run in names] for side, names in sides.items()}
        rows += compare.rows_of(image, name, PATTERNS[name].metrics(image.name), task.mode, loads)
    return rows


def came_to(result: guest.Result) -> str:
    """What a run of a load came to."""
    if "best_ns" in result:
        return f"{result['best_ns']:.1f} instructions"
    if "work" not in result:
        return ""
    return (f"{result['numa_hint_faults']} hint faults,"
            f" {result['numa_pages_migrated']} migrated, work {result['work']},"
            f" {result['flush_hits']} flushes of {result['scan_hits']} scans")


def cost(task: Task) -> list[Row]:
    """Instructions of a local hint fault: not loaded, loaded, on in each mode, off again."""
    image = task.image
    plan = guest.Plan(f"numa-cost-{image.name}", image, icount=True, nodes=NODES, memory=MEMORY)
    states: list[tuple[str, str, float]] = []

    def load(state: str, limit: float = UNMEASURABLE, mode: str = "") -> None:
        plan.program("load", state, "numaload", "-p cost", scan=COST_SCAN, flushes=False)
        states.append((state, mode, limit))

    load("not loaded")
    load("not loaded again")
    task.load_module(plan)
    if not task.alone:
        load("livemm loaded, off")
    usual = [mode for mode in task.bench.modes if mode != PROMOTE]
    for mode in task.modes if "mode=" in task.config or task.alone else usual:
        with task.on(plan, f" {mode}", mode):
            load(mode, COST_LIMIT, mode)
        load(f"off after {mode}")
    results = guest.run(plan, came_to)
    base = results["not loaded"]
    return [
        Row(image.name, "local hint fault" if mode else f"local hint fault, {state}",
            COST_METRIC, base["best_ns"], results[state]["best_ns"],
            base["best_ns"] * (1 + limit), mode,
            {"mean": results[state]["mean_ns"], "base_mean": base["mean_ns"]})
        for state, mode, limit in states[1:]
    ]


def scale(task: Task) -> list[Row]:
    """The same beside 1,000 processes, in a process of 512 threads; and what processes cost."""
    image = task.image
    # From 6.4 on the kernel leaves out VMAs that the scanning thread has not used in the last scan
    # delays, for as many passes as the process has threads: a round would wait for 512 passes.
    if image.name != "6.1":
        say(f"    {image.name}: not measured, see bench/numa.py")
        return []
    plan = guest.Plan(f"numa-scale-{image.name}", image, icount=True, nodes=NODES, memory="2G")
    task.load_module(plan)

    def load(side: str) -> None:
        plan.program("load", side, "numaload", CROWD_ARGS, scan=CROWD_SCAN, flushes=False)

    # A guest that has run the load once differs from a fresh one, so the base is before and after.
    load(BASE)
    with task.on(plan) if not task.alone else nullcontext():
        load(POLICY)
        if not task.alone:
            task.read(plan, "counters", POLICY)
    load(AFTER)
    results = guest.run(plan, came_to)
    policy = results[POLICY]
    rows = []
    for name, (words, limit) in CROWD_FIGURES.items():
        bases = [results[side][name] for side in (BASE, AFTER)]
        base = statistics.mean(bases)
        rows.append(Row(image.name, f"{CROWD} processes, 512 threads", words, base, policy[name],
                        base * (1 + limit), task.mode,
                        {"bases": bases, "policy": policy.get("policy")}))
    return rows


def promote(task: Task) -> list[Row]:
    """Hot memory of a slow node in a mapping that is only read, and what mode promote costs."""
    image = task.image
    plan = guest.Plan(f"numa-promote-{image.name}", image, cpus=CPUS, shift=SHIFT, memory=MEMORY,
                      slow="512M")
    task.load_module(plan)
    plan.add("write", "tiering", path="/proc/sys/kernel/numa_balancing", text="2", up=1)
    loads: dict[str, list[str]] = {BASE: [], POLICY: []}
    for place, side in enumerate(ORDER):
        run = f"{place} {side}"
        on = side == POLICY and not task.alone
        with task.on(plan, f" {run}", PROMOTE) if on else nullcontext():
            plan.program("load", run, "numaload", "-p tier", scan={}, flushes=True)
            if on:
                task.read(plan, "counters", run)
        loads[side].append(run)
    results = guest.run(plan, came_to)
    runs = {side: [results[run] for run in names] for side, names in loads.items()}
    rows = compare.rows_of(image, "read-only file on a slow node", TIER_METRICS, PROMOTE, runs)
    return [replace(row, target=100 - PROMOTED) if row.metric == HOT_SLOW.words else row
            for row in rows]


BENCH = Bench(
    "numa", ("quiet", "period", PROMOTE), ("quiet",),
    (Part(tuple(PATTERNS), patterns), Part(("cost",), cost, COST_METRIC),
     Part(("scale",), scale, "1,000 processes"), Part((PROMOTE,), promote)),
    # One pattern that is helped, and one that is not to be hurt.
    quick=("stable", "forks"),
    long=tuple(name for name, pattern in PATTERNS.items() if pattern.long),
    idle=True,
)
