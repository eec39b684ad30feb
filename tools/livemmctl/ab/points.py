# SPDX-License-Identifier: GPL-2.0-only
"""What was seen, in one form, wherever it came from: journals or Prometheus."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Point:
    """What a host saw of one metric between two readings, or at one.

    The metric is `num` / `den`: growth over seconds, growth over growth, or a level over 1.
    """

    host: str
    num: float
    den: float
    #: Before the arm began.
    before: bool = False
    #: Switchback: the block.
    block: int | None = None
    #: When it was seen, in seconds since 1970.
    at_s: float = 0.0


@dataclass
class HostSeen:
    arm: str
    stratum: str = ""
    #: Why its arm was not applied, or not all the time; empty: it was.
    held: str = ""
    #: The guardrail that was passed there.
    guard: str = ""
    #: When, in seconds since 1970.
    guard_s: float = 0.0
    #: Its arm was another later on; it is counted in the first.
    moved: bool = False
    #: The arm it is in now, by the weights of today.
    arm_now: str = ""
    #: Why the experiment is over there; empty: it is not.
    ended: str = ""
    #: The kernel series that it joined with, where kernels come one after the other.
    kernel: str = ""
    #: When its arm began, in seconds since 1970.
    joined_s: float = 0.0


@dataclass(frozen=True)
class BlockSeen:
    host: str
    index: int
    arm: str
    complete: bool


@dataclass
class Seen:
    #: By metric.
    points: dict[str, list[Point]]
    hosts: dict[str, HostSeen] = field(default_factory=dict)
    blocks: list[BlockSeen] = field(default_factory=list)
    #: Guardrails passed: arm and guardrail.
    guards: list[tuple[str, str]] = field(default_factory=list)
    #: What a reader ought to know of how this was read.
    notes: list[str] = field(default_factory=list)
    #: Why nothing may be concluded from it, whatever the numbers are.
    faults: list[str] = field(default_factory=list)
    #: Has all the planned time passed?
    over: bool = False
    #: Seconds between two points of a host at most, as far as the source goes.
    step_s: float = 0.0
