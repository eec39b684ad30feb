# SPDX-License-Identifier: GPL-2.0-only
"""All hosts, by name."""

from __future__ import annotations

from collections.abc import Mapping

from bench.guest import PAGETOUCH
from bench.hosts import cache, containers, files, idle, nodes, owners, receive, small, swapping
from bench.hosts.host import Host, beside

HOSTS: Mapping[str, Host] = {host.name: host for host in (
    cache.CACHE, small.SMALL, small.TWO_ZONES, receive.RECEIVE, files.BUILD, files.METADATA,
    swapping.SWAP, swapping.SWAP_SLOW, swapping.ZRAM, swapping.ZSWAP, containers.CONTAINERS,
    nodes.DATABASE, nodes.PHASES, nodes.TIERS, owners.VM_HOST, owners.DEVICE, idle.IDLE,
)}
# Shows that the bench works, and is on no page.
SMOKE = Host("smoke", "1 GiB; two processes fault and unmap 4 MiB",
             beside((PAGETOUCH, "-p 2 -w 4 -r 2")), ("instructions, millions",))
