# SPDX-License-Identifier: GPL-2.0-only
"""Is what was planned what happened?  And several questions at once; and how many hosts."""

import math
import warnings
from collections.abc import Sequence

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower

from livemmctl.ab.stats.estimate import ALPHA, Estimate, Vector

#: Below it the arms are not what the draw would give.  Small, as it is looked at often:
#: Fabijan et al., Diagnosing sample ratio mismatch (KDD 2019).
MISMATCH_P = 0.001
#: The chance of seeing an effect of the size that is asked about.
POWER = 0.8


def sample_ratio_p(counts: Sequence[int], weights: Sequence[float]) -> float:
    """Chi-square: how likely such counts, or odder ones, are under the weights.

    Arms without weight are to have no host: one that has makes it 0.
    """
    if any(count and not weight for count, weight in zip(counts, weights, strict=True)):
        return 0.0
    return strata_ratio_p([counts], weights)


def strata_ratio_p(counts: Sequence[Sequence[int]], weights: Sequence[float]) -> float:
    """The same within strata, put together: their chi-squares add up."""
    total, degrees = 0.0, 0
    kept = [index for index, weight in enumerate(weights) if weight]
    share = sum(weights[index] for index in kept)
    for row in counts:
        found = [row[index] for index in kept]
        if sum(found):
            expected = [sum(found) * weights[index] / share for index in kept]
            total += float(stats.chisquare(found, expected).statistic)
            degrees += len(kept) - 1
    return float(stats.chi2.sf(total, degrees)) if degrees else 1.0


def attrition_p(with_data: Sequence[int], without: Sequence[int]) -> float:
    """Are hosts without data spread over the arms as they would be by chance?"""
    if not sum(without) or not sum(with_data):
        return 1.0
    table = [pair for pair in zip(with_data, without, strict=True) if sum(pair)]
    if len(table) < 2:
        return 1.0
    return float(stats.chi2_contingency(table, correction=False)[1])


def skew_of_difference(control: Vector, treatment: Vector) -> float:
    """Skewness of the difference of the means; near 0 a t-interval holds.

    Third cumulants of means add up; equal skews of equal arms cancel.
    """
    parts = [(np.var(v) / len(v), np.mean((v - v.mean()) ** 3) / len(v) ** 2)
             for v in (treatment, control)]
    variance = parts[0][0] + parts[1][0]
    return float((parts[0][1] - parts[1][1]) / variance**1.5) if variance else 0.0


def corrected(p_values: Sequence[float], method: str) -> list[float]:
    """p-values for that many comparisons at once; NaN stays NaN and does not count."""
    found = [p for p in p_values if not math.isnan(p)]
    if method == "none" or not found:
        return list(p_values)
    adjusted = iter(multipletests(found, ALPHA, method)[1])
    return [p if math.isnan(p) else float(next(adjusted)) for p in p_values]


def detectable(estimate: Estimate) -> float:
    """The smallest difference that would have been seen 4 times in 5, in the metric's unit."""
    n1, n2 = estimate.n_control, estimate.n_treatment
    if min(n1, n2) < 2 or not estimate.standard_error > 0:
        return math.nan
    return _solve(nobs1=n1, ratio=n2 / n1) * _deviation(estimate)


def needed(estimate: Estimate, difference: float) -> int | None:
    """Units an arm to see `difference` 4 times in 5; None: cannot be told."""
    deviation = _deviation(estimate)
    if not deviation > 0 or not difference > 0:
        return None
    return units_for(difference / deviation)


def units_for(size: float) -> int | None:
    """Units an arm for a difference of `size` standard deviations; None: cannot be told."""
    if size > 3:
        # Below this statsmodels' search has no root; nobody trusts fewer units anyway.
        return 4
    if size < 1e-4:
        return None
    return max(math.ceil(_solve(effect_size=size, ratio=1.0)), 4)


def _solve(**known: float) -> float:
    """What is missing of effect_size and nobs1, at our ALPHA and POWER."""
    with warnings.catch_warnings():
        # The search looks at far-off sizes on its way, where scipy has no number.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = TTestIndPower().solve_power(alpha=ALPHA, power=POWER, **known)
    return float(np.ravel(found)[0])


def _deviation(estimate: Estimate) -> float:
    """The standard deviation that units would have to have for such an interval."""
    n1, n2 = estimate.n_control, estimate.n_treatment
    return estimate.standard_error * math.sqrt(n1 * n2 / (n1 + n2))
