# SPDX-License-Identifier: GPL-2.0-only
"""Count the calls that CALLED_BY() of verify.c wants: python3 -m tests.callers [NAME...]

A hook misses the callers into which the compiler has inlined the hooked function.  livemm counts
calls when it loads; this does the same in the images of the kernels of kernels.toml, which are
fetched by name where they are flavours, without a guest.
"""

import argparse
import re
from collections.abc import Iterator
from functools import partial

from guests.image import Vmlinux
from guests.kernels import flavours, images, load
from guests.report import ROOT, Stage, main_guard
from tests.flavours import had

ROWS = ROOT / "module/hook/verify.c"


def wanted() -> list[tuple[str, int, list[str]]]:
    """Function, calls, and names of the caller, of which the first that is there counts."""
    rows = re.findall(r"^\tCALLED_BY\((\w+), (\d+),\s+(.*?)\)", ROWS.read_text(encoding="utf-8"),
                      re.MULTILINE | re.DOTALL)
    return [(function, int(calls), re.findall(r'"(.+?)"', names))
            for function, calls, names in rows]


def missed(name: str) -> Iterator[str]:
    """The rows that a kernel does not fulfil; a kernel without the function is asked nothing."""
    kernel = Vmlinux(images(name)[0].vmlinuz)
    rows = [row for row in wanted() if kernel.alone(row[0])]
    if not rows:
        yield "none of the functions is there"
    for function, least, names in rows:
        there = [name for name in names if kernel.alone(name)]
        calls = kernel.calls(there[0], function) if there else 0
        if calls < least:
            yield f"{function} is called {calls} times by {(there or names)[0]}, expected {least}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.callers", description="calls of hooked functions")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="series, flavours or built kernels (default: every series)")
    names = parser.parse_args().names or [kernel.series for kernel in load()[0]]
    stage = Stage("callers")
    known = {row.series: row for row in flavours()}
    for name in names:
        if name in known and not stage.run(f"{name}: its packages are there",
                                           partial(had, known[name])):
            continue
        stage.run(f"{name}: callers call the hooked functions",
                  partial(missed, name))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
