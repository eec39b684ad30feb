# SPDX-License-Identifier: GPL-2.0-only
"""Programs of steps: drawn from a seed, written as JSON, cut down while they still fail.

Pure: the same seed and machine give the same program on every host.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from random import Random


@dataclass(frozen=True)
class Step:
    """One action of a worker.

    phase   steps of a phase run side by side; the oracle looks after each phase
    worker  steps of one worker run one after the other
    kind    row of tests.torture.steps
    words   what the row's own draw() has chosen
    """

    phase: int
    worker: int
    kind: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([f"phase {self.phase} worker {self.worker}:", self.kind, *self.words])


@dataclass(frozen=True)
class Program:
    """What one guest does.

    kernel    the guest's kernel: a series, or debug
    policies  the policies that the steps may touch
    """

    seed: int
    kernel: str
    cpus: int
    nodes: int
    policies: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """A name that no other program has."""
        digest = hashlib.sha256(self.dump().encode()).hexdigest()[:8]
        return f"torture-{self.kernel}-{self.cpus}x{self.nodes}-{self.seed}-{digest}"

    def dump(self) -> str:
        """The program as JSON, a line a step, so that people can cut lines by hand."""
        head = json.dumps({"seed": self.seed, "kernel": self.kernel, "cpus": self.cpus,
                           "nodes": self.nodes, "policies": self.policies})
        return "\n".join([head, *(json.dumps(asdict(step)) for step in self.steps)]) + "\n"


def parse(text: str) -> Program:
    """The inverse of Program.dump(); a ValueError for anything else.

    A line that people write may have "times": so many steps.  Lines with # are comments.
    """
    head, *lines = (json.loads(line) for line in text.splitlines()
                    if line.strip() and not line.startswith("#"))
    steps = tuple(step for line in lines for step in [
        Step(int(line["phase"]), int(line["worker"]), str(line["kind"]),
             tuple(map(str, line["words"])))] * int(line.get("times", 1)))
    if not steps:
        raise ValueError("no steps")
    return Program(int(head["seed"]), str(head["kernel"]), int(head["cpus"]), int(head["nodes"]),
                   tuple(head["policies"]), steps)


# Draws a kind by its weight and words for the kind; or words for the kind that is named.
Draw = Callable[[Random, str], tuple[str, tuple[str, ...]]]
# A program of so many steps for each kind has every kind.
LONG = 100


def draw_steps(seed: int, phases: int, workers: int, steps: int, draw: Draw,
               kinds: Sequence[str] = ()) -> tuple[Step, ...]:
    """Steps such that each worker makes `steps` of them a phase.

    kinds  a long program has each of these, however rarely the kind is drawn
    """
    rnd = Random(seed)
    drawn = [Step(phase, worker, *draw(rnd, ""))
             for phase in range(phases) for worker in range(workers) for _ in range(steps)]
    often = Counter(step.kind for step in drawn)
    for kind in kinds if len(drawn) >= LONG * len(kinds) else ():
        while not often[kind]:
            at = rnd.randrange(len(drawn))
            step = drawn[at]
            if often[step.kind] > 1:
                often[step.kind] -= 1
                often[kind] += 1
                drawn[at] = Step(step.phase, step.worker, *draw(rnd, kind))
    return tuple(drawn)


def choose_policies(seed: int, known: Sequence[str]) -> list[str]:
    """The policies of a guest: each alone, each pair, and, every other time, all of them."""
    if seed % 2 == 0:
        return list(known)
    sets = [[one] for one in known]
    sets += [[one, other] for at, one in enumerate(known) for other in known[at + 1:]]
    return sets[seed // 2 % len(sets)]


def minimise(steps: Sequence[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """The fewest of the steps that still fail, by removing ever smaller parts (ddmin).

    Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input" (TSE 2002).  `fails`
    may answer False for want of time: what is known to fail by then is the result.
    """
    kept = list(steps)
    parts = 2
    while len(kept) >= 2:
        size = -(-len(kept) // parts)
        for start in range(0, len(kept), size):
            rest = kept[:start] + kept[start + size:]
            if rest and fails(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
        else:
            if parts >= len(kept):
                break
            parts = min(parts * 2, len(kept))
    return kept
