# SPDX-License-Identifier: GPL-2.0-only
"""Run by test_gbstats.py with an interpreter that has gbstats: cases in, answers out."""

import json
import sys
from typing import Any

from gbstats.frequentist.tests import (
    FrequentistConfig,
    SequentialConfig,
    SequentialTwoSidedTTest,
    TwoSidedTTest,
)
from gbstats.models.statistics import (
    RatioStatistic,
    RegressionAdjustedStatistic,
    SampleMeanStatistic,
    compute_theta,
)
from gbstats.utils import check_srm


def mean(values: list[float]) -> Any:
    return SampleMeanStatistic(
        n=len(values), sum=sum(values), sum_squares=sum(v * v for v in values)
    )


def products(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def adjusted(values: list[float], before: list[float], theta: float) -> Any:
    return RegressionAdjustedStatistic(
        n=len(values), post_statistic=mean(values), pre_statistic=mean(before),
        post_pre_sum_of_products=products(values, before), theta=theta,
    )


def ratio(num: list[float], den: list[float]) -> Any:
    return RatioStatistic(
        n=len(num), m_statistic=mean(num), d_statistic=mean(den),
        m_d_sum_of_products=products(num, den),
    )


def sides(case: dict[str, Any]) -> tuple[Any, Any]:
    if case["kind"] == "mean":
        return mean(case["control"]), mean(case["treatment"])
    if case["kind"] == "ratio":
        return ratio(*case["control"]), ratio(*case["treatment"])
    (after_a, before_a), (after_b, before_b) = case["control"], case["treatment"]
    theta = compute_theta(adjusted(after_a, before_a, 0.0), adjusted(after_b, before_b, 0.0))
    return adjusted(after_a, before_a, theta), adjusted(after_b, before_b, theta)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    if case["kind"] == "srm":
        return {"p": float(check_srm(case["counts"], case["weights"]))}
    if "tuning" in case:
        result = SequentialTwoSidedTTest(*sides(case), SequentialConfig(
            difference_type="relative", traffic_proportion_b=1, phase_length_days=1,
            sequential_tuning_parameter=case["tuning"])).compute_result()
        return {"p": float(result.p_value), "low": float(result.ci[0]), "high": float(result.ci[1])}
    found: dict[str, Any] = {}
    for name in ("relative", "absolute"):
        config = FrequentistConfig(difference_type=name, traffic_proportion_b=1,
                                   phase_length_days=1)
        test = TwoSidedTTest(*sides(case), config)
        result = test.compute_result()
        found[name] = {"effect": float(result.expected), "p": float(result.p_value),
                       "low": float(result.ci[0]), "high": float(result.ci[1])}
    return found


print(json.dumps([answer(case) for case in json.load(sys.stdin)]))
