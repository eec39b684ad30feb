# SPDX-License-Identifier: GPL-2.0-only
"""Whether a policy changes a figure: paired differences of runs in turns.

What looks different is run again, and the new pairs decide by themselves.  Student's t; where
differences tie or lean, all ways to flip their signs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import product

BETTER, WORSE, NONE = "better", "worse", "no difference shown"
#: Looks worse, or better, in the first pairs.
SUSPECT, LIKELY = "suspect", "likely"
LEVEL = 0.05
# A smaller share of stock's mean is no difference, however certain.
LEAST = 0.02
# More pairs have too many signs to try each; the first so many are flipped then.
MOST_FLIPPED = 15
# A skewness beyond which Student's t is not believed.
LEANING = 1.0


def student_p(t: float, freedom: int) -> float:
    """Student's t, two-sided (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(abs(t) / math.sqrt(freedom))
    term = math.cos(angle) if freedom % 2 else 1.0
    total = term if freedom > 1 else 0.0
    for i in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= (i - 1) / i * math.cos(angle) ** 2
        total += term
    inside = math.sin(angle) * total
    return max(0.0, 1 - (2 / math.pi * (angle + inside) if freedom % 2 else inside))


def student_t(freedom: int, level: float = LEVEL) -> float:
    """The t that has this probability."""
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > level else (low, middle)
    return high


def flip_p(differences: Sequence[float]) -> float:
    """How many of all ways to flip signs give a mean at least as far from zero."""
    some = differences[:MOST_FLIPPED]
    found = abs(sum(some)) * (1 - 1e-12)
    flips = product((1, -1), repeat=len(some))
    far = sum(abs(sum(s * d for s, d in zip(signs, some, strict=True))) >= found
              for signs in flips)
    return float(far / 2 ** len(some))


def leans(differences: Sequence[float]) -> bool:
    """Whether Student's t is not to be believed."""
    spread = statistics.pstdev(differences)
    if not spread or len(set(differences)) < len(differences):
        return True
    mean = statistics.fmean(differences)
    return abs(statistics.fmean(((d - mean) / spread) ** 3 for d in differences)) > LEANING


def p_value(differences: Sequence[float]) -> float:
    """How likely differences like these are by chance."""
    if len(differences) < 2 or not any(differences):
        return 1.0
    if leans(differences):
        return flip_p(differences)
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    return student_p(statistics.fmean(differences) / error, len(differences) - 1)


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """95 % confidence interval of the mean difference, by Student's t."""
    mean = statistics.fmean(differences)
    if len(differences) < 2:
        return mean, mean
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    half = student_t(len(differences) - 1) * error
    return mean - half, mean + half


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction of the probabilities of one family."""
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, values[at] * (len(values) - rank)))
        adjusted[at] = largest
    return adjusted


def small(stock: Sequence[float], policy: Sequence[float]) -> bool:
    """Whether the means differ too little to matter."""
    base = statistics.fmean(stock)
    return abs(statistics.fmean(policy) - base) <= LEAST * abs(base)
