# SPDX-License-Identifier: GPL-2.0-only
"""What all benches share: a policy, its parts that are measured, and rows that compare sides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench import guest
from bench.table import Row
from guests.kernels import Image
from guests.report import BUILD, ROOT, ToolError, say

# The sides of a comparison: the kernel as it is, and a policy.
BASE = "base"
POLICY = "policy"
# Nothing is loaded with these knobs, and the base is measured against itself: that shows
# what is noise.
IDLE_CONFIG = "enabled=0"
# Of a pageblock on x86, 2 MiB.
BLOCK_ORDER = 9


@dataclass(frozen=True)
class Task:
    """What a part of a bench is to measure, and the policy's steps in the plan for it.

    config  knobs, as the policy's file `config` takes them
    names   those of --only that are wanted of the part, in order and as often
    quick   a few rows are enough
    """

    image: Image
    bench: Bench
    config: str
    names: Sequence[str] = ()
    quick: bool = False

    @property
    def alone(self) -> bool:
        """Whether the base is measured against itself."""
        return self.config == IDLE_CONFIG

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes to measure."""
        return () if self.alone else self.bench.chosen(self.config)

    @property
    def mode(self) -> str:
        """The one mode to measure; "" if the base is measured against itself."""
        return self.modes[-1] if self.modes else ""

    def path(self, name: str) -> str:
        """A file of the policy."""
        return f"{guest.DEBUGFS}/{self.bench.name}/{name}"

    def load_module(self, plan: guest.Plan) -> None:
        """Load livemm; every policy is off then."""
        if not self.alone:
            module = BUILD / self.image.release / "livemm.ko"
            if not module.exists():
                raise ToolError(f"{module.relative_to(ROOT)}: not there; run `make modules`")
            plan.add("modprobe", "modprobe livemm", module="livemm")

    def configure(self, plan: guest.Plan, text: str) -> None:
        """Write to the policy's `config`, and wait for its livepatch."""
        plan.add("write", f"{self.bench.name} {text}", path=self.path("config"), text=text, up=1)

    def read(self, plan: guest.Plan, name: str, load: str) -> None:
        """Read a file of the policy; the text goes with the result of a load."""
        step = f"{name} {load}"
        plan.add("read", step, path=self.path(name))

        def keep(results: guest.Results) -> None:
            results[load].setdefault("policy", {})[name] = results[step]["text"]

        plan.checks.append(keep)

    def enable(self, plan: guest.Plan, run: str = "", mode: str = "") -> None:
        """Switch the policy on; results of the plan without the policy in force are refused.

        run     keeps runs apart
        mode    default: the one mode to measure
        """
        mode = mode or self.mode
        knobs = [word for word in self.config.split(",")
                 if word and not word.startswith("mode=")]
        if self.bench.has_modes:
            knobs.insert(0, f"mode={mode}")
        self.configure(plan, ",".join(["enabled=1", *knobs]))
        for name in ("status", "hooks"):
            plan.add("read", f"{name}{run}", path=f"{guest.DEBUGFS}/{name}")

        def check(results: guest.Results) -> None:
            status, hooks = (results[f"{name}{run}"]["text"] for name in ("status", "hooks"))
            lines = [line.split() for line in status.splitlines()]
            there = f"{self.image.name}: {self.bench.name} is"
            shown = mode if self.bench.has_modes else "-"
            if not any(words[:3] == [self.bench.name, "on", shown] for words in lines):
                raise ToolError(f"{there} not on in mode {mode}: {status.strip()}")
            if not any("armed" in line.split() for line in hooks.splitlines()):
                raise ToolError(f"{there} on in mode {mode}, but no hook is armed")

        plan.checks.append(check)

    @contextmanager
    def on(self, plan: guest.Plan, run: str = "", mode: str = "") -> Iterator[None]:
        """The steps within are carried out with the policy on, see enable()."""
        self.enable(plan, run, mode)
        yield
        # What the policy changed is back before the write returns.
        self.configure(plan, "enabled=0")


@dataclass(frozen=True)
class Part:
    """A part of a bench.

    names   of --only: all that this part measures
    rows    measures those that the task names
    words   for progress; "": the names
    """

    names: Sequence[str]
    rows: Callable[[Task], list[Row]]
    words: str = ""


@dataclass(frozen=True)
class Bench:
    """What is measured of a policy.

    modes   all modes
    usual   those to measure when the knobs name none
    quick   the names that --quick measures, on the first kernel
    long    the names that take long, and are measured only where --only has them
    kernel  the built kernel to measure on, which no package has; "": stock ones
    stock   the stock kernels that may be named instead of the built one
    idle    IDLE_CONFIG is understood
    has_modes   the policy has modes; else the one of `modes` is only what rows are called
    """

    name: str
    modes: tuple[str, ...]
    usual: tuple[str, ...]
    parts: Sequence[Part]
    quick: tuple[str, ...]
    long: tuple[str, ...] = ()
    kernel: str = ""
    stock: tuple[str, ...] = ()
    idle: bool = False
    has_modes: bool = True

    @property
    def names(self) -> list[str]:
        """What --only takes."""
        return [name for part in self.parts for name in part.names]

    def chosen(self, config: str) -> tuple[str, ...]:
        """The modes that the knobs name, else the usual."""
        named = [word.partition("=")[2] for word in config.split(",") if word.startswith("mode=")]
        for mode in named:
            if mode not in self.modes:
                raise ToolError(f"mode={mode}: not in {', '.join(self.modes)}")
        return tuple(named) or self.usual

    def measure(self, images: Sequence[Image], quick: bool, config: str,
                only: Sequence[str]) -> list[Row]:
        """Every row, or those of the parts named."""
        if config == IDLE_CONFIG and not self.idle:
            raise ToolError(f"--config {config}: {self.name} must be on")
        # A mode that is none is refused before anything is built.
        self.chosen(config)
        usual = [name for name in self.names if name not in self.long]
        chosen = self.quick if quick else only or usual
        rows = []
        for image in images[:1] if quick else images:
            for part in self.parts:
                names = [name for name in chosen if name in part.names]
                if names:
                    words = part.words or ", ".join(dict.fromkeys(names))
                    say(f"---- {self.name} on {image.name}: {words}")
                    rows += part.rows(Task(image, self, config, names, quick))
        return rows


