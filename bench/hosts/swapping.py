# SPDX-License-Identifier: GPL-2.0-only
"""Hosts whose anonymous memory grows past memory."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH
from bench.hosts.host import Host, beside

# Grows, and reads what is swapped out.
GROWER = "hosts/grower"
MEMORY = "640M"
DISKS = {"livemm-files": 512, "livemm-swap": 1024}


def disk(plan: guest.Plan) -> None:
    """Swap to a disk."""
    plan.add("disks", "swap", serials=list(DISKS))


def zram(plan: guest.Plan) -> None:
    """Swap to compressed memory."""
    plan.add("zram", "zram", mib=512)


def zswap(plan: guest.Plan) -> None:
    """Swap to compressed memory, and from there to a disk."""
    plan.add("zswap", "zswap", serials=list(DISKS))


HUGE = (PAGETOUCH, "-p 1 -w 64 -r 2 -t")
FAST = beside((GROWER, "-w 300"), (GROWER, "-w 300"), HUGE)
SLOW = beside((GROWER, "-w 560 -r 80"), HUGE)
MATTERS = ("pages swapped out", "pages swapped in", "allocation stalls", "kswapd wake-ups",
           "pages refaulted")
WORDS = ("640 MiB; two processes grow to 300 MiB each as fast as they can and read a quarter of "
         "it, one has 64 MiB in huge pages; ")
SWAP = Host("swap", f"{WORDS}swap on a disk", FAST, MATTERS, setup=disk, memory=MEMORY,
            disks=DISKS)
ZRAM = Host("zram", f"{WORDS}swap on zram", FAST, MATTERS, setup=zram, memory=MEMORY)
ZSWAP = Host("zswap", f"{WORDS}swap on a disk behind zswap", FAST, MATTERS, setup=zswap,
             memory=MEMORY, disks=DISKS)
SWAP_SLOW = Host(
    "swap-slow", "640 MiB; a process grows to 560 MiB by 80 MiB a second and reads a quarter of "
    "it, one has 64 MiB in huge pages; swap on a disk",
    SLOW, MATTERS, setup=disk, memory=MEMORY, disks=DISKS)
