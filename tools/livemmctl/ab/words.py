# SPDX-License-Identifier: GPL-2.0-only
"""Numbers of a report as people read them."""

import math


def level(value: float) -> str:
    """A level or a difference: four digits that count."""
    if math.isnan(value):
        return "-"
    size = abs(value)
    if size >= 1e6 or (size and size < 1e-4):
        return f"{value:.3e}"
    return f"{value:,.0f}" if size >= 1e4 else f"{value:.4g}"


def percent(share: float) -> str:
    if math.isnan(share):
        return "-"
    value = share * 100
    size = abs(value)
    if size and size < 0.01:
        return f"{value:+.1g} %"
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{value:+.{digits}f} %"


def interval(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return "-"
    return f"{percent(low)} .. {percent(high)}"


def p_value(p: float) -> str:
    if math.isnan(p):
        return "-"
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"
