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

STATUS = f"{guest.DEBUGFS}/status"
HOOKS = f"{guest.DEBUGFS}/hooks"

# What only a run of a load leaves in its result: one a kind of step.
LOADS = {"pages", "curve", "events", "plain"}


def load_module(plan: guest.Plan) -> None:
    """Load livemm; every policy is off then."""
    plan.add("modprobe", "modprobe livemm", module="livemm")


@dataclass(frozen=True)
class Policy:
    """A policy as a bench switches it; figures without the policy in force are refused.

    modes   all modes
    usual   those to measure when the knobs name none
    """

    name: str
    modes: tuple[str, ...]
    usual: tuple[str, ...]

    def chosen(self, config: str) -> tuple[str, ...]:
        """The modes that the knobs name, else the usual."""
        named = [word.partition("=")[2] for word in config.split(",") if word.startswith("mode=")]
        for mode in named:
            if mode not in self.modes:
                raise ToolError(f"mode={mode}: not in {', '.join(self.modes)}")
        return tuple(named) or self.usual

    def mode(self, config: str) -> str:
        """The one mode to measure."""
        return self.chosen(config)[-1]

    def enable(self, plan: guest.Plan, config: str, run: str = "", mode: str = "") -> None:
        """Switch the policy on, and note what came of it; `run` keeps runs apart."""
        knobs = [word for word in config.split(",") if word and not word.startswith("mode=")]
        plan.policy(self.name, ",".join(["enabled=1", f"mode={mode or self.mode(config)}", *knobs]))
        plan.add("read", f"status{run}", path=STATUS)
        plan.add("read", f"hooks{run}", path=HOOKS)

    def disable(self, plan: guest.Plan) -> None:
        """Switch the policy off: what it changed is back before the write returns."""
        plan.policy(self.name, "enabled=0")

    def check(self, image: Image, results: guest.Results, mode: str, run: str = "") -> None:
        """Refuse figures of a policy that was not on, or that nothing reached."""
        status, hooks = (results[f"{name}{run}"]["text"] for name in ("status", "hooks"))
        if not any(line.split()[:3] == [self.name, "on", mode] for line in status.splitlines()):
            raise ToolError(f"{image.name}: {self.name} is not on in mode {mode}: {status.strip()}")
        if not any("armed" in line.split() for line in hooks.splitlines()):
            raise ToolError(f"{image.name}: {self.name} is on in mode {mode}, but no hook is armed")


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


def exact(_base: Sequence[float]) -> float:
    """Nothing besides the claim."""
    return 0.0


def spread(base: Sequence[float]) -> float:
    """By which runs of the base differ among themselves."""
    return max(base) - min(base)


def two_errors(base: Sequence[float]) -> float:
    """Two standard errors of the base's runs."""
    return 2 * statistics.stdev(base) / len(base) ** 0.5 if len(base) > 1 else 0.0


@dataclass(frozen=True)
class Metric:
    """A figure of a run; less is better.

    words   how the tables call it
    value   of a result; None: not there
    claim   the highest acceptable share of the base's mean; None: nothing claimed
    chance  what is acceptable besides, given the runs of the base
    kernel  the one kernel that the claim is about; "": every kernel
    """

    words: str
    value: Callable[[guest.Result], float | None]
    claim: float | None = None
    chance: Callable[[Sequence[float]], float] = exact
    kernel: str = ""

    def limit(self, kernel: str, base: Sequence[float]) -> float | None:
        """The highest acceptable mean."""
        if self.claim is None or self.kernel not in ("", kernel):
            return None
        return statistics.fmean(base) * self.claim + self.chance(base)


def rows_of(
    image: Image, words: str, metrics: Sequence[Metric], mode: str,
    runs: Mapping[str, Sequence[guest.Result]], base: str = BASE,
    more: Mapping[str, object] | None = None,
) -> list[Row]:
    """Rows for each figure, of every side beside the base: means of runs.

    The first row carries the runs, and `more`, in its detail.
    """
    rows: list[Row] = []
    for metric in metrics:
        found = values(metric.value, runs)
        if found is None:
            continue
        for side in found:
            if side == base:
                continue
            limit = metric.limit(image.name, found[base]) if side == POLICY else None
            detail = {**found, **({} if rows else {"runs": runs, **(more or {})})}
            rows.append(Row(image.name, words, metric.words, statistics.fmean(found[base]),
                            statistics.fmean(found[side]), limit,
                            mode if side == POLICY else side, detail))
    return rows


def progress(
    image: Image,
    words: Callable[[guest.Result], str] = lambda run: "done" if run.keys() & LOADS else "",
) -> guest.Show:
    """A line for each run of a load; `words` is empty for other steps."""

    def show(result: guest.Result) -> None:
        if said := words(result):
            say(f"    {image.name}: {result['name']}: {said}")

    return show
