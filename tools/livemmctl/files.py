# SPDX-License-Identifier: GPL-2.0-only
"""Files of our own: written whole or not at all, read with bounds."""

import contextlib
import fcntl
import json
import os
import stat
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from livemmctl.errors import UsageError, os_errors
from livemmctl.host import Host

#: A settings file that is longer is not one.
TOML_MAX_CHARACTERS = 1 << 20
#: So many seconds apart a lock is tried that somebody else holds.
LOCK_LOOK_S = 0.1


def lock_file(descriptor: int, limit_s: float) -> None:
    """Lock an open file or folder against other processes that lock it.

    Raises BlockingIOError where another process keeps the lock for `limit_s`, and OSError.
    """
    end = time.monotonic() + limit_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
        time.sleep(LOCK_LOOK_S)


def check_replaceable(path: Path) -> None:
    """Refuse a device, a pipe or a symbolic link: renaming a file over it would destroy it.

    Raises CtlError, USAGE.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        # There is no such file, or the caller finds out what is wrong.
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UsageError(f"{path} is not a regular file, and would be replaced by one")


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk.  Raises OSError."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` in one step: readers see the old or the new.

    The temporary file is in the same folder, hence on the same file system, with a name
    that nobody can foresee, begins with a dot and ends in .tmp.  Raises OSError; CtlError, USAGE,
    as check_replaceable().
    """
    check_replaceable(path)
    descriptor, name = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    # A folder may be one to write to and not to read: the file stands there all the same.
    with contextlib.suppress(OSError):
        sync_folder(path.parent)


def replace(path: Path, text: str, mode: int = 0o644) -> None:
    """Have a file with that text and mode, as replacing().  Raises CtlError, FAILED; USAGE."""
    # The name of a file may have bytes that are no text.
    with os_errors(f"cannot write {path}"), replacing(path, mode) as file:
        file.write(text.encode("utf-8", "replace"))


def replace_on(host: Host, name: str, text: str, mode: int = 0o644) -> None:
    """The same for a file of a host, whose folder is made where there is none."""
    path = host.path(name)
    with os_errors(f"cannot make {path.parent}"):
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    replace(path, text, mode)


def json_of(host: Host, name: str) -> dict[str, Any]:
    """The JSON object that a file of a host holds; an empty one for anything else."""
    try:
        found = json.loads(host.fetch(name))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """A TOML document.  Raises CtlError, USAGE, with the line that is wrong."""
    if len(text) > TOML_MAX_CHARACTERS:
        raise UsageError(f"{where}: longer than {TOML_MAX_CHARACTERS} characters")
    if "\ufffd" in text:
        raise UsageError(f"{where}: not UTF-8")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{where}: nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None


def only_keys(document: dict[str, Any], known: set[str], where: str) -> None:
    """Raise CtlError, USAGE, that names the first key that is not known."""
    for key in document:
        if key not in known:
            raise UsageError(f"{where}: {key}: no such key; there are: {', '.join(sorted(known))}")
