# SPDX-License-Identifier: GPL-2.0-only
"""Boot one guest whose root is in memory: busybox, our modules, and what the script needs.

Such a guest sleeps in earnest, and boots on kernels without 9p: guests of guests.boot have their
root on 9p.  The console is the guest's first serial port, the checks of its script come back on
the second.
"""

import lzma
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from guests.accel import Accel, choose
from guests.boot import (
    CHANNEL,
    EMULATED_KARGS,
    KARGS,
    Guest,
    environment,
    judged,
    launch,
    parts,
    processors,
)
from guests.command import call
from guests.report import BUILD, ROOT, ToolError
from guests.verdict import Verdict

BUSYBOX = Path("/usr/bin/busybox")
FOLDERS = ("bin", "dev", "mnt", "modules", "proc", "run", "sbin", "sys", "tmp")
#: Called as modprobe, by the kernel and by the script: it loads MODULE with its parameters, or
#: hangs while /run/hang is there.
MODPROBE = """\
#!/bin/busybox sh
PATH=/bin
for word in "$@"; do
	case $word in
	-*) shift ;;
	*) break ;;
	esac
done
name=$1
shift
while [ -e /run/hang ]; do sleep 1; done
[ ! -d "/sys/module/$name" ] || exit 0
exec insmod "/modules/$name.ko" "$@"
"""
INIT = """\
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
mount -t tracefs none /sys/kernel/tracing
exec 3>/dev/ttyS1
env {env} sh {script}
echo "end $?" >&3
# The port is slow, and what it has not sent is lost.
sleep 1
poweroff -f
"""


def copy_driver(name: str, guest: Guest, folder: Path) -> None:
    """Put a module of the kernel's own where the guest's modprobe finds it."""
    found = sorted(guest.image.modules.rglob(f"{name}.ko*"))
    if len(found) != 1:
        raise ToolError(f"{guest.image.modules}: no module {name}")
    data = found[0].read_bytes()
    (folder / f"{name}.ko").write_bytes(lzma.decompress(data) if found[0].suffix == ".xz" else data)


def make_root(folder: Path, guest: Guest, accel: Accel, files: Sequence[str],
              drivers: Sequence[str]) -> None:
    """Fill the folder with the guest's root."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, folder / "bin/busybox")
    script = guest.script.relative_to(ROOT)
    call(["cp", "--parents", "-t", folder, script, *files], cwd=ROOT)
    tree = guest.modroot or BUILD / guest.image.release / "modroot"
    modules = sorted(tree.glob("lib/modules/*/updates/*.ko"))
    if not modules:
        raise ToolError(f"{tree}: no modules of ours; run `make modules`")
    for module in modules:
        call(["strip", "-g", "-o", folder / "modules" / module.name, module])
    for name in drivers:
        copy_driver(name, guest, folder / "modules")
    env = environment(guest, accel, "", "/modules")
    words = shlex.join(f"{name}={value}" for name, value in env.items())
    init = INIT.format(env=words, script=f"/{script}")
    for path, text in (("sbin/modprobe", MODPROBE), ("init", init)):
        (folder / path).write_text(text, encoding="utf-8")
        (folder / path).chmod(0o755)
    (folder / "sbin/rmmod").symlink_to("/bin/busybox")


def make_initrd(work: Path, guest: Guest, accel: Accel, files: Sequence[str],
                drivers: Sequence[str]) -> Path:
    """The guest's root as an archive that the kernel unpacks."""
    root = work / "root"
    make_root(root, guest, accel, files, drivers)
    initrd = work / "initrd.gz"
    call(["sh", "-c", 'cd "$1" && find . | cpio -o -H newc --quiet | gzip -1 >"$2"', "sh", root,
          initrd])
    return initrd


def topology(guest: Guest) -> list[str]:
    """CPUs, memory and nodes as qemu takes them."""
    words = ["-m", guest.memory, "-smp", processors(guest)]
    for node, (memory, cpus) in enumerate(parts(guest)):
        words += ["-object", f"memory-backend-ram,id=memory{node},size={memory}", "-numa",
                  f"node,nodeid={node},memdev=memory{node},{cpus}"]
    return words


def command(guest: Guest, accel: Accel, folder: Path, files: Sequence[str],
            drivers: Sequence[str]) -> list[str]:
    """The command line of qemu."""
    kargs = ["console=ttyS0", *KARGS, *([] if accel.kvm else EMULATED_KARGS),
             *guest.image.kargs, *guest.kargs]
    return [accel.qemu, "-accel", accel.argument, "-M", "pc", *topology(guest), "-nodefaults",
            "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", str(guest.image.vmlinuz),
            "-initrd", str(make_initrd(folder, guest, accel, files, drivers)),
            "-append", " ".join(kargs),
            "-serial", "stdio", "-serial", f"file:{folder / CHANNEL}", *guest.qemu]


def boot(guest: Guest, files: Sequence[str],
         run: Callable[[list[str], Path, Verdict], bool] | None = None,
         drivers: Sequence[str] = ()) -> Verdict:
    """Boot the guest, have its script run, and judge both.

    `files` are in the guest as they are in the checkout, and `drivers` are modules of the kernel's
    that the script may load, each of which needs no other.  `run` starts qemu, given the command
    line, the guest's folder and the verdict.
    """
    accel = choose(guest.emulation)

    def start(folder: Path, verdict: Verdict) -> bool:
        # The script says everything on the console.
        verdict.output = verdict.console
        argv = command(guest, accel, folder, files, drivers)
        if run is not None:
            return run(argv, folder, verdict)
        return launch(argv, verdict, guest.timeout, {})

    return judged(guest.name, accel, guest.timeout, guest.allowed, start)
