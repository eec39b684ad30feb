# SPDX-License-Identifier: GPL-2.0-only
"""What a host knows of its rollout: the last decision that it could read and believe.

A host never waits for news: a server or a mount that does not answer costs a part of a tick.
"""

import http.client
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from livemmctl.ab.decision import FILE_MAX_BYTES, Decision, verified
from livemmctl.ab.model import GatePlan, Ramp
from livemmctl.errors import os_words

#: A decision from further ahead is of a clock that is wrong, ours or theirs.
AHEAD_MOST_S = 300.0


def fetch(source: str, timeout_s: float) -> bytes:
    """The bytes of a file or of an http(s) address.  Raises ValueError in words."""
    try:
        if "://" not in source:
            with Path(source).open("rb") as file:
                return file.read(FILE_MAX_BYTES + 1)
        with urllib.request.urlopen(source, timeout=timeout_s) as answer:
            data: bytes = answer.read(FILE_MAX_BYTES + 1)
            return data
    except urllib.error.HTTPError as error:
        error.close()
        raise ValueError(f"{source}: HTTP {error.code}") from None
    except (http.client.HTTPException, ValueError) as error:
        raise ValueError(f"{source}: {type(error).__name__}") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        words = os_words(reason) if isinstance(reason, OSError) else str(reason)
        raise ValueError(f"{source}: {words}") from None


class Fetcher:
    """Asks for a decision, and does not wait longer than it is told to.

    A thread asks, as neither a mount that hangs nor a server that sends a byte every second
    can be bounded otherwise.  One that does not come back is waited for at the next look, and no
    other is started.
    """

    def __init__(self, source: str, timeout_s: float) -> None:
        self.source = source
        self.timeout_s = timeout_s
        self._asking: Thread | None = None
        self._answer: bytes | ValueError | None = None

    def ask(self) -> bytes:
        """The bytes that came.  Raises ValueError in words."""
        if self._asking is None:
            self._answer = None
            asking = Thread(target=self._ask, name="livemm-gate", daemon=True)
            try:
                asking.start()
            except RuntimeError as error:
                raise ValueError(f"{self.source}: {error}") from None
            self._asking = asking
        self._asking.join(self.timeout_s)
        if self._asking.is_alive():
            raise ValueError(f"{self.source}: no answer in {self.timeout_s:g} s")
        self._asking = None
        if isinstance(self._answer, bytes):
            return self._answer
        raise self._answer or ValueError(f"{self.source}: cannot be read")

    def _ask(self) -> None:
        try:
            self._answer = fetch(self.source, self.timeout_s)
        except ValueError as error:
            self._answer = error


@dataclass
class Gate:
    """The decisions of one rollout, as one host reads them."""

    plan: GatePlan
    experiment: str
    fetcher: Fetcher
    ramp: Ramp
    #: The host's kernel series, where kernels come one after the other; else empty.
    kernel: str
    #: Of earlier runners: the last decision believed, how much of the hosts of this kernel took
    #: part, and when the host last had news.
    serial: int = 0
    percent: float = 0.0
    heard_s: float = 0.0
    #: Why the last look brought no news; empty: it did.
    words: str = ""

    def look(self, wall_s: float) -> Decision | None:
        """A decision that is new, or None; `words`, `heard_s` and the rest follow."""
        found = None
        self.words = ""
        try:
            found = verified(self.fetcher.ask(), Path(self.plan.signers))
            if found.experiment != self.experiment:
                raise ValueError(f"a decision about {found.experiment!r}")
            # Halt is for good, whatever the clocks say, and whoever lost count of decisions.
            if found.at_s > wall_s + AHEAD_MOST_S and not found.halt:
                raise ValueError("a decision from the future: one of two clocks is wrong")
        except ValueError as error:
            self.words = str(error)
            return None
        # What was said last is what counts; an old file that is served again is no news.
        self.heard_s = max(self.heard_s, min(found.at_s, wall_s))
        if found.serial < self.serial and not found.halt:
            return None
        # Of the last decision too: the host may have another kernel now.
        self.percent = max(self.percent, self.ramp.percent_at(
            found.kernel, found.percent, self.kernel))
        if found.serial == self.serial and not found.halt:
            return None
        self.serial = max(self.serial, found.serial)
        return found

    def is_quiet(self, wall_s: float) -> bool:
        """Has the host been without news for longer than the rollout's lease allows?"""
        return 0 < self.plan.lease_s < wall_s - self.heard_s
