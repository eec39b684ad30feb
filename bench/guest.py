# SPDX-License-Identifier: GPL-2.0-only
"""The host's half of the bench: build what a guest needs, boot it, read it."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guests.accel import EMULATION
from guests.boot import Guest, boot, megabytes
from guests.command import call
from guests.kernels import Image
from guests.modules import make_argv
from guests.programs import compile_program, pagetouch
from guests.report import BUILD, ROOT, ToolError, say

HERE = ROOT / "bench"
OUT = BUILD / "bench"
DEBUGFS = "/sys/kernel/debug/livemm"
PAGETOUCH = "pagetouch"

# Makes the guest's clock an instruction counter, one nanosecond each.  While
# the guest waits its clock follows the host's: with sleep=off it would leap to
# the next timer, and time limits in the guest run out while it waits for I/O.
ICOUNT = ["-icount", "shift=0,sleep=on"]
EXACT_KARGS = ["nokaslr", "norandmaps", "random.trust_cpu=off"]
# More CPUs than one can share that counter too, if they are brought up later: QEMU
# runs the next only when the one before idles or executes a PAUSE, and the loop in
# which the kernel waits for a CPU at boot does neither.  Their clocks are the same
# count, whatever the kernel's check of them may find.
LATE_KARGS = ["maxcpus=1", "tsc=reliable"]
# Huge pages would fault 512 pages at once; their daemon also raises
# min_free_kbytes, and with it every list's `high`, eightfold on a 2 GiB guest.
NO_HUGE_PAGES = "never"
# The OOM killer and failed requests print one; where these are results it is no fault.
OOM_PRINTS = r"\bCall Trace:"

Step = dict[str, Any]
Result = dict[str, Any]
Results = dict[str, Result]
# What progress says of a step's result; "": nothing.
Words = Callable[[Result], str]

# What only a run of a load leaves in its result: one a kind of step.
LOADS = {"pages", "curve", "events", "plain", "phases"}


@dataclass
class Plan:
    """What one guest is to do.

    name    of the guest and of its files in build/
    steps   see bench.agent
    cpus    of the guest
    icount  count instructions: one CPU, emulated
    shift   count them over all CPUs, 2^shift ns each, emulated: the guest's time does
            not depend on the host's; programs must pause (see LATE_KARGS); -1: not so
    nodes   NUMA nodes; with one CPU, all but the first have memory only
    memory  of the guest
    slow    memory besides, of a node without CPUs that is a lower memory tier
    disks   MiB of disks, all zeros at first, by serial number
    huge    transparent_hugepage on the kernel's command line
    kargs   what else is on it
    plugin  of the emulator, which then is the later one: its -plugin argument
    agent   the module that carries out the steps in the guest
    modroot tree for modprobe; None: that of the modules as they are
    allowed console lines that are no fault of the kernel's
    checks  refuse results that say nothing, or put together what belongs together
    """

    name: str
    image: Image
    steps: list[Step] = field(default_factory=list)
    cpus: int = 2
    icount: bool = False
    shift: int = -1
    nodes: int = 1
    memory: str = "2G"
    slow: str = ""
    disks: Mapping[str, int] = field(default_factory=dict)
    huge: str = NO_HUGE_PAGES
    kargs: Sequence[str] = ()
    plugin: str = ""
    agent: str = "bench.agent"
    modroot: Path | None = None
    allowed: list[str] = field(default_factory=list)
    checks: list[Callable[[Results], None]] = field(default_factory=list)

    def add(self, do: str, name: str, **what: Any) -> None:
        """Append a step."""
        self.steps.append({"do": do, "name": name, **what})

    def program(self, do: str, name: str, program: str, args: str, **what: Any) -> None:
        """Append a step that runs a load program."""
        self.add(do, name, program=load_program(program), args=args.split(), **what)

    def touch(self, name: str, args: str, crossings: bool = False) -> None:
        """Append a run of the page-touch program."""
        self.program("touch", name, PAGETOUCH, args, crossings=crossings, rest=self.icount)


def load_program(name: str) -> str:
    """The page-touch program, or one of the bench's folder of that name; compiled."""
    if name == PAGETOUCH:
        return str(pagetouch())
    program = OUT / name
    compile_program(program, sorted((HERE / name).glob("*.[ch]")))
    return str(program)


