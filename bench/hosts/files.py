# SPDX-License-Identifier: GPL-2.0-only
"""Hosts that work on files: a build, and a backup of many small ones."""

from __future__ import annotations

from bench import guest
from bench.guest import PAGETOUCH, load_program
from bench.hosts.host import Host, program

# What the loads of bench.run pageblock have, too.
DISKS = {"livemm-files": 1536, "livemm-swap": 1024}
ROUNDS = 6
FOLDERS, FILES, SIZE = 64, 256, 9000


def disk(plan: guest.Plan) -> None:
    """Files and swap on disks."""
    plan.add("disks", "disks", serials=list(DISKS))


def small_files(plan: guest.Plan) -> None:
    """Make many small files."""
    disk(plan)
    plan.add("small_files", "files", folders=FOLDERS, files=FILES, size=SIZE)


def backup() -> guest.Step:
    """Read all files, then want huge pages."""
    return {"do": "beside", "argvs": [
        ["sh", "-c", 'tar -C /run/files -cf - . | cat && exec "$0" -p 1 -w 48 -r 1 -t',
         load_program(PAGETOUCH)]]}


BUILD = Host(
    "build", "1 GiB; small files, page cache, pipes, page tables, memory held and dropped, short "
    "processes; one process faults huge pages beside them",
    program("fragload", f"-d /run/files -r {ROUNDS}"),
    ("huge faults that failed", "fall-backs that mix types", "huge pages not to be had afterwards",
     "allocation stalls", "kswapd wake-ups"),
    setup=disk, huge=True, disks=DISKS, boots=True, without=("pcp", "zonelock", "numa", "cma"),
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
