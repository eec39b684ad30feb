# SPDX-License-Identifier: GPL-2.0-only
"""The sides of a comparison: the kernel as it is, and the pcp policy in each mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench import guest
from tests.kernels import Image
from tests.report import ToolError, say

BASE = "base"
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
