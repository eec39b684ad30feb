# SPDX-License-Identifier: GPL-2.0-only
"""Hosts in which somebody besides the kernel keeps account of memory: a VM, a device."""

from __future__ import annotations

from bench import guest
from bench.guest import load_program
from bench.hosts.host import Host
from bench.hosts.swapping import DISKS

CMA_MIB = 256
# Two workers at a build; beside them 10 times 8 MiB that are taken, and given back.
JOBS = "-j 2 -H 240 -K 160 -t 10"
VM = "-p random -m 48 -s 8"
READ_MIB = 16


def device(plan: guest.Plan) -> None:
    """Have an owner of CMA that can be told what to do, and what the jobs of a build read."""
    plan.add("modprobe", "owner", module="lmm_owner")
    plan.program("workplace", "sources", "cmaload", "", disks=list(DISKS))


def jobs_beside() -> guest.Step:
    """Jobs of a build, and requests for CMA."""
    return {"do": "build_load", "program": load_program("cmaload"), "args": JOBS.split(),
            "contiguous": True}


def notifier(plan: guest.Plan) -> None:
    """Fill memory with page cache, and have an MMU notifier."""
    plan.add("fill", "page cache", mib=1536, rate=READ_MIB)
    plan.add("modprobe", "notifier", module="lmm_shadow")


DEVICE = Host(
    "device", f"1 GiB, {CMA_MIB} MiB of it CMA; two workers build, and a device's driver takes and "
    "gives 8 MiB of CMA 10 times",
    jobs_beside,
    ("mean wait for CMA, us", "longest wait for CMA, us", "allocation stalls",
     "us a unit of work"),
    setup=device, kernels=("7.2",), without=("numa",), disks=DISKS, kargs=(f"cma={CMA_MIB}M",),
)
VM_HOST = Host(
    "vm", "two nodes of 512 MiB and a CPU, full of page cache, a file read at "
    f"{READ_MIB} MiB/s; two threads read small pages of 96 MiB at random for 8 s, and an MMU "
    "notifier watches that memory, as KVM watches a VM's",
    lambda: {"do": "watched", "program": load_program("numaload"), "args": VM.split()},
    ("ranges taken from a VM", "us a unit of work", "hint faults"),
    setup=notifier, nodes=2, without=("cma",), shift=3,
)
