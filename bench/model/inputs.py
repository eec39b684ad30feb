# SPDX-License-Identifier: GPL-2.0-only
"""What the model is fed with: counts of guests, published points, assumptions; see inputs.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = HERE / "inputs.toml"


@dataclass(frozen=True)
class Counts:
    """What a load does for a page, counted in a guest.

    instructions  of all its CPUs, in the lock and out of it
    held          of these, while zone->lock is held
    holds         of zone->lock
    blocks        that go over zone->lock
    """

    instructions: float
    held: float
    holds: float
    blocks: float

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.instructions + other.instructions, self.held + other.held,
                      self.holds + other.holds, self.blocks + other.blocks)


@dataclass(frozen=True)
class Point:
    """Published nanoseconds an operation of the stock allocator, on so many cores."""

    benchmark: str
    operation: str
    cores: int
    ns: float


@dataclass(frozen=True, eq=False)
class Inputs:
    """counts by kernel, load and policy; published points; assumed figures with their ranges.

    Two are the same only if they are one: so what was fitted to one can be kept.
    """

    counts: dict[tuple[str, str, str], Counts]
    points: tuple[Point, ...]
    assumed: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]

    def point(self, benchmark: str, operation: str, cores: int) -> float:
        for point in self.points:
            if (point.benchmark, point.operation, point.cores) == (benchmark, operation, cores):
                return point.ns
        raise KeyError(f"{benchmark} {operation} at {cores} cores")


def read(document: dict[str, Any]) -> Inputs:
    counts = {
        (kernel, load, policy): Counts(*figures)
        for kernel, loads in document["counts"].items()
        for load, policies in loads.items() for policy, figures in policies.items()
    }
    assumed = document["assumed"]
    return Inputs(counts, tuple(Point(*point) for point in document["published"]["points"]),
                  *({name: float(row[index]) for name, row in assumed.items()}
                    for index in (0, 1, 2)))


@cache
def inputs() -> Inputs:
    return read(tomllib.loads(FILE.read_text(encoding="utf-8")))
