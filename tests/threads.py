# SPDX-License-Identifier: GPL-2.0-only
"""The core that several CPUs use at once: as threads under ThreadSanitizer, and line by line."""

from pathlib import Path

from guests.command import call, complaint, tail
from guests.report import BUILD, ROOT, Stage, main_guard
from tests.userspace import SANITIZED, stand_ins

WORK = BUILD / "threads"
PROGRAM = WORK / "depot"
LINES = WORK / "lines"
ZONELOCK = ROOT / "module/policy/zonelock"
GCC: list[str | Path] = ["gcc-12", *SANITIZED, "-I", WORK / "include", "-I", ROOT]


def build() -> str:
    """Compile the program with the core; what the compiler complains of, or ""."""
    stand_ins(ZONELOCK.glob("[ds]*.[ch]"), WORK / "include")
    argv = [*GCC, "-fsanitize=thread", "-pthread", ROOT / "tests/threads/depot.c", "-o", PROGRAM]
    return complaint(argv, log=WORK / "depot-build.log")


def build_lines() -> str:
    """Compile the program that counts lines; the depot alone calls at each access to memory."""
    core = WORK / "depot.o"
    return (complaint([*GCC, "-fsanitize=thread", "-c", ZONELOCK / "depot.c", "-o", core],
                      log=WORK / "lines-build.log")
            or complaint([*GCC, ROOT / "tests/threads/lines.c", ZONELOCK / "shards.c", core,
                          "-o", LINES], log=WORK / "lines-build.log"))


def told(stage: Stage, name: str, text: str) -> None:
    """The checks that a program has printed."""
    for line in text.splitlines():
        word, _, check = line.partition("ok ")
        if check and word in ("", "not "):
            stage.add(f"{name}: {check}", word == "")


def main() -> int:
    stage = Stage("threads")
    if stage.run("depot: builds without a warning", build):
        # The sanitizer's memory map has no room for every random layout.
        status, text = call(["setarch", "-R", PROGRAM], log=WORK / "depot.log", check=False,
                            timeout=600)
        told(stage, "depot", text)
        race = "ThreadSanitizer" in text
        stage.add("depot: no data race", status == 0 and not race, tail(text, 30))
    if stage.run("lines: builds without a warning", build_lines):
        status, text = call([LINES], log=WORK / "lines.log", check=False, timeout=600)
        told(stage, "lines", text)
        stage.add("lines: ends", status == 0, tail(text, 30))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
