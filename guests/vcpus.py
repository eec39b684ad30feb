# SPDX-License-Identifier: GPL-2.0-only
"""The threads of a guest's CPUs, as the host sees them.

An emulator that was asked for a thread for each CPU may still run one thread for all CPUs, and
the guest could not tell.  The names of the threads show the truth (-name debug-threads=on):
"CPU 1/TCG", "ALL CPUs/TCG", "CPU 1/KVM".
"""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROC = Path("/proc")
PERIOD = 1.0
_CPU = re.compile(r"(CPU \d+|ALL CPUs)/(TCG|KVM)")
_TICKS = os.sysconf("SC_CLK_TCK")


def expected(argument: str, cpus: int) -> set[str]:
    """The names of the threads of a guest with that -accel argument."""
    if argument == "kvm":
        return {f"CPU {number}/KVM" for number in range(cpus)}
    if "thread=multi" in argument:
        return {f"CPU {number}/TCG" for number in range(cpus)}
    return {"ALL CPUs/TCG"}


def emulator_of(word: str) -> Path | None:
    """The process of qemu that has the word on its command line."""
    for folder in PROC.glob("[0-9]*"):
        # The process may have ended.
        with suppress(OSError):
            name = (folder / "comm").read_text(encoding="utf-8")
            if name.startswith("qemu-system-") and (
                    word.encode() in (folder / "cmdline").read_bytes()):
                return folder
    return None


def cpu_threads(process: Path) -> dict[str, float]:
    """The CPU threads of a process, and the seconds that each thread ran."""
    found = {}
    for folder in (process / "task").glob("[0-9]*"):
        with suppress(OSError):
            text = (folder / "stat").read_text(encoding="utf-8")
            name, _, rest = text.partition("(")[2].rpartition(")")
            if _CPU.fullmatch(name):
                words = rest.split()
                found[name] = (int(words[11]) + int(words[12])) / _TICKS
    return found


class Watch:
    """Looks at the threads of a guest every second until the guest ends."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self.seconds: dict[str, float] = {}

    def _look(self, word: str) -> None:
        process = None
        while not self._stop.wait(PERIOD):
            process = process or emulator_of(word)
            if process:
                self.seconds.update(cpu_threads(process))

    @contextmanager
    def looking_at(self, word: str) -> Iterator[None]:
        """While the guest runs that has the word on the command line of its emulator."""
        thread = threading.Thread(target=self._look, args=(word,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def note(self) -> str:
        """The threads seen, in words."""
        rows = sorted(self.seconds.items())
        seen = ", ".join(f"{name} ran {spent:.0f} s" for name, spent in rows)
        return f"threads of the emulator: {seen or 'none seen'}"

    def wrong(self, argument: str, cpus: int) -> str:
        """How the threads differ from those of the requested emulator, or ""."""
        wanted = expected(argument, cpus)
        if set(self.seconds) == wanted:
            return ""
        return f"{self.note()}; {argument} with {cpus} CPUs has {', '.join(sorted(wanted))}"
