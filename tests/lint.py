# SPDX-License-Identifier: GPL-2.0-only
"""make lint: each tool is one counted test."""

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from guests import modules
from guests.command import complaint
from guests.kernel_build import source_tree
from guests.kernels import cache_dir, images, load
from guests.report import BUILD, ROOT, Stage, main_guard
from tests import layers, matrix, packages, repo_rules, weight
from tests.tables import check as tables_check
from tests.tables import policies

CHECKPATCH = ["--no-tree", "--strict", "--terse", "--show-types", "--no-summary",
              "--max-line-length=100"]
# What checkpatch cannot know of: the only place that may ask for the kernel's version,
# tracepoint headers, whose macros it takes for code, and tables that are made of macros.
_TABLES = ("COMPLEX_MACRO,MACRO_ARG_PRECEDENCE,MACRO_ARG_REUSE,MULTISTATEMENT_MACRO_USE_DO_WHILE,"
           "TRAILING_SEMICOLON,TRAILING_STATEMENTS,BRACKET_SPACE,SPACING,NEW_TYPEDEFS,"
           "EXPORT_SYMBOL,UNNECESSARY_INT,MISORDERED_TYPE,LEADING_SPACE")
CHECKPATCH_RELAXED = {
    "module/compat/": "LINUX_VERSION_CODE,CONSTANT_COMPARISON,UNNECESSARY_INT,MISORDERED_TYPE,"
                      "COMPLEX_MACRO",
    "module/compat/export.h": _TABLES,
    "module/flow/hooks.c": f"{_TABLES},LINE_SPACING,PARENTHESIS_ALIGNMENT",
    "module/flow/": _TABLES,
    "module/control/switch.h": "MACRO_ARG_REUSE",
    "module/livemm.h": "MACRO_ARG_REUSE",
    "module/policy/common/move.h": _TABLES,
    "module/record/trace.h": _TABLES,
    **{f"module/policy/{policy}/knobs.h": _TABLES for policy in policies()},
    "module/hook/entry.h": "TRAILING_SEMICOLON",
    "module/hook/rows.h": _TABLES,
    "module/hook/table.": _TABLES,
    "module/hook/kcall.": _TABLES,
    "module/hook/klp_": _TABLES,
    "tests/kmod/": "COMPLEX_MACRO,MACRO_ARG_REUSE,LINE_SPACING,BIT_MACRO",
    "bench/irqoff/": "MULTISTATEMENT_MACRO_USE_DO_WHILE,MACRO_ARG_REUSE,PREFER_KERNEL_TYPES,"
                     "BIT_MACRO,CAMELCASE",
    # Programs have neither BIT() nor min_t(), and names that others have given.
    "tests/fuzz/": "CAMELCASE,BIT_MACRO,TRAILING_SEMICOLON,COMPLEX_MACRO,MACRO_ARG_PRECEDENCE",
    "tests/programs/": "VOLATILE,STATIC_CONST_CHAR_ARRAY,QUOTED_WHITESPACE_BEFORE_NEWLINE",
    "tools/": "BIT_MACRO,MINMAX",
}
TRACE_RELAXED = "OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,MULTILINE_DEREFERENCE,SPACING"
# Stand-ins for the kernel in user space are no kernel code.
USER_SPACE = ("kunit/user/", "tests/numasim/")


def ours(*suffixes: str, inside: tuple[str, ...] = ("",)) -> list[Path]:
    """The project's files with one of these suffixes, relative to the top."""
    return [path for full in repo_rules.tracked() if full.suffix in suffixes
            and str(path := full.relative_to(ROOT)).startswith(inside)]


def run(argv: list[str | Path], name: str) -> str:
    """A tool's complaints, or "" when its status was 0."""
    return complaint(argv, cwd=ROOT, log=BUILD / "log" / f"lint-{name}.log")


def relaxed_for(path: Path) -> str:
    """Types of complaint that do not count in a file."""
    types = [words for place, words in CHECKPATCH_RELAXED.items() if str(path).startswith(place)]
    return ",".join([*types, TRACE_RELAXED] if path.name == "trace.h" else types)


def checkpatch() -> str:
    """The kernel's own style check, strict.  A file that passed is not read again."""
    files = [path for path in ours(".c", ".h", ".S") if not str(path).startswith(USER_SPACE)]
    if not files:
        return "no C file to check"
    script = source_tree() / "scripts" / "checkpatch.pl"
    passed = BUILD / "lint-checkpatch"
    known = set(passed.read_text(encoding="utf-8").split()) if passed.exists() else set[str]()
    groups: dict[str, list[Path]] = {}
    digests = []
    for path in files:
        types = relaxed_for(path)
        key = f"{script}{CHECKPATCH}{types}{path}".encode() + (ROOT / path).read_bytes()
        digests.append(hashlib.sha256(key).hexdigest())
        if digests[-1] not in known:
            groups.setdefault(types, []).append(path)
    wrong = []
    for number, (types, paths) in enumerate(groups.items()):
        ignore = ["--ignore", types] if types else []
        argv: list[str | Path] = ["perl", script, *CHECKPATCH, *ignore, "-f", *paths]
        wrong.append(run(argv, f"checkpatch-{number}"))
    if not any(wrong):
        passed.write_text("\n".join(digests) + "\n", encoding="utf-8")
    return "\n".join(text for text in wrong if text)


