# SPDX-License-Identifier: GPL-2.0-only
"""The guest's half of the bench: carry out a plan, write a line a step.

python3 -m bench.agent PLAN RESULTS

PLAN is a JSON list of steps, each an object with "do" and what that needs;
RESULTS gets one JSON object a step, the last one with "error" if a step failed.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

TRACING = Path("/sys/kernel/tracing")
KMEM = TRACING / "events/kmem"
# A page that goes over zone->lock hits one of these: on its way into a
# per-CPU list (or straight to the caller), and on its way back.
CROSSINGS = ("mm_page_alloc_zone_locked", "mm_page_pcpu_drain")
TRIGGER = "hist:keys=order"
EXTFRAG = "hist:keys=alloc_migratetype,fallback_migratetype,fallback_order"
# Where CMA's areas are allocated from by hand, and what it says of that.
AREAS = Path("/sys/kernel/debug/cma")
CMA_EVENTS = ("cma_alloc_busy_retry", "cma_alloc_finish")
SLOWPATH = Path("/sys/module/lmm_slowpath/parameters")
LOCKS = Path("/sys/module/lmm_locks/parameters")
DEPOT = Path("/sys/kernel/debug/livemm/zonelock/state")
CENSUS = Path("/sys/kernel/debug/livemm/pageblock/census")
# With nothing at random in it, and nothing left to be done in the background.
MKFS = ["-q", "-F", "-N", "40000", "-U", "11111111-2222-3333-4444-555555555555",
        "-E", "hash_seed=11111111-2222-3333-4444-555555555555,nodiscard"]
# Where the programs of loads have their files, on a disk of the guest's own.
FILES = Path("/run/files")
SCANS = Path("/sys/kernel/debug/sched/numa_balancing")

# Holds so many bytes, every page of them written, until its input ends.
HOG = "import sys; held = b'x' * int(sys.argv[1]); print(len(held), flush=True); sys.stdin.read()"

Step = dict[str, Any]


class StepError(Exception):
    """A step could not be carried out; the text says why."""


def call(argv: list[str]) -> str:
    """Output of a program that must succeed."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise StepError(f"{argv[0]}: {error.strerror}") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip() or f"status {done.returncode}"
        raise StepError(f"{' '.join(argv)}: {words}")
    return done.stdout


def hits(event: str) -> int:
    """Total of the event's hist trigger."""
    for line in (KMEM / event / "hist").read_text(encoding="ascii").splitlines():
        name, _, value = line.strip().partition(":")
        if name == "Hits":
            return int(value)
    raise StepError(f"{event}: its histogram has no total")


def busy_share(seconds: float) -> float:
    """The share of all CPUs' time that was not idle, over the next seconds."""

    def ticks() -> tuple[int, int]:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        values = [int(word) for word in words[1:9]]
        return sum(values), values[3] + values[4]

    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(total_after - total, 1)


def rest(limit: float = 120.0) -> None:
    """Wait until nothing else runs: boot and module loading leave work behind."""
    end = time.monotonic() + limit
    calm = 0
    while calm < 2:
        if time.monotonic() > end:
            raise StepError(f"the guest did not come to rest in {limit:.0f} s")
        calm = calm + 1 if busy_share(1.0) < 0.01 else 0


def nothing() -> None:
    """Wait for nothing."""


def count_crossings(
    argv: list[str], events: Sequence[str], settle: Callable[[], object] = nothing
) -> Step:
    """Run a program that prints JSON; with what it prints, hits of events until settled."""
    for event in events:
        (KMEM / event / "trigger").write_text(TRIGGER, encoding="ascii")
    try:
        result: Step = json.loads(call(argv))
        settle()
        for event in events:
            result[event] = hits(event)
    finally:
        for event in events:
            (KMEM / event / "trigger").write_text("!" + TRIGGER, encoding="ascii")
    return result


def touch(step: Step) -> Step:
    """Run the page-touch program, counting crossings if asked to."""
    if step.get("rest"):
        rest()
    events = CROSSINGS if step.get("crossings") else ()
    return count_crossings([step["program"], *step["args"]], events)


def depot_pages() -> int:
    """Pages that the depots hold."""
    for line in DEPOT.read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[:2] == ["#", "held_pages"]:
            return int(words[2])
    return 0


