# SPDX-License-Identifier: GPL-2.0-only
"""The pcp claims: what crosses zone->lock, and what a page fault costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench import compare, guest, memory
from bench.agent import CROSSINGS
from bench.memory import PCP
from bench.table import Row
from guests.kernels import Image
from guests.report import ToolError, say

CROSSINGS_METRIC = "pages over zone->lock a fault"
COST_METRIC = "instructions a fault"
CHEAPEST_METRIC = "instructions a fault, cheapest round"


@dataclass(frozen=True)
class Workload:
    """A run of the page-touch program, in two processes on two CPUs."""

    name: str
    words: str
    args: str

    @property
    def label(self) -> str:
        """How the tables call it."""
        return f"{self.name} {self.words}"


WORKLOADS = (
    Workload("A", "128 MiB x 8", "-w 128 -r 8"),
    Workload("B", "64 MiB x 16", "-w 64 -r 16"),
    Workload("C", "16 MiB x 64", "-w 16 -r 64"),
    Workload("D", "64 MiB x 10, 1.5 s pauses", "-w 64 -r 10 -H 1500 -F 1500"),
    Workload("E", "64 MiB x 10, 0.3 s pauses", "-w 64 -r 10 -H 300 -F 300"),
)
WARM_UP = "-w 128 -r 4"

# The mode that the claims are made of; `depth`, the series as posted, is shown beside it.
CLAIMED = "event"
# Half of what 6.12 reaches by its own tuning.
TARGETS = {"6.1": {"A": 0.15, "B": 0.025, "C": 0.016, "D": 0.38, "E": 0.14}}
# A kernel that is not named there tunes its lists itself: no load may be worse
# than by its own tuning, and what that does badly at most this much of it.
OF_OWN = {"D": 0.5, "E": 0.5}

# The livepatch that wraps refill and drain.
LIVEPATCH = "/sys/kernel/livepatch/livemm_klp_lists/enabled"

STEADY = "-w 64 -r 16"
STEADY_WORDS = "64 MiB steady"
# Its 64 pages never leave the list, so no list size can make it cheaper.
SMALL = "-w 256K -r 2000"
SMALL_WORDS = "256 KiB steady"
# Four of the policy's periods: half decay is then within 7 % of its end.
LEARN = "-w 64 -r 32"
COST_WARM_UP = "-w 64 -r 4"

# How much dearer than "not loaded" a fault may become.  Repeated without a change
# in one boot a load gives the same figure within 0.01 %, in another boot within
# 0.03 %.  The 256 KiB load has been seen to step up by 0.15 % when livemm was
# loaded and to stay there when it was unloaded; why is not known.
UNMEASURABLE = 0.0003
LOADED_OFF = 0.001
# On, under a load that it cannot help: `depth` looks at every page.
IDLE = {"depth": 0.02, "event": 0.001}
# On, under the load that it helps: no dearer, and cheaper by so much.
HELPED = {("6.1", "event"): -0.05}

STATE = f"{guest.DEBUGFS}/pcp/state"

# Knobs besides the mode; with one named, only that mode is measured.
CONFIG = ""


def crossings_of(result: guest.Result) -> float:
    """Pages that crossed zone->lock for each page fault."""
    if result["pgfault"] < result["pages"]:
        raise ToolError(
            f"{result['name']}: {result['pgfault']} faults for "
            f"{result['pages']} pages: were huge pages used?"
        )
    return float(sum(result[event] for event in CROSSINGS) / result["pgfault"])


def target_of(kernel: str, workload: str, mode: str, base: float) -> float | None:
    """The highest acceptable figure."""
    if mode != CLAIMED:
        return None
    if kernel in TARGETS:
        return TARGETS[kernel][workload]
    return base * OF_OWN.get(workload, 1.0)


def crossings(
    image: Image, config: str = CONFIG, workloads: Sequence[Workload] = WORKLOADS
) -> list[Row]:
    """The rows A to E: without livemm, then with pcp on in each mode, in one boot."""
    guest.need_livemm(image)
    modes = PCP.chosen(config)
    plan = guest.Plan(f"pcp-crossings-{image.name}", image)

    def loads(side: str) -> None:
        plan.touch(f"{side}, warm-up", WARM_UP)
        for work in workloads:
            plan.touch(f"{side}, {work.label}", work.args, crossings=True)

    # Stock first, with nothing of ours loaded yet.  A mode begins with the kernel's
    # own bounds, which the one before it put back when it was switched off, and with
    # the same warm-up as stock.  What is left of the order is how long the guest has
    # mixed up its free pages, and that is longest for the mode that is claimed.
    loads(compare.BASE)
    compare.load_module(plan)
    for mode in modes:
        PCP.enable(plan, config, f" {mode}", mode)
        loads(mode)
        plan.add("read", f"state {mode}", path=STATE)
        PCP.disable(plan)
    results = guest.run(plan, timeout=3600, show=compare.progress(image))
    rows = []
    for mode in modes:
        PCP.check(image, results, mode, f" {mode}")
        for work in workloads:
            base = crossings_of(results[f"{compare.BASE}, {work.label}"])
            policy = crossings_of(results[f"{mode}, {work.label}"])
            target = target_of(image.name, work.name, mode, base)
            rows.append(Row(image.name, work.label, CROSSINGS_METRIC, base, policy, target, mode))
    return rows


def total_cost(result: guest.Result) -> float:
    """Instructions for each page: its fault, its share of map and unmap, and of
    whatever else the guest did meanwhile, a policy's own work included."""
    return float((result["touch_ns"] + result["unmap_ns"]) / result["pages"])


