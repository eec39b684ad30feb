# SPDX-License-Identifier: GPL-2.0-only
"""The core that several CPUs use at once, as threads of a program under ThreadSanitizer."""

from pathlib import Path

from guests.command import call, complaint, tail
from guests.report import BUILD, ROOT, Stage, main_guard
from tests.userspace import SANITIZED, stand_ins

WORK = BUILD / "threads"
PROGRAM = WORK / "depot"


def build() -> str:
    """Compile the program with the core; what the compiler complains of, or ""."""
    stand_ins((ROOT / "module/policy/zonelock").glob("depot.[ch]"), WORK / "include")
    argv: list[str | Path] = ["gcc-12", *SANITIZED, "-fsanitize=thread", "-pthread", "-I",
                              WORK / "include", "-I", ROOT, ROOT / "tests/threads/depot.c", "-o",
                              PROGRAM]
    return complaint(argv, log=WORK / "depot-build.log")


def main() -> int:
    stage = Stage("threads")
    if stage.run("depot: builds without a warning", build):
        # The sanitizer's memory map has no room for every random layout.
        status, text = call(["setarch", "-R", PROGRAM], log=WORK / "depot.log", check=False,
                            timeout=600)
        for line in text.splitlines():
            word, _, check = line.partition("ok ")
            if check and word in ("", "not "):
                stage.add(f"depot: {check}", word == "")
        race = "ThreadSanitizer" in text
        stage.add("depot: no data race", status == 0 and not race, tail(text, 30))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
