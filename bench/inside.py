# SPDX-License-Identifier: GPL-2.0-only
"""The guest's half of the bench: carry out a plan, write a line a step.

python3 -m bench.inside PLAN RESULTS

PLAN is a JSON list of steps, each an object with "do" and what that needs;
RESULTS gets one JSON object a step, the last one with "error" if a step failed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

KMEM = Path("/sys/kernel/tracing/events/kmem")
# A page that goes over zone->lock hits one of these: on its way into a
# per-CPU list (or straight to the caller), and on its way back.
CROSSINGS = ("mm_page_alloc_zone_locked", "mm_page_pcpu_drain")
TRIGGER = "hist:keys=order"

Step = dict[str, Any]


class StepError(Exception):
    """A step could not be carried out; the text says why."""


def call(argv: list[str]) -> str:
    """Output of a program that must succeed."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise StepError(f"{argv[0]}: {error.strerror}") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip() or f"status {done.returncode}"
        raise StepError(f"{' '.join(argv)}: {words}")
    return done.stdout


def hits(event: str) -> int:
    """Total of the event's hist trigger."""
    for line in (KMEM / event / "hist").read_text(encoding="ascii").splitlines():
        name, _, value = line.strip().partition(":")
        if name == "Hits":
            return int(value)
    raise StepError(f"{event}: its histogram has no total")


def busy_share(seconds: float) -> float:
    """The share of all CPUs' time that was not idle, over the next seconds."""

    def ticks() -> tuple[int, int]:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        values = [int(word) for word in words[1:9]]
        return sum(values), values[3] + values[4]

    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(total_after - total, 1)


def rest(limit: float = 120.0) -> None:
    """Wait until nothing else runs: boot and module loading leave work behind."""
    end = time.monotonic() + limit
    calm = 0
    while calm < 2:
        if time.monotonic() > end:
            raise StepError(f"the guest did not come to rest in {limit:.0f} s")
        calm = calm + 1 if busy_share(1.0) < 0.01 else 0


def touch(step: Step) -> Step:
    """Run the page-touch program, counting crossings if asked to."""
    if step.get("rest"):
        rest()
    events = CROSSINGS if step.get("crossings") else ()
    for event in events:
        (KMEM / event / "trigger").write_text(TRIGGER, encoding="ascii")
    try:
        result: Step = json.loads(call([step["program"], *step["args"]]))
        for event in events:
            result[event] = hits(event)
    finally:
        for event in events:
            (KMEM / event / "trigger").write_text("!" + TRIGGER, encoding="ascii")
    return result


def modprobe(step: Step) -> Step:
    """Load a module by name."""
    call(["modprobe", step["module"], *step.get("params", [])])
    return {}


def insmod(step: Step) -> Step:
    """Load a module by file; wait until it has patched what it patches."""
    call(["insmod", step["path"], *step.get("params", [])])
    settle(Path(step["path"]).stem)
    return {}


def settle(module: str, limit: float = 60.0) -> None:
    """Wait for the livepatch transition of a module, if it is a livepatch."""
    state = Path("/sys/kernel/livepatch") / module / "transition"
    end = time.monotonic() + limit
    while state.exists() and state.read_text(encoding="ascii").strip() != "0":
        if time.monotonic() > end:
            raise StepError(f"{module}: the livepatch transition is not done after {limit:.0f} s")
        time.sleep(0.1)


def rmmod(step: Step) -> Step:
    """Unload a module; one that is a livepatch is switched off first."""
    module = step["module"]
    switch = Path("/sys/kernel/livepatch") / module / "enabled"
    if switch.exists():
        switch.write_text("0", encoding="ascii")
        end = time.monotonic() + 60
        while switch.exists() and time.monotonic() < end:
            time.sleep(0.1)
    call(["rmmod", module])
    return {}


def write(step: Step) -> Step:
    """Write a control file."""
    path = Path(step["path"])
    try:
        path.write_text(step["text"], encoding="ascii")
    except OSError as error:
        why = path.parents[step.get("up", 0)] / "last_error"
        words = why.read_text(encoding="utf-8").strip() if why.exists() else ""
        raise StepError(f"{path}: {step['text']}: {error.strerror} {words}".strip()) from error
    return {}


def read(step: Step) -> Step:
    """Text of a control file; "" when it is not there and need not be."""
    path = Path(step["path"])
    if step.get("optional") and not path.exists():
        return {"text": ""}
    return {"text": path.read_text(encoding="utf-8")}


def sleep(step: Step) -> Step:
    """Let time pass."""
    time.sleep(step["seconds"])
    return {}


ACTIONS: dict[str, Callable[[Step], Step]] = {
    action.__name__: action for action in (touch, modprobe, insmod, rmmod, write, read, sleep)
}


def carry_out(steps: list[Step], results: TextIO) -> bool:
    """Do every step in order; False when one failed."""
    for step in steps:
        try:
            result = ACTIONS[step["do"]](step)
        except (StepError, OSError, ValueError) as error:
            result = {"error": str(error)}
        json.dump({**result, "name": step["name"]}, results)
        results.write("\n")
        results.flush()
        if "error" in result:
            print(f"{step['name']}: {result['error']}", file=sys.stderr)
            return False
    return True


def main() -> int:
    """The command."""
    if len(sys.argv) != 3:
        print("usage: python3 -m bench.inside PLAN RESULTS", file=sys.stderr)
        return 2
    try:
        steps = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        with open(sys.argv[2], "w", encoding="utf-8") as results:
            return 0 if carry_out(steps, results) else 1
    except (OSError, ValueError) as error:
        print(f"bench.inside: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
