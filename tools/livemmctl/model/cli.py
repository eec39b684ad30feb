# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl model"""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from livemmctl.app import App, Figure, Group, command
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
        ("livemmctl model scale --blocks 1.83 --holds 0.0168 --cpus 112", "a load of your own"),
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


#: No larger chain was tried.
MOST_CPUS = 512
#: Most blocks, holds, instructions and bytes of a page: with more, the chain's rates are 0.
MOST = 1e6


@_command(
    ("livemmctl model scale --blocks 1.83 --holds 0.0168 --cpus 56 --cpus 112",
     "a load that faults, as `livemmctl whatif` counts it"),
    ("livemmctl model scale --blocks 0.13 --holds 0.0002 --cpus 112 --zones 2",
     "the same with a policy"),
    ("livemmctl model scale --blocks 1.96 --holds 0.0168 --cpus 56 --mixed",
     "where free pages have been mixed by long use"),
)
@click.option("--blocks", type=Figure(min=0, max=MOST), required=True,
              help="Pages or larger blocks that go over zone->lock, for each page of the load.")
@click.option("--holds", type=Figure(min=1e-9, max=MOST), required=True,
              help="Holds of zone->lock for each page of the load.")
@click.option("--cpus", type=click.IntRange(1, MOST_CPUS), multiple=True, required=True,
              help="CPUs that run the load; may be repeated.")
@click.option("--zones", type=click.IntRange(1), default=1, show_default=True,
              help="Zones that the CPUs share evenly, a lock each.")
@click.option("--outside", type=Figure(min=1, max=MOST),
              help="Instructions a page outside of the lock; by default those of a page fault.")
@click.option("--bytes", "touched", type=click.IntRange(0, int(MOST)), default=4096,
              show_default=True, help="Bytes a page that are cleared or copied.")
@click.option("--mixed", is_flag=True, help="Free pages lie in random order, as after long use: "
              "a block costs what the published benchmark of that order says.")
def scale(
    app: App, blocks: float, holds: float, cpus: tuple[int, ...], zones: int,
    outside: float | None, touched: int, mixed: bool,
) -> None:
    """Show what a load of your own would do on more CPUs.

    Takes what a recording or a count says of a page of the load. Instructions under the lock are
    those of the counted guests, for each block. All else is as in the predictions.
    """
    from livemmctl.model import predict as of_model
    from livemmctl.model.inputs import Counts, inputs
    from livemmctl.model.table import figure

    for number in cpus:
        if number % zones:
            raise UsageError(f"--cpus {number}: cannot be shared evenly by {zones} zones")
    given = inputs()
    held = max(1.0, of_model.held_of_a_block(given) * blocks)
    plain = outside or of_model.outside_of_a_fault(given)
    counts = Counts(plain + held + touched, held, holds, blocks)
    rows, data = [], []
    for number in cpus:
        rate, spin = of_model.scaled(given, counts, touched, number, zones, mixed)
        rows.append([number, *map(figure, rate), *map(figure, spin)])
        data.append({"cpus": number, "mpages_per_s": rate._asdict(), "spin_pct": spin._asdict()})
    heads = ("CPUs", "M pages/s", "low", "high", "spin %", "from", "to")
    app.show({"zones": zones, "points": data}, lambda: text_of(Table(heads, rows, heads)))


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
