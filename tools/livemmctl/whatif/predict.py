# SPDX-License-Identifier: GPL-2.0-only
"""What was recorded, and what policies would have made of the same load."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.profile.defaults import documented, limits
from livemmctl.table import Table, text_of
from livemmctl.whatif import events, library
from livemmctl.whatif.rows import Events

#: Settings by policy: those that are to be on.
Plan = dict[str, dict[str, str]]
#: Settings that the replay does not know, and the values that it stands for.
FIXED: dict[str, dict[str, tuple[str, ...]]] = {
    "pcp": {"mode": ("event",)},
    "zonelock": {}}
#: Policies that are replayed, together or one alone.
LISTS = ("pcp", "zonelock")


@dataclass(frozen=True)
class Figures:
    """Of a recording, or of its replay; sizes in pages."""

    crossed: int
    refill_pages: int
    drain_pages: int
    holds: int
    kept: float
    kept_max: int
    faults: int

    @property
    def a_fault(self) -> float:
        return self.crossed / self.faults if self.faults else 0.0


@dataclass(frozen=True)
class Outcome:
    """The recording, and the prediction for the settings."""

    path: str
    plan: Plan
    recorded: Figures
    predicted: Figures
    detail: dict[str, int]
    seconds: float
    events: int
    replay_seconds: float
    lost: int
    #: Policies that were on when the host was recorded.
    on: tuple[str, ...] = ()
    #: Pages in depots, mean, while the host was recorded.
    depot_pages: float = 0.0
    #: Refills were recorded; else predictions are rough.
    sees_refills: bool = True

    def document(self) -> dict[str, Any]:
        sides = {"recorded": self.recorded, "predicted": self.predicted}
        return {
            "policies": self.plan, "seconds": self.seconds,
            "events": self.events, "events_lost": self.lost, "recorded_with": list(self.on),
            "recorded_depot_pages": self.depot_pages, "rough": not self.sees_refills,
            "events_per_second": round(self.events / max(self.replay_seconds, 1e-9)),
            **{side: {**vars(figures), "a_fault": figures.a_fault}
               for side, figures in sides.items()},
            "detail": self.detail,
        }

    def text(self) -> str:
        rows = [
            ("pages over zone->lock", f"{self.recorded.crossed}", f"{self.predicted.crossed}"),
            ("  a page fault", f"{self.recorded.a_fault:.3f}", f"{self.predicted.a_fault:.3f}"),
            ("  refilled", f"{self.recorded.refill_pages}", f"{self.predicted.refill_pages}"),
            ("  drained", f"{self.recorded.drain_pages}", f"{self.predicted.drain_pages}"),
            ("holds of zone->lock", f"{self.recorded.holds}", f"{self.predicted.holds}"),
            ("pages kept, mean", f"{self.recorded.kept:.0f}", f"{self.predicted.kept:.0f}"),
            ("pages kept, most", f"{self.recorded.kept_max}", f"{self.predicted.kept_max}"),
        ]
        table = text_of(Table(("", "recorded", f"with {words_of(self.plan)}"), rows))
        said = [f"{self.path}: {self.seconds:.1f} s, {self.events} events, replayed at "
                f"{self.events / max(self.replay_seconds, 1e-9):,.0f} events a second"]
        said += doubts(self.on, self.lost)
        if not self.sees_refills:
            said.append("refills cannot be recorded on this kernel: the prediction is rough; see "
                        "docs/whatif.md")
        return "\n".join([*said, "", table])


def figures(result: library.Result) -> Figures:
    ns = max(result.ns, 1)
    return Figures(
        result.refill_pages + result.drain_pages, result.refill_pages, result.drain_pages,
        result.refills + result.drains, result.kept_area / ns, result.kept_max, result.faults)


def doubts(on: Sequence[str], lost: int) -> list[str]:
    """What takes worth from a prediction: policies that were on, and lost events."""
    said = []
    if on:
        said.append(f"recorded with {' and '.join(on)} on: what it would be without is not known, "
                    "and the prediction is of little worth")
    if lost:
        said.append(f"{lost} events are missing: the figures are too low")
    return said


def words_of(plan: Plan) -> str:
    """The policies, for people."""
    return " and ".join(plan)


def settings_words(plan: Plan) -> str:
    """The settings, for people; with the policy where there are several."""
    return " ".join(f"{key if len(plan) == 1 else f'{policy}/{key}'}={value}"
                    for policy, knobs in plan.items() for key, value in knobs.items())


def _place(plan: Plan, key: str) -> tuple[str, str]:
    """Policy and knob of KNOB, or of POLICY/KNOB."""
    policy, slash, knob = key.rpartition("/")
    if slash and policy not in plan:
        raise UsageError(f"{key}: {policy} is not to be on; see --policy")
    if not slash and len(plan) > 1:
        raise UsageError(f"{key}: of which policy? Write POLICY/{key}")
    return (policy if slash else next(iter(plan))), knob


def with_settings(plan: Plan, settings: dict[str, str]) -> Plan:
    """The plan with more settings, by KNOB or POLICY/KNOB."""
    made = {policy: dict(knobs) for policy, knobs in plan.items()}
    for key, value in settings.items():
        policy, knob = _place(plan, key)
        made[policy][knob] = value
    return made


def plan_of(policies: Sequence[str], settings: dict[str, str]) -> Plan:
    """The policies that are to be on, with their settings; errors name what is not predicted."""
    for policy in policies:
        if policy not in LISTS:
            raise UsageError(f"{policy} is not predicted, only {' and '.join(LISTS)} are")
    plan = with_settings({policy: {} for policy in policies}, settings)
    config(plan, True)
    return plan


#: How a number is written, by the step of the knob: as the module reads it.
_WRITTEN = {"1": re.compile(r"\d{1,10}", re.ASCII), "0.1": re.compile(r"\d{1,9}(\.\d)?", re.ASCII)}


def _check_number(policy: str, key: str, value: str) -> None:
    """Raise UsageError for a number that the module refuses."""
    found = ("0", "1", "1") if key == "enabled" else limits()[policy].get(key)
    if found is None:
        return
    low, high, step = found
    if not _WRITTEN[step].fullmatch(value) or not float(low) <= float(value) <= float(high):
        raise UsageError(f"{policy}/{key}: {value}: not a number from {low} to {high}"
                         + (", in tenths" if step == "0.1" else ""))


def wanted(plan: Plan, policy: str, fixed: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """All settings of a policy; those not named have the module's defaults."""
    known = documented((6, 1))[policy]
    for key, value in plan.get(policy, {}).items():
        if key not in known and key != "enabled":
            raise UsageError(f"{policy} has no knob {key}")
        if value not in fixed.get(key, (value,)):
            only = " or ".join(word or "empty" for word in fixed[key])
            raise CtlError(f"{policy}/{key}: {value}: not predicted, only {only} is",
                           Exit.UNSUPPORTED)
        _check_number(policy, key, value)
    return {"enabled": "1" if policy in plan else "0", **known, **plan.get(policy, {})}


