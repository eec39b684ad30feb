# SPDX-License-Identifier: GPL-2.0-only
"""The guest's half of the hosts: carry out a plan in which loads are observed.

python3 -m bench.hosts.agent PLAN RESULTS, as bench.agent
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench import agent
from bench.agent import (
    EVENTS,
    EXTFRAG,
    EXTFRAG_TRIGGER,
    KMEM,
    TRACING,
    Step,
    StepError,
    numbers,
    text_of,
)

LIVEMM = Path("/sys/kernel/debug/livemm")
# A request that got nothing: the event has no page's number then.
REQUEST = "mm_page_alloc"
FAILED = "hist:keys=order,gfp_flags if pfn == 0xffffffffffffffff"
# A request may use reserves, and may not wait: gfp_flags are so on all kernels.
MAY_WAIT, URGENT = 0x400, 0x20
FLUSH, FLUSH_TRIGGER = EVENTS / "tlb/tlb_flush", "hist:keys=reason"
# What balancing between nodes does: from the call of a scan to its return, and who gets another
# preferred node.
PROBES = {"scan": "p:lmm_bench/scan task_numa_work",
          "scanned": "r:lmm_bench/scanned task_numa_work",
          "prefer": "p:lmm_bench/prefer sched_setnuma"}
CALL = re.compile(r"-(\d+) .* (\d+\.\d+): (scan|scanned): ")
SAMPLE_S = 0.25
# Where nothing is to be woken up.
QUIET_S = 60.0
# Held until the guest ends.
HELD: list[subprocess.Popen[str]] = []
CGROUPS = Path("/run/cgroups")
SHADOW = Path("/sys/module/lmm_shadow/parameters")


def zone_pages() -> dict[str, int]:
    """The pages in per-CPU lists, and by how much watermarks are boosted, of all zones."""
    rows = [line.split() for line in text_of(Path("/proc/zoneinfo")).splitlines()]
    return {"lists": sum(int(words[1]) for words in rows if words[0] == "count:"),
            "boost": sum(int(words[1]) for words in rows if words[0] == "boost")}


def depot_pages() -> int:
    """Pages that a policy's depots hold, where there is one."""
    return agent.depot_pages() if agent.DEPOT.exists() else 0


def blocks_share() -> float:
    """The share of free memory that lies in blocks of a huge page or more."""
    whole = huge = 0
    for line in text_of(Path("/proc/buddyinfo")).splitlines():
        for order, count in enumerate(map(int, line.split()[4:])):
            whole += count << order
            huge += count << order if order >= 9 else 0
    return huge / max(whole, 1)


def by_key(event: Path) -> dict[str, int]:
    """Hits of an event's histogram by its one key."""
    rows = (line.split() for line in text_of(event / "hist").splitlines())
    return {words[2]: int(words[5]) for words in rows if words[:1] == ["{"]}


def calls(trace: str) -> list[int]:
    """For how many microseconds each scan of a trace ran, that both began and ended in it."""
    began: dict[str, float] = {}
    took = []
    for task, at, event in CALL.findall(trace):
        if event == "scan":
            began[task] = float(at)
        elif task in began:
            took.append(round(1e6 * (float(at) - began.pop(task))))
    return took


@contextmanager
def balancing(wanted: bool) -> Iterator[Step]:
    """Yields what is filled in afterwards: scans' times, and new preferred nodes of each task."""
    found: Step = {}
    if not wanted:
        yield found
        return
    group = EVENTS / "lmm_bench"
    for probe in PROBES.values():
        agent.change_probes(probe)
    trigger, by_task = group / "prefer/trigger", "hist:keys=common_pid"
    switches = [group / "scan/enable", group / "scanned/enable"]
    (TRACING / "trace").write_text("", encoding="ascii")
    with agent.written({trigger: by_task, **dict.fromkeys(switches, "1")},
                       {trigger: f"!{by_task}", **dict.fromkeys(switches, "0")}):
        yield found
        found.update(scans=calls(text_of(TRACING / "trace")), preferred=by_key(group / "prefer"))
    for name in PROBES:
        agent.change_probes(f"-:lmm_bench/{name}")


def failed_by_order(atomic: bool) -> dict[str, int]:
    """Requests that got nothing, all of them or those that are atomic."""
    found: Counter[str] = Counter()
    for row in agent.hist_rows(REQUEST):
        if not atomic or row["gfp_flags"] & (MAY_WAIT | URGENT) == URGENT:
            found[str(row["order"])] += row["hits"]
    return dict(found)


