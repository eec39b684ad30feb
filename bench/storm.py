# SPDX-License-Identifier: GPL-2.0-only
"""A storm of page tables on node 0; runs in the guest.

python3 -m bench.storm HOG TABLES COUNT

A program (HOG, the page-touch program) takes nearly all of node 0, and gives every other page
back: what is free is free a page here and a page there, in half-used movable blocks.  Then TABLES
asks for COUNT page tables on CPU 0.  Prints what that cost as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.agent import StepError, numbers, text_of, vmstat_change, wait_until

NODE = Path("/sys/devices/system/node/node0")
# MiB that the hog leaves of node 0.
LEFT_MIB = 12


def free_pages() -> int:
    """Pages that are free on the node."""
    for line in text_of(NODE / "meminfo").splitlines():
        words = line.split()
        if words[2] == "MemFree:":
            return int(words[3]) // 4
    raise StepError(f"{NODE}: no line MemFree")


@contextmanager
def held(argv: Sequence[str]) -> Iterator[None]:
    """A program on CPU 0 that says when it holds memory, and that then waits to be killed."""
    with subprocess.Popen(["taskset", "-c", "0", *argv], stdout=subprocess.PIPE,
                          text=True) as holder:
        try:
            if holder.stdout is None or holder.stdout.readline().strip() != "held":
                raise StepError(f"{' '.join(argv)}: holds nothing")
            yield
        finally:
            subprocess.run(["pkill", "-P", str(holder.pid)], check=False)
            holder.kill()


def main() -> int:
    """The command."""
    hog, tables, count = sys.argv[1:]
    # What is not measured runs where it does not disturb.
    os.sched_setaffinity(0, {1})
    Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    before = free_pages()
    mib = before // 256 - LEFT_MIB
    with held([hog, "-a", "-s", "-w", str(mib), "-r", "1", "-p", "1", "-H", "600000"]):
        free = free_pages()
        foreign = numbers(NODE / "numastat")["numa_foreign"]
        with vmstat_change() as events, held([tables, count]):
            pass
        foreign = numbers(NODE / "numastat")["numa_foreign"] - foreign
    # The next storm is to find the node as this one did.
    wait_until(lambda: free_pages() > before * 9 // 10, 60, 0.2,
               lambda: f"{free_pages()} pages of {before} are free")
    json.dump({"free": free, "foreign": foreign, "events": events}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
