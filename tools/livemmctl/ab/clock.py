# SPDX-License-Identifier: GPL-2.0-only
"""Time, and being told to end while waiting for it."""

import os
import select
import signal
import time
from types import FrameType, TracebackType
from typing import Protocol, Self


class Clock(Protocol):
    """What the runner knows of time; tests bring one of their own."""

    def wall(self) -> float:
        """Seconds since 1970; may jump."""

    def elapsed(self) -> float:
        """Seconds of a clock that never jumps and runs on through suspend."""

    def wait(self, seconds: float) -> None:
        """Until so many seconds have passed, or a signal has come."""

    def told(self) -> int | None:
        """The signal that told us to end, if one has."""


#: `ab stop` ends an experiment on a host for good; the others leave it to be resumed.
STOP_SIGNAL = signal.SIGUSR1
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, STOP_SIGNAL)


class RealClock:
    """The system's clocks; a context in which the ending signals only make `told` say so.

    Signals are noted, not raised: what switches policies is never cut in two.
    """

    def __init__(self) -> None:
        self._told: int | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        self._wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._old_fd = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in ENDING:
            # nohup and the like have us ignore some: they stay ignored.
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._old_fd)
        os.close(self._wake)
        os.close(self._waker)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        # `ab stop` says more than an ordinary end; otherwise the first one counts.
        if self._told is None or number == STOP_SIGNAL:
            self._told = number

    def wall(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wait(self, seconds: float) -> None:
        deadline = self.elapsed() + seconds
        while self._told is None and (left := deadline - self.elapsed()) > 0:
            ready, _, _ = select.select([self._wake], [], [], left)
            if ready:
                os.read(self._wake, 64)

    def told(self) -> int | None:
        return self._told
