# SPDX-License-Identifier: GPL-2.0-only
"""Effects on ratios and quantiles, by drawing whole units (hosts, blocks) again.

A unit's numbers belong together, so it is units that are drawn, not numbers.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from livemmctl.ab.stats.estimate import Estimate, Vector

RESAMPLES = 4999
#: Results of two runs on the same data are to be the same.
SEED = 20261122
#: With more units the correction is nothing, and costs the square of their number.
CORRECTED_MOST = 4000
#: Most numbers of an arm that a quantile is taken of; each unit is thinned evenly.
POOL_MOST = 20000

Indices = NDArray[np.intp]
Level = Callable[[Indices], Any]


def _level_of_ratio(num: Vector, den: Vector) -> Level:
    def level(drawn: Indices) -> Any:
        return num[drawn].sum(axis=-1) / den[drawn].sum(axis=-1)

    return level


def _level_of_quantile(samples: Sequence[Vector], quantile: float) -> Level:
    share = max(POOL_MOST // max(len(samples), 1), 1)
    thinned = [
        sample if len(sample) <= share
        # Evenly in rank, so that the tails stay in proportion.
        else np.quantile(sample, (np.arange(share) + 0.5) / share)
        for sample in samples
    ]
    values = np.concatenate(thinned)
    # In ascending order, and the unit of each.
    order = np.argsort(values, kind="stable")
    values = values[order]
    units = np.repeat(np.arange(len(samples)), [len(sample) for sample in thinned])[order]

    def level(drawn: Indices) -> Any:
        rows = np.atleast_2d(drawn)
        counts = np.zeros((len(rows), len(samples)), dtype=np.int32)
        for number, row in enumerate(rows):
            counts[number] = np.bincount(row, minlength=len(samples))
        upto = np.cumsum(counts[:, units], axis=1)
        wanted = quantile * upto[:, -1:]
        found = values[(upto >= wanted).argmax(axis=1)]
        return found.reshape(drawn.shape[:-1])

    return level


def _compare(
    control: Level, treatment: Level, n_control: int, n_treatment: int, bca: bool, method: str
) -> Estimate:
    base = float(control(np.arange(n_control)))
    other = float(treatment(np.arange(n_treatment)))

    def draw(relative: bool, corrected: bool) -> Any:
        def statistic(drawn_c: Any, drawn_t: Any, axis: int = -1) -> Any:
            level_c = control(drawn_c.astype(np.intp))
            level_t = treatment(drawn_t.astype(np.intp))
            return level_t / level_c - 1 if relative else level_t - level_c

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # Where it cannot be had the interval is NaN, and that is seen to.
            warnings.simplefilter("ignore")
            return stats.bootstrap(
                (np.arange(n_control), np.arange(n_treatment)), statistic,
                n_resamples=RESAMPLES, vectorized=True, batch=100,
                method="BCa" if corrected else "percentile",
                random_state=np.random.default_rng(SEED),
            )

    plain = draw(False, bca)
    interval = plain.confidence_interval
    if bca and not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return _compare(control, treatment, n_control, n_treatment, False, method)
    relative = low = high = math.nan
    if base:
        relative = other / base - 1
        found = draw(True, bca).confidence_interval
        low, high = sorted((float(found.low), float(found.high)))
    return Estimate(
        control=base, treatment=other, difference=other - base,
        low=float(interval.low), high=float(interval.high),
        relative=relative, relative_low=low, relative_high=high,
        p=_p_of(plain.bootstrap_distribution),
        n_control=n_control, n_treatment=n_treatment, method=method,
    )


def _p_of(drawn: Vector) -> float:
    """Two-sided: how often a draw falls on the other side of no effect."""
    below = (np.count_nonzero(drawn <= 0) + 1) / (len(drawn) + 1)
    above = (np.count_nonzero(drawn >= 0) + 1) / (len(drawn) + 1)
    return float(min(1.0, 2 * min(below, above)))


def ratio(control: tuple[Vector, Vector], treatment: tuple[Vector, Vector]) -> Estimate:
    """Sum of the first over sum of the second, a unit an element."""
    return _compare(
        _level_of_ratio(*control), _level_of_ratio(*treatment),
        len(control[0]), len(treatment[0]),
        len(control[0]) + len(treatment[0]) <= CORRECTED_MOST, "bootstrap of ratios",
    )


def quantile(control: Sequence[Vector], treatment: Sequence[Vector], which: float) -> Estimate:
    """A quantile of all numbers of an arm; each unit brings an array of its own."""
    return _compare(
        _level_of_quantile(control, which), _level_of_quantile(treatment, which),
        len(control), len(treatment), False,
        f"bootstrap (percentile) of the {which:g} quantile",
    )
