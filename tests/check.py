# SPDX-License-Identifier: GPL-2.0-only
"""make check: every stage in turn, whatever failed before; then one sum.

The last line is exactly "N passed, N failed".
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from tests.command import ended_with_us
from tests.report import RESULTS, ROOT, main_guard, say

# Each is a module and the arguments of its command.
STAGES: list[tuple[str, list[str]]] = [
    ("selftest", ["tests.selftest"]),
    ("kunit", ["tests.kunit"]),
    ("modules", ["tests.modules"]),
    ("lint", ["tests.lint"]),
    ("tools", ["tests.tools"]),
    ("scenarios", ["tests.vm.run"]),
    ("dkms", ["tests.dkms"]),
    ("deb", ["tests.deb"]),
]


def stage_result(name: str, status: int) -> tuple[int, int]:
    """What a stage counted; one that left no result counts as one failure."""
    try:
        data = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        passed, failed = int(data["passed"]), int(data["failed"])
    except (OSError, ValueError, KeyError):
        return 0, 1
    # A stage that broke after counting must not look well.
    return (passed, failed) if status == 0 or failed else (passed, 1)


def main() -> int:
    """The command."""
    started = time.monotonic()
    passed = failed = 0
    for number, (name, words) in enumerate(STAGES, 1):
        say(f"==== {name} ({number} of {len(STAGES)}, {time.monotonic() - started:.0f} s so far)")
        (RESULTS / f"{name}.json").unlink(missing_ok=True)
        stage = subprocess.Popen(
            [sys.executable, "-m", *words], cwd=ROOT, stdin=subprocess.DEVNULL, text=True
        )
        with ended_with_us(stage):
            status = stage.wait()
        good, bad = stage_result(name, status)
        passed, failed = passed + good, failed + bad
    say(f"==== done in {time.monotonic() - started:.0f} s; results are in build/check/")
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    main_guard(main)
