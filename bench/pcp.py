# SPDX-License-Identifier: GPL-2.0-only
"""The pcp claims: what crosses zone->lock, and what a page fault costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import cost, guest, memory
from bench.agent import CROSSINGS
from bench.compare import BASE, Bench, Part, Task
from bench.table import Row
from guests.report import ToolError, say

CROSSINGS_METRIC = "pages over zone->lock a fault"
# The mode that the claims are made of; `depth`, the series as posted, is shown beside it.
CLAIMED = "event"
MODES = ("depth", CLAIMED)


@dataclass(frozen=True)
class Workload:
    """A run of the page-touch program, in two processes on two CPUs.

    most    highest acceptable figure on 6.1: half of what 6.12 reaches by its own tuning
    of_own  on kernels that tune their lists themselves: highest acceptable share of what that
            reaches
    """

    words: str
    args: str
    most: float
    of_own: float = 1.0

    def target(self, kernel: str, base: float) -> float:
        """The highest acceptable figure."""
        return self.most if kernel == "6.1" else base * self.of_own


WORKLOADS = (
    Workload("A 128 MiB x 8", "-w 128 -r 8", 0.15),
    Workload("B 64 MiB x 16", "-w 64 -r 16", 0.025),
    Workload("C 16 MiB x 64", "-w 16 -r 64", 0.016),
    # The kernel's own tuning does badly at these.
    Workload("D 64 MiB x 10, 1.5 s pauses", "-w 64 -r 10 -H 1500 -F 1500", 0.38, 0.5),
    Workload("E 64 MiB x 10, 0.3 s pauses", "-w 64 -r 10 -H 300 -F 300", 0.14, 0.5),
)
NO_PAUSES = WORKLOADS[:3]
WARM_UP = "-w 128 -r 4"


def crossings_of(result: guest.Result) -> float:
    """Pages that crossed zone->lock for each page fault."""
    if result["pgfault"] < result["pages"]:
        raise ToolError(
            f"{result['name']}: {result['pgfault']} faults for "
            f"{result['pages']} pages: were huge pages used?"
        )
    return float(sum(result[event] for event in CROSSINGS) / result["pgfault"])


def crossings(task: Task, workloads: Sequence[Workload] = WORKLOADS) -> list[Row]:
    """The rows A to E: without livemm, then with pcp on in each mode, in one boot.

    quick: only the rows without pauses.
    """
    image = task.image
    if task.quick:
        workloads = NO_PAUSES
    plan = guest.Plan(f"pcp-crossings-{image.name}", image)

    def loads(side: str) -> None:
        plan.touch(f"{side}, warm-up", WARM_UP)
        for work in workloads:
            plan.touch(f"{side}, {work.words}", work.args, crossings=True)

    # Stock first, with nothing of ours loaded yet.  A mode begins with the kernel's
    # own bounds, which the one before it put back when it was switched off, and with
    # the same warm-up as stock.  What is left of the order is how long the guest has
    # mixed up its free pages, and that is longest for the mode that is claimed.
    loads(BASE)
    task.load_module(plan)
    for mode in task.modes:
        with task.on(plan, f" {mode}", mode):
            loads(mode)
            plan.add("read", f"state {mode}", path=task.path("state"))
    results = guest.run(plan)
    rows = []
    for mode in task.modes:
        for work in workloads:
            base, policy = (crossings_of(results[f"{side}, {work.words}"]) for side in (BASE, mode))
            target = work.target(image.name, base) if mode == CLAIMED else None
            rows.append(Row(image.name, work.words, CROSSINGS_METRIC, base, policy, target, mode))
    return rows


# Four of the policy's periods: half decay is then within 7 % of its end.
LEARN = "-w 64 -r 32"
# How much dearer than "not loaded" a fault may become with nothing at work, see cost.LIMIT,
UNMEASURABLE = 0.0003
# on, under a load that the policy cannot help: `depth` looks at every page,
IDLE = {"depth": 0.02, CLAIMED: 0.001}
# and on, under the load that it helps: no dearer, and cheaper by so much.
HELPED = {("6.1", CLAIMED): -0.05}
# The livepatch that wraps refill and drain.
LIVEPATCH = "/sys/kernel/livepatch/livemm_klp_lists/enabled"


def fault_cost(task: Task) -> list[Row]:
    """Instructions of a fault: not loaded, loaded, on in each mode, and off again."""
    image = task.image
    plan = cost.plan_for(image, "pcp-cost")
    plan.touch(f"not loaded again, {cost.STEADY}", cost.LOADS[cost.STEADY])
    task.load_module(plan)
    cost.touch_both(plan, "livemm loaded, off")
    for mode in task.modes:
        with task.on(plan, f" {mode}", mode):
            cost.touch_both(plan, mode, LEARN)
    # The livepatch stays loaded when the policy is switched off.
    plan.add("read", "livepatch", path=LIVEPATCH, optional=True)
    cost.touch_both(plan, "livepatch loaded, off")
    results = guest.run(plan)
    if results["livepatch"]["text"].strip() != "1":
        say(f"    {image.name}: no livepatch is loaded: its rows are livemm.ko's alone")
    # With nothing of ours at work, only the code on the path can differ.
    rows = [cost.row(image, results, state, words, limit) for state, words, limit in (
        ("not loaded again", cost.STEADY, UNMEASURABLE),
        ("livemm loaded, off", cost.SMALL, UNMEASURABLE),
        ("livemm loaded, off", cost.STEADY, UNMEASURABLE),
        ("livepatch loaded, off", cost.SMALL, cost.LIMIT),
        ("livepatch loaded, off", cost.STEADY, cost.LIMIT),
    )]
    for mode in task.modes:
        limits = {cost.SMALL: IDLE[mode], cost.STEADY: HELPED.get((image.name, mode), 0.0)}
        rows += [cost.row(image, results, mode, words, limit, cost.TOTAL, mode, "pcp on")
                 for words, limit in limits.items()]
    return rows


# What sees every page come and go, by `mechanism` of the module in bench/tracking.
TRACKING = {"tracepoint probes": "tracepoint", "kprobes on ftrace": "kprobe",
            "livepatch wrappers": "livepatch"}


def tracking(task: Task) -> list[Row]:
    """Instructions of a fault with each way to see every page, counting only."""
    image = task.image
    module = str(guest.build_modules(image, "tracking") / "lmm_tracking.ko")
    plan = cost.plan_for(image, "pcp-tracking")
    for name, mechanism in TRACKING.items():
        plan.add("insmod", f"insmod {name}", path=module, params=[f"mechanism={mechanism}"])
        cost.touch_both(plan, name)
        plan.add("rmmod", f"rmmod {name}", module="lmm_tracking")
    results = guest.run(plan)
    return [cost.row(image, results, name, words, None)
            for name in TRACKING for words in cost.LOADS]


# A list may hold more; while kswapd runs, the kernel drains the list at four batches.
PAGES = 8192
# Rounds until a list has been raised far enough.
ROUNDS = 8
FREE_METRIC = "instructions a free"


def beside_kswapd(task: Task) -> list[Row]:
    """Instructions of a free to a list that the kernel would drain because kswapd runs."""
    image = task.image
    bulk, reclaim = (str(guest.build_modules(image, source) / f"lmm_{Path(source).name}.ko")
                     for source in ("zoneload/bulk", "reclaim"))
    plan = guest.Plan(f"pcp-kswapd-{image.name}", image, icount=True)

    def frees(side: str) -> None:
        plan.add("pages", f"{side}, kswapd asleep", pages=PAGES, rounds=ROUNDS)
        plan.add("insmod", f"{side}, mark", path=reclaim)
        plan.add("pages", f"{side}, kswapd runs", pages=PAGES, rounds=ROUNDS)
        plan.add("rmmod", f"{side}, unmark", module="lmm_reclaim")

    plan.add("insmod", "insmod lmm_bulk", path=bulk)
    frees(BASE)
    task.load_module(plan)
    for mode in task.modes:
        with task.on(plan, f" {mode}", mode):
            frees(mode)
    results = guest.run(plan)

    def cost_of(side: str, words: str) -> float:
        return float(results[f"{side}, {words}"]["free"] / PAGES)

    # No dearer than the drains that are saved.
    return [Row(image.name, words, FREE_METRIC, cost_of(BASE, words), cost_of(mode, words),
                cost_of(BASE, words) if mode == CLAIMED else None, mode)
            for mode in task.modes for words in ("kswapd asleep", "kswapd runs")]


BENCH = Bench("pcp", MODES, MODES, (
    Part(("crossings",), crossings, CROSSINGS_METRIC),
    Part(("cost",), fault_cost, cost.TOTAL.words),
    Part(("tracking",), tracking, f"{cost.TOTAL.words}, by tracking mechanism"),
    Part(("kswapd",), beside_kswapd, f"{FREE_METRIC}, beside kswapd"),
    Part(("held",), memory.held, memory.HELD_METRIC),
    Part(("pressure",), memory.pressure, memory.PRESSURE_METRIC),
), quick=("crossings",))
