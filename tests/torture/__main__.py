# SPDX-License-Identifier: GPL-2.0-only
"""Torture livemm in guests: python3 -m tests.torture [--kernel K] [--seconds N] [--seed N]

Each guest runs a program of random steps that one seed makes; after each phase an oracle looks at
every page.  A run that was ended goes on where it stopped: build/torture/journal.json has each
guest that passed, by the state of the sources.  A program that fails is kept in build/torture/, and
cut down to a short one that still fails while there is time.

    --replay FILE   run one program again; --times N tells how often it fails
    --shrink FILE   cut a program down
    --faults [NAME]  plant faults in the module, one after the other: each must be found
    --check         a few short guests and every kept program: what `make check` runs
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path

from guests import kernel_build
from guests.accel import PARALLEL, SINGLE
from guests.boot import Guest, boot, guest_pool
from guests.kernels import Image, images, load
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from guests.verdict import Verdict
from tests import tables
from tests.run import build_for, build_programs, count
from tests.torture import faults, program, steps

FOLDER = BUILD / "torture"
JOURNAL = FOLDER / "journal.json"
KEPT = ROOT / "tests/torture/kept"
SCRIPT = ROOT / "tests/torture/guest.sh"
# What decides how a guest goes: with other sources, every guest is run again.
SOURCES = ["module", "tests/torture", "tests/kmod"]
# CPUs and nodes in turn.
SHAPES = [(2, 1), (4, 2)]
TIMEOUT = 1800.0  # wall seconds of a guest
# Built with every checker, these kernels run fewer steps a guest.
PHASES = 4
STEPS = {True: 40, False: 80}
MEMORY = "1G"
# Of the guests that have to find a planted fault: all policies, then pcp with zonelock.
FAULT_SEEDS = (2, 4, 11, 6)
# The OOM killer prints a call trace, and a guest that is short of memory says so.
ALLOWED = [r"\bCall Trace:"]


@dataclass(frozen=True)
class Run:
    """A guest to be."""

    image: Image
    cpus: int
    nodes: int
    program: program.Program

    @property
    def name(self) -> str:
        """Names files, the guest and the journal's entry."""
        return f"torture-{self.image.name}-{self.cpus}x{self.nodes}-{self.program.seed}"


def policies_of(name: str) -> list[str]:
    """The policies that a kernel supports, by kernels.toml; a kernel built here has CMA."""
    for kernel in load()[0]:
        if kernel.series == name:
            return [policy for policy, text in kernel.policies.items()
                    if not text.startswith("unsupported")]
    return list(tables.POLICIES)


def values(knob: tables.Knob) -> list[str]:
    """Some legal values of a knob: its words, or its bounds, its default and one between."""
    if knob.choices:
        return knob.choices
    if not knob.high:
        return [knob.default or "/", "/a:/b"]
    low, high = float(knob.low), float(knob.high)
    return sorted({knob.low, knob.default, knob.high, str(int((low + high) / 2))})


def release_of(image: Image) -> tuple[int, int]:
    """6.1.0-56-amd64 as 6, 1."""
    major, minor = image.release.split(".")[:2]
    return int(major), int(minor)


def draw(image: Image, seed: int, cpus: int, nodes: int, phases: int = PHASES) -> Run:
    """The guest that a seed makes."""
    policies = program.choose_policies(seed, policies_of(image.name))
    rows = tables.tables(release_of(image))
    knobs = {policy: {knob.name: values(knob) for knob in rows[policy].knobs}
             for policy in policies}
    machine = steps.Machine(image.name, cpus, nodes, image.debug, policies, knobs)
    drawn = program.draw_program(seed, policies, phases, cpus + 1, STEPS[image.debug],
                                 steps.drawer(machine))
    return Run(image, cpus, nodes, drawn)


