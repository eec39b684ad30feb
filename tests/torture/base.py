# SPDX-License-Identifier: GPL-2.0-only
"""What every kind of step needs: the machine, files that are written, programs that are run."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

DEBUGFS = Path("/sys/kernel/debug/livemm")
PARAMETERS = Path("/sys/module/livemm/parameters")
LIVEPATCHES = Path("/sys/kernel/livepatch")
MEMORY_BLOCKS = Path("/sys/devices/system/memory")
SCRATCH = Path("/dev/shm")
# Guest seconds until a livepatch has come or gone.  A step with one took 158 s on 6.12 beside six
# busy loops, and more than 300 s in CI.
KLP_LIMIT = 450
# debugfs-docs/livemm: what a write may be refused with.  The last three are the kernel's: livemm is
# not loaded, goes away while the file is open, or goes away while the file is being opened.
REFUSALS = {errno.EOPNOTSUPP, errno.EBUSY, errno.EAGAIN, errno.ECANCELED, errno.EINTR,
            errno.ENOMEM, errno.ENODEV, errno.ENOENT, errno.EIO, errno.ENXIO}
MALFORMED = {errno.EINVAL, errno.ERANGE}
# What the kernel answers when CPUs, memory or settings of its own cannot change now.
KERNEL_REFUSALS = {errno.EBUSY, errno.EINVAL, errno.ENOMEM, errno.EAGAIN, errno.EINTR, errno.EIO,
                   errno.EPERM, errno.ENOENT, errno.ENODEV, errno.ERANGE}


class Wrong(Exception):
    """The step has seen what must not be."""


@dataclass(frozen=True)
class Machine:
    """What draw() may know of the guest.

    cma    memory is reserved for CMA
    knobs  policy -> knob -> words that are legal
    """

    kernel: str
    cpus: int
    nodes: int
    debug: bool
    cma: bool
    policies: Sequence[str]
    knobs: Mapping[str, Mapping[str, Sequence[str]]]


class Beside:
    """Loads that run beside the steps; a step that starts a load does not wait for its end."""

    def __init__(self, most: int, count: Callable[[str], None]) -> None:
        """At most so many loads at once; `count` is told how each has ended."""
        self.most, self.count = most, count
        self.lock = threading.Lock()
        # Name, process and the time at which the load is killed; the oldest first.
        self.running: list[tuple[str, subprocess.Popen[bytes], float]] = []

    def start(self, name: str, words: Sequence[str], seconds: float) -> None:
        """Begin a load.  Where too many run, the oldest is killed: many pages are freed at once."""
        with self.lock:
            self._reap(self.most - 1)
            try:
                process = subprocess.Popen(
                    words, cwd=SCRATCH, stdin=subprocess.DEVNULL, start_new_session=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            except OSError as error:
                # Loads that fork can leave no process id, or no memory, for another process.
                if error.errno not in {errno.EAGAIN, errno.ENOMEM}:
                    raise
                self.count(f"load {name} refused")
                return
            # Steps go before loads; when memory runs out, loads go before the torture.
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PGRP, process.pid, 10)
                Path(f"/proc/{process.pid}/oom_score_adj").write_text("500", encoding="ascii")
            self.running.append((name, process, time.monotonic() + seconds))

    def look(self) -> None:
        """Kill the loads that have had their time."""
        with self.lock:
            self._reap(self.most)

    def wait(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait until every load has ended, or has had its time; `meanwhile` is done on and on."""
        while self.running:
            meanwhile()
            self.look()
            time.sleep(0.05)

    def stop(self) -> None:
        """Kill every load."""
        with self.lock:
            self._reap(0)

    def _reap(self, most: int) -> None:
        left = []
        for at, (name, process, end) in enumerate(self.running):
            status = process.poll()
            if status is None and time.monotonic() < end and len(self.running) - at <= most:
                left.append((name, process, end))
                continue
            if status is None:
                # The load and all it has started.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            self.count(f"load {name} {'killed' if status is None else status}")
        self.running = left


