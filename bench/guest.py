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
from guests.report import BUILD, ROOT, ToolError

HERE = ROOT / "bench"
OUT = BUILD / "bench"
DEBUGFS = "/sys/kernel/debug/livemm"

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
# A disk of nothing but a hole: to read it costs the host nothing, and fills the
# guest's page cache, which a guest on the host's file system has no use for.
DISK_SERIAL = "livemm-bench"
# Huge pages would fault 512 pages at once; their daemon also raises
# min_free_kbytes, and with it every list's `high`, eightfold on a 2 GiB guest.
NO_HUGE_PAGES = "never"

Step = dict[str, Any]
Result = dict[str, Any]
Results = dict[str, Result]
Show = Callable[[Result], None]


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
    disk    MiB of a disk of zeros, read only; 0: none
    scratch MiB of disks to write to, all zeros at first, by serial number
    huge    transparent_hugepage on the kernel's command line
    kargs   what else is on it
    allowed console lines that are no fault of the kernel's
    """

    name: str
    image: Image
    steps: list[Step] = field(default_factory=list)
    cpus: int = 2
    icount: bool = False
    shift: int = -1
    nodes: int = 1
    memory: str = "2G"
    disk: int = 0
    scratch: Mapping[str, int] = field(default_factory=dict)
    huge: str = NO_HUGE_PAGES
    kargs: Sequence[str] = ()
    allowed: list[str] = field(default_factory=list)

    def add(self, do: str, name: str, **what: Any) -> None:
        """Append a step."""
        self.steps.append({"do": do, "name": name, **what})

    def touch(self, name: str, args: str, crossings: bool = False) -> None:
        """Append a run of the page-touch program."""
        self.add(
            "touch",
            name,
            program=str(pagetouch()),
            args=args.split(),
            crossings=crossings,
            rest=self.icount,
        )

    def load(self, name: str, args: str, scan: Mapping[str, int] | None = None) -> None:
        """Append a run of the program of NUMA loads, with limits of scans set for it."""
        self.add(
            "load", name, program=load_program("numaload"), args=args.split(), scan=dict(scan or {})
        )

    def fragment(self, name: str, args: str) -> None:
        """Append a run of the program of fragmenting loads; once a guest."""
        self.add(
            "fragment", name, program=load_program("fragload"), args=args.split(),
            disks=list(self.scratch),
        )

    def zone(self, name: str, args: str, locks: Path, plain: bool, stays: bool) -> None:
        """Append a run of the program of loads at zone->lock.

        plain: nothing counted; stays: what depots hold does not go back by itself
        """
        self.add("zone", name, program=load_program("zoneload"), args=args.split(),
                 locks=str(locks), plain=plain, stays=stays)

    def workplace(self, name: str) -> None:
        """Append what the program of a build's load needs; once a guest."""
        self.add("workplace", name, program=load_program("cmaload"), disks=list(self.scratch))

    def build_load(self, name: str, args: str, contiguous: bool = False) -> None:
        """Append a run of that program; contiguous: while CMA is allocated from."""
        self.add("build_load", name, program=load_program("cmaload"), args=args.split(),
                 contiguous=contiguous)

    def policy(self, name: str, text: str) -> None:
        """Append a write to a policy's `config`, and wait for its livepatch."""
        self.add("write", f"{name} {text}", path=f"{DEBUGFS}/{name}/config", text=text, up=1)


def load_program(name: str) -> str:
    """A load program of the bench, compiled from the folder of that name."""
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


def build_tracking(image: Image) -> Path:
    """Build the tracking modules for a kernel; return their folder."""
    return build_modules(image, "tracking")


def build_slowpath(image: Image) -> Path:
    """Build the module that times slow paths for a kernel; return its folder."""
    return build_modules(image, "fragload/slowpath")


def build_locks(image: Image) -> Path:
    """Build the module that times holds of zone->lock for a kernel; return its file."""
    return build_modules(image, "zoneload/locks") / "lmm_locks.ko"


def need_livemm(image: Image) -> None:
    """Refuse to start without the module."""
    module = BUILD / image.release / "livemm.ko"
    if not module.exists():
        raise ToolError(f"{module.relative_to(ROOT)}: not there; run `make modules`")


def disk_args(plan: Plan, folder: Path) -> list[str]:
    """The qemu arguments of the guest's disks, all of them holes."""
    args = []

    def add(serial: str, size: int, how: str) -> None:
        path = folder / serial
        # A disk of an earlier guest is not all zeros.
        path.unlink(missing_ok=True)
        with path.open("wb") as file:
            file.truncate(size << 20)
        args.extend([
            "-drive", f"file={path},if=none,id={serial},format=raw,{how}",
            "-device", f"virtio-blk-pci,drive={serial},serial={serial}",
        ])

    if plan.disk:
        add(DISK_SERIAL, plan.disk, "readonly=on")
    for serial, size in plan.scratch.items():
        add(serial, size, "cache=unsafe")
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


def follow(path: Path, done: threading.Event, show: Show) -> None:
    """Show the results as the guest writes them."""
    shown = 0
    while True:
        last = done.wait(0.5)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        for line in whole[shown:]:
            show(json.loads(line))
        shown = len(whole)
        if last:
            return


def quiet(_result: Result) -> None:
    """Show nothing."""


def run(plan: Plan, timeout: float, show: Show = quiet) -> Results:
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
        args=[str(todo), str(results)],
        cpus=1 if plan.icount else plan.cpus,
        memory=plan.memory,
        nodes=1 if plan.icount else plan.nodes,
        kargs=[f"transparent_hugepage={plan.huge}", *kargs, *plan.kargs],
        env={"LMM_CPUS": "1"} if late else {},
        rwdirs=[folder],
        accel=EMULATION if clock else "",
        qemu=[*clock, *disk_args(plan, folder)],
        timeout=timeout,
        allowed=plan.allowed,
    )
    done = threading.Event()
    follower = threading.Thread(target=follow, args=(results, done, show))
    follower.start()
    try:
        verdict = boot(guest)
    finally:
        done.set()
        follower.join()
        for serial in plan.scratch:
            (folder / serial).unlink(missing_ok=True)
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if "error" in line:
            raise ToolError(f"guest {plan.name}: {line['name']}: {line['error']}")
    if not verdict.ok or len(lines) != len(steps):
        raise ToolError(f"guest {plan.name}: {verdict.reason or 'did not finish its plan'}")
    return {line["name"]: line for line in lines}
