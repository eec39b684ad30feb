# SPDX-License-Identifier: GPL-2.0-only
"""The guest's half of the bench: carry out a plan, write a line a step.

python3 -m bench.agent PLAN RESULTS

PLAN is a JSON list of steps, each an object with "do" and what that needs;
RESULTS gets one JSON object a step, the last one with "error" if a step failed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

VMSTAT = Path("/proc/vmstat")
TRACING = Path("/sys/kernel/tracing")
EVENTS = TRACING / "events"
KMEM = EVENTS / "kmem"
# A page that goes over zone->lock hits one of these: on its way into a
# per-CPU list (or straight to the caller), and on its way back.
CROSSINGS = ("mm_page_alloc_zone_locked", "mm_page_pcpu_drain")
TRIGGER = "hist:keys=order"
# A fall-back to a block of another type.
EXTFRAG = "mm_page_alloc_extfrag"
EXTFRAG_TRIGGER = "hist:keys=alloc_migratetype,fallback_migratetype,fallback_order"
# Where CMA's areas are allocated from by hand, and what it says of that.
AREAS = Path("/sys/kernel/debug/cma")
# Where the kernel has no CMA_DEBUGFS, a module of the tests has such files.
OWNER = Path("/sys/kernel/debug/lmm_owner")
CMA_EVENTS = ("cma_alloc_busy_retry", "cma_alloc_finish")
SLOWPATH = Path("/sys/module/lmm_slowpath/parameters")
LOCKS = Path("/sys/module/lmm_locks/parameters")
BULK = Path("/sys/module/lmm_bulk/parameters")
# For so long pages that lie in lists and depots after a load are counted: longer than `pcp` and
# `zonelock` let pages lie unused.
SETTLE_S = 5.0
DEPOT = Path("/sys/kernel/debug/livemm/zonelock/state")
STATUS = Path("/sys/kernel/debug/livemm/status")
WAITS = re.compile(r" (waiting|loading|leaving) |livemm_klp_\w+ is (being loaded|in transition)")
LIVEPATCHES = Path("/sys/kernel/livepatch")
CENSUS = Path("/sys/kernel/debug/livemm/pageblock/census")
# With nothing at random in it, and nothing left to be done in the background.
MKFS = ["-q", "-F", "-N", "40000", "-U", "11111111-2222-3333-4444-555555555555",
        "-E", "hash_seed=11111111-2222-3333-4444-555555555555,nodiscard"]
# Where the programs of loads have their files, on a disk of the guest's own.
FILES = Path("/run/files")
SCANS = Path("/sys/kernel/debug/sched/numa_balancing")
# Scans that are asked for, and the ranges in which a scan armed entries: each of those is a flush
# of the TLBs of all CPUs that run the process.
SCAN_PROBES = ("p:lmm_bench/scan task_numa_work",
               "r:lmm_bench/flush change_protection armed=$retval:s64")
SCAN_TRIGGERS = {"scan": "hist:keys=common_type", "flush": "hist:keys=common_type if armed > 0"}

# Holds so many bytes, every page of them written, until its input ends.
HOG = "import sys; held = b'x' * int(sys.argv[1]); print(len(held), flush=True); sys.stdin.read()"

# Fills the page cache with a disk, then goes on reading it at a rate, in MiB a second.
READER = """
import os, sys, time
disk = os.open(sys.argv[1], os.O_RDONLY)
mib, size, rate = 1 << 20, os.lseek(disk, 0, os.SEEK_END), int(sys.argv[2])
for at in range(0, size, mib):
    os.pread(disk, mib, at)
print(size, flush=True)
then, at = time.monotonic(), 0
while True:
    os.pread(disk, mib, at)
    at = (at + mib) % size
    then = max(then + 1 / rate, time.monotonic() - 1)
    time.sleep(max(0.0, then - time.monotonic()))
