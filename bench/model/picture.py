# SPDX-License-Identifier: GPL-2.0-only
"""The picture of what the model predicts, and of the points that this was compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench.model.table import HERE, PREDICTED, Key, read_measured, read_predictions
from bench.picture import COLOURS, FONT, text

PANEL, HEIGHT, TOP, BOTTOM, LEFT, GAP, FOOT = 380, 330, 66, 44, 58, 80, 26
WIDTH = LEFT + 2 * PANEL + GAP + 110
LINES = {"light": ("#0969da", "#bc4c00", "#1a7f37", "#8250df"),
         "dark": ("#58a6ff", "#f0883e", "#3fb950", "#bc8cff")}
GRID = {"light": "#d8dee4", "dark": "#30363d"}

#: Parts of a key; and a value with its interval, or what was measured, by the number of CPUs.
Parts = dict[str, str | int]
Points = list[tuple[int, Sequence[float]]]


@dataclass(frozen=True)
class Panel:
    """Lines over a number of CPUs.

    lines  what each is called, and the parts of the predictions that are its
    most   the top of the scale
    """

    title: str
    unit: str
    across: str
    lines: Sequence[tuple[str, Parts]]
    ticks: Sequence[int]
    most: float
    step: float


def bulk(operation: str) -> Parts:
    """Of the published machine."""
    return {"load": f"bulk {operation}", "kernel": "6.0", "policy": "stock", "metric": "ns"}


def fault(policy: str) -> Parts:
    """Of one socket."""
    return {"load": "page_fault1", "kernel": "6.1", "policy": policy, "zones": 1,
            "metric": "GB/s"}


PANELS = (
    Panel("stock 6.0, one zone: ns an operation", "ns", "cores",
          (("free", bulk("free")), ("allocate", bulk("alloc"))), (1, 8, 16, 24, 32), 1600, 400),
    Panel("page_fault1 on 6.1, one zone: GB/s", "GB/s", "CPUs",
          (("stock", fault("stock")), ("pcp", fault("pcp")), ("zonelock", fault("zonelock")),
           ("both", fault("both"))), (8, 28, 56, 80, 112), 700, 100),
)


def chosen(rows: Mapping[Key, Sequence[float]], parts: Parts) -> Points:
    """Those whose keys have these parts."""
    return [(key.cpus, found) for key, found in rows.items()
            if all(getattr(key, name) == part for name, part in parts.items())]


def path_of(points: Iterable[tuple[float, float]]) -> str:
    """The points of a line or an area."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def drawn(panel: Panel, left: float, rows: Mapping[Key, Sequence[float]],
          measured: Mapping[Key, Sequence[float]], theme: str) -> list[str]:
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

        def line(column: int, mine: Points = mine) -> list[tuple[float, float]]:
            return [(x(cpus), y(found[column])) for cpus, found in mine]

        parts += [f"<polygon points='{path_of(line(1) + line(2)[::-1])}' "
                  f"fill='{colour}' opacity='0.13'/>",
                  f"<polyline points='{path_of(line(0))}' fill='none' stroke='{colour}' "
                  f"stroke-width='2'/>"]
        parts += [f"<circle cx='{x(cpus):.1f}' cy='{y(found[0]):.1f}' "
                  f"r='4' fill='{COLOURS[theme]['back']}' stroke='{colour}' stroke-width='2'/>"
                  for cpus, found in chosen(measured, key)]
        # Names that would lie on each other are set below each other.
        end = line(0)[-1][1] + 4
        while any(abs(end - other) < 13 for other in ends):
            end += 1
        ends.append(end)
        parts.append(text(left + PANEL + 6, end, name, colour, 12))
    return parts


def drawing(theme: str, rows: Mapping[Key, Sequence[float]],
            measured: Mapping[Key, Sequence[float]]) -> str:
    """The picture."""
    height = TOP + HEIGHT + BOTTOM + FOOT
    colours = COLOURS[theme]
    title = "What the model of zone->lock predicts"
    note = (f"Predictions {PREDICTED.stem[-1]}. Bands: the corners of what is assumed. "
            "Rings: measured by others, not fitted to.")
    drawn_panels: list[str] = []
    for number, panel in enumerate(PANELS):
        drawn_panels += drawn(panel, LEFT + number * (PANEL + GAP + 30), rows, measured, theme)
    return "\n".join([
        "<!-- SPDX-License-Identifier: GPL-2.0-only; drawn by bench/model/picture.py -->",
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{WIDTH}' height='{height}' fill='{colours['back']}'/>",
        text(16, 26, escape(title), colours["text"], 15), *drawn_panels,
        text(16, height - 10, escape(note), colours["text"], 11), "</svg>",
    ]) + "\n"


def drawings() -> dict[Path, str]:
    """The picture's files."""
    measured = {point.key: (point.value,) for point in read_measured()}
    return {HERE / f"model-{theme}.svg": drawing(theme, read_predictions(), measured)
            for theme in COLOURS}
