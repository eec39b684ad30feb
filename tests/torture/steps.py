# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of steps: one row each says how often, where, with what words, and what to do.

draw() runs on the host and chooses words; run() runs in the guest and does what they say.  A step
that the kernel or livemm refuses with an errno of the contract has done its work; any other errno
is a failure.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import mmap
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from tests.torture import steps_abuse, steps_files, steps_poison, steps_trace
from tests.torture.base import (
    KERNEL_REFUSALS,
    KLP_LIMIT,
    LIVEPATCHES,
    MEMORY_BLOCKS,
    SCRATCH,
    Guest,
    Kind,
    Machine,
    Wrong,
    block_pages,
    command,
    insmod,
    outcome,
    own_folder,
    rmmod,
    stripped,
    write,
)
from tests.torture.program import Draw

# ---- modules and livepatches


def draw_reload(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["", steps_files.draw_parameter(rnd, machine)[0]]), rnd.choice(["", "held"])]


def livepatches_go(seconds: float) -> None:
    """Disable livepatches of livemm, and unload their modules as far as these go in time."""
    for patch in sorted(LIVEPATCHES.glob("livemm_klp*")):
        write(patch / "enabled", "0", KERNEL_REFUSALS)
    end = time.monotonic() + seconds
    while modules := list(Path("/sys/module").glob("livemm_klp*")):
        for module in modules:
            rmmod(module.name)
        if time.monotonic() > end:
            return
        time.sleep(0.1)


def run_reload(guest: Guest, policies: str, how: str = "") -> None:
    def unload() -> int:
        livepatches_go(5)
        return rmmod("livemm")

    gone = steps_abuse.held(guest, unload) if how == "held" else unload()
    there = insmod(stripped("livemm"), *([f"policies={policies}"] if policies else []))
    if there and there != errno.EEXIST:
        insmod(stripped("livemm"))
    guest.count(f"unload {outcome(gone)}, load {outcome(there)}")


def run_livepatch_off(guest: Guest) -> None:
    for patch in sorted(LIVEPATCHES.glob("livemm_klp*")):
        error = write(patch / "enabled", "0", KERNEL_REFUSALS)
        guest.count(f"livepatch off {errno.errorcode.get(error, 'done')}")
        # A policy comes on again once the old livepatch is unloaded.
        rmmod(patch.name)
        return
    guest.count("livepatch off absent")


# Of those that lmm_foreign.ko knows.
FOREIGN = ["free_pcppages_bulk", "rmqueue_bulk", "compact_zone", "change_prot_numa",
           "drain_pages_zone", "drain_all_pages", "task_numa_fault", "find_suitable_fallback",
           "bdev_getblk"]


def draw_foreign(rnd: Random, machine: Machine) -> list[str]:
    words = [f"function={','.join(rnd.sample(FOREIGN, rnd.randint(1, 2)))}"]
    return [*words, "replace=1"] if rnd.random() < 0.3 else words


def foreign_gone(guest: Guest) -> None:
    """Take the foreign livepatch out, as an administrator would."""
    enabled = LIVEPATCHES / "lmm_foreign/enabled"
    end = time.monotonic() + KLP_LIMIT
    while time.monotonic() < end:
        if not Path("/sys/module/lmm_foreign").exists():
            return
        if enabled.exists():
            with contextlib.suppress(OSError):
                if enabled.read_text(encoding="ascii").strip() == "1":
                    write(enabled, "0", KERNEL_REFUSALS)
        elif rmmod("lmm_foreign") == 0:
            return
        time.sleep(0.1)
    raise Wrong("a foreign livepatch does not go")


def run_foreign(guest: Guest, *words: str) -> None:
    if error := insmod(guest.modules / "lmm_foreign.ko", *words):
        guest.count(f"foreign {outcome(error)}")
        return
    time.sleep(0.2)
    foreign_gone(guest)
    guest.count("foreign")


def draw_trace(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["livemm", "kmem", "compaction", "vmscan", "migrate"]), rnd.choice("01")]


def run_trace(guest: Guest, system: str, value: str) -> None:
    write(Path("/sys/kernel/tracing/events") / system / "enable", value, KERNEL_REFUSALS)
    guest.count("trace")


FUNCTIONS = ["free_pcppages_bulk", "rmqueue_bulk", "task_numa_fault", "wakeup_kswapd",
             "get_page_from_freelist", "change_prot_numa"]


