# SPDX-License-Identifier: GPL-2.0-only
"""An effect with its interval, however it was come by."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Vector = NDArray[Any]

#: Two-sided: 95 % intervals.
ALPHA = 0.05


@dataclass(frozen=True)
class Estimate:
    """Treatment against control.

    `difference` is in the metric's unit; `relative` is that over control's level, NaN
    where control's level is 0.  The intervals are for one comparison alone, not
    corrected for how many there are.
    """

    control: float
    treatment: float
    difference: float
    low: float
    high: float
    relative: float
    relative_low: float
    relative_high: float
    p: float
    n_control: int
    n_treatment: int
    method: str
    #: Of Student's distribution that the interval was made with.
    degrees: float = math.inf

    @property
    def standard_error(self) -> float:
        """Of the difference, read off the interval."""
        return (self.high - self.low) / 2 / float(stats.norm.ppf(1 - ALPHA / 2))

    @property
    def half_width(self) -> float:
        """Of an interval, in standard errors."""
        return float(stats.t.ppf(1 - ALPHA / 2, self.degrees))

    @property
    def relative_error(self) -> float:
        """The standard error of the relative effect, read off the interval."""
        return (self.relative_high - self.relative_low) / 2 / self.half_width


@dataclass(frozen=True)
class Spread:
    """A control level, a difference, and how they vary together."""

    control: float
    difference: float
    control_variance: float
    difference_variance: float
    covariance: float
    degrees: float


def spread_of(fitted: Any, control: float, degrees: float) -> Spread:
    """Of a regression on a constant and on 1 for treatment, and on others after these."""
    covariance = fitted.cov_params()
    return Spread(control, float(fitted.params[1]), float(covariance[0, 0]),
                  float(covariance[1, 1]), float(covariance[0, 1]), degrees)


def from_spread(spread: Spread, n_control: int, n_treatment: int, method: str) -> Estimate:
    """The estimate, the interval of the relative effect by the delta method.

    That is what GrowthBook does too (docs.growthbook.io/statistics/details).
    """
    se = math.sqrt(spread.difference_variance)
    width = float(stats.t.ppf(1 - ALPHA / 2, spread.degrees))
    p = 2 * float(stats.t.sf(abs(spread.difference) / se, spread.degrees)) if se else math.nan
    relative = half = math.nan
    if spread.control:
        # Of a level's size: below 0 as above, the sign is that of the difference.
        sign = math.copysign(1.0, spread.control)
        relative = sign * spread.difference / spread.control
        variance = (
            spread.difference_variance
            - 2 * sign * relative * spread.covariance
            + relative**2 * spread.control_variance
        ) / spread.control**2
        half = width * math.sqrt(max(variance, 0.0))
    return Estimate(
        control=spread.control, treatment=spread.control + spread.difference,
        difference=spread.difference,
        low=spread.difference - width * se, high=spread.difference + width * se,
        relative=relative, relative_low=relative - half, relative_high=relative + half,
        p=p, n_control=n_control, n_treatment=n_treatment, method=method, degrees=spread.degrees,
    )


def vector(values: Any) -> Vector:
    return np.asarray(values, dtype=float)
