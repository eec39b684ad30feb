# SPDX-License-Identifier: GPL-2.0-only
"""Draw what the model predicts: python3 -m bench.model_picture [--check]

Reads the newest predictions of `livemmctl model` and docs/model/measured.csv, the points that
they were compared with; writes docs/pictures/model-light.svg and model-dark.svg.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench.picture import COLOURS, FOLDER, FONT, text
from bench.table import write_or_check
from guests.report import ROOT, main_guard

MODEL = ROOT / "tools/livemmctl/model"
MEASURED = ROOT / "docs/model/measured.csv"
PANEL, HEIGHT, TOP, BOTTOM, LEFT, GAP, FOOT = 380, 330, 66, 44, 58, 80, 26
WIDTH = LEFT + 2 * PANEL + GAP + 110
LINES = {"light": ("#0969da", "#bc4c00", "#1a7f37", "#8250df"),
         "dark": ("#58a6ff", "#f0883e", "#3fb950", "#bc8cff")}
GRID = {"light": "#d8dee4", "dark": "#30363d"}

Row = dict[str, str]


@dataclass(frozen=True)
class Panel:
    """Lines over a number of CPUs.

    lines  what each is called, and the parts of the predictions that are its
    most   the top of the scale
    """

    title: str
    unit: str
    across: str
    lines: Sequence[tuple[str, Row]]
    ticks: Sequence[int]
    most: float
    step: float


def bulk(operation: str) -> Row:
    """Of the published machine."""
    return {"load": f"bulk {operation}", "kernel": "6.0", "policy": "stock", "metric": "ns"}


def fault(policy: str) -> Row:
    """Of one socket."""
    return {"load": "page_fault1", "kernel": "6.1", "policy": policy, "zones": "1",
            "metric": "GB/s"}


PANELS = (
    Panel("stock 6.0, one zone: ns an operation", "ns", "cores",
          (("free", bulk("free")), ("allocate", bulk("alloc"))), (1, 8, 16, 24, 32), 1600, 400),
    Panel("page_fault1 on 6.1, one zone: GB/s", "GB/s", "CPUs",
          (("stock", fault("stock")), ("pcp", fault("pcp")), ("zonelock", fault("zonelock")),
           ("both", fault("both"))), (8, 28, 56, 80, 112), 700, 100),
)


def rows_of(path: Path) -> list[Row]:
    """Rows of a CSV file; lines that begin with # say nothing."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def predicted_of(path: Path) -> list[Row]:
    """Rows of a file of predictions."""
    rows = []
    for one in json.loads(path.read_text(encoding="utf-8"))["series"]:
        about = {name: str(one[name]) for name in ("load", "kernel", "policy", "zones", "metric")}
        rows += [{**about, "cpus": str(cpus), "value": str(value), "low": str(low),
                  "high": str(high)}
                 for cpus, value, low, high in zip(one["cpus"], one["value"], one["low"],
                                                   one["high"], strict=True)]
    return rows


def chosen(rows: Iterable[Row], parts: Row) -> list[Row]:
    """The rows that have these parts."""
    return [row for row in rows if all(row[name] == part for name, part in parts.items())]


def path_of(points: Iterable[tuple[float, float]]) -> str:
    """The points of a line or an area."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def drawn(panel: Panel, left: float, rows: Sequence[Row], measured: Sequence[Row],
          theme: str) -> list[str]:
    """A panel whose axis is at `left`."""
    words, grid = COLOURS[theme]["text"], GRID[theme]
    first, last = panel.ticks[0], panel.ticks[-1]

    def x(cpus: float) -> float:
        return left + (cpus - first) / (last - first) * PANEL

    def y(value: float) -> float:
        return TOP + HEIGHT * (1 - min(value, panel.most) / panel.most)

    parts = [text(left - 40, TOP - 18, escape(panel.title), words, 13)]
    for number in range(int(panel.most / panel.step) + 1):
        value = number * panel.step
        parts += [f"<line x1='{left:g}' x2='{left + PANEL:g}' y1='{y(value):.1f}' "
                  f"y2='{y(value):.1f}' stroke='{grid}'/>",
                  f"<text x='{left - 8:g}' y='{y(value) + 4:.1f}' fill='{words}' font-size='11' "
                  f"text-anchor='end' {FONT}>{value:,g}</text>"]
    for tick in panel.ticks:
        parts.append(f"<text x='{x(tick):.1f}' y='{TOP + HEIGHT + 18}' fill='{words}' "
                     f"font-size='11' text-anchor='middle' {FONT}>{tick}</text>")
    parts.append(f"<text x='{left + PANEL / 2:g}' y='{TOP + HEIGHT + 34}' fill='{words}' "
                 f"font-size='11' text-anchor='middle' {FONT}>{panel.across}</text>")
    ends: list[float] = []
    for (name, key), colour in zip(panel.lines, LINES[theme], strict=False):
        mine = chosen(rows, key)

        def line(column: str, mine: Sequence[Row] = mine) -> list[tuple[float, float]]:
            return [(x(int(row["cpus"])), y(float(row[column]))) for row in mine]

        parts += [f"<polygon points='{path_of(line('low') + line('high')[::-1])}' "
                  f"fill='{colour}' opacity='0.13'/>",
                  f"<polyline points='{path_of(line('value'))}' fill='none' stroke='{colour}' "
                  f"stroke-width='2'/>"]
        parts += [f"<circle cx='{x(int(row['cpus'])):.1f}' cy='{y(float(row['value'])):.1f}' "
                  f"r='4' fill='{COLOURS[theme]['back']}' stroke='{colour}' stroke-width='2'/>"
                  for row in chosen(measured, key)]
        # Names that would lie on each other are set below each other.
        end = line("value")[-1][1] + 4
        while any(abs(end - other) < 13 for other in ends):
            end += 1
        ends.append(end)
        parts.append(text(left + PANEL + 6, end, name, colour, 12))
    return parts


def drawing(theme: str, rows: Sequence[Row], measured: Sequence[Row], version: str) -> str:
    """The picture."""
    height = TOP + HEIGHT + BOTTOM + FOOT
    colours = COLOURS[theme]
    title = "What the model of zone->lock predicts"
    note = (f"Predictions {version}. Bands: the corners of what is assumed. Rings: measured by "
            "others, not fitted to.")
    drawn_panels: list[str] = []
    for number, panel in enumerate(PANELS):
        drawn_panels += drawn(panel, LEFT + number * (PANEL + GAP + 30), rows, measured, theme)
    return "\n".join([
        "<!-- SPDX-License-Identifier: GPL-2.0-only; drawn by bench/model_picture.py -->",
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{WIDTH}' height='{height}' fill='{colours['back']}'/>",
        text(16, 26, escape(title), colours["text"], 15), *drawn_panels,
        text(16, height - 10, escape(note), colours["text"], 11), "</svg>",
    ]) + "\n"


def newest() -> tuple[str, Path]:
    """The version of the newest predictions, and their file."""
    files: dict[int, Path] = {int(path.stem.rpartition("-")[2]): path
                              for path in MODEL.glob("predictions-*.json")}
    return str(max(files)), files[max(files)]


def main() -> int:
    """The command."""
    version, path = newest()
    rows, measured = predicted_of(path), rows_of(MEASURED)
    return write_or_check({FOLDER / f"model-{theme}.svg": drawing(theme, rows, measured, version)
                           for theme in COLOURS},
                          "bench.model_picture")


if __name__ == "__main__":
    main_guard(main)
