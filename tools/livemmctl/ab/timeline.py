# SPDX-License-Identifier: GPL-2.0-only
"""What is due now: waiting, the time before, an arm, a block, or the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from livemmctl.ab.model import Experiment
from livemmctl.ab.schedule import Block

#: In the order in which they come.
PHASES = WAIT, BASELINE, RUN, DONE = "wait", "baseline", "run", "done"


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
