# SPDX-License-Identifier: GPL-2.0-only
"""Measured rows: a table for people, JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def rounded(value: float | None) -> float | None:
    """A number as JSON carries it; null for one that is not there or infinite."""
    return None if value is None or math.isinf(value) else round(value, 6)


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
        """The row as JSON carries it."""
        return {
            "kernel": self.kernel,
            "workload": self.workload,
            "mode": self.mode,
            "metric": self.metric,
            "base": rounded(self.base),
            "policy": rounded(self.policy),
            "ratio": rounded(self.ratio),
            "target": rounded(self.target),
            "met": self.met,
            **({"detail": self.detail} if self.detail else {}),
        }


def figure(value: float | None) -> str:
    """A number in few digits: 1.9538, 8214.30."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "never"
    return f"{value:.2f}" if value >= 100 else f"{value:.4f}"


COLUMNS = ("kernel", "workload", "mode", "metric", "base", "policy", "ratio", "target", "met")
LEFT = 4  # columns of words; the others are numbers


def cells(row: Row) -> list[str]:
    """The row's text, column by column."""
    numbers = [figure(value) for value in (row.base, row.policy, row.ratio, row.target)]
    return [row.kernel, row.workload, row.mode or "-", row.metric, *numbers, row.met]


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
            f"\nfalls short: {' '.join(filter(None, (row.kernel, row.workload, row.mode)))}: "
            f"{figure(row.policy)}, target {figure(row.target)}"
        )
    return text


def document(name: str, config: str, only: Sequence[str], tree: str, rows: Sequence[Row]) -> str:
    """The rows as JSON text.

    config  the knobs that the rows were measured with
    only    the parts that were measured; empty: all
    tree    the commit that was measured
    """
    whole = {"bench": name, "config": config, "only": list(only), "tree": tree,
             "rows": [row.as_dict() for row in rows]}
    return json.dumps(whole, indent=1) + "\n"


def save(path: Path, text: str) -> None:
    """Write a file whole, or leave the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
