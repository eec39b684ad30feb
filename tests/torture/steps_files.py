# SPDX-License-Identifier: GPL-2.0-only
"""Steps that use livemm's files."""

from __future__ import annotations

import errno
import itertools
import os
import threading
from pathlib import Path
from random import Random

from tests.torture.base import (
    DEBUGFS,
    MALFORMED,
    PARAMETERS,
    REFUSALS,
    Guest,
    Kind,
    Machine,
    Wrong,
    command,
    start,
    write,
)


def legal_value(rnd: Random, machine: Machine, policy: str) -> str:
    """A knob with a legal value."""
    knob = rnd.choice(list(machine.knobs[policy]))
    return f"{knob}={rnd.choice(machine.knobs[policy][knob])}"


def some_settings(rnd: Random, machine: Machine, policy: str) -> list[str]:
    """One to four settings of a policy, one a knob; half of the time `enabled` too."""
    chosen = dict(legal_value(rnd, machine, policy).split("=", 1)
                  for _ in range(rnd.randint(1, 4)))
    if rnd.random() < 0.5:
        chosen["enabled"] = rnd.choice("01")
    return [f"{knob}={value}" for knob, value in chosen.items()]


def draw_knob(rnd: Random, machine: Machine) -> list[str]:
    policy = rnd.choice(machine.policies)
    return [policy, *legal_value(rnd, machine, policy).split("=", 1)]


def run_knob(guest: Guest, policy: str, knob: str, value: str) -> None:
    # One value may contradict another knob, which another worker has just set.
    error = write(DEBUGFS / policy / knob, value, REFUSALS | MALFORMED)
    guest.count(f"knob {errno.errorcode.get(error, 'done')}")


def draw_config(rnd: Random, machine: Machine) -> list[str]:
    policy = rnd.choice(machine.policies)
    return [policy, rnd.choice(" ,").join(some_settings(rnd, machine, policy))]


def run_config(guest: Guest, policy: str, text: str) -> None:
    error = write(DEBUGFS / policy / "config", text, REFUSALS | MALFORMED)
    guest.count(f"config {errno.errorcode.get(error, 'done')}")


def draw_parameter(rnd: Random, machine: Machine) -> list[str]:
    some = rnd.sample(list(machine.policies), rnd.randint(1, len(machine.policies)))
    return [";".join(f"{policy}:{','.join(some_settings(rnd, machine, policy))}"
                     for policy in some)]


def run_parameter(guest: Guest, text: str) -> None:
    error = write(PARAMETERS / "policies", text, REFUSALS | MALFORMED)
    guest.count(f"parameter {errno.errorcode.get(error, 'done')}")


def draw_enabled(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(machine.policies), rnd.choice("011")]


def run_enabled(guest: Guest, policy: str, value: str) -> None:
    error = write(DEBUGFS / policy / "enabled", value, REFUSALS)
    guest.count(f"enabled={value} {errno.errorcode.get(error, 'done')}")


def above_range(rnd: Random, machine: Machine, policy: str) -> list[str]:
    """A knob, and one more than the largest value of the knob."""
    numbers = {knob: words for knob, words in machine.knobs[policy].items()
               if all(word.replace(".", "").isdigit() for word in words)}
    if not numbers:
        return ["lease", "604801"]
    knob = rnd.choice(list(numbers))
    return [f"{policy}/{knob}", str(int(max(map(float, numbers[knob]))) + 1)]


def draw_malformed(rnd: Random, machine: Machine) -> list[str]:
    policy = rnd.choice(machine.policies)
    knob = rnd.choice(list(machine.knobs[policy]))
    # A list of paths may be empty.
    empty = "=" if "/" in machine.knobs[policy][knob] else f"{knob}="
    garbage = "".join(chr(rnd.randint(1, 255)) for _ in range(rnd.randint(1, 40)))
    return rnd.choice([
        [f"{policy}/enabled", rnd.choice(["2", "yes", "1 1", "", "-1", "0x1"])],
        [f"{policy}/config", rnd.choice(["enabled", "=1", "enabled=1 enabled=0", empty,
                                         f"no_such_knob=1 {knob}=1", "a=" * 3000])],
        [f"{policy}/config", f"no_such_knob={garbage}"],
        above_range(rnd, machine, policy),
        ["lease", rnd.choice(["-1", "604801", "ten", "1 2", "99999999999999999999"])],
    ])


