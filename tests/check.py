# SPDX-License-Identifier: GPL-2.0-only
"""make check: every stage, whatever failed before; then one sum.

Stages that keep no more than one core busy run side by side; what all but the first say
is shown when they have ended.  The last line is exactly "N passed, N failed".
"""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from guests.command import ended_with_us
from guests.report import BUILD, RESULTS, ROOT, main_guard, say

# A stage's name, and its command: a module and its arguments.
STAGES = {
    "selftest": "tests.selftest",
    "cores": "tests.cores",
    "fuzz": "tests.fuzz",
    "threads": "tests.threads",
    "kunit": "tests.kunit",
    "modules": "guests.modules",
    "lint": "tests.lint",
    "tools": "tests.tools",
    "sleep": "tests.sleep",
    "scenarios": "tests.run",
    "torture": "tests.torture --check --jobs 1",
    "dkms": "tests.dkms",
    "deb": "tests.deb",
}
# In order; those of a row side by side.
ORDER = [["selftest"], ["cores"], ["threads"], ["kunit"], ["modules"],
         ["lint", "tools", "fuzz", "sleep", "dkms", "torture"], ["scenarios", "deb"]]


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
            stage = subprocess.Popen(
                [sys.executable, "-m", *STAGES[name].split()], cwd=ROOT, stdin=subprocess.DEVNULL,
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


if __name__ == "__main__":
    main_guard(lambda: run_rows(ORDER))
