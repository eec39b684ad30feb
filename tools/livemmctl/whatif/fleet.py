# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of many hosts: what a policy would gain and cost on each, ranked."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from livemmctl import __version__, files
from livemmctl.app import App
from livemmctl.errors import CtlError
from livemmctl.table import Table, text_of
from livemmctl.whatif import predict, rows

#: What is compared where nobody says which policy.
PLANS: tuple[predict.Plan, ...] = ({"pcp": {}}, {"zonelock": {}}, {"pcp": {}, "zonelock": {}})
#: A policy that saves less of a host's pages than the best, by so much at most, is as good.
AS_GOOD = 0.05


@dataclass(frozen=True)
class Side:
    """What a policy would make of a host; the rate is pages a second over zone->lock."""

    policy: str
    after: float
    kept_after: float
    saved: float
    share: float
    cost_mib: float


@dataclass(frozen=True)
class Host:
    """What a recording says of a host; the rate is pages a second over zone->lock."""

    name: str
    file: str
    kernel: str
    cpus: int
    seconds: float
    before: float
    kept_before: float
    lost: int
    on: str
    rough: bool
    sides: tuple[Side, ...]

    @property
    def best(self) -> Side:
        """Of the policies that save as much as any, the one that keeps least memory."""
        least = max(side.saved for side in self.sides) - AS_GOOD * self.before
        return min((side for side in self.sides if side.saved >= least),
                   key=lambda side: side.cost_mib)

    @property
    def remark(self) -> str:
        return " (rough)" if self.rough else ""

    def document(self) -> dict[str, Any]:
        best = vars(self.best)
        return {**vars(self), **best, "sides": [vars(side) for side in self.sides]}


@dataclass(frozen=True)
class Total:
    """A policy on all hosts; pages a second, and MiB a host."""

    policy: str
    saved: float
    share: float
    cost_mib: float
    best: int
    worse: int


def _side(outcome: predict.Outcome, seconds: float) -> Side:
    before, after = (figures.crossed / seconds for figures in
                     (outcome.recorded, outcome.predicted))
    return Side(predict.words_of(outcome.plan), after, outcome.predicted.kept, before - after,
                (before - after) / before if before else 0.0,
                (outcome.predicted.kept - outcome.recorded.kept) / 256)


def host_of(path: Path, plans: Sequence[predict.Plan]) -> Host:
    found = rows.read(path)
    outcomes = [predict.predict(found, plan) for plan in plans]
    first = outcomes[0]
    seconds = max(first.seconds, 1e-9)
    return Host(found.meta.host, path.name, found.meta.kernel, found.meta.cpus, seconds,
                first.recorded.crossed / seconds, first.recorded.kept, found.meta.lost,
                " ".join(first.on), not first.sees_refills,
                tuple(_side(outcome, seconds) for outcome in outcomes))


def totals(hosts: Sequence[Host]) -> list[Total]:
    """Each policy on all hosts, the one that saves most first."""
    before = sum(host.before for host in hosts)
    made = []
    for sides in zip(*(host.sides for host in hosts), strict=True):
        saved = sum(side.saved for side in sides)
        made.append(Total(
            sides[0].policy, saved, saved / before if before else 0.0,
            sum(side.cost_mib for side in sides) / len(sides),
            sum(host.best is side for host, side in zip(hosts, sides, strict=True)),
            sum(side.saved < 0 for side in sides)))
    return sorted(made, key=lambda total: total.saved, reverse=True)


_COLOURS = ("#2563a8", "#c05621", "#2f855a")
_MARKS = ("o", "^", "s")


def _picture(hosts: Sequence[Host]) -> str:
    """Gain against cost, and how gains are distributed, by policy."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "livemm", "font.size": 9, "axes.spines.top": False,
                     "axes.spines.right": False}):
        figure = Figure(figsize=(10, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        by_policy = list(zip(*(host.sides for host in hosts), strict=True))
        for sides, colour, mark in zip(by_policy, _COLOURS, _MARKS, strict=False):
            left.scatter([side.cost_mib for side in sides], [side.saved for side in sides], s=18,
                         c=colour, marker=mark, alpha=0.7, label=sides[0].policy)
        left.set_xlabel("more memory in lists, mean, MiB")
        left.set_ylabel("pages a second less over zone->lock")
        right.hist([[100 * side.share for side in sides] for sides in by_policy], bins=12,
                   color=_COLOURS[:len(by_policy)])
        if len(by_policy) > 1:
            left.legend(frameon=False)
        right.set_xlabel("pages over zone->lock saved, percent")
        right.set_ylabel("hosts")
        right.yaxis.get_major_locator().set_params(integer=True)
        buffer = io.StringIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg"):]


def page(hosts: Sequence[Host], broken: Sequence[tuple[str, str]], plans: Sequence[predict.Plan],
         seconds: float) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=PackageLoader("livemmctl.whatif"), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("fleet.html.j2").render(
        hosts=hosts, broken=broken, totals=totals(hosts) if hosts else [],
        policies="pcp, zonelock or both" if plans is PLANS else " ".join(
            map(predict.words_of, plans)),
        settings=", ".join(filter(None, map(predict.settings_words, plans))) or "defaults",
        picture=Markup(_picture(hosts)) if hosts else "", seconds=seconds, version=__version__)


def run(app: App, paths: Sequence[Path], plans: Sequence[predict.Plan], html: Path | None) -> None:
    """Rank policies and hosts by what they would save; a file that cannot be read is named."""
    began = time.perf_counter()
    hosts, broken = [], []
    for path in paths:
        try:
            hosts.append(host_of(path, plans))
        except (CtlError, OSError) as error:
            broken.append((str(path), str(error)))
    hosts.sort(key=lambda host: host.best.saved, reverse=True)
    spent = time.perf_counter() - began
    if html is not None:
        files.replace(html, page(hosts, broken, plans, spent))

    def text() -> str:
        numbers = ("pages/s", "with it", "saved", "kept, MiB", "lost")
        shown = [(host.name, host.file, host.on or "-", host.best.policy, f"{host.before:.0f}",
                  f"{host.best.after:.0f}", f"{host.best.share:.0%}{host.remark}",
                  f"{host.best.cost_mib:+.1f}", f"{host.lost}") for host in hosts]
        all_of = ("pages/s saved", "saved", "kept, MiB a host", "hosts it suits best",
                  "hosts it makes worse")
        ranked = [(total.policy, f"{total.saved:.0f}", f"{total.share:.0%}",
                   f"{total.cost_mib:+.1f}", f"{total.best}", f"{total.worse}")
                  for total in (totals(hosts) if hosts else [])]
        return text_of(Table(("policy", *all_of), ranked, all_of), "",
                       Table(("host", "file", "recorded with", "best", *numbers), shown, numbers),
                       *(f"left out: {path}: {why}" for path, why in broken))

    app.show({"plans": list(plans), "seconds": spent,
              "policies": [vars(total) for total in (totals(hosts) if hosts else [])],
              "hosts": [host.document() for host in hosts],
              "left_out": [{"file": path, "why": why} for path, why in broken]}, text)