def run_malformed(guest: Guest, file: str, text: str) -> None:
    if write(DEBUGFS / file, text, REFUSALS | MALFORMED | {errno.E2BIG}) == 0:
        raise Wrong(f"{file}: {text!r} was accepted")
    guest.count("malformed refused")


def draw_lease(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["0", "1", "2", "3", "600"])]


def run_lease(guest: Guest, seconds: str) -> None:
    write(DEBUGFS / "lease", seconds, REFUSALS)
    guest.count("lease")


def draw_read(rnd: Random, machine: Machine) -> list[str]:
    policy = rnd.choice(machine.policies)
    return [rnd.choice(["version", "hooks", "status", "lease", "last_error", f"{policy}/config",
                        f"{policy}/counters", f"{policy}/state", f"{policy}/supported"])]


def run_read(guest: Guest, file: str) -> None:
    try:
        with (DEBUGFS / file).open("rb") as handle:
            # In pieces, so that the file may change between two reads.
            while handle.read(500):
                pass
    except OSError as error:
        if error.errno not in REFUSALS:
            raise Wrong(f"{file}: {error.strerror}") from error
        guest.count("read refused")
        return
    guest.count("read")


def draw_kill(rnd: Random, machine: Machine) -> list[str]:
    policy = rnd.choice(machine.policies)
    return [str(rnd.randint(1, 1000)), f"{DEBUGFS}/{policy}/enabled=1",
            f"{DEBUGFS}/{policy}/enabled=0",
            f"{DEBUGFS}/{policy}/config={legal_value(rnd, machine, policy)}"]


def run_kill(guest: Guest, seed: str, *writes: str) -> None:
    program = guest.root / "build/programs/killwriters"
    if DEBUGFS.exists() and command([program, "-r", "3", "-n", "2", "-m", "200", "-s", seed,
                                     "-l", "90", *writes], 240):
        raise Wrong("a killed writer does not die")
    guest.count("kill")


# What a write replaces must not go while somebody reads it.
WRITES = 20


def draw_race(rnd: Random, machine: Machine) -> list[str]:
    policy = rnd.choice(machine.policies)
    knob = rnd.choice(list(machine.knobs[policy]))
    path = rnd.choice([f"{DEBUGFS}/{policy}/config", f"{DEBUGFS}/{policy}/{knob}",
                       f"{DEBUGFS}/{policy}/state", f"{PARAMETERS}/policies"])
    # A value that is in force already would replace nothing.
    words = sorted(set(machine.knobs[policy][knob]))
    return [path, f"{DEBUGFS}/{policy}/{knob}", *rnd.sample(words, min(2, len(words)))]


def run_race(guest: Guest, path: str, knob: str, *values: str) -> None:
    """A thread reads again and again what another one writes."""
    failed: list[OSError] = []
    over = threading.Event()

    def read() -> None:
        try:
            with Path(path).open("rb", buffering=0) as handle:
                while not over.is_set():
                    os.pread(handle.fileno(), 4096, 0)
        except OSError as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    if not start(reader):
        guest.count("race refused")
        return
    try:
        for value in itertools.islice(itertools.cycle(values), WRITES):
            if reader.is_alive():
                write(Path(knob), value, REFUSALS | MALFORMED)
    finally:
        over.set()
        reader.join()
    for error in failed:
        if error.errno not in REFUSALS:
            raise Wrong(f"{path}: {error.strerror}")
    guest.count(f"race {'refused' if failed else 'done'}")


KINDS: dict[str, Kind] = {
    "knob": Kind(24000, run_knob, draw_knob),
    "config": Kind(13000, run_config, draw_config),
    "parameter": Kind(7000, run_parameter, draw_parameter),
    "enabled": Kind(11000, run_enabled, draw_enabled),
    "malformed": Kind(9000, run_malformed, draw_malformed),
    "read": Kind(12000, run_read, draw_read),
    "lease": Kind(1000, run_lease, draw_lease),
    "kill": Kind(20, run_kill, draw_kill),
    "race": Kind(1000, run_race, draw_race),
}
