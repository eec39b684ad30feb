# SPDX-License-Identifier: GPL-2.0-only
"""Scans and hint faults that were recorded, and what numa would have made of the same load."""

from dataclasses import dataclass
from typing import Any

from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.whatif import library, tally
from livemmctl.whatif.predict import Plan, doubts, figure_rows, page, wanted
from livemmctl.whatif.rows import Events

#: Settings that the replay does not know, and the values that it stands for.
FIXED = {"mode": ("vma", "period"), "charge_ptes": ("0",), "cgroups": ("",)}
MODES = ("period", "vma")
#: Knobs that the replay takes by name.
KNOBS = ("scan_period_min_ms", "scan_period_max_ms", "min_faults", "step_max_pct", "steady_pct",
         "scan_delay_ms", "scan_delay_run_ms", "thread_period_min_ms", "full_pass_interval",
         "sampling_stride")
#: Where a recording does not have the kernel's own settings: the kernel's defaults.
KERNELS = {"scan_size_mb": 256, "scan_period_min_ms": 1000, "scan_period_max_ms": 60000}


@dataclass(frozen=True)
class Figures:
    """Of a recording, or of its replay; scans of a recording are all full."""

    hint_faults: int
    scans: int
    sampling_scans: int
    resampled: int
    held_back: int
    remote_pct: float


@dataclass(frozen=True)
class Outcome:
    host: str
    plan: Plan
    recorded: Figures
    predicted: Figures
    spaces: int
    lost: int
    on: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return {"policies": self.plan, "events_lost": self.lost, "recorded_with": list(self.on),
                "address_spaces": self.spaces, "recorded": vars(self.recorded),
                "predicted": vars(self.predicted)}

    def text(self) -> str:
        names = {"hint faults": "hint_faults", "  of these remote, %": "remote_pct",
                 "full scans": "scans", "sampling scans": "sampling_scans",
                 "alarms": "resampled", "alarms held back": "held_back"}
        rows = figure_rows(names, self.recorded, self.predicted)
        said = [f"{self.host}: {self.spaces} address spaces that NUMA balancing scanned"]
        said += doubts(self.on, self.lost)
        said.append("skip_by_thread and skip_by_region are not replayed; see docs/whatif.md")
        return page(said, self.plan, rows)


def config(plan: Plan, found: Events) -> library.Numa:
    """The settings as the replay takes them."""
    knobs = wanted(plan, "numa", FIXED)
    kernel = {**KERNELS, **found.meta.numa_scan}
    try:
        return library.Numa(
            enabled=int(knobs["enabled"]), mode=MODES.index(knobs["mode"]),
            scan_size_mb=kernel["scan_size_mb"], kernel_min_ms=kernel["scan_period_min_ms"],
            kernel_max_ms=kernel["scan_period_max_ms"],
            **{name: int(knobs[name]) for name in KNOBS})
    except ValueError as error:
        raise UsageError(f"numa: {error}") from None


def _remote(pages: "list[int]") -> float:
    return 100 * sum(pages[2:]) / max(sum(pages), 1)


def predict(found: Events, plan: Plan) -> Outcome:
    numa = config(plan, found)
    replayed = library.replay_numa(found.rows, numa)
    if not replayed.recorded_scans:
        raise CtlError("numa: the recording has no scan of NUMA balancing: there was none, or "
                       "livemm could not record scans", Exit.UNSUPPORTED)
    counted = list(tally.tally(found, "numa").values())
    return Outcome(
        found.meta.host, plan,
        Figures(counted[0], replayed.recorded_scans, 0, 0, 0,
                100 - 100 * counted[1] / max(counted[0], 1)),
        Figures(replayed.faults, replayed.scans, replayed.sampling_scans, replayed.alarms,
                replayed.held_back, _remote(list(replayed.pages))),
        replayed.spaces, found.meta.lost, tuple(found.meta.policies))
