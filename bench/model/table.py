# SPDX-License-Identifier: GPL-2.0-only
"""Predictions as a file, measured points of others as a file, and both side by side."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MEASURED = HERE / "measured.csv"
#: The newest; no file of predictions is ever changed.
PREDICTED = HERE / "predictions-3.json"
#: What a series of a file of predictions is about; cpus and the figures are lists.
SERIES = ("load", "kernel", "policy", "zones", "metric")
FIGURES = ("value", "low", "high")
#: A published benchmark that does not meet at the lock: its list always has the page.
REPEAT = "repeat alloc+free"


class Value(NamedTuple):
    """A prediction and its interval."""

    value: float
    low: float
    high: float


class Key(NamedTuple):
    """What is predicted.

    cpus   that run the load, together
    zones  whose locks they share, equally many CPUs each: one a NUMA node
    metric its unit
    """

    load: str
    kernel: str
    policy: str
    zones: int
    cpus: int
    metric: str


class Measured(NamedTuple):
    """A point that somebody measured; within: percent by which a prediction may be off."""

    key: Key
    value: float
    within: float
    source: str


def figure(value: float) -> str:
    """Five significant digits: no figure of the model is better than that."""
    return f"{value:.5g}" if value < 1e5 else f"{value:.0f}"


def text_of_predictions(found: Mapping[Key, Value]) -> str:
    """A JSON document with a line for each series."""
    series: dict[tuple[object, ...], list[tuple[int, Value]]] = {}
    for key, value in found.items():
        series.setdefault(tuple(getattr(key, name) for name in SERIES), []).append(
            (key.cpus, value))
    lines = [json.dumps({
        **dict(zip(SERIES, about, strict=True)), "cpus": [cpus for cpus, _ in points],
        **{name: [float(figure(getattr(value, name))) for _, value in points]
           for name in FIGURES},
    }) for about, points in series.items()]
    return '{"series": [\n' + ",\n".join(lines) + "\n]}\n"


def read_predictions(path: Path = PREDICTED) -> dict[Key, Value]:
    """What text_of_predictions() has made."""
    return {Key(one["load"], one["kernel"], one["policy"], one["zones"], cpus, one["metric"]):
            Value(*value)
            for one in json.loads(path.read_text(encoding="utf-8"))["series"]
            for cpus, *value in zip(one["cpus"], *(one[name] for name in FIGURES), strict=True)}


def read_measured() -> list[Measured]:
    """The points of others; lines that begin with # say nothing."""
    lines = MEASURED.read_text(encoding="utf-8").splitlines()
    return [Measured(Key(row["load"], row["kernel"], row["policy"], int(row["zones"]),
                         int(row["cpus"]), row["metric"]),
                     float(row["value"]), float(row["within"]), row["source"])
            for row in csv.DictReader(line for line in lines if not line.startswith("#"))]


def two_lines(known: Mapping[Key, Value], key: Key) -> float:
    """A roofline: as on one core, or as the lock lets eight through, whichever is slower."""
    one, eight = (known[key._replace(cpus=cores)].value for cores in (1, 8))
    return one if key.load == REPEAT else max(one, eight * key.cpus / 8)


def percent(predicted: float, measured: float) -> float:
    """The error of a prediction."""
    return 100 * (predicted / measured - 1)


def rows(known: Mapping[Key, Value]) -> Iterator[str]:
    """A line of the page for each measured point."""
    for key, value, within, _ in read_measured():
        found = known[key]
        error = percent(found.value, value)
        line = f"{percent(two_lines(known, key), value):+.1f} %" if key.metric == "ns" else "-"
        cells = [key.load, key.policy, key.zones, key.cpus, key.metric, figure(value),
                 figure(found.value), f"{figure(found.low)} to {figure(found.high)}",
                 f"{error:+.1f} %", "yes" if abs(error) <= within else "no", line]
        yield f"| {' | '.join(map(str, cells))} |"
