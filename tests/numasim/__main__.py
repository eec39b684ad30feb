# SPDX-License-Identifier: GPL-2.0-only
"""Policy numa beside a model of the kernel: python3 -m tests.numasim [NUMBER [SEED [RUNS]]]

python3 -m tests.numasim --without PART [NUMBER [SEED [RUNS]]]: what a part of mode quiet does

The policy's glue and cores are compiled as they are, in user space.  model.c does what the kernel
does at ticks, scans and hint faults, for one process.  main.c has loads with a name, and makes
NUMBER loads at random.  Each load runs with and without the policy, and figures are compared.
"""

import argparse
import re
import shutil
from pathlib import Path

from guests.command import call, complaint
from guests.report import BUILD, ROOT, Stage, main_guard, say
from tests.userspace import SANITIZED

HERE = Path(__file__).parent
WORK = BUILD / "numasim"
#: Loads at random, and the first seed.
NUMBER, SEED = 100, 1
#: Parts of mode quiet: a text of a file of the policy, and what stands there without the part.
PARTS = {
    "factor": ("core.h", "#define NUMA_FACTOR_MAX\t\t4", "#define NUMA_FACTOR_MAX\t\t2"),
    "longest": ("core.h", "#define NUMA_LONGEST\t\t2", "#define NUMA_LONGEST\t\t1"),
    "look": ("scan.c", "#define NUMA_LOOK_MS\t1000", "#define NUMA_LOOK_MS\tU32_MAX"),
    "rise": ("core.c", "share > quiet->share + NUMA_RISE_POINTS ||", "false ||"),
    "moved": ("core.c", "window->moved >= div_u64(numa_pages_of(window), NUMA_MOVED_PART)",
              "false"),
    "at_once": ("scan.c", "if (!numa_counts_since(&entry->closed, &sum, &window))",
                "if (!numa_counts_since(&entry->closed, &sum, &window) || !ends)"),
}
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


def build(without: str | None) -> str:
    """Compile the program; what the compiler complains of, or ""."""
    stand_ins([*HERE.glob("*.[ch]"), *ROOT.glob("kunit/user/*.h"), *ROOT.glob("module/**/*.[ch]")])
    sources = WORK / "module"
    shutil.rmtree(sources, ignore_errors=True)
    if without:
        file, old, new = PARTS[without]
        folder = sources / "policy/numa"
        shutil.copytree(ROOT / "module/policy/numa", folder)
        text = (folder / file).read_text("utf-8")
        if text.count(old) != 1:
            return f"{file} has this {text.count(old)} times: {old}"
        (folder / file).write_text(text.replace(old, new), "utf-8")
    flags = [flag for flag in SANITIZED if flag != "-O1"]
    argv: list[str | Path] = ["gcc-12", *flags, "-O2", "-I", WORK / "include", "-I", sources,
                              "-I", ROOT / "module", HERE / "main.c", "-o", WORK / "numasim"]
    return complaint(argv, log=WORK / "build.log")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.numasim")
    parser.add_argument("--without", choices=PARTS)
    parser.add_argument("words", nargs="*", default=[str(NUMBER), str(SEED)])
    args = parser.parse_args()
    words = args.words
    stage = Stage("numasim")
    WORK.mkdir(parents=True, exist_ok=True)
    if stage.run("policy and model build without a warning", lambda: build(args.without)):
        status, text = call([WORK / "numasim", *words], log=WORK / "numasim.log", check=False)
        lines = text.splitlines()
        if args.without:
            say(text)
            return 0
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
