# SPDX-License-Identifier: GPL-2.0-only
"""From a report to a decision: the next step of the ramp, no step, or halt.  No I/O."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from livemmctl.ab.analyse import Comparison, Report, analyse
from livemmctl.ab.decision import Decision, first_decision
from livemmctl.ab.model import ANY_TIME, Experiment
from livemmctl.ab.stats import checks, sequential
from livemmctl.ab.stats.estimate import ALPHA
from livemmctl.errors import UsageError
from livemmctl.rollout.presence import absence, silence

#: WAIT: the step has not lasted as long as it should; HOLD: it has, and a guard is not known to be
#: no worse.
ADVANCE, WAIT, HOLD, HALT, DONE = "advance", "wait", "hold", "halt", "done"
#: How uneven passed guardrails have to be between arms, at all looks together.
TRIPS_EFFECT = 0.5


@dataclass(frozen=True)
class Guarded:
    """A guard metric of an arm: ok, waiting for more data, or harmful."""

    metric: str
    arm: str
    state: str
    words: str
    #: Of whose hosts, where kernels come one after the other.
    kernel: str = ""
    #: Of the effect, at all looks together, in percent of control; NaN: cannot be told.
    low_pct: float = math.nan
    effect_pct: float = math.nan
    high_pct: float = math.nan
    margin_pct: float = math.nan

    def __str__(self) -> str:
        where = f"{self.arm}, {self.kernel}" if self.kernel else self.arm
        return f"{self.metric}, {where}: {self.words}"


@dataclass(frozen=True)
class Verdict:
    """What is to be done, and why."""

    what: str
    reason: str
    guards: list[Guarded]
    decision: Decision


OK, WAITING, HARMFUL = "ok", "waiting", "harmful"


def _guard_of(
    item: Comparison, times: float, p: float, unheard: str, kernel: str
) -> Guarded:
    def made(state: str, words: str) -> Guarded:
        middle = math.nan if found is None else found.relative
        return Guarded(item.metric.name, item.arm, state, words, kernel,
                       item.low * 100, middle * 100, item.high * 100, least * times)

    least = item.metric.margin_pct or 0.0
    margin = f"{least * times:g} %"
    found = item.effect.estimate
    if item.effect.refused:
        return made(WAITING, item.effect.refused[0])
    # A first step's wide margin is for what is not known yet: no harm that is known is let on.
    # Even where a check fails: hosts that die of their arm are missing in the sample ratio.
    if p < ALPHA and item.harm[0] > 0 and not item.harm[1] * 100 < least:
        return made(HARMFUL, f"worse, by {item.harm[0]:.1%} at least")
    if unheard:
        return made(WAITING, unheard)
    if item.is_within(times):
        return made(OK, f"no worse by {margin}")
    if item.metric.kind == "count" and found is not None and found.treatment == 0:
        # No number of quiet hosts bounds a ratio to nothing.
        return made(OK, "no event on a treated host")
    return made(WAITING, f"not yet known to be no worse by {margin}")


def guards_of(
    report: Report, now: Decision, now_s: float, kernel: str = ""
) -> tuple[list[Guarded], str]:
    """Every metric with a margin, of every treatment, by the margins of the step; and _trips().

    Whatever the report's own correction is, all questions that may halt share one ALPHA (Holm).
    Each of the kernels that come one after the other has its part (Bonferroni): how many there
    are is known before the first look.
    """
    ramp = report.experiment.ramp
    steps = [times for step, times in zip(ramp.percents, ramp.margin_times, strict=True)
             if step <= now.percent]
    times = steps[-1] if steps else ramp.margin_times[0]
    asked = [item for item in report.comparisons if item.metric.margin_pct is not None]
    trips = _trips(report)
    p_values = [math.nan if item.effect.look is None else item.effect.look.p for item in asked]
    kernels = max(len(ramp.kernels), 1)
    corrected = [p * kernels for p in
                 checks.corrected([*p_values, *(p for p, _ in trips)], "holm")]
    harmful = [words for p, (_, words) in zip(corrected[len(asked):], trips, strict=True)
               if words and p < ALPHA]
    return ([_guard_of(item, times, p, silence(report, item, now.since_s, now_s), kernel)
             for item, p in zip(asked, corrected, strict=False)],
            "; ".join(harmful))


def _trips(report: Report) -> list[tuple[float, str]]:
    """How sure it is that an arm's hosts pass guardrails more often than control's, in words.

    One pair an arm; the words are empty where the arm's hosts do not.
    """
    found = []
    hosts = report.seen.hosts.values()
    control = [host for host in hosts if host.arm == report.experiment.control]
    for arm in report.experiment.treatments:
        mine = [host for host in hosts if host.arm == arm]
        if not mine or not control:
            continue
        there, here = (sum(1 for host in side if host.guard) for side in (control, mine))
        look = sequential.sequence_of_counts(
            sequential.Counts(there, here, len(control), len(mine)), TRIPS_EFFECT)
        words = (f"guardrails were passed on {here} of {len(mine)} hosts of {arm}, and on"
                 f" {there} of {len(control)} of {report.experiment.control}")
        found.append((look.p, words if look.relative_low > 0 else ""))
    return found


def decide(
    report: Report, before: Decision | None, now_s: float, is_followed: bool = True
) -> Verdict:
    """The next decision; its serial grows where it says something new.

    `is_followed`: the hosts of the report followed `before`, and join by its steps.

    Guards halt by p-values that are corrected for their number and hold at all looks, so that a
    rollout without harm is halted in 5 % of cases at most, however long it takes.

    Raises CtlError, USAGE, for an experiment whose report may not be read at any time.
    """
    experiment = report.experiment
    if experiment.looks != ANY_TIME:
        raise UsageError('a rollout looks at every tick', 'looks = "any"')
    if all(metric.margin_pct is None for metric in experiment.metrics):
        raise UsageError("no metric has a margin: what should hold the rollout up?",
                         "margin_pct = 2 in a [[metrics]]")
    first = first_decision(experiment, now_s)
    *earlier, (report, guards, trips) = _by_kernel(report, before or first, now_s)
    if before is None:
        return Verdict(ADVANCE, first.reason, guards, first)
    guards = [guard for _, found, _ in earlier for guard in found] + guards
    trips = "; ".join(filter(None, [*(words for _, _, words in earlier), trips]))
    what, reason = _next(report, before, guards, trips, now_s)
    if what == ADVANCE and is_followed and (missing := absence(report, before)):
        what, reason = HOLD, missing
    decision = replace(before, at_s=now_s)
    if what == HALT and not before.halt:
        decision = replace(decision, serial=before.serial + 1, halt=True, reason=reason)
    elif what == ADVANCE:
        kernel, percent = _after(experiment, before) or ("", 0.0)
        decision = replace(decision, serial=before.serial + 1, percent=percent, reason=reason,
                           since_s=now_s, kernel=kernel)
    return Verdict(what, reason, guards, decision)


def _by_kernel(
    report: Report, now: Decision, now_s: float
) -> list[tuple[Report, list[Guarded], str]]:
    """A report of the hosts of each kernel so far, the last of the one whose turn it is.

    One kernel's harm is not hidden by the hosts of another.  Where kernels go together: one.
    """
    kernels = report.experiment.ramp.kernels
    if not kernels:
        return [(report, *guards_of(report, now, now_s))]
    if now.kernel not in kernels:
        raise UsageError(f"the decision in force is about kernel {now.kernel!r}",
                         "kernels in [ramp] are not to be changed on the way")
    found = []
    for kernel in kernels[:kernels.index(now.kernel) + 1]:
        hosts = {host: info for host, info in report.seen.hosts.items() if info.kernel == kernel}
        points = {name: [point for point in all_of if point.host in hosts]
                  for name, all_of in report.seen.points.items()}
        mine = analyse(report.experiment, replace(report.seen, hosts=hosts, points=points))
        # A kernel whose turn is over took the last step, long ago.
        stood = now if kernel == now.kernel else replace(
            now, percent=report.experiment.ramp.percents[-1])
        found.append((mine, *guards_of(mine, stood, now_s, kernel)))
    return found


def _after(experiment: Experiment, now: Decision) -> tuple[str, float] | None:
    """The kernel and the percentage of the step that follows; None: there is none."""
    ramp = experiment.ramp
    if now.percent < ramp.percents[-1]:
        return now.kernel, min(step for step in ramp.percents if step > now.percent)
    later = ramp.kernels[ramp.kernels.index(now.kernel) + 1:] if ramp.kernels else ()
    return (later[0], ramp.percents[0]) if later else None


def replay(looks: Sequence[tuple[float, Report]], begun_s: float) -> list[tuple[float, Verdict]]:
    """What would have been decided at earlier looks; only what differs from the look before.

    `looks` are as history.looks_back() gives them, in seconds since `begun_s`.
    """
    found: list[tuple[float, Verdict]] = []
    before: Decision | None = None
    said = ("", "")
    for since_s, report in looks:
        now_s = begun_s + since_s
        # The record may be of a time before the experiment's start.
        before = before or replace(
            first_decision(report.experiment, begun_s), since_s=begun_s)
        verdict = decide(report, before, now_s, is_followed=False)
        before = verdict.decision
        # A step's time left is another one at each look.
        words = (verdict.what, "" if verdict.what == WAIT else verdict.reason)
        if words != said:
            found.append((since_s, verdict))
        said = words
        if verdict.what in (HALT, DONE):
            break
    return found


def _next(
    report: Report, before: Decision, guards: list[Guarded], trips: str, now_s: float
) -> tuple[str, str]:
    experiment = report.experiment
    if before.halt:
        return HALT, before.reason
    harmful = [str(guard) for guard in guards if guard.state == HARMFUL]
    if harmful or trips:
        return HALT, "; ".join([*harmful, *([trips] if trips else [])])
    if _after(experiment, before) is None:
        return DONE, "every step is taken"
    left_s = before.since_s + experiment.ramp.every_s - now_s
    if left_s > 0:
        return WAIT, f"this step lasts {left_s / 60:.0f} min more"
    if report.failed:
        return HOLD, "; ".join(f"{check.name}: {check.words}" for check in report.failed)
    waiting = [str(guard) for guard in guards
               if guard.state == WAITING and guard.kernel == before.kernel]
    if waiting:
        return HOLD, "; ".join(waiting)
    return ADVANCE, "every guard is no worse by its margin"
