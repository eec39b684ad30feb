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
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from guests.accel import PARALLEL, SINGLE
from guests.boot import Guest, boot, guest_pool
from guests.kernels import DEBUG, Image, images, load, with_checkers
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from guests.verdict import Verdict
from tests import tables
from tests.run import PREEMPTIBLE, build_for, build_programs, count, have
from tests.torture import base, faults, program, steps
from tests.torture.program import Program

FOLDER = BUILD / "torture"
JOURNAL = FOLDER / "journal.json"
KEPT = ROOT / "tests/torture/kept"
SCRIPT = ROOT / "tests/torture/guest.sh"
# What decides how a guest goes: with other sources, every guest is run again.
SOURCES = ["module", "Kbuild", "tests/torture", "tests/kmod", "tests/programs", "guests"]
# CPUs and nodes in turn.
SHAPES = [(2, 1), (4, 2)]
# Wall seconds after which a guest begins no phase, at least and at most, and until a guest is
# given up.
LENGTH = (300.0, 1200.0)
TIMEOUT = 2400.0
# Long phases, as the oracle takes as long after a short one.  Built with every checker, kernels
# are slow.
PHASES = 12
STEPS = {True: 150, False: 500}
MEMORY = "1G"
READY = "loads run"  # the last check of a guest before the phases
BOOT = 60.0  # wall seconds until a guest has made its first step, at least
# Of the guests that have to find a planted fault: all policies, then one policy or two.
FAULT_SEEDS = (4, 2, 9, 11)
# Many short phases, the shorter ones on kernels with checkers: most faults show when policies go
# off, or in the work before.
FAULT_PHASES = 8
FAULT_STEPS = {True: 25, False: 100}
# Of the guests of `make check`: all policies, preemptible; fewer steps on kernels with checkers.
CHECK_SEED = 6
CHECK_STEPS = {True: 30, False: 60}
# The OOM killer prints a call trace, and a guest that is short of memory says so.
ALLOWED = [r"\bCall Trace:"]


def policies_of(name: str) -> list[str]:
    """The policies that a kernel supports, by kernels.toml; a kernel built here has CMA."""
    for kernel in load()[0]:
        if kernel.series == name:
            return [policy for policy, text in kernel.policies.items()
                    if not text.startswith("unsupported")]
    return list(tables.policies())


def reserve(image: Image) -> list[str]:
    """What the kernel's command line says of CMA."""
    return ["cma=64M"] if "cma" in policies_of(image.name) else []


def knob_values(policy: str, knob: tables.Knob, image: Image) -> list[str]:
    """values(), where most of the writes are not to be refused for the kernel's sake."""
    if (policy, knob.name) == ("cma", "mode") and not image.built:
        # Refills cannot be hooked on Debian's kernels that have CMA.
        return ["keep"]
    return values(knob)


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


def draw(image: Image, seed: int, cpus: int, nodes: int, phases: int = PHASES,
         most: int = 0) -> Program:
    """The program that a seed makes; each worker makes at most `most` steps a phase."""
    policies = program.choose_policies(seed, policies_of(image.name))
    rows = tables.tables(release_of(image))
    knobs = {policy: {knob.name: knob_values(policy, knob, image) for knob in rows[policy].knobs}
             for policy in policies}
    machine = base.Machine(image.name, cpus, nodes, image.debug, bool(reserve(image)), policies,
                           knobs)
    each = min(most, STEPS[image.debug]) if most else STEPS[image.debug]
    drawn = program.draw_steps(seed, phases, cpus + 1, each, steps.drawer(machine),
                               steps.kinds_of(machine))
    return Program(seed, image.name, cpus, nodes, tuple(policies), drawn)


