# SPDX-License-Identifier: GPL-2.0-only
"""A host of containers whose memory has a limit."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH, load_program
from bench.hosts.cache import full
from bench.hosts.host import Host

LIMIT_MIB = 96
# What else there is on the host, so that MemAvailable comes down to where earlyoom kills, a tenth.
HELD_MIB = 480


def held(plan: guest.Plan) -> None:
    """Hold much of memory, and fill the rest with page cache."""
    plan.add("hold", "the rest of the host", mib=HELD_MIB)
    full(plan)


def in_limits() -> guest.Step:
    """Two that keep to their limit, and one that is killed at it."""
    return {"do": "contained", "mib": LIMIT_MIB, "argvs": [
        [load_program(PAGETOUCH), *args.split()]
        for args in ("-p 1 -w 64 -r 3", "-p 1 -w 64 -r 3 -t", "-p 1 -w 128 -r 1")]}


CONTAINERS = Host(
    "containers", f"1 GiB, {HELD_MIB} MiB in use, the rest page cache, a file read at 128 MiB/s; "
    f"containers of {LIMIT_MIB} MiB: two that fault and unmap 64 MiB, in small and in huge "
    "pages, and one that is killed",
    in_limits,
    ("OOM kills", "not in MemAvailable, at most, MiB", "allocation stalls",
     "huge faults that failed"),
    setup=held,
)
