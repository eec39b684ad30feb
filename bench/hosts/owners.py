# SPDX-License-Identifier: GPL-2.0-only
"""Hosts in which somebody besides the kernel keeps account of memory: a VM."""

from __future__ import annotations

from bench import guest
from bench.guest import load_program
from bench.hosts.host import Host

VM = "-p random -m 48 -s 8"
READ_MIB = 16


def notifier(plan: guest.Plan) -> None:
    """Fill memory with page cache, and have an MMU notifier."""
    plan.add("fill", "page cache", mib=1536, rate=READ_MIB)
    plan.add("modprobe", "notifier", module="lmm_shadow")


VM_HOST = Host(
    "vm", "two nodes of 512 MiB and a CPU, full of page cache, a file read at "
    f"{READ_MIB} MiB/s; two threads read small pages of 96 MiB at random for 8 s, and an MMU "
    "notifier watches that memory, as KVM watches a VM's",
    lambda: {"do": "watched", "program": load_program("numaload"), "args": VM.split()},
    ("ranges taken from a VM", "us a unit of work", "hint faults"),
    setup=notifier, nodes=2, without=("cma",), shift=3,
)
