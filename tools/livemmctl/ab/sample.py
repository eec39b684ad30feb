# SPDX-License-Identifier: GPL-2.0-only
"""Reading a host's numbers: those that are compared, and those that guard it."""

import contextlib
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from livemmctl.ab.model import Source
from livemmctl.control import ModuleControl, parse_counters
from livemmctl.errors import CtlError
from livemmctl.host import Host, number_of

VMSTAT = "/proc/vmstat"
TAINTED = "/proc/sys/kernel/tainted"
STALLS_PREFIX = "allocstall_"


@dataclass(frozen=True)
class Health:
    """What the guardrails look at; a number is None where the kernel does not have it."""

    #: Seconds on a clock that never jumps.
    elapsed_s: float
    stalls: int | None
    oom_kills: int | None
    #: Seconds in which all tasks waited for memory.
    psi_full_s: float | None
    thp_faults: int | None
    thp_fallbacks: int | None
    taint: int | None


def parse_pressure(text: str, line: str) -> float | None:
    """Seconds stalled in all, of the line `some` or `full` of a file in /proc/pressure."""
    for words in (row.split() for row in text.splitlines()):
        if words[:1] == [line]:
            for word in words:
                name, _, value = word.partition("=")
                if name == "total" and (number := number_of(value)) is not None:
                    return number / 1e6
    return None


@dataclass(frozen=True)
class Sampler:
    """Reads a host; what cannot be read is left out, never guessed."""

    host: Host
    #: None: there are no counters.
    control: ModuleControl | None
    #: Bounds each command.
    timeout_s: float

    def read(self, sources: Sequence[Source]) -> dict[str, float]:
        """The numbers of those sources that can be read now, by the source's text."""
        vmstat = parse_counters(self.host.read_or(VMSTAT))
        counters: dict[str, dict[str, int]] = {}
        found: dict[str, float] = {}
        for source in sources:
            value = self._one(source, vmstat, counters)
            if value is not None and math.isfinite(value):
                found[str(source)] = value
        return found

    def _one(
        self, source: Source, vmstat: dict[str, int], counters: dict[str, dict[str, int]]
    ) -> float | None:
        if source.kind == "vmstat":
            names = source.what.split("+")
            if all(name in vmstat for name in names):
                return sum(vmstat[name] for name in names)
            return None
        if source.kind == "psi":
            resource, _, line = source.what.partition("/")
            return parse_pressure(self.host.read_or(f"/proc/pressure/{resource}"), line)
        if source.kind == "counter":
            policy, _, name = source.what.partition("/")
            if policy not in counters:
                counters[policy] = self._counters(policy)
            return counters[policy].get(name)
        return self._command(source.what)

    def _counters(self, policy: str) -> dict[str, int]:
        with contextlib.suppress(CtlError):
            return self.control.counters(policy) if self.control else {}
        return {}

    def _command(self, text: str) -> float | None:
        try:
            ran = self.host.run(shlex.split(text), self.timeout_s)
            return float(ran.out.split()[0]) if ran.status == 0 else None
        except (CtlError, ValueError, IndexError):
            return None

    def health(self, elapsed_s: float) -> Health:
        vmstat = parse_counters(self.host.read_or(VMSTAT))
        stalls = [count for name, count in vmstat.items() if name.startswith(STALLS_PREFIX)]
        return Health(
            elapsed_s=elapsed_s,
            stalls=sum(stalls) if stalls else None,
            oom_kills=vmstat.get("oom_kill"),
            psi_full_s=parse_pressure(self.host.read_or("/proc/pressure/memory"), "full"),
            thp_faults=vmstat.get("thp_fault_alloc"),
            thp_fallbacks=vmstat.get("thp_fault_fallback"),
            taint=number_of(self.host.read_or(TAINTED).strip()),
        )