def cpu_ns() -> int:
    """For how long tasks ran, on all CPUs; where the clock counts instructions, how many."""
    rows = (line.split() for line in text_of(Path("/proc/schedstat")).splitlines())
    return sum(int(words[7]) for words in rows if words[0].startswith("cpu"))


def stat() -> dict[str, int]:
    """Interrupts and context switches."""
    rows = (line.split() for line in text_of(Path("/proc/stat")).splitlines())
    return {words[0]: int(words[1]) for words in rows if words[0] in ("intr", "ctxt")}


@contextmanager
def sampled(every: float) -> Iterator[list[dict[str, int]]]:
    """Yields what is filled meanwhile: in KiB or pages what is free, and where."""
    samples: list[dict[str, int]] = []
    ended = threading.Event()

    def sample() -> None:
        last = False
        while not last:
            last = ended.wait(every)
            free = numbers(Path("/proc/meminfo"))
            samples.append({"free": free["MemFree"], "available": free["MemAvailable"],
                            "total": free["MemTotal"], **zone_pages(), "depots": depot_pages()})

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield samples
    finally:
        ended.set()
        sampler.join()


@contextmanager
def delays(argv: Sequence[str]) -> Iterator[Step]:
    """Yields what is filled in afterwards: how late a real-time task woke up."""
    found: Step = {}
    if not argv:
        yield found
        return
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as sleeper:
        if sleeper.stdout is None or sleeper.stdout.readline() != "begun\n":
            raise StepError(f"{argv}: did not begin")
        yield found
        found.update(json.loads(sleeper.communicate()[0]))


@contextmanager
def observed_load(sleeper: Sequence[str], nodes: bool) -> Iterator[Step]:
    """Yields what is filled in afterwards: all that is measured on every host."""
    found: Step = {}
    counted = {KMEM / REQUEST / "trigger": FAILED, FLUSH / "trigger": FLUSH_TRIGGER}
    with (
        agent.histograms(agent.CROSSINGS, agent.TRIGGER),
        agent.histograms([EXTFRAG], EXTFRAG_TRIGGER),
        agent.written(counted, {path: f"!{text}" for path, text in counted.items()}),
        balancing(nodes) as balanced,
        sampled(SAMPLE_S if sleeper else QUIET_S) as samples,
    ):
        with delays(sleeper) as late, agent.vmstat_change() as events:
            before, ran, began = stat(), cpu_ns(), time.monotonic()
            yield found
            found["seconds"] = time.monotonic() - began
            found["cpu_ns"] = cpu_ns() - ran
            found["stat"] = {name: value - before[name] for name, value in stat().items()}
        found["hits"] = {event: by_key(KMEM / event) for event in agent.CROSSINGS}
        found["extfrag"] = agent.fallbacks()
        found.update(failed=failed_by_order(False), failed_atomic=failed_by_order(True),
                     flushes=by_key(FLUSH))
    found.update(events={name: value for name, value in events.items() if value}, late=late,
                 samples=samples, blocks=blocks_share(),
                 reserved=agent.block_types().get("HighAtomic", 0), **balanced)


def supported() -> list[str]:
    """The policies that there are on this kernel."""
    return sorted(path.parent.name for path in LIVEMM.glob("*/supported")
                  if text_of(path) == "yes")


def is_on(policy: str) -> bool:
    """Whether a policy is on."""
    rows = (line.split() for line in text_of(LIVEMM / "status").splitlines())
    return any(words[:2] == [policy, "on"] for words in rows)


@contextmanager
def switched_on(policies: Sequence[str]) -> Iterator[None]:
    """Have policies on, with default settings."""
    for policy in policies:
        agent.write({"path": str(LIVEMM / policy / "enabled"), "text": "1", "up": 1})
    agent.wait_until(lambda: all(map(is_on, policies)), 60, 0.1,
                     lambda: f"{policies} are not on")
    yield
    for policy in policies:
        if not is_on(policy):
            raise StepError(f"{policy} is not on any more: {text_of(LIVEMM / 'status')}")
    for policy in reversed(policies):
        agent.write({"path": str(LIVEMM / policy / "enabled"), "text": "0", "up": 1})


