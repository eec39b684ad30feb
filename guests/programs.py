# SPDX-License-Identifier: GPL-2.0-only
"""C programs that run in guests: compiled on the host, statically."""

from collections.abc import Sequence
from pathlib import Path

from guests.command import call
from guests.report import BUILD, ROOT

# C that every program is linked with.
COMMON = ROOT / "guests/c/common"
FLAGS = ["-std=gnu11", "-O2", "-static", "-pthread", "-Wall", "-Wextra", "-Werror"]


def compile_program(program: Path, sources: Sequence[Path]) -> None:
    """Compile a program, if a source is newer, be it one that all share."""
    sources = [*sources, *sorted(COMMON.glob("*.[ch]"))]
    newest = max(source.stat().st_mtime for source in sources)
    if program.exists() and program.stat().st_mtime > newest:
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    units = [source for source in sources if source.suffix == ".c"]
    call(["gcc", *FLAGS, f"-I{COMMON}", "-o", program, *units])


def pagetouch() -> Path:
    """The program that touches pages in patterns, compiled."""
    program = BUILD / "bench/pagetouch"
    compile_program(program, [ROOT / "guests/c/pagetouch.c"])
    return program
