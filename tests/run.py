# SPDX-License-Identifier: GPL-2.0-only
"""Run scenarios: python3 -m tests.run [--kernel K] [--emulation E] [--soak] [NAME...]

A scenario is tests/scenarios/NAME.sh; comment lines at its head say where the scenario runs.
Scenarios source the files lib*.sh.

    # kernels: 6.1 6.12 debug    default: all of kernels.toml and debug; none: see named
    # named: 7.2                 more kernels, with --soak or with --kernel and NAME
    # cpus: 2                    default 2
    # memory: 1G                 default 1G
    # nodes: 2                   default 1
    # slow: 512M                 memory besides, of a node without CPUs, a lower memory tier
    # dimm: 256M                 memory besides, in a slot, which the guest can have removed
    # args: cma=64M              more kernel arguments
    # emulation: parallel debug  without KVM, each CPU has a thread, for races; default
                                 single; both: one guest of each; with kernel names,
                                 on the named kernels alone
    # balloon: yes               the guest has a balloon, and QEMU's monitor at a port;
                                 reporting: the host gets free memory by free page reporting
    # guest: shared              with others that say so and ask for the same machine, in one
                                 boot; the scenario leaves the guest as before
    # shift: 3                   without KVM, an instruction takes 2^3 ns of the guest's clock: a
                                 busy host does not make the guest slow
    # programs: variants         what is built besides: kernel_tests, variants
    # timeout: 300               wall seconds, default 900
    # allow: REGEX               a console line that is not a report (repeatable)

A guest is called NAME-KERNEL, under parallel emulation NAME-KERNEL-parallel; a shared guest
has the names of all its scenarios, with + between.
"""

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from guests import kernel_build, modules
from guests.accel import PARALLEL, SINGLE, uses_kvm
from guests.boot import BALLOONS, Guest, boot, guest_pool
from guests.kernels import Image, images, load
from guests.programs import compile_program, pagetouch
from guests.report import BUILD, ROOT, Stage, Test, ToolError, main_guard, say
from guests.verdict import Verdict
from tests import kernel_tests

SCENARIOS = ROOT / "tests" / "scenarios"
# C programs for scenarios, and where the guest finds them.
PROGRAMS = ROOT / "tests" / "programs"
BUILT_PROGRAMS = BUILD / "programs"
# Seconds that guests took on two cores without KVM, by guest; `--record` writes the file.
TIMES = ROOT / "tests/scenario_times.json"
EMULATIONS = {SINGLE: [SINGLE], PARALLEL: [PARALLEL], "both": [SINGLE, PARALLEL]}
# What scenarios need built besides: the kernel's own tests; modules that must be refused, which
# --build and the stage `modules` of make check build.
PROGRAM_SETS = ["kernel_tests", "variants"]
# Hooks run where a task may be preempted, as on any kernel from 7.0 on.
PREEMPTIBLE = "preempt=full"
# Runs the scenarios of a shared guest.
SHARED_GUEST = ROOT / "tests/shared_guest.sh"
_HEADER = re.compile(
    r"^# (kernels|named|cpus|memory|nodes|slow|dimm|args|emulation|balloon|guest|shift|timeout"
    r"|allow|programs): *(.+?)\s*$", re.M)


@dataclass
class Scenario:
    """A script and what its head asks for."""

    name: str
    script: Path
    kernels: list[str]
    named: list[str] = field(default_factory=list)
    cpus: int = 2
    memory: str = "1G"
    nodes: int = 1
    slow: str = ""
    dimm: str = ""
    args: list[str] = field(default_factory=list)
    emulation: str = SINGLE
    emulated: list[str] = field(default_factory=list)
    balloon: str = ""
    shared: bool = False
    shift: int = -1
    programs: str = ""
    timeout: float = 900.0
    allow: list[str] = field(default_factory=list)


