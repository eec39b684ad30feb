# SPDX-License-Identifier: GPL-2.0-only
"""The rules of the house that no tool of others knows."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from guests.command import call
from guests.report import ROOT

MAX_LINES = 700
# Each a test: its name, what no line may have, in words, and the folders in and out of it.
# Patterns are put together so as not to find themselves.
FORBIDDEN: list[tuple[str, ...]] = [
    ("no path of one machine",
     r"(?<![\w.])/(?:" + "|".join(["wo" + "rk", "fa" + "rm"]) + r")/\w", "a path of one machine"),
    # Where packages come from is the machine's affair: apt and pip are told there.
    ("no registry's host", r"\b(?:[\w-]+\.)*(?:" + "|".join(
        ["debian" + r"\.org", "pypi" + r"\.org", "pythonhosted" + r"\.org", "github" + r"\.com"]
    ) + r")\b", "a registry's host"),
    ("nothing left for later",
     r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b", "unfinished"),
    ("kernel versions only in module/compat",
     r"\bLINUX_VERSION_CODE\b|\bKERNEL_VERSION\s*\(",
     "version test outside module/compat", "module/", "module/compat/"),
    # A type by hand hides a change of the function, which is called before anything is verified.
    ("functions that verify others have the kernel's own types",
     r"DEFINE_STATIC_CALL_NULL\(\w+,\s*(?:$|[a-z][\w *]*\()",
     "a function of the kernel with a type by hand", "module/"),
]
_EXPORTED = re.compile(r"^(?!static\b|typedef\b|#)[a-z][\w\s*]*?\b(lmm_\w+|livemm_\w+)\([^;]*$")


def tracked() -> list[Path]:
    """Files of the project: those git knows or would take."""
    argv = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard"]
    _, text = call(argv, cwd=ROOT)
    paths = sorted({ROOT / line for line in text.splitlines() if line})
    return [path for path in paths if path.is_file()]


def texts() -> Iterator[tuple[Path, list[str]]]:
    """Every file that is text, by lines."""
    for path in tracked():
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue


def spdx() -> Iterator[str]:
    """An SPDX line at the top: the first, or the second below an interpreter."""
    for path, lines in texts():
        if path.suffix in (".json", ".jsonl") or path.name == "LICENSE" or not lines:
            continue
        top = lines[1:2] if lines[0].startswith("#!") else lines[:1]
        if not any("SPDX-License-Identifier: GPL-2.0-only" in line for line in top):
            yield f"{path}: no SPDX line on top"


def size() -> Iterator[str]:
    """No file too long to read."""
    for path, lines in texts():
        if len(lines) > MAX_LINES:
            yield f"{path}: {len(lines)} lines, at most {MAX_LINES}"


def search(pattern: str, what: str, inside: str = "", outside: str = "\0") -> Iterator[str]:
    """Lines that match, as one line a hit."""
    for path, lines in texts():
        if str(path).startswith(inside) and not str(path).startswith(outside):
            for number, line in enumerate(lines, 1):
                if re.search(pattern, line):
                    yield f"{path}:{number}: {what}: {line.strip()[:80]}"


def kernel_docs() -> Iterator[str]:
    """A kernel-doc comment above every function that is not static."""
    for path, lines in texts():
        if path.suffix != ".c" or path.parts[0] != "module":
            continue
        for number, line in enumerate(lines):
            above = number - 1
            while above > 0 and lines[above].strip() not in ("/**", "/*", ""):
                above -= 1
            found = _EXPORTED.match(line)
            if found and lines[above].strip() != "/**":
                yield f"{path}:{number + 1}: {found[1]}: no kernel-doc"


def shell_functions() -> Iterator[str]:
    """A scenario and the libraries that it sources define each function once."""
    return defined_twice({path.name: "\n".join(lines) for path, lines in texts()
                          if path.parent == Path("tests/scenarios")})


def defined_twice(scenarios: dict[str, str]) -> Iterator[str]:
    """Functions with two definitions in what a scenario sources; scenarios: text by file name.

    A second definition would also replace the function where the library calls it.
    """
    for name, text in scenarios.items():
        sourced = [name, *re.findall(r"/tests/scenarios/(\w+\.sh)\"$", text, re.MULTILINE)]
        defined = Counter(function for part in sourced
                          for function in re.findall(r"^(\w+)\(\)", scenarios[part], re.MULTILINE))
        for function, times in defined.items():
            if times > 1:
                yield (f"tests/scenarios/{name}: {function}() has {times} definitions in what it "
                       "sources")
