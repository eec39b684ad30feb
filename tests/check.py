# SPDX-License-Identifier: GPL-2.0-only
"""make check: every stage, whatever failed before; then one sum.  --quick: those of `make quick`.

    --all    the stages that take hours too: make check-all

Stages that keep no more than one core busy run side by side; what all but the first say
is shown when they have ended.  The last line is exactly "N passed, N failed".
"""

import argparse
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from guests.command import ended_with_us
from guests.report import BUILD, RESULTS, ROOT, main_guard, say

# Module and arguments of a stage that is not the module of its name in tests/.
COMMANDS = {
    # The kernel of scenario `refused`.
    "modules": "guests.modules --variants 6.12",
    "scenarios": "tests.run",
    "torture": "tests.torture --check --jobs 1",
    # Hours.
    "soak": "tests.run --soak",
    "torture-long": "tests.torture --seconds 7200",
    "torture-faults": "tests.torture --faults --seconds 1800",
}
# No guest is booted.
QUICK = [["cores"], ["lint", "tools"]]
# In order; those of a row side by side.
ORDER = [["selftest"], ["cores"], ["threads"], ["kunit"], ["modules"],
         ["lint", "tools", "fuzz", "sleep", "dkms", "torture"], ["scenarios", "deb"]]
LONG = [["flavours"], ["inject"], ["soak"], ["torture-long"], ["torture-faults"]]


def stage_result(name: str, status: int) -> tuple[int, int]:
    """What a stage counted; one that left no result counts as one failure."""
    try:
        data = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        passed, failed = int(data["passed"]), int(data["failed"])
    except (OSError, ValueError, KeyError):
        return 0, 1
    # A stage that broke after counting must not look well.
    return (passed, failed) if status == 0 or failed else (passed, 1)


def output_of(name: str) -> Path:
    """Where a stage that is not the first of its row writes."""
    return BUILD / "log" / f"stage-{name}.log"


def run_row(row: list[str]) -> list[int]:
    """Run stages side by side; their exit codes."""
    with ExitStack() as stack:
        stages = []
        for name in row:
            (RESULTS / f"{name}.json").unlink(missing_ok=True)
            output = None
            if name != row[0]:
                output_of(name).parent.mkdir(parents=True, exist_ok=True)
                output = stack.enter_context(output_of(name).open("w", encoding="utf-8"))
            command = COMMANDS.get(name, f"tests.{name}")
            stage = subprocess.Popen(
                [sys.executable, "-m", *command.split()], cwd=ROOT, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT if output else None, text=True,
            )
            stages.append(stack.enter_context(ended_with_us(stage)))
        return [stage.wait() for stage in stages]


def run_rows(rows: list[list[str]]) -> int:
    """Run rows one after the other, show one sum; 0 when every test passed."""
    started = time.monotonic()
    passed = failed = 0
    for number, row in enumerate(rows, 1):
        words = " and ".join(row)
        say(f"==== {words} ({number} of {len(rows)}, {time.monotonic() - started:.0f} s so far)")
        for name, status in zip(row, run_row(row), strict=True):
            if name != row[0]:
                say(f"==== {name} said meanwhile")
                say(output_of(name).read_text(encoding="utf-8", errors="replace").rstrip())
            good, bad = stage_result(name, status)
            passed, failed = passed + good, failed + bad
    say(f"==== done in {time.monotonic() - started:.0f} s; results are in build/check/")
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.check", description="every stage, and one sum")
    parser.add_argument("--quick", action="store_true", help="only the stages of make quick")
    parser.add_argument("--all", action="store_true", help="the stages that take hours too")
    args = parser.parse_args()
    if args.quick:
        return run_rows(QUICK)
    return run_rows([*ORDER, *LONG] if args.all else ORDER)


if __name__ == "__main__":
    main_guard(main)
