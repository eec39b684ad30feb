# SPDX-License-Identifier: GPL-2.0-only
"""Intervals and p-values that hold however often somebody looks.

A fixed interval is wrong once somebody looks twice and stops at what he likes.  A confidence
sequence covers the truth at all looks together with 95 %.

Estimates of one effect from growing data have, in the limit of many units, the covariance
Cov(D_s, D_t) = Var(D_t) for s before t, whether units are added or each unit is seen for longer
(Scharfstein, Tsiatis, Robins, JASA 1997; Jennison and Turnbull, JASA 1997).  So the score
D_t / Var(D_t) is a Brownian motion in the information I = 1 / Var(D_t), and Robbins' normal
mixture bounds the motion at all times (Robbins, Annals of Mathematical Statistics 1970;
Waudby-Smith et al., arXiv 2103.06476).  GrowthBook's sequential intervals are the same formula.

Numbers and arrays of numbers are taken alike.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from livemmctl.ab.stats.checks import POWER
from livemmctl.ab.stats.estimate import ALPHA, Estimate, Vector

#: A part of the mixture for counts is open to any ratio of rates, so that a harm far above the
#: effect that is planned for is seen after a dozen events; the rest loses 10 % of the evidence.
OPEN_SHARE, OPEN_WEIGHT = 0.1, 2.0


def planned_information(effect: float) -> float:
    """The information with which a test that looks once sees `effect` with our POWER.

    `effect` is relative: 0.01 is 1 % of control.
    """
    return float((stats.norm.ppf(1 - ALPHA / 2) + stats.norm.ppf(POWER)) / effect) ** 2


def mixing(planned: float) -> float:
    """The mixture's own information, with which the sequence is narrowest at `planned`.

    Waudby-Smith et al., section on the choice of rho; fixed before the first look.
    """
    depth = -2 * math.log(ALPHA)
    return planned / (depth + math.log(depth + 1))


def standard_errors(information: Any, mixed: float, alpha: float = ALPHA) -> Any:
    """How many standard errors the sequence is wide to each side, at so much information."""
    growth = information / mixed
    return np.sqrt((1 + 1 / growth) * (np.log1p(growth) - 2 * math.log(alpha)))


def detectable(information: float, mixed: float, alpha: float = ALPHA) -> float:
    """The relative effect that is seen with our POWER by the time of so much information."""
    power = float(stats.norm.ppf(POWER))
    return (float(standard_errors(information, mixed, alpha)) + power) / math.sqrt(information)


def needed(effect: float, mixed: float, alpha: float = ALPHA) -> float:
    """The information at which a relative effect is seen with our POWER."""
    # Between a look that could not see it, and one with far more than a fixed test needs.
    least = planned_information(effect)
    return float(optimize.brentq(
        lambda information: detectable(information, mixed, alpha) - effect,
        least * 1e-3, least * 1e3))


def p_value(z: Any, information: Any, mixed: float) -> Any:
    """The p-value that holds at all looks, of an effect of `z` standard errors."""
    growth = information / mixed
    return np.minimum(1.0, np.sqrt(1 + growth) * np.exp(-np.square(z) / 2 * growth / (1 + growth)))


@dataclass(frozen=True)
class Sequence:
    """One look at a confidence sequence.

    The bounds are as those of an Estimate.  `information` of `planned` has been gathered.
    """

    low: float
    high: float
    relative_low: float
    relative_high: float
    p: float
    information: float
    planned: float
    #: How often the bounds miss the truth at any look of one step of a ramp.
    alpha: float = ALPHA


def sequence_of(estimate: Estimate, effect: float, steps: int = 1) -> Sequence | None:
    """The look that `estimate` is; None where an effect in percent cannot be told.

    `effect`: the smallest relative effect worth seeing.  The fewer units, the more an interval
    has to allow for a variance that is itself an estimate: the normal bound is replaced by
    Student's of the same probability.

    Hosts that a step of a ramp adds have been seen for a moment only, and weigh as much as the
    others: there is less information than before, and the estimates of two steps are not those of
    one motion.  So each of `steps` is a sequence by itself, with its part of ALPHA (Bonferroni).
    """
    alpha = ALPHA / steps
    se = estimate.relative_error
    if not (math.isfinite(se) and se > 0):
        return None
    planned = planned_information(effect)
    mixed = mixing(planned)
    information = se**-2
    width = float(standard_errors(information, mixed, alpha))
    student = float(stats.t.isf(stats.norm.sf(width), estimate.degrees))
    ratio = student / estimate.half_width
    seen = abs(estimate.relative) / se
    normal = float(stats.norm.isf(stats.t.sf(seen, estimate.degrees)))
    # Far out the tail of Student's is 0 to a float, and the normal of the tail is infinite.
    normal = min(normal, seen)

    def around(middle: float, low: float, high: float) -> tuple[float, float]:
        return middle - (middle - low) * ratio, middle + (high - middle) * ratio

    return Sequence(
        *around(estimate.difference, estimate.low, estimate.high),
        *around(estimate.relative, estimate.relative_low, estimate.relative_high),
        min(1.0, float(p_value(normal, information, mixed)) * steps), information, planned, alpha,
    )


@dataclass(frozen=True)
class Counts:
    """Events of both arms, and the time that their hosts were watched."""

    control: float
    treatment: float
    control_s: float
    treatment_s: float
    #: How much more hosts differ than chance alone would have them: 1 is chance.
    dispersion: float = 1.0

    @property
    def share(self) -> float:
        """Treatment's share of the time."""
        return self.treatment_s / (self.control_s + self.treatment_s)


