# SPDX-License-Identifier: GPL-2.0-only
"""Steps that misuse livemm's files: what is written, where in the file, and by which calls."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import select
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from tests.torture.base import (
    DEBUGFS,
    LIBC,
    MALFORMED,
    PARAMETERS,
    REFUSALS,
    Guest,
    Kind,
    Machine,
    Wrong,
    outcome,
    start,
)

PAGE = 4096
# The text of this file is the same as long as livemm is loaded, and after livemm is loaded again.
STEADY = "version"


def writable(rnd: Random, machine: Machine) -> str:
    """A file that can be written, of debugfs or a parameter of the module."""
    policy = rnd.choice(machine.policies)
    knob = rnd.choice(list(machine.knobs[policy]))
    return str(rnd.choice([DEBUGFS / "lease", DEBUGFS / policy / "enabled",
                           DEBUGFS / policy / "config", DEBUGFS / policy / knob,
                           PARAMETERS / "policies", PARAMETERS / "lease"]))


def readable(rnd: Random, machine: Machine) -> str:
    """A file that can be read."""
    policy = rnd.choice(machine.policies)
    return str(rnd.choice([DEBUGFS / STEADY, DEBUGFS / "hooks", DEBUGFS / policy / "config",
                           DEBUGFS / policy / "counters", DEBUGFS / policy / "state",
                           PARAMETERS / "policies"]))


@contextlib.contextmanager
def opened(path: str, flags: int) -> Iterator[int]:
    """An open file; the descriptor is closed in the end."""
    handle = os.open(path, flags)
    try:
        yield handle
    finally:
        os.close(handle)


def attempt(call: Callable[[], object], allowed: set[int], what: str) -> int:
    """The errno of a call, 0 for success.  One that is not allowed is Wrong."""
    try:
        call()
    except OSError as error:
        if error.errno not in allowed:
            raise Wrong(f"{what}: {error.strerror}") from error
        return error.errno or 0
    return 0


# ---- what is written

ALPHABETS = {
    "bytes": [bytes([byte]) for byte in range(256)],
    "digits": [bytes([byte]) for byte in b"0123456789.-+"],
    "grammar": [b"=", b",", b" ", b";", b":", b"\n", b"\0", b"0", b"1", b"enabled", b"mode",
                b"pcp", b"numa", b"zonelock", b"pageblock", b"cma", b"period_ms", b"%s", b"/"],
}
# Around the limits of the files: no text, one page, more than one page, and much more.
SIZES = [0, 1, 2, 7, 63, 64, 511, PAGE - 1, PAGE, PAGE + 1, 65536, 1 << 20]


def draw_bytes(rnd: Random, machine: Machine) -> list[str]:
    return [writable(rnd, machine), rnd.choice(list(ALPHABETS)), str(rnd.choice(SIZES)),
            str(rnd.randint(0, 999999))]


def random_text(alphabet: Sequence[bytes], size: int, seed: int) -> bytes:
    """Words of an alphabet, at random; a long text repeats its first page."""
    words = Random(seed).choices(alphabet, k=min(size, PAGE))
    text = b"".join(words) or b" "
    return (text * (size // len(text) + 1))[:size]


def too_long(path: str, text: bytes) -> bool:
    """Must a file refuse a text?  A parameter ends at the first NUL; a blank one says nothing."""
    if path.startswith("/sys/module/"):
        text = text.partition(b"\0")[0]
        return len(text) > PAGE and bool(text.strip())
    return len(text) > PAGE


def run_bytes(guest: Guest, path: str, alphabet: str, size: str, seed: str) -> None:
    """A text that no administrator writes, in one call."""
    text = random_text(ALPHABETS[alphabet], int(size), int(seed))

    def call() -> None:
        with opened(path, os.O_WRONLY) as handle:
            os.write(handle, text)

    error = attempt(call, REFUSALS | MALFORMED | {errno.E2BIG}, f"{path}: {size} {alphabet}")
    if not error and too_long(path, text):
        raise Wrong(f"{path}: {size} {alphabet} were accepted")
    guest.count(f"bytes {outcome(error)}")


# ---- where in the file

OFFSETS = [1, 2, 100, PAGE - 1, PAGE, 1 << 31, (1 << 63) - 1]
POSITIONS = MALFORMED | {errno.EOVERFLOW, errno.EFBIG, errno.ESPIPE}


def draw_offset(rnd: Random, machine: Machine) -> list[str]:
    how = rnd.choice(["pwrite", "seek", "twice", "read"])
    path = readable(rnd, machine) if how == "read" else \
        str(DEBUGFS / rnd.choice(machine.policies) / rnd.choice(["enabled", "config"]))
    return [how, path, str(rnd.choice(OFFSETS))]


def write_at(how: str, path: str, offset: int) -> None:
    """Write where a setting does not begin: at an offset, or behind a text already written."""
    with opened(path, os.O_RDWR) as handle:
        if how == "pwrite":
            os.pwrite(handle, b"0", offset)
        elif how == "seek":
            os.lseek(handle, offset, os.SEEK_SET)
            os.write(handle, b"0")
        else:
            first = b"enabled=0" if path.endswith("config") else b"0"
            os.write(handle, first)
            os.write(handle, first)


def steady_text() -> bytes:
    """The text of STEADY, or an OSError."""
    with opened(str(DEBUGFS / STEADY), os.O_RDONLY) as handle:
        return os.read(handle, PAGE)


def read_at(path: str, offset: int) -> None:
    """Read from an offset, in ways that must agree."""
    with opened(path, os.O_RDONLY) as handle:
        piece = os.pread(handle, 7, offset)
        os.lseek(handle, offset, os.SEEK_SET)
        again = os.read(handle, 7)
        if path.endswith(STEADY) and not piece == again == steady_text()[offset:offset + 7]:
            raise Wrong(f"{path}: {piece!r} and {again!r} at {offset}")
        for whence in os.SEEK_CUR, os.SEEK_END, os.SEEK_DATA, os.SEEK_HOLE, 99:
            attempt(lambda whence=whence: os.lseek(handle, offset, whence),  # type: ignore[misc]
                    POSITIONS | {errno.ENXIO}, f"{path}: seek {whence}")
            os.read(handle, 3)


def run_offset(guest: Guest, how: str, path: str, offset: str) -> None:
    """Reads and writes that do not begin at the beginning."""
    call = (lambda: read_at(path, int(offset))) if how == "read" else \
        (lambda: write_at(how, path, int(offset)))
    error = attempt(call, REFUSALS | POSITIONS, f"{path}: {how} at {offset}")
    if not error and how != "read":
        raise Wrong(f"{path}: {how} at {offset} was accepted")
    guest.count(f"offset {how} {outcome(error)}")


# ---- several readers of one open file


def draw_shared(rnd: Random, machine: Machine) -> list[str]:
    path = rnd.choice([str(DEBUGFS / STEADY), readable(rnd, machine)])
    return [path, str(rnd.choice([1, 2, 5, 60])), rnd.choice(["all", "one seeks"])]


def run_shared(guest: Guest, path: str, size: str, how: str) -> None:
    """Threads read one open file in small pieces; together they get each byte once."""
    pieces: list[bytes] = []
    errors: list[OSError] = []
    lacking = 0

    def read(handle: int) -> None:
        try:
            while piece := os.read(handle, int(size)):
                pieces.append(piece)
        except OSError as error:
            errors.append(error)

    def seek(handle: int) -> None:
        for offset in range(20):
            with contextlib.suppress(OSError):
                os.lseek(handle, offset * int(size) % 50, os.SEEK_SET)

    try:
        with opened(path, os.O_RDONLY) as handle:
            threads = [threading.Thread(target=read, args=(handle,)) for _ in range(3)]
            threads += [threading.Thread(target=seek if how != "all" else read, args=(handle,))]
            begun = [thread for thread in threads if start(thread)]
            lacking = len(threads) - len(begun)
            for thread in begun:
                thread.join()
            whole = steady_text() if path.endswith(STEADY) else b""
    except OSError as error:
        errors.append(error)
    for seen in errors:
        if seen.errno not in REFUSALS:
            raise Wrong(f"{path}: {seen.strerror}") from seen
    if errors or lacking:
        guest.count("shared refused")
        return
    got = b"".join(pieces)
    if whole and how == "all" and sorted(got) != sorted(whole):
        raise Wrong(f"{path}: readers got {got!r} of {whole!r}")
    guest.count("shared done")


# ---- calls that the files are not made for

# ENOTTY and ENODEV are the usual answers; the rest are those of the kernel's own checks.
CALL_REFUSALS = REFUSALS | POSITIONS | {errno.ENOTTY, errno.EPERM, errno.EACCES, errno.EBADF,
                                        errno.EFAULT, errno.EXDEV, errno.EISDIR, errno.EEXIST,
                                        errno.ENOTSUP, errno.EAGAIN, errno.ENOSYS}


def libc(name: str, *words: object) -> None:
    """A function of the C library that returns -1 for an error."""
    function = getattr(LIBC, name)
    function.restype = ctypes.c_ssize_t
    if function(*words) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def bad_address(name: str, handle: int) -> None:
    """read() or write() with a buffer that is not there."""
    libc(name, handle, ctypes.c_void_p(8), ctypes.c_size_t(16))


def map_file(handle: int, flags: int) -> None:
    # Python's own mmap would look at the size of the file, which is 0, and never ask the kernel.
    libc("mmap", None, ctypes.c_size_t(PAGE), mmap.PROT_READ, flags, handle, ctypes.c_long(0))


def watch(handle: int) -> None:
    """poll() says at once that a file is ready; epoll refuses files."""
    poll = select.poll()
    poll.register(handle)
    if not poll.poll(60000):
        raise Wrong("poll() waits for a file of livemm")
    with select.epoll() as epoll:
        epoll.register(handle)


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe2(os.O_NONBLOCK)
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def splice_out(handle: int) -> None:
    with pipe() as (_, to):
        os.splice(handle, to, 100)


def splice_in(handle: int) -> None:
    with pipe() as (come, to):
        os.write(to, b"2")
        os.splice(come, handle, 1)


def send(handle: int) -> None:
    with pipe() as (_, to):
        os.sendfile(to, handle, None, 100)


def gather(handle: int) -> None:
    """Each part is a text of its own for the file; none of them is legal."""
    os.writev(handle, [b"2", b"=", b"1"])


def again(handle: int) -> None:
    """Open what is open, in a way that files of block devices know."""
    os.close(os.open(f"/proc/self/fd/{handle}", os.O_RDWR | os.O_DIRECT))


# Calls by name, and whether the call must fail: the file has no such operation.
CALLS: dict[str, tuple[Callable[[int], object], bool]] = {
    "mmap": (lambda handle: map_file(handle, mmap.MAP_SHARED), True),
    "mmap private": (lambda handle: map_file(handle, mmap.MAP_PRIVATE), True),
    "ioctl": (lambda handle: fcntl.ioctl(handle, 0x40045431, bytes(8)), True),
    "ioctl bytes": (lambda handle: fcntl.ioctl(handle, 0x541B, bytes(8)), False),
    # EPERM on 6.1 and 6.12; 7.2 lets any file of debugfs be polled.
    "poll": (watch, False),
    "splice out": (splice_out, True),
    "splice in": (splice_in, True),
    "sendfile": (send, True),
    "copy": (lambda handle: os.copy_file_range(handle, handle, 9, 0, 100), False),
    "writev": (gather, True),
    "read nowhere": (lambda handle: bad_address("read", handle), True),
    "write nowhere": (lambda handle: bad_address("write", handle), True),
    "truncate": (lambda handle: os.ftruncate(handle, 10), False),
    "allocate": (lambda handle: os.posix_fallocate(handle, 0, 100), True),
    "advise": (lambda handle: os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_WILLNEED), False),
    "sync": (os.fsync, False),
    "lock": (lambda handle: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB), False),
    "direct": (again, True),
    "unlink": (lambda handle: os.unlink(os.readlink(f"/proc/self/fd/{handle}")), True),
}


def draw_call(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(list(CALLS)),
            str(DEBUGFS / rnd.choice(machine.policies) / rnd.choice(["enabled", "config"]))]


def run_call(guest: Guest, name: str, path: str) -> None:
    """A system call that no program makes on such a file."""
    call, must_fail = CALLS[name]
    # A file that is away is no answer of the call.
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError as error:
        if error.errno not in REFUSALS:
            raise Wrong(f"{path}: {error.strerror}") from error
        guest.count("call absent")
        return
    try:
        answer = attempt(lambda: call(handle), CALL_REFUSALS, f"{path}: {name}")
    finally:
        os.close(handle)
    if must_fail and not answer:
        raise Wrong(f"{path}: {name} was accepted")
    guest.count(f"call {name} {outcome(answer)}")


# ---- files that are open when livemm goes


def held(guest: Guest, unload: Callable[[], int]) -> int:
    """Unload livemm while files are open, then while paths are held; the last unload()'s status.

    An open file keeps livemm loaded.  A path, a folder and an open parameter do not: what they lead
    to must be gone with livemm.
    """
    try:
        with opened(str(DEBUGFS / "status"), os.O_RDONLY) as status, \
                opened(str(DEBUGFS / "lease"), os.O_WRONLY) as lease:
            os.read(status, 10)
            if not unload():
                raise Wrong("livemm was unloaded while its files were open")
            os.read(status, PAGE)
            os.write(lease, b"0")
        with contextlib.ExitStack() as stack:
            def keep(path: Path, flags: int) -> int:
                return stack.enter_context(opened(str(path), flags))

            folder = keep(DEBUGFS, os.O_RDONLY | os.O_DIRECTORY)
            path = keep(DEBUGFS / "hooks", os.O_PATH)
            parameter = keep(PARAMETERS / "policies", os.O_RDWR)
            if failed := unload():
                guest.count("held in use")
                return failed
            gone = {
                "a path": lambda: os.close(os.open(f"/proc/self/fd/{path}", os.O_RDONLY)),
                "a folder": lambda: os.close(os.open("status", os.O_RDONLY, dir_fd=folder)),
                "a read of a parameter": lambda: os.pread(parameter, 10, 0),
                "a write of a parameter": lambda: os.pwrite(parameter, b"pcp:enabled=0", 0),
            }
            for what, call in gone.items():
                if not attempt(call, REFUSALS, f"livemm is gone: {what}"):
                    raise Wrong(f"livemm is gone, and {what} succeeds")
            # A folder that was removed can still be listed.
            if left := os.listdir(folder):
                raise Wrong(f"livemm is gone, and its folder has {left}")
    except OSError as error:
        if error.errno not in REFUSALS:
            raise Wrong(f"held: {error.strerror}") from error
        guest.count("held absent")
        return unload()
    guest.count("held done")
    return 0


KINDS: dict[str, Kind] = {
    "bytes": Kind(6000, run_bytes, draw_bytes),
    "offset": Kind(3500, run_offset, draw_offset),
    "shared": Kind(1500, run_shared, draw_shared),
    "call": Kind(4500, run_call, draw_call),
}
