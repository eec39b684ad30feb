# SPDX-License-Identifier: GPL-2.0-only
"""Write the tables of bench/README.md: python3 -m bench.page [--check]

A table is a file of bench/results/, as `bench.run` writes them: the page shows each between
`<!-- results: BENCH -->` and `<!-- end -->`, with the command and the commit that was measured.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from bench.table import COLUMNS, LEFT, cell, cells, claimed, write_or_check
from guests.report import ROOT, ToolError, main_guard

PAGE = ROOT / "bench/README.md"
RESULTS = ROOT / "bench/results"
# Of a longer table the page has the rows that have a target.
ROWS = 40
BLOCK = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def line(texts: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(texts) + " |"


def table(data: dict[str, Any]) -> str:
    """The table of one file, below the command that measured the rows."""
    words = ["python3", "-m", "bench.run", data["bench"]]
    kernels = sorted({row["kernel"] for row in data["rows"]})
    if len(kernels) == 1:
        words += ["--kernel", kernels[0]]
    if data["only"]:
        words += ["--only", ",".join(data["only"])]
    short, met = claimed(data["rows"])
    shown = data["rows"]
    if len(shown) > ROWS:
        shown = [row for row in shown if row["target"] is not None] or shown
    left = len(data["rows"]) - len(shown)
    knobs = f", knobs `{data['config']}`" if data["config"] else ""
    heads = ["---"] * LEFT + ["--:"] * (len(COLUMNS) - LEFT)
    return "\n".join([
        f"`{shlex.join(words)}` on commit {data['tree']}{knobs}: {met}.",
        "",
        line(COLUMNS),
        line(heads),
        *(line(cells(row)) for row in shown),
        *([f"\n{left} rows without a target are in the file of results alone."] if left else []),
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


def main() -> int:
    """The command."""
    files = [json.loads(path.read_text(encoding="utf-8"))
             for path in sorted(RESULTS.glob("*.json"))]
    page = written(PAGE.read_text(encoding="utf-8"), files)
    return write_or_check({PAGE: page}, "bench.page")


if __name__ == "__main__":
    main_guard(main)
