# SPDX-License-Identifier: GPL-2.0-only
"""What was recorded, and what a policy would have made of the same load."""

import time
from dataclasses import dataclass
from typing import Any

from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.profile.defaults import documented
from livemmctl.table import Table, text_of
from livemmctl.whatif import library
from livemmctl.whatif.rows import Events

#: Settings of pcp that the replay does not know, and the one value that it stands for.
FIXED = {"mode": "event", "contended_only": "0", "scope": "zone"}
#: Settings of mode `depth`, which mode `event` does not read.
UNUSED = ("period_ms", "window_periods")
PREDICTED = ("pcp",)
WHY_NOT = {
    "zonelock": "its depots are not modelled yet",
    "numa": "a hint fault depends on when and where a thread next uses a page, which is not "
            "recorded",
    "pageblock": "a mixed block depends on which pages are free, which is not recorded",
    "cma": "where a refill comes from depends on which pages are free, which is not recorded",
}


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
    policy: str
    settings: dict[str, str]
    recorded: Figures
    predicted: Figures
    detail: dict[str, int]
    seconds: float
    events: int
    replay_seconds: float
    lost: int
    #: Policies that were on when the host was recorded.
    on: tuple[str, ...] = ()
    #: Refills were recorded; else predictions are rough.
    sees_refills: bool = True

    def document(self) -> dict[str, Any]:
        sides = {"recorded": self.recorded, "predicted": self.predicted}
        return {
            "policy": self.policy, "settings": self.settings, "seconds": self.seconds,
            "events": self.events, "events_lost": self.lost, "recorded_with": list(self.on),
            "rough": not self.sees_refills,
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
        table = text_of(Table(("", "recorded", f"with {self.policy}"), rows))
        said = [f"{self.path}: {self.seconds:.1f} s, {self.events} events, replayed at "
                f"{self.events / max(self.replay_seconds, 1e-9):,.0f} events a second"]
        if self.on:
            said.append(f"recorded with {' and '.join(self.on)} on: what it would be without is "
                        "not known, and the prediction is of little worth")
        if not self.sees_refills:
            said.append("refills cannot be recorded on this kernel: the prediction is rough, and "
                        "may even have the wrong sign; see docs/whatif.md")
        if self.lost:
            said.append(f"{self.lost} events are missing: the figures are too low")
        return "\n".join([*said, "", table])


def figures(result: library.Result) -> Figures:
    ns = max(result.ns, 1)
    return Figures(
        result.refill_pages + result.drain_pages, result.refill_pages, result.drain_pages,
        result.refills + result.drains, result.kept_area / ns, result.kept_max, result.faults)


def config(policy: str, settings: dict[str, str], sees_refills: bool) -> library.Pcp:
    """The settings as the replay takes them; those not named have the module's defaults."""
    if policy not in PREDICTED:
        why = WHY_NOT.get(policy)
        raise CtlError(f"{policy} is not predicted: {why}" if why else f"no policy {policy}",
                       Exit.UNSUPPORTED if why else Exit.USAGE)
    known = documented((6, 1))[policy]
    for key, value in settings.items():
        if key not in known and key != "enabled":
            raise UsageError(f"{policy} has no knob {key}")
        if key in FIXED and value != FIXED[key]:
            raise CtlError(f"{policy}/{key}: {value}: not predicted, only {FIXED[key]} is",
                           Exit.UNSUPPORTED)
    want = {**known, **settings}
    try:
        return library.Pcp(
            enabled=int(want.get("enabled", "1")), sees_refills=sees_refills,
            limit_exit_drain=int(want["limit_exit_drain"]),
            batch_max_scale=int(want["batch_max_scale"]), gain_pct=int(want["gain_pct"]),
            guard_pct=int(want["watermark_guard_pct"]),
            high_max_tenths=round(10 * float(want["high_max_pct"])),
            decay_ms=int(want["decay_ms"]))
    except ValueError as error:
        raise UsageError(f"{policy}: {error}") from None


def predict(found: Events, policy: str, settings: dict[str, str]) -> Outcome:
    recorded, sees_refills = library.measure(found.rows)
    began = time.perf_counter()
    replayed = library.replay(found.rows, config(policy, settings, sees_refills))
    spent = time.perf_counter() - began
    detail = {name: getattr(replayed, name) for name in (
        "grown", "lowered", "excess_pages", "exit_drains", "limited_watermark", "limited_max",
        "limited_room")}
    return Outcome(found.meta.host, policy, settings, figures(recorded), figures(replayed), detail,
                   replayed.ns / 1e9, len(found.rows), spent, found.meta.lost,
                   tuple(found.meta.policies), sees_refills)