def draw_bpf(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["kfunc", "kretfunc", "kprobe", "kretprobe"]), rnd.choice(FUNCTIONS)]


def run_bpf(guest: Guest, kind: str, function: str) -> None:
    """A BPF program of somebody else counts calls; BPF or livemm may have to make room."""
    text = f"{kind}:{function} {{ @ = count(); }} interval:s:2 {{ exit(); }}"
    # Starts a compiler, which takes long under emulation.
    status = command(["timeout", "-s", "INT", "200", "bpftrace", "-e", text], 280)
    if status in (126, 127):
        raise Wrong("bpftrace cannot be run")
    guest.count(f"bpf {status}")


# ---- the kernel's own changes


def draw_cpu(rnd: Random, machine: Machine) -> list[str]:
    # A CPU that stays away is away when policies go off, and comes back after the phase.
    return [str(rnd.randint(1, machine.cpus - 1)), rnd.choice(["back", "back", "stays"])]


def run_cpu(guest: Guest, cpu: str, then: str = "back") -> None:
    online = Path(f"/sys/devices/system/cpu/cpu{cpu}/online")
    gone = write(online, "0", KERNEL_REFUSALS)
    time.sleep(0.1)
    if then == "back":
        write(online, "1", KERNEL_REFUSALS)
    guest.count(f"cpu {then} {errno.errorcode.get(gone, 'done')}")


def memory_blocks() -> list[Path]:
    return sorted(MEMORY_BLOCKS.glob("memory[0-9]*/state"))


def draw_memory(rnd: Random, machine: Machine) -> list[str]:
    return [str(rnd.randint(0, 1000))]


def run_memory(guest: Guest, which: str) -> None:
    blocks = memory_blocks()
    if not blocks:
        return
    state = blocks[int(which) % len(blocks)]
    with guest.memory:
        # Memory with a broken page may stay off for good.
        block = int(state.parent.name.removeprefix("memory"))
        if (block in {pfn // block_pages() for pfn in guest.poisoned}
                or steps_poison.block_is_poisoned(block)):
            guest.count("memory with a broken page")
            return
        # The kernel tries for ever while pages are in the way: a writer of its own can be killed.
        gone = command(["timeout", "-s", "KILL", "15", "sh", "-c", f"echo offline >{state}"])
        write(state, "online", KERNEL_REFUSALS)
    guest.count(f"memory {'refused' if gone else 'done'}")


THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
HUGE_POOL = Path("/proc/sys/vm/nr_hugepages")
# The value that the kernel has at boot comes back after each phase, in this order: THP settings
# change min_free_kbytes.
SETTINGS: dict[str, Sequence[str]] = {
    "/proc/sys/vm/percpu_pagelist_high_fraction": ["0", "8", "16", "100"],
    "/proc/sys/vm/watermark_scale_factor": ["1", "10", "100", "500"],
    "/proc/sys/vm/watermark_boost_factor": ["0", "15000", "30000"],
    "/proc/sys/vm/compaction_proactiveness": ["0", "20", "100"],
    "/proc/sys/vm/defrag_mode": ["0", "1"],
    "/proc/sys/vm/extfrag_threshold": ["0", "500", "1000"],
    "/proc/sys/vm/zone_reclaim_mode": ["0", "1", "3"],
    "/proc/sys/vm/overcommit_memory": ["0", "1"],
    str(HUGE_POOL): ["0", "8", "32", "64"],
    "/proc/sys/kernel/numa_balancing": ["0", "1", "2"],
    str(THP): ["always", "madvise", "never"],
    "/sys/kernel/mm/transparent_hugepage/defrag": ["always", "defer", "madvise", "never"],
    "/sys/kernel/mm/ksm/run": ["0", "1", "2"],
    "/sys/kernel/debug/sched/numa_balancing/scan_delay_ms": ["100", "1000"],
    "/sys/kernel/debug/sched/numa_balancing/scan_size_mb": ["1", "16", "256"],
    "/proc/sys/vm/min_free_kbytes": ["1000", "4000", "16000", "45000"],
}


# So that the kernel scans memory soon.
BALANCING = {"/proc/sys/kernel/numa_balancing": "1",
             "/sys/kernel/debug/sched/numa_balancing/scan_delay_ms": "100"}


# The kernel switches a static key for this file without a lock: of two steps that write at once,
# one may find the key half on, and the kernel warns (static_key_disable_cpuslocked()).
UNLOCKED = "/proc/sys/kernel/numa_balancing"
_unlocked = threading.Lock()


def draw_setting(rnd: Random, machine: Machine) -> list[str]:
    file = rnd.choice(list(SETTINGS))
    return [file, rnd.choice(list(SETTINGS[file]))]


def run_setting(guest: Guest, file: str, value: str) -> None:
    with _unlocked if file == UNLOCKED else contextlib.nullcontext():
        write(Path(file), value, KERNEL_REFUSALS)
    guest.count("setting")


def draw_once(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["/proc/sys/vm/compact_memory=1", "/proc/sys/vm/drop_caches=1",
                        "/proc/sys/vm/drop_caches=3", "/proc/sys/vm/stat_refresh=1"])]