def parse(script: Path, known: list[str]) -> Scenario:
    """Read the head of a script; an unknown word or a wrong number is refused."""
    scenario = Scenario(script.stem, script, list(known))
    head = re.split(r"^(?!#)", script.read_text(encoding="utf-8"), maxsplit=1, flags=re.M)[0]
    for key, value in _HEADER.findall(head):
        try:
            if key in ("kernels", "named"):
                setattr(scenario, key, [] if value == "none" else value.split())
            elif key == "args":
                scenario.args += value.split()
            elif key == "allow":
                scenario.allow.append(value)
            elif key == "emulation":
                scenario.emulation, *scenario.emulated = value.split()
            elif key == "balloon":
                scenario.balloon = value
                if value not in BALLOONS:
                    raise ToolError(f"{script.name}: balloon: {value}: "
                                    f"not in {', '.join(BALLOONS)}")
            elif key == "guest":
                scenario.shared = value == "shared"
                if not scenario.shared:
                    raise ToolError(f"{script.name}: guest: {value}: not shared")
            elif key == "programs":
                scenario.programs = value
                if value not in PROGRAM_SETS:
                    raise ToolError(f"{script.name}: programs: {value}: "
                                    f"not in {', '.join(PROGRAM_SETS)}")
            elif key in ("memory", "slow", "dimm"):
                setattr(scenario, key, value)
            elif key == "timeout":
                scenario.timeout = float(value)
            else:
                setattr(scenario, key, int(value))
        except ValueError as error:
            raise ToolError(f"{script.name}: {key}: {value}: not a number") from error
    if scenario.emulation not in EMULATIONS:
        raise ToolError(f"{script.name}: emulation: {scenario.emulation}: "
                        f"not in {', '.join(EMULATIONS)}")
    if scenario.shift >= 0 and scenario.emulation != SINGLE:
        raise ToolError(f"{script.name}: shift: QEMU counts instructions of one thread alone")
    unknown = {*scenario.kernels, *scenario.named, *scenario.emulated} - set(known)
    if unknown:
        raise ToolError(f"{script.name}: kernels: {', '.join(sorted(unknown))}: not in the matrix")
    return scenario


def known_kernels() -> list[str]:
    """Every kernel name a scenario may ask for."""
    return [kernel.series for kernel in load()[0]] + ["debug"]


def select(names: list[str]) -> list[Scenario]:
    """The named scenarios, or all."""
    known = known_kernels()
    scripts = {path.stem: path for path in sorted(SCENARIOS.glob("*.sh"))
               if not path.stem.startswith("lib")}
    for name in names:
        if name not in scripts:
            raise ToolError(f"scenario {name}: not in {', '.join(scripts)}")
    return [parse(scripts[name], known) for name in (names or scripts)]


def guest_for(scenario: Scenario, image: Image, emulation: str, soak: bool = False) -> Guest:
    """The guest a scenario asks for on one kernel."""
    name = f"{scenario.name}-{image.name}"
    counted = scenario.shift >= 0 and not uses_kvm()
    return Guest(
        name=f"{name}-{emulation}" if emulation == PARALLEL else name,
        image=image,
        script=scenario.script,
        cpus=scenario.cpus,
        memory=scenario.memory,
        nodes=scenario.nodes,
        slow=scenario.slow,
        dimm=scenario.dimm,
        kargs=[*scenario.args, *([PREEMPTIBLE] if emulation == PARALLEL else [])],
        emulation=emulation,
        balloon=scenario.balloon,
        qemu=["-icount", f"shift={scenario.shift},sleep=on"] if counted else [],
        timeout=scenario.timeout * (3 if soak else 1),
        allowed=scenario.allow,
        env={"LMM_SOAK": "1" if soak else "0"},
    )


def emulations_of(scenario: Scenario, kernel: str, kvm: bool) -> list[str]:
    """The ways a scenario runs on a kernel: one where nothing is emulated."""
    if kvm or scenario.emulated and kernel not in scenario.emulated:
        return [SINGLE]
    return EMULATIONS[scenario.emulation]


