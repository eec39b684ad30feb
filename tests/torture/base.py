# SPDX-License-Identifier: GPL-2.0-only
"""What every kind of step needs: the machine, files that are written, programs that are run."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

DEBUGFS = Path("/sys/kernel/debug/livemm")
PARAMETERS = Path("/sys/module/livemm/parameters")
LIVEPATCHES = Path("/sys/kernel/livepatch")
MEMORY_BLOCKS = Path("/sys/devices/system/memory")
SCRATCH = Path("/dev/shm")
# debugfs-docs/livemm: what a write may be refused with.  The last three are the kernel's: livemm is
# not loaded, goes away while the file is open, or goes away while the file is being opened.
REFUSALS = {errno.EOPNOTSUPP, errno.EBUSY, errno.ETIMEDOUT, errno.ECANCELED, errno.EINTR,
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

    knobs  policy -> knob -> words that are legal
    """

    kernel: str
    cpus: int
    nodes: int
    debug: bool
    policies: Sequence[str]
    knobs: Mapping[str, Mapping[str, Sequence[str]]]


@dataclass
class Guest:
    """What run() may know of the guest.

    root     the checkout
    modules  folder of the built modules
    """

    root: Path
    modules: Path
    counts: dict[str, int] = field(default_factory=dict)
    # Held by who takes memory off, or pages as broken: the kernel does not do both.
    memory: threading.Lock = field(default_factory=threading.Lock)
    # Page frame numbers of pages that may be marked as broken for good.
    poisoned: set[int] = field(default_factory=set)

    def count(self, word: str) -> None:
        """One more outcome of a kind."""
        self.counts[word] = self.counts.get(word, 0) + 1


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

    weight  how often the kind is drawn, against the others
    where   whether the kind makes sense on a machine
    """

    weight: int
    run: Callable[..., None]
    draw: Callable[[Random, Machine], list[str]] = nothing
    where: Callable[[Machine], bool] = always
