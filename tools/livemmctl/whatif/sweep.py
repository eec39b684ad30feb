# SPDX-License-Identifier: GPL-2.0-only
"""Replay a recording with many settings; what is best of pages that cross and pages kept."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from livemmctl import files
from livemmctl.app import App
from livemmctl.errors import UsageError
from livemmctl.profile.model import profile_text
from livemmctl.table import Table, text_of
from livemmctl.whatif import predict
from livemmctl.whatif.rows import Events

#: Values that a sweep tries where the command line names none.
VALUES = {
    "high_max_pct": ("1", "2", "3", "5", "8", "12.5", "20"),
    "decay_ms": ("500", "1000", "3000", "10000"),
    "max_pages_pct": ("0.5", "1", "2", "4", "8"),
    "max_age_ms": ("300", "1000", "3000"),
}
MOST = 4096
#: A profile is chosen that crosses at most so much more than the best of all.
SLACK = 0.1


@dataclass(frozen=True)
class Point:
    settings: dict[str, str]
    crossed: int
    a_fault: float
    holds: int
    kept: float

    def words(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.settings.items())


def grid(sweeps: Sequence[str]) -> list[dict[str, str]]:
    """Every combination of the values of the knobs."""
    axes = {}
    for word in sweeps:
        knob, sign, text = word.partition("=")
        values = tuple(text.split(",")) if sign else VALUES.get(knob.rpartition("/")[2], ())
        if not values or not all(values):
            raise UsageError(f"--sweep {word}: write KNOB=VALUE,VALUE...")
        axes[knob] = values
    made = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    if len(made) > MOST:
        raise UsageError(f"--sweep: {len(made)} combinations; at most {MOST}")
    return made


def points(found: Events, plan: predict.Plan,
           tried: Sequence[dict[str, str]]) -> list[Point]:
    made = []
    for one in tried:
        figures = predict.predict(found, predict.with_settings(plan, one)).predicted
        made.append(Point(one, figures.crossed, figures.a_fault, figures.holds, figures.kept))
    return made


def frontier(made: Sequence[Point]) -> list[Point]:
    """Points than which none crosses less and keeps less, fewest kept pages first."""
    best: list[Point] = []
    for point in sorted(made, key=lambda one: (one.kept, one.crossed)):
        if not best or point.crossed < best[-1].crossed:
            best.append(point)
    return best


def choose(best: Sequence[Point]) -> Point:
    """Of the frontier, the least memory that saves nearly as much as any."""
    least = min(point.crossed for point in best)
    return next(point for point in best if point.crossed <= least * (1 + SLACK))


def draw(made: Sequence[Point], best: Sequence[Point], chosen: Point, path: Path) -> None:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "livemm", "font.size": 9}):
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.add_subplot()
        axes.scatter([p.kept / 256 for p in made], [p.a_fault for p in made], s=14, c="#a0aec0",
                     label="tried")
        axes.plot([p.kept / 256 for p in best], [p.a_fault for p in best], "o-", c="#2563a8",
                  ms=4, lw=1.2, label="frontier")
        axes.scatter([chosen.kept / 256], [chosen.a_fault], s=60, c="#1a7f4b", zorder=3,
                     label=chosen.words())
        axes.set_xlabel("kept in lists, mean, MiB")
        axes.set_ylabel("pages over zone->lock a fault")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        FigureCanvasSVG(figure).print_svg(str(path), metadata={"Date": None})


def run(app: App, found: Events, plan: predict.Plan, sweeps: Sequence[str], plot: Path | None,
        profile: Path | None) -> None:
    tried = grid(sweeps)
    began = time.perf_counter()
    made = points(found, plan, tried)
    spent = time.perf_counter() - began
    best = frontier(made)
    chosen = choose(best)
    if plot is not None:
        draw(made, best, chosen, plot)
    if profile is not None:
        best_plan = predict.with_settings(plan, chosen.settings)
        wanted = {policy: {"enabled": "1", **knobs} for policy, knobs in best_plan.items()}
        files.replace(profile, profile_text(wanted, f"chosen by whatif of {found.meta.host}"))
    document: dict[str, Any] = {
        "policies": plan, "tried": len(made), "chosen": vars(chosen),
        "frontier": [vars(point) for point in best],
        "events_per_second": round(len(found.rows) * len(made) / max(spent, 1e-9)),
    }

    def text() -> str:
        rows = [("*" if point == chosen else "", point.words(), f"{point.a_fault:.4f}",
                 f"{point.holds}", f"{point.kept / 256:.1f}") for point in best]
        numbers = ("pages a fault", "holds", "kept, MiB")
        return text_of(
            f"{len(made)} settings tried; the frontier, and the setting chosen (*)", "",
            Table(("", "settings", *numbers), rows, numbers))

    app.show(document, text)
