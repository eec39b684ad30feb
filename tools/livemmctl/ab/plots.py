# SPDX-License-Identifier: GPL-2.0-only
"""The report's pictures, as SVG to be put into a page."""

import contextlib
import io
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from livemmctl.ab.analyse import BETTER, WORSE, Comparison, Report
from livemmctl.ab.effects import units_by_block
from livemmctl.ab.history import looks_back
from livemmctl.ab.strata import effects_by_stratum
from livemmctl.ab.words import percent

_GOOD, _BAD, _QUIET, _REFUSED = "#1a7f4b", "#b3261e", "#4a5568", "#a0aec0"
_CONTROL, _TREATMENT = "#8896a8", "#2563a8"
_STYLE = {
    "font.size": 9, "font.family": "sans-serif", "axes.spines.top": False,
    "axes.spines.right": False, "axes.edgecolor": "#a0aec0", "axes.labelcolor": "#4a5568",
    "xtick.color": "#4a5568", "ytick.color": "#1a202c", "axes.titlesize": 9,
    # The same report is the same file.
    "svg.hashsalt": "livemm", "svg.fonttype": "path",
}


@contextlib.contextmanager
def _axes(width: float, height: float) -> Iterator[Any]:
    """The axes of a new figure, in the style of a report."""
    with rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout="constrained").add_subplot()


def _svg(figure: Figure, title: str) -> str:
    buffer = io.StringIO()
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg"):]
    # Scales with the page, and has a name for those who do not see it.
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', rf'\1 role="img" aria-label="{title}"', text,
                  count=1)
    return text.replace('id="', f'id="{_slug(title)}-').replace('"#', f'"#{_slug(title)}-'
                        ).replace("url(#", f"url(#{_slug(title)}-")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _colour(item: Comparison) -> str:
    if item.verdict in (BETTER, WORSE):
        return _GOOD if item.verdict == BETTER else _BAD
    return _REFUSED if item.effect.refused else _QUIET


