# SPDX-License-Identifier: GPL-2.0-only
"""Write docs/hosts.md and a part of README.md.

python3 -m bench.hosts.page [--check | --store FILE...]

Both are made of the files of bench/results/hosts/, one a kernel and host.  --store first puts
a FILE there that `bench.run hosts` wrote.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.hosts.hosts import HOSTS
from bench.hosts.verdict import BETTER, LIKELY, NONE, SUSPECT, WORSE
from bench.table import write_or_check
from guests.command import call
from guests.kernels import load
from guests.report import ROOT, ToolError, main_guard

PAGE = ROOT / "docs/hosts.md"
README = ROOT / "README.md"
RESULTS = ROOT / "bench/results/hosts"
MOST_FIGURES = 3
MARKS = {WORSE: "−", SUSPECT: "−?", BETTER: "+", LIKELY: "+?", NONE: "="}
# The columns of the README: the verdicts that put a policy there; the second one is not certain.
COLUMNS = {"better": (BETTER, LIKELY), "worse": (WORSE, SUSPECT), "no difference shown": ()}
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
    if missing:
        lines += ["## Not measured yet", "",
                  *(f"- **{name}**: {words}" for name, words in missing.items()), ""]
    return "\n".join(lines)


def columns(data: dict[str, Any], policy: str) -> dict[str, str]:
    """The columns of a policy on a host, with what is said of the policy there."""
    found = {row["verdict"] for row in data["rows"] if row["policy"] == policy}
    said = {name: policy if verdicts[0] in found else f"{policy}?"
            for name, verdicts in COLUMNS.items() if found & {*verdicts}}
    # Without a row the kernel has no such policy.
    return said or ({"no difference shown": policy} if found else {})


def advice(host: str, files: Sequence[dict[str, Any]]) -> str:
    """A host's line of the README: the policies of each column, and the kernels of each."""
    cells: dict[str, dict[str, list[str]]] = {name: {} for name in COLUMNS}
    for data in files:
        for policy in data["policies"]:
            for name, words in columns(data, policy).items():
                cells[name].setdefault(words, []).append(data["kernel"])
    return line([host, *("; ".join(f"{words} ({', '.join(kernels)})"
                                   for words, kernels in cell.items())
                         for cell in cells.values())])


def unmeasured(files: Sequence[dict[str, Any]], kernels: Sequence[str]) -> list[str]:
    """A line a kernel: the hosts that nobody has measured there."""
    there = {(data["kernel"], data["host"]) for data in files}
    missing = {kernel: [host.name for host in HOSTS.values()
                        if (kernel, host.name) not in there
                        and kernel in (host.kernels or kernels)] for kernel in kernels}
    return [f"- {kernel}: {', '.join(names) if len(names) < len(HOSTS) else 'all'}"
            for kernel, names in missing.items() if names]


def which(files: Sequence[dict[str, Any]]) -> str:
    """The part of the README that is written."""
    lines = [line(["host", *COLUMNS]), line(["---"] * (len(COLUMNS) + 1))]
    for host in HOSTS:
        if ours := [data for data in files if data["host"] == host]:
            lines.append(advice(host, ours))
    missing = unmeasured(files, [kernel.series for kernel in load()[0]])
    if missing:
        lines += ["", "Not measured:", "", *missing]
    return "\n".join([*lines, ""])


def between(path: Path, text: str) -> str:
    """A file with that text where its own is written."""
    old = path.read_text(encoding="utf-8")
    return f"{old.partition(BEGIN)[0]}{BEGIN}\n{text}\n{END}{old.partition(END)[2]}"


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
    wanted = {PAGE: tables(files), README: which(files)}
    return write_or_check({path: between(path, text) for path, text in wanted.items()},
                          "bench.hosts.page")


if __name__ == "__main__":
    main_guard(main)
