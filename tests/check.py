# SPDX-License-Identifier: GPL-2.0-only
"""make check: every stage, whatever failed before; then one sum.  --quick: those of `make quick`.

    --all    the stages that take hours too: make check-all

Lanes of stages run side by side; what all but the first lane say is shown when the row has
ended.  The last line is exactly "N passed, N failed".
"""

import argparse
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from guests.command import ended_with_us
from guests.report import BUILD, RESULTS, ROOT, main_guard, say

# Module and arguments of a stage that is not the module of its name in tests/.
COMMANDS = {
    # The kernel of scenario `refused`.
    "modules": "guests.modules --variants 6.12",
    # By DKMS the stage deb builds for Debian's own 6.1.
    "dkms": "tests.dkms 6.12",
    "scenarios": "tests.run --again 3",
    "torture": "tests.torture --check --jobs 1",
    "dkms-all": "tests.dkms",
    # Hours.
    "soak": "tests.run --soak",
    "torture-long": "tests.torture --seconds 7200",
    "torture-faults": "tests.torture --faults --seconds 1800",
}
# A row is lanes side by side; the stages of a lane come one after the other.
Row = list[list[str]]
# No guest is booted.
QUICK: list[Row] = [[["cores"]], [["lint"], ["tools"]]]
ORDER: list[Row] = [
    # A kernel or a module that is built leaves a core idle while it is linked.
    [["kunit", "modules"], ["selftest", "cores", "callers", "threads", "model",
                             "numasim", "fuzz"]],
    # No lane may take longer than the scenarios, or a core is idle at the end.
    [["scenarios"], ["deb", "torture", "sleep"], ["lint", "tools", "dkms", "hosts"]],
]
LONG: list[Row] = [[["dkms-all"]], [["ansible"]], [["flavours"]], [["inject"]], [["soak"]],
                   [["torture-long"]], [["torture-faults"]]]
# Of what a failed test said, shown once more at the end.
NOTE_LINES = 5
# Only compute, so what the others leave of the cores is enough.  A guest needs its share: each
# has a time by which the guest must be done.
BEHIND = ("lint", "fuzz", "numasim")


@dataclass
class Counted:
    """What a stage counted: a stage that left no result, or broke, has a failure more."""

    name: str
    status: int
    seconds: float = 0.0
    passed: int = 0
    #: Test and note.
    failures: list[tuple[str, str]] = field(default_factory=list)
    #: Failed, and passed in a second run.
    flaky: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return len(self.failures)

    def lines(self) -> list[str]:
        """Sum and time, then what failed: shown once more at the end of a long output."""
        found = [f"{self.name:<10} {self.passed:5} passed {self.failed:3} failed"
                 f" {self.seconds:6.0f} s"]
        for test, note in self.failures:
            found.append(f"FAIL {self.name}: {test}")
            found += [f"       {line}" for line in note.rstrip().splitlines()[:NOTE_LINES]]
        found += [f"FLAKY {self.name}: {test}: failed once" for test in self.flaky]
        return found


def counted(name: str, status: int, results: Path = RESULTS) -> Counted:
    """The result of a stage that ended with `status`."""
    found = Counted(name, status)
    try:
        data = json.loads((results / f"{name}.json").read_text(encoding="utf-8"))
        found.seconds, found.passed = float(data["seconds"]), int(data["passed"])
        found.failures = [(test["name"], test["note"]) for test in data["tests"] if not test["ok"]]
        found.flaky = list(data["flaky"])
    except (OSError, ValueError, KeyError, TypeError):
        return Counted(name, status, failures=[("leaves a result", f"exit code {status}")])
    # A stage that broke after counting must not look well.
    if status and not found.failures:
        found.failures.append(("ends well", f"exit code {status}"))
    return found


def output_of(name: str) -> Path:
    """Where a stage that is not the first of its row writes."""
    return BUILD / "log" / f"stage-{name}.log"


def begin(name: str, live: bool, stack: ExitStack) -> subprocess.Popen[str]:
    """Start a stage; it ends with the block of `stack`."""
    (RESULTS / f"{name}.json").unlink(missing_ok=True)
    output = None
    if not live:
        output_of(name).parent.mkdir(parents=True, exist_ok=True)
        output = stack.enter_context(output_of(name).open("w", encoding="utf-8"))
    behind = ["nice"] if name in BEHIND else []
    stage = subprocess.Popen(
        [*behind, sys.executable, "-m", *COMMANDS.get(name, f"tests.{name}").split()], cwd=ROOT,
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT if output else None,
        text=True,
    )
    return stack.enter_context(ended_with_us(stage))


def run_row(row: Row) -> dict[str, int]:
    """Run the lanes of a row side by side; the exit code of each stage."""
    codes: dict[str, int] = {}
    with ExitStack() as stack:
        waiting = [list(lane) for lane in row]
        running = {number: (lane[0], begin(lane.pop(0), number == 0, stack))
                   for number, lane in enumerate(waiting)}
        while running:
            time.sleep(0.2)
            for number, (name, stage) in list(running.items()):
                if stage.poll() is None:
                    continue
                codes[name] = stage.returncode
                del running[number]
                if number != 0:
                    ended = counted(name, stage.returncode)
                    say(f"==== {name} ended meanwhile: {ended.passed} passed,"
                        f" {ended.failed} failed")
                if waiting[number]:
                    following = waiting[number].pop(0)
                    running[number] = following, begin(following, number == 0, stack)
    return codes


def run_rows(rows: list[Row]) -> int:
    """Run rows one after the other, show one sum; 0 when every test passed."""
    started = time.monotonic()
    passed = failed = 0
    ends: list[str] = []
    for number, row in enumerate(rows, 1):
        words = " beside ".join(", ".join(lane) for lane in row)
        say(f"==== {words} ({number} of {len(rows)}, {time.monotonic() - started:.0f} s so far)")
        for name, status in run_row(row).items():
            if name not in row[0]:
                say(f"==== {name} said meanwhile")
                say(output_of(name).read_text(encoding="utf-8", errors="replace").rstrip())
            ended = counted(name, status)
            passed, failed = passed + ended.passed, failed + ended.failed
            ends += ended.lines()
    say("\n".join(["==== stages", *ends]))
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