def guests_for(scenarios: list[Scenario], found: dict[str, Image], soak: bool,
               kvm: bool) -> list[Guest]:
    """The guests of the scenarios on the kernels that there are."""
    together: dict[tuple[object, ...], list[tuple[Scenario, Guest]]] = {}
    for scenario in scenarios:
        for name in filter(found.__contains__, scenario.kernels):
            for emulation in emulations_of(scenario, name, kvm):
                guest = guest_for(scenario, found[name], emulation, soak)
                machine = (name, emulation, guest.cpus, guest.memory, guest.nodes, guest.slow,
                           guest.dimm, guest.balloon, *guest.qemu, *guest.kargs)
                key = machine if scenario.shared else (*machine, guest.name)
                together.setdefault(key, []).append((scenario, guest))
    guests = []
    for parts in together.values():
        first = parts[0][1]
        if len(parts) == 1:
            guests.append(first)
            continue
        names = [scenario.name for scenario, _ in parts]
        guests.append(replace(
            first,
            name=first.name.replace(names[0], "+".join(names), 1),
            script=SHARED_GUEST,
            timeout=sum(guest.timeout for _, guest in parts),
            allowed=[line for _, guest in parts for line in guest.allowed],
            env={**first.env, "LMM_PARTS": " ".join(names)},
        ))
    return guests


def build_programs() -> None:
    """Compile the programs of scenarios, statically, where the source is newer."""
    pagetouch()
    for source in sorted(PROGRAMS.glob("*.c")):
        compile_program(BUILT_PROGRAMS / source.stem, [source])


def count(stage: Stage, verdict: Verdict) -> None:
    """Count a scenario's checks, and the guest itself as one more."""
    say(f"---- {verdict.name}: {verdict.seconds:.0f} s, {verdict.accel}")
    verdict.count(stage, f"{verdict.name}: ")


def outcome(stage: Stage, guest: Guest, booted: Callable[[], Verdict]) -> Verdict | None:
    """What a guest came to; None, and a failure more, where the guest could not be had."""
    try:
        return booted()
    except (ToolError, OSError) as error:
        stage.add(f"{guest.name}: guest and its kernel", False, str(error))
        return None


def only_checks_failed(verdict: Verdict) -> bool:
    """Whether the script came to its end, and the kernel reported nothing."""
    return verdict.ended and not verdict.reason and bool(verdict.tests) and not verdict.ok


def failed_parts(guest: Guest, first: Verdict) -> tuple[Guest, list[Test]]:
    """A shared guest of the scenarios that failed alone, and the checks of the other scenarios.

    A guest of one scenario is returned as the guest is.
    """
    parts = guest.env.get("LMM_PARTS", "").split()
    wrong = {test.name.partition(": ")[0] for test in first.tests if not test.ok}
    failed = [part for part in parts if part in wrong]
    if not parts or not wrong <= set(parts):
        return guest, []
    name = guest.name.replace("+".join(parts), "+".join(failed), 1)
    passed = [test for test in first.tests if test.name.partition(": ")[0] not in wrong]
    return replace(guest, name=name, env={**guest.env, "LMM_PARTS": " ".join(failed)}), passed


def run_all(stage: Stage, guests: list[Guest], jobs: int, again: int = 0) -> None:
    """Boot the guests, at most `jobs` at once; count them as they end.

    The first `again` guests in which checks alone have failed run once more when the others are
    done: how fast a guest is hangs on what else the host does.  Of a shared guest the scenarios
    that failed run once more.
    """
    started = time.monotonic()
    spent = 0.0
    doubtful: list[tuple[Guest, Verdict]] = []
    with guest_pool(jobs) as pool:
        pending = {pool.submit(boot, guest): guest for guest in guests}
        for number, future in enumerate(as_completed(pending), 1):
            guest = pending[future]
            verdict = outcome(stage, guest, future.result)
            if verdict and only_checks_failed(verdict) and len(doubtful) < again:
                doubtful.append((guest, verdict))
                count(Stage("failed once"), verdict)
            elif verdict:
                count(stage, verdict)
            spent += verdict.seconds if verdict else 0
            say(f"     {number} of {len(guests)} guests done")
    for guest, first in doubtful:
        second, passed = failed_parts(guest, first)
        if passed:
            count(stage, replace(first, tests=passed))
        say(f"---- {second.name} runs again, by itself")
        verdict = outcome(stage, second, partial(boot, second))
        if verdict:
            count(stage, verdict)
        if verdict and verdict.ok:
            stage.flaky += [f"{guest.name}: {test.name}" for test in first.tests if not test.ok]
    wall = time.monotonic() - started
    say(f"---- {len(guests)} guests: {spent:.0f} s in {wall:.0f} s, {jobs} at once")