"""

Step = dict[str, Any]

# Kept, so that their pipes stay open.
READERS: list[subprocess.Popen[str]] = []


class StepError(Exception):
    """A step could not be carried out; the text says why."""


def call(argv: list[str]) -> str:
    """Output of a program that must succeed."""
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip() or f"status {done.returncode}"
        raise StepError(f"{' '.join(argv)}: {words}")
    return done.stdout


def output_of(argv: list[str]) -> Step:
    """The JSON that a program prints."""
    output: Step = json.loads(call(argv))
    return output


def text_of(path: Path) -> str:
    """What a file says, without blanks around it."""
    return path.read_text(encoding="ascii").strip()


def numbers(path: Path) -> dict[str, int]:
    """The lines "name value" or "name: value kB" of a file."""
    rows = (line.split() for line in text_of(path).splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in rows if words[1:]}


@contextmanager
def written(during: Mapping[Path, str], afterwards: Mapping[Path, str]) -> Iterator[None]:
    """Write a text to each file, and another afterwards."""
    try:
        for path, text in during.items():
            path.write_text(text, encoding="ascii")
        yield
    finally:
        for path, text in afterwards.items():
            path.write_text(text, encoding="ascii")


@contextmanager
def vmstat_change() -> Iterator[dict[str, int]]:
    """Yields what is filled in afterwards: by how much each line of /proc/vmstat has grown."""
    before = numbers(VMSTAT)
    change: dict[str, int] = {}
    yield change
    change.update({name: value - before[name] for name, value in numbers(VMSTAT).items()})


def wait_until(
    done: Callable[[], bool], limit: float, every: float, late: Callable[[], str]
) -> float:
    """Seconds until something was done, by a look now and then; too many are an error."""
    started = time.monotonic()
    while not done():
        if time.monotonic() - started > limit:
            raise StepError(f"{late()} after {limit:.0f} s")
        time.sleep(every)
    return time.monotonic() - started


def hits(event: str, group: Path = KMEM) -> int:
    """Total of the event's hist trigger."""
    for line in text_of(group / event / "hist").splitlines():
        name, _, value = line.strip().partition(":")
        if name == "Hits":
            return int(value)
    raise StepError(f"{event}: its histogram has no total")


def busy_share(seconds: float) -> float:
    """The share of all CPUs' time that was not idle, over the next seconds."""

    def ticks() -> tuple[int, int]:
        words = text_of(Path("/proc/stat")).split("\n", 1)[0].split()
        values = [int(word) for word in words[1:9]]
        return sum(values), values[3] + values[4]

    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(total_after - total, 1)


def rest() -> None:
    """Wait until nothing else runs, two seconds long: boot and module loading leave work behind."""
    wait_until(lambda: busy_share(1.0) < 0.01 and busy_share(1.0) < 0.01, 120, 0,
               lambda: "the guest did not come to rest")


def histograms(events: Sequence[str], trigger: str) -> AbstractContextManager[None]:
    """Count hits of events of the page allocator, for a while."""
    files = [KMEM / event / "trigger" for event in events]
    return written(dict.fromkeys(files, trigger), dict.fromkeys(files, f"!{trigger}"))


def touch(step: Step) -> Step:
    """Run the page-touch program, counting crossings if asked to."""
    if step["rest"]:
        rest()
    events = CROSSINGS if step["crossings"] else ()
    with histograms(events, TRIGGER):
        result = output_of([step["program"], *step["args"]])
        return {**result, **{event: hits(event) for event in events}}


def program(step: Step) -> Step:
    """Run a program that prints one JSON object."""
    return output_of([step["program"], *step["args"]])


def crossed(step: Step) -> Step:
    """Run a load; count the pages that cross zone->lock, and what the kernel says it did."""
    with histograms(CROSSINGS, TRIGGER), vmstat_change() as events:
        call([step["program"], *step["args"]])
        hit = {event: hits(event) for event in CROSSINGS}
    return {"pages": 0, "hits": hit, "events": events}


def churned(step: Step) -> Step:
    """Run a load; count the fall-backs to blocks of another type, and what the kernel says."""
    with histograms([EXTFRAG], EXTFRAG_TRIGGER), vmstat_change() as events:
        found = output_of([step["program"], *step["args"]])
        found["extfrag"] = fallbacks()
    return {**found, "events": events}


def fill(step: Step) -> Step:
    """Fill memory with page cache, and keep a reader of more at work until the guest ends.

    The disk is a sparse file in memory: to read it costs no disk and no memory but the cache.
    """
    file = Path("/run/holes")
    with file.open("wb") as holes:
        holes.truncate(step["mib"] << 20)
    call(["modprobe", "loop"])
    disk = call(["losetup", "--find", "--show", str(file)]).strip()
    argv = [sys.executable, "-c", READER, disk, str(step["rate"])]
    reader = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    READERS.append(reader)
    if reader.stdout is None or not reader.stdout.readline():
        raise StepError(f"{disk}: could not be read")
    return {"cached": numbers(Path("/proc/meminfo"))}