def kernel_doc() -> str:
    """kernel-doc comments that parse and name every argument."""
    files = ours(".c", ".h", inside=("module/", "kunit/"))
    if not files:
        return "no C file to check"
    script = source_tree() / "scripts" / "kernel-doc"
    return run(["perl", script, "-none", "-Werror", *files], "kernel-doc")


def alloc_flags() -> Iterator[str]:
    """Flags of compat.h that differ from those of a kernel's source: neither headers nor BTF know.

    The sources are those that are in the cache, at least that of checkpatch.
    """
    ours = dict(re.findall(r"^#define LMM_(ALLOC_\w+)\s+(0x\w+)$",
                           (ROOT / "module/compat/compat.h").read_text(encoding="utf-8"), re.M))
    for tree in {source_tree(), *(cache_dir() / "source").glob("linux-source-*")}:
        text = (tree / "mm/internal.h").read_text(encoding="utf-8")
        for name, value in ours.items():
            # The mask of the watermarks is what is below the first flag.
            theirs = re.findall(rf"^#define {name}\s+(0x\w+)", text, re.M)
            if name == "ALLOC_WMARK_MASK":
                theirs = re.findall(r"^#define ALLOC_NO_WATERMARKS\s+(0x\w+)", text, re.M)
                value = hex(int(value, 16) + 1)
            if int(value, 16) not in [int(text, 16) for text in theirs]:
                yield f"{tree.name}: {name} is not {value}"


def ruff() -> str:
    """Python style and common faults."""
    return run([cache_dir() / "venv/bin/ruff", "check", "--no-cache", "."], "ruff")


def mypy() -> str:
    """Python types, strict."""
    files = ours(".py")
    # The libraries of tools/ are Debian's own, which the venv does not see.
    argv: list[str | Path] = [cache_dir() / "venv/bin/mypy", "--cache-dir", BUILD / "mypy",
                              "--python-executable", "/usr/bin/python3"]
    return run([*argv, *files], "mypy")


def shellcheck() -> str:
    """Shell faults."""
    files = ours(".sh") + [Path(".ci/run"), Path("dkms.conf")]
    for path in repo_rules.tracked():
        if not path.suffix and path.stat().st_mode & 0o111:
            with path.open("rb") as file:
                if file.readline().strip().endswith(b"sh"):
                    files.append(path.relative_to(ROOT))
    # Checks take programs of awk and sh as arguments: quotes that look single are meant so.
    argv: list[str | Path] = ["shellcheck", "--external-sources", "--exclude=SC2016"]
    return run([*argv, *sorted(set(files))], "shellcheck")


def sparse(series: str) -> str:
    """The sparse test of one kernel."""
    return modules.sparse(images(series)[0])


def drawn(program: str) -> str:
    """What a program of bench writes is what is committed."""
    return run(["/usr/bin/python3", "-m", f"bench.{program}", "--check"], program)


def main() -> int:
    stage = Stage("lint")
    stage.run("checkpatch --strict", checkpatch)
    stage.run("kernel-doc -Werror", kernel_doc)
    stage.run("every function of ours has kernel-doc", repo_rules.kernel_docs)
    for kernel in load()[0]:
        if not kernel.buildroot:
            stage.run(f"sparse on {kernel.series}", partial(sparse, kernel.series))
    stage.run("includes of module/ run one way, without a circle",
              lambda: layers.check(ROOT / "module", BUILD / "include-graph.txt"))
    stage.run("calls of module/ run one way, with no circle but those that layers.py lists",
              lambda: layers.check_calls(BUILD / images("6.1")[0].release / "module"))
    stage.run("module/ is no heavier than tests/weight.py says", weight.check)
    stage.run("imports of guests, bench and tests run one way",
              lambda: packages.check(ROOT, ours(".py")))
    stage.run("ruff", ruff)
    stage.run("mypy --strict", mypy)
    stage.run("flags of requests are those of the sources", alloc_flags)
    stage.run("shellcheck", shellcheck)
    stage.run("what is made from the rows of knobs is up to date", tables_check)
    stage.run("kernels.toml, dkms.conf and docs/kernels.md agree", matrix.check)
    stage.run("the README's picture is the one of its JSON", partial(drawn, "picture"))
    stage.run("the model's page and picture show its predictions", partial(drawn, "model"))
    stage.run("the tables of bench/README are those of their JSON", partial(drawn, "page"))
    stage.run("docs/hosts.md and README show the hosts' results", partial(drawn, "hosts.page"))
    stage.run("bench/mechanisms.md shows the results of the ablation", partial(drawn, "ablate"))
    stage.run("a scenario's functions have one definition", repo_rules.shell_functions)
    stage.run("SPDX on top of every file", repo_rules.spdx)
    stage.run(f"no file over {repo_rules.MAX_LINES} lines", repo_rules.size)
    for name, pattern, what, *folders in repo_rules.FORBIDDEN:
        stage.run(name, partial(repo_rules.search, pattern, what, *folders))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
