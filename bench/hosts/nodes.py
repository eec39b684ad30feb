# SPDX-License-Identifier: GPL-2.0-only
"""Hosts of two nodes, and of two tiers."""

from __future__ import annotations

from bench import guest
from bench.hosts.cache import CACHE_MIB
from bench.hosts.host import Host, program

SHIFT = 3
CMA = ("cma",)
# Of the fast tier, in huge pages of 2 MiB that nobody uses: what is left is less than what is hot.
TAKEN = 162


def full(plan: guest.Plan) -> None:
    """Fill both nodes with page cache, and read a little on."""
    plan.add("fill", "page cache", mib=CACHE_MIB, rate=8)


def tiers(plan: guest.Plan) -> None:
    """What is hot comes up, and what is not goes down, as the fast tier is too small."""
    for path, text in (("/proc/sys/kernel/numa_balancing", "2"),
                       ("/sys/kernel/mm/numa/demotion_enabled", "1"),
                       ("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
                        str(TAKEN))):
        plan.add("write", path, path=path, text=text)


DATABASE = Host(
    "database", "two nodes of 512 MiB and a CPU, full of page cache; two threads without a CPU of "
    "their own write to 96 MiB at random, 90 % of that on one node, for 12 s: to one half of the "
    "pages, then to the other; a child every second",
    program("numaload", "-p database"),
    ("us a unit of work", "hint faults", "hint faults of pages of another node", "pages migrated",
     "task_numa_work, us of all calls", "changes of a preferred node"),
    setup=full, nodes=2, without=CMA, shift=SHIFT,
)
PHASES = Host(
    "phases", "two nodes of 512 MiB and a CPU; threads that change places every 3 s, for 12 s",
    program("numaload", "-p phase -s 12 -q 3000"),
    DATABASE.matters, nodes=2, without=CMA, shift=SHIFT,
)
TIERS = Host(
    "tiers", "512 MiB of fast memory, most of that in use, and 768 MiB of slow memory, demotion "
    "and tiering on; 80 of 160 MiB in slow memory are hot, more than fast memory has left, "
    "for 14 s",
    program("numaload", "-p tiers"),
    ("us a unit of work", "pages promoted", "pages demoted", "hint faults"),
    setup=tiers, memory="512M", slow="768M", without=CMA, shift=SHIFT, kernels=("6.12", "7.2"),
)
