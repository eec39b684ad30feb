# SPDX-License-Identifier: GPL-2.0-only
"""Hosts that work on files: a build, and a backup of many small ones."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH, load_program
from bench.hosts.host import Host
from bench.hosts.swapping import DISKS

JOBS = "-n 6 -j 4 -H 80 -K 80"
FOLDERS, FILES, SIZE = 64, 256, 9000


def sources(plan: guest.Plan) -> None:
    """Make what the jobs of a build read."""
    plan.program("workplace", "sources", "cmaload", "", disks=list(DISKS))


def jobs() -> guest.Step:
    """Some jobs of a build."""
    return {"do": "build_load", "program": load_program("cmaload"), "args": JOBS.split(),
            "contiguous": False}


def small_files(plan: guest.Plan) -> None:
    """Make many small files."""
    plan.add("disks", "disks", serials=list(DISKS))
    plan.add("small_files", "files", folders=FOLDERS, files=FILES, size=SIZE)


def backup() -> guest.Step:
    """Read all files, then want huge pages."""
    return {"do": "beside", "argvs": [
        ["sh", "-c", 'tar -C /run/files -cf - . | cat && exec "$0" -p 1 -w 48 -r 1 -t',
         load_program(PAGETOUCH)]]}


BUILD = Host(
    "build", "1 GiB; four workers build: short processes, files, page tables; then all of memory "
    "is wanted in huge pages",
    jobs,
    ("huge pages not to be had afterwards", "huge faults that failed", "allocation stalls",
     "fall-backs that mix types"),
    setup=sources, huge=True, disks=DISKS, boots=True, without=("pcp", "zonelock", "numa", "cma"),
)
METADATA = Host(
    "metadata", f"256 MiB; a backup (tar) of {FOLDERS * FILES} small files, nothing of them in "
    "memory at first; then a process faults 48 MiB in huge pages",
    backup,
    ("huge faults that failed", "fall-backs that mix types", "kswapd wake-ups"),
    setup=small_files, memory="256M", disks=DISKS, boots=True,
    without=("pcp", "zonelock", "numa", "cma"),
    before=({"do": "write", "path": "/proc/sys/vm/drop_caches", "text": "3"},),
)
