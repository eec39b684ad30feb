# SPDX-License-Identifier: GPL-2.0-only
"""Boot one guest with virtme-ng and judge it.

The script's checks come back on a virtio-serial port of their own, the
script's output on another, kept in build/log/NAME.out; the console is kept
in build/log/NAME.log.  A guest that dies, hangs, or whose kernel reports
anything (guests.verdict.REPORTS) has failed whatever its script said.
"""

import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from guests.accel import EMULATION, QEMU, SINGLE, Accel, choose, emulated, hosts_version
from guests.command import bound, tail
from guests.kernels import Image, cache_dir
from guests.report import BUILD, ROOT, ToolError
from guests.vcpus import Watch
from guests.verdict import Verdict, first_report, foreign_races, read_channel

LOGS = BUILD / "log"
# In the folder of a guest: the file that takes the checks of its script.
CHANNEL = "channel"
PORT = "livemm.verdict"
OUTPUT_PORT = "livemm.output"
MONITOR_PORT = "livemm.monitor"
# By what a balloon does: takes memory back when told to; learns of free memory besides.
BALLOONS = {"yes": "virtio-balloon-pci",
            "reporting": "virtio-balloon-pci,free-page-reporting=on"}
KARGS = ["panic_on_warn=1", "oops=panic", "panic=-1"]
# An emulated clock follows the host's, so how long a CPU seems stuck depends on
# what else the host does.  The watchdogs stay on for what never ends: a soft
# lockup after 2 x 60 s instead of 2 x 10 s.
EMULATED_KARGS = ["watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=120"]
# A process namespace for each guest: virtme-ng, qemu and whatever else they
# start die with its first process, and that one dies with us.
ALONE = ["unshare", "--mount-proc", "--propagation", "unchanged", "--pid", "--fork",
         "--kill-child=KILL"]
# The guest's root is ours.  Its init would have udev look at each of its devices, and
# systemd set up a host's folders: 20 s of a stock guest's 25 until the script begins, 80
# of a debug one's, for what no script uses.  In a mount namespace of the guest's own
# there is neither; where that can't be had, as in a chroot, guests begin later.
HIDE = """
if mount --make-rprivate / 2>/dev/null; then
    mount --bind "$1" /usr/lib/systemd
    mount --bind /dev/null /usr/bin/systemd-tmpfiles
fi 2>/dev/null
shift
exec "$@"
"""
# The message of QEMU when QEMU aborts, which may stand behind half a line of the guest's, and the
# most boots of one guest because of aborts.
ABORTED = re.compile(r"qemu-system-\S+: \S+\.c:\d+: .*Assertion .* failed")
# A warning of livepatch's handler, and the end of a task in the same report.
HANDLER_WARNS = re.compile(r"WARNING: [^\n]* klp_ftrace_handler\+")
DYING_TASK = re.compile(HANDLER_WARNS.pattern +
                        r"(?:(?!---\[ end trace|Kernel panic)[\s\S])*? do_exit\+")
# A breakpoint, and before the marked byte of the code what memory has there: int3 is cc.
STRAY_BREAKPOINT = re.compile(r"\bint3: 0000 \[#(?:(?!\bCode: )[\s\S])*"
                              r"\bCode: (?:[0-9a-f]{2} )*(?!cc)[0-9a-f]{2} <")
BOOTS = 3
# Seconds of the host until the kernel has come as far as the script; most boots take 5 to 60.
BOOT_SECONDS = 600.0
RACES = 5  # kinds of races that a note names
# The guest's init mounts folders of its own over these.
COVERED = ("/tmp/", "/var/")
FOLDER = ".guest-"
YOUNG = 60.0  # seconds in which a folder may not be locked yet

_running: set[subprocess.Popen[bytes]] = set()
_running_lock = threading.Lock()
_closed = threading.Event()


