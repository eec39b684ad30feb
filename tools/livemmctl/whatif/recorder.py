# SPDX-License-Identifier: GPL-2.0-only
"""Record a host: an instance of tracefs of our own, while debugfs/livemm/record is open.

livemm arms its hooks only while that file is open, so a recorder that is killed leaves nothing
armed. Its instance, with a buffer of bounded size that nothing fills any more, stays until the next
recording, which removes instances of processes that are gone.
"""

import contextlib
import os
import re
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from livemmctl.errors import CtlError, Exit, os_words
from livemmctl.whatif import events, recording

PREFIX = "livemm-record-"
#: How long to wait for the livepatch, and between two looks.
WAIT_S = 60.0
POLL_S = 0.2
#: Longest time between two looks at the buffers.
LOOK_SECONDS = 0.2


@dataclass
class Instance:
    """A ring buffer of our own."""

    path: Path
    pipes: dict[int, int] = field(default_factory=dict)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="ascii")

    def read(self, name: str) -> str:
        return (self.path / name).read_text(encoding="ascii")


def instances(tracefs: Path) -> Path:
    return tracefs / "instances"


def _alive(pid: str) -> bool:
    return not pid.isdigit() or Path("/proc", pid).is_dir()


def remove_stale(tracefs: Path) -> None:
    """Instances of recorders that were killed."""
    for path in instances(tracefs).glob(f"{PREFIX}*"):
        if not _alive(path.name.removeprefix(PREFIX)):
            with contextlib.suppress(OSError):
                path.rmdir()


@contextlib.contextmanager
def instance(tracefs: Path, buffer_kb: int) -> Iterator[Instance]:
    """Make the instance, and remove it at the end."""
    remove_stale(tracefs)
    path = instances(tracefs) / f"{PREFIX}{os.getpid()}"
    try:
        path.mkdir()
    except FileNotFoundError:
        raise CtlError(f"{tracefs}: tracefs has no instances here", Exit.FAILED,
                       "mount -t tracefs tracefs /sys/kernel/tracing") from None
    made = Instance(path)
    try:
        made.write("buffer_size_kb", str(buffer_kb))
        made.write("trace_clock", "mono")
        # What the buffer has no room for is dropped and counted; what it has stays in order.
        made.write("options/overwrite", "0")
        yield made
    finally:
        for pipe in made.pipes.values():
            os.close(pipe)
        with contextlib.suppress(OSError):
            made.write("events/enable", "0")
        path.rmdir()


def _enable(trace: Instance) -> dict[str, str]:
    """Have the events reported; their formats by name."""
    formats = {}
    for event in events.NAMES:
        folder = f"events/{events.group(event)}/{event}"
        try:
            formats[event] = trace.read(f"{folder}/format")
            trace.write(f"{folder}/enable", "1")
        except FileNotFoundError:
            if event in events.OURS:
                raise CtlError(f"livemm has no tracepoint {event}", Exit.FAILED,
                               "is the module of this version?") from None
    return formats


