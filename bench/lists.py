# SPDX-License-Identifier: GPL-2.0-only
"""The lists' claims: pcp and zonelock beside each other, and with memory full of page cache."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import compare, guest
from bench.agent import CROSSINGS, SETTLE_S
from bench.compare import BASE, Bench, Metric, Part, Task, never_more_paired
from bench.table import Row
from guests.command import call

METRIC = "pages over zone->lock a page allocated"
# The policies that are on in each side, in one boot.  The base comes first and last: how far its
# two figures are apart shows what is noise.
ALONE = {"pcp": ("pcp",), "zonelock": ("zonelock",)}
BOTH = "pcp+zonelock"
ALL = "all"
SIDES: Mapping[str, Sequence[str]] = {
    **ALONE, BOTH: ("pcp", "zonelock"), ALL: ("pcp", "zonelock", "pageblock", "numa"),
}
AGAIN = "base again"
# Each with pageblock as well, and the side without.
PAGEBLOCK = {f"{policy}+pageblock": policy for policy in ALONE}
POLICIES: Mapping[str, Sequence[str]] = {
    **SIDES, **{side: (alone, "pageblock") for side, alone in PAGEBLOCK.items()},
}
# What the kernel may not do more of with a policy: a share of the base's, and so many events.
WORK = {
    "kswapd wake-ups": ("pageoutrun",),
    "pages scanned": ("pgscan_kswapd", "pgscan_direct"),
    "allocation stalls": ("allocstall_",),
}


@dataclass(frozen=True)
class Load:
    """A load: how the tables call it, the program and what it is told."""

    words: str
    program: str
    args: str


FAULT = Load("two processes x 64 MiB", guest.PAGETOUCH, "-w 64 -r 4")
PIPE = Load("pipe between CPUs, 192 MiB", "zoneload", "pipe 192")
LARGE = Load("two processes x 128 MiB", guest.PAGETOUCH, "-w 128 -r 4")
EXIT = Load("two processes of 96 MiB end", "zoneload", "exit 96")
FILES = Load("two processes write 64 MiB of private files", "zoneload", "files 64")
PURGE = Load("a thread purges what two faulted, 192 MiB", "zoneload", "purge 96")
HOLDS = "holds of zone->lock, 1000 pages"
OFF_LOADS = (Load("exit", "zoneload", "exit 64"), Load("purge", "zoneload", "purge 64"),
             Load("pipe", "zoneload", "pipe 64"), Load("files", "zoneload", "files 32"))
OFF = "longest with interrupts off, instructions"
# A policy may cost so many times what the base costs.
WORSE = 1.02
# Nothing but holes, larger than the guest: each page that is read is a page of new cache.
CACHE_MIB = 1536
READ_MIB = 32
# Stalls differ by a factor of three from run to run: so many runs a side, of which the mean counts,
# beside a reader that makes memory short in each of them.
TURNS = 5
STALL_READ_MIB = 128
# Of four fifths of memory every third page is free; half of the free memory is in such holes.
HOLES = "hold 3"
HUGE = Load("huge pages of 208 MiB beside small ones", "zoneload", "huge 208")
# As Debian has it, a huge fault neither compacts nor wakes kswapd; and the holes stay.
STILL = {
    "/sys/kernel/mm/transparent_hugepage/defrag": "madvise",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag": "0",
    "/proc/sys/vm/compaction_proactiveness": "0",
    "/proc/sys/vm/compact_unevictable_allowed": "0",
}
# CPUs and nodes of a guest, and what each CPU does: with 16 CPUs a load takes 256 MiB.
MACHINES = ((2, 1), (4, 1), (8, 2), (16, 4))
FAULT_ALL = Load("each CPU faults 16 MiB x 8", "zoneload", "fault-all 16")
PIPE_ALL = Load("pipe from each second CPU to the next, 64 MiB", "zoneload", "pipe-all 64")


def crossings_of(result: guest.Result) -> float:
    """Pages that crossed zone->lock for each page that the kernel allocated."""
    allocated = compare.events("pgalloc_")(result)
    return float(sum(result["hits"][event] for event in CROSSINGS) / allocated)


# Fall-backs of programs of the harness, where the base has next to none.
FEW = 4


def few_more(base: Sequence[float], policy: Sequence[float]) -> float:
    """As never_more_paired(), but FEW altogether are allowed."""
    return max(FEW - statistics.fmean(base), never_more_paired(base, policy))


# Neither may be more often by more than 1 %: the interval of the difference is held to that.
HUGE_METRICS = (
    Metric("huge faults that failed", compare.events("thp_fault_fallback"), 1.0, never_more_paired),
    Metric("fall-backs that mix types", compare.fallbacks(), 1.0, few_more),
    Metric("fall-backs", compare.fallbacks(mix=False)),
)


class Sides:
    """The steps that run loads on each side, and the rows that come of them."""

    def __init__(self, task: Task, plan: guest.Plan, sides: Sequence[str]) -> None:
        self.task = task
        self.plan = plan
        self.sides = sides

    def switch(self, name: str, side: str, on: bool) -> None:
        """Switch all policies of a side."""
        for policy in POLICIES[side]:
            self.plan.add("write", f"{name}, {policy} {on}", up=1, text=f"enabled={int(on)}",
                          path=f"{guest.DEBUGFS}/{policy}/config")

    def read(self, name: str) -> None:
        """Read what the policies that size and keep say of a load, for JSON alone."""
        for policy in ("pcp", "zonelock"):
            for file in ("counters", "state"):
                self.plan.add("read", f"{name}, {policy} {file}",
                              path=f"{guest.DEBUGFS}/{policy}/{file}")

    def loads(self, when: str, loads: Sequence[Load]) -> None:
        """Run the loads on each side, the base first and last.

        Policies come on for each load: lists that one load has raised go back during the next.
        """
        for side in (BASE, *self.sides, AGAIN):
            for load in loads:
                self.load(when, side, load)

    def load(self, when: str, side: str, load: Load, do: str = "crossed") -> None:
        """Run a load on a side."""
        name = f"{when}, {side}, {load.words}"
        if side in POLICIES:
            self.switch(name, side, True)
        self.plan.program(do, name, load.program, load.args)
        if side in POLICIES:
            self.read(name)
            self.switch(name, side, False)

    def rows(self, results: guest.Results, when: str, load: Load,
             targets: Mapping[str, float] | None = None) -> list[Row]:
        """A row of crossings for each side, and what reclaim did."""
        def run(side: str) -> guest.Result:
            return results[f"{when}, {side}, {load.words}"]

        words = f"{load.words}, {when}"
        base = crossings_of(run(BASE))
        rows = []
        for side in (*self.sides, AGAIN):
            rows.append(Row(self.task.image.name, words, METRIC, base, crossings_of(run(side)),
                            (targets or {}).get(side), side, {"base": run(BASE), side: run(side)}))
        if any(compare.events(*names)(run(BASE)) for names in WORK.values()):
            for metric, names in WORK.items():
                value = compare.events(*names)
                rows += [Row(self.task.image.name, words, metric, value(run(BASE)),
                             value(run(side)), None, side) for side in (*self.sides, AGAIN)]
        return rows


def busy(task: Task) -> list[Row]:
    """The loads with memory free, then full of page cache; each side of both in one boot."""
    plan = guest.Plan(f"lists-busy-{task.image.name}", task.image, memory="1G")
    sides = Sides(task, plan, (*ALONE, BOTH))
    task.load_module(plan)
    plan.program("crossed", "warm-up", FAULT.program, FAULT.args)
    sides.loads("memory free", (FAULT, PIPE))
    plan.add("fill", "page cache", mib=CACHE_MIB, rate=READ_MIB)
    sides.loads("page cache full", (FAULT, PIPE))
    results = guest.run(plan)
    rows = []
    for load in (FAULT, PIPE):
        empty = sides.rows(results, "memory free", load)
        targets = {row.mode: 2 * row.policy for row in empty if row.mode in SIDES}
        rows += empty + sides.rows(results, "page cache full", load, targets)
    return rows


def slow(task: Task) -> list[Row]:
    """A pipe that is slow beside the times after which lists and depots give pages back."""
    # An instruction takes 32 ns of the guest's time: the load, half a minute.
    plan = guest.Plan(f"lists-slow-{task.image.name}", task.image, shift=5, memory="1G")
    sides = Sides(task, plan, (*ALONE, BOTH))
    task.load_module(plan)
    plan.program("crossed", "warm-up", FAULT.program, FAULT.args)
    sides.loads("memory free", (FAULT, PIPE))
    results = guest.run(plan)
    # A tenth of stock: the two processes before leave lists that differ from side to side.
    target = crossings_of(results[f"memory free, {BASE}, {PIPE.words}"]) / 10
    targets = {"zonelock": target, BOTH: target}
    return sides.rows(results, "memory free", PIPE, targets)


def stalls(task: Task) -> list[Row]:
    """What reclaim did with memory full of page cache, the sides in turns; means of all turns."""
    plan = guest.Plan(f"lists-stalls-{task.image.name}", task.image, shift=0, memory="1G")
    sides = Sides(task, plan, tuple(ALONE))
    task.load_module(plan)
    plan.program("crossed", "warm-up", FAULT.program, FAULT.args)
    plan.add("fill", "page cache", mib=CACHE_MIB, rate=STALL_READ_MIB)
    plan.program("crossed", "warm-up, page cache full", FAULT.program, FAULT.args)
    turns = [f"turn {turn + 1}" for turn in range(TURNS)]
    for turn in turns:
        for side in (BASE, *ALONE):
            sides.load(turn, side, FAULT)
    results = guest.run(plan, timeout=7200)

    def runs(side: str) -> list[guest.Result]:
        return [results[f"{turn}, {side}, {FAULT.words}"] for turn in turns]

    metrics = {METRIC: crossings_of, **{metric: compare.events(*names)
                                        for metric, names in WORK.items()}}
    return [Row(task.image.name, f"{FAULT.words}, page cache full, mean of {TURNS}", metric,
                statistics.fmean(map(value, runs(BASE))), statistics.fmean(map(value, runs(side))),
                None, side, {"base": runs(BASE), side: runs(side)})
            for side in ALONE for metric, value in metrics.items()]


def huge(task: Task) -> list[Row]:
    """Huge pages that nobody compacts for, beside small pages that come and go; sides in turns."""
    image = task.image
    plan = guest.Plan(f"lists-huge-{image.name}", image, shift=0, memory="1G", huge="always")
    drain = str(guest.build_modules(image, "fragload/slowpath") / "lmm_slowpath.ko")
    sides = Sides(task, plan, tuple(SIDES))
    for path, text in STILL.items():
        plan.add("write", path, path=path, text=text)
    task.load_module(plan)
    plan.add("insmod", "what empties lists", path=drain)
    plan.program("program", "holes", "zoneload", HOLES)
    plan.program("churned", "warm-up", HUGE.program, HUGE.args)
    turns = [f"turn {turn + 1}" for turn in range(TURNS)]
    order = [BASE, *SIDES]
    for turn in turns:
        for side in order:
            # Each run begins with nothing in the lists.
            plan.add("write", f"{turn}, {side}, drain", text="1",
                     path="/sys/module/lmm_slowpath/parameters/drain")
            sides.load(turn, side, HUGE, "churned")
        # Counts fall as the boot goes on: each side has each place once.
        order.append(order.pop(0))
    results = guest.run(plan, timeout=7200)
    runs: dict[str, list[guest.Result]] = {side: [] for side in (BASE, *SIDES)}
    for turn in turns:
        for side, found in runs.items():
            name = f"{turn}, {side}, {HUGE.words}"
            # What says that the policies had pages, for JSON alone.
            policies = {file: results[f"{name}, {file}"]["text"] for file in
                        (f"{policy} {kind}" for policy in ALONE if policy in SIDES.get(side, ())
                         for kind in ("counters", "state"))}
            found.append({**results[name], "policies": policies})
    return [row for side in SIDES
            for row in compare.rows_of(image, f"{HUGE.words}, mean of {TURNS}", HUGE_METRICS,
                                       side, {BASE: runs[BASE], side: runs[side]}, held=side)]


def in_turn(task: Task, part: str, load: Load, share: float) -> list[Row]:
    """A load with each policy alone and with others, which may have that share of the base."""
    # By the host's clock, other work on the host would make rounds longer than `decay_ms`.
    plan = guest.Plan(f"lists-{part}-{task.image.name}", task.image, shift=0)
    sides = Sides(task, plan, tuple(SIDES))
    task.load_module(plan)
    plan.program("crossed", "warm-up", load.program, load.args)
    sides.loads("memory free", (load,))
    results = guest.run(plan)
    base = crossings_of(results[f"memory free, {BASE}, {load.words}"])
    targets = {**dict.fromkeys(ALONE, base * WORSE), **dict.fromkeys((BOTH, ALL), base * share)}
    return sides.rows(results, "memory free", load, targets)


def together(task: Task) -> list[Row]:
    """A load that fills lists to their bounds."""
    return in_turn(task, "together", LARGE, 1 / 2)


def files(task: Task) -> list[Row]:
    """Pages of files, and private copies of such pages."""
    return in_turn(task, "files", FILES, WORSE)


def cpus(task: Task) -> list[Row]:
    """The loads on every CPU of guests of more and more CPUs and nodes."""
    rows = []
    for number, nodes in MACHINES:
        plan = guest.Plan(f"lists-cpus-{number}-{task.image.name}", task.image, shift=0,
                          cpus=number, nodes=nodes, memory="4G")
        sides = Sides(task, plan, (*ALONE, BOTH))
        task.load_module(plan)
        when = f"{number} CPUs, nodes: {nodes}"
        loads = (FAULT_ALL, PIPE_ALL)
        plan.program("crossed", "warm-up", FAULT_ALL.program, FAULT_ALL.args)
        sides.loads(when, loads)
        results = guest.run(plan, timeout=7200)
        for load in loads:
            base = crossings_of(results[f"{when}, {BASE}, {load.words}"])
            rows += sides.rows(results, when, load, dict.fromkeys((*ALONE, BOTH), base * WORSE))
    return rows


def pageblock(task: Task) -> list[Row]:
    """Each policy alone and with pageblock: within a tenth of alone."""
    plan = guest.Plan(f"lists-pageblock-{task.image.name}", task.image, shift=0)
    sides = Sides(task, plan, (*ALONE, *PAGEBLOCK))
    loads = (FAULT, PIPE)
    task.load_module(plan)
    plan.program("crossed", "warm-up", FAULT.program, FAULT.args)
    sides.loads("memory free", loads)
    results = guest.run(plan)
    rows = []
    for load in loads:
        targets = {side: 1.1 * crossings_of(results[f"memory free, {alone}, {load.words}"])
                   for side, alone in PAGEBLOCK.items()}
        rows += sides.rows(results, "memory free", load, targets)
    return rows


def exits(task: Task) -> list[Row]:
    """Memory that is faulted page by page and given back at once: holds of zone->lock."""
    image = task.image
    plan = guest.Plan(f"lists-exit-{image.name}", image, shift=0, huge="madvise", memory="1G")
    locks = str(guest.build_modules(image, "zoneload/locks") / "lmm_locks.ko")
    sides = Sides(task, plan, tuple(SIDES))
    task.load_module(plan)
    for side in (BASE, *SIDES, AGAIN):
        for load in (EXIT, PURGE):
            name = f"{side}, {load.words}"
            if side in SIDES:
                sides.switch(name, side, True)
            plan.program("zone", name, load.program, load.args, locks=locks, plain=False,
                         crossings=False)
            if side in SIDES:
                sides.read(name)
                sides.switch(name, side, False)
    results = guest.run(plan)

    def counted(side: str, load: Load, begun: bool) -> float:
        found = results[f"{side}, {load.words}"]["counted"]
        return float((found["holds"] - begun * found["holds_before"]) * 1000 / found["pages"])

    rows = []
    for load in (EXIT, PURGE):
        for words, begun in (("in all", False), ("at the end", True)):
            base = counted(BASE, load, begun)
            for side in (*SIDES, AGAIN):
                name = f"{side}, {load.words}"
                rows.append(Row(image.name, f"{load.words}, {words}", HOLDS, base,
                                counted(side, load, begun),
                                base * WORSE if side in SIDES else None, side,
                                {"base": results[f"{BASE}, {load.words}"], side: results[name]}))
        for side in (*SIDES, AGAIN):
            base, value = (results[f"{name}, {load.words}"]["counted"]["longest_own_ns"]
                           for name in (BASE, side))
            rows.append(Row(image.name, f"{load.words}, in all", "longest hold, instructions",
                            base, value, base * WORSE if side in SIDES else None, side))
    return rows


def irqoff_plugin() -> Path:
    """The plugin of the emulator that counts how long interrupts are off, compiled."""
    plugin = guest.OUT / "irqoff.so"
    plugin.parent.mkdir(parents=True, exist_ok=True)
    call(["gcc", "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror",
          "-o", plugin, guest.HERE / "irqoff/plugin/plugin.c"])
    return plugin


def irqoff(task: Task) -> list[Row]:
    """Instructions for which interrupts are off where the allocator or livemm runs."""
    image = task.image
    plan = guest.Plan(f"lists-irqoff-{image.name}", image, shift=0, memory="1G")
    folder = guest.OUT / "guest" / plan.name
    symbols, out = folder / "symbols", folder / "sides"
    out.unlink(missing_ok=True)
    plan.plugin = f"{irqoff_plugin()},symbols={symbols},out={out}"
    sides = Sides(task, plan, tuple(SIDES))
    task.load_module(plan)
    plan.program("program", "symbols", "irqoff", f"symbols {symbols}")
    for load in OFF_LOADS:
        plan.program("program", f"warm-up, {load.words}", load.program, load.args)
    order = (BASE, *SIDES, AGAIN)
    for number, side in enumerate(order, 1):
        if side in SIDES:
            sides.switch(side, side, True)
        plan.program("program", f"{side} begins", "irqoff", f"{number} 0")
        for load in OFF_LOADS:
            plan.program("program", f"{side}, {load.words}", load.program, load.args)
        # Lists and depots give back meanwhile.
        plan.program("program", f"{side} ends", "irqoff", f"0 {SETTLE_S:.0f}")
        if side in SIDES:
            sides.switch(side, side, False)
    guest.run(plan, timeout=7200)
    found: dict[str, guest.Result] = {}
    for line in out.read_text(encoding="ascii").splitlines():
        which, longest, begun, first, ended, *sizes = line.split()
        found[order[int(which) - 1]] = {"longest": int(longest), "sizes": [int(n) for n in sizes],
                                        "functions": [begun, first, ended]}
    base = found[BASE]["longest"]
    return [Row(image.name, ", ".join(load.words for load in OFF_LOADS), OFF, base,
                found[side]["longest"], base * WORSE if side in SIDES else None, side,
                {"base": found[BASE], side: found[side]}) for side in order[1:]]


BENCH = Bench("lists", ("sides",), ("sides",), (
    Part(("busy",), busy, METRIC),
    Part(("slow",), slow, METRIC),
    Part(("stalls",), stalls, "what reclaim did"),
    Part(("huge",), huge, "huge faults that fail"),
    Part(("together",), together, METRIC),
    Part(("files",), files, METRIC),
    Part(("cpus",), cpus, METRIC),
    Part(("pageblock",), pageblock, METRIC),
    Part(("exit",), exits, "holds of zone->lock"),
    Part(("irqoff",), irqoff, "how long interrupts are off"),
), quick=("together",))
