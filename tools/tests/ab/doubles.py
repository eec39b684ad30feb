# SPDX-License-Identifier: GPL-2.0-only
"""A clock that is turned by hand, a host whose numbers move, and experiments to run on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest
from fake_tree import FakeHost, FakeKernel
from livemmctl.ab.assign import arm_of, host_id
from livemmctl.ab.experiment import parse_experiment
from livemmctl.ab.journal import Record, read_journal
from livemmctl.ab.model import Experiment
from livemmctl.ab.runner import Outcome
from livemmctl.ab.session import run_here
from livemmctl.control import DEBUGFS, PARAMETERS
from livemmctl.host import Host

START_S = 1_800_000_000.0


@dataclass
class HandClock:
    """Waiting moves it on; `each` is called with the seconds that pass, `at` once, then."""

    each: Callable[[float], None] = lambda seconds: None
    at: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    now_s: float = 0.0
    offset_s: float = START_S
    signal: int | None = None

    def wall(self) -> float:
        return self.offset_s + self.now_s

    def elapsed(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.each(seconds)
        due = [item for item in self.at if item[0] <= self.now_s]
        self.at = [item for item in self.at if item[0] > self.now_s]
        for _, action in due:
            action()

    def told(self) -> int | None:
        return self.signal

    def tell(self, number: int = SIGTERM) -> None:
        self.signal = number


def write_lease(kernel: FakeKernel, text: str) -> None:
    """For FakeKernel.write_lease, which writes every file of the host at every tick."""
    kernel.lease = int(text)
    for name in (f"{PARAMETERS}/lease", f"{DEBUGFS}/lease"):
        kernel.put(name, f"{kernel.lease}\n", 0o600)


def be_quick(patch: pytest.MonkeyPatch) -> None:
    """The disk is not what is tested, and is slow."""
    patch.setattr("os.fsync", lambda descriptor: None)
    patch.setattr(FakeKernel, "write_lease", write_lease)


class World:
    """A host whose counters grow, more or less as a policy is on; and time for it."""

    def __init__(self, host: FakeHost) -> None:
        self.host = host
        self.journal = host.root.parent / "journal.jsonl"
        self.clock = HandClock(self.grow)
        self.counts = {"pgfault": 1000.0, "allocstall_normal": 0.0, "allocstall_movable": 0.0,
                       "oom_kill": 0.0, "thp_fault_alloc": 1000.0, "thp_fault_fallback": 0.0,
                       "nr_free_pages": 300000.0}
        self.pressure_us = 0.0
        #: Growth a second of each, off and on.
        self.rates = {"pgfault": (1000.0, 1100.0)}
        self.ticks = 0
        self.write()

    def is_on(self, policy: str = "pcp") -> bool:
        return self.host.kernel.values.get(policy, {}).get("enabled") == "1"

    def grow(self, seconds: float) -> None:
        self.ticks += 1
        for name, rates in self.rates.items():
            # Some noise that is the same every time.
            noise = 1 + 0.01 * ((self.ticks * 7) % 11 - 5) / 5
            self.counts[name] += rates[self.is_on()] * seconds * noise
        kernel = self.host.kernel
        if kernel.lease:
            kernel.lease = max(kernel.lease - round(seconds), 0)
            if kernel.lease == 0:
                kernel.expire_lease()
            elif self.host.exists(PARAMETERS):
                write_lease(kernel, str(kernel.lease))
        self.write()

    def write(self) -> None:
        text = "".join(f"{name} {int(value)}\n" for name, value in self.counts.items())
        self.host.kernel.put("/proc/vmstat", text)
        self.host.kernel.put(
            "/proc/pressure/memory",
            f"some avg10=0.00 avg60=0.00 avg300=0.00 total={int(self.pressure_us)}\n"
            f"full avg10=0.00 avg60=0.00 avg300=0.00 total={int(self.pressure_us)}\n")

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        self.clock.at.append((seconds, action))

    def look(self, *seconds: float) -> list[bool]:
        """Fills with whether pcp is on, then."""
        seen: list[bool] = []
        for second in seconds:
            self.later(second, lambda: seen.append(self.is_on()))
        return seen

    def run(self, experiment: Experiment, journal: Path | None = None) -> Outcome:
        """As a new process, which no signal has told to end."""
        self.clock.signal = None
        return run_here(self.host, experiment, Path("file.toml"), journal or self.journal,
                        self.clock, lambda kind, fields: None)

    def records(self, kind: str = "") -> list[Record]:
        return records(self.journal, kind)


def table(mode: str = "switchback", **over: Any) -> dict[str, Any]:
    """An experiment's TOML document; `over` replaces keys, None removes them."""
    made: dict[str, Any] = {
        "name": "trial", "salt": "s", "mode": mode, "duration": "12m", "tick": "5s",
        "control": "off",
        "arms": {"off": {}, "on": {"policy": {"pcp": {"enabled": True, "mode": "event"}}}},
        "metrics": [{"name": "faults", "source": "vmstat:pgfault", "better": "more"}],
    }
    if mode == "switchback":
        made["switchback"] = {"block": "1m", "washout": "10s", "seed": 7}
    made |= over
    return {key: value for key, value in made.items() if value is not None}


def toml(top: str, tables: str = "", metrics: str = "", metric: str = "") -> str:
    """The text of an experiment with the arms off and on: what is given besides, in its place."""
    return f"""\
name = "trial"
salt = "s"
{top}
{tables}
[arms.off]
[arms.on.policy.pcp]
enabled = true
[[metrics]]
name = "faults"
source = "vmstat:pgfault"
{metric}
{metrics}"""


def gated(folder: Path, metric: str = "margin_pct = 2") -> str:
    """A rollout's file; the decision and the signers are in `folder`."""
    return toml("""\
mode = "host"
start = 2027-01-15T08:00:00Z
duration = "14d"
""", f"""\
[ramp]
percent = [1, 5, 100]
every = "1d"
[gate]
decision = "{folder}/decision"
signers = "{folder}/signers"
""", metric=metric)


def experiment(mode: str = "switchback", **over: Any) -> Experiment:
    """The same, read."""
    return parse_experiment(table(mode, **over), "trial.toml", "d1", Path("/nonexistent"), Host())


def is_stock(world: World) -> bool:
    """Everything off, no lease, no arm shown."""
    off = all(knobs["enabled"] == "0" for knobs in world.host.kernel.values.values())
    shown = (world.host.root / "run/livemm/arm.json").exists()
    return off and world.host.kernel.lease == 0 and not shown


def by_host(**over: Any) -> Experiment:
    return experiment("host", **({"duration": "5m"} | over))


def drawn(fits: Callable[[Experiment], bool], **over: Any) -> Experiment:
    """An experiment by host with a salt for which that is so."""
    return next(filter(fits, (by_host(salt=f"s{number}", **over) for number in range(200))))


def in_arm(world: World, arm: str, **over: Any) -> Experiment:
    """An experiment that draws this arm for this host."""
    return drawn(lambda made: arm_of(made, host_id(world.host), {}) == arm, **over)


def records(journal: Path, kind: str = "") -> list[Record]:
    """What a journal holds, of one kind or all."""
    found = read_journal(journal).records
    return [record for record in found if not kind or record["type"] == kind]
