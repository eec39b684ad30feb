# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of many hosts: what a policy would gain and cost on each, ranked."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from livemmctl import __version__, files
from livemmctl.app import App
from livemmctl.errors import CtlError
from livemmctl.table import Table, text_of
from livemmctl.whatif import predict, rows


@dataclass(frozen=True)
class Host:
    """What a recording says of a host; rates are pages a second over zone->lock."""

    name: str
    file: str
    kernel: str
    cpus: int
    seconds: float
    before: float
    after: float
    kept_before: float
    kept_after: float
    lost: int
    on: str
    rough: bool

    @property
    def saved(self) -> float:
        return self.before - self.after

    @property
    def share(self) -> float:
        return self.saved / self.before if self.before else 0.0

    @property
    def remark(self) -> str:
        return " (rough)" if self.rough else ""

    @property
    def cost_mib(self) -> float:
        return (self.kept_after - self.kept_before) / 256


def host_of(path: Path, plan: predict.Plan) -> Host:
    found = rows.read(path)
    outcome = predict.predict(found, plan)
    seconds = max(outcome.seconds, 1e-9)
    return Host(found.meta.host, path.name, found.meta.kernel, found.meta.cpus, seconds,
                outcome.recorded.crossed / seconds, outcome.predicted.crossed / seconds,
                outcome.recorded.kept, outcome.predicted.kept, found.meta.lost,
                " ".join(outcome.on), not outcome.sees_refills)


def _picture(hosts: Sequence[Host]) -> str:
    """Gain against cost, and how gains are distributed."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "livemm", "font.size": 9, "axes.spines.top": False,
                     "axes.spines.right": False}):
        figure = Figure(figsize=(10, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.scatter([host.cost_mib for host in hosts], [host.saved for host in hosts], s=16,
                     c="#2563a8", alpha=0.7)
        left.set_xlabel("more memory in lists, mean, MiB")
        left.set_ylabel("pages a second less over zone->lock")
        right.hist([100 * host.share for host in hosts], bins=20, color="#2563a8")
        right.set_xlabel("pages over zone->lock saved, percent")
        right.set_ylabel("hosts")
        right.yaxis.get_major_locator().set_params(integer=True)
        buffer = io.StringIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg"):]


def page(hosts: Sequence[Host], broken: Sequence[tuple[str, str]], plan: predict.Plan,
         seconds: float) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=PackageLoader("livemmctl.whatif"), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("fleet.html.j2").render(
        hosts=hosts, broken=broken, policy=predict.words_of(plan),
        settings=predict.settings_words(plan) or "defaults",
        picture=Markup(_picture(hosts)) if hosts else "", seconds=seconds, version=__version__)


def run(app: App, paths: Sequence[Path], plan: predict.Plan, html: Path | None) -> None:
    """Rank hosts by what they would save; a file that cannot be read is named, and left out."""
    began = time.perf_counter()
    hosts, broken = [], []
    for path in paths:
        try:
            hosts.append(host_of(path, plan))
        except (CtlError, OSError) as error:
            broken.append((str(path), str(error)))
    hosts.sort(key=lambda host: host.saved, reverse=True)
    spent = time.perf_counter() - began
    if html is not None:
        files.replace(html, page(hosts, broken, plan, spent))

    def text() -> str:
        numbers = ("pages/s", f"with {predict.words_of(plan)}", "saved", "kept, MiB", "lost")
        shown = [(host.name, host.file, host.on or "-", f"{host.before:.0f}", f"{host.after:.0f}",
                  f"{host.share:.0%}{host.remark}", f"{host.cost_mib:+.1f}", f"{host.lost}")
                 for host in hosts]
        return text_of(Table(("host", "file", "recorded with", *numbers), shown, numbers),
                       *(f"left out: {path}: {why}" for path, why in broken))

    app.show({"policies": plan, "seconds": spent,
              "hosts": [{**vars(host), "saved": host.saved, "share": host.share,
                         "cost_mib": host.cost_mib} for host in hosts],
              "left_out": [{"file": path, "why": why} for path, why in broken]}, text)
