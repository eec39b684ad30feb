# SPDX-License-Identifier: GPL-2.0-only
"""What a guest said, and what its kernel said against it."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from guests.report import Stage, Test, say

# Reports that fail a guest whatever its script thinks of itself.
REPORTS = [
    r"\bBUG: ",
    r"\bkernel BUG at ",
    r"\bBad page (state|map)",
    r"\bWARNING: ",
    r"\bCall Trace:",
    r"\bOops\b",
    r"\bKernel panic\b",
    r"\bgeneral protection fault\b",
    r"\bKASAN: ",
    r"\bUBSAN: ",
    r"\bKFENCE: ",
    r"\brefcount_t: ",
    r"\blist_(add|del) corruption\b",
    r"possible (recursive|circular) locking",
    r"possible irq lock inversion",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"sleeping function called from invalid context",
    r"scheduling while atomic",
    r"detected (expedited )?stalls? on CPU",
    r"self-detected stall on CPU",
    r"\bsoft lockup\b",
    r"\bhard LOCKUP\b",
    r"blocked for more than \d+ seconds",
    r"segfault at ",
    r"enqueued on deprecated workqueue",
]
REPORT = re.compile("|".join(REPORTS))
# The guest's init logs there too: a host without some systemd tool is no fault of the kernel.
_INIT = re.compile(r"(<\d+>)?\[ *\d+\.\d+\] virtme-ng-init: ")

# A report of KCSAN has two accesses, each with its stack, or one where the other side is unknown,
# and ends in a line of =.
_RACE = re.compile(r"\bBUG: KCSAN: (?P<what>.*)")
_RACE_ENDS = "=" * 60
_ACCESS = re.compile(r"(?P<marked> \(marked.*\))? to 0x[0-9a-f]+ of \d+ bytes by ")
_OURS = re.compile(r"\[livemm(_klp_\w+)?\]")
# Reads the clock by a latch (raw_read_seqcount_latch(), kernel/time/timekeeping.c): reads without
# marks may race, and what was torn is read again.
_REREADS = re.compile(r"\bktime_get_mono_fast_ns\+0x")
_LOST = "printk messages dropped"

_LINE = re.compile(r"(?P<word>ok|not ok|note|part|end)(?: (?P<rest>.*))?")


@dataclass
class Verdict:
    """The outcome of one guest."""

    name: str
    tests: list[Test] = field(default_factory=list)  # the script's own checks
    notes: list[str] = field(default_factory=list)
    # Empty when the guest itself came through: booted, ran the script to its end, and its kernel
    # complained of nothing.
    reason: str = ""
    seconds: float = 0.0
    console: Path = Path()
    output: Path = Path()
    accel: str = ""
    ended: bool = False
    stalled: bool = False  # the kernel did not come as far as the script, before livemm is loaded

    @property
    def ok(self) -> bool:
        """True when guest, kernel and every check were well."""
        return not self.reason and all(test.ok for test in self.tests)

    def count(self, stage: Stage, prefix: str = "") -> bool:
        """Count the checks, and the guest as one more; return whether the guest came through."""
        for note in self.notes:
            say(f"     {note}")
        for test in self.tests:
            stage.add(prefix + test.name, test.ok, test.note, test.seconds)
        reason = self.reason or ("" if self.tests else "the script made no check")
        if reason:
            reason += f"\nconsole: {self.console}\noutput: {self.output}"
        return stage.add(f"{prefix}guest and its kernel", not reason, reason, self.seconds)


def read_channel(verdict: Verdict, text: str) -> int | None:
    """Fill the verdict from the channel; return the script's exit status, if it came.

    Checks and notes that follow a line `part NAME` are of that part, up to a line `part`.  A part
    without a check has failed, as a script without one has.
    """
    status = None
    part, before = "", 0
    for line in text.splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is None:
            if line.strip():
                verdict.notes.append(f"channel: {line.strip()}")
            continue
        word, rest = found["word"], found["rest"] or ""
        if word == "note":
            verdict.notes.append(part + rest)
        elif word == "part":
            if part and len(verdict.tests) == before:
                verdict.tests.append(Test(f"{part}makes a check", False, "it made none"))
            part, before = f"{rest}: " if rest else "", len(verdict.tests)
        elif word == "end":
            verdict.ended = True
            status = int(rest) if rest.isdigit() else 255
        else:
            name, _, note = rest.partition(" # ")
            verdict.tests.append(Test(part + name, word == "ok", note))
    return status


def race_at(lines: Sequence[str], number: int) -> tuple[str, list[str]]:
    """The race that KCSAN reports in a line, and the lines of the report; "" for no race."""
    found = _RACE.search(lines[number])
    if found is None:
        return "", []
    end = next((at for at in range(number + 1, len(lines)) if _RACE_ENDS in lines[at]), len(lines))
    return found["what"], list(lines[number:end])


def ours(race: Iterable[str]) -> bool:
    """Whether a function of ours has made an access of a race that is not marked, or may have.

    Where our access is marked and the kernel's is not, ours is as it should be.
    """
    plain = False
    for line in race:
        if found := _ACCESS.search(line):
            plain = found["marked"] is None
        elif _REREADS.search(line):
            plain = False
        if _LOST in line or plain and _OURS.search(line):
            return True
    return False


def foreign_races(console: str) -> Counter[str]:
    """How often KCSAN has reported each race that is not ours."""
    lines = console.splitlines()
    found = (race_at(lines, number) for number in range(len(lines)))
    return Counter(what for what, race in found if what and not ours(race))


def first_report(console: str, allowed: Iterable[str]) -> str:
    """The first kernel report on the console with some lines after it, or ""."""
    lines = console.splitlines()
    for number, line in enumerate(lines):
        if _INIT.match(line) or not REPORT.search(line):
            continue
        what, race = race_at(lines, number)
        if what and not ours(race):
            continue
        if not any(re.search(pattern, line) for pattern in allowed):
            return "\n".join(race or lines[number : number + 25])
    return ""
