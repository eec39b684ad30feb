# SPDX-License-Identifier: GPL-2.0-only
"""Write the tables of bench/README.md: python3 -m bench.page [--check]

A table is a file of bench/results/, as `bench.run` writes them: the page shows each between
`<!-- results: BENCH -->` and `<!-- end -->`, with the command and the commit that was measured.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from bench.table import COLUMNS, LEFT, figure
from guests.report import ROOT, ToolError, main_guard

PAGE = ROOT / "bench/README.md"
RESULTS = ROOT / "bench/results"
BLOCK = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def line(cells: list[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def cell(row: dict[str, Any], column: str) -> str:
    """A cell's text; numbers in few digits."""
    value = row[column]
    if isinstance(value, str):
        return value or "-"
    # Infinity is null in JSON, and a row without a target has nothing to meet.
    if value is None and column in ("base", "policy"):
        return "never"
    return figure(value)


def table(data: dict[str, Any]) -> str:
    """The table of one file, below the command that measured the rows."""
    words = ["python3", "-m", "bench.run", data["bench"]]
    kernels = sorted({row["kernel"] for row in data["rows"]})
    if len(kernels) == 1:
        words += ["--kernel", kernels[0]]
    if data["only"]:
        words += ["--only", ",".join(data["only"])]
    claimed = [row for row in data["rows"] if row["met"] != "-"]
    short = [row for row in claimed if row["met"] == "no"]
    knobs = f", knobs `{data['config']}`" if data["config"] else ""
    heads = ["---"] * LEFT + ["--:"] * (len(COLUMNS) - LEFT)
    return "\n".join([
        f"`{shlex.join(words)}` on commit {data['tree']}{knobs}: "
        f"{len(claimed) - len(short)} of {len(claimed)} targets met.",
        "",
        line(list(COLUMNS)),
        line(heads),
        *(line([cell(row, column) for column in COLUMNS]) for row in data["rows"]),
        *(f"\nFalls short: {row['workload']}, {row['metric']}: {cell(row, 'policy')}, "
          f"target {cell(row, 'target')}." for row in short),
    ])


def written(page: str, files: list[dict[str, Any]]) -> str:
    """The page with its tables; a result without a place on the page is refused."""
    places = {found[2] for found in BLOCK.finditer(page)}
    for data in files:
        if data["bench"] not in places:
            raise ToolError(f"{PAGE.name}: no place for the results of {data['bench']}")

    def block(found: re.Match[str]) -> str:
        tables = [table(data) for data in files if data["bench"] == found[2]]
        return found[1] + "".join(f"{text}\n\n" for text in tables) + found[3]

    return BLOCK.sub(block, page)


def load(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """The results by file name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def check() -> str:
    """What is wrong with the page, or ""."""
    page = PAGE.read_text(encoding="utf-8")
    return "" if written(page, load()) == page else f"{PAGE}: run python3 -m bench.page"


def main() -> int:
    """The command."""
    if sys.argv[1:] == ["--check"]:
        print(check(), end="")
        return 1 if check() else 0
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), load()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    main_guard(main)