def cheapest_cost(result: guest.Result) -> float:
    """The same in the cheapest round: what disturbs a round only adds to it."""
    return float(result["best_round_ns"] / (result["pages"] / result["rounds"]))


def touch_both(plan: guest.Plan, name: str, settle: str = "") -> None:
    """The load that list sizing cannot help, and then the one that it helps."""
    plan.touch(f"{name}, {SMALL_WORDS}", SMALL)
    if settle:
        plan.touch(f"{name}, learning", settle)
    plan.touch(f"{name}, {STEADY_WORDS}", STEADY)


@dataclass(frozen=True)
class Variant:
    """A side of the cost comparison.

    step    the name its runs begin with
    words   of the load
    limit   allowed increase over "not loaded"; None: nothing claimed
    mode    pcp is on in this mode; "": nothing of ours is at work
    label   how the tables call it; `step` if not given
    """

    step: str
    words: str
    limit: float | None
    mode: str = ""
    label: str = ""


def cost_rows(image: Image, results: guest.Results, variants: Sequence[Variant]) -> list[Row]:
    """A row for each variant."""
    rows = []
    for side in variants:
        # With nothing of ours at work, only the code on the path can differ.
        cost_of, metric = (
            (total_cost, COST_METRIC) if side.mode else (cheapest_cost, CHEAPEST_METRIC)
        )
        base = cost_of(results[f"not loaded, {side.words}"])
        cost = cost_of(results[f"{side.step}, {side.words}"])
        target = None if side.limit is None else base * (1 + side.limit)
        label = f"{side.label or side.step}, {side.words}"
        rows.append(Row(image.name, label, metric, base, cost, target, side.mode))
    return rows


OFF = (
    Variant("not loaded again", STEADY_WORDS, UNMEASURABLE),
    Variant("livemm loaded, off", SMALL_WORDS, UNMEASURABLE),
    Variant("livemm loaded, off", STEADY_WORDS, UNMEASURABLE),
    Variant("livepatch loaded, off", SMALL_WORDS, LOADED_OFF),
    Variant("livepatch loaded, off", STEADY_WORDS, LOADED_OFF),
)


def on(image: Image, mode: str) -> tuple[Variant, ...]:
    """What a mode may cost."""
    helped = HELPED.get((image.name, mode), 0.0)
    return (
        Variant(mode, SMALL_WORDS, IDLE[mode], mode, "pcp on"),
        Variant(mode, STEADY_WORDS, helped, mode, "pcp on"),
    )


