# SPDX-License-Identifier: GPL-2.0-only
"""Fuzz the pure cores and the grammar of knobs: python3 -m tests.fuzz [--seconds N] [TARGET...]

Each target (tests/fuzz/*.c) is a program of libFuzzer with AddressSanitizer and
UndefinedBehaviorSanitizer.  A target decodes random bytes into calls of a core, and checks what
must hold after each call, not crashes alone.  corpus/TARGET.txt keeps the inputs that reach all
that is reached, and each input that found a fault: a line of hexadecimal digits an input.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from guests.command import call, complaint, tail
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from tests import tables
from tests.userspace import SANITIZED, USER, stand_ins

HERE = Path(__file__).parent
WORK = BUILD / "fuzz"
CORPUS = HERE / "corpus"
#: Each target, and the sources of which it must reach 90 % of the lines.
TARGETS = {
    "zonelock": ["policy/zonelock/core.c", "policy/zonelock/depot.c"],
    "cma": ["policy/cma/core.c", "policy/cma/core_balance.c", "policy/cma/core_ratio.c"],
    "pcp": ["policy/pcp/core.c", "policy/pcp/core_depth.c", "policy/pcp/core_depth.h"],
    "pcp_event": ["policy/pcp/core_event.c"],
    "pageblock": ["policy/pageblock/core.c", "policy/pageblock/core_census.c",
                  "policy/pageblock/core_reserve.c", "policy/common/core_budget.c"],
    "numa": ["policy/numa/core.c", "policy/numa/core_trend.c", "policy/numa/core_promote.c"],
    "knobs": ["control/knobs.c"],
}
LEAST_PCT = 90.0
MAX_BYTES = 512
HEAD = "# SPDX-License-Identifier: GPL-2.0-only"
RELEASE = (6, 1)
#: What libFuzzer and the sanitizers say of the fault itself.
_FAULT = re.compile(r"^(\S+:\d+: not .*|.*(?:runtime error|ERROR: AddressSanitizer).*)$", re.M)
_RUNS = re.compile(r"^Done (\d+) runs", re.M)


def build(target: str) -> str:
    """Compile a target; what the compiler complains of, or ""."""
    folder = WORK / target
    folder.mkdir(parents=True, exist_ok=True)
    stand_ins(ROOT.glob("module/**/*.[ch]"), WORK / "include")
    compiler: list[str | Path] = ["clang-14", *SANITIZED, "-Wno-gnu", "-fprofile-instr-generate",
                                  "-fcoverage-mapping", "-I", WORK / "include", "-I",
                                  ROOT / "module", "-I", USER]
    sources = [HERE / f"{target}.c"]
    if target == "knobs":
        compiler.append(tables.rows_flag())
        sources += [ROOT / "module/control/knobs.c",
                    *tables.rows_of(RELEASE, [*compiler, "-fsanitize=fuzzer-no-link,address,"
                                              "undefined"], folder)]
    return complaint([*compiler, "-fsanitize=fuzzer,address,undefined", *sources, "-o",
                      folder / "fuzz"], log=folder / "build.log")


def unpack(target: str) -> Path:
    """The kept inputs as files, which libFuzzer adds its own to."""
    folder = WORK / target / "corpus"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = (CORPUS / f"{target}.txt").read_text(encoding="ascii").splitlines()
    for number, line in enumerate(line for line in lines if not line.startswith("#")):
        (folder / f"kept-{number:03}").write_bytes(bytes.fromhex(line))
    return folder


def dictionary(target: str) -> list[str]:
    """Words of the grammar, which random bytes would take long to spell."""
    if target != "knobs":
        return []
    words = {"enabled=1", "0", "1", ":", ";", ",", "."}
    for name, table in tables.tables(RELEASE).items():
        words.add(f"{name}:")
        for knob in table.knobs:
            words |= {f"{knob.name}=", *knob.choices, knob.low, knob.high}
            if knob.high.isdigit():
                words.add(f"{knob.name}={int(knob.high) + 1}")
    path = WORK / target / "words"
    path.write_text("".join(f'"{word}"\n' for word in sorted(words - {""})), encoding="ascii")
    return [f"-dict={path}"]


def run(target: str, budget: Sequence[str]) -> tuple[str, int]:
    """Fuzz a target; the fault found or "", and the number of inputs tried."""
    folder = WORK / target
    for old in folder.glob("crash-*"):
        old.unlink()
    argv = [str(folder / "fuzz"), f"-max_len={MAX_BYTES}", f"-artifact_prefix={folder}/",
            "-timeout=20", "-print_final_stats=0", *dictionary(target), *budget,
            str(unpack(target))]
    status, text = call(argv, log=folder / "fuzz.log", check=False,
                        env={"LLVM_PROFILE_FILE": str(folder / "profile")})
    done = _RUNS.search(text)
    if status == 0 and done:
        return "", int(done[1])
    found = _FAULT.search(text)
    words = found[1] if found else tail(text, 30)
    for crash in folder.glob("*-*"):
        if crash.name.startswith(("crash-", "timeout-", "oom-", "leak-")):
            words += (f"\ninput: {crash.read_bytes().hex()}\nto keep the input, add this line to "
                      f"{(CORPUS / target).relative_to(ROOT)}.txt")
    return words, 0


def reached(target: str) -> dict[str, float]:
    """Percent of lines that the last run reached, by source."""
    folder = WORK / target
    call(["llvm-profdata-14", "merge", "-o", folder / "merged", folder / "profile"])
    _, text = call(["llvm-cov-14", "export", "-summary-only", f"-instr-profile={folder}/merged",
                    folder / "fuzz"])
    files = {Path(row["filename"]).resolve(): row["summary"]["lines"]["percent"]
             for row in json.loads(text)["data"][0]["files"]}
    return {source: files.get(ROOT / "module" / source, 0.0) for source in TARGETS[target]}


def keep(target: str) -> None:
    """Write the fewest inputs that reach all that this run reached."""
    folder = WORK / target
    least = folder / "least"
    shutil.rmtree(least, ignore_errors=True)
    least.mkdir()
    call([folder / "fuzz", "-merge=1", "-use_counters=0", least, folder / "corpus"],
         log=folder / "merge.log", env={"LLVM_PROFILE_FILE": "/dev/null"})
    lines = sorted(path.read_bytes().hex() for path in least.iterdir())
    (CORPUS / f"{target}.txt").write_text(
        "".join(f"{line}\n" for line in [HEAD, *filter(None, lines)]), encoding="ascii")
    say(f"     kept {len(lines)} inputs of {target}")


def fuzz(stage: Stage, target: str, budget: Sequence[str]) -> bool:
    """Count the checks of one target."""
    if not stage.run(f"{target}: builds without a warning", lambda: build(target)):
        return False
    fault, runs = run(target, budget)
    if not stage.add(f"{target}: no input breaks what must hold, {runs} tried", not fault, fault):
        return False
    for source, percent in reached(target).items():
        stage.add(f"{target}: reaches {LEAST_PCT:.0f} % of the lines of {source}: "
                  f"{percent:.1f} %", percent >= LEAST_PCT)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description="fuzz cores and grammar")
    parser.add_argument("--seconds", type=int, help="time for each target")
    parser.add_argument("--runs", type=int, default=20000,
                        help="inputs for each target, where no time is given")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random inputs")
    parser.add_argument("--keep", action="store_true",
                        help="write the inputs found to tests/fuzz/corpus/")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    args = parser.parse_args()
    if unknown := [name for name in args.targets if name not in TARGETS]:
        raise ToolError(f"{unknown[0]}: no such target; there are {', '.join(TARGETS)}")
    budget = [f"-seed={args.seed}",
              f"-max_total_time={args.seconds}" if args.seconds else f"-runs={args.runs}"]
    stage = Stage("fuzz")
    for target in args.targets or TARGETS:
        if fuzz(stage, target, budget) and args.keep:
            keep(target)
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
