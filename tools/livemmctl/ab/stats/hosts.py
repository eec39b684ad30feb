# SPDX-License-Identifier: GPL-2.0-only
"""Effects between hosts: one number a host, hosts drawn to their arms one by one."""

import numpy as np
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from livemmctl.ab.stats.estimate import Estimate, Spread, Vector, from_spread, spread_of


def welch(control: Vector, treatment: Vector, level: float | None = None,
          method: str = "Welch") -> Estimate:
    """Welch's t-test and interval; at least two hosts an arm, not all alike.

    `level` is what the relative effect is relative to, if not control's mean (CUPED
    moves the mean, and nobody asked for percent of a moved one).
    """
    base, other = DescrStatsW(control), DescrStatsW(treatment)
    compared = CompareMeans(other, base)
    _, _, degrees = compared.ttest_ind(usevar="unequal")
    base_var, other_var = base.std_mean**2, other.std_mean**2
    moved = 0.0 if level is None else float(base.mean) - level
    spread = Spread(
        control=float(base.mean) - moved, difference=float(other.mean - base.mean),
        control_variance=float(base_var), difference_variance=float(base_var + other_var),
        covariance=-float(base_var), degrees=float(degrees),
    )
    return from_spread(spread, len(control), len(treatment), method)


def ratio(control: tuple[Vector, Vector], treatment: tuple[Vector, Vector]) -> Estimate:
    """Sum of the first over sum of the second, a host an element, by the delta method.

    Each host's part in the ratio is a mean again: Deng, Knoblich, Lu, Applying the delta
    method in metric analytics (KDD 2018).
    """
    base, other = (linearised(*side) for side in (control, treatment))
    return welch(base, other, None, "ratio, delta method")


def linearised(nums: Vector, dens: Vector) -> Vector:
    """A number a host whose mean is the ratio of the sums, and whose spread is the ratio's."""
    level = nums.sum() / dens.sum()
    return np.asarray(level + (nums - level * dens) / dens.mean())


def cuped(values: Vector, before: Vector) -> Vector:
    """The values without what the time before explains of them; the overall mean stays.

    Deng, Xu, Kohavi, Walker: Improving the sensitivity of online controlled experiments
    by utilizing pre-experiment data (WSDM 2013).
    """
    if len(values) < 3 or np.ptp(before) == 0:
        return values
    covariance = np.cov(values, before)
    slope = covariance[0, 1] / covariance[1, 1]
    return np.asarray(values - slope * (before - before.mean()))


def stratified(values: Vector, treated: Vector, strata: list[str], level: float,
               method: str) -> Estimate:
    """The effect within strata, put together by their number of hosts.

    A regression in which each stratum has a level and an effect of its own, strata
    centred (Lin 2013, Annals of Applied Statistics 7:295), with HC2 covariance, which
    with one stratum is Welch's.  `treated` is 0 or 1; `level` is control's plain mean.
    """
    names = sorted(set(strata))
    dummies = np.array([[name == other for other in names[1:]] for name in strata], dtype=float)
    centred = dummies - dummies.mean(axis=0)
    design = np.column_stack(
        [np.ones(len(values)), treated, centred, centred * treated[:, None]]
    )
    fitted = OLS(values, design).fit(cov_type="HC2", use_t=True)
    spread = spread_of(fitted, level, float(fitted.df_resid))
    n_treatment = int(treated.sum())
    return from_spread(spread, len(values) - n_treatment, n_treatment, method)


def merge_small_strata(strata: list[str], treated: Vector, least: int = 2) -> list[str]:
    """Strata with fewer than `least` hosts in an arm, put together.

    What is still too small joins the largest of those that are large enough.
    """
    merged = list(strata)
    for target in ("(small)", None):
        counts: dict[str, list[int]] = {}
        for name, arm in zip(merged, treated, strict=True):
            counts.setdefault(name, [0, 0])[int(arm)] += 1
        small = {name for name, arms in counts.items() if min(arms) < least}
        if not small:
            break
        enough = counts.keys() - small or counts.keys()
        largest = max(enough, key=lambda name: (sum(counts[name]), name))
        into = largest if target is None else target
        merged = [into if name in small else name for name in merged]
    return merged
