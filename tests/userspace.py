# SPDX-License-Identifier: GPL-2.0-only
"""Cores as programs of user space: compiler, and headers that stand in for the kernel's."""

import re
from collections.abc import Iterable
from pathlib import Path

from guests.report import ROOT

USER = ROOT / "kunit/user"
# For gcc and clang.  A core's code is written for the kernel's warnings, which these are not.
SANITIZED = [
    "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-sign-compare",
    "-Wno-unused-function", "-Wno-unused-parameter", "-Wno-missing-field-initializers",
    "-Wno-type-limits", "-fno-sanitize-recover=all",
]
_INCLUDE = re.compile(r"^#include <((?:linux|kunit)/\w+\.h)>", re.MULTILINE)
# What <linux/version.h> says; the compiler's options give the release where it matters.
_VERSION = "#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))\n"
# The C library includes these of the kernel's.
_ALSO_REAL = {"linux/errno.h", "linux/limits.h", "linux/types.h"}


def stand_ins(sources: Iterable[Path], folder: Path) -> None:
    """Every kernel header that a source includes becomes ours."""
    names = {name for source in sources
             for name in _INCLUDE.findall(source.read_text(encoding="utf-8"))}
    for name in names:
        ours = USER / ("test.h" if name.startswith("kunit/") else "kernel.h")
        real = f"#include_next <{name}>\n" if name in _ALSO_REAL else ""
        header = folder / name
        header.parent.mkdir(parents=True, exist_ok=True)
        text = _VERSION if name == "linux/version.h" else f'{real}#include "{ours}"\n'
        header.write_text(text, encoding="utf-8")
