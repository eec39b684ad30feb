# SPDX-License-Identifier: GPL-2.0-only
"""Instructions of a page fault: with nothing of ours loaded, and in another state."""

from __future__ import annotations

from collections.abc import Sequence

from bench import guest
from bench.compare import Metric, Part, Task
from bench.table import Row
from guests.kernels import Image

STEADY = "64 MiB steady"
# Its 64 pages never leave the list, so no list size can make it cheaper.
SMALL = "256 KiB steady"
LOADS = {SMALL: "-w 256K -r 2000", STEADY: "-w 64 -r 16"}
WARM_UP = "-w 64 -r 4"

# Of each page: its fault, its share of map and unmap, and of whatever else the guest did
# meanwhile, a policy's own work included.
TOTAL = Metric("instructions a fault",
               lambda run: float((run["touch_ns"] + run["unmap_ns"]) / run["pages"]))
# The same in the cheapest round: what disturbs a round only adds to it.
CHEAPEST = Metric("instructions a fault, cheapest round",
                  lambda run: float(run["best_round_ns"] / (run["pages"] / run["rounds"])))

# How much dearer a fault may become on a load that a policy cannot help.  Repeated without
# a change in one boot a load gives the same figure within 0.01 %, in another boot within
# 0.03 %.  The 256 KiB load has been seen to step up by 0.15 % when livemm was loaded and to
# stay there when it was unloaded; why is not known.
LIMIT = 0.001


def plan_for(image: Image, name: str, kargs: Sequence[str] = ()) -> guest.Plan:
    """A guest that has touched memory before anything is measured."""
    plan = guest.Plan(f"{name}-{image.name}", image, icount=True, kargs=kargs)
    plan.touch("warm-up", WARM_UP)
    touch_both(plan, "not loaded")
    return plan


def touch_both(plan: guest.Plan, state: str, learn: str = "") -> None:
    """The load that list sizing cannot help, and then, once it has learned, the one it helps."""
    plan.touch(f"{state}, {SMALL}", LOADS[SMALL])
    if learn:
        plan.touch(f"{state}, learning", learn)
    plan.touch(f"{state}, {STEADY}", LOADS[STEADY])


def row(image: Image, results: guest.Results, state: str, words: str, limit: float | None,
        metric: Metric = CHEAPEST, mode: str = "", label: str = "") -> Row:
    """A state beside "not loaded".

    words   of the load
    limit   allowed increase; None: nothing claimed
    label   how the tables call the state
    """
    base, then = metric.values([results[f"{name}, {words}"] for name in ("not loaded", state)])
    target = None if limit is None else base * (1 + limit)
    return Row(image.name, f"{label or state}, {words}", metric.words, base, then, target, mode)


def rows(task: Task, kargs: Sequence[str] = ()) -> list[Row]:
    """Memory to spare: not loaded, the policy on, and off again."""
    plan = plan_for(task.image, f"{task.bench.name}-cost", kargs)
    states = {"not loaded again": ""}
    touch_both(plan, "not loaded again")
    task.load_module(plan)
    if not task.alone:
        states |= {"on": task.mode, "off after": ""}
        with task.on(plan):
            touch_both(plan, "on")
        touch_both(plan, "off after")
    results = guest.run(plan)
    return [row(task.image, results, state, words, LIMIT, mode=mode)
            for state, mode in states.items() for words in LOADS]


PART = Part(("cost",), rows, CHEAPEST.words)
