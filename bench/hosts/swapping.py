# SPDX-License-Identifier: GPL-2.0-only
"""Hosts whose anonymous memory grows past memory."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH
from bench.hosts.host import Host, beside

DISKS = {"livemm-files": 512, "livemm-swap": 1024}


def disk(plan: guest.Plan) -> None:
    """Swap to a disk."""
    plan.add("disks", "swap", serials=list(DISKS))


def compressed(plan: guest.Plan) -> None:
    """Swap to compressed memory."""
    plan.add("zram", "zram", mib=512)


GROWS = beside((PAGETOUCH, "-p 2 -w 220 -r 1 -H 100"), (PAGETOUCH, "-p 1 -w 64 -r 1 -t"))
MATTERS = ("pages swapped out", "pages swapped in", "allocation stalls", "kswapd wake-ups")
WORDS = "512 MiB; two processes have 220 MiB in small pages and one 64 MiB in huge pages, "
SWAP = Host("swap", f"{WORDS}swap on a disk", GROWS, MATTERS, setup=disk, memory="512M",
            disks=DISKS)
ZRAM = Host("zram", f"{WORDS}swap on zram", GROWS, MATTERS, setup=compressed, memory="512M")
