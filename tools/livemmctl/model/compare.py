# SPDX-License-Identifier: GPL-2.0-only
"""Predictions beside what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from livemmctl.errors import UsageError
from livemmctl.model.predict import Key, Value
from livemmctl.model.table import Measured


@dataclass(frozen=True)
class Judged:
    """A point and its prediction.

    error   of the prediction, percent of what was measured
    inside  whether the measured value lies in the interval
    met     whether the error is as small as was asked for; None: nothing was
    """

    point: Measured
    predicted: Value
    error: float
    inside: bool
    met: bool | None


def nearest(key: Key, known: Mapping[Key, Value]) -> str:
    """What there is in place of a key that is not known: the first part that differs."""
    left = list(known)
    for name in ("load", "kernel", "policy", "metric", "zones", "cpus"):
        fit = [other for other in left if getattr(other, name) == getattr(key, name)]
        if not fit:
            there = dict.fromkeys(str(getattr(other, name)) for other in left)
            return f"{name} {getattr(key, name)!r}: there are {', '.join(there)}"
        left = fit
    raise AssertionError(key)


def judge(points: Sequence[Measured], known: Mapping[Key, Value]) -> list[Judged]:
    """Raises CtlError, USAGE, for a point of which there is no prediction."""
    found = []
    for point in points:
        predicted = known.get(point.key)
        if predicted is None:
            raise UsageError(f"no prediction of {point.key.load}: {nearest(point.key, known)}")
        error = 100 * (predicted.value / point.value - 1)
        found.append(Judged(point, predicted, error,
                            predicted.low <= point.value <= predicted.high,
                            None if point.within is None else abs(error) <= point.within))
    return found