def recorded() -> dict[str, float]:
    """Seconds of guests in an earlier run, by guest."""
    return dict(json.loads(TIMES.read_text(encoding="utf-8"))) if TIMES.exists() else {}


def record(stage: Stage) -> None:
    """Keep the seconds of the guests that have just run."""
    times = recorded()
    for test in stage.tests:
        name, ended, _ = test.name.partition(": guest and its kernel")
        if ended:
            times[name] = round(test.seconds)
    TIMES.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def by_urgency(guests: list[Guest]) -> list[Guest]:
    """The slowest first, so that no long guest is left to run alone at the end."""
    times = recorded()
    return sorted(guests, key=lambda guest: -times.get(guest.name, guest.timeout / 3))


def build_for(stage: Stage, images: Iterable[Image], variants: bool = False) -> bool:
    """Build the modules for these kernels alone."""
    good = True
    for image in images:
        say(f"    building for {image.name}")
        good &= stage.run(f"builds for {image.name} without a warning",
                          partial(modules.build, image, variants))
    return good


def have(stage: Stage, names: Iterable[str], build: bool = True) -> dict[str, Image]:
    """The kernels of these names, built where they are wanted and absent; each that lacks fails."""
    found = {}
    for name in names:
        try:
            if build and name in load()[1]:
                kernel_build.ensure(name)
            found[name] = images(name)[0]
        except ToolError as error:
            stage.add(f"kernel {name} is there", False, str(error))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.run", description="run scenarios in guests")
    parser.add_argument("--kernel", action="append", default=[],
                        help="only on this kernel: a series, a release or debug; repeatable")
    # One more than there are cores: now and then each guest sleeps.  A fourth guest on two cores
    # gains nothing, because loads in a guest that waits for a condition still compute.
    jobs = min(4, (os.cpu_count() or 1) + 1)
    parser.add_argument("--jobs", type=int, default=jobs, help=f"guests at once (here {jobs})")
    parser.add_argument("--soak", action="store_true",
                        help="more rounds and steps, and every kernel of a scenario")
    parser.add_argument("--emulation", choices=EMULATIONS,
                        help="where there is no KVM, whatever the heads of scenarios say")
    parser.add_argument("--preempt", action="store_true",
                        help=f"boot every guest with {PREEMPTIBLE}, as those of parallel "
                             "emulation always are")
    parser.add_argument("--build", action="store_true",
                        help="build the modules for the kernels of these scenarios first")
    parser.add_argument("--again", type=int, default=0, metavar="N",
                        help="N guests in which checks alone fail run once more, by themselves")
    parser.add_argument("--record", action="store_true", help=f"keep the times in {TIMES.name}")
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios (default all)")
    args = parser.parse_args()
    if args.jobs < 1:
        raise ToolError(f"--jobs {args.jobs}: must be at least 1")
    stage = Stage("soak" if args.soak else "scenarios")
    scenarios = select(args.names)
    for scenario in scenarios if args.soak or (args.kernel and args.names) else []:
        scenario.kernels += scenario.named
    for scenario in scenarios if args.emulation else []:
        scenario.emulation, scenario.emulated = args.emulation, []
    for scenario in scenarios if args.preempt else []:
        scenario.args.append(PREEMPTIBLE)
    if args.kernel:
        found = {image.name: image for name in args.kernel for image in images(name)[:1]}
    else:
        names = sorted({name for scenario in scenarios for name in scenario.kernels})
        found = have(stage, names, build=args.build)
    guests = guests_for(scenarios, found, args.soak, uses_kvm())
    if not guests:
        raise ToolError(f"kernel {', '.join(args.kernel)}: not in `# kernels:` or `# named:` of "
                        f"{', '.join(args.names) or 'any scenario'}")
    for one in scenarios if args.names else []:
        if not found.keys() & set(one.kernels):
            stage.add(f"{one.name}: runs", False, "its head names none of these kernels")
    build_programs()
    programs = {scenario.programs for scenario in scenarios if scenario.kernels}
    if "kernel_tests" in programs:
        kernel_tests.build()
    if not args.build or build_for(stage, found.values(), "variants" in programs):
        run_all(stage, by_urgency(guests), args.jobs, args.again)
    if args.record:
        record(stage)
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
