# SPDX-License-Identifier: GPL-2.0-only
"""Movable blocks that a recorded host mixed, and how many of them pageblock would mix, too."""

from dataclasses import dataclass
from typing import Any

from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.whatif import library
from livemmctl.whatif.predict import Plan, doubts, page, wanted
from livemmctl.whatif.rows import Events

MODES = ("claim", "strict")
#: Settings that the replay does not know, and the values that it stands for.
FIXED = {"mode": MODES, "move_pages_per_s": ("0",), "buffers": ("0",)}


@dataclass(frozen=True)
class Outcome:
    """Counts of the recording; *_at_once: of these, what the policy would not even delay."""

    host: str
    plan: Plan
    mixes: int
    mixes_at_once: int
    blocks: int
    blocks_at_once: int
    lost: int
    on: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return {"policies": self.plan, "events_lost": self.lost, "recorded_with": list(self.on),
                "recorded": {"mixes": self.mixes, "blocks": self.blocks},
                "predicted": {"blocks_least": self.blocks_at_once, "blocks_most": self.blocks,
                              "mixes_at_once": self.mixes_at_once}}

    def text(self) -> str:
        rows = [("movable blocks that were mixed", f"{self.blocks}",
                 f"{self.blocks_at_once} to {self.blocks}"),
                ("mixes, of all types", f"{self.mixes}", f"{self.mixes_at_once} at once")]
        said = [f"{self.host}: a mix that is refused at first is made after reclaim, or not; which "
                "is not recorded"]
        said += doubts(self.on, self.lost)
        return page(said, self.plan, rows)


def predict(found: Events, plan: Plan) -> Outcome:
    chosen = {"move_pages_per_s", "buffers"}.intersection(plan["pageblock"])
    if len(chosen) < 2:
        raise CtlError("pageblock is not predicted with its worker, nor with buffers=1: which "
                       "pages could leave a block, and which are of buffers, is not recorded; "
                       "say --set move_pages_per_s=0 --set buffers=0", Exit.UNSUPPORTED)
    knobs = wanted(plan, "pageblock", FIXED)
    if not found.meta.zones:
        raise CtlError("pageblock: the recording does not say where zones are; record again",
                       Exit.UNSUPPORTED)
    try:
        config = library.Mix(mode=MODES.index(knobs["mode"]),
                             max_attempts=int(knobs["max_attempts"]))
    except ValueError as error:
        raise UsageError(f"pageblock: {error}") from None
    made = library.replay_mix(found.rows, found.meta.zones, config)
    return Outcome(found.meta.host, plan, made.mixes, made.mixes_at_once, made.blocks,
                   made.blocks_at_once, found.meta.lost, tuple(found.meta.policies))
