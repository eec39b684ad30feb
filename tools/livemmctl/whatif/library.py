# SPDX-License-Identifier: GPL-2.0-only
"""The replay as a library: built from the module's own cores when it is first wanted."""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from livemmctl.errors import CtlError, Exit
from livemmctl.host import version_key

R = TypeVar("R", bound=ctypes.Structure)

HERE = Path(__file__).resolve().parent
#: Where the module's sources are: a checkout, or what the Debian package for DKMS unpacks.
CHECKOUT = HERE.parents[2]
DKMS = Path("/usr/src")
CORES = ("policy/pcp/core.c", "policy/pcp/core_event.c", "policy/zonelock/core.c",
         "policy/zonelock/depot.c")
#: What these include of the module.
HEADERS = ("policy/pcp/core.h", "policy/pcp/core_event.h", "policy/zonelock/core.h",
           "policy/zonelock/depot.h", "policy/common/drain.h")
OURS = ("replay.c", "lists.c", "depots.c", "measure.c", "pages.c")
FIELDS = 10
#: CPUs and zones that the replay looks at.
CPUS, SLOTS = 1024, 512
#: WHATIF_LEAPT of replay.h.
LEAPT = 1
COLUMNS = 3 + FIELDS
#: Cores are written for the kernel's warnings, not for these.
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fno-strict-aliasing", "-w")
_INCLUDE = re.compile(r"^#include <(linux/\w+\.h)>", re.MULTILINE)
_REAL = {"linux/errno.h", "linux/limits.h", "linux/types.h"}
Rows = npt.NDArray[np.int64]


class Pcp(ctypes.Structure):
    """struct whatif_pcp of replay.h."""

    _fields_ = [(name, ctypes.c_int32) for name in (
        "enabled", "sees_refills", "high_max_tenths", "decay_ms")]


class Zonelock(ctypes.Structure):
    """struct whatif_zonelock of replay.h."""

    _fields_ = [(name, ctypes.c_int32) for name in (
        "enabled", "max_tenths", "max_age_ms")]


class Result(ctypes.Structure):
    """struct whatif_result of replay.h."""

    _fields_ = [*((name, ctypes.c_int64) for name in (
        "refills", "refill_pages", "drains", "drain_pages", "exit_drains", "excess_pages", "grown",
        "lowered", "limited_watermark", "limited_max", "limited_room",
        "stored_pages", "taken_pages", "returned_pages", "returned_age", "refused", "kept_max",
        "faults", "ns")), ("kept_area", ctypes.c_double)]


class Format(ctypes.Structure):
    """struct whatif_format of replay.h."""

    _fields_ = [("id", ctypes.c_int32), ("fields", ctypes.c_int32),
                ("offset", ctypes.c_int32 * FIELDS), ("size", ctypes.c_int32 * FIELDS),
                ("is_signed", ctypes.c_int32 * FIELDS)]


@dataclass(frozen=True)
class Sources:
    """module/ and the stand-ins for the kernel's headers."""

    module: Path
    kernel_h: Path


def sources() -> Sources:
    packaged = sorted(DKMS.glob("livemm-*"), key=lambda place: version_key(place.name))
    places = [CHECKOUT, *reversed(packaged)]
    for place in places:
        found = Sources(place / "module", place / "kunit/user/kernel.h")
        if all((found.module / core).is_file() for core in CORES) and found.kernel_h.is_file():
            return found
    raise CtlError("the module's sources are not here, of which the replay is built", Exit.FAILED,
                   "apt install livemm-dkms")


def _stand_ins(texts: list[str], kernel_h: Path, folder: Path) -> None:
    """A file for each of the kernel's headers; see tests/userspace.py."""
    for name in {name for text in texts for name in _INCLUDE.findall(text)}:
        header = folder / name
        header.parent.mkdir(parents=True, exist_ok=True)
        real = f"#include_next <{name}>\n" if name in _REAL else ""
        header.write_text(f'{real}#include "{kernel_h}"\n', encoding="utf-8")


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "livemmctl"
    except RuntimeError:
        raise CtlError("no home folder, in which the replay is built", Exit.FAILED,
                       "set XDG_CACHE_HOME to a folder") from None


def _build(target: Path, found: Sources, texts: list[str]) -> None:
    compiler = next((name for name in ("gcc", "gcc-12", "cc", "clang") if shutil.which(name)), None)
    if compiler is None:
        raise CtlError("no C compiler, by which the replay is built", Exit.FAILED,
                       "apt install gcc")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        _stand_ins(texts, found.kernel_h, folder)
        made = folder / "replay.so"
        argv: list[str | Path] = [
            compiler, *FLAGS, "-I", folder, "-I", found.module, "-I", HERE,
            *(HERE / file for file in OURS), *(found.module / core for core in CORES), "-o", made]
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise CtlError(f"the replay cannot be built: {done.stderr.strip().splitlines()[-1:]}",
                           Exit.FAILED)
        made.replace(target)


@cache
def library() -> ctypes.CDLL:
    """Build the library unless it is there, of these very sources."""
    found = sources()
    files = [*(HERE / name for name in (*OURS, "model.h", "replay.h")), found.kernel_h,
             *(found.module / name for name in (*CORES, *HEADERS))]
    texts = [file.read_text(encoding="utf-8") for file in files]
    key = hashlib.sha256("\0".join([*FLAGS, *texts]).encode()).hexdigest()[:16]
    target = _cache_folder() / f"replay-{key}.so"
    if not target.exists():
        _build(target, found, texts)
    made = ctypes.CDLL(str(target))
    made.whatif_pages.restype = ctypes.c_int64
    made.whatif_measure.restype = ctypes.c_int64
    return made


def _pointer(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def pages(raw: bytes, page_size: int, cpu: int,
          formats: "ctypes.Array[Format]") -> tuple[Rows, int]:
    """Rows of the pages of a CPU, and pages before which events are missing."""
    # An event is no shorter than its header and common fields; most are far longer.
    room = len(raw) // 24 + 1
    rows = np.empty((room, COLUMNS), dtype=np.int64)
    lost = ctypes.c_int64()
    made = library().whatif_pages(raw, ctypes.c_int64(len(raw)), ctypes.c_int64(page_size),
                                  ctypes.c_int32(cpu), formats, ctypes.c_int32(len(formats)),
                                  _pointer(rows), ctypes.c_int64(room), ctypes.byref(lost))
    return rows[:made].copy(), lost.value


def _filled(call: str, result: R, *given: object) -> R:
    """The result, which a function of the library fills in."""
    failed = getattr(library(), call)(*given, ctypes.byref(result))
    if failed == LEAPT:
        raise CtlError("a CPU takes or gives over 1 TiB between two moments: did a CPU go offline? "
                       "The other CPUs get its counts; record again", Exit.FAILED)
    if failed:
        raise MemoryError
    return result


def _array(rows: Rows) -> tuple[ctypes.c_void_p, ctypes.c_int64]:
    return _pointer(rows), ctypes.c_int64(len(rows))


def replay(rows: Rows, pcp: Pcp, zonelock: Zonelock) -> Result:
    return _filled("whatif_replay", Result(), *_array(rows), ctypes.byref(pcp),
                   ctypes.byref(zonelock))


def measure(rows: Rows) -> tuple[Result, bool]:
    """What was recorded; and whether refills were."""
    result = Result()
    saw = library().whatif_measure(_pointer(rows), ctypes.c_int64(len(rows)), ctypes.byref(result))
    if saw < 0:
        raise MemoryError
    return result, saw > 0
