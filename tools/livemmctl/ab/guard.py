# SPDX-License-Identifier: GPL-2.0-only
"""Guardrails: is this host still well?  Decided from its own numbers, without a network.

A burst counts against the whole window: what happened is divided by the window's length,
not by the time since the arm began.  So a bad start is seen at the first tick, and one
small hiccup in the first second is not taken for a storm.
"""

from collections import deque
from dataclasses import dataclass

from livemmctl.ab.model import Guardrails
from livemmctl.ab.sample import Health
from livemmctl.modules import TAINTS

#: With fewer THP faults in a window their share means nothing.
THP_FAULTS_LEAST = 100


@dataclass(frozen=True)
class Trip:
    guard: str
    seen: float
    limit: float
    words: str


def taint_bits(mask: int) -> set[int]:
    """The bits of a taint mask, without those that livemm itself may set."""
    return {bit for bit in range(mask.bit_length()) if mask >> bit & 1} - TAINTS.keys()


def unreadable(limits: Guardrails, health: Health) -> list[str]:
    """Keys of guardrails that are set, and that this kernel gives no number for."""
    wanted = {
        "allocation_stalls_per_s": (limits.allocation_stalls_per_s, health.stalls),
        "oom_kills": (limits.oom_kills, health.oom_kills),
        "psi_memory_full_pct": (limits.psi_memory_full_pct, health.psi_full_s),
        "thp_fallback_pct": (limits.thp_fallback_pct, health.thp_fallbacks),
        "taint": (1.0 if limits.taint else None, health.taint),
    }
    return [key for key, (limit, seen) in wanted.items() if limit is not None and seen is None]


class Guard:
    def __init__(self, limits: Guardrails, joined: Health) -> None:
        """`joined` is how the host was before anything was switched on."""
        self.limits = limits
        self._joined = joined
        self._seen = deque([joined])

    def begin(self, now: Health) -> None:
        """Another arm begins: the windows start afresh.  OOM kills and taint stay counted."""
        self._seen = deque([now])

    def check(self, now: Health) -> Trip | None:
        """The first guardrail that `now` passes; None: the host is well."""
        blind = unreadable(self.limits, now)
        if blind:
            return Trip(blind[0], 0.0, 0.0, f"{blind[0]} can no longer be read")
        window_s = self.limits.window_s
        self._seen.append(now)
        # The last look at or before the window's begin stays, however long ago it was.
        while len(self._seen) > 1 and now.elapsed_s - self._seen[1].elapsed_s >= window_s:
            self._seen.popleft()
        return self._taint(now) or self._oom(now) or self._window(self._seen[0], now)

    def _taint(self, now: Health) -> Trip | None:
        new = taint_bits(now.taint or 0) - taint_bits(self._joined.taint or 0)
        if not self.limits.taint or not new:
            return None
        words = f"the kernel has a new taint bit: {', '.join(map(str, sorted(new)))}"
        return Trip("taint", float(min(new)), 0.0, words)

    def _oom(self, now: Health) -> Trip | None:
        kills = (now.oom_kills or 0) - (self._joined.oom_kills or 0)
        limit = self.limits.oom_kills
        if limit is None or kills <= limit:
            return None
        return Trip("oom_kills", kills, limit, f"{kills} OOM kills since the host joined")

    def _window(self, first: Health, now: Health) -> Trip | None:
        window = max(self.limits.window_s, now.elapsed_s - first.elapsed_s)
        stalls = ((now.stalls or 0) - (first.stalls or 0)) / window
        waited = ((now.psi_full_s or 0.0) - (first.psi_full_s or 0.0)) / window * 100
        fallbacks = (now.thp_fallbacks or 0) - (first.thp_fallbacks or 0)
        faults = (now.thp_faults or 0) - (first.thp_faults or 0) + fallbacks
        fell_back = fallbacks / faults * 100 if faults >= THP_FAULTS_LEAST else 0.0
        for name, seen, words in (
            ("allocation_stalls_per_s", stalls, f"{stalls:.1f} allocation stalls a second"),
            ("psi_memory_full_pct", waited,
             f"all tasks waited for memory {waited:.1f} % of the time"),
            ("thp_fallback_pct", fell_back, f"{fell_back:.1f} % of huge page faults fell back"),
        ):
            limit = getattr(self.limits, name)
            if limit is not None and seen > limit:
                return Trip(name, seen, limit, words)
        return None