@dataclass
class Guest:
    """A guest to boot."""

    name: str
    image: Image
    script: Path  # on the host; run by sh as root in the guest
    args: list[str] = field(default_factory=list)  # of the script
    cpus: int = 2  # asserted in the guest
    memory: str = "1G"  # as qemu takes it, split evenly over the nodes
    nodes: int = 1  # NUMA nodes; CPUs are split evenly too
    slow: str = ""  # memory besides, of a node without CPUs that is a lower memory tier
    dimm: str = ""  # memory besides, in a slot, which the guest can have removed
    kargs: list[str] = field(default_factory=list)  # more kernel arguments
    rwdirs: list[Path] = field(default_factory=list)  # the guest may write there, at the same path
    env: dict[str, str] = field(default_factory=dict)  # of the script
    modroot: Path | None = None  # tree for modprobe; default build/RELEASE/modroot if there
    balloon: str = ""  # of BALLOONS; the port MONITOR_PORT is QEMU's monitor then
    accel: str = ""  # -accel argument for the host's qemu; default KVM if usable, else emulation
    plugin: str = ""  # -plugin argument; the later emulator runs the guest then, whatever `accel`
    emulation: str = SINGLE  # where there is no KVM: single, or parallel, a thread for each CPU
    qemu: list[str] = field(default_factory=list)  # more arguments of qemu, such as -icount
    timeout: float = 900.0  # wall seconds until the guest is given up
    allowed: list[str] = field(default_factory=list)  # regexes of console lines that are no reports


def megabytes(memory: str) -> int:
    """1G or 512M in MiB."""
    number, unit = memory[:-1], memory[-1:]
    if not number.isdigit() or unit not in ("G", "M"):
        raise ToolError(f"memory {memory}: write it as 512M or 2G")
    return int(number) * (1024 if unit == "G" else 1)


def processors(guest: Guest) -> str:
    """CPUs and nodes as qemu takes them."""
    if guest.nodes < 1 or guest.cpus % guest.nodes:
        raise ToolError(f"{guest.name}: {guest.cpus} CPUs do not split over {guest.nodes} nodes")
    # A socket a node: otherwise the guest warns about its own topology.
    return f"{guest.cpus},sockets={guest.nodes},cores={guest.cpus // guest.nodes}"


def parts(guest: Guest) -> list[tuple[str, str]]:
    """Memory and CPUs of each node, where there are several."""
    if guest.nodes == 1:
        return []
    each = guest.cpus // guest.nodes
    share = megabytes(guest.memory) // guest.nodes
    return [(f"{share}M", f"cpus={first}-{first + each - 1}")
            for first in range(0, guest.cpus, each)]


def slow_node(guest: Guest) -> list[str]:
    """qemu's arguments for node 0 with all CPUs, and node 1 with slow memory.

    The kernel makes node 1 a lower memory tier by latency and bandwidth in the ACPI table HMAT.
    """
    if not guest.slow:
        return []
    if guest.nodes != 1:
        raise ToolError(f"{guest.name}: slow memory beside one node only")
    words = ["-machine", "hmat=on"]
    for node, memory in enumerate((guest.memory, guest.slow)):
        place = f"cpus=0-{guest.cpus - 1}" if node == 0 else "initiator=0"
        path = f"hmat-lb,initiator=0,target={node},hierarchy=memory"
        words += ["-object", f"memory-backend-ram,id=node{node},size={memory}",
                  "-numa", f"node,nodeid={node},memdev=node{node},{place}",
                  "-numa", f"{path},data-type=access-latency,latency={(80, 400)[node]}",
                  "-numa", f"{path},data-type=access-bandwidth,bandwidth={(100, 20)[node]}G"]
    return words


def topology(guest: Guest) -> list[str]:
    """CPUs, memory and nodes as virtme-ng takes them."""
    whole = megabytes(guest.memory) + (megabytes(guest.slow) if guest.slow else 0)
    words = ["--memory", f"{whole}M", "--cpus", processors(guest)]
    for memory, cpus in parts(guest):
        words += ["--numa", f"{memory},{cpus}"]
    return words


def slot(guest: Guest) -> list[str]:
    """qemu's arguments for memory in a slot."""
    if not guest.dimm:
        return []
    return ["-m", "slots=1,maxmem=16G",
            "-object", f"memory-backend-ram,id=dimm,size={guest.dimm}",
            "-device", "pc-dimm,memdev=dimm"]


