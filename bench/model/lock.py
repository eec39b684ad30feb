# SPDX-License-Identifier: GPL-2.0-only
"""CPUs that meet at one lock, as a closed queueing network of one station.

A CPU thinks (works without the lock), waits, holds the lock, and thinks again.  Thinking
times are exponential.  A hold is Erlang-distributed, with a mean that depends on how the
hold began and on how many CPUs wait: a Markov chain with load-dependent service, solved
exactly.  README.md has the equations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

#: Stages of a hold: the coefficient of variation is 1/2.
STAGES = 4


@dataclass(frozen=True)
class Station:
    """What a CPU does between two holds of the lock, and in a hold; nanoseconds.

    think     mean time between the end of a hold and the next request
    hold      a hold whose data are in the CPU's own cache
    moved     more, where another CPU held the lock last: its data have to come from there
    handover  more, where the lock is handed to a CPU that waits
    growth    share of moved and handover that each CPU which waits adds
    """

    think: float
    hold: float
    moved: float = 0.0
    handover: float = 0.0
    growth: float = 0.0

    def free(self, cpus: int) -> float:
        """A hold that begins while nobody has the lock."""
        return self.hold + self.moved * (cpus - 1) / cpus

    def handed(self, waiting: float) -> float:
        """A hold that begins by a hand-over, while `waiting` others wait."""
        return self.hold + (self.moved + self.handover) * (1 + self.growth * waiting)


class Solved(NamedTuple):
    """One turn of a CPU: think, wait, hold.

    turn  mean nanoseconds of a turn
    wait  of these, waiting for the lock
    """

    turn: float
    wait: float

    @property
    def spin(self) -> float:
        """Share of the time that a CPU waits."""
        return self.wait / self.turn


def solve(station: Station, cpus: int, stages: int = STAGES) -> Solved:
    """The steady state of so many CPUs at the lock."""
    if station.think <= 0 or station.hold <= 0:
        raise ValueError("a station without think time or hold")

    # State 0: nobody is at the lock.  Others: how the hold began, how many CPUs are at the
    # lock, the stage that the hold is in.
    def state(handed: int, at: int, stage: int) -> int:
        return 1 + (handed * cpus + at - 1) * stages + stage

    rows: list[int] = []
    columns: list[int] = []
    rates: list[float] = []

    def move(source: int, target: int, rate: float) -> None:
        rows.extend((target, source))
        columns.extend((source, source))
        rates.extend((rate, -rate))

    arrival = 1 / station.think
    move(0, state(0, 1, 0), cpus * arrival)
    for handed in (0, 1):
        for at in range(1, cpus + 1):
            mean = station.handed(at - 1) if handed else station.free(cpus)
            for stage in range(stages):
                here = state(handed, at, stage)
                if at < cpus:
                    move(here, state(handed, at + 1, stage), (cpus - at) * arrival)
                if stage + 1 < stages:
                    after = state(handed, at, stage + 1)
                else:
                    after = state(1, at - 1, 0) if at > 1 else 0
                move(here, after, stages / mean)
    size = 1 + 2 * cpus * stages
    matrix = coo_matrix((rates, (rows, columns)), shape=(size, size)).tolil()
    # The balance of one state follows from the others: the chance of all states is 1 instead.
    matrix[0, :] = 1.0
    right = np.zeros(size)
    right[0] = 1.0
    chance = spsolve(matrix.tocsc(), right)
    at_lock = np.concatenate(([0], np.tile(np.repeat(np.arange(1, cpus + 1), stages), 2)))
    queue = float(chance @ at_lock)
    rate = (cpus - queue) * arrival
    busy = 1 - float(chance[0])
    return Solved(cpus / rate, max(0.0, (queue - busy) / rate))


def bound(station: Station, cpus: int) -> Solved:
    """The same where no two CPUs meet by chance: every hold takes as long, and all thinking.

    The asymptotic bound of a closed network: a CPU waits only where the lock is always held.
    """
    free = station.free(cpus)
    if cpus * free <= station.think + free:
        return Solved(station.think + free, 0.0)

    def waiting(hold: float) -> float:
        """CPUs that wait when such a hold begins: all but the holder and those that think."""
        return max(0.0, cpus - 1 - station.think / hold)

    longest = station.handed(cpus)
    hold = brentq(lambda hold: station.handed(waiting(hold)) - hold, station.hold / 2, 2 * longest)
    turn = max(station.think + hold, cpus * hold)
    return Solved(turn, turn - station.think - hold)