def events(*names: str) -> Callable[[guest.Result], float]:
    """Sum of lines of /proc/vmstat; of all that begin so, for a name with "_" at its end."""
    whole = tuple(name for name in names if name.endswith("_"))
    return lambda result: float(sum(
        count for line, count in result["events"].items()
        if line in names or line.startswith(whole)
    ))


def fallbacks(mix: bool = True, into: Sequence[int] = ()) -> Callable[[guest.Result], float]:
    """Fall-backs.

    mix     only those below the order of a block, which mix types
    into    only those into blocks of these types
    """
    return lambda result: float(sum(
        row["hits"] for row in result["extfrag"]
        if (row["fallback_order"] < BLOCK_ORDER or not mix)
        and (row["fallback_migratetype"] in into or not into)
    ))


def fail_rate(result: guest.Result) -> float:
    """Percent of huge faults that got small pages."""
    failed = result["events"]["thp_fault_fallback"]
    return float(100 * failed / max(failed + result["events"]["thp_fault_alloc"], 1))


def huge_missing(result: guest.Result) -> float:
    """Huge pages that were not to be had afterwards, of all memory."""
    return float(result["huge"]["asked"] - result["huge"]["got"])


# What a policy's mean may be above a claim, by chance: of the runs of the base and of the policy.
Chance = Callable[[Sequence[float], Sequence[float]], float]


def exact(_base: Sequence[float], _policy: Sequence[float]) -> float:
    """Nothing besides the claim."""
    return 0.0


def spread(base: Sequence[float], _policy: Sequence[float]) -> float:
    """By which runs of the base differ among themselves."""
    return max(base) - min(base)


def two_errors(base: Sequence[float], _policy: Sequence[float]) -> float:
    """Two standard errors of the base's runs."""
    return 2 * statistics.stdev(base) / len(base) ** 0.5 if len(base) > 1 else 0.0


# Student's t, two-sided 95 %, by degrees of freedom; from 9 on the last, which is cautious.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
# With fewer runs a side the interval says nothing.
INTERVAL_RUNS = 5


def never_more(base: Sequence[float], policy: Sequence[float]) -> float:
    """What keeps the upper end of the difference's 95 % confidence interval within 1 % of the base.

    With few runs, what the base's runs differ by.
    """
    fewest = min(len(base), len(policy))
    if fewest < INTERVAL_RUNS:
        return spread(base, policy)
    error = math.sqrt(sum(statistics.variance(runs) / len(runs) for runs in (base, policy)))
    return statistics.fmean(base) / 100 - student(fewest) * error


def never_more_paired(base: Sequence[float], policy: Sequence[float]) -> float:
    """As never_more(), for runs in turns: what the runs of a turn share does not count."""
    more = [after - before for before, after in zip(base, policy, strict=True)]
    error = statistics.stdev(more) / math.sqrt(len(more))
    return statistics.fmean(base) / 100 - student(len(more)) * error


def student(runs: int) -> float:
    """Student's factor of a 95 % interval of a mean of so many runs."""
    return STUDENT[min(runs - 1, len(STUDENT)) - 1]


@dataclass(frozen=True)
class Metric:
    """A figure of a run; less is better.

    words   how the tables call it
    value   of a result; None: not there
    claim   the highest acceptable share of the base's mean; None: nothing claimed
    chance  what is acceptable besides
    kernel  the one kernel that the claim is about; "": every kernel
    most    the highest acceptable mean whatever the base, by kernel; "": of the others
    """

    words: str
    value: Callable[[guest.Result], float | None]
    claim: float | None = None
    chance: Chance = exact
    kernel: str = ""
    most: Mapping[str, float] = field(default_factory=dict)

    def values(self, runs: Sequence[guest.Result]) -> list[float]:
        """The figure of each run that has one."""
        return [value for run in runs if (value := self.value(run)) is not None]

    def limit(self, kernel: str, base: Sequence[float], policy: Sequence[float]) -> float | None:
        """The highest acceptable mean."""
        limits = [most for name, most in self.most.items()
                  if name == kernel or not name and kernel not in self.most]
        if self.claim is not None and self.kernel in ("", kernel):
            limits.append(statistics.fmean(base) * self.claim + self.chance(base, policy))
        return min(limits, default=None)


def rows_of(
    image: Image, words: str, metrics: Sequence[Metric], mode: str,
    runs: Mapping[str, Sequence[guest.Result]], base: str = BASE, held: str = POLICY,
) -> list[Row]:
    """Rows for each figure, of every side beside the base: means of runs.

    The side `held` is held to the limits.  The first row carries the runs in its detail.
    """
    rows: list[Row] = []
    for metric in metrics:
        found = {side: metric.values(results) for side, results in runs.items()}
        if not all(found.values()):
            continue
        for side, values in found.items():
            if side == base:
                continue
            limit = metric.limit(image.name, found[base], values) if side == held else None
            detail = {**found, **({} if rows else {"runs": runs})}
            rows.append(Row(image.name, words, metric.words, statistics.fmean(found[base]),
                            statistics.fmean(values), limit,
                            mode if side == POLICY else side, detail))
    return rows
