# SPDX-License-Identifier: GPL-2.0-only
"""The file of a recording: a zip of the kernel's own pages and of what it takes to read them.

    meta.json           struct Meta: what was recorded where, and what was lost
    formats/EVENT       the event's file `format` of tracefs
    cpu/N               pages of trace_pipe_raw of CPU N, one after the other, as the kernel gave
                        them
"""

import contextlib
import json
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from livemmctl.errors import CtlError, Exit
from livemmctl.files import replacing

VERSION = 1
#: Sizes of a page of the ring buffer: a power of two between these.
PAGE_LEAST, PAGE_MOST = 1 << 12, 1 << 20


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

    @property
    def lost(self) -> int:
        return sum(self.overruns.values())


def write(path: Path, meta: Meta, formats: dict[str, str], pages: dict[int, IO[bytes]]) -> None:
    """Write a recording whole, or not at all."""
    with (replacing(path) as file,
          zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive):
        archive.writestr("meta.json", json.dumps(asdict(meta), indent=1) + "\n")
        for event, text in formats.items():
            archive.writestr(f"formats/{event}", text)
        for cpu, raw in pages.items():
            raw.seek(0)
            with archive.open(f"cpu/{cpu}", "w", force_zip64=True) as member:
                shutil.copyfileobj(raw, member)


@dataclass
class Recording:
    path: Path
    meta: Meta
    formats: dict[str, str]

    def pages(self) -> Iterator[tuple[int, bytes]]:
        """CPU, and its pages; one CPU at a time, because they may be large."""
        with _archive(self.path) as archive:
            for name in archive.namelist():
                if not name.startswith("cpu/"):
                    continue
                raw = archive.read(name)
                if len(raw) % self.meta.page_size:
                    raise ValueError(f"{name} ends within a page")
                yield int(name.removeprefix("cpu/")), raw


@contextlib.contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The file, opened; whatever is wrong with what is read of it is a CtlError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError,
            ValueError, TypeError) as error:
        raise broken(path, error) from None


def broken(path: Path, why: object) -> CtlError:
    return CtlError(f"{path}: not a recording of livemmctl: {why}", Exit.FAILED)


def _is(value: object, kind: Any) -> bool:
    """Has a value of a JSON file the type?"""
    if kind is float:
        kind = (int, float)
    return isinstance(value, kind) and not isinstance(value, bool)


def meta_of(found: object, path: Path) -> Meta:
    """The meta data that a file has as JSON.

    A newer livemmctl may have written more than this one knows. Raises CtlError.
    """
    if not isinstance(found, dict):
        raise broken(path, "its meta data are no table")
    if found.get("version") != VERSION:
        raise CtlError(f"{path}: of version {found.get('version')}; this livemmctl reads {VERSION}",
                       Exit.FAILED)
    try:
        meta = Meta(**{one.name: found[one.name] for one in fields(Meta) if one.name in found})
    except TypeError as error:
        raise broken(path, error) from None
    good = {one.name: _is(getattr(meta, one.name), one.type) for one in fields(Meta)
            if isinstance(one.type, type)}
    good["page_size"] = good["page_size"] and PAGE_LEAST <= meta.page_size <= PAGE_MOST and \
        meta.page_size.bit_count() == 1
    for name, kind in (("policies", str), ("overruns", int)):
        value = getattr(meta, name)
        good[name] = isinstance(value, dict) and all(_is(one, kind) for one in value.values())
    for name, right in good.items():
        if not right:
            raise broken(path, f"{name} is {getattr(meta, name)!r}")
    return meta


def read(path: Path) -> Recording:
    """The recording in a file, without its pages."""
    with _archive(path) as archive:
        meta = meta_of(json.loads(archive.read("meta.json")), path)
        formats = {name.removeprefix("formats/"): archive.read(name).decode()
                   for name in archive.namelist() if name.startswith("formats/")}
    return Recording(path, meta, formats)