@dataclass
class Guest:
    """What run() may know of the guest.

    root     the checkout
    modules  folder of the built modules
    """

    root: Path
    modules: Path
    cpus: int = 1
    counts: dict[str, int] = field(default_factory=dict)
    counting: threading.Lock = field(default_factory=threading.Lock)
    # Held by who takes memory off, or pages as broken: the kernel does not do both.
    memory: threading.Lock = field(default_factory=threading.Lock)
    # Page frame numbers of pages that may be marked as broken for good.
    poisoned: set[int] = field(default_factory=set)

    def count(self, word: str) -> None:
        """One more outcome of a kind."""
        with self.counting:
            self.counts[word] = self.counts.get(word, 0) + 1

    @cached_property
    def beside(self) -> Beside:
        """The loads of this guest."""
        return Beside(max(2, self.cpus // 2), self.count)


def write(path: Path, text: str, allowed: set[int]) -> int:
    """Write in one call; the errno, 0 for success.  One that is not allowed is Wrong."""
    try:
        handle = os.open(path, os.O_WRONLY)
        try:
            os.write(handle, text.encode("latin-1"))
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in allowed:
            raise Wrong(f"{path}: {text!r}: {error.strerror}") from error
        return error.errno or 0
    return 0


def outcome(error: int) -> str:
    """An errno as a word, for the counts."""
    return errno.errorcode.get(error, "done")


def command(words: Sequence[str | Path], timeout: float = 120) -> int:
    """Run a program to its end, in a folder that can be written; its status."""
    done = subprocess.run([str(word) for word in words], cwd=SCRATCH, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout,
                          check=False)
    return done.returncode


LIBC = ctypes.CDLL(None, use_errno=True)
# Numbers of system calls that the C library has no function for.
DELETE_MODULE, FINIT_MODULE = 176, 313


def start(thread: threading.Thread) -> bool:
    """Start a thread; false where the kernel has no memory for one."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True


def system_call(number: int, *words: object) -> int:
    """The errno of a system call, 0 for success.  A program for the call would take 0.1 s."""
    return ctypes.get_errno() if LIBC.syscall(number, *words) == -1 else 0


def insmod(module: Path, *words: str) -> int:
    """Load a module with parameters; the errno."""
    handle = os.open(module, os.O_RDONLY)
    try:
        return system_call(FINIT_MODULE, handle, " ".join(words).encode("latin-1"), 0)
    finally:
        os.close(handle)


def rmmod(name: str) -> int:
    """Unload a module that nobody uses, as the command rmmod does; the errno."""
    return system_call(DELETE_MODULE, name.encode(), os.O_NONBLOCK)


def stripped(name: str) -> Path:
    """The module that modprobe would load: with what debuggers want, the file is 11 MB long."""
    return Path("/lib/modules") / os.uname().release / "updates" / f"{name}.ko"


@contextlib.contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """A folder of this worker in a file system of the kernel; what uses the folder goes first."""
    folder = parent / f"lmm_{threading.get_native_id()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for _ in range(300):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)
        else:
            folder.rmdir()


def block_pages() -> int:
    """Pages of a block of memory that goes off and on as a whole."""
    text = (MEMORY_BLOCKS / "block_size_bytes").read_text(encoding="ascii")
    return int(text, 16) // 4096


def always(machine: Machine) -> bool:
    return True


def nothing(rnd: Random, machine: Machine) -> list[str]:
    return []


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    weight  how often the kind is drawn in some 100,000 steps.  Kinds that take seconds are drawn
            rarely: a long program has each of them at least once
    where   whether the kind makes sense on a machine
    """

    weight: int
    run: Callable[..., None]
    draw: Callable[[Random, Machine], list[str]] = nothing
    where: Callable[[Machine], bool] = always
