# SPDX-License-Identifier: GPL-2.0-only
"""Virtual machines of little memory, or of two zones that are alike."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH
from bench.hosts.cache import full
from bench.hosts.host import Host, beside

# More than Normal has: what is free afterwards is in DMA32.
NORMAL_MIB = 2300


def low(plan: guest.Plan) -> None:
    """Little is kept free, and the page cache has the rest."""
    path = "/proc/sys/vm/min_free_kbytes"
    plan.add("write", path, path=path, text="2048")
    full(plan)


def normal_full(plan: guest.Plan) -> None:
    """Fill Normal."""
    plan.add("hold", "Normal is full", mib=NORMAL_MIB)


SMALL = Host(
    "small", "1 GiB, min_free_kbytes 2048, full of page cache, a file read at 128 MiB/s; a pipe of "
    "16 MiB between CPUs, two processes that fault and unmap 16 MiB",
    beside(("zoneload", "pipe 16"), (PAGETOUCH, "-p 2 -w 16 -r 3")),
    ("allocation stalls", "kswapd wake-ups", "blocks over zone->lock, of 1000 pages"),
    setup=low,
)
TWO_ZONES = Host(
    "two-zones", "4 GiB, half DMA32 and half Normal, Normal full of anonymous memory; a pipe of 48 "
    "MiB between CPUs",
    beside(("zoneload", "pipe 48")),
    ("blocks over zone->lock, of 1000 pages", "kswapd wake-ups"),
    setup=normal_full, memory="4G",
)