def effects(report: Report) -> str:
    """Every relative effect with its interval; empty where there is none."""
    found = [
        (item, item.effect.estimate) for item in report.comparisons
        if item.effect.estimate is not None and math.isfinite(item.low + item.high)
    ]
    if not found:
        return ""
    several = len(report.experiment.treatments) > 1
    with _axes(8.6, 0.9 + 0.42 * len(found)) as axes:
        axes.axvline(0, color="#1a202c", linewidth=0.8)
        for row, (item, estimate) in enumerate(reversed(found)):
            colour = _colour(item)
            # As the table has them: of all looks together where any may be looked at.
            low, high = item.low * 100, item.high * 100
            axes.plot([low, high], [row, row], color=colour, linewidth=2.2,
                      solid_capstyle="butt")
            axes.plot([estimate.relative * 100], [row], "o", color=colour, markersize=6)
            axes.annotate(percent(estimate.relative), (estimate.relative * 100, row),
                          textcoords="offset points", xytext=(0, 7), ha="center", color=colour,
                          fontsize=8,
                          # The line at nothing is not to strike it through.
                          path_effects=[withStroke(linewidth=3, foreground="white")])
        axes.set_yticks(range(len(found)), [
            f"{item.metric.name} ({item.arm})" if several else item.metric.name
            for item, _ in reversed(found)
        ])
        axes.set_ylim(-0.6, len(found) - 0.25)
        axes.margins(x=0.12)
        axes.set_xlabel("effect on treatment, % of control, with 95 % interval")
        axes.grid(axis="x", color="#e2e8f0", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        return _svg(axes.figure, "Effects with their intervals")


def looks(report: Report) -> list[str]:
    """Each effect as it was seen at earlier looks, with the interval that held at all of them."""
    back = looks_back(report.experiment, report.seen)
    pictures = []
    for item in report.comparisons:
        rows = [(at_s, then.low, then.effect.estimate.relative, then.high)
                for at_s, earlier in back for then in earlier.comparisons
                if (then.metric.name, then.arm) == (item.metric.name, item.arm)
                and then.effect.estimate is not None and math.isfinite(then.low + then.high)]
        if len(rows) > 1:
            pictures.append(_looks(item, rows))
    return pictures


def _looks(item: Comparison, rows: list[tuple[float, float, float, float]]) -> str:
    title = f"{item.metric.name}, {item.arm}"
    days, low, middle, high = (np.array(column) for column in zip(*rows, strict=True))
    scale, unit = (86400.0, "days") if days[-1] > 2 * 86400 else (3600.0, "hours")
    with _axes(4.2, 2.3) as axes:
        axes.fill_between(days / scale, low * 100, high * 100, color=_colour(item), alpha=0.2,
                          linewidth=0)
        axes.plot(days / scale, middle * 100, color=_colour(item), linewidth=1.6)
        axes.axhline(0, color="#1a202c", linewidth=0.8)
        if item.metric.margin_pct is not None:
            sign = 1 if item.metric.better == "less" else -1
            axes.axhline(sign * item.metric.margin_pct, color=_BAD, linewidth=1,
                         linestyle=(0, (4, 2)))
        # The first looks are wide: they would squeeze what came later.
        room = max(float(high[-1] - low[-1]), 1e-6) * 150
        axes.set_ylim(float(middle[-1]) * 100 - room, float(middle[-1]) * 100 + room)
        axes.set_xlabel(unit)
        axes.set_ylabel("effect, %")
        axes.set_title(title, loc="left")
        return _svg(axes.figure, f"{title} at each look")


def ramp(report: Report, kernel: str, percent: float) -> str:
    """The steps, those taken filled; and how many hosts of each arm have joined, over time."""
    plan = report.experiment.ramp
    turns = plan.kernels or ("",)
    steps = [(turn, step) for turn in turns for step in plan.percents]
    now = steps.index((kernel, percent)) if (kernel, percent) in steps else -1
    with rc_context(_STYLE):
        figure = Figure(figsize=(8.6, 2.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.bar(range(len(steps)), [step for _, step in steps], width=0.8, color=[
            _CONTROL if number < now else _TREATMENT if number == now else "#e2e8f0"
            for number in range(len(steps))])
        left.set_xticks(range(len(steps)), [
            f"{step:g} %\n{turn}" if turn else f"{step:g} %" for turn, step in steps])
        left.set_ylabel("% of hosts")
        left.set_title("steps: taken, now, to come", loc="left")
        _joins(right, report)
        return _svg(figure, "The ramp")


def _joins(axes: Any, report: Report) -> None:
    times = {arm.name: sorted(host.joined_s for host in report.seen.hosts.values()
                              if host.arm == arm.name) for arm in report.experiment.arms}
    every = [at_s for found in times.values() for at_s in found]
    if not every:
        return
    first = report.experiment.start_s or min(every)
    last = max([*every, *(point.at_s for points in report.seen.points.values()
                          for point in points)])
    scale, unit = (86400.0, "days") if last - first > 2 * 86400 else (3600.0, "hours")
    for name, found in times.items():
        is_control = name == report.experiment.control
        axes.step([(at_s - first) / scale for at_s in [*found, last]],
                  [*range(1, len(found) + 1), len(found)], where="post", linewidth=1.6,
                  label=f"{name}{' (control)' if is_control else ''}",
                  color=_CONTROL if is_control else _TREATMENT
                  if len(times) == 2 else None)
    axes.set_xlabel(unit)
    axes.set_ylim(bottom=0)
    axes.set_title("hosts that have joined", loc="left")
    axes.legend(frameon=False, fontsize=8)


def strata(report: Report) -> list[str]:
    """The effect in each kind of machine, a picture a comparison."""
    pictures = []
    for item in effects_by_stratum(report):
        title = f"{item.metric}, {item.arm}, by kind of machine"
        colour = _BAD if item.differ else _QUIET
        with _axes(4.2, 0.9 + 0.35 * len(item.rows)) as axes:
            axes.axvline(0, color="#1a202c", linewidth=0.8)
            for number, row in enumerate(reversed(item.rows)):
                axes.plot([row.low * 100, row.high * 100], [number, number], color=colour,
                          linewidth=2.2, solid_capstyle="butt")
                axes.plot([row.relative * 100], [number], "o", color=colour, markersize=5)
            axes.set_yticks(range(len(item.rows)), [row.name for row in reversed(item.rows)])
            axes.set_ylim(-0.6, len(item.rows) - 0.4)
            axes.set_xlabel("effect, %")
            axes.set_title(title, loc="left")
            pictures.append(_svg(axes.figure, title))
    return pictures


def _bins(both: Any) -> Any:
    # The far tails would squeeze everything else into one bar.
    low, high = np.quantile(both, [0.005, 0.995])
    if low == high:
        low, high = both.min(), both.max()
    return np.linspace(low, high, 31)


def distribution(item: Comparison, unit: str) -> str:
    """How the units of both arms lie; empty where there are none."""
    control, treatment = item.effect.control_values, item.effect.treatment_values
    if not len(control) or not len(treatment):
        return ""
    title = f"{item.metric.name}, {item.arm}"
    with _axes(4.2, 2.3) as axes:
        if len(control) + len(treatment) < 60:
            _dots(axes, control, treatment, item.arm)
        else:
            bins = _bins(np.concatenate([control, treatment]))
            for values, colour, name, kind in (
                (control, _CONTROL, "control", "stepfilled"),
                (treatment, _TREATMENT, item.arm, "step"),
            ):
                shares = np.full(len(values), 100 / len(values))
                axes.hist(np.clip(values, bins[0], bins[-1]), bins=bins, weights=shares,
                          histtype=kind, color=colour, linewidth=1.3, label=name,
                          alpha=0.5 if kind == "stepfilled" else 1.0)
                axes.axvline(values.mean(), color=colour, linewidth=1.4, linestyle=(0, (4, 2)))
            axes.set_ylabel(f"% of {unit}")
            axes.legend(frameon=False, fontsize=8)
        axes.set_title(title, loc="left")
        axes.locator_params(axis="x", nbins=5)
        return _svg(axes.figure, f"Distribution of {title}")


def _dots(axes: Any, control: Any, treatment: Any, arm: str) -> None:
    """Few units: each one is shown."""
    for row, (values, colour) in enumerate(((treatment, _TREATMENT), (control, _CONTROL))):
        # Spread evenly, so that equal ones do not hide each other; the same every time.
        spread = (np.arange(len(values)) * 0.618 % 1 - 0.5) * 0.4
        axes.plot(values, row + spread, "o", color=colour, alpha=0.6, markersize=4,
                  markeredgewidth=0)
        axes.plot([values.mean()] * 2, [row - 0.35, row + 0.35], color=colour, linewidth=1.6)
    axes.set_yticks([0, 1], [arm, "control"])
    axes.set_ylim(-0.6, 1.6)
    axes.tick_params(axis="y", length=0)


def timeline(report: Report, item: Comparison) -> str:
    """Switchback: a metric block by block; empty for experiments by host."""
    blocks = {(b.host, b.index): b.arm for b in report.seen.blocks}
    units = units_by_block(report.seen.points[item.metric.name])
    host = next(iter(report.seen.hosts), None)
    rows = sorted((index, blocks[name, index], unit.level(item.metric))
                  for (name, index), unit in units.items()
                  if name == host and (name, index) in blocks)
    if not rows:
        return ""
    title = f"{item.metric.name} by block"
    two = len(report.experiment.arms) == 2
    with _axes(8.6, 2.1) as axes:
        for arm in report.experiment.arms:
            mine = [(index, value) for index, name, value in rows if name == arm.name]
            if not mine:
                continue
            is_control = arm.name == report.experiment.control
            (line,) = axes.plot(
                [index + 1 for index, _ in mine], [value for _, value in mine],
                "s" if is_control else "o", markersize=5, label=arm.name,
                color=_CONTROL if is_control else _TREATMENT if two else None,
            )
            axes.axhline(float(np.mean([value for _, value in mine])), linewidth=1,
                         color=line.get_color(), linestyle=(0, (4, 2)))
        axes.set_xlabel("block")
        axes.margins(x=0.02, y=0.2)
        values = [value for _, _, value in rows]
        if min(values) == max(values):
            # Else the axis is about what a float cannot tell apart.
            room = abs(values[0]) or 1.0
            axes.set_ylim(values[0] - 0.2 * room, values[0] + room)
        axes.ticklabel_format(axis="y", useOffset=False, scilimits=(-4, 6))
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        axes.set_title(title, loc="left")
        axes.grid(axis="y", color="#e2e8f0", linewidth=0.6)
        axes.set_axisbelow(True)
        return _svg(axes.figure, title)
