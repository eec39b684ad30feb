# SPDX-License-Identifier: GPL-2.0-only
"""From counts and published points to predictions with intervals."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from scipy.optimize import brentq

from bench.model.inputs import Counts, Inputs, inputs
from bench.model.lock import STAGES, Solved, Station, bound, solve
from bench.model.table import REPEAT, Key, Value

#: The machine of the published points, and how far they are predicted.
PUBLISHED_KERNEL = "6.0"
PUBLISHED_CORES = range(1, 33)
#: Our counts for its kernel: of the release after it.
COUNTED_KERNEL = "6.1"
#: Published benchmarks that meet at the lock, by operation: the halves of our bulk load.
RANDOM = "rand alloc+free"
OPERATIONS = {"bulk alloc": ("alloc",), "bulk free": ("free",), RANDOM: ("alloc", "free")}
#: Bytes a page that one `rep` instruction each clears or copies in our guests; they are no
#: instructions of a CPU.  Debian's kernels clear each page that they allocate (init_on_alloc), the
#: published one did not.
CLEARED = {"alloc": 4096, "free": 0}
FITTED_CORES = 8

STOCK = "stock"
POLICIES = (STOCK, "pcp", "zonelock", "both")
KERNELS = ("6.1", "6.12", "7.2")
CPUS = (8, 16, 28, 32, 48, 56, 64, 80, 96, 112)
ZONES = (1, 2)
PAGE = 4096


@dataclass(frozen=True)
class Case:
    """One set of the assumptions: the central one, or a corner of their ranges."""

    share: float
    think: float
    growth: float
    handover: float
    bytes_ns: float
    chance: bool = True

    def solved(self, station: Station, cpus: int, stages: int = STAGES) -> Solved:
        return solve(station, cpus, stages) if self.chance else bound(station, cpus)


def central(given: Inputs) -> Case:
    at = given.assumed
    return Case(at["share"], at["think"], at["growth"], at["handover_ns"], at["bytes_ns"])


def cases(given: Inputs) -> list[Case]:
    """The central one first, then every corner."""
    low, high, at = given.low, given.high, given.assumed
    corners = [
        Case(share, think, growth, at["handover_ns"], at["bytes_ns"], chance)
        for share, think, growth, chance in itertools.product(
            (low["share"], high["share"]), (low["think"], high["think"]),
            (low["growth"], high["growth"]), (True, False))
    ]
    return [central(given), *corners]


def station_of(counts: Counts, ns: float, hold: float, moved: float, case: Case) -> Station:
    """The station of a load.

    ns     of a page without the lock's holds
    hold   nanoseconds under the lock a page, its data at hand
    moved  more, a page, where they are not
    """
    return Station(ns / counts.holds, hold / counts.holds, moved / counts.holds, case.handover,
                   case.growth)


def bulk_counts(given: Inputs, operation: str) -> Counts:
    """Of a published benchmark: what our bulk load does, without clearing pages."""
    parts = []
    for part in OPERATIONS[operation]:
        found = given.counts[COUNTED_KERNEL, part, STOCK]
        parts.append(replace(found, instructions=found.instructions - CLEARED[part]))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@cache
def fitted(given: Inputs, operation: str, case: Case) -> tuple[Station, float]:
    """The station of a published benchmark, and `moved` of a page, fitted to 1 and 8 cores.

    One core gives the nanoseconds of an instruction, eight the cost of moved data.  Where eight
    cores show that holds are shorter than their share of the instructions, no data move, and the
    hold is fitted.
    """
    counts = bulk_counts(given, operation)
    benchmark, _, name = operation.partition(" ")
    one, many = (given.point(benchmark, name, cores) for cores in (1, FITTED_CORES))
    hold = one * min(0.99, counts.held / counts.instructions * case.share)

    def at(hold: float, moved: float) -> Station:
        return station_of(counts, one - hold, hold, moved, case)

    def off(hold: float, moved: float) -> float:
        return case.solved(at(hold, moved), FITTED_CORES).turn * counts.holds - many

    if off(hold, 0.0) > 0:
        return at(float(brentq(lambda hold: off(hold, 0.0), hold / 10, hold)), 0.0), 0.0
    moved = float(brentq(lambda moved: off(hold, moved), 0.0, many))
    return at(hold, moved), moved


def interval(values: Sequence[float]) -> Value:
    """The first is the central one."""
    return Value(values[0], min(values), max(values))


def published(
    given: Inputs, cpus: Sequence[int] = PUBLISHED_CORES
) -> Iterator[tuple[Key, Value]]:
    """The published machine, 1 to 32 cores: ns an operation, millions a second, time waiting."""
    for operation in OPERATIONS:
        for cores in cpus:
            ns, spin = [], []
            for case in cases(given):
                station, _ = fitted(given, operation, case)
                found = case.solved(station, cores)
                ns.append(found.turn * bulk_counts(given, operation).holds)
                spin.append(100 * found.spin)
            yield from _rows(operation, cores, ns, spin)
    benchmark, _, name = REPEAT.partition(" ")
    one, many = (given.point(benchmark, name, cores) for cores in (1, FITTED_CORES))
    for cores in cpus:
        yield from _rows(REPEAT, cores, [(one + many) / 2, one, many], [0.0])


def _rows(
    operation: str, cores: int, ns: Sequence[float], spin: Sequence[float]
) -> Iterator[tuple[Key, Value]]:
    for metric, values in (("ns", ns), ("M/s", [cores * 1000 / one for one in ns]),
                           ("spin %", spin)):
        yield (Key(operation, PUBLISHED_KERNEL, STOCK, 1, cores, metric), interval(values))


def instruction_ns(given: Inputs) -> float:
    """Of the published machine: one core's bulk load over its instructions."""
    counts = bulk_counts(given, RANDOM)
    return (given.point("bulk", "alloc", 1) + given.point("bulk", "free", 1)) / counts.instructions


