# SPDX-License-Identifier: GPL-2.0-only
"""The sides of a comparison, and rows that compare them: the kernel as it is, and a policy."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench import guest
from bench.table import Row
from guests.kernels import Image
from guests.report import ToolError, say

BASE = "base"
POLICY = "policy"
MODES = ("depth", "event")

STATUS = f"{guest.DEBUGFS}/status"
HOOKS = f"{guest.DEBUGFS}/hooks"

# What only a run of a load leaves in its result: one a kind of step.
LOADS = {"pages", "curve", "events"}


def named_modes(config: str, modes: Sequence[str]) -> tuple[str, ...]:
    """The modes that the knobs name, each of which must be one of a policy's."""
    named = [word.partition("=")[2] for word in config.split(",") if word.startswith("mode=")]
    for mode in named:
        if mode not in modes:
            raise ToolError(f"mode={mode}: not in {', '.join(modes)}")
    return tuple(named)


def modes_of(config: str) -> tuple[str, ...]:
    """The modes to measure: the one that the knobs name, else all."""
    return named_modes(config, MODES) or MODES


def check_on(image: Image, status: str, policy: str, mode: str) -> None:
    """Refuse figures of a policy that was not in force, by what `status` said."""
    if not any(line.split()[:3] == [policy, "on", mode] for line in status.splitlines()):
        raise ToolError(f"{image.name}: {policy} is not on in mode {mode}: {status.strip()}")


def check_armed(image: Image, hooks: str, policy: str, mode: str) -> None:
    """Refuse figures of a policy that nothing reaches, by what `hooks` said."""
    if not any("armed" in line.split() for line in hooks.splitlines()):
        raise ToolError(f"{image.name}: {policy} is on in mode {mode}, but no hook is armed")


def values(
    value: Callable[[guest.Result], float | None],
    loads: Mapping[str, Sequence[guest.Result]],
) -> dict[str, list[float]] | None:
    """A figure of each run that has it, by side; None: a side has none."""
    found = {
        side: [got for run in runs if (got := value(run)) is not None]
        for side, runs in loads.items()
    }
    return found if all(found.values()) else None


@dataclass(frozen=True)
class Metric:
    """A figure of a run; less is better.

    words   how the tables call it
    value   of a result; None: not there
    claim   the highest acceptable share of the base; None: nothing claimed
    chance  by which boots of the base differ among themselves is allowed besides
    """

    words: str
    value: Callable[[guest.Result], float | None]
    claim: float | None = None
    chance: bool = False

    def limit(self, base: Sequence[float]) -> float | None:
        """The highest acceptable mean."""
        if self.claim is None:
            return None
        slack = max(base) - min(base) if self.chance else 0.0
        return statistics.fmean(base) * self.claim + slack


def rows_of(
    image: Image, words: str, metrics: Sequence[Metric], base: str, mode: str,
    runs: Mapping[str, Sequence[guest.Result]],
) -> list[Row]:
    """Rows for each figure, of every side beside the base: means of boots."""
    rows: list[Row] = []
    for metric in metrics:
        found = values(metric.value, runs)
        if found is None:
            continue
        for side in found:
            if side == base:
                continue
            limit = metric.limit(found[base]) if side == POLICY else None
            detail = {**found, **({} if rows else {"runs": runs})}
            rows.append(Row(image.name, words, metric.words, statistics.fmean(found[base]),
                            statistics.fmean(found[side]), limit,
                            mode if side == POLICY else side, detail))
    return rows


def load_module(plan: guest.Plan) -> None:
    """Load livemm; every policy is off then."""
    plan.add("modprobe", "modprobe livemm", module="livemm")


def enable(plan: guest.Plan, mode: str, config: str, run: str = "") -> None:
    """Switch pcp on in a mode, and note what came of it; run: one of many in a mode."""
    knobs = [word for word in config.split(",") if word and not word.startswith("mode=")]
    plan.policy("pcp", ",".join(["enabled=1", f"mode={mode}", *knobs]))
    plan.add("read", f"status {mode}{run}", path=STATUS)
    plan.add("read", f"hooks {mode}{run}", path=HOOKS)


def disable(plan: guest.Plan) -> None:
    """Switch pcp off: it puts every list back before the write returns."""
    plan.policy("pcp", "enabled=0")


def check_enabled(image: Image, results: guest.Results, mode: str, run: str = "") -> None:
    """Refuse figures of a policy that was not in force."""
    check_on(image, results[f"status {mode}{run}"]["text"], "pcp", mode)
    check_armed(image, results[f"hooks {mode}{run}"]["text"], "pcp", mode)


def progress(image: Image) -> guest.Show:
    """A line for each run of a load."""

    def show(result: guest.Result) -> None:
        if result.keys() & LOADS:
            say(f"    {image.name}: {result['name']}: done")

    return show