def shape(seed: int) -> tuple[int, int]:
    """CPUs and nodes; even seeds, which test all policies, have every shape in turn too."""
    return SHAPES[seed // 2 % len(SHAPES)]


def preemption(seed: int) -> list[str]:
    """What the kernel's command line says of preemption: four seeds not, four fully."""
    return [PREEMPTIBLE] if seed // 4 % 2 else []


def guest_of(wanted: Program, emulation: str, name: str = "", seconds: float = 0) -> Guest:
    """The guest of a program, which is written where the guest finds it.

    seconds  after which the guest begins no phase; 0: the guest runs every phase
    """
    name = name or wanted.name
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.program"
    path.write_text(wanted.dump(), encoding="utf-8")
    image = images(wanted.kernel)[0]
    return Guest(name=name, image=image, script=SCRIPT, cpus=wanted.cpus, nodes=wanted.nodes,
                 memory=MEMORY, kargs=[*reserve(image), *preemption(wanted.seed)],
                 emulation=emulation, timeout=TIMEOUT, allowed=ALLOWED,
                 env={"LMM_PROGRAM": str(path), "LMM_SECONDS": f"{seconds:.0f}"})


def state_of_sources(found: Sequence[Image], emulation: str) -> str:
    """A digest of what decides how a guest goes."""
    digest = hashlib.sha256(" ".join([emulation, *(image.release for image in found)]).encode())
    for name in SOURCES:
        for path in sorted((ROOT / name).rglob("*")) or [ROOT / name]:
            if path.is_file() and path.suffix not in (".md", ".pyc"):
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class Journal:
    """Guests that have passed on these sources: name -> steps made and wall seconds."""

    def __init__(self, found: Sequence[Image], emulation: str) -> None:
        self.state = state_of_sources(found, emulation)
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


def programs(found: Sequence[Image], seed: int, most: int) -> Iterator[Program]:
    """Programs without end: each seed on every kernel."""
    while True:
        for image in found:
            yield draw(image, seed, *shape(seed), most=most)
        seed += 1


def complaint(verdict: Verdict) -> str:
    """The first thing that was wrong in a phase, or that the kernel reported; "" for neither.

    A guest that did not get to its first phase has shown nothing about the module.
    """
    for test in verdict.tests:
        if not test.ok:
            return test.name if test.name.startswith("phase ") else ""
    # An emulated kernel may fail to boot, without a module of ours.
    if not any(test.name == READY for test in verdict.tests):
        return ""
    first, _, rest = verdict.reason.partition("\n")
    if first != "the kernel reported:":
        return first
    # The same report has another time, CPU and process in the next guest.
    return re.sub(r"\d+", "N", rest.partition("\n")[0])


def find_fault(name: str, emulation: str, seconds: float) -> str:
    """Plant a fault, and torture until the fault shows; "" when that was in time."""
    image = images(faults.FAULTS[name].kernel)[0]
    folder = faults.build(name, image)
    end = time.monotonic() + seconds
    tried: list[str] = []
    # Each seed once more, in case a guest did not boot.
    seeds = [seed for seed in FAULT_SEEDS if shape(seed)[1] >= faults.FAULTS[name].nodes]
    for seed in [*seeds, *seeds]:
        left = end - time.monotonic()
        if left < BOOT:
            break
        if str(seed) in tried:
            continue
        wanted = draw(image, seed, *shape(seed), FAULT_PHASES, FAULT_STEPS[image.debug])
        guest = guest_of(wanted, emulation, f"fault-{name}-{seed}")
        verdict = boot(replace(guest, modroot=folder / "modroot", timeout=min(TIMEOUT, left),
                               env={**guest.env, "LMM_MODDIR": str(folder)}))
        # Of a guest that is cut short nobody knows whether the fault has made the guest hang.
        if left < TIMEOUT and verdict.reason.startswith("not done after"):
            break
        if seen := complaint(verdict):
            notes = [test.note for test in verdict.tests if not test.ok and test.note]
            say(f"     {name}: seed {seed}, {steps_made(verdict)} steps, {verdict.seconds:.0f} s: "
                f"{': '.join([seen, *notes])[:200]}")
            return ""
        if verdict.ok:
            tried.append(str(seed))
        else:
            say(f"     {name}: seed {seed}: {(verdict.reason or 'not ready').splitlines()[0]}")
    spent = seconds - (end - time.monotonic())
    return f"not found in {spent:.0f} s, seeds {', '.join(tried) or 'none'}"


def hunt(stage: Stage, emulation: str, seconds: float, name: str) -> None:
    """Count whether a planted fault is found."""
    stage.run(f"finds the planted fault {name}", partial(find_fault, name, emulation, seconds))


@dataclass
class Torturer:
    """Runs guests within a time."""

    stage: Stage
    emulation: str
    end: float
    jobs: int
    length: float = LENGTH[1]

    @property
    def late(self) -> bool:
        """Whether no further guest may begin."""
        return time.monotonic() > self.end

    def go(self, wanted: Program, name: str = "", whole: bool = True) -> Verdict:
        """Boot a guest; judge it by the verdict channel and the console.

        whole  every phase, else as many as there is time for
        """
        seconds = 0 if whole else min(self.length, max(1.0, self.end - time.monotonic()))
        verdict = boot(guest_of(wanted, self.emulation, name, seconds))
        if not verdict.tests and not verdict.reason:
            verdict.reason = "the guest made no check"
        return verdict

    def many(self, wanted: Iterator[Program], journal: Journal | None) -> list[Program]:
        """Guests side by side until the time is over; those that failed."""
        failed: list[Program] = []
        with guest_pool(self.jobs) as pool:
            pending: dict[Future[Verdict], Program] = {}
            while not failed and not self.late or pending:
                while not failed and not self.late and len(pending) < self.jobs:
                    one = next(wanted, None)
                    if one is None:
                        self.end = 0
                        break
                    if journal is None or one.name not in journal.passed:
                        pending[pool.submit(self.go, one, whole=journal is None)] = one
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    one, verdict = pending.pop(future), future.result()
                    count(self.stage, verdict)
                    if not verdict.ok:
                        failed.append(one)
                    elif journal is not None:
                        journal.add(one.name, steps_made(verdict), verdict.seconds)
                        say(f"     so far: {journal}")
        return failed

    def shrink(self, whole: Program, tries: int) -> Program:
        """The shortest program that still fails as the whole one, once in `tries` guests."""
        guests = 0
        wanted = ""

        def fails(kept: Sequence[program.Step]) -> bool:
            nonlocal guests, wanted
            for _ in range(tries):
                if self.late:
                    return False
                guests += 1
                seen = complaint(self.go(replace(whole, steps=tuple(kept)), f"{whole.name}-try"))
                if seen and seen == (wanted or seen):
                    wanted = seen
                    say(f"     {len(kept)} steps fail: {seen}")
                    return True
            return False

        if not fails(whole.steps):
            raise ToolError(f"{whole.name}: did not fail in {guests} guests; try --times")
        least = replace(whole, steps=tuple(program.minimise(whole.steps, fails)))
        path = FOLDER / f"{whole.name}.least"
        path.write_text(least.dump(), encoding="utf-8")
        say(f"---- {len(whole.steps)} steps cut down to {len(least.steps)} by {guests} guests")
        say(f"     {path}")
        for step in least.steps:
            say(f"     {step}")
        return least


def read_program(path: Path) -> Program:
    """A program from a file."""
    try:
        return program.parse(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{path}: not a program of steps: {error}") from error


def check_programs(found: Sequence[Image]) -> Iterator[Program]:
    """What `make check` runs: kept programs, then a short one on each kernel.

    From 6.4 to 6.15 a livepatch that comes has all CPUs interrupted thousands of times, and each
    waits for all.  Four CPUs that share two with the rest of `make check` take minutes for that.
    """
    for path in sorted(KEPT.glob("*.program")):
        yield read_program(path)
    for image in found:
        yield draw(image, CHECK_SEED, *SHAPES[image.debug], phases=2,
                   most=CHECK_STEPS[image.debug])


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="tests.torture", description="random steps in parallel guests, and an oracle")
    parser.add_argument("--kernel", action="append",
                        help="only this kernel: a series, a release, or one built here; repeatable")
    parser.add_argument("--seconds", type=float, default=3600,
                        help="begin no guest and no phase after so many wall seconds, of a "
                             "planted fault: end the hunt (3600)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first guest (1)")
    parser.add_argument("--jobs", type=int, default=2, help="guests at once (2)")
    parser.add_argument("--steps", type=int, default=max(STEPS.values()),
                        help="steps that a worker makes in a phase, at most; fewer where a phase "
                             "would take too long (500, on kernels with checkers 150)")
    parser.add_argument("--emulation", choices=[SINGLE, PARALLEL], default=PARALLEL,
                        help="without KVM: a thread for each CPU, or one for all (parallel)")
    parser.add_argument("--times", type=int, default=1,
                        help="guests of --replay, and of each try of --shrink (1)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run this program")
    parser.add_argument("--shrink", type=Path, metavar="FILE", help="cut this program down")
    parser.add_argument("--faults", nargs="*", metavar="NAME", choices=list(faults.FAULTS),
                        help="plant these faults (default all): each must be found")
    parser.add_argument("--check", action="store_true", help="a few short guests")
    args = parser.parse_args()
    for name in ("jobs", "steps", "times"):
        if getattr(args, name) < 1:
            raise ToolError(f"--{name} {getattr(args, name)}: must be at least 1")
    return args


def kernels_of(check: bool, planted: Sequence[str] | None) -> list[str]:
    """The kernels that are needed when none is named: of --check, of planted faults, or all."""
    if check:
        # Kept programs run on 6.1.
        return [DEBUG, "6.12"]
    if planted is not None:
        return sorted({faults.FAULTS[name].kernel for name in planted})
    return [*(kernel.series for kernel in load()[0]), *with_checkers()]


def main() -> int:
    args = arguments()
    stage = Stage("torture" if args.check else
                  "torture-long" if args.faults is None else "torture-faults")
    given = read_program(args.replay or args.shrink) if args.replay or args.shrink else None
    planted = args.faults if args.faults is None else args.faults or list(faults.FAULTS)
    names = [given.kernel] if given else args.kernel or kernels_of(args.check, planted)
    found = list(have(stage, names).values())
    if not found:
        return stage.finish()
    build_programs()
    end = float("inf") if args.check else time.monotonic() + args.seconds
    # A seed gets to every kernel.
    length = min(max(args.seconds * args.jobs / len(found), LENGTH[0]), LENGTH[1])
    torturer = Torturer(stage, args.emulation, end, args.jobs, length)
    if planted:
        with guest_pool(args.jobs) as pool:
            list(pool.map(partial(hunt, stage, args.emulation, args.seconds), planted))
        return stage.finish()
    # `make check` has built the modules already.
    if args.check:
        torturer.many(check_programs(found), None)
        return stage.finish()
    if not build_for(stage, found):
        return stage.finish()
    if args.shrink and given:
        torturer.shrink(given, args.times)
        return 0
    if given:
        for _ in range(args.times):
            count(stage, torturer.go(given))
        return stage.finish()
    journal = Journal(found, args.emulation)
    for failed in torturer.many(programs(found, args.seed, args.steps), journal):
        say(f"     kept: {FOLDER / failed.name}.program")
        try:
            torturer.shrink(failed, 2)
        except ToolError as error:
            say(f"     not cut down: {error}")
    say(f"---- {journal}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
