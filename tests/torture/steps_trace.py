# SPDX-License-Identifier: GPL-2.0-only
"""Steps of tracers on the functions that livemm hooks, and the freezer.

Suspend to idle goes as far as the freezer: every task of user space and every freezable thread of
the kernel stops for a second, whatever the task is about, and goes on.  The devices stay on.  A
guest of the torture has its root on 9p, which a sleep of the devices would cut off; tests/sleep.py
has a guest that sleeps in earnest.
"""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from tests.torture.base import (
    KERNEL_REFUSALS,
    SCRATCH,
    Guest,
    Kind,
    Machine,
    Wrong,
    command,
    outcome,
    own_folder,
    write,
)

TRACING = Path("/sys/kernel/tracing")
PROBES = TRACING / "kprobe_events"


def hooked() -> list[str]:
    """Functions of rows.h that are wrapped, called directly, or probed; no kernel has them all."""
    rows = (Path(__file__).parents[2] / "module/hook/rows.h").read_text(encoding="utf-8")
    first = re.findall(r"^(?:LIVEPATCH(?:_OR)?\(\w+, |(?:DIRECT|KPROBE)\()(\w+), \w+, (\w+),", rows,
                       re.MULTILINE)
    second = re.findall(r"^OR\(\d, (\w+), \w+, (\w+),", rows, re.MULTILINE)
    ids = {row for row, _ in first}
    return list(dict.fromkeys(name for row, name in [*first, *second] if row in ids))


HOOKED = hooked()
REFUSALS = KERNEL_REFUSALS | {errno.EEXIST, errno.ENOTSUP}
# Only one may use what the kernel has once.
top_level = threading.Lock()


def clear(path: Path) -> None:
    """Empty a list of functions."""
    with contextlib.suppress(OSError), path.open("w", encoding="ascii"):
        pass


@contextlib.contextmanager
def shared() -> Iterator[Path]:
    """The folder that has every tracer; nobody else's meanwhile."""
    with top_level:
        yield TRACING


def draw_tracer(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["function", "function_graph"]), *rnd.sample(HOOKED, rnd.randint(1, 4))]


def look_with(folder: Path, tracer: str, functions: Sequence[str]) -> int:
    """Have a tracer on for a moment; returns the errno."""
    wanted = folder / "set_ftrace_filter"
    try:
        known = [name for name in functions if not write(wanted, f"{name}\n", REFUSALS)]
        error = write(folder / "current_tracer", tracer, REFUSALS) if known else errno.ENOENT
        time.sleep(0.2)
    finally:
        write(folder / "current_tracer", "nop", REFUSALS)
        clear(wanted)
    return error


def run_tracer(guest: Guest, tracer: str, *functions: str) -> None:
    """A tracer looks at functions for a moment; function_graph changes return addresses."""
    try:
        # Instances have no function_graph tracer before 6.12.
        with own_folder(TRACING / "instances") if tracer == "function" else shared() as folder:
            error = look_with(folder, tracer, functions)
    except OSError as refused:
        # The buffers of an instance take memory on each CPU.
        if refused.errno != errno.ENOMEM:
            raise
        error = refused.errno
    guest.count(f"tracer {tracer} {outcome(error)}")


@contextlib.contextmanager
def kprobe(event: str, kind: str, function: str) -> Iterator[int]:
    """A kprobe (p) or return probe (r) of somebody else; yields the errno of its making."""
    # Another worker may have just this probe, and no kernel has every function.
    error = write(PROBES, f"{kind}:{event} {function}", REFUSALS)
    try:
        yield error
    finally:
        if not error:
            write(PROBES, f"-:{event}", KERNEL_REFUSALS)


def draw_probe(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice("pr"), rnd.choice(HOOKED)]


def run_probe(guest: Guest, kind: str, function: str) -> None:
    """A probe that tracefs switches on for a moment."""
    event = f"lmm_torture/{kind}_{function}"
    with kprobe(event, kind, function) as error:
        if not error:
            enable = TRACING / "events" / event / "enable"
            write(enable, "1", KERNEL_REFUSALS)
            time.sleep(0.1)
            write(enable, "0", KERNEL_REFUSALS)
    guest.count(f"probe {outcome(error)}")


def run_perf(guest: Guest, kind: str, function: str) -> None:
    """perf counts for a moment how often a probe is hit.

    `perf probe` would read all symbols first, for 45 s and more under emulation.  The kernel makes
    the same probe of it.
    """
    if not shutil.which("perf"):
        guest.count("perf absent")
        return
    name = f"perf_{threading.get_native_id()}"
    with kprobe(f"lmm_torture/{name}", kind, function) as error:
        status = 0 if error else command(
            ["env", f"HOME={SCRATCH}", "timeout", "100", "perf", "stat", "-a",
             "-e", f"lmm_torture:{name}", "sleep", "0.5"], 240)
    guest.count(f"perf {kind} {outcome(error)} {status}")


POWER = Path("/sys/power")
SLEEPS = POWER / "suspend_stats/success"
STOP = Path("/sys/module/suspend/parameters/pm_test_delay")


def sleeps() -> int:
    """How often the machine has slept, as the kernel counts."""
    return int(SLEEPS.read_text(encoding="ascii"))


def run_freeze(guest: Guest) -> None:
    """Suspend to idle as far as the freezer, for a second."""
    if not (POWER / "pm_test").exists() or not SLEEPS.exists():
        guest.count("freeze absent")
        return
    with top_level:
        write(STOP, "1", set())
        write(POWER / "pm_test", "freezer", set())
        try:
            before = sleeps()
            error = write(POWER / "state", "freeze", KERNEL_REFUSALS)
            if not error and sleeps() != before + 1:
                raise Wrong("the kernel has not counted a sleep")
        finally:
            write(POWER / "pm_test", "none", set())
    guest.count(f"freeze {outcome(error)}")


def stock(machine: Machine) -> bool:
    """Whether the kernel is Debian's own."""
    return not machine.debug


KINDS: dict[str, Kind] = {
    "tracer": Kind(150, run_tracer, draw_tracer),
    "probe": Kind(150, run_probe, draw_probe),
    "perf": Kind(30, run_perf, draw_probe, stock),
    "freeze": Kind(20, run_freeze, where=stock),
}
