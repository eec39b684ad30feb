# SPDX-License-Identifier: GPL-2.0-only
"""Switchback: which arm each block of time on one host is in.

Blocks come in rounds; in each, every arm has one block, in an order drawn at random.
So arms share the time evenly whenever the run ends, a trend over the day falls on all of
them alike, and no arm always follows the same other one.
"""

import hashlib
from dataclasses import dataclass

from livemmctl.ab.model import Experiment


@dataclass(frozen=True)
class Block:
    """A block of time; seconds are counted from the start of the run."""

    index: int
    arm: str
    start_s: float
    end_s: float
    #: What is seen before is the last block's doing, and is thrown away.
    washed_s: float


def _shuffled(names: list[str], seed: str) -> list[str]:
    """In an order drawn by the seed.

    Not by Python's random, whose orders may be others in its next version, while a run
    is under way.
    """
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())


def blocks_of(experiment: Experiment, host: str) -> list[Block]:
    """Every block of a switchback on a host, in their order.

    The same seed, salt and host give the same order, always and everywhere.
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
