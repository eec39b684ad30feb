# SPDX-License-Identifier: GPL-2.0-only
"""python3 -m bench.demo: one stock kernel, without and with the pcp policy."""

from __future__ import annotations

import sys
import time

from bench import pcp
from bench.compare import Task
from bench.table import align, figure
from guests import modules
from guests.kernels import load, stock_image
from guests.report import ToolError, main_guard, say

SHOWN = pcp.WORKLOADS[1:3]

INTRO = """\
livemm on a stock Debian kernel: {release}

Two processes on two CPUs map memory, touch every page, and unmap it again.
Counted are the pages that go over zone->lock, the lock of the buddy allocator
that all CPUs share, for each page fault: 2 means every page, in and out.
"""

NEXT = """
On a host that runs this kernel, without a reboot:
    apt install dkms linux-headers-$(uname -r) && make install && modprobe livemm
    echo enabled=1,mode={mode} > /sys/kernel/debug/livemm/pcp/config

Where to look next
    README.md     what livemm is, how to install and remove it
    make check    lint, unit tests, and scenarios on every supported kernel
    make bench    the measured claims on 6.1 and 6.12, with targets
"""


def main() -> int:
    """The command."""
    if len(sys.argv) != 1:
        raise ToolError("usage: python3 -m bench.demo")
    start = time.monotonic()
    image = stock_image(load()[0][0])
    say(f"    building the modules for {image.release}")
    if wrong := modules.build(image, tests=False):
        raise ToolError(f"the modules do not build: {wrong}")
    say(INTRO.format(release=image.release))
    say("    booting it in a guest; this takes a few minutes under emulation")
    rows = pcp.crossings(Task(image, pcp.BENCH, f"mode={pcp.CLAIMED}"), SHOWN)
    lines = [("workload", "stock", "with pcp", "change")]
    for row in rows:
        change = 100 * (row.ratio or 0.0) - 100
        lines.append((row.workload, figure(row.base), figure(row.policy), f"{change:+.1f} %"))
    say("\nPages over zone->lock for each page fault\n")
    say(align(lines, 1))
    say(NEXT.format(mode=pcp.CLAIMED))
    say(f"took {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    main_guard(main)
