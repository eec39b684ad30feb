# SPDX-License-Identifier: GPL-2.0-only
"""A host that receives: data goes from CPU to CPU, memory is full of page cache."""

from __future__ import annotations

from bench import guest
from bench.hosts.cache import full
from bench.hosts.host import Host, beside


def network(plan: guest.Plan) -> None:
    """Fill memory with page cache; a timer asks for pages as a network card's driver does."""
    full(plan)
    plan.add("modprobe", "atomic requests", module="lmm_atomic", params=["most_order=3"])


RECEIVE = Host(
    "receive", "1 GiB full of page cache, a file read at 128 MiB/s, 64 atomic requests a tick, "
    "of orders 0 to 3; 24 MiB through a pipe and 24 MiB through a socket between CPUs",
    beside(("zoneload", "pipe 24"), ("zoneload", "socket 24")),
    ("blocks over zone->lock, of 1000 pages", "failed atomic requests, orders 1 to 3",
     "failed atomic requests, order 0", "kswapd wake-ups", "blocks reserved for atomic requests"),
    setup=network,
)