def run_once(guest: Guest, words: str) -> None:
    file, _, value = words.partition("=")
    write(Path(file), value, KERNEL_REFUSALS)
    guest.count("once")


def draw_disable(rnd: Random, machine: Machine) -> list[str]:
    return [str(rnd.randint(1, 300))]


def run_disable(guest: Guest, milliseconds: str) -> None:
    """zone_pcp_disable(), as memory that goes offline calls it."""
    hold = Path("/sys/module/lmm_pageset/parameters/hold_ms")
    write(hold, milliseconds, KERNEL_REFUSALS)
    guest.count("pcp disabled")


# The kernel's files, and those of lmm_owner, which stand in where the kernel has none.
OWNERS = [Path("/sys/kernel/debug/cma"), Path("/sys/kernel/debug/lmm_owner")]


def owner_there(guest: Guest) -> str:
    """Load an owner of CMA memory where the kernel has CMA but no files for that; the error."""
    reserved = re.search(r"^CmaTotal: +(\d+)", Path("/proc/meminfo").read_text(encoding="ascii"),
                         re.M)
    if not reserved or reserved[1] == "0" or OWNERS[0].exists():
        return ""
    error = insmod(guest.modules / "lmm_owner.ko")
    return os.strerror(error) if error else ""


def draw_contiguous(rnd: Random, machine: Machine) -> list[str]:
    return [str(rnd.choice([1, 16, 512, 2048]))]


def run_contiguous(guest: Guest, pages: str) -> None:
    areas = sorted(file for folder in OWNERS for file in folder.glob("*/alloc"))
    if not areas:
        raise Wrong("there is no CMA memory")
    for area in areas:
        if write(area, pages, KERNEL_REFUSALS | {errno.ENOSPC}) == 0:
            write(area.with_name("free"), pages, KERNEL_REFUSALS)
            guest.count("contiguous")


def ask_and_wait(guest: Guest) -> None:
    """A request of each owner, and some time for cma to move pages until the next."""
    run_contiguous(guest, "2048")
    time.sleep(0.3)


# ---- loads

# Each ends by itself; {root} is the checkout, {s} and {ms} the time.
LOADS: dict[str, str] = {
    "touch": "{root}/build/bench/pagetouch -w 32 -r 1000 -p 2",
    "touch_small": "{root}/build/bench/pagetouch -w 2 -r 100000 -p 1",
    # More than the depots of zonelock have room for, freed at once.
    "touch_large": "{root}/build/bench/pagetouch -w 200 -r 1 -p 1",
    "hints": "{root}/build/programs/hintload -t 4 -m 8 -s {ms}",
    "hints_shared": "{root}/build/programs/hintload -p shared -t 4 -m 4 -s {ms}",
    # Each thread runs longer than the kernel waits with the first scan, see BALANCING.
    "scanned": "{root}/build/programs/hintload -t 4 -m 4 -s 3000",
    "vm": "stress-ng --vm 2 --vm-bytes 48M --vm-populate -t {s}",
    "fork": "stress-ng --fork 2 -t {s}",
    "vfork": "stress-ng --vforkmany 1 -t {s}",
    "mmap": "stress-ng --mmap 2 --mmap-bytes 16M -t {s}",
    "mremap": "stress-ng --mremap 1 --mremap-bytes 8M -t {s}",
    "madvise": "stress-ng --madvise 2 -t {s}",
    "shm": "stress-ng --shm 1 --shm-bytes 16M -t {s}",
    "pipe": "stress-ng --pipe 2 -t {s}",
    "sock": "stress-ng --sock 1 -t {s}",
    "switch": "stress-ng --switch 2 -t {s}",
    "ksm": "stress-ng --vm 1 --vm-bytes 32M --vm-madvise mergeable -t {s}",
    "huge": "stress-ng --vm 1 --vm-bytes 64M --vm-madvise hugepage -t {s}",
    "bigheap": "stress-ng --bigheap 1 --bigheap-growth 64K -t {s}",
    "tmpfs": "dd if=/dev/zero of=/dev/shm/lmm_torture bs=1M count=96",
}


