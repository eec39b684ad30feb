# SPDX-License-Identifier: GPL-2.0-only
"""Cores that several CPUs use at once, as threads of a program under ThreadSanitizer."""

from pathlib import Path

from guests.command import call, complaint, tail
from guests.report import BUILD, ROOT, Stage, main_guard
from tests.userspace import stand_ins

SOURCES = ROOT / "tests" / "threads"
WORK = BUILD / "threads"
# Each program and the cores that it includes.
PROGRAMS = {"depot": ["zonelock/depot"]}


def run(stage: Stage, name: str) -> None:
    """Build one program and count its checks."""
    cores = [ROOT / "module/policy" / f"{core}{suffix}" for core in PROGRAMS[name]
             for suffix in (".c", ".h")]
    stand_ins(cores, WORK / "include")
    program = WORK / name
    argv: list[str | Path] = [
        "gcc-12", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-sign-compare",
        "-Wno-unused-function", "-fsanitize=thread", "-pthread", "-I", WORK / "include",
        "-I", ROOT, SOURCES / f"{name}.c", "-o", program,
    ]
    wrong = complaint(argv, log=WORK / f"{name}-build.log")
    if not stage.add(f"{name}: builds without a warning", not wrong, wrong):
        return
    # The sanitizer's memory map has no room for every random layout.
    status, text = call(["setarch", "-R", program], log=WORK / f"{name}.log", check=False,
                        timeout=600)
    for line in text.splitlines():
        word, _, check = line.partition("ok ")
        if check and word in ("", "not "):
            stage.add(f"{name}: {check}", word == "")
    race = "ThreadSanitizer" in text
    stage.add(f"{name}: no data race", status == 0 and not race, tail(text, 30))


def main() -> int:
    stage = Stage("threads")
    WORK.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        run(stage, name)
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
