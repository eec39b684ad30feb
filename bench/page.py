# SPDX-License-Identifier: GPL-2.0-only
"""Write the tables of bench/README.md: python3 -m bench.page [--check | --store FILE]

A table is a file of bench/results/: the page shows each between `<!-- results: BENCH -->` and
`<!-- end -->`, with the command and the commit that was measured. --store first puts the rows of a
FILE that `bench.run` wrote there, a file a kernel, a row a line.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.table import cell, claimed, figure, stored, write_or_check
from guests.command import call
from guests.report import ROOT, ToolError, main_guard

PAGE = ROOT / "bench/README.md"
RESULTS = ROOT / "bench/results"
# The columns of the page, and those of a row.
HEADS = {"load": "workload", "mode": "mode", "figure": "metric", "without": "base",
         "with": "policy", "with / without": "ratio", "at most": "target", "met": "met"}
LEFT = 3  # columns of words; the others are numbers
BLOCK = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def line(texts: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(texts) + " |"


def number(value: float) -> str:
    """A number: 46,208, 1.9538, 8214.30."""
    return f"{value:,.0f}" if value == int(value) else figure(value)


def text(row: dict[str, Any], column: str) -> str:
    """The text of a cell."""
    value = row[column]
    return number(value) if isinstance(value, float) else cell(row, column)


def cells(row: dict[str, Any]) -> list[str]:
    """The row's text, column by column; beside a mean of runs the lowest and the highest."""
    texts = {column: text(row, column) for column in HEADS.values()}
    runs = row.get("runs", {})
    # The base is the first side that ran.
    sides = {"base": next(iter(runs), ""), "policy": row["mode"] if row["mode"] in runs
             else "policy"}
    for column, side in sides.items():
        _, low, high = runs.get(side, (0, 0, 0))
        if low != high:
            texts[column] += f" ({number(low)} to {number(high)})"
    return list(texts.values())


def table(data: dict[str, Any]) -> str:
    """The table of one file, below the command that measured the rows."""
    rows = data["rows"]
    words = ["python3", "-m", "bench.run", data["bench"], "--kernel", rows[0]["kernel"]]
    if data["only"]:
        words += ["--only", ",".join(data["only"])]
    if data["config"]:
        words += ["--config", data["config"]]
    short, met = claimed(rows)
    held = {row["metric"] for row in rows if row["target"] is not None}
    shown = [row for row in rows if row["metric"] in held] or rows
    left = len(rows) - len(shown)
    runs = sorted({count for row in rows for count, _, _ in row.get("runs", {}).values()})
    times = f", {' to '.join(map(str, runs))} runs a side" if runs else ""
    heads = ["---"] * LEFT + ["--:"] * (len(HEADS) - LEFT)
    return "\n".join([
        f"`{shlex.join(words)}`, commit {data['tree']}, {data['date']}{times}: {met}.",
        "",
        line(list(HEADS)),
        line(heads),
        *(line(cells(row)) for row in shown),
        *([f"\n{left} more rows without a target are in the file of results."] if left else []),
        *(f"\nFalls short: {row['workload']}, {row['metric']}: {text(row, 'policy')}, "
          f"at most {text(row, 'target')}." for row in short),
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


def store(path: Path) -> None:
    """Put the rows of a run into RESULTS; rows of a commit that nobody can have are refused."""
    data = json.loads(path.read_text(encoding="utf-8"))
    argv = ["git", "-c", f"safe.directory={ROOT}", "merge-base", "--is-ancestor", data["tree"],
            "HEAD"]
    if call(argv, cwd=ROOT, check=False)[0]:
        raise ToolError(f"{path}: measured on {data['tree'] or 'no commit'}, which is not in HEAD")
    knobs = data["config"].split(",") if data["config"] else []
    for kernel in sorted({row["kernel"] for row in data["rows"]}):
        rows = [row for row in data["rows"] if row["kernel"] == kernel]
        name = "-".join([data["bench"], *dict.fromkeys(data["only"]), *knobs, kernel])
        (RESULTS / f"{name}.json").write_text(stored({**data, "rows": rows}), encoding="utf-8")


def main() -> int:
    """The command."""
    if sys.argv[1:2] == ["--store"]:
        store(Path(sys.argv[2]))
    files = [json.loads(path.read_text(encoding="utf-8"))
             for path in sorted(RESULTS.glob("*.json"))]
    page = written(PAGE.read_text(encoding="utf-8"), files)
    return write_or_check({PAGE: page}, "bench.page")


if __name__ == "__main__":
    main_guard(main)
