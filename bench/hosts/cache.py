# SPDX-License-Identifier: GPL-2.0-only
"""A host whose memory is full of page cache."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH
from bench.hosts.host import Host, beside

# Nothing but holes, larger than the guest.
CACHE_MIB = 1536
READ_MIB = 128


def full(plan: guest.Plan) -> None:
    """Fill memory with page cache, and read on."""
    plan.add("fill", "page cache", mib=CACHE_MIB, rate=READ_MIB)


CACHE = Host(
    "cache", "1 GiB full of page cache, a file read at 128 MiB/s; two processes fault and unmap "
    "48 MiB in small pages, and one 32 MiB in huge pages",
    beside((PAGETOUCH, "-p 2 -w 48 -r 2"), (PAGETOUCH, "-p 1 -w 32 -r 4 -t")),
    ("kswapd wake-ups", "blocks over zone->lock, of 1000 pages", "allocation stalls",
     "huge faults that failed"),
    setup=full,
)
