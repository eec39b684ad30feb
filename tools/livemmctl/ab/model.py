# SPDX-License-Identifier: GPL-2.0-only
"""What an experiment is, once its file has been read and found sound."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from livemmctl.control import Settings

#: Policies that leave their mark on physical memory when they go off: which blocks are
#: mixed, where pages lie.  The next block of time would inherit it from the last.
LASTING_POLICIES = ("pageblock", "cma")

#: How often a report may be looked at before the time is over.
ANY_TIME, AT_END = "any", "end"

HOST = "host"
SWITCHBACK = "switchback"


@dataclass(frozen=True)
class Source:
    """Where a number comes from on a host.

    kind: counter (`policy/name` of livemm), vmstat (a field, or several with `+`),
    psi (`memory/full`; seconds stalled), command (what it prints).
    """

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.what}"


@dataclass(frozen=True)
class Metric:
    """A number to compare.

    kind: rate (growth of a counter, per second), mean (of a level), ratio (growth of a
    counter per growth of another, `per`), quantile (of a level, or of a rate, over time
    and hosts), count (events that are rare on a host: growth per second, as counts).
    """

    name: str
    kind: str
    source: Source
    per: Source | None = None
    #: 0..1, for kind quantile.
    quantile: float = 0.5
    #: Is `source` a counter that grows, as opposed to a level?
    grows: bool = True
    #: less or more: which way is good.
    better: str = "less"
    #: The smallest effect worth seeing, in percent of control.
    detect_pct: float = 1.0
    #: How much worse than control is still no harm, in percent of control; None: not asked.
    margin_pct: float | None = None
    #: PromQL for `source` and `per`, where the fleet has them under other names.
    promql: str = ""
    per_promql: str = ""


@dataclass(frozen=True)
class Arm:
    name: str
    #: Share of the hosts that take part; all arms' together are 1.
    weight: float
    #: What differs from stock, by policy and knob; empty is stock.
    settings: Settings


@dataclass(frozen=True)
class Ramp:
    percents: tuple[float, ...] = (100.0,)
    every_s: float = 0.0
    #: By how much each step's margins are wider: few hosts cannot show a small one.
    margin_times: tuple[float, ...] = (1.0,)
    #: Series of kernels, 6.12 for one, whose hosts take all steps one after the other; empty: all
    #: hosts take each step together.
    kernels: tuple[str, ...] = ()

    def percent_at(self, kernel: str, percent: float, mine: str) -> float:
        """How many of the hosts of kernel `mine` take part while `kernel` is at `percent`."""
        if not self.kernels:
            return percent
        if mine not in self.kernels or kernel not in self.kernels:
            return 0.0
        ahead = self.kernels.index(kernel) - self.kernels.index(mine)
        return self.percents[-1] if ahead > 0 else percent if ahead == 0 else 0.0


@dataclass(frozen=True)
class GatePlan:
    """A ramp whose steps are decided, not timed."""

    #: A path, or an http(s) address.
    decision: str
    #: Whose signatures count, in the form of ssh-keygen's allowed signers.
    signers: str
    #: Without news for so long, a host goes to stock until there is news; 0: it stays.
    lease_s: float = 0.0


@dataclass(frozen=True)
class Switchback:
    block_s: float
    #: The first part of each block, which is thrown away.
    washout_s: float
    seed: int


@dataclass(frozen=True)
class Guardrails:
    """Bounds of a host's health; None: not watched.

    Shares and rates are over the last `window_s`; oom_kills is a number of them since
    the host joined.
    """

    allocation_stalls_per_s: float | None = 100.0
    oom_kills: float | None = 0.0
    psi_memory_full_pct: float | None = 10.0
    thp_fallback_pct: float | None = None
    taint: bool = True
    #: The host went down while an arm was on, and the runner was not told to end before.
    went_down: bool = True
    window_s: float = 60.0


@dataclass(frozen=True)
class Experiment:
    """A whole experiment; `digest` stands for the text that it was read from."""

    name: str
    salt: str
    mode: str
    arms: tuple[Arm, ...]
    control: str
    metrics: tuple[Metric, ...]
    duration_s: float
    tick_s: float
    lease_s: int
    #: Seconds since 1970; None: when the runner starts.
    start_s: float | None = None
    baseline_s: float = 0.0
    strata: tuple[str, ...] = ()
    ramp: Ramp = field(default_factory=Ramp)
    #: None: hosts follow the ramp by their clocks.
    gate: GatePlan | None = None
    switchback: Switchback | None = None
    guardrails: Guardrails = field(default_factory=Guardrails)
    correction: str = "holm"
    #: ANY_TIME: intervals hold at all looks together; AT_END: at the one look at the end.
    looks: str = ANY_TIME
    #: Weights that were in force before, oldest first, by arm.
    previous_weights: tuple[Mapping[str, float], ...] = ()
    digest: str = ""

    @property
    def treatments(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.arms if arm.name != self.control)

    def arm(self, name: str) -> Arm:
        return {arm.name: arm for arm in self.arms}[name]

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every source that a metric needs, once each."""
        wanted = [s for m in self.metrics for s in (m.source, m.per) if s is not None]
        return tuple(dict.fromkeys(wanted))
