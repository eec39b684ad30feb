# SPDX-License-Identifier: GPL-2.0-only
"""The patch series' points by three other ways, after the fact: no predictions.

docs/model.md shows the rows and says what each way is; model/test_page.py holds the page against
the rows.  No way is fitted to a point that is compared: each changes what is taken as known of
machine and load.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from knob_tables import ROOT
from livemmctl.model.inputs import inputs
from livemmctl.model.lock import Solved, Station
from livemmctl.model.predict import (
    COUNTED_KERNEL,
    LOADS,
    PAGE,
    Key,
    central,
    instruction_ns,
    moved_ns,
    random_ns,
)
from livemmctl.model.table import figure, read_measured
from scipy.optimize import brentq

#: Bytes of payload of a page of netperf: the source had each page carry one packet.
PACKET = 1448
#: 10^9 bytes a second of a socket's memory by data sheet (channels, MT/s, 8 bytes), by load and
#: sockets: 8 at 4800 (56 cores a socket: Sapphire Rapids, no source names the model), 6 at 2666
#: (Skylake), 4 at 2133 (E5-2680 v3).
MEMORY = {("page_fault1", 1): 307.2, ("page_fault1", 2): 128.0, ("netperf at 100 Gb/s", 2): 68.3}
#: Bytes that go over a channel for a byte written: the line is read, and later written back.
CROSSED = 2
#: Over a line that moves within a socket: every other one comes from the other, for 2.5 times.
FAR = 1.75
#: Holds, and instructions under the lock, of a page of a load that took the lock never.
LEAST = 1e-6


@dataclass(frozen=True)
class Way:
    """What is not as in the predictions.

    mixed   free pages in random order (the published benchmark of them is fitted), and netperf with
            one zone (that of the network card) and a packet a page
    memory  a second station: a socket's memory
    far     of moved data and hand-over where CPUs of two sockets share a lock; 1: as near
    """

    mixed: bool = False
    memory: bool = False
    far: float = 1.0


WAYS = (Way(mixed=True), Way(memory=True), Way(mixed=True, far=FAR))


def outcome(key: Key, way: Way, think_ns: float | None = None) -> float:
    """What the model says of the point.  think_ns: of a page outside of the lock, if known."""
    given = inputs()
    case = central(given)
    load = next(load for load in LOADS if load.name == key.load)
    counts = given.counts[COUNTED_KERNEL, load.counted, key.policy]
    netperf = load.counted == "socket"
    plain = counts.instructions - counts.held - load.touched
    touched, scale, zones = load.touched, load.scale, key.zones
    if way.mixed and netperf:
        counts = (given.counts[COUNTED_KERNEL, "alloc", key.policy]
                  + given.counts[COUNTED_KERNEL, "free", key.policy])
        touched, scale, zones = load.touched * PACKET // PAGE, load.scale * PACKET / PAGE, 1
    counts = replace(counts, holds=max(counts.holds, LEAST), held=max(counts.held, LEAST))
    think = think_ns or plain * instruction_ns(given) + touched * case.bytes_ns
    hold, moved = counts.held * instruction_ns(given), moved_ns(given, case) * counts.blocks
    if way.mixed:
        hold, moved = (counts.blocks * ns for ns in random_ns(given, case))
    far = way.far if netperf else 1.0
    cpus = key.cpus // zones
    base = Station(think / counts.holds, hold / counts.holds, far * moved / counts.holds,
                   far * case.handover)

    def solved(memory: float) -> Solved:
        return case.solved(replace(base, think=base.think + memory / counts.holds), cpus)

    def late(memory: float) -> float:
        """Memory as a shared processor (Schweitzer): what a page waits there, less that guess."""
        there = memory * cpus / (solved(memory).turn * counts.holds)
        return own * (1 + (cpus - 1) / cpus * there) - memory

    own = CROSSED * touched / MEMORY[load.name, key.zones]
    found = solved(brentq(late, own, 2 * cpus * own) if way.memory else 0.0)
    rate = key.cpus / (found.turn * counts.holds) * scale
    if rate > load.link:
        rate = load.link
        found = case.solved(replace(base, think=key.cpus * scale / rate / counts.holds), cpus)
    return 100 * found.spin if key.metric == "spin %" else rate


def rows() -> Iterator[str]:
    """Of the table in docs/model.md."""
    for point in read_measured(ROOT / "docs/model/measured.csv"):
        if point.within != 20:
            continue
        key = point.key
        cells = [f"{figure(value)} ({100 * (value / point.value - 1):+.1f} %)"
                 for value in (outcome(key, way) for way in WAYS)]
        yield (f"| {key.load} | {key.policy} | {key.cpus} | {key.metric} | {figure(point.value)} "
               f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    print("\n".join(rows()))