def cost(image: Image, config: str = CONFIG) -> list[Row]:
    """Instructions of a fault: not loaded, loaded, on in each mode, and off again."""
    guest.need_livemm(image)
    modes = PCP.chosen(config)
    plan = guest.Plan(f"pcp-cost-{image.name}", image, icount=True)
    plan.touch("warm-up", COST_WARM_UP)
    touch_both(plan, "not loaded")
    plan.touch(f"not loaded again, {STEADY_WORDS}", STEADY)
    compare.load_module(plan)
    touch_both(plan, "livemm loaded, off")
    for mode in modes:
        PCP.enable(plan, config, f" {mode}", mode)
        touch_both(plan, mode, settle=LEARN)
        PCP.disable(plan)
    # The livepatch stays loaded when the policy is switched off.
    plan.add("read", "livepatch", path=LIVEPATCH, optional=True)
    touch_both(plan, "livepatch loaded, off")
    results = guest.run(plan, timeout=3600, show=compare.progress(image))
    if results["livepatch"]["text"].strip() != "1":
        say(f"    {image.name}: no livepatch is loaded: its rows are livemm.ko's alone")
    rows = cost_rows(image, results, OFF)
    for mode in modes:
        PCP.check(image, results, mode, f" {mode}")
        rows += cost_rows(image, results, on(image, mode))
    return rows


def policy_cost(
    image: Image, policy: compare.Policy, config: str | None, kargs: Sequence[str] = ()
) -> list[Row]:
    """Instructions of a fault, memory to spare: not loaded, a policy on, and off again.

    config: knobs of the policy; None compares the base with itself.
    """
    plan = guest.Plan(f"{policy.name}-cost-{image.name}", image, icount=True, kargs=kargs)
    plan.touch("warm-up", COST_WARM_UP)
    touch_both(plan, "not loaded")
    touch_both(plan, "not loaded again")
    steps = ["not loaded again"]
    if config is not None:
        guest.need_livemm(image)
        compare.load_module(plan)
        policy.enable(plan, config)
        touch_both(plan, "on")
        policy.disable(plan)
        touch_both(plan, "off after")
        steps += ["on", "off after"]
    results = guest.run(plan, timeout=3600, show=compare.progress(image))
    mode = "" if config is None else policy.mode(config)
    if mode:
        policy.check(image, results, mode)
    rows = []
    for step in steps:
        for words in (SMALL_WORDS, STEADY_WORDS):
            base = cheapest_cost(results[f"not loaded, {words}"])
            cost_then = cheapest_cost(results[f"{step}, {words}"])
            rows.append(Row(image.name, f"{step}, {words}", CHEAPEST_METRIC, base, cost_then,
                            base * (1 + LOADED_OFF), mode if step == "on" else ""))
    return rows


# What sees every page come and go, by module of bench/tracking and parameter.
TRACKING: tuple[tuple[str, str, list[str]], ...] = (
    ("tracepoint probes", "lmm_tracking", ["mechanism=tracepoint"]),
    ("kprobes on ftrace", "lmm_tracking", ["mechanism=kprobe"]),
    ("livepatch wrappers", "lmm_tracking_klp", []),
)


def tracking(image: Image, _config: str = CONFIG) -> list[Row]:
    """Instructions of a fault with each way to see every page, counting only."""
    folder = guest.build_tracking(image)
    plan = guest.Plan(f"pcp-tracking-{image.name}", image, icount=True)
    plan.touch("warm-up", COST_WARM_UP)
    touch_both(plan, "not loaded")
    for name, module, params in TRACKING:
        plan.add("insmod", f"insmod {name}", path=str(folder / f"{module}.ko"), params=params)
        touch_both(plan, name)
        plan.add("rmmod", f"rmmod {name}", module=module)
    results = guest.run(plan, timeout=1800, show=compare.progress(image))
    loads = (SMALL_WORDS, STEADY_WORDS)
    variants = [Variant(name, words, None) for name, _, _ in TRACKING for words in loads]
    return cost_rows(image, results, variants)


# Each by the name that --only takes, with what it says of itself.
MEASUREMENTS: dict[str, tuple[Callable[[Image, str], list[Row]], str]] = {
    "crossings": (crossings, CROSSINGS_METRIC),
    "cost": (cost, COST_METRIC),
    "tracking": (tracking, f"{COST_METRIC}, by tracking mechanism"),
    "held": (memory.held, memory.HELD_METRIC),
    "pressure": (memory.pressure, memory.PRESSURE_METRIC),
}


def measure(images: Sequence[Image], quick: bool, config: str, only: Sequence[str]) -> list[Row]:
    """Every row, or those of the measurements named.

    quick: only the rows without pauses, on the first kernel.
    """
    if quick:
        return crossings(images[0], config, WORKLOADS[:3])
    rows = []
    for image in images:
        for name in only or MEASUREMENTS:
            measurement, words = MEASUREMENTS[name]
            say(f"---- pcp on {image.name}: {words}")
            rows += measurement(image, config)
    return rows
