# SPDX-License-Identifier: GPL-2.0-only
"""Policy numa beside a model of the kernel: python3 -m tests.numasim [NUMBER [SEED [RUNS]]]

The policy's glue and cores are compiled as they are, in user space.  model.c does what the kernel
does at ticks, scans and hint faults, for one process.  main.c has loads with a name, and makes
NUMBER loads at random.  Each load runs with and without the policy, and figures are compared.
"""

import re
import sys
from pathlib import Path

from guests.command import call, complaint
from guests.report import BUILD, ROOT, Stage, main_guard
from tests.userspace import SANITIZED

HERE = Path(__file__).parent
WORK = BUILD / "numasim"
PROGRAM = WORK / "numasim"
#: Loads at random, and the first seed.
NUMBER, SEED = 100, 1
#: Headers of ours that need more of the kernel than the simulation has.
NOT_OURS = ("compat/compat.h", "policy/common/worker.h", "trace/define_trace.h")
_INCLUDE = re.compile(r"^#include <((?:linux|asm)/[\w/]+\.h)>", re.MULTILINE)
_REAL = ("linux/errno.h", "linux/limits.h", "linux/types.h")
_LINE = re.compile(r"^(ok|not ok) (.*)$")


def stand_ins(sources: list[Path]) -> None:
    """Every kernel header that a source includes becomes kernel.h."""
    names = {name for source in sources for name in _INCLUDE.findall(source.read_text("utf-8"))}
    for name in (*names, *NOT_OURS):
        header = WORK / "include" / name
        header.parent.mkdir(parents=True, exist_ok=True)
        real = f"#include_next <{name}>\n" if name in _REAL else ""
        header.write_text(f'{real}#include "{HERE}/kernel.h"\n', encoding="utf-8")


def build() -> str:
    """Compile the program; what the compiler complains of, or ""."""
    sources = [*HERE.glob("*.[ch]"), *ROOT.glob("kunit/user/*.h"), *ROOT.glob("module/**/*.[ch]")]
    newest = max(source.stat().st_mtime for source in sources)
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > newest:
        return ""
    stand_ins(sources)
    flags = [flag for flag in SANITIZED if flag != "-O1"]
    argv: list[str | Path] = ["gcc-12", *flags, "-O2", "-I", WORK / "include", "-I",
                              ROOT / "module", HERE / "main.c", "-o", PROGRAM]
    return complaint(argv, log=WORK / "build.log")


def main() -> int:
    stage = Stage("numasim")
    WORK.mkdir(parents=True, exist_ok=True)
    if stage.run("policy and model build without a warning", build):
        words = sys.argv[1:] or [str(NUMBER), str(SEED)]
        status, text = call([PROGRAM, *words], log=WORK / "numasim.log", check=False)
        lines = text.splitlines()
        notes = "\n".join(line for line in lines if line.startswith("#"))
        for line in lines:
            if found := _LINE.match(line):
                stage.add(found[2], found[1] == "ok", notes if "at random" in found[2] else "")
        # The last line, but where no load is made at random.
        ended = bool(lines) and ("stay remote" in lines[-1] or words[0] == "0")
        stage.add("every load has run", ended and status == stage.failed,
                  f"status {status}: {text[-500:]}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