def depot_pages() -> int:
    """Pages that the depots hold."""
    for line in text_of(DEPOT).splitlines():
        words = line.split()
        if words[:2] == ["#", "held_pages"]:
            return int(words[2])
    return 0


def empty_depots() -> float:
    """Have the depots empty; the seconds that takes."""
    if not DEPOT.exists():
        return 0.0
    return wait_until(lambda: not depot_pages(), 30, 0.02,
                      lambda: f"the depots still hold {depot_pages()} pages")


def zone(step: Step) -> Step:
    """Run the program of loads at zone->lock: as it is, then once more with all counted.

    What counts holds and crossings adds to the instructions, so it is not there at first.
    plain: instead of the second run, huge pages are asked for.
    crossings: count these too; what counts them adds to each hold.
    """
    argv = [step["program"], *step["args"]]
    with vmstat_change() as change:
        plain = output_of(argv)
    plain["events"] = change
    if DEPOT.exists():
        plain["held"] = depot_pages()
        plain["held_seconds"] = empty_depots()
    if step["plain"]:
        return {"plain": plain, "huge": huge_pages_to_be_had()}
    call(["insmod", step["locks"]])
    try:
        # All are numbers but who had the longest hold.
        longest = LOCKS / "longest"
        before = {path.name: int(text_of(path)) for path in LOCKS.iterdir() if path != longest}
        events = CROSSINGS if step["crossings"] else ()
        with histograms(events, TRIGGER):
            counted = output_of(argv)
            # What a depot holds in the end goes over the lock too, and what lists give back soon.
            time.sleep(SETTLE_S)
            empty_depots()
            counted.update({event: hits(event) for event in events})
        counted.update({name: int(text_of(LOCKS / name)) - was for name, was in before.items()})
        counted["overhead_ns"] = before["overhead_ns"]
        counted["longest"] = text_of(longest)
        for name in ("longest_ns", "longest_own_ns"):
            counted[name] = int(text_of(LOCKS / name))
        # The part of the load that is measured begins later, where the load says so.
        for count in ("holds", "held"):
            counted[f"{count}_before"] -= before["holds" if count == "holds" else "held_ns"]
    finally:
        call(["rmmod", "lmm_locks"])
    return {"plain": plain, "counted": counted}