def config(plan: Plan, sees_refills: bool) -> tuple[library.Pcp, library.Zonelock]:
    """The settings as the replay takes them."""
    pcp, zonelock = (wanted(plan, policy, FIXED[policy]) for policy in LISTS)
    try:
        return library.Pcp(
            enabled=int(pcp["enabled"]), sees_refills=sees_refills,
            high_max_tenths=round(10 * float(pcp["high_max_pct"])),
            decay_ms=int(pcp["decay_ms"])), library.Zonelock(
            enabled=int(zonelock["enabled"]),
            max_tenths=round(10 * float(zonelock["max_pages_pct"])),
            max_age_ms=int(zonelock["max_age_ms"]))
    except ValueError as error:
        raise UsageError(f"{words_of(plan)}: {error}") from None


#: Of the replay, by policy.
DETAIL = {
    "pcp": ("grown", "lowered", "excess_pages", "exit_drains", "limited_watermark", "limited_max",
            "limited_room"),
    "zonelock": ("stored_pages", "taken_pages", "returned_pages", "returned_age", "refused"),
}


#: Events that tell of lists.
_OF_LISTS = ("list_refill", "list_drain", "list_state")


def _check_looks(found: Events) -> None:
    """Raise CtlError if the recording does not tell of lists and of their zones."""
    kinds = {events.NAMES[kind] for kind in np.unique(found.rows[:, 2])}
    for needed, words in ((("zone_state",), "zones"), (_OF_LISTS, "lists")):
        if kinds.isdisjoint(needed):
            raise CtlError(f"{found.meta.host}: the recording has no look at {words}", Exit.FAILED)


def predict(found: Events, plan: Plan) -> Outcome:
    _check_looks(found)
    recorded, sees_refills = library.measure(found.rows)
    began = time.perf_counter()
    replayed = library.replay(found.rows, *config(plan, sees_refills))
    spent = time.perf_counter() - began
    detail = {name: getattr(replayed, name) for policy in plan for name in DETAIL[policy]}
    return Outcome(found.meta.host, plan, figures(recorded), figures(replayed), detail,
                   replayed.ns / 1e9, len(found.rows), spent, found.meta.lost,
                   tuple(found.meta.policies), found.meta.depot_pages, sees_refills)
