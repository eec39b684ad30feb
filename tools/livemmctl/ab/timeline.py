# SPDX-License-Identifier: GPL-2.0-only
"""What is due now: waiting, the time before, an arm, a block of time, or the end."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from livemmctl.ab.model import Experiment

#: In the order in which they come.
PHASES = WAIT, BASELINE, RUN, DONE = "wait", "baseline", "run", "done"


@dataclass(frozen=True)
class Block:
    """A block of time; seconds are counted from the start of the run."""

    index: int
    arm: str
    start_s: float
    end_s: float
    #: What is seen before is the last block's doing, and is thrown away.
    washed_s: float


@dataclass(frozen=True)
class Slot:
    phase: str
    #: Switchback: the block; None otherwise.
    block: Block | None = None
    #: Switchback: is the washout over?
    washed: bool = True
    #: Seconds until something else is due.
    left_s: float = float("inf")

    @property
    def where(self) -> dict[str, int]:
        """The block's number, as the journal has it; empty by host."""
        return {} if self.block is None else {"block": self.block.index}


@dataclass(frozen=True)
class HostTimeline:
    """By host: everything in seconds since 1970, so that hosts agree and reboots pass over."""

    baseline_from_s: float
    arm_from_s: float
    end_s: float

    def at(self, wall_s: float, elapsed_s: float) -> Slot:
        """What is due at a moment."""
        if wall_s >= self.end_s:
            return Slot(DONE)
        if wall_s >= self.arm_from_s:
            return Slot(RUN, left_s=self.end_s - wall_s)
        if wall_s >= self.baseline_from_s:
            return Slot(BASELINE, left_s=self.arm_from_s - wall_s)
        return Slot(WAIT, left_s=self.baseline_from_s - wall_s)


def host_timeline(
    experiment: Experiment, first_start_s: float, joins_after_s: float
) -> HostTimeline:
    """The timeline of one host whose first runner started at `first_start_s`.

    `joins_after_s`: seconds from the experiment's start to its turn in the ramp.
    """
    before_s = first_start_s + experiment.baseline_s
    if experiment.start_s is None:
        arm_s, end_s = before_s, before_s + experiment.duration_s
    else:
        # A late runner still sees the time before; the end is the same for all.
        arm_s = max(experiment.start_s + joins_after_s, before_s)
        end_s = experiment.start_s + experiment.duration_s
    return HostTimeline(arm_s - experiment.baseline_s, arm_s, end_s)


def gated_timeline(
    experiment: Experiment, first_start_s: float, opened_s: float | None
) -> HostTimeline:
    """The same where a decision lets the host in, at `opened_s`; None: not yet.

    Until then the host is in its time before, if the experiment has one.
    """
    before_s = first_start_s + experiment.baseline_s
    # The end is the same for all, and is the one that a report has.
    start_s = before_s if experiment.start_s is None else experiment.start_s
    arm_s = float("inf") if opened_s is None else max(opened_s, before_s, start_s)
    from_s = first_start_s if experiment.baseline_s else arm_s
    return HostTimeline(from_s, arm_s, start_s + experiment.duration_s)


def _shuffled(names: list[str], seed: str) -> list[str]:
    """In an order drawn by the seed.

    Not by Python's random, whose orders may be others in its next version, while a run
    is under way.
    """
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())


def blocks_of(experiment: Experiment, host: str) -> list[Block]:
    """Every block of a switchback on a host, in their order.

    Blocks come in rounds; in each, every arm has one block, in an order drawn at random.
    So arms share the time evenly whenever the run ends, a trend over the day falls on all of
    them alike, and no arm always follows the same other one.  The same seed, salt and host
    give the same order, always and everywhere.
    """
    plan = experiment.switchback
    if plan is None:
        raise ValueError("not a switchback")
    names = [arm.name for arm in experiment.arms]
    seed = f"{experiment.salt}/{plan.seed}/{host}"
    blocks: list[Block] = []
    for turn in range(int(experiment.duration_s // (plan.block_s * len(names)))):
        for arm in _shuffled(names, f"{seed}/{turn}"):
            start_s = len(blocks) * plan.block_s
            blocks.append(
                Block(len(blocks), arm, start_s, start_s + plan.block_s, start_s + plan.washout_s)
            )
    return blocks


@dataclass(frozen=True)
class SwitchbackTimeline:
    """By time: blocks follow each other on the clock that never jumps.

    `blocks` are those still to be run; the first begins at `anchor_s`.
    """

    blocks: Sequence[Block]
    anchor_s: float

    def at(self, wall_s: float, elapsed_s: float) -> Slot:
        if not self.blocks:
            return Slot(DONE)
        since_s = elapsed_s - self.anchor_s + self.blocks[0].start_s
        for block in self.blocks:
            if since_s < block.washed_s:
                return Slot(RUN, block, False, block.washed_s - since_s)
            if since_s < block.end_s:
                return Slot(RUN, block, True, block.end_s - since_s)
        return Slot(DONE)


Timeline = HostTimeline | SwitchbackTimeline