def guest_of(run: Run, emulation: str) -> Guest:
    """The guest of a run, its program written where the guest finds it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{run.name}.program"
    path.write_text(run.program.dump(), encoding="utf-8")
    kargs = ["hugetlb_cma=64M"] if run.image.debug else []
    return Guest(name=run.name, image=run.image, script=SCRIPT, cpus=run.cpus, nodes=run.nodes,
                 memory=MEMORY, kargs=kargs, emulation=emulation, timeout=TIMEOUT,
                 allowed=ALLOWED, env={"LMM_PROGRAM": str(path)})


def state_of_sources() -> str:
    """A digest of what decides how a guest goes."""
    digest = hashlib.sha256()
    for name in SOURCES:
        for path in sorted((ROOT / name).rglob("*")):
            if path.suffix in (".c", ".h", ".S", ".py", ".sh"):
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class Journal:
    """Guests that have passed on these sources: name -> steps made and wall seconds."""

    def __init__(self) -> None:
        self.state = state_of_sources()
        self.passed: dict[str, list[float]] = {}
        if JOURNAL.exists():
            kept = json.loads(JOURNAL.read_text(encoding="utf-8"))
            if kept["sources"] == self.state:
                self.passed = kept["passed"]

    def add(self, name: str, made: int, seconds: float) -> None:
        """Keep a guest that has passed."""
        self.passed[name] = [made, round(seconds)]
        text = json.dumps({"sources": self.state, "passed": self.passed}, indent=1)
        JOURNAL.write_text(text + "\n", encoding="utf-8")

    def __str__(self) -> str:
        made, seconds = (sum(row[at] for row in self.passed.values()) for at in (0, 1))
        return f"{made:.0f} steps in {len(self.passed)} guests, {seconds / 3600:.1f} guest hours"


def steps_made(verdict: Verdict) -> int:
    """As the guest has said."""
    for note in verdict.notes:
        word, _, number = note.rpartition(": ")
        if word == "steps made":
            return int(number)
    return 0


def runs(found: Sequence[Image], seed: int) -> Iterator[Run]:
    """Guests without end: each seed on every kernel."""
    while True:
        for image in found:
            yield draw(image, seed, *SHAPES[seed % len(SHAPES)])
        seed += 1


def find_fault(name: str, torturer: Torturer) -> str:
    """Plant a fault, and torture until a guest fails; "" when the fault was found in time."""
    image = images(faults.FAULTS[name].kernel)[0]
    folder = faults.build(name, image)
    for seed in FAULT_SEEDS:
        run = draw(image, seed, *SHAPES[seed % len(SHAPES)])
        guest = guest_of(run, torturer.emulation)
        verdict = boot(replace(guest, name=f"fault-{name}-{seed}", modroot=folder / "modroot",
                               env={**guest.env, "LMM_MODDIR": str(folder)}))
        if not verdict.ok:
            bad = [f"{test.name}: {test.note}" for test in verdict.tests if not test.ok]
            said = "\n".join(bad) or verdict.reason
            say(f"     {name}: found with seed {seed} after {verdict.seconds:.0f} s: "
                f"{said.splitlines()[min(1, said.count(chr(10)))][:150]}")
            return ""
    return f"not found with seeds {', '.join(map(str, FAULT_SEEDS))}"


@dataclass
class Torturer:
    """Runs guests within a time."""

    stage: Stage
    emulation: str
    end: float
    jobs: int

    @property
    def late(self) -> bool:
        """Whether no further guest may begin."""
        return time.monotonic() > self.end

    def go(self, run: Run) -> Verdict:
        """Boot a guest; judge it by the verdict channel and the console."""
        verdict = boot(guest_of(run, self.emulation))
        if not verdict.tests and not verdict.reason:
            verdict.reason = "the guest made no check"
        return verdict

    def many(self, wanted: Iterator[Run], journal: Journal) -> list[Run]:
        """Guests side by side until the time is over; those that failed."""
        failed: list[Run] = []
        with guest_pool(self.jobs) as pool:
            pending: dict[Future[Verdict], Run] = {}
            while not failed and not self.late or pending:
                while not failed and not self.late and len(pending) < self.jobs:
                    run = next(wanted, None)
                    if run is None:
                        self.end = 0
                        break
                    if run.name not in journal.passed:
                        pending[pool.submit(self.go, run)] = run
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    run, verdict = pending.pop(future), future.result()
                    count(self.stage, verdict)
                    if verdict.ok:
                        journal.add(run.name, steps_made(verdict), verdict.seconds)
                    else:
                        failed.append(run)
                    say(f"     so far: {journal}")
        return failed

    def shrink(self, run: Run, tries: int) -> Run:
        """The shortest program that still fails, once in `tries` guests."""
        number = 0

        def fails(kept: Sequence[program.Step]) -> bool:
            nonlocal number
            for _ in range(tries):
                if self.late:
                    return False
                number += 1
                part = replace(run, program=replace(run.program, steps=tuple(kept)))
                if not self.go(part).ok:
                    say(f"     {len(kept)} steps still fail")
                    return True
            return False

        last = max((step.phase for step in run.program.steps), default=0)
        least = program.minimise(run.program.steps, fails)
        path = FOLDER / f"{run.name}.least"
        short = replace(run, program=replace(run.program, steps=tuple(least)))
        path.write_text(short.program.dump(), encoding="utf-8")
        say(f"---- {len(run.program.steps)} steps in {last + 1} phases cut down to {len(least)}, "
            f"{number} guests: {path}")
        for step in least:
            say(f"     {step}")
        return short


def read_run(path: Path, image: Image, cpus: int, nodes: int) -> Run:
    """A program from a file."""
    try:
        return Run(image, cpus, nodes, program.parse(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{path}: not a program of steps: {error}") from error


def check_runs(found: Sequence[Image]) -> Iterator[Run]:
    """What `make check` runs: kept programs on the first kernel, then a short guest a kernel."""
    for path in sorted(KEPT.glob("*.program")):
        yield read_run(path, found[0], *SHAPES[0])
    for image in found:
        yield draw(image, 2, *SHAPES[0], phases=2)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="tests.torture", description="random steps in parallel guests, and an oracle")
    parser.add_argument("--kernel", action="append",
                        help="only this kernel: a series, a release or debug; repeatable")
    parser.add_argument("--seconds", type=float, default=3600,
                        help="begin no guest after so many wall seconds (3600)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first guest (1)")
    parser.add_argument("--jobs", type=int, default=2, help="guests at once (2)")
    parser.add_argument("--emulation", choices=[SINGLE, PARALLEL], default=PARALLEL,
                        help="without KVM: a thread for each CPU, or one for all (parallel)")
    parser.add_argument("--cpus", type=int, default=2, help="of --replay and --shrink (2)")
    parser.add_argument("--nodes", type=int, default=1, help="of --replay and --shrink (1)")
    parser.add_argument("--times", type=int, default=1,
                        help="guests of --replay, and of each try of --shrink (1)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run this program")
    parser.add_argument("--shrink", type=Path, metavar="FILE", help="cut this program down")
    parser.add_argument("--faults", nargs="*", metavar="NAME", choices=list(faults.FAULTS),
                        help="plant these faults (default all): each must be found")
    parser.add_argument("--check", action="store_true", help="a few short guests")
    args = parser.parse_args()
    for name in ("jobs", "times", "cpus", "nodes"):
        if getattr(args, name) < 1:
            raise ToolError(f"--{name} {getattr(args, name)}: must be at least 1")
    return args


def main() -> int:
    """The command."""
    args = arguments()
    stage = Stage("torture")
    if args.faults is not None:
        build_programs()
        torturer = Torturer(stage, args.emulation, float("inf"), 1)
        for name in args.faults or faults.FAULTS:
            stage.run(f"finds the planted fault {name}",
                      lambda name=name: find_fault(name, torturer))  # type: ignore[misc]
        return stage.finish()
    names = args.kernel or [kernel.series for kernel in load()[0]] + ["debug"]
    if args.check:
        names = args.kernel or ["debug", "6.1", "6.12"]
    for name in names:
        if name in load()[1]:
            kernel_build.ensure(name)
    found = [images(name)[0] for name in names]
    build_programs()
    # `make check` has built the modules already.
    if not args.check and not build_for(stage, found):
        return stage.finish()
    end = float("inf") if args.check else time.monotonic() + args.seconds
    torturer = Torturer(stage, args.emulation, end, args.jobs)
    journal = Journal()
    if args.shrink:
        torturer.shrink(read_run(args.shrink, found[0], args.cpus, args.nodes), args.times)
        return 0
    if args.replay:
        again = read_run(args.replay, found[0], args.cpus, args.nodes)
        for _ in range(args.times):
            count(stage, torturer.go(again))
        return stage.finish()
    wanted = check_runs(found) if args.check else runs(found, args.seed)
    if args.check:
        journal.passed = {}
    failed = torturer.many(wanted, journal)
    for run in [] if args.check else failed:
        torturer.shrink(run, 2)
    say(f"---- {journal}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
