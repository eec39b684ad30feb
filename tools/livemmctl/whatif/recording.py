# SPDX-License-Identifier: GPL-2.0-only
"""The file of a recording: a zip of the kernel's own pages and of what it takes to read them.

    meta.json           struct Meta: what was recorded where, and what was lost
    formats/EVENT       the event's file `format` of tracefs
    cpu/N               pages of trace_pipe_raw of CPU N, one after the other, as the kernel gave
                        them
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from livemmctl.errors import CtlError, Exit

VERSION = 1


@dataclass
class Meta:
    """version      of the file's format
    livemm          what livemm says of itself
    host            name of the host
    kernel          its release
    cpus            CPUs that were online
    seconds         length asked for
    began           seconds since 1970
    page_size       of the ring buffer, in bytes
    buffer_kb       size of the ring buffer of each CPU
    policies        those that were on, with their settings
    depot_pages     pages that the depots of zonelock held, mean of a look every 0.2 s
    overruns        events that each CPU lost, because the buffer was full
    zones           of each zone its slot, first page frame, and the page frame after the last
    numa_scan       the kernel's settings of scans for NUMA balancing, by name; where debugfs has
                    these
    """

    livemm: str
    host: str
    kernel: str
    cpus: int
    seconds: float
    began: float
    page_size: int
    buffer_kb: int
    version: int = VERSION
    policies: dict[str, str] = field(default_factory=dict)
    depot_pages: float = 0.0
    overruns: dict[str, int] = field(default_factory=dict)
    zones: list[list[int]] = field(default_factory=list)
    numa_scan: dict[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        return sum(self.overruns.values())


def write(path: Path, meta: Meta, formats: dict[str, str], pages: dict[int, IO[bytes]]) -> None:
    """Write a recording whole, or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("meta.json", json.dumps(asdict(meta), indent=1) + "\n")
            for event, text in formats.items():
                archive.writestr(f"formats/{event}", text)
            for cpu, raw in pages.items():
                raw.seek(0)
                with archive.open(f"cpu/{cpu}", "w", force_zip64=True) as member:
                    shutil.copyfileobj(raw, member)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@dataclass
class Recording:
    path: Path
    meta: Meta
    formats: dict[str, str]

    def pages(self) -> Iterator[tuple[int, bytes]]:
        """CPU, and its pages; one CPU at a time, because they may be large."""
        with zipfile.ZipFile(self.path) as archive:
            for name in archive.namelist():
                if name.startswith("cpu/"):
                    yield int(name.removeprefix("cpu/")), archive.read(name)


def read(path: Path) -> Recording:
    """The recording in a file, without its pages."""
    try:
        with zipfile.ZipFile(path) as archive:
            meta = Meta(**json.loads(archive.read("meta.json")))
            formats = {name.removeprefix("formats/"): archive.read(name).decode()
                       for name in archive.namelist() if name.startswith("formats/")}
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise CtlError(f"{path}: not a recording of livemmctl: {error}", Exit.FAILED) from None
    if meta.version != VERSION:
        raise CtlError(f"{path}: of version {meta.version}; this livemmctl reads {VERSION}",
                       Exit.FAILED)
    return Recording(path, meta, formats)