def seconds_until_empty(limit: float = 30.0) -> float:
    """How long the depots still hold pages."""
    started = time.monotonic()
    while depot_pages():
        if time.monotonic() - started > limit:
            raise StepError(f"the depots still hold {depot_pages()} pages after {limit:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - started


def empty_depots(stays: bool) -> float:
    """Have the depots empty; the seconds that takes by itself, infinite where it never does.

    stays   mode `nomerge`, in which no age does it
    """
    if not DEPOT.exists():
        return 0.0
    if not stays:
        return seconds_until_empty()
    mode = DEPOT.with_name("mode")
    mode.write_text("depot", encoding="ascii")
    seconds_until_empty()
    mode.write_text("nomerge", encoding="ascii")
    return math.inf


def zone(step: Step) -> Step:
    """Run the program of loads at zone->lock: as it is, then once more with all counted.

    What counts holds and crossings adds to the instructions, so it is not there at first.
    """
    argv = [step["program"], *step["args"]]
    counts = numbers("/proc/vmstat")
    plain: Step = json.loads(call(argv))
    after = numbers("/proc/vmstat")
    plain["events"] = {name: after[name] - counts[name] for name in after}
    if DEPOT.exists():
        plain["held"] = depot_pages()
        plain["held_seconds"] = empty_depots(step["stays"])
    if step.get("plain"):
        return {"plain": plain}
    call(["insmod", step["locks"]])
    try:
        before = {path.name: numbers_of(path) for path in LOCKS.iterdir()}
        # What a depot holds in the end goes over the lock too.
        counted = count_crossings(argv, CROSSINGS, lambda: empty_depots(step["stays"]))
        for path in LOCKS.iterdir():
            counted[path.name] = numbers_of(path) - before[path.name]
        counted["overhead_ns"] = before["overhead_ns"]
    finally:
        call(["rmmod", "lmm_locks"])
    return {"plain": plain, "counted": counted}


def numbers_of(path: Path) -> int:
    """The number in a file."""
    return int(path.read_text(encoding="ascii"))


def huge(_step: Step) -> Step:
    """Huge pages to be had."""
    return huge_pages_to_be_had()


def list_sum(name: str) -> int:
    """The sum of a number, such as count, over all per-CPU lists; 0 if they have none."""
    lines = Path("/proc/zoneinfo").read_text(encoding="ascii").splitlines()
    rows = (line.split() for line in lines)
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


def numbers(path: str) -> dict[str, int]:
    """The lines "name value" or "name: value kB" of a file."""
    rows = (line.split() for line in Path(path).read_text(encoding="ascii").splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in rows if words[1:]}


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
        if path.read_text(encoding="ascii").strip() == serial:
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
    size = (numbers("/proc/meminfo")["MemAvailable"] << 10) - (step["leave"] << 20)
    with hog(size):
        before = numbers("/proc/vmstat")
        reading = ["dd", f"if={disk}", "of=/dev/null", "bs=1M", "status=none"]
        with subprocess.Popen(reading, stdin=subprocess.DEVNULL) as reader:
            started = time.monotonic()
            call([step["program"], *step["args"]])
            touched = time.monotonic() - started
            if reader.wait():
                raise StepError(f"{disk}: could not be read to its end")
        after = numbers("/proc/vmstat")
    return {
        "held": size,
        "touch_seconds": round(touched, 2),
        "seconds": round(time.monotonic() - started, 2),
        "events": {name: after[name] - before[name] for name in after},
    }


def online(step: Step) -> Step:
    """Bring up the CPUs that were left out at boot.

    Under -icount they begin only if the CPU that does it pauses now and then; see
    bench.guest.
    """
    os.sched_setaffinity(0, {0})
    with subprocess.Popen([step["program"], "-p", "spin"], stdout=subprocess.DEVNULL) as spinner:
        try:
            for path in sorted(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/online")):
                if path.read_text(encoding="ascii").strip() == "0":
                    path.write_text("1", encoding="ascii")
        finally:
            spinner.terminate()
    cpus = os.cpu_count() or 1
    os.sched_setaffinity(0, range(cpus))
    return {"cpus": cpus}


@contextmanager
def scanning(limits: dict[str, int]) -> Iterator[None]:
    """Set the kernel's own limits of NUMA balancing's scans, for a while."""
    paths = {SCANS / name: value for name, value in limits.items()}
    before = {path: path.read_text(encoding="ascii") for path in paths}
    try:
        for path, value in paths.items():
            path.write_text(str(value), encoding="ascii")
        yield
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="ascii")


def load(step: Step) -> Step:
    """Run the program of NUMA loads."""
    program = in_memory(step["program"])
    with scanning(step["scan"]):
        result: Step = json.loads(call([str(program), *step["args"]]))
    return result


@contextmanager
def fallbacks() -> Iterator[Callable[[], list[dict[str, int]]]]:
    """Count fall-backs to blocks of another type; yields what tells them, by kind."""
    event = KMEM / "mm_page_alloc_extfrag"

    def told() -> list[dict[str, int]]:
        rows = []
        for line in (event / "hist").read_text(encoding="ascii").splitlines():
            words = line.replace(",", " ").replace(":", " ").split()
            if words[:1] == ["{"] and words[-2:-1] == ["hitcount"]:
                keys = words[1 : words.index("}")]
                row = dict(zip(keys[::2], map(int, keys[1::2]), strict=True))
                rows.append({**row, "hits": int(words[-1])})
        return rows

    (event / "trigger").write_text(EXTFRAG, encoding="ascii")
    try:
        yield told
    finally:
        (event / "trigger").write_text("!" + EXTFRAG, encoding="ascii")


def block_types() -> dict[str, int]:
    """Blocks of each type, all zones together."""
    lines = Path("/proc/pagetypeinfo").read_text(encoding="ascii").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Number of blocks"))
    names = lines[at].split()[4:]
    rows = [line.split()[4:] for line in lines[at + 1 :] if line.startswith("Node")]
    return {name: sum(int(row[i]) for row in rows) for i, name in enumerate(names)}


def look_at_blocks(program: str) -> Step:
    """What the blocks are: by the kernel's types, by their pages, and by the policy."""
    # A page in a list is neither free nor anybody's.
    (SLOWPATH / "drain").write_text("1", encoding="ascii")
    seen: Step = {"types": block_types(), **json.loads(call([program, "-c"]))}
    if CENSUS.exists():
        seen["census"] = CENSUS.read_text(encoding="utf-8")
    return seen


def histogram(name: str) -> list[list[int]]:
    """A histogram of the module that times slow paths: [nanoseconds, count]."""
    text = (SLOWPATH / name).read_text(encoding="ascii")
    return [[int(word) for word in line.split()] for line in text.splitlines()]


def huge_pages_to_be_had() -> Step:
    """Ask for all of memory in huge pages; how many come, of how many."""
    path = Path("/proc/sys/vm/nr_hugepages")
    asked = numbers("/proc/meminfo")["MemTotal"] >> 11
    started = time.monotonic()
    path.write_text(str(asked), encoding="ascii")
    got = int(path.read_text(encoding="ascii"))
    took = time.monotonic() - started
    path.write_text("0", encoding="ascii")
    return {"asked": asked, "got": got, "seconds": round(took, 2)}


def fragment(step: Step) -> Step:
    """Run the program of fragmenting loads; what came of it.

    Needs a disk for its files, one for swap, and the module that times slow paths.
    """
    program = in_memory(step["program"])
    use_disks(step["disks"])
    before = look_at_blocks(str(program))
    with fallbacks() as told:
        counts = numbers("/proc/vmstat")
        result: Step = json.loads(call([str(program), "-d", str(FILES), *step["args"]]))
        after = numbers("/proc/vmstat")
        result["extfrag"] = told()
    result["events"] = {name: after[name] - counts[name] for name in after}
    result["failed"] = numbers(str(SLOWPATH / "failed"))
    for name in ("waiting", "atomic"):
        result[name] = histogram(name)
    result["blocks"] = {"before": before, "after": look_at_blocks(str(program))}
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
    return float(Path("/proc/uptime").read_text(encoding="ascii").split()[1])


@contextmanager
def traced(events: Sequence[str]) -> Iterator[Callable[[], dict[str, int]]]:
    """Trace events of CMA, rare as they are; yields what counts them."""

    def told() -> dict[str, int]:
        text = (TRACING / "trace").read_text(encoding="ascii")
        return {event: text.count(f" {event}: ") for event in events}

    switches = [TRACING / "events/cma" / event / "enable" for event in events]
    (TRACING / "trace").write_text("", encoding="ascii")
    for switch in switches:
        switch.write_text("1", encoding="ascii")
    try:
        yield told
    finally:
        for switch in switches:
            switch.write_text("0", encoding="ascii")


def build_load(step: Step) -> Step:
    """Run the program of a build's load, with nothing of its files in memory at first."""
    argv = [str(in_memory(step["program"])), "-d", str(FILES), *step["args"]]
    events: Sequence[str] = ()
    if step["contiguous"]:
        areas = sorted(AREAS.iterdir())
        if len(areas) != 1:
            raise StepError(f"{AREAS}: {len(areas)} areas, not one")
        argv += ["-a", str(areas[0])]
        events = CMA_EVENTS
    call(["sync"])
    Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    with traced(events) as told:
        counts, idle = numbers("/proc/vmstat"), idle_seconds()
        result: Step = json.loads(call(argv))
        result["busy"] = result["ns"] / 1e9 - (idle_seconds() - idle)
        after = numbers("/proc/vmstat")
        result["traced"] = told()
    result["events"] = {name: after[name] - counts[name] for name in after}
    result["left"] = {name: after[name] for name in after if name.startswith("nr_free")}
    return result


def modprobe(step: Step) -> Step:
    """Load a module by name."""
    call(["modprobe", step["module"], *step.get("params", [])])
    return {}


def insmod(step: Step) -> Step:
    """Load a module by file; wait until it has patched what it patches."""
    call(["insmod", step["path"], *step.get("params", [])])
    settle(Path(step["path"]).stem)
    return {}


def settle(module: str, limit: float = 60.0) -> None:
    """Wait for the livepatch transition of a module, if it is a livepatch."""
    state = Path("/sys/kernel/livepatch") / module / "transition"
    end = time.monotonic() + limit
    while state.exists() and state.read_text(encoding="ascii").strip() != "0":
        if time.monotonic() > end:
            raise StepError(f"{module}: the livepatch transition is not done after {limit:.0f} s")
        time.sleep(0.1)


def rmmod(step: Step) -> Step:
    """Unload a module; one that is a livepatch is switched off first."""
    module = step["module"]
    switch = Path("/sys/kernel/livepatch") / module / "enabled"
    if switch.exists():
        switch.write_text("0", encoding="ascii")
        end = time.monotonic() + 60
        while switch.exists() and time.monotonic() < end:
            time.sleep(0.1)
    call(["rmmod", module])
    return {}


def write(step: Step) -> Step:
    """Write a control file."""
    path = Path(step["path"])
    try:
        path.write_text(step["text"], encoding="ascii")
    except OSError as error:
        why = path.parents[step.get("up", 0)] / "last_error"
        words = why.read_text(encoding="utf-8").strip() if why.exists() else ""
        raise StepError(f"{path}: {step['text']}: {error.strerror} {words}".strip()) from error
    return {}


def read(step: Step) -> Step:
    """Text of a control file; "" when it is not there and need not be."""
    path = Path(step["path"])
    if step.get("optional") and not path.exists():
        return {"text": ""}
    return {"text": path.read_text(encoding="utf-8")}


def sleep(step: Step) -> Step:
    """Let time pass."""
    time.sleep(step["seconds"])
    return {}


ACTIONS: dict[str, Callable[[Step], Step]] = {
    action.__name__: action
    for action in (
        touch, held, pressure, online, load, fragment, zone, huge, workplace, build_load,
        modprobe, insmod, rmmod, write, read, sleep
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
    if len(sys.argv) != 3:
        print("usage: python3 -m bench.agent PLAN RESULTS", file=sys.stderr)
        return 2
    try:
        steps = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        with open(sys.argv[2], "w", encoding="utf-8") as results:
            return 0 if carry_out(steps, results) else 1
    except (OSError, ValueError) as error:
        print(f"bench.agent: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
