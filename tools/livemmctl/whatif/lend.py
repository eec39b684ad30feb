# SPDX-License-Identifier: GPL-2.0-only
"""Where refills of a recorded host came from, and where they would have come from with cma."""

from dataclasses import dataclass
from typing import Any

from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.whatif import library
from livemmctl.whatif.predict import Plan, doubts, figure_rows, page, wanted
from livemmctl.whatif.rows import Events

MODES = ("ratio", "cma_first", "regular_first", "keep")
#: Settings that the replay does not know, and the values that it stands for.
FIXED = {"mode": MODES, "move_pages_per_s": ("0",)}


@dataclass(frozen=True)
class Figures:
    """Means over all looks, in pages; the share of looks at which regular memory was short."""

    free_cma: float
    free_regular: float
    cma_used_most: int
    short_pct: float


@dataclass(frozen=True)
class Outcome:
    host: str
    plan: Plan
    recorded: Figures
    predicted: Figures
    refills: int
    lent_pages: int
    regular_pages: int
    lost: int
    on: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return {"policies": self.plan, "events_lost": self.lost, "recorded_with": list(self.on),
                "refills": self.refills, "lent_pages": self.lent_pages,
                "regular_pages": self.regular_pages, "recorded": vars(self.recorded),
                "predicted": vars(self.predicted)}

    def text(self) -> str:
        names = {"free pages of CMA memory, mean": "free_cma",
                 "free regular pages, mean": "free_regular",
                 "pages of CMA memory in use, most": "cma_used_most",
                 "looks with regular memory short, %": "short_pct"}
        rows = figure_rows(names, self.recorded, self.predicted)
        rows.append(("pages of refills from CMA memory", "-", f"{self.lent_pages}"))
        rows.append(("pages of refills from regular memory", "-", f"{self.regular_pages}"))
        said = [f"{self.host}: {self.refills} refills of movable pages"]
        said += doubts(self.on, self.lost)
        said.append("kept ranges (keep_ms) and buffers are not replayed; see docs/whatif.md")
        return page(said, self.plan, rows)


def predict(found: Events, plan: Plan) -> Outcome:
    knobs = wanted(plan, "cma", FIXED)
    if knobs["enabled"] == "1" and knobs["move_pages_per_s"] != "0":
        raise CtlError("cma: what the worker moves is not predicted: which pages can be moved is "
                       "not recorded; say --set move_pages_per_s=0", Exit.UNSUPPORTED)
    try:
        config = library.Cma(enabled=int(knobs["enabled"]), mode=MODES.index(knobs["mode"]),
                             cap_pct=int(knobs["cap_pct"]))
    except ValueError as error:
        raise UsageError(f"cma: {error}") from None
    made = library.replay_cma(found.rows, config)
    if not made.looks or not made.refills:
        raise CtlError("cma is not predicted: the recording has no refills of movable pages in a "
                       "zone with CMA memory", Exit.UNSUPPORTED)
    return Outcome(
        found.meta.host, plan,
        Figures(made.recorded_free_cma / made.looks, made.recorded_free_regular / made.looks,
                made.recorded_used_most, 100 * made.recorded_short / made.looks),
        Figures(made.free_cma / made.looks, made.free_regular / made.looks, made.used_most,
                100 * made.short_looks / made.looks),
        made.refills, made.lent_pages, made.regular_pages, found.meta.lost,
        tuple(found.meta.policies))