# Loads that a kernel with lockdep is spared.  Linux 6.1.192 splits a VMA of hugetlb pages before it
# takes the lock that hugetlb_split() asserts (__vma_adjust(), backport of 081056dc00a2); only the
# stressor mmap makes such VMAs.
SPARED = {"debug": {"mmap"}, "inject": {"mmap"}}


def draw_load(rnd: Random, machine: Machine) -> list[str]:
    spared = SPARED.get(machine.kernel, set())
    return [rnd.choice([name for name in LOADS if name not in spared]), str(rnd.randint(1, 4))]


# One load of each program, which ends at once: a load that does not run tests nothing.
TRIALS = ["{root}/build/bench/pagetouch -w 2 -r 2 -p 1",
          "{root}/build/programs/hintload -t 2 -m 1 -s 500",
          "stress-ng --pipe 1 -t 1"]


# MiB that memory_short() leaves free: less than what the loads of WORK touch.
SPARE = 48
# So few that cma moves pages, with CALM in force: half of the free pages, and more, are CMA memory.
SPARE_CMA = 16
# Has low watermarks, so that regular memory may be nearly full.
CALM = {"/proc/sys/vm/min_free_kbytes": "4000"}
# MiB between the high watermark after boot and the highest that jump_watermarks() sets: a fifth of
# memory, or of a node.
ROOM = 96
PIPES, PIPE_BYTES = 300, 1 << 16
# By work, not by time: a guest that gets little of the host's time does as much.
WORK = ["{root}/build/bench/pagetouch -w 16 -r 12 -p 2", "stress-ng --pipe 2 --pipe-ops 4000"]