def modroot_of(guest: Guest) -> Path:
    """Where the guest's /lib/modules/RELEASE shall point."""
    ours = guest.modroot or BUILD / guest.image.release / "modroot"
    tree = ours / "lib" / "modules" / guest.image.release
    return tree if tree.exists() else guest.image.modules


def covered() -> list[Path]:
    """Our folders that the guest would not see; guest.sh makes them read only."""
    return [path for path in (ROOT, cache_dir()) if str(path).startswith(COVERED)]


def environment(guest: Guest, accel: Accel, root: str, modules: str) -> dict[str, str]:
    """The variables of a guest's script; where the script finds the checkout and our modules."""
    return {
        "LMM_CPUS": str(guest.cpus),
        "LMM_NODES": str(guest.nodes),
        "LMM_RELEASE": guest.image.release,
        "LMM_KERNEL": guest.image.name,
        "LMM_DEBUG": "1" if guest.image.debug else "0",
        "LMM_MODDIR": modules,
        "LMM_ROOT": root,
        # Whether CPUs take turns of 0.1 s, and each waits for the others' to patch code.
        "LMM_TURNS": "1" if accel.argument == EMULATION else "0",
        **guest.env,
    }


def guest_script(guest: Guest, accel: Accel) -> str:
    """The shell text that the guest's init runs."""
    env = {
        "LMM_MODROOT": str(modroot_of(guest)),
        "LMM_PORT": PORT,
        "LMM_OUTPUT_PORT": OUTPUT_PORT,
        "LMM_READONLY": ":".join(str(path) for path in covered()),
        **environment(guest, accel, str(ROOT), str(BUILD / guest.image.release)),
    }
    words = ["env", *(f"{key}={value}" for key, value in env.items())]
    words += ["sh", str(ROOT / "guests/guest.sh"), str(guest.script), *guest.args]
    return shlex.join(words)


def port(name: str, path: Path) -> list[str]:
    """qemu's arguments for a port of the guest's that is a file of the host's."""
    return ["-chardev", f"file,id={name},path={path}",
            "-device", f"virtserialport,name={name},chardev={name}"]


def balloon(kind: str, folder: Path) -> list[str]:
    """qemu's arguments for a balloon, and for the monitor, which a port of the guest talks to."""
    socket = f"path={os.path.relpath(folder / 'monitor', ROOT)}"
    return ["-device", BALLOONS[kind],
            "-chardev", f"socket,id=monitor,{socket},server=on,wait=off",
            "-mon", "chardev=monitor,mode=readline",
            "-chardev", f"socket,id=talk,{socket},server=off",
            "-device", f"virtserialport,name={MONITOR_PORT},chardev=talk"]


def command(guest: Guest, accel: Accel, inner: Path, channel: Path, output: Path) -> list[str]:
    """The virtme-ng command line."""
    vng = cache_dir() / "venv/bin/vng"
    if not vng.exists():
        raise ToolError(f"{vng}: not there; run `make setup`")
    opts = [
        # Gives each thread a name: see guests.vcpus.
        "-name", "debug-threads=on",
        "-device", "virtio-serial-pci",
        *port(PORT, channel),
        *port(OUTPUT_PORT, output),
        *(balloon(guest.balloon, channel.parent) if guest.balloon else []),
        *slow_node(guest),
        *slot(guest),
        *guest.qemu,
    ]
    argv = [str(vng), "--run", str(guest.image.vmlinuz), "--force-9p", "--verbose",
            "--disable-microvm", "--disable-monitor", "--name", "livemm"]
    if accel.qemu != QEMU:
        argv += ["--qemu", accel.qemu]
    if not accel.kvm:
        argv.append("--disable-kvm")
        opts += ["-accel", accel.argument]
    if accel.cpu:
        opts += ["-cpu", accel.cpu]
    if guest.plugin:
        opts += ["-plugin", guest.plugin]
    argv += topology(guest)
    # virtme-ng mounts what is read only last, over the folders in it that are not.
    for folder in [*covered(), *guest.rwdirs]:
        argv += ["--rwdir", str(folder)]
    kargs = KARGS if accel.kvm else [*KARGS, *EMULATED_KARGS]
    for word in [*kargs, *guest.image.kargs, *guest.kargs]:
        argv += ["--append", word]
    return [*argv, f"--qemu-opts={shlex.join(opts)}", "--exec", f"sh {inner}"]


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a guest with all it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def end_guests() -> None:
    """End the guests of every thread, and let none begin: we are to end."""
    _closed.set()
    with _running_lock:
        for process in _running:
            kill(process)