@contextmanager
def on_cpu(cpu: int) -> Iterator[None]:
    """Stay on one CPU."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def bulk(phase: str, pages: int, cpu: int) -> Step:
    """Have the module lmm_bulk allocate so many pages, or free them: `phase`."""
    with on_cpu(cpu):
        (BULK / phase).write_text(str(pages), encoding="ascii")
    return {"pages": pages, "ns": int(text_of(BULK / "ns"))}


def pages(step: Step) -> Step:
    """Have the module lmm_bulk allocate pages and free them, some times; the last one counts."""
    for _ in range(step["rounds"]):
        found = {phase: bulk(phase, step["pages"], 0)["ns"] for phase in ("alloc", "free")}
    return {"pages": step["pages"], **found}


def holds(step: Step) -> Step:
    """Run a load three times: as it is, with holds counted, and with crossings counted.

    What counts crossings adds to the instructions under the lock, so holds are counted alone.
    pages: the load is the module lmm_bulk, whose two halves are counted apart.
    cpus: the CPU of each half.
    """
    runs: dict[str, Callable[[], Step]] = {
        "all": lambda: output_of([step["program"], *step["args"]])
    }
    if "pages" in step:
        runs = {phase: partial(bulk, phase, step["pages"], cpu)
                for phase, cpu in step["cpus"].items()}
    phases: dict[str, dict[str, Step]] = {name: {"plain": run()} for name, run in runs.items()}
    call(["insmod", step["locks"]])
    try:
        overhead = int(text_of(LOCKS / "overhead_ns"))
        for name, run in runs.items():
            before = {count: int(text_of(LOCKS / count)) for count in ("holds", "held_ns")}
            found = run()
            found.update({count: int(text_of(LOCKS / count)) - was
                          for count, was in before.items()})
            phases[name]["held"] = {**found, "overhead_ns": overhead}
    finally:
        call(["rmmod", "lmm_locks"])
    for name, run in runs.items():
        with histograms(CROSSINGS, TRIGGER):
            phases[name]["crossed"] = {**run(), **{event: hits(event) for event in CROSSINGS}}
    return {"phases": phases}


def huge_pages_to_be_had() -> Step:
    """Ask for all of memory in huge pages; how many come, of how many."""
    path = Path("/proc/sys/vm/nr_hugepages")
    asked = numbers(Path("/proc/meminfo"))["MemTotal"] >> 11
    started = time.monotonic()
    with written({path: str(asked)}, {path: "0"}):
        got = int(text_of(path))
        took = time.monotonic() - started
    return {"asked": asked, "got": got, "seconds": round(took, 2)}


def list_sum(name: str) -> int:
    """The sum of a number, such as count, over all per-CPU lists; 0 if they have none."""
    rows = (line.split() for line in text_of(Path("/proc/zoneinfo")).splitlines())
    return sum(int(words[1]) for words in rows if words[:1] == [f"{name}:"])


def held(step: Step) -> Step:
    """What the lists hold before a load, and from its end on: [seconds, pages].

    default is what they may hold by the kernel's own bounds, with no policy on.
    """
    before, default = list_sum("count"), list_sum("high_min") or list_sum("high")
    call([step["program"], *step["args"]])
    start = time.monotonic()
    curve: list[tuple[float, int]] = []
    while not curve or curve[-1][0] < step["seconds"]:
        time.sleep(max(0.0, start + len(curve) * step["every"] - time.monotonic()))
        curve.append((round(time.monotonic() - start, 2), list_sum("count")))
    return {"before": before, "default": default, "curve": curve}


@contextmanager
def hog(size: int) -> Iterator[None]:
    """Hold memory in a program of its own, the one that goes if memory runs out."""
    with subprocess.Popen(
        [sys.executable, "-c", HOG, str(size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        Path(f"/proc/{holder.pid}/oom_score_adj").write_text("1000", encoding="ascii")
        if holder.stdout is None or not holder.stdout.readline():
            raise StepError(f"could not hold {size >> 20} MiB")
        yield


def disk_of(serial: str) -> str:
    """The disk with that serial number."""
    call(["modprobe", "virtio_blk"])
    for path in Path("/sys/block").glob("*/serial"):
        if text_of(path) == serial:
            return f"/dev/{path.parent.name}"
    raise StepError(f"no disk with serial {serial}")


def in_memory(program: str) -> Path:
    """A copy in memory: waiting for the host's files would be part of the time."""
    copy = Path("/run") / Path(program).name
    if not copy.exists():
        shutil.copy(program, copy)
    return copy


def use_disks(serials: Sequence[str]) -> None:
    """Have a folder on the first disk, and swap on the second."""
    files, swap = (disk_of(serial) for serial in serials)
    call(["mkfs.ext4", *MKFS, files])
    FILES.mkdir()
    call(["modprobe", "ext4"])
    call(["mount", "-t", "ext4", "-o", "noinit_itable", files, str(FILES)])
    call(["mkswap", swap])
    call(["swapon", swap])


def pressure(step: Step) -> Step:
    """Run the page-touch program while memory is held and a disk is read.

    All but `leave` MiB is held; the disk's pages are what there is to reclaim.
    Both loads are of a fixed size, so that each run asks for the same pages.
    """
    disk = disk_of(step["serial"])
    Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    size = (numbers(Path("/proc/meminfo"))["MemAvailable"] << 10) - (step["leave"] << 20)
    with hog(size), vmstat_change() as events:
        reading = ["dd", f"if={disk}", "of=/dev/null", "bs=1M", "status=none"]
        with subprocess.Popen(reading, stdin=subprocess.DEVNULL) as reader:
            call([step["program"], *step["args"]])
            if reader.wait():
                raise StepError(f"{disk}: could not be read to its end")
    return {"held": size, "events": events}