@contextlib.contextmanager
def memory_short(spare: int = SPARE) -> Iterator[None]:
    """Have so little free memory that the loads of WORK wake kswapd, or `spare` MiB.

    Full pipes hold pages that cannot move: the kernel takes these from blocks of movable pages.
    Nor can such pages come from CMA memory, so free CMA memory does not count: without swap the
    kernel would kill for them.
    """
    rows = (line.split() for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    memory = {row[0]: int(row[1]) << 10 for row in rows}
    free = memory["MemFree:"] - memory.get("CmaFree:", 0)
    pipes = []
    try:
        with mmap.mmap(-1, max(free - (spare << 20), 1),
                       mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE):
            for _ in range(PIPES):
                pipes.append(os.pipe2(os.O_NONBLOCK))
                os.write(pipes[-1][1], bytes(PIPE_BYTES))
            yield
    finally:
        for end in itertools.chain(*pipes):
            os.close(end)


# Distance of the watermarks in 1/10,000 of memory: the most that 6.1 takes, and that of the boot.
SCALE = Path("/proc/sys/vm/watermark_scale_factor")
SCALES = ("1000", "10")


def jump_watermarks() -> None:
    """Have free pages fall below the high watermark at once, while depots are full, and back."""
    for factor in SCALES:
        write(SCALE, factor, KERNEL_REFUSALS)
        time.sleep(0.2)


def words_of(guest: Guest, load: str, seconds: int = 1) -> list[str]:
    """The command of a load."""
    return load.format(root=guest.root, s=seconds, ms=seconds * 1000).split()


def run_load(guest: Guest, name: str, seconds: str) -> None:
    # A load is killed while it runs, too: many pages are freed at once.
    (SCRATCH / "lmm_torture").unlink(missing_ok=True)
    guest.beside.start(name, words_of(guest, LOADS[name], int(seconds)), int(seconds) + 1)


# A process that memory runs out for; guest.sh has mounted the cgroups.
CGROUP = Path("/run/lmm_cgroup/lmm_torture")


def oom_kills(group: Path | None) -> int:
    """Processes that the OOM killer has killed, in a cgroup or in all."""
    file = group / "memory.events" if group else Path("/proc/vmstat")
    rows = (line.split() for line in file.read_text(encoding="ascii").splitlines())
    return int(dict(rows)["oom_kill"])


def draw_oom(rnd: Random, machine: Machine) -> list[str]:
    return [rnd.choice(["cgroup", "machine"])]


def touch_in(group: Path, guest: Guest, mebibytes: int, rounds: int, seconds: int) -> None:
    """A process of a cgroup, the first to be killed, touches pages."""
    text = "echo 1000 >/proc/self/oom_score_adj; echo $$ >\"$1/cgroup.procs\"; shift; exec \"$@\""
    command(["timeout", "-s", "KILL", str(seconds), "sh", "-c", text, "sh", group,
             guest.root / "build/bench/pagetouch", "-r", str(rounds), "-p", "1",
             "-w", str(mebibytes)])


def run_oom(guest: Guest, where: str) -> None:
    """A process takes more than its cgroup, or the machine, has: the OOM killer ends it."""
    with own_folder(CGROUP) as group:
        if where == "cgroup":
            write(group / "memory.max", "20M", set())
            write(group / "memory.swap.max", "0", {errno.ENOENT})
        kills = oom_kills(group if where == "cgroup" else None)
        touch_in(group, guest, 64 if where == "cgroup" else 8192, 1, 60)
        killed = oom_kills(group if where == "cgroup" else None) > kills
    if where == "cgroup" and not killed:
        raise Wrong("memory of a cgroup did not run out")
    guest.count(f"oom {where} {'killed' if killed else 'in time'}")


ZRAM = Path("/sys/block/zram0")


def swap_on() -> str:
    """Have memory to swap to; what is wrong, or "" also where the kernel has no such memory."""
    if command(["modprobe", "zram"]) or not ZRAM.exists():
        return ""
    write(ZRAM / "disksize", "128M", set())
    return "" if not command(["mkswap", "/dev/zram0"]) and \
        not command(["swapon", "/dev/zram0"]) else "no swap on /dev/zram0"


def run_swap(guest: Guest) -> None:
    """A process touches more than its cgroup may have in memory."""
    if not ZRAM.exists():
        guest.count("swap absent")
        return
    with own_folder(CGROUP) as group:
        write(group / "memory.max", "20M", set())
        touch_in(group, guest, 40, 3, 20)
    guest.count("swap")


def draw_exchange(rnd: Random, machine: Machine) -> list[str]:
    return [str(rnd.choice([500, 2000, 5000]))]


def run_exchange(guest: Guest, steps: str) -> None:
    """Pages change hands between threads and a timer's interrupt, each page checked."""
    folder = Path("/sys/module/lmm_exchange/parameters")
    write(folder / "run", steps, KERNEL_REFUSALS)
    errors = (folder / "errors").read_text(encoding="ascii").strip()
    if errors != "0":
        raise Wrong(f"lmm_exchange: {errors} pages had two owners")
    guest.count("exchange")


# ---- the table


KINDS: dict[str, Kind] = {
    **steps_files.KINDS,
    "reload": Kind(80, run_reload, draw_reload),
    "livepatch_off": Kind(80, run_livepatch_off),
    "foreign": Kind(60, run_foreign, draw_foreign),
    "trace": Kind(600, run_trace, draw_trace),
    "bpf": Kind(4, run_bpf, draw_bpf, lambda machine: not machine.debug),
    "cpu": Kind(200, run_cpu, draw_cpu),
    "memory": Kind(30, run_memory, draw_memory),
    "setting": Kind(4000, run_setting, draw_setting),
    "once": Kind(150, run_once, draw_once),
    "disable": Kind(200, run_disable, draw_disable),
    "contiguous": Kind(1000, run_contiguous, draw_contiguous, lambda machine: machine.cma),
    "load": Kind(1000, run_load, draw_load),
    "oom": Kind(15, run_oom, draw_oom),
    "swap": Kind(30, run_swap),
    "exchange": Kind(200, run_exchange, draw_exchange),
    **steps_abuse.KINDS,
    **steps_poison.KINDS,
    **steps_trace.KINDS,
}


def kinds_of(machine: Machine) -> list[str]:
    """The kinds that make sense on a machine."""
    return [name for name, kind in KINDS.items() if kind.where(machine)]


def drawer(machine: Machine) -> Draw:
    """Draws kinds by their weights, and their words."""
    names = kinds_of(machine)
    weights = list(itertools.accumulate(KINDS[name].weight for name in names))

    def draw(rnd: Random, name: str) -> tuple[str, tuple[str, ...]]:
        name = name or rnd.choices(names, cum_weights=weights)[0]
        return name, tuple(KINDS[name].draw(rnd, machine))

    return draw