@contextmanager
def guest_pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that boot guests: all guests end when the block is left by an exception."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_guests()
            raise


def always() -> bool:
    """For a guest of which nobody knows whether its script has begun."""
    return True


def wait(process: subprocess.Popen[bytes], timeout: float,
         begun: Callable[[], bool] = always) -> bool:
    """Wait for the guest; at the time limit end it with all it started.

    A guest whose script has not begun after BOOT_SECONDS is ended then.
    """
    first = min(BOOT_SECONDS, timeout)
    with _running_lock:
        _running.add(process)
    try:
        if _closed.is_set():
            raise ToolError("ended before the guest began")
        try:
            process.wait(timeout=first)
        except subprocess.TimeoutExpired:
            if not begun():
                return False
            process.wait(timeout=timeout - first)
        # What a guest has shown by then is no verdict.
        if _closed.is_set():
            raise ToolError("ended before the guest was done")
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        kill(process)
        process.wait()
        with _running_lock:
            _running.discard(process)


@contextmanager
def opened(folder: str | Path) -> Iterator[int]:
    """A handle of a folder, to lock the folder by."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def guest_folder() -> Iterator[Path]:
    """A folder for one guest, gone afterwards; a killed runner's are swept first.

    The guest sees it as well, so it is not in a place that the guest mounts over.
    """
    for left in BUILD.glob(f"{FOLDER}*"):
        with suppress(FileNotFoundError, BlockingIOError), opened(left) as handle:
            if time.time() - os.fstat(handle).st_mtime > YOUNG:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=FOLDER, dir=BUILD) as name, opened(name) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield Path(name)


def launch(argv: list[str], verdict: Verdict, timeout: float, env: dict[str, str],
           begun: Callable[[], bool] = always) -> bool:
    """Run what runs a guest; return whether it was in time. Its output is the console."""
    with verdict.console.open("wb") as console:
        # qemu opens its outputs anew and would truncate a file: it gets a pipe.
        drain = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=console)
        try:
            process = subprocess.Popen(
                bound([*ALONE, *argv]), stdin=subprocess.DEVNULL, stdout=drain.stdin,
                stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C", **env}, cwd=ROOT,
                start_new_session=True,
            )
            return wait(process, timeout, begun)
        finally:
            drain.communicate()


def judged(name: str, accel: Accel, timeout: float, allowed: Sequence[str],
           run: Callable[[Path, Verdict], bool]) -> Verdict:
    """Have a guest run in a folder of its own, and judge it.

    `run` returns whether the guest was in time.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    verdict = Verdict(name, console=LOGS / f"{name}.log", output=LOGS / f"{name}.out",
                      accel=str(accel))
    started = time.monotonic()
    with guest_folder() as folder:
        channel = folder / CHANNEL
        channel.touch()
        in_time = run(folder, verdict)
        text = channel.read_text(encoding="utf-8", errors="replace")
    verdict.seconds = time.monotonic() - started
    judge(verdict, text, in_time, timeout, allowed)
    return verdict


def run(guest: Guest, accel: Accel, verdict: Verdict, folder: Path) -> bool:
    """Run the guest to its end; return whether it was in time."""
    empty = folder / "empty"
    empty.mkdir()
    inner = folder / "inner.sh"
    inner.write_text(f"exec {guest_script(guest, accel)}\n", encoding="utf-8")
    argv = ["sh", "-c", HIDE, "sh", str(empty),
            *command(guest, accel, inner, folder / CHANNEL, verdict.output)]
    path = f"{cache_dir() / 'venv/bin'}:{os.environ.get('PATH', '/usr/sbin:/usr/bin:/sbin:/bin')}"
    verdict.output.write_bytes(b"")

    def begun() -> bool:
        return (folder / CHANNEL).stat().st_size > 0

    return launch(argv, verdict, guest.timeout, {"PATH": path}, begun)


