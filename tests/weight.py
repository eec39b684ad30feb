# SPDX-License-Identifier: GPL-2.0-only
"""make weight: what there is of module/, by folder, and of knobs, counters, events and hook rows.

Code lines are lines that are neither blank nor comment.  Lint fails when module/ has more than
MOST_LINES: a change that takes lines away lowers the number, none raises it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from guests.report import ROOT, main_guard, say

MOST_LINES = 13409
MODULE = ROOT / "module"
#: What a row of each table looks like, and where the tables are.
ROWS = {
    "knobs": ("policy/*/knobs.h", r"^\s*KNOB\(\w+,"),
    "counters": ("policy/*/knobs.h", r"^\s*COUNTER\(\w+,"),
    "events": ("flow/deliver.h", r"^\s*(?:EVENT|LISTED)\(\w+\)"),
    "hook rows": ("hook/rows.h", r"^(?!LIVEPATCH_OR|OR)[A-Z_]+\((?:[A-Z]|[a-z]+, [A-Z])"),
    "version tests": ("**/*.h", r"\bLINUX_VERSION_CODE\b"),
}


def code_lines(text: str) -> int:
    """The lines of a C file that are neither blank nor comment."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return sum(1 for line in code.split("\n")
               if line.strip() and not line.strip().startswith("//"))


def files() -> list[Path]:
    """The sources of the module."""
    return sorted(path for path in MODULE.rglob("*") if path.suffix in (".c", ".h", ".S"))


def folder(path: Path) -> str:
    """The part of module/ that a file belongs to."""
    parts = path.relative_to(MODULE).parts[:-1]
    return "/".join(parts[:2]) or "top"


def rows(name: str) -> int:
    """The rows of one kind."""
    places, pattern = ROWS[name]
    return sum(len(re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE))
               for path in MODULE.glob(places))


def check() -> Iterator[str]:
    """The rule of lint, in words where it is broken."""
    lines = sum(code_lines(path.read_text(encoding="utf-8")) for path in files())
    if lines > MOST_LINES:
        yield f"module/ has {lines} code lines, at most {MOST_LINES} (tests/weight.py)"


def main() -> int:
    lines, count = Counter[str](), Counter[str]()
    for path in files():
        lines[folder(path)] += code_lines(path.read_text(encoding="utf-8"))
        count[folder(path)] += 1
    say(f"{'folder':<20}{'files':>7}{'code':>8}")
    for name in sorted(lines):
        say(f"{name:<20}{count[name]:>7}{lines[name]:>8}")
    say(f"{'all':<20}{count.total():>7}{lines.total():>8}   at most {MOST_LINES}")
    for name in ROWS:
        say(f"{name:<20}{'':>7}{rows(name):>8}")
    return 0


if __name__ == "__main__":
    main_guard(main)
