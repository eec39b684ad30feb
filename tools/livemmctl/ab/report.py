# SPDX-License-Identifier: GPL-2.0-only
"""A report as a table for people and as data for programs."""

import math
from dataclasses import asdict
from typing import Any

from livemmctl.ab import words
from livemmctl.ab.analyse import NO_WORSE, NOT_CONCLUDED, UNDECIDED, Comparison, Report
from livemmctl.ab.fields import duration_text
from livemmctl.ab.model import ANY_TIME, HOST
from livemmctl.ab.strata import Strata, effects_by_stratum
from livemmctl.table import Table, text_of


def report_data(report: Report) -> dict[str, Any]:
    experiment = report.experiment
    return {
        "experiment": experiment.name,
        "mode": experiment.mode,
        "control": experiment.control,
        "correction": experiment.correction,
        "looks": experiment.looks,
        "units": {arm.name: report.units(arm.name) for arm in experiment.arms},
        "conclusive": not report.failed,
        "checks": [asdict(check) for check in report.checks],
        "comparisons": [_comparison_data(item) for item in report.comparisons],
        "strata": [_strata_data(item) for item in effects_by_stratum(report)],
        "notes": report.notes,
    }


def _strata_data(item: Strata) -> dict[str, Any]:
    return {
        "metric": item.metric, "arm": item.arm, "p": item.p, "differ": item.differ,
        "rows": [asdict(row) for row in item.rows],
    }


def _comparison_data(item: Comparison) -> dict[str, Any]:
    data: dict[str, Any] = {
        "metric": item.metric.name, "arm": item.arm, "verdict": item.verdict,
        "better": item.metric.better, "p_corrected": item.p,
        "detectable_percent": item.detectable_pct,
        "wanted_percent": item.metric.detect_pct, "units_needed": item.needed,
        "relative_low": item.low, "relative_high": item.high,
        "margin_percent": item.metric.margin_pct, "within_margin": item.is_within_margin,
        "gathered": item.gathered,
        "refused": item.effect.refused, "notes": item.effect.notes, "estimate": None,
    }
    if item.effect.estimate is not None:
        data["estimate"] = asdict(item.effect.estimate)
    return data


def headline(report: Report) -> str:
    """What to tell somebody who reads one line."""
    if report.failed:
        names = ", ".join(check.name for check in report.failed)
        return f"Nothing can be concluded: {names}."
    told = [item for item in report.comparisons if item.verdict != NOT_CONCLUDED]
    parts = [
        f"{item.metric.name} {verdict(item)}"
        + (f" in {item.arm}" if len(report.experiment.treatments) > 1 else "")
        for item in told
    ]
    left = len(report.comparisons) - len(told)
    if left:
        parts.append(f"{left} not concluded")
    return "; ".join(parts) + "."


def unit_name(report: Report) -> str:
    return "hosts" if report.experiment.mode == HOST else "blocks"


def rows_of(report: Report) -> list[list[str]]:
    """A row a comparison, in the columns of COLUMNS."""
    rows = []
    for item in report.comparisons:
        found = item.effect.estimate
        row = [item.metric.name, item.arm]
        if found is None:
            row += ["-"] * 5
        else:
            row += [
                words.level(found.control), words.level(found.treatment),
                words.percent(found.relative),
                words.interval(item.low, item.high),
                words.p_value(item.p),
            ]
        could_see = "-" if math.isnan(item.detectable_pct) else f"{item.detectable_pct:.2g} %"
        rows.append([*row, could_see, verdict(item)])
    return rows


def verdict(item: Comparison) -> str:
    """The verdict in words, with the margin where the margin decides."""
    if item.verdict == NO_WORSE:
        return f"{NO_WORSE} by {item.metric.margin_pct:g} %"
    return item.verdict


COLUMNS = ("metric", "arm", "control", "treatment", "effect", "95 % interval", "p",
           "could see", "verdict")
NUMBERS = ("control", "treatment", "effect", "95 % interval", "p", "could see")


def caveats(report: Report) -> list[str]:
    """Everything that a reader has to know besides the numbers."""
    lines = list(report.notes)
    unit = unit_name(report)
    for item in report.comparisons:
        name = f"{item.metric.name}, {item.arm}"
        lines += [f"{name}: not concluded: {words}" for words in item.effect.refused]
        lines += [f"{name}: {words}" for words in item.effect.notes]
        if item.verdict == UNDECIDED and item.needed:
            lines.append(f"{name}: {item.gathered:.0%} of the data that a verdict is likely to"
                         f" need; {item.needed:,} {unit} an arm, or at best {1 / item.gathered:.1f}"
                         " times the time, would do")
        elif item.needed and item.detectable_pct > item.metric.detect_pct:
            lines.append(f"{name}: {item.needed:,} {unit} an arm are needed to see"
                         f" {item.metric.detect_pct:g} %")
    return lines


def strata_table(report: Report) -> str:
    """The effect in each kind of machine; empty where there is one kind only."""
    rows = []
    for item in effects_by_stratum(report):
        words_of_p = "differs" if item.differ else "alike, as far as can be told"
        for number, row in enumerate(item.rows):
            rows.append([item.metric, item.arm, row.name, f"{row.control}, {row.treatment}",
                         words.percent(row.relative), words.interval(row.low, row.high),
                         words_of_p if number == 0 else ""])
    return text_of(Table(STRATA_COLUMNS, rows, STRATA_NUMBERS)) if rows else ""


STRATA_COLUMNS = ("metric", "arm", "kind of machine", "hosts", "effect", "95 % interval",
                  "effect by kind")
STRATA_NUMBERS = ("hosts", "effect", "95 % interval")


def report_text(report: Report) -> str:
    experiment = report.experiment
    units = ", ".join(f"{arm.name} {report.units(arm.name)}" for arm in experiment.arms)
    lines = [
        f"{experiment.name}: {unit_name(report)} {units};"
        f" {duration_text(experiment.duration_s)}; control is {experiment.control}",
        headline(report),
        "",
    ]
    looked = Table(
        ("check", "", "p", "what was seen"),
        [(c.name, "ok" if c.ok else "fail", words.p_value(c.p), c.words) for c in report.checks],
    )
    results = Table(COLUMNS, rows_of(report), NUMBERS)
    below = [f"- {line}" for line in caveats(report)]
    if len(report.comparisons) > 1:
        below.append(f"- p is corrected for {len(report.comparisons)} comparisons"
                     f" ({experiment.correction}); intervals are not")
    if experiment.looks == ANY_TIME:
        below.append("- intervals and p hold at this look and all others together")
    strata = strata_table(report)
    return "\n".join([*lines, text_of(looked), "", text_of(results), "",
                      *([strata, ""] if strata else []), *below])