def boot(guest: Guest) -> Verdict:
    """Boot the guest, run its script, and judge both.

    A guest that ended of a fault that is not livemm's (see known_fault()) is booted again, and a
    note says so.
    """
    faults: list[str] = []
    while True:
        verdict = boot_once(guest)
        verdict.notes += [f"boot {tries}: {fault}" for tries, fault in enumerate(faults, 1)]
        fault = known_fault(verdict)
        if not fault or len(faults) == BOOTS - 1:
            return verdict
        faults.append(fault)


def known_fault(verdict: Verdict) -> str:
    """The fault of somebody else that ended a guest; "" for any other end.

    QEMU 10 aborts now and then while a guest with parallel CPUs probes its devices.  The kernel
    warns when a livepatch begins to come or go and a task that ends, and is in no list of tasks
    any more, calls a patched function (docs/beside-others.md; scenario dying).  An emulated CPU
    that runs beside another may run a breakpoint which the other has just taken out of memory.
    A guest now and then comes to a halt as the kernel starts, before livemm is loaded.
    """
    if verdict.stalled:
        return "the kernel did not come as far as the script"
    if emulator_aborted(verdict):
        return "the emulator itself aborted"
    # The report that ended the guest, not one that the guest was allowed.
    if HANDLER_WARNS.search(verdict.reason) and DYING_TASK.search(
            verdict.console.read_text("utf-8", "replace")):
        return "the kernel warned of a livepatch and a task that ends"
    if "thread=multi" in verdict.accel and STRAY_BREAKPOINT.search(verdict.reason):
        return "the emulator ran a breakpoint that memory does not have"
    return ""


def emulator_aborted(verdict: Verdict) -> bool:
    """Whether QEMU failed an assertion of its own before the script had made a check."""
    if verdict.ended or verdict.tests or not verdict.reason:
        return False
    console = verdict.console.read_text(encoding="utf-8", errors="replace")
    return ABORTED.search(console) is not None


def boot_once(guest: Guest) -> Verdict:
    """Boot the guest once."""
    if guest.plugin:
        accel = emulated(guest.emulation)
    elif guest.accel:
        accel = Accel(guest.accel, QEMU, hosts_version())
    else:
        accel = choose(guest.emulation)
    watch = Watch()
    if not guest.image.vmlinuz.exists():
        raise ToolError(f"{guest.image.vmlinuz}: not there; run `make setup`")

    def watched(folder: Path, verdict: Verdict) -> bool:
        with watch.looking_at(str(folder)):
            return run(guest, accel, verdict, folder)

    verdict = judged(guest.name, accel, guest.timeout, guest.allowed, watched)
    verdict.notes.append(watch.note())
    verdict.reason = verdict.reason or watch.wrong(accel.argument, guest.cpus)
    return verdict


def judge(verdict: Verdict, text: str, in_time: bool, timeout: float,
          allowed: Sequence[str]) -> None:
    """Fill the verdict from the guest's channel, its console, and how it ended."""
    status = read_channel(verdict, text)
    console = verdict.console.read_text(encoding="utf-8", errors="replace")
    if races := foreign_races(console):
        often = ", ".join(f"{what} {times}" for what, times in races.most_common(RACES))
        verdict.notes.append(f"races of the kernel's own: {races.total()} reports, "
                             f"{len(races)} kinds, most often {often}")
    report = first_report(console, allowed)
    if report:
        verdict.reason = f"the kernel reported:\n{report}"
    elif not in_time:
        verdict.stalled = not text
        limit = min(timeout, BOOT_SECONDS) if verdict.stalled else timeout
        verdict.reason = f"not done after {limit:.0f} s; console:\n{tail(console)}"
    elif not verdict.ended:
        verdict.reason = f"the guest died before its script ended; console:\n{tail(console)}"
    elif status != 0:
        output = verdict.output.read_text(encoding="utf-8", errors="replace")
        verdict.reason = f"the script ended with status {status}:\n{tail(output, 8)}"