def build_modules(image: Image, source: str) -> Path:
    """Build the modules in a folder of the bench for a kernel; return where they are."""
    folder = BUILD / image.release / Path(source).name
    shutil.copytree(HERE / source, folder, dirs_exist_ok=True)
    argv = make_argv(image, folder, ["W=1", "KCFLAGS=-Werror"])
    call(argv, log=OUT / f"{folder.name}-{image.name}.log")
    return folder


def disk_args(disks: Mapping[str, int], folder: Path) -> list[str]:
    """The qemu arguments of the guest's disks, all of them holes."""
    args = []
    for serial, size in disks.items():
        path = folder / serial
        # A disk of an earlier guest is not all zeros.
        path.unlink(missing_ok=True)
        with path.open("wb") as file:
            file.truncate(size << 20)
        args += [
            "-drive", f"file={path},if=none,id={serial},format=raw,cache=unsafe",
            "-device", f"virtio-blk-pci,drive={serial},serial={serial}",
        ]
    return args


def node_args(plan: Plan) -> list[str]:
    """The qemu arguments of nodes that have memory only."""
    if not plan.icount or plan.nodes == 1:
        return []
    args = []
    for node in range(plan.nodes):
        size = f"{megabytes(plan.memory) // plan.nodes}M"
        args += ["-object", f"memory-backend-ram,id=node{node},size={size}"]
        cpu = "" if node else "cpus=0,"
        args += ["-numa", f"node,nodeid={node},{cpu}memdev=node{node}"]
    return args


def clock_args(plan: Plan) -> tuple[list[str], list[str]]:
    """The qemu and kernel arguments of a guest whose clock counts instructions."""
    if plan.icount:
        return [*ICOUNT, *node_args(plan)], EXACT_KARGS
    if plan.shift >= 0:
        return ["-icount", f"shift={plan.shift},sleep=on"], EXACT_KARGS + LATE_KARGS
    return [], []


def done(result: Result) -> str:
    """Progress says this of each load."""
    return "done" if result.keys() & LOADS else ""


def follow(path: Path, ended: threading.Event, kernel: str, words: Words) -> None:
    """Show progress as the guest writes its results."""
    shown = 0
    last = False
    while not last:
        last = ended.wait(0.5)
        # What follows the last newline is not yet whole.
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        for result in map(json.loads, lines[shown:]):
            if said := words(result):
                say(f"    {kernel}: {result['name']}: {said}")
        shown = len(lines)


def run(plan: Plan, words: Words = done, timeout: float = 3600) -> Results:
    """Boot a guest, carry out the plan in it; the steps' results by name.

    Anything less than the whole plan on a silent kernel is a ToolError.
    """
    folder = OUT / "guest" / plan.name
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results"
    results.write_text("", encoding="utf-8")
    # The harness in the guest counts CPUs before any of this.
    late = plan.shift >= 0
    steps = list(plan.steps)
    if late:
        steps.insert(0, {"do": "online", "name": "online", "program": load_program("numaload")})
    todo = folder / "plan.json"
    todo.write_text(json.dumps(steps, indent=1) + "\n", encoding="utf-8")
    clock, kargs = clock_args(plan)
    guest = Guest(
        name=f"bench-{plan.name}",
        image=plan.image,
        script=HERE / "guest.sh",
        args=[plan.agent, str(todo), str(results)],
        cpus=1 if plan.icount else plan.cpus,
        memory=plan.memory,
        slow=plan.slow,
        nodes=1 if plan.icount else plan.nodes,
        kargs=[f"transparent_hugepage={plan.huge}", *kargs, *plan.kargs],
        env={"LMM_CPUS": "1"} if late else {},
        rwdirs=[folder],
        accel=EMULATION if clock else "",
        plugin=plan.plugin,
        modroot=plan.modroot,
        qemu=[*clock, *disk_args(plan.disks, folder)],
        timeout=timeout,
        allowed=plan.allowed,
    )
    ended = threading.Event()
    follower = threading.Thread(target=follow, args=(results, ended, plan.image.name, words))
    follower.start()
    try:
        verdict = boot(guest)
    finally:
        ended.set()
        follower.join()
        for serial in plan.disks:
            (folder / serial).unlink(missing_ok=True)
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if "error" in line:
            raise ToolError(f"guest {plan.name}: {line['name']}: {line['error']}")
    if not verdict.ok or len(lines) != len(steps):
        raise ToolError(f"guest {plan.name}: {verdict.reason or 'did not finish its plan'}")
    found = {line["name"]: line for line in lines}
    for check in plan.checks:
        check(found)
    return found