def moved_ns(given: Inputs, case: Case) -> float:
    """Of a block that goes over the lock, in either direction."""
    moved = [fitted(given, name, case)[1] for name in ("bulk alloc", "bulk free")]
    blocks = sum(bulk_counts(given, name).blocks for name in ("bulk alloc", "bulk free"))
    return sum(moved) / blocks


@dataclass(frozen=True)
class Load:
    """A load of many CPUs.

    counted   the load of our guests that stands for it
    touched   bytes a page that `rep` instructions clear or copy, one instruction a byte
    metric    unit of throughput, and its bytes: PAGE in 10^9 bytes or bits a second
    link      most that a link takes, in that unit; infinite: none
    """

    name: str
    counted: str
    touched: int
    metric: str
    scale: float
    link: float = float("inf")

    def station(self, given: Inputs, counts: Counts, case: Case) -> tuple[Station | None, float]:
        """The station, None without holds, and nanoseconds of a page outside of the lock."""
        per = instruction_ns(given)
        plain = counts.instructions - counts.held - self.touched
        think = case.think * (plain * per + self.touched * case.bytes_ns)
        if not counts.holds:
            return None, think
        hold = counts.held * per * case.share
        return station_of(counts, think, hold, moved_ns(given, case) * counts.blocks, case), think

    def run(self, given: Inputs, counts: Counts, cpus: int, zones: int, case: Case
            ) -> tuple[float, float]:
        """Throughput, and percent of the CPUs' time that they wait for the lock."""
        station, think = self.station(given, counts, case)
        each = cpus // zones

        def rate(found: Solved) -> float:
            return cpus / (found.turn * counts.holds) * self.scale

        if station is None:
            return min(self.link, cpus / think * self.scale), 0.0
        found = case.solved(station, each)
        if rate(found) <= self.link:
            return rate(found), 100 * found.spin
        # The CPUs idle as long as makes the link just full; that is no waiting for the lock.
        slow = Station(cpus * self.scale / self.link / counts.holds, station.hold,
                       station.moved, station.handover, station.growth)
        return self.link, 100 * case.solved(slow, each).spin


#: 100 Gb/s Ethernet, frames of 1500 bytes: 1448 of 1538 bytes on the wire are payload.
LINK = 100 * 1448 / 1538
LOADS = (
    Load("page_fault1", "fault", PAGE, "GB/s", PAGE),
    Load("socket", "socket", 3 * PAGE, "Gb/s", 8 * PAGE),
    Load("netperf at 100 Gb/s", "socket", 3 * PAGE, "Gb/s", 8 * PAGE, LINK),
)


def many(given: Inputs, cpus: Sequence[int] = CPUS) -> Iterator[tuple[Key, Value]]:
    """8 to 112 CPUs: throughput, and the share of time waiting."""
    everything = cases(given)
    for load, kernel, policy in itertools.product(LOADS, KERNELS, POLICIES):
        counts = given.counts.get((kernel, load.counted, policy))
        if counts is None:
            continue
        for zones, number in itertools.product(ZONES, cpus):
            runs = [load.run(given, counts, number, zones, case) for case in everything]
            for metric, values in zip((load.metric, "spin %"), zip(*runs, strict=True),
                                      strict=True):
                yield Key(load.name, kernel, policy, zones, number, metric), interval(values)


def predictions() -> dict[Key, Value]:
    """All of them."""
    given = inputs()
    return dict(itertools.chain(published(given), many(given)))
