# SPDX-License-Identifier: GPL-2.0-only
"""Measured rows: a table for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COLUMNS = ("kernel", "workload", "mode", "metric", "base", "policy", "ratio", "target", "met")
LEFT = 4  # columns of words; the others are numbers
HOST = "emulated guest"


@dataclass(frozen=True)
class Row:
    """One comparison, both sides measured in the same guest.

    base     without the policy; infinite: it never came to that
    policy   with it
    target   the highest `policy` that meets the claim; None: nothing claimed
    mode     the policy's; "" where none is meant
    detail   what the figures come from, for JSON alone
    """

    kernel: str
    workload: str
    metric: str
    base: float
    policy: float
    target: float | None = None
    mode: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """policy / base, or None where that says nothing."""
        if not self.base or math.isinf(self.base) or math.isinf(self.policy):
            return None
        return self.policy / self.base

    @property
    def met(self) -> str:
        """Whether the claim holds: yes, no, or - when there is none."""
        if self.target is None:
            return "-"
        return "yes" if self.policy <= self.target else "no"

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON carries it; null for a number that is not there or infinite."""
        values = {column: getattr(self, column) for column in COLUMNS}
        row = {column: None if value == math.inf else value for column, value in values.items()}
        return {**row, **({"detail": self.detail} if self.detail else {})}


def figure(value: float) -> str:
    """A number in few digits: 1.9538, 8214.30."""
    return f"{value:.2f}" if value >= 100 else f"{value:.4f}"


def cell(row: dict[str, Any], column: str) -> str:
    """The text of a cell, of a row as JSON carries it."""
    value = row[column]
    if value is None:
        # Infinity is null in JSON, and a row without a target has nothing to meet.
        return "never" if column in ("base", "policy") else "-"
    return (value or "-") if isinstance(value, str) else figure(value)


def cells(row: dict[str, Any]) -> list[str]:
    """The row's text, column by column."""
    return [cell(row, column) for column in COLUMNS]


def claimed(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The rows that fall short of their target, and how many do not."""
    targets = [row for row in rows if row["met"] != "-"]
    short = [row for row in targets if row["met"] == "no"]
    if not targets:
        return short, "nothing is claimed"
    return short, f"{len(targets) - len(short)} of {len(targets)} targets met"


def align(lines: Sequence[Sequence[str]], left: int) -> str:
    """Lines of cells in straight columns, the first `left` to the left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if i < left else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def render(rows: Sequence[Row]) -> str:
    """The whole table, with a last line that says what falls short."""
    whole = [row.as_dict() for row in rows]
    short, met = claimed(whole)
    return "\n".join([
        align([COLUMNS, *map(cells, whole)], LEFT),
        met,
        *(f"falls short: {' '.join(filter(None, (row['kernel'], row['workload'], row['mode'])))}: "
          f"{cell(row, 'policy')}, target {cell(row, 'target')}" for row in short),
    ])


def write_or_check(wanted: Mapping[Path, str], command: str) -> int:
    """Write files; with --check say which are not as wanted, and fail if one is not."""
    if sys.argv[1:] != ["--check"]:
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
        return 0
    wrong = [path for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
    for path in wrong:
        print(f"{path}: run python3 -m {command}")
    return 1 if wrong else 0


def document(name: str, config: str, only: Sequence[str], tree: str, rows: Sequence[Row]) -> str:
    """The rows as JSON text.

    config  the knobs that the rows were measured with
    only    the parts that were measured; empty: all
    tree    the commit that was measured
    """
    whole = {"bench": name, "config": config, "only": list(only), "tree": tree,
             "date": time.strftime("%F", time.gmtime()), "host": HOST,
             "rows": [rounded(row.as_dict()) for row in rows]}
    return json.dumps(whole, indent=1) + "\n"


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """The row with numbers of six decimal places."""
    return {key: round(value, 6) if isinstance(value, float) else value
            for key, value in row.items()}


def spread(row: dict[str, Any]) -> dict[str, list[float]]:
    """Of each side that ran more than once: how often, the lowest and the highest figure."""
    return {side: [len(runs), round(min(runs), 6), round(max(runs), 6)]
            for side, runs in row.get("detail", {}).items()
            if isinstance(runs, list) and len(runs) > 1 and not isinstance(runs[0], dict)}


def stored(data: dict[str, Any]) -> str:
    """What document() wrote, a row a line and without the runs but for their spread."""
    head = json.dumps({key: value for key, value in data.items() if key != "rows"})
    rows = ",\n".join(
        json.dumps({**{key: row[key] for key in COLUMNS},
                    **({"runs": runs} if (runs := spread(row)) else {})})
        for row in data["rows"])
    return f'{head[:-1]}, "rows": [\n{rows}\n]}}\n'
