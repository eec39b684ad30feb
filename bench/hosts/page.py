# SPDX-License-Identifier: GPL-2.0-only
"""Write docs/hosts.md: python3 -m bench.hosts.page [--check | --store FILE...]

The page is made of the files of bench/results/hosts/, one a kernel and host.  --store first puts
a FILE there that `bench.run hosts` wrote.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.hosts.hosts import HOSTS, NOT_YET
from bench.hosts.verdict import BETTER, LIKELY, NONE, SUSPECT, WORSE
from bench.table import write_or_check
from guests.command import call
from guests.report import ROOT, ToolError, main_guard

PAGE = ROOT / "docs/hosts.md"
RESULTS = ROOT / "bench/results/hosts"
MOST_FIGURES = 3
MARKS = {WORSE: "−", SUSPECT: "−?", BETTER: "+", LIKELY: "+?", NONE: "="}
# What is written is between these.
BEGIN, END = "<!-- hosts -->\n", "<!-- end -->"


def number(value: float) -> str:
    """A figure in few digits."""
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2g}"


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def shown(rows: Sequence[dict[str, Any]], matters: Sequence[str]) -> list[dict[str, Any]]:
    """The figures of a cell: worse, better, what matters; of each kind the host's own first."""
    place = {metric: at for at, metric in enumerate(matters)}
    kinds = list(MARKS)
    rows = [row for row in rows if row["verdict"] != NONE or row["metric"] in place]
    return sorted(rows, key=lambda row: (kinds.index(row["verdict"]),
                                         place.get(row["metric"], len(place))))[:MOST_FIGURES]


def mark(rows: Sequence[dict[str, Any]]) -> str:
    """The marks of a cell."""
    found = {row["verdict"] for row in rows}
    return " ".join(mark for verdict, mark in MARKS.items()
                    if verdict in found and verdict != NONE) or MARKS[NONE]


def cell(data: dict[str, Any], policy: str) -> str:
    """What a policy does to a host."""
    rows = [row for row in data["rows"] if row["policy"] == policy]
    if not rows:
        return ""
    figures = [f"{MARKS[row['verdict']]} {row['metric']} {number(row['stock'])} → "
               f"{number(row['with'])}" for row in shown(rows, HOSTS[data["host"]].matters)]
    return f"**{mark(rows)}** " + "; ".join(figures)


def worse(data: dict[str, Any]) -> int:
    """How many figures of a host are worse."""
    return sum(row["verdict"] in (WORSE, SUSPECT) for row in data["rows"])


def command(data: dict[str, Any]) -> str:
    """The command that measured a host."""
    return f"python3 -m bench.run hosts --host {data['host']} --kernel {data['kernel']}"


def of_kernel(kernel: str, files: Sequence[dict[str, Any]]) -> list[str]:
    """The part of a kernel: the table, and each figure that is worse with its interval."""
    policies = list(dict.fromkeys(policy for data in files for policy in data["policies"]))
    files = sorted(files, key=lambda data: (-worse(data), data["host"]))
    lines = [f"## {kernel}", "", line(["host", *policies]), line(["---"] * (len(policies) + 1))]
    lines += [line([f"**{data['host']}**: {HOSTS[data['host']].words}",
                    *(cell(data, policy) for policy in policies)]) for data in files]
    lines += ["", "What is worse, with the 95 % interval of the difference:", "",
              line(["host", "policy", "figure", "without", "with", "difference", "pairs"]),
              line(["---", "---", "---", "--:", "--:", "--:", "--:"])]
    lines += [line([data["host"], row["policy"], row["metric"], number(row["stock"]),
                    number(row["with"]), f"{number(row['low'])} to {number(row['high'])}",
                    str(row["pairs"])])
              for data in files for row in data["rows"] if row["verdict"] in (WORSE, SUSPECT)]
    lines += [""]
    lines += [f"- {data['host']}: `{command(data)}`, commit {data['tree']}, {data['date']}, "
              f"{data['minutes']:.0f} minutes" for data in files]
    return [*lines, ""]


def tables(files: Sequence[dict[str, Any]]) -> str:
    """The part of the page that is written."""
    kernels = list(dict.fromkeys(data["kernel"] for data in files))
    lines: list[str] = []
    for kernel in kernels:
        lines += of_kernel(kernel, [data for data in files if data["kernel"] == kernel])
    there = {data["host"] for data in files}
    missing = {host.name: host.words for host in HOSTS.values() if host.name not in there}
    if missing or NOT_YET:
        lines += ["## Not measured yet", "",
                  *(f"- **{name}**: {words}" for name, words in {**missing, **NOT_YET}.items()), ""]
    return "\n".join(lines)


def store(path: Path, folder: Path) -> None:
    """Put a file of a run into a folder; one of a commit that nobody can have is refused."""
    data = json.loads(path.read_text(encoding="utf-8"))
    argv = ["git", "-c", f"safe.directory={ROOT}", "merge-base", "--is-ancestor", data["tree"],
            "HEAD"]
    if call(argv, cwd=ROOT, check=False)[0]:
        raise ToolError(f"{path}: measured on {data['tree'] or 'no commit'}, which is not in HEAD")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, folder / path.name.removeprefix(f"{data['bench']}-"))


def results(folder: Path) -> list[dict[str, Any]]:
    """All runs of a folder, after those that --store puts there."""
    if sys.argv[1:2] == ["--store"]:
        for path in sys.argv[2:]:
            store(Path(path), folder)
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def main() -> int:
    """The command."""
    files = results(RESULTS)
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text.partition(BEGIN)[0], text.partition(END)[2]
    text = f"{head}{BEGIN}\n{tables(files)}\n{END}{tail}"
    return write_or_check({PAGE: text}, "bench.hosts.page")


if __name__ == "__main__":
    main_guard(main)
