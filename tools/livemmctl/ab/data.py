# SPDX-License-Identifier: GPL-2.0-only
"""The options that say where a report's data come from, and what they give."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from livemmctl.ab.journal import read_journal
from livemmctl.ab.model import Experiment
from livemmctl.ab.points import Seen
from livemmctl.app import Seconds
from livemmctl.errors import UsageError

FILE = click.Path(path_type=Path)
_OPTIONS = (
    click.argument("experiment", type=FILE),
    click.argument("journals", type=FILE, nargs=-1, metavar="[JOURNAL]..."),
    click.option("--prometheus", metavar="URL",
                 help="Ask this server instead of reading journals."),
    click.option("--arm-metric", metavar="NAME", help="The metric that tells a host's arm."),
    click.option("--host-label", metavar="LABEL", default="instance", show_default=True,
                 help="The label that tells hosts apart."),
    click.option("--stratum-label", metavar="LABEL", default="",
                 help="A label of the arm's metric that tells kinds of machines apart."),
    click.option("--step", type=Seconds(1, 86400), help="Seconds between two points."),
)


def with_data(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments of Data."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True)
class Data:
    """Journals, or a Prometheus server, and how it names things."""

    journals: tuple[Path, ...]
    prometheus: str | None
    arm_metric: str | None
    host_label: str
    stratum_label: str
    step: float | None

    def seen(self, experiment: Experiment, since_s: float = 0.0) -> Seen:
        """What was seen of an experiment, as points.Seen.  Raises CtlError.

        `since_s` is when the step of a rollout began: what came since is asked for in detail.
        """
        # Only here: a server is not asked by most commands.
        from livemmctl.ab import from_journals, from_prometheus

        if bool(self.journals) == (self.prometheus is not None):
            raise UsageError("either journals or --prometheus", "livemmctl ab report --help")
        if self.prometheus is None:
            lines = None
            for path in dict.fromkeys(self.journals):
                lines = read_journal(path, lines)
            assert lines is not None
            return from_journals.seen_in(lines, experiment, time.time())
        for name in filter(None, (self.host_label, self.stratum_label, self.arm_metric)):
            if not name.isascii() or not name.replace(":", "_").isidentifier():
                raise UsageError(f"{name[:40]!r}: not a name that Prometheus knows")
        ask = from_prometheus.Ask(self.host_label, self.arm_metric or from_prometheus.ARM_METRIC,
                                  self.stratum_label, round(self.step or 0), since_s)
        return from_prometheus.seen_by(
            from_prometheus.Prometheus(self.prometheus), experiment, ask, time.time())
