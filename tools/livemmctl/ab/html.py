# SPDX-License-Identifier: GPL-2.0-only
"""A report as one page that needs nothing else: no script, no font, no network."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from livemmctl import __version__
from livemmctl.ab import plots, words
from livemmctl.ab.analyse import Report
from livemmctl.ab.fields import duration_text
from livemmctl.ab.model import ANY_TIME, SWITCHBACK
from livemmctl.ab.report import COLUMNS, NUMBERS, caveats, headline, rows_of, unit_name


def report_html(report: Report, rollout: Mapping[str, Any] | None = None) -> str:
    """The page; `rollout` is what rollout.page says of where a rollout is."""
    environment = Environment(
        loader=PackageLoader("livemmctl.ab"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )
    experiment = report.experiment
    unit = unit_name(report)
    timelines = []
    if experiment.mode == SWITCHBACK:
        shown = {item.metric.name: item for item in report.comparisons}
        timelines = [Markup(plots.timeline(report, item)) for item in shown.values()]
    return environment.get_template("report.html.j2").render(
        experiment=experiment,
        duration=duration_text(experiment.duration_s),
        units=[(arm.name, report.units(arm.name)) for arm in experiment.arms],
        unit=unit,
        hosts=len(report.seen.hosts),
        headline=headline(report),
        conclusive=not report.failed,
        checks=[(c.name, c.ok, words.p_value(c.p), c.words) for c in report.checks],
        columns=COLUMNS, numbers=NUMBERS, rows=rows_of(report),
        corrected=len(report.comparisons),
        effects=Markup(plots.effects(report)),
        distributions=[
            Markup(svg) for item in report.comparisons if (svg := plots.distribution(item, unit))
        ],
        timelines=[svg for svg in timelines if svg],
        looks=[Markup(svg) for svg in plots.looks(report)],
        strata=[Markup(svg) for svg in plots.strata(report)],
        any_time=experiment.looks == ANY_TIME,
        caveats=caveats(report),
        rollout=rollout,
        version=__version__,
    )
