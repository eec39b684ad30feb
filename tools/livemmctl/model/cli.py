# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl model"""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from livemmctl.app import App, Group, command
from livemmctl.errors import UsageError
from livemmctl.files import replace
from livemmctl.table import Table, text_of

if TYPE_CHECKING:
    from livemmctl.model.predict import Key, Value

FILE = click.Path(path_type=Path)
HERE = Path(__file__).parent


@click.group(
    cls=Group,
    examples=[
        ("livemmctl model predict --load page_fault1 --cpus 56", "with and without policies"),
        ("livemmctl model compare points.csv", "the error of each prediction"),
    ],
)
def model() -> None:
    """Predict how zone->lock scales to many CPUs, from counts of two CPUs.

    A queueing model; nothing is read from the host. docs/model.md of the source says what the
    model assumes, and what the model does not know.
    """


_command = partial(command, of=model)


def committed() -> dict[str, Path]:
    """Files of predictions by version, the oldest first; none is ever changed."""
    files = {path.stem.rpartition("-")[2]: path for path in HERE.glob("predictions-*.json")}
    return dict(sorted(files.items(), key=lambda item: int(item[0])))


def _several(name: str, what: str, kind: Any = str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", type=kind, multiple=True, help=what)


def _wanted(found: "dict[Key, Value]", **only: tuple[Any, ...]) -> "dict[Key, Value]":
    """The predictions whose parts are among those asked for.  Raises CtlError, USAGE."""
    for name, values in only.items():
        if not values:
            continue
        there = dict.fromkeys(getattr(key, name) for key in found)
        for value in values:
            if value not in there:
                raise UsageError(f"--{name} {value}: there are {', '.join(map(str, there))}")
        found = {key: value for key, value in found.items() if getattr(key, name) in values}
    return found


@_command(
    ("livemmctl model predict --load 'bulk alloc' --metric ns", "of the published machine"),
    ("livemmctl model predict --load page_fault1 --kernel 6.1 --zones 2",
     "throughput and time waiting, stock and with policies"),
    ("livemmctl model predict --write predictions.json", "all, as a file"),
)
@_several("load", "Only this load; may be repeated, as may all that follow.")
@_several("kernel", "Only this kernel.")
@_several("policy", "Only this policy, or stock, or both.")
@_several("zones", "Only so many zones, a lock each.", int)
@_several("cpus", "Only so many CPUs.", int)
@_several("metric", "Only this metric.")
@click.option("--write", type=FILE, help="Write the predictions to this file, as JSON.")
def predict(app: App, write: Path | None, **only: Any) -> None:
    """Work the predictions out anew, and show them.

    Each has an interval: the model at the corners of what is assumed. The unit of a throughput is
    its metric; ns is the time of one operation, "spin %" the share of time that a CPU waits for
    zone->lock.
    """
    # scipy takes a second to import.
    from livemmctl.model import predict as of_model
    from livemmctl.model.table import KEYS, figure, text_of_predictions

    for load in only["load"]:
        if load not in of_model.loads():
            raise UsageError(f"--load {load}: there are {', '.join(of_model.loads())}")
    found = _wanted(of_model.predictions(wanted=only.pop("load")), **only)
    if write is not None:
        replace(write, text_of_predictions(found))
        app.show({"written": str(write), "predictions": len(found)},
                 lambda: f"{write}: {len(found):,} predictions")
        return
    rows = [[*(getattr(key, name) for name in KEYS), *map(figure, value)]
            for key, value in found.items()]
    table = Table((*KEYS, "value", "low", "high"), rows,
                  ("zones", "cpus", "value", "low", "high"))
    app.show({"predictions": [{**asdict(key), **value._asdict()}
                              for key, value in found.items()]}, lambda: text_of(table))


@_command(("livemmctl model compare points.csv", "with the newest predictions"),
          ("livemmctl model compare points.csv --version 1", "with those of this version"))
@click.argument("measured", type=FILE, metavar="FILE")
@click.option("--version", help="Of the predictions that come with livemm; the newest by default.")
@click.option("--predictions", "other", type=FILE, help="Predictions in a file, instead.")
def compare(app: App, measured: Path, version: str | None, other: Path | None) -> None:
    """Show the error of each prediction of which FILE has a measured point.

    FILE is CSV with the columns load, kernel, policy, zones, cpus, metric, value, and if wanted
    within (percent that a prediction may be off) and source. Nothing is computed anew: the
    predictions are those of the file that was committed.
    """
    from livemmctl.model.compare import judge
    from livemmctl.model.table import figure, read_measured, read_predictions

    points = read_measured(measured)
    known = committed()
    path = other or known.get(version or list(known)[-1])
    if path is None:
        raise UsageError(f"--version {version}: there are {', '.join(known)}")
    judged = judge(points, read_predictions(path))
    met = [one.met for one in judged if one.met is not None]
    short = len(met) - sum(met)
    rows = [[one.point.key.load, one.point.key.kernel, one.point.key.policy, one.point.key.zones,
             one.point.key.cpus, one.point.key.metric, figure(one.point.value),
             *map(figure, one.predicted), f"{one.error:+.1f} %", "yes" if one.inside else "no",
             "-" if one.met is None else
             f"{'yes' if one.met else 'no'} ({one.point.within:g} %)"] for one in judged]
    numbers = ("zones", "cpus", "measured", "predicted", "low", "high", "error")
    table = Table(("load", "kernel", "policy", "zones", "cpus", "metric", "measured", "predicted",
                   "low", "high", "error", "in interval", "met"), rows, numbers)
    data = [{**asdict(one.point.key), "measured": one.point.value, "source": one.point.source,
             "within": one.point.within, **one.predicted._asdict(), "error_pct": one.error,
             "inside": one.inside, "met": one.met} for one in judged]
    app.show({"predictions": str(path), "points": data, "claimed": len(met), "short": short},
             lambda: text_of(table, f"{len(met) - short} of {len(met)} claims met; "
                             f"{sum(one.inside for one in judged)} of {len(judged)} points "
                             "in their interval"))
