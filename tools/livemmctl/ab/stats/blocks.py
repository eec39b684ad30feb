# SPDX-License-Identifier: GPL-2.0-only
"""Effects between blocks of time on the same hosts (switchback)."""

from collections.abc import Sequence

import numpy as np
from scipy import stats
from statsmodels.regression.linear_model import OLS, WLS

from livemmctl.ab.stats.estimate import Estimate, Vector, from_spread, spread_of


def _codes(names: Sequence[object]) -> Vector:
    codes: Vector = np.unique(np.array([str(name) for name in names]), return_inverse=True)[1]
    return codes


def _host_columns(hosts: Sequence[str]) -> Vector:
    codes = _codes(hosts)
    columns = np.eye(int(codes.max()) + 1)[codes][:, 1:]
    return np.asarray(columns - columns.mean(axis=0))


def clustered(
    num: Vector, den: Vector, treated: Vector, blocks: Sequence[object], hosts: Sequence[str]
) -> Estimate:
    """num / den by arm, readings within a block counted as the one thing that they are.

    A regression weighted by `den`, a level of its own for each host, covariance
    clustered by block; t with as many degrees of freedom as there are blocks, less one.
    """
    design = np.column_stack([np.ones(len(num)), treated, _host_columns(hosts)])
    fitted = WLS(num / den, design, weights=den).fit(
        cov_type="cluster", use_t=True, cov_kwds={"groups": _codes(blocks)}
    )
    degrees = max(len(set(blocks)) - len(set(hosts)) - 1, 1)
    spread = spread_of(fitted, float(fitted.params[0]), degrees)
    arms = dict(zip(blocks, treated, strict=True))
    n_treatment = sum(1 for arm in arms.values() if arm)
    return from_spread(
        spread, len(arms) - n_treatment, n_treatment, "regression, covariance by block"
    )


def carry_over(values: Vector, treated: Vector, before: Vector, hosts: Sequence[str]) -> float:
    """Does a block depend on the arm of the block before it?  The p of that it does not.

    A number a block: its value, its arm and its predecessor's, 0 or 1.  NaN where it
    cannot be told apart.
    """
    design = np.column_stack([np.ones(len(values)), treated, before, _host_columns(hosts)])
    if len(values) <= design.shape[1] + 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        return float("nan")
    fitted = OLS(values, design).fit()
    if fitted.ssr <= 1e-18 * float(np.sum(values**2)):
        # Nothing is left over that a carry-over could be measured against.
        return 1.0 if abs(fitted.params[2]) <= 1e-9 * float(np.abs(values).max()) else 0.0
    return float(2 * stats.t.sf(abs(fitted.tvalues[2]), fitted.df_resid))
