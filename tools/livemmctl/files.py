# SPDX-License-Identifier: GPL-2.0-only
"""Files of our own: written whole or not at all, read with bounds."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from livemmctl.errors import CtlError, Exit, os_words
from livemmctl.host import Host

#: A settings file that is longer is not one.
TOML_MAX_CHARACTERS = 1 << 20


def replace(path: Path, text: str, mode: int = 0o644) -> None:
    """Have a file with that text and mode, in one step: readers see the old or the new.

    The temporary file is in the same folder, hence on the same file system, with a name
    that begins with a dot and ends in .tmp.  Raises CtlError, FAILED.
    """
    try:
        descriptor, name = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    except OSError as error:
        raise CtlError(f"cannot write {path}: {os_words(error)}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError):
            raise CtlError(f"cannot write {path}: {os_words(error)}") from None
        raise


def replace_on(host: Host, name: str, text: str, mode: int = 0o644) -> None:
    """The same for a file of a host, whose folder is made where there is none."""
    path = host.path(name)
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        raise CtlError(f"cannot make {path.parent}: {os_words(error)}") from None
    replace(path, text, mode)


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """A TOML document.  Raises CtlError, USAGE, with the line that is wrong."""
    if len(text) > TOML_MAX_CHARACTERS:
        raise CtlError(f"{where}: longer than {TOML_MAX_CHARACTERS} characters", Exit.USAGE)
    if "\ufffd" in text:
        raise CtlError(f"{where}: not UTF-8", Exit.USAGE)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise CtlError(f"{where}: nested too deeply", Exit.USAGE) from None
    except ValueError as error:
        raise CtlError(f"{where}: {error}", Exit.USAGE) from None


def only_keys(document: dict[str, Any], known: set[str], where: str) -> None:
    """Raise CtlError, USAGE, that names the first key that is not known."""
    for key in document:
        if key not in known:
            raise CtlError(
                f"{where}: {key}: no such key; there are: {', '.join(sorted(known))}", Exit.USAGE
            )
