# SPDX-License-Identifier: GPL-2.0-only
"""What a model of many CPUs is fed with: holds of zone->lock, and instructions under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench import guest
from bench.agent import CROSSINGS
from bench.compare import BASE, Bench, Part, Task
from bench.lists import ALONE, BOTH, SIDES
from bench.table import Row

MEASURED: Mapping[str, Sequence[str]] = {
    BASE: (), **{side: SIDES[side] for side in (*ALONE, BOTH)},
}
Phase = Mapping[str, guest.Result]


def held(phase: Phase) -> float:
    """Instructions under the lock a page, those of the probes taken off."""
    found = phase["held"]
    return float((found["held_ns"] - found["holds"] * found["overhead_ns"]) / found["pages"])


METRICS: Mapping[str, Callable[[Phase], float]] = {
    "instructions a page": lambda phase: float(phase["plain"]["ns"] / phase["plain"]["pages"]),
    "instructions under zone->lock a page": held,
    "holds of zone->lock, 1000 pages":
        lambda phase: float(phase["held"]["holds"] * 1000 / phase["held"]["pages"]),
    "blocks over zone->lock, 1000 pages":
        lambda phase: float(sum(phase["crossed"][event] for event in CROSSINGS) * 1000
                            / phase["crossed"]["pages"]),
}


@dataclass(frozen=True)
class Load:
    """A load: its name for --only, how the tables call it, the program's arguments or pages.

    cpus    who allocates the pages, and who frees them
    """

    name: str
    words: str
    args: str = ""
    pages: int = 0
    cpus: tuple[int, int] = (0, 0)


LOADS = (
    Load("fault", "two processes fault 64 MiB x 8", "fault 64"),
    Load("socket", "socket from CPU to CPU, 64 MiB", "socket 64"),
    # The last two: what they leave in a CPU's list counts against what the lists together may hold.
    Load("bulk", "one CPU: 60,000 pages of the kernel's", pages=60_000),
    Load("passed", "CPU to CPU: 60,000 pages of the kernel's", pages=60_000, cpus=(0, 1)),
)


def load_rows(task: Task) -> list[Row]:
    """The loads on each side in one boot; a policy first runs a load that is not counted."""
    image = task.image
    locks, bulk = (str(guest.build_modules(image, f"zoneload/{name}") / f"lmm_{name}.ko")
                   for name in ("locks", "bulk"))
    plan = guest.Plan(f"scaling-{image.name}", image, shift=0)
    task.load_module(plan)
    plan.add("insmod", "insmod bulk", path=bulk)
    loads = [load for load in LOADS if load.name in task.names]
    for side, policies in MEASURED.items():
        for on in (True, False):
            for policy in policies:
                plan.add("write", f"{side}, {policy} {on}", up=1, text=f"enabled={int(on)}",
                         path=f"{guest.DEBUGFS}/{policy}/config")
            for load in loads if on else ():
                name = f"{side}, {load.name}"
                if load.pages:
                    cpus = dict(zip(("alloc", "free"), load.cpus, strict=True))
                    for when in ("warm-up", "measured"):
                        plan.add("holds", f"{name}, {when}", locks=locks, pages=load.pages,
                                 cpus=cpus)
                    continue
                plan.program("crossed", f"{name}, warm-up", "zoneload", load.args)
                plan.program("holds", f"{name}, measured", "zoneload", load.args, locks=locks)
                for policy in policies:
                    plan.add("read", f"{name}, {policy} state",
                             path=f"{guest.DEBUGFS}/{policy}/state")
    results = guest.run(plan)
    rows = []
    for load in loads:
        sides = {side: results[f"{side}, {load.name}, measured"]["phases"] for side in MEASURED}
        for phase, base in sides[BASE].items():
            words = load.words if phase == "all" else f"{load.words}, {phase}"
            rows += [Row(image.name, words, metric, value(base), value(sides[side][phase]),
                         mode=side, detail={"base": base, side: sides[side][phase]})
                     for side in MEASURED if side != BASE for metric, value in METRICS.items()]
    return rows


BENCH = Bench("scaling", ("sides",), ("sides",), (
    Part([load.name for load in LOADS], load_rows, "holds of zone->lock"),
), quick=("bulk",))
