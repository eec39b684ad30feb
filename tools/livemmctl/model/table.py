# SPDX-License-Identifier: GPL-2.0-only
"""Predictions as a file, and measured points of others as a file."""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from livemmctl.errors import Exit, UsageError, os_errors
from livemmctl.model.predict import Key, Value

KEYS = ("load", "kernel", "policy", "zones", "cpus", "metric")
#: What a series of a file of predictions is about; cpus and the figures are lists.
SERIES = ("load", "kernel", "policy", "zones", "metric")
FIGURES = ("value", "low", "high")
#: What a file of measured points has to have, and may have.
NEEDED = (*KEYS, "value")
ALLOWED = (*NEEDED, "within", "source")
#: A file that is longer is none of ours.
MAX_BYTES = 1 << 22


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


def _bytes(path: Path) -> bytes:
    with os_errors(f"{path}: cannot be read", Exit.USAGE):
        data = path.read_bytes()
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path}: longer than {MAX_BYTES} bytes")
    return data


def read_predictions(path: Path) -> dict[Key, Value]:
    """Raises CtlError, USAGE."""
    found = {}
    try:
        for one in json.loads(_bytes(path))["series"]:
            for cpus, *value in zip(one["cpus"], *(one[name] for name in FIGURES), strict=True):
                key = Key(str(one["load"]), str(one["kernel"]), str(one["policy"]),
                          int(one["zones"]), int(cpus), str(one["metric"]))
                found[key] = Value(*map(float, value))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"{path}: not a file of predictions",
                         "livemmctl model predict --write FILE") from None
    return found


@dataclass(frozen=True)
class Measured:
    """A point that somebody measured.

    within  percent by which a prediction may be off; None: nothing is claimed
    """

    key: Key
    value: float
    within: float | None
    source: str


class _File:
    """A CSV file with a head; lines that begin with # say nothing."""

    def __init__(self, path: Path, needed: Sequence[str], allowed: Sequence[str]) -> None:
        self.path = path
        try:
            text = _bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"{path}: not UTF-8") from None
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1)
                 if line.strip() and not line.startswith("#")]
        if not lines:
            raise UsageError(f"{path}: empty")
        self.head = self._cells(*lines[0])
        self.lines = lines[1:]
        for name in needed:
            if name not in self.head:
                raise UsageError(f"{path}: no column {name}", f"columns: {', '.join(allowed)}")
        for name in self.head:
            if name not in allowed or self.head.count(name) > 1:
                raise UsageError(f"{path}: column {name!r} is not known, or there twice",
                                 f"columns: {', '.join(allowed)}")

    def wrong(self, number: int, words: str) -> UsageError:
        return UsageError(f"{self.path}:{number}: {words}")

    def _cells(self, number: int, line: str) -> list[str]:
        try:
            return [cell.strip() for cell in next(csv.reader([line], strict=True))]
        except csv.Error as error:
            raise self.wrong(number, str(error)) from None

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        for number, line in self.lines:
            cells = self._cells(number, line)
            if len(cells) != len(self.head):
                raise self.wrong(number, f"{len(cells)} cells, {len(self.head)} columns")
            yield number, dict(zip(self.head, cells, strict=True))

    def number(self, number: int, row: Mapping[str, str], name: str) -> float:
        try:
            value = float(row[name])
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            raise self.wrong(number, f"{name}: {row[name]!r} is not a number from 0 on")
        return value

    def key(self, number: int, row: Mapping[str, str]) -> Key:
        return Key(row["load"], row["kernel"], row["policy"], self.count(number, row, "zones"),
                   self.count(number, row, "cpus"), row["metric"])

    def count(self, number: int, row: Mapping[str, str], name: str) -> int:
        value = self.number(number, row, name)
        if value != int(value) or value < 1:
            raise self.wrong(number, f"{name}: {row[name]!r} is not a count")
        return int(value)


def read_measured(path: Path) -> list[Measured]:
    """Raises CtlError, USAGE."""
    file = _File(path, NEEDED, ALLOWED)
    found = []
    for number, row in file.rows():
        value = file.number(number, row, "value")
        if not value:
            raise file.wrong(number, "value: an error in percent of 0 is none")
        within = file.number(number, row, "within") if row.get("within") else None
        found.append(Measured(file.key(number, row), value, within, row.get("source", "")))
    if not found:
        raise UsageError(f"{path}: no points")
    return found