def dispersion(events: Vector, seconds: Vector, treated: Vector) -> float:
    """By how much the sum of events varies more than by chance alone; never below 1.

    Events of one host come together, hosts differ, and hosts that joined late have not seen the
    days of the first.  Events that count for less make up for all of these: quasi-likelihood,
    McCullagh and Nelder, Generalized Linear Models, section 9.2, with the squares of all hosts
    over the events of all.  Pearson's chi-square weighs each host's square by the host's own
    time, and misses bursts and the first steps of a ramp.
    """
    squares = expected = 0.0
    for arm in (treated == 0, treated == 1):
        rate = events[arm].sum() / seconds[arm].sum()
        squares += float(np.sum((events[arm] - rate * seconds[arm]) ** 2))
        expected += float(events[arm].sum())
    if not expected:
        return 1.0
    return max(1.0, squares / expected * len(events) / max(len(events) - 2, 1))


def rates(counts: Counts, n_control: int, n_treatment: int) -> Estimate:
    """Rates of events compared at one look: the interval of the log of the ratio, by Wald.

    Where an arm has no event both arms are given half a one (Haldane and Anscombe).
    """
    half = 0.0 if counts.control and counts.treatment else 0.5
    here, there = counts.treatment + half, counts.control + half
    se = math.sqrt(counts.dispersion * (1 / here + 1 / there))
    degrees = float(n_control + n_treatment - 2)
    log_ratio = math.log(here / counts.treatment_s) - math.log(there / counts.control_s)
    width = float(stats.t.ppf(1 - ALPHA / 2, degrees)) * se
    rate = there / counts.control_s
    low, middle, high = (math.expm1(log_ratio + side * width) for side in (-1, 0, 1))
    return Estimate(
        control=counts.control / counts.control_s, treatment=counts.treatment / counts.treatment_s,
        difference=rate * middle, low=rate * low, high=rate * high,
        relative=middle, relative_low=low, relative_high=high,
        p=2 * float(stats.t.sf(abs(log_ratio) / se, degrees)),
        n_control=n_control, n_treatment=n_treatment, method="counts", degrees=degrees,
    )


def _evidence(counts: Counts, log_ratio: float, weight: float) -> float:
    """The log of the evidence against a ratio of rates, by a mixture over all ratios."""
    here, there = counts.treatment / counts.dispersion, counts.control / counts.dispersion
    share = counts.share
    odds = math.log(share / (1 - share)) + log_ratio
    likely = here * special.log_expit(odds) + there * special.log_expit(-odds)

    def mixture(weight: float) -> float:
        prior = weight * share, weight * (1 - share)
        return float(special.betaln(prior[0] + here, prior[1] + there) - special.betaln(*prior))

    both = np.logaddexp(math.log1p(-OPEN_SHARE) + mixture(weight),
                        math.log(OPEN_SHARE) + mixture(OPEN_WEIGHT))
    return float(both - likely)


def sequence_of_counts(counts: Counts, effect: float) -> Sequence:
    """Rates of events compared: treatment's over control's, less 1.

    Given that an event happens somewhere, the event is treatment's with a probability that
    the ratio of the rates and the share of the time say, however the rates vary over the day:
    a mixture over these probabilities is a test that holds at all looks (Lindon and Malek,
    Anytime-valid inference for multinomial count data, NeurIPS 2022).  `low` and `high` are
    in events a second.
    """
    planned = planned_information(math.log1p(effect))
    # Near the null an event of a binomial has the information share * (1 - share).
    weight = mixing(planned) / (counts.share * (1 - counts.share))
    bound = -math.log(ALPHA)
    total = (counts.control + counts.treatment) / counts.dispersion
    middle = math.log((counts.treatment + 0.5) / counts.treatment_s) - math.log(
        (counts.control + 0.5) / counts.control_s)

    def edge(sign: int) -> float:
        """Where the evidence reaches the bound, as far as a ratio of e to the 40th."""
        def over(log_ratio: float) -> float:
            return _evidence(counts, log_ratio, weight) - bound

        far = middle + sign * 40
        if over(middle) >= 0 or over(far) <= 0:
            return far
        return float(optimize.brentq(over, *sorted((middle, far))))

    low, high = edge(-1), edge(1)
    rate = counts.control / counts.control_s
    relative_low = math.expm1(low) if counts.treatment else -1.0
    relative_high = math.expm1(high) if counts.control else math.inf
    return Sequence(
        low=rate * relative_low, high=rate * relative_high if counts.control else math.inf,
        relative_low=relative_low, relative_high=relative_high,
        p=min(1.0, math.exp(-_evidence(counts, 0.0, weight))) if total else 1.0,
        information=total * counts.share * (1 - counts.share), planned=planned,
    )
