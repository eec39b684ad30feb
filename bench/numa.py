# SPDX-License-Identifier: GPL-2.0-only
"""The numa claims: what NUMA balancing does under patterns of memory use, and its cost."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench import compare, guest
from bench.compare import Metric, Policy, exact, spread
from bench.table import Row
from guests.kernels import Image
from guests.report import say

# Knobs besides the usual.  With enabled=0 nothing is switched on, and the base is
# measured against itself: that shows what is noise.
CONFIG = ""
NUMA = Policy("numa", ("period", "vma"), ("vma",))
IDLE_CONFIG = "enabled=0"

# The guest's second is so many instructions, over all its CPUs: 2^30 / 2^3.
SHIFT = 3
CPUS = 2
NODES = 2
MEMORY = "1G"
# In turn, so that neither side gains from how the guest ages; a pattern that is
# named again with --only is run so often again.
ORDER = ("base", "policy", "policy", "base")
# When the kernel scans hangs on who runs at which tick, and a guest that counts
# instructions repeats itself: what differs from one pair of runs to the next is how
# long after the first thread the second begins.
STAGGER_MS = 70

# The program looks so often, in seconds, where the pages are.
LOOK = 0.1

COUNTERS = f"{guest.DEBUGFS}/numa/counters"


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
METRICS = (UPDATES, FAULTS, FAULTS_REMOTE, PAGES_REMOTE, MIGRATED, SECONDS, WORK)

# Of every pattern: never more hint faults, and at most 2 % less work.
ALWAYS = {FAULTS.words: 1.0, WORK.words: 1 / 0.98}
PLACES = {PAGES_REMOTE.words: 1.0, SECONDS.words: 1.0}
SCANS = {UPDATES.words: 1.0}
# Chance, where runs of the base do not differ by more among themselves.
SLACK = {UPDATES.words: 64, FAULTS.words: 64, PAGES_REMOTE.words: 1, SECONDS.words: 2 * LOOK}
# Figures that one scan more or less changes by the pages of the scan.
BY_SCANS = (UPDATES.words, FAULTS.words)


@dataclass(frozen=True)
class Pattern:
    """A run of the program of NUMA loads.

    args     for it
    pages    that a scan takes, so one more or less is chance; 0: few scans are expected
    claims   besides ALWAYS: the highest share of the base, by metric
    on       the claims on one kernel
    scan     limits of the kernel's own scans
    """

    args: str
    pages: int = 0
    claims: Mapping[str, float] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    scan: Mapping[str, int] = field(default_factory=dict)

    def metrics(self, kernel: str) -> list[Metric]:
        """Every figure with what is claimed on a kernel; less than the base allows no chance."""
        claims = {**ALWAYS, **self.claims, **self.on.get(kernel, {})}
        return [replace(metric, claim=claims.get(metric.words),
                        chance=exact if claims.get(metric.words, 1) < 1 else self.chance(metric))
                for metric in METRICS]

    def chance(self, metric: Metric) -> Callable[[Sequence[float]], float]:
        """What is allowed besides a claim."""
        slack = max(SLACK.get(metric.words, 0), self.pages if metric.words in BY_SCANS else 0)
        return lambda base: max(slack, spread(base))


HALF = 8 << 8
STABLE_ON = {"6.1": {FAULTS.words: 0.54}}
# A pass of the kernel takes one scan, if no more than scan_size_mb is there.  With
# less the memory stands for that of a large process, of many scans.
LARGE = {"scan_size_mb": 2}

PATTERNS: dict[str, Pattern] = {
    "stable": Pattern("-p stable", 2 * HALF, PLACES, STABLE_ON),
    "large": Pattern("-p stable", LARGE["scan_size_mb"] << 8, PLACES, scan=LARGE),
    "local": Pattern("-p local", 2 * HALF, PLACES),
    "shared": Pattern("-p shared", 2 * HALF),
    "phase": Pattern("-p phase", 2 * HALF, PLACES),
    "random": Pattern("-p random", 2 * HALF),
    "pingpong": Pattern("-p pingpong", HALF // 2, {MIGRATED.words: 0.5}),
    "idle": Pattern("-p idle", 2 * HALF, SCANS),
    "forks": Pattern("-p forks", 0, SCANS),
    "batch": Pattern("-p batch", 0, SCANS),
    "pipes": Pattern("-p pipes", 0, SCANS),
    "rr": Pattern("-p rr", 0, SCANS),
}

COST = "cost"
COST_METRIC = "instructions of a hint fault"
# A scan soon after the last, so that the next round need not wait; the process is
# scanned as a whole each time.
COST_SCAN = {"scan_delay_ms": 100, "scan_period_min_ms": 100, "scan_period_max_ms": 100}
# And the policy is to leave it at that: memory that is always local calls for less.
COST_KNOBS = "scan_period_min_ms=100,scan_period_max_ms=100,full_pass_interval=1"
COST_LIMIT = 0.03
UNMEASURABLE = 0.001


def runs_of(names: Mapping[str, int]) -> Iterator[tuple[str, str, str, int]]:
    """Every run, in order: its name, pattern, side and pair."""
    for name, repeat in names.items():
        for place, side in enumerate(ORDER * repeat):
            yield f"{name} {place} {side}", name, side, place // 2


def enable(plan: guest.Plan, mode: str, config: str, run: str) -> None:
    """Switch numa on in a mode, and note what came of it."""
    NUMA.enable(plan, config, f" {run}", mode)
    plan.add("read", f"before {run}", path=COUNTERS)


def disable(plan: guest.Plan, run: str) -> None:
    """Switch numa off, and note what it did."""
    plan.add("read", f"after {run}", path=COUNTERS)
    NUMA.disable(plan)


def counted(image: Image, results: guest.Results, mode: str, run: str) -> dict[str, int]:
    """What the policy counted in a run; figures without it in force are refused."""
    NUMA.check(image, results, mode, f" {run}")

    def numbers(when: str) -> dict[str, int]:
        rows = (line.split() for line in results[f"{when} {run}"]["text"].splitlines())
        return {words[0]: int(words[1]) for words in rows}

    before, after = numbers("before"), numbers("after")
    return {name: after[name] - before[name] for name in after}


def run_patterns(image: Image, config: str, names: Mapping[str, int]) -> list[Row]:
    """Every pattern named, so often: base and policy in one boot, in turn."""
    alone = config == IDLE_CONFIG
    mode = "" if alone else NUMA.mode(config)
    plan = guest.Plan(
        f"numa-{image.name}", image, cpus=CPUS, shift=SHIFT, nodes=NODES, memory=MEMORY
    )
    # Loaded before the first run, so that every run of the base is like the others.
    if not alone:
        guest.need_livemm(image)
        compare.load_module(plan)
    # The first run after boot does less work than the others.
    plan.load("warm-up", "-p forks")
    for run, name, side, pair in runs_of(names):
        on = side != compare.BASE and not alone
        if on:
            enable(plan, mode, config, run)
        plan.load(run, f"{PATTERNS[name].args} -g {pair * STAGGER_MS}", PATTERNS[name].scan)
        if on:
            disable(plan, run)
    results = guest.run(plan, timeout=7200, show=compare.progress(image, pattern_words))
    rows = []
    for wanted in names:
        loads: dict[str, list[guest.Result]] = {side: [] for side in ORDER}
        counters = []
        for run, name, side, _ in runs_of(names):
            if name != wanted:
                continue
            loads[side].append(results[run])
            if side != compare.BASE and not alone:
                counters.append(counted(image, results, mode, run))
        rows += compare.rows_of(image, wanted, PATTERNS[wanted].metrics(image.name), mode, loads,
                                more={"counters": counters})
    return rows


def pattern_words(result: guest.Result) -> str:
    """What a run of a pattern came to."""
    if "work" not in result:
        return ""
    return (f"{result['numa_hint_faults']} hint faults,"
            f" {result['numa_pages_migrated']} migrated, work {result['work']}")


def cost(image: Image, config: str) -> list[Row]:
    """Instructions of a local hint fault: not loaded, loaded, on in each mode, off again."""
    plan = guest.Plan(f"numa-cost-{image.name}", image, icount=True, nodes=NODES, memory=MEMORY)

    def load(name: str) -> None:
        plan.load(name, "-p cost", COST_SCAN)

    load("not loaded")
    load("not loaded again")
    modes: tuple[str, ...] = ()
    if config != IDLE_CONFIG:
        modes = NUMA.chosen(config) if "mode=" in config else NUMA.modes
        guest.need_livemm(image)
        compare.load_module(plan)
        load("livemm loaded, off")
    for mode in modes:
        enable(plan, mode, f"{COST_KNOBS},{config}", mode)
        load(mode)
        disable(plan, mode)
        load(f"off after {mode}")
    results = guest.run(plan, timeout=3600, show=compare.progress(image, cost_words))
    for mode in modes:
        counted(image, results, mode, mode)
    return cost_rows(image, results, modes)


def cost_words(result: guest.Result) -> str:
    """What a run of the cost load came to."""
    return f"{result['best_ns']:.1f} instructions" if "best_ns" in result else ""


def cost_rows(image: Image, results: guest.Results, modes: Sequence[str]) -> list[Row]:
    """A row for each state of the policy."""
    base = results["not loaded"]["best_ns"]
    states = [("not loaded again", "", UNMEASURABLE), ("livemm loaded, off", "", UNMEASURABLE)]
    for mode in modes:
        states.append((mode, mode, COST_LIMIT))
        states.append((f"off after {mode}", "", UNMEASURABLE))
    rows = []
    for name, mode, limit in states:
        if name not in results:
            continue
        result = results[name]
        label = "local hint fault" if mode else f"local hint fault, {name}"
        rows.append(
            Row(image.name, label, COST_METRIC, base, result["best_ns"], base * (1 + limit), mode,
                {"mean": result["mean_ns"], "base_mean": results["not loaded"]["mean_ns"]})
        )
    return rows


# What --only takes: a pattern, or the cost.
PARTS = (*PATTERNS, COST)


def measure(images: Sequence[Image], quick: bool, config: str, only: Sequence[str]) -> list[Row]:
    """Every row, or those of the parts named.

    quick: one pattern that is helped and one that is not to be hurt, on the first kernel.
    """
    chosen = ["stable", "forks"] if quick else list(only or PARTS)
    rows = []
    for image in images[:1] if quick else images:
        names = {name: chosen.count(name) for name in chosen if name != COST}
        if names:
            say(f"---- numa on {image.name}: {', '.join(names)}")
            rows += run_patterns(image, config, names)
        if COST in chosen:
            say(f"---- numa on {image.name}: {COST_METRIC}")
            rows += cost(image, config)
    return rows
