# SPDX-License-Identifier: GPL-2.0-only
"""Measured rows: a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One comparison, both sides measured in the same guest.

    base     without the policy
    policy   with it
    target   the highest `policy` that meets the claim; None: nothing claimed
    """

    kernel: str
    workload: str
    metric: str
    base: float
    policy: float
    target: float | None = None

    @property
    def ratio(self) -> float | None:
        """policy / base, or None over a base of nothing."""
        return self.policy / self.base if self.base else None

    @property
    def met(self) -> str:
        """Whether the claim holds: yes, no, or - when there is none."""
        if self.target is None:
            return "-"
        return "yes" if self.policy <= self.target else "no"

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON carries it."""
        ratio = self.ratio
        return {
            "kernel": self.kernel,
            "workload": self.workload,
            "metric": self.metric,
            "base": round(self.base, 6),
            "policy": round(self.policy, 6),
            "ratio": None if ratio is None else round(ratio, 6),
            "target": None if self.target is None else round(self.target, 6),
            "met": self.met,
        }


def figure(value: float | None) -> str:
    """A number in few digits: 1.9538, 8214.30."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value >= 100 else f"{value:.4f}"


COLUMNS = ("kernel", "workload", "metric", "base", "policy", "ratio", "target", "met")
LEFT = 3  # columns of words; the others are numbers


def cells(row: Row) -> list[str]:
    """The row's text, column by column."""
    numbers = [figure(value) for value in (row.base, row.policy, row.ratio, row.target)]
    return [row.kernel, row.workload, row.metric, *numbers, row.met]


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
    claimed = [row for row in rows if row.target is not None]
    short = [row for row in claimed if row.met == "no"]
    text = align([COLUMNS, *(cells(row) for row in rows)], LEFT)
    text += f"\n{len(claimed) - len(short)} of {len(claimed)} targets met"
    for row in short:
        text += (
            f"\nfalls short: {row.kernel} {row.workload}: "
            f"{figure(row.policy)}, target {figure(row.target)}"
        )
    return text


def document(name: str, config: str, rows: Sequence[Row]) -> str:
    """The rows as JSON text, with the knobs they were measured with."""
    whole = {"bench": name, "config": config, "rows": [row.as_dict() for row in rows]}
    return json.dumps(whole, indent=1) + "\n"


def save(path: Path, text: str) -> None:
    """Write a file whole, or leave the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