def online(step: Step) -> Step:
    """Bring up the CPUs that were left out at boot.

    Under -icount they begin only if the CPU that does it pauses now and then; see
    bench.guest.
    """
    os.sched_setaffinity(0, {0})
    with subprocess.Popen([step["program"], "-p", "spin"], stdout=subprocess.DEVNULL) as spinner:
        try:
            for path in sorted(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/online")):
                if text_of(path) == "0":
                    path.write_text("1", encoding="ascii")
        finally:
            spinner.terminate()
    cpus = os.cpu_count() or 1
    os.sched_setaffinity(0, range(cpus))
    return {"cpus": cpus}


def load(step: Step) -> Step:
    """Run the program of NUMA loads, with the kernel's own limits of scans set for it.

    Counts scans and their flushes if asked to.
    """
    program = in_memory(step["program"])
    limits = {SCANS / name: str(value) for name, value in step["scan"].items()}
    with written(limits, {path: text_of(path) for path in limits}):
        if not step["flushes"]:
            return output_of([str(program), *step["args"]])
        with scans_counted() as counts:
            result = output_of([str(program), *step["args"]])
        return {**result, **counts}


def change_probes(text: str) -> None:
    """Add or remove a probe.  Python's mode "a" seeks to the end, which this file refuses."""
    file = os.open(TRACING / "kprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


@contextmanager
def scans_counted() -> Iterator[dict[str, int]]:
    """Yields what is filled in afterwards: scans, and their flushes."""
    group = EVENTS / "lmm_bench"
    for probe in SCAN_PROBES:
        change_probes(probe)
    triggers = {group / event / "trigger": text for event, text in SCAN_TRIGGERS.items()}
    counts: dict[str, int] = {}
    with written(triggers, {path: f"!{text}" for path, text in triggers.items()}):
        yield counts
        counts.update({f"{event}_hits": hits(event, group) for event in SCAN_TRIGGERS})
    for event in SCAN_TRIGGERS:
        change_probes(f"-:lmm_bench/{event}")


def hist_rows(event: str) -> list[dict[str, int]]:
    """What an event's hist trigger counted: the keys of each row, and its hits."""
    rows = []
    for line in text_of(KMEM / event / "hist").splitlines():
        words = line.replace(",", " ").replace(":", " ").split()
        if words[:1] == ["{"] and words[-2:-1] == ["hitcount"]:
            keys = words[1 : words.index("}")]
            row = dict(zip(keys[::2], map(int, keys[1::2]), strict=True))
            rows.append({**row, "hits": int(words[-1])})
    return rows


def fallbacks() -> list[dict[str, int]]:
    """Fall-backs to blocks of another type that were counted, by kind."""
    return hist_rows(EXTFRAG)


def block_types() -> dict[str, int]:
    """Blocks of each type, all zones together."""
    lines = text_of(Path("/proc/pagetypeinfo")).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Number of blocks"))
    names = lines[at].split()[4:]
    # Another node's free pages are between its blocks and those of the node before.
    rows = [line.split()[4:] for line in lines[at + 1 :]
            if line.startswith("Node") and ", type " not in line]
    return {name: sum(int(row[i]) for row in rows) for i, name in enumerate(names)}


def look_at_blocks(program: str) -> Step:
    """What the blocks are: by the kernel's types, by their pages, and by the policy."""
    # A page in a list is neither free nor anybody's.
    (SLOWPATH / "drain").write_text("1", encoding="ascii")
    seen: Step = {"types": block_types(), **output_of([program, "-c"])}
    if CENSUS.exists():
        seen["census"] = CENSUS.read_text(encoding="utf-8")
    return seen


def histogram(name: str) -> list[list[int]]:
    """A histogram of the module that times slow paths: [nanoseconds, count]."""
    lines = text_of(SLOWPATH / name).splitlines()
    return [[int(word) for word in line.split()] for line in lines]


def fragment(step: Step) -> Step:
    """Run the program of fragmenting loads; what came of it.

    Needs a disk for its files, one for swap, and the module that times slow paths.
    """
    program = str(in_memory(step["program"]))
    use_disks(step["disks"])
    before = look_at_blocks(program)
    with histograms([EXTFRAG], EXTFRAG_TRIGGER):
        with vmstat_change() as events:
            result = output_of([program, "-d", str(FILES), *step["args"]])
        result["extfrag"] = fallbacks()
    result["events"] = events
    result["failed"] = numbers(SLOWPATH / "failed")
    for name in ("unmovable", "movable", "atomic"):
        result[name] = histogram(name)
    result["blocks"] = {"before": before, "after": look_at_blocks(program)}
    result["huge"] = huge_pages_to_be_had()
    result["complaints"] = call(["dmesg"]).count("page allocation failure")
    return result


def workplace(step: Step) -> Step:
    """Make what the program of a build's load works on."""
    use_disks(step["disks"])
    call([str(in_memory(step["program"])), "-d", str(FILES), "-p"])
    return {}


def idle_seconds() -> float:
    """For how long all CPUs together had nothing to do."""
    return float(text_of(Path("/proc/uptime")).split()[1])


def the_area() -> Path:
    """The one area of CMA."""
    folder = OWNER if OWNER.exists() else AREAS
    areas = sorted(folder.iterdir())
    if len(areas) != 1:
        raise StepError(f"{folder}: {len(areas)} areas, not one")
    return areas[0]


def build_load(step: Step) -> Step:
    """Run the program of a build's load, with nothing of its files in memory at first."""
    argv = [str(in_memory(step["program"])), "-d", str(FILES), *step["args"]]
    traced: Sequence[str] = ()
    if step["contiguous"]:
        argv += ["-a", str(the_area())]
        traced = CMA_EVENTS
    call(["sync"])
    Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    (TRACING / "trace").write_text("", encoding="ascii")
    # Traced, not counted: these events are rare.
    switches = [TRACING / "events/cma" / event / "enable" for event in traced]
    with written(dict.fromkeys(switches, "1"), dict.fromkeys(switches, "0")):
        idle = idle_seconds()
        with vmstat_change() as events:
            result = output_of(argv)
        result["busy"] = result["ns"] / 1e9 - (idle_seconds() - idle)
        trace = text_of(TRACING / "trace")
    result["traced"] = {event: trace.count(f" {event}: ") for event in traced}
    result["events"] = events
    result["left"] = {name: value for name, value in numbers(VMSTAT).items()
                      if name.startswith("nr_free")}
    return result


def modprobe(step: Step) -> Step:
    """Load a module by name."""
    call(["modprobe", step["module"], *step.get("params", [])])
    return {}


def insmod(step: Step) -> Step:
    """Load a module by file; wait for its livepatch transition, if it is a livepatch."""
    call(["insmod", step["path"], *step.get("params", [])])
    module = Path(step["path"]).stem
    state = LIVEPATCHES / module / "transition"
    wait_until(lambda: not state.exists() or text_of(state) == "0", 60, 0.1,
               lambda: f"{module}: the livepatch transition is not done")
    return {}


def rmmod(step: Step) -> Step:
    """Unload a module; one that is a livepatch is switched off first."""
    module = step["module"]
    switch = LIVEPATCHES / module / "enabled"
    if switch.exists():
        switch.write_text("0", encoding="ascii")
        wait_until(lambda: not switch.exists(), 60, 0.1,
                   lambda: f"{module}: the livepatch is still there")
    call(["rmmod", module])
    return {}


def write(step: Step) -> Step:
    """Write a control file, and wait for the livepatches that a policy needs then."""
    path = Path(step["path"])
    try:
        path.write_text(step["text"], encoding="ascii")
    except OSError as error:
        why = path.parents[step.get("up", 0)] / "last_error"
        words = why.read_text(encoding="utf-8").strip() if why.exists() else ""
        raise StepError(f"{path}: {step['text']}: {error.strerror} {words}".strip()) from error
    wait_until(lambda: not (STATUS.exists() and WAITS.search(text_of(STATUS))), 600, 0.1, str)
    return {}


def read(step: Step) -> Step:
    """Text of a control file; "" when it is not there and need not be."""
    path = Path(step["path"])
    if step.get("optional") and not path.exists():
        return {"text": ""}
    return {"text": path.read_text(encoding="utf-8")}


ACTIONS: dict[str, Callable[[Step], Step]] = {
    action.__name__: action
    for action in (
        touch, program, crossed, churned, fill, held, pressure, online, load, fragment, zone, pages,
        holds, workplace, build_load, modprobe, insmod, rmmod, write, read
    )
}


def carry_out(steps: list[Step], results: TextIO) -> bool:
    """Do every step in order; False when one failed."""
    for step in steps:
        try:
            result = ACTIONS[step["do"]](step)
        except (StepError, OSError, ValueError) as error:
            result = {"error": str(error)}
        json.dump({**result, "name": step["name"]}, results)
        results.write("\n")
        results.flush()
        if "error" in result:
            print(f"{step['name']}: {result['error']}", file=sys.stderr)
            return False
    return True


def main() -> int:
    """The command."""
    plan, results = sys.argv[1:]
    steps = json.loads(Path(plan).read_text(encoding="utf-8"))
    with open(results, "w", encoding="utf-8") as lines:
        return 0 if carry_out(steps, lines) else 1


if __name__ == "__main__":
    sys.exit(main())