@dataclass
class Reader:
    """Pages of all CPUs go to files as they fill."""

    trace: Instance
    folder: Path
    page_size: int
    #: By CPU; without a name, so that nothing is left of a recorder that is killed.
    files: dict[int, IO[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in sorted(self.trace.path.glob("per_cpu/cpu*")):
            cpu = int(path.name.removeprefix("cpu"))
            self.trace.pipes[cpu] = os.open(path / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
            self.files[cpu] = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115

    def drain(self) -> int:
        """Read what there is; bytes."""
        total = 0
        for cpu, pipe in self.trace.pipes.items():
            while page := self._page(pipe):
                # The kernel gives a part of a page as a part; in the file each has its room.
                self.files[cpu].write(page.ljust(self.page_size, b"\0"))
                total += len(page)
        return total

    def _page(self, pipe: int) -> bytes:
        try:
            return os.read(pipe, self.page_size)
        except BlockingIOError:
            return b""

    def overruns(self) -> dict[str, int]:
        """Events that each CPU has dropped."""
        lost = {}
        for cpu in self.trace.pipes:
            rows = dict(line.split(":", 1) for line in
                        self.trace.read(f"per_cpu/cpu{cpu}/stats").splitlines() if ":" in line)
            lost[str(cpu)] = sum(int(rows.get(name, "0")) for name in
                                 ("overrun", "commit overrun", "dropped events"))
        return lost


def _arm(record: int) -> None:
    """Write until the livepatch that the write asks for is in force."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            os.write(record, b"1")
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(POLL_S)
        else:
            return


def _begin(debugfs: Path) -> int:
    """Have livemm record as long as the descriptor is open."""
    try:
        armed = os.open(debugfs / "record", os.O_RDWR)
    except FileNotFoundError:
        raise CtlError("this livemm cannot record: no file `record` in debugfs", Exit.FAILED,
                       "is livemm_record loaded?") from None
    try:
        _arm(armed)
    except OSError as error:
        os.close(armed)
        why = (debugfs / "last_error").read_text(encoding="utf-8").strip()
        raise CtlError(why or os_words(error), Exit.REFUSED) from None
    return armed


def _goes_on(armed: int, debugfs: Path) -> None:
    """Raises CtlError, FAILED, when the kernel side has ended the recording."""
    try:
        os.pread(armed, 1, 0)
    except OSError as error:
        why = (debugfs / "last_error").read_text(encoding="utf-8").strip()
        raise CtlError(why or os_words(error), Exit.FAILED) from None


def _depot_pages(state: Path) -> int:
    """Pages that the depots of zonelock hold; 0 while the policy is off."""
    with contextlib.suppress(OSError):
        found = re.search(r"^# held_pages (\d+)", state.read_text(encoding="ascii"), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


def _page_size(trace: Instance) -> int:
    """Header and data of a page, as header_page has them."""
    text = (trace.path / "events/header_page").read_text(encoding="ascii")
    data = events._FIELD.findall("\n".join(line for line in text.splitlines()
                                           if " data;" in line))
    return int(data[0][2]) + int(data[0][3])


def pause(seconds: float, load: "subprocess.Popen[bytes] | None") -> bool:
    """Wait for so long, or until the load ends; true if it has ended."""
    if load is None:
        time.sleep(seconds)
        return False
    ends = os.pidfd_open(load.pid)
    try:
        select.select([ends], [], [], seconds)
    finally:
        os.close(ends)
    return load.poll() is not None


def status_of(ended: int | None) -> int:
    """The exit code of a load as a shell has it; 0 where it was not awaited, or there is none."""
    if ended is None:
        return 0
    return 128 - ended if ended < 0 else ended


def record(debugfs: Path, tracefs: Path, seconds: float, buffer_kb: int, out: Path,
           meta: recording.Meta, load: Sequence[str] = (),
           load_out: int | None = None) -> tuple[recording.Meta, int]:
    """Record for so long, or until the load ends, and write the file; also the load's exit code."""
    with instance(tracefs, buffer_kb) as trace:
        formats = _enable(trace)
        meta.page_size = _page_size(trace)
        reader = Reader(trace, out.absolute().parent, meta.page_size)
        armed = _begin(debugfs)
        try:
            meta.began = time.time()
            end = time.monotonic() + seconds
            held = []
            running = subprocess.Popen(load, stdout=load_out) if load else None
            ended = False
            while not ended and (left := end - time.monotonic()) > 0:
                ended = pause(min(left, LOOK_SECONDS), running)
                reader.drain()
                _goes_on(armed, debugfs)
                held.append(_depot_pages(debugfs / "zonelock/state"))
        finally:
            os.close(armed)
        reader.drain()
        meta.depot_pages = statistics.fmean(held) if held else 0.0
        meta.overruns = reader.overruns()
        recording.write(out, meta, formats, reader.files)
    return meta, status_of(running.poll() if running else None)