def observed(step: Step) -> Step:
    """Run a host's load with policies on, and measure; "all": those that there are."""
    there = supported()
    policies = there if step["policies"] == ["all"] else step["policies"]
    if not set(policies) <= set(there):
        return {"unsupported": True}
    with switched_on(policies):
        for todo in step["before"]:
            agent.ACTIONS[todo["do"]](todo)
        with observed_load(step["sleeper"], step["nodes"]) as found:
            found["load"] = agent.ACTIONS[step["load"]["do"]](step["load"])
        if step["huge"]:
            found["huge"] = agent.huge_pages_to_be_had()
    return {**found, "policies": policies}


def costed(step: Step) -> Step:
    """What counting costs: instructions for each time that a block crosses zone->lock."""
    argv = [step["program"], *step["args"]]
    agent.call(argv)
    began = cpu_ns()
    agent.call(argv)
    plain = cpu_ns() - began
    with agent.histograms(agent.CROSSINGS, agent.TRIGGER):
        began = cpu_ns()
        agent.call(argv)
        counted = cpu_ns() - began
        times = sum(agent.hits(event) for event in agent.CROSSINGS)
    return {"cost_ns": max(counted - plain, 0) / max(times, 1)}


def beside(step: Step) -> Step:
    """Run programs side by side until all have ended."""
    programs = [subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                for argv in step["argvs"]]
    codes = [program.wait() for program in programs]
    if any(codes):
        raise StepError(f"{step['argvs']}: status {codes}")
    return {}


def hold(step: Step) -> Step:
    """Hold memory, as one program, until the guest ends."""
    holder = subprocess.Popen([sys.executable, "-c", agent.HOG, str(step["mib"] << 20)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    HELD.append(holder)
    if holder.stdout is None or not holder.stdout.readline():
        raise StepError(f"could not hold {step['mib']} MiB")
    return {"zones": text_of(Path("/proc/buddyinfo"))}


def disks(step: Step) -> Step:
    """Have files on the first disk, and swap on the second."""
    agent.use_disks(step["serials"])
    return {}


def zram(step: Step) -> Step:
    """Swap to memory that is compressed."""
    agent.call(["modprobe", "zram"])
    Path("/sys/block/zram0/disksize").write_text(f"{step['mib']}M", encoding="ascii")
    agent.call(["mkswap", "/dev/zram0"])
    agent.call(["swapon", "/dev/zram0"])
    return {}


def zswap(step: Step) -> Step:
    """Swap to a disk, behind memory that is compressed."""
    disks(step)
    folder = Path("/sys/module/zswap/parameters")
    (folder / "enabled").write_text("Y", encoding="ascii")
    return {path.name: text_of(path) for path in folder.iterdir()}


def small_files(step: Step) -> Step:
    """Make many small files on the disk; none is left to be written."""
    size = step["size"]
    for folder in range(step["folders"]):
        path = agent.FILES / str(folder)
        path.mkdir()
        agent.call(["sh", "-c", f'cd "$0" && head -c {step["files"] * size} /dev/zero | '
                    f"split -a 3 -b {size}", str(path)])
    agent.call(["sync"])
    return {}


def contained(step: Step) -> Step:
    """Run each program in a cgroup of its own, whose memory has a limit; some may be killed."""
    if not CGROUPS.exists():
        CGROUPS.mkdir()
        agent.call(["mount", "-t", "cgroup2", "none", str(CGROUPS)])
        (CGROUPS / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    programs = []
    for number, argv in enumerate(step["argvs"]):
        group = CGROUPS / f"container{number}"
        group.mkdir(exist_ok=True)
        (group / "memory.max").write_text(f"{step['mib']}M", encoding="ascii")
        enter = 'echo $$ >"$0" && exec "$@"'
        programs.append(subprocess.Popen(
            ["sh", "-c", enter, str(group / "cgroup.procs"), *argv],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return {"codes": [program.wait() for program in programs]}


def watched(step: Step) -> Step:
    """Run a program that prints JSON, and whose memory an MMU notifier watches as a VM's."""
    counts = ("invalidations", "invalidated")
    before = {name: int(text_of(SHADOW / name)) for name in counts}
    with subprocess.Popen([step["program"], *step["args"]], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as program:
        (SHADOW / "watch").write_text(str(program.pid), encoding="ascii")
        output = program.communicate()[0]
    if program.returncode:
        raise StepError(f"{step['program']}: status {program.returncode}")
    return {**json.loads(output), "reasons": text_of(SHADOW / "reasons"),
            **{name: int(text_of(SHADOW / name)) - was for name, was in before.items()}}


agent.ACTIONS.update({action.__name__: action for action in (
    observed, costed, beside, hold, disks, zram, zswap, small_files, contained, watched
)})

if __name__ == "__main__":
    sys.exit(agent.main())
