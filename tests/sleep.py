# SPDX-License-Identifier: GPL-2.0-only
"""Suspend to idle: python3 -m tests.sleep [--kernel K]

A guest with its root in memory sleeps in earnest, and a key on its keyboard wakes the guest.
Guests of guests.boot cannot do so: their root is on 9p, which a sleep would cut off.
tests/sleep_guest.sh has the checks.
"""

import argparse
import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from guests.accel import choose
from guests.boot import CHANNEL, EMULATED_KARGS, KARGS, judged, launch
from guests.command import call
from guests.kernels import Image, images
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard
from guests.verdict import Verdict

BUSYBOX = Path("/usr/bin/busybox")
KEY_EVERY = 4.0  # seconds
TIMEOUT = 900.0  # seconds
FILES = ["tests/sleep_guest.sh", "tests/scenarios/lib.sh", "tests/scenarios/lib_helper.sh"]
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
exec 3>/dev/ttyS1
LMM_ROOT= LMM_MODDIR=/modules LMM_DEBUG=0 LMM_KERNEL={kernel} sh /tests/sleep_guest.sh
echo "end $?" >&3
# The port is slow, and what it has not sent is lost.
sleep 1
poweroff -f
"""


def make_root(folder: Path, image: Image) -> None:
    """Fill the folder with the guest's root: busybox, our modules and the script."""
    for name in ("bin", "dev", "modules", "proc", "run", "sbin", "sys", "tmp"):
        (folder / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, folder / "bin/busybox")
    call(["cp", "--parents", "-t", folder, *FILES], cwd=ROOT)
    modules = sorted((BUILD / image.release).glob("*.ko"))
    if not modules:
        raise ToolError(f"{BUILD / image.release}: no modules; run `make modules`")
    for module in modules:
        call(["strip", "-g", "-o", folder / "modules" / module.name, module])
    for path, text in (("sbin/modprobe", MODPROBE), ("init", INIT.format(kernel=image.name))):
        (folder / path).write_text(text, encoding="utf-8")
        (folder / path).chmod(0o755)
    (folder / "sbin/rmmod").symlink_to("/bin/busybox")


def make_initrd(work: Path, image: Image) -> Path:
    """The guest's root as an archive that the kernel unpacks."""
    root = work / "root"
    make_root(root, image)
    initrd = work / "initrd.gz"
    call(["sh", "-c", 'cd "$1" && find . | cpio -o -H newc --quiet | gzip -1 >"$2"', "sh", root,
          initrd])
    return initrd


def press(path: Path, ended: threading.Event) -> None:
    """Press a key of the guest's every few seconds: a guest that is awake ignores the key."""
    message = {"execute": "send-key",
               "arguments": {"keys": [{"type": "qcode", "data": "shift"}]}}
    with socket.socket(socket.AF_UNIX) as monitor:
        while not ended.wait(0.5):
            try:
                monitor.connect(os.path.relpath(path))
                break
            except OSError:
                continue
        with suppress(OSError):
            monitor.sendall(b'{"execute": "qmp_capabilities"}\n')
            while not ended.wait(KEY_EVERY):
                monitor.sendall(json.dumps(message).encode() + b"\n")
                monitor.recv(65536)


@contextmanager
def keyboard(path: Path) -> Iterator[None]:
    """Press keys while the block runs."""
    ended = threading.Event()
    thread = threading.Thread(target=press, args=(path, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=10)


def boot(image: Image) -> Verdict:
    """Boot the guest, have its script run, and judge both."""
    accel = choose()
    kargs = ["console=ttyS0", *KARGS, *([] if accel.kvm else EMULATED_KARGS)]

    def run(folder: Path, verdict: Verdict) -> bool:
        argv = [
            accel.qemu, "-accel", accel.argument, "-M", "pc", "-smp", "2", "-m", "1G",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", str(image.vmlinuz), "-initrd", str(make_initrd(folder, image)),
            "-append", " ".join(kargs), "-serial", "stdio", "-serial",
            f"file:{folder / CHANNEL}",
            "-qmp", f"unix:{os.path.relpath(folder / 'monitor', ROOT)},server=on,wait=off",
        ]
        # The script says everything on the console.
        verdict.output = verdict.console
        with keyboard(folder / "monitor"):
            return launch(argv, verdict, TIMEOUT, {})

    return judged(f"sleep-{image.name}", accel, TIMEOUT, [], run)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.sleep", description="suspend a guest to idle")
    parser.add_argument("--kernel", default="6.1", help="a series or a release (default 6.1)")
    args = parser.parse_args()
    stage = Stage("sleep")
    boot(images(args.kernel)[0]).count(stage)
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
