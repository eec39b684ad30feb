# SPDX-License-Identifier: GPL-2.0-only
"""Pure cores and their KUnit suites as a program of user space: python3 -m tests.cores [SUITE...]

Built with AddressSanitizer and UndefinedBehaviorSanitizer, in seconds, without a kernel and
without root.  SUITE is a part of a suite's name.  build/cores/ keeps KTAP and JUnit XML.
"""

import re
import sys
from pathlib import Path

from guests.command import call, complaint, tail
from guests.report import BUILD, ROOT, Stage, main_guard
from tests.userspace import SANITIZED, stand_ins

WORK = BUILD / "cores"
PROGRAM = WORK / "cores"
# Suites that need more of the kernel than a core may use.
KERNEL_ONLY = {
    "hook_table": "rows name the kernel's own types",
    "flow": "static calls",
    "counters": "per-CPU memory",
    "registry": "workqueues, RCU and locks",
    "switch": "tasks that race",
}
_CASE = re.compile(r"^    (ok|not ok) \d+ (.*)$")
_SUITE = re.compile(r"^    # Subtest: (.*)$")
_NOTE = re.compile(r"^    # (\S+:\d+: .*)$")


def read_ktap(stage: Stage, text: str) -> None:
    """Count each case of the program's KTAP."""
    suite, notes = "", list[str]()
    for line in text.splitlines():
        if found := _SUITE.match(line):
            suite = found[1]
        elif found := _NOTE.match(line):
            notes.append(found[1])
        elif found := _CASE.match(line):
            stage.add(f"{suite}: {found[2]}", found[1] == "ok", "\n".join(notes))
            notes = []


def build() -> str:
    """Compile the program; what the compiler complains of, or ""."""
    sources = [*ROOT.glob("kunit/*.[ch]"), *ROOT.glob("kunit/user/*.[ch]"),
               *ROOT.glob("module/**/*.[ch]")]
    newest = max(source.stat().st_mtime for source in sources)
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > newest:
        return ""
    stand_ins(sources, WORK / "include")
    argv: list[str | Path] = ["gcc-12", *SANITIZED, "-fsanitize=address,undefined", "-I",
                              WORK / "include", "-I", ROOT / "module",
                              ROOT / "kunit/user/livemm_user.c", "-o", PROGRAM]
    return complaint(argv, log=WORK / "build.log")


def main() -> int:
    stage = Stage("cores")
    WORK.mkdir(parents=True, exist_ok=True)
    if stage.run("they build without a warning", build):
        status, text = call([PROGRAM, *sys.argv[1:]], log=WORK / "cores.ktap", check=False)
        read_ktap(stage, text)
        # A sanitizer ends the program in the middle of a case, or finds a leak behind the last.
        complete = bool(re.search(r"^1\.\.[1-9]", text, re.M))
        stage.add("the program ran to its end, and left no memory",
                  complete and (status == 0 or stage.failed > 0), tail(text, 30))
    for suite, reason in KERNEL_ONLY.items():
        print(f"     kernel only: {suite} ({reason})")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
