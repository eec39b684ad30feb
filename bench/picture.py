# SPDX-License-Identifier: GPL-2.0-only
"""Draw the README's picture: python3 -m bench.picture [--check]

docs/pictures/results.json names rows of bench/results/; results-light.svg and results-dark.svg
beside it show their figures.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from bench.page import RESULTS
from bench.table import write_or_check
from guests.report import ROOT, main_guard

FOLDER = ROOT / "docs/pictures"
COLOURS = {
    "light": {"back": "#ffffff", "text": "#1f2328", "stock": "#afb8c1", "with": "#0969da"},
    "dark": {"back": "#0d1117", "text": "#e6edf3", "stock": "#484f58", "with": "#58a6ff"},
}
WIDTH, ROW, TOP, LEFT, FULL = 760, 58, 44, 16, 600
FONT = "font-family='system-ui, sans-serif'"


def text(x: float, y: float, words: str, colour: str, size: int = 13) -> str:
    """A line of text."""
    return f"<text x='{x:g}' y='{y:g}' fill='{colour}' font-size='{size}' {FONT}>{words}</text>"


def bar(y: float, share: float, colour: str) -> str:
    """A bar as long as its share of stock."""
    return (f"<rect x='{LEFT}' y='{y:g}' width='{max(share * FULL, 1):.1f}' height='11' "
            f"rx='2' fill='{colour}'/>")


def figures(one: dict[str, str]) -> tuple[float, float]:
    """What stock does, and what is left with the policy; "stock" names stock's own row."""
    rows = json.loads((RESULTS / f"{one['file']}.json").read_text(encoding="utf-8"))["rows"]
    found = {row["mode"]: row for row in rows if row["metric"] == one["metric"]
             and row["workload"] == one.get("workload", row["workload"])}
    row = found[one["mode"]]
    return found[one["stock"]]["policy"] if "stock" in one else row["base"], row["policy"]


def shown(value: float) -> str:
    """A figure in four or more digits: 46,208, 1.954."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def drawing(data: dict[str, Any], colours: dict[str, str]) -> str:
    """The picture."""
    height = TOP + ROW * len(data["bars"]) + 24
    parts = ["<!-- SPDX-License-Identifier: GPL-2.0-only; drawn by bench/picture.py -->",
             f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img'>",
             f"<title>{escape(data['title'])}</title>",
             f"<rect width='{WIDTH}' height='{height}' fill='{colours['back']}'/>",
             text(LEFT, 26, escape(data["title"]), colours["text"], 15)]
    for number, one in enumerate(data["bars"]):
        y = TOP + ROW * number
        stock, left = figures(one)
        share = left / stock
        words = f"{one['policy']}: {one['what']}"
        parts += [text(LEFT, y + 13, escape(words), colours["text"]),
                  bar(y + 20, 1, colours["stock"]), bar(y + 34, share, colours["with"]),
                  text(LEFT + FULL + 10, y + 30, shown(stock), colours["text"], 12),
                  text(LEFT + max(share * FULL, 1) + 10, y + 44,
                       f"{shown(left)} ({share:.1%})", colours["text"], 12)]
    parts += [text(LEFT, height - 10, escape(data["note"]), colours["text"], 11), "</svg>"]
    return "\n".join(parts) + "\n"


def main() -> int:
    """The command."""
    data = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    pictures = {FOLDER / f"results-{name}.svg": drawing(data, colours)
                for name, colours in COLOURS.items()}
    return write_or_check(pictures, "bench.picture")


if __name__ == "__main__":
    main_guard(main)
