# SPDX-License-Identifier: GPL-2.0-only
"""Suspend to idle, and hibernate: python3 -m tests.sleep [--kernel K] [--hibernate K]

A guest with its root in memory sleeps in earnest, and a key on its keyboard wakes the guest.  A
second one hibernates to a disk, and goes on from the image.  Guests of guests.boot cannot do so:
their root is on 9p, which a sleep would cut off.  tests/sleep_guest.sh and
tests/hibernate_guest.sh have the checks.
"""

import argparse
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from guests.boot import Guest, launch
from guests.in_memory import boot
from guests.kernels import images
from guests.report import ROOT, Stage, main_guard
from guests.verdict import Verdict

KEY_EVERY = 4.0  # seconds
TIMEOUT = 900.0  # seconds
FILES = ["tests/scenarios/lib.sh", "tests/scenarios/lib_helper.sh"]
HIBERNATE_FILES = [*FILES, "tests/scenarios/lib_zonelock.sh"]
DISK = 1 << 30  # bytes
# Kernel and CPUs.  With one CPU none goes off, and depots go back when lists are drained.  Before
# 6.4 a kernel that is told to read its own image back finds the disk in use; from 6.12 on the
# driver of the disk is the only module that the disk needs.
HIBERNATED = [("7.2", 2), ("6.12", 1)]


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


def run(argv: list[str], folder: Path, verdict: Verdict) -> bool:
    """Run the guest, and press its keys meanwhile."""
    monitor = folder / "monitor"
    argv = [*argv, "-qmp", f"unix:{os.path.relpath(monitor, ROOT)},server=on,wait=off"]
    with keyboard(monitor):
        return launch(argv, verdict, TIMEOUT, {})


def hibernate(argv: list[str], folder: Path, verdict: Verdict) -> bool:
    """Run the guest with a disk."""
    disk = folder / "disk"
    with disk.open("wb") as file:
        file.truncate(DISK)
    argv = [*argv, "-drive", f"file={disk},if=virtio,format=raw"]
    return launch(argv, verdict, TIMEOUT, {})


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.sleep",
                                     description="suspend a guest to idle, and hibernate one")
    parser.add_argument("--kernel", default="6.1",
                        help="to suspend: a series or a release (default 6.1)")
    parser.add_argument("--hibernate", metavar="KERNEL",
                        help="to hibernate with two CPUs and with one: 6.12 or later "
                             "(default 7.2 with two, 6.12 with one)")
    args = parser.parse_args()
    stage = Stage("sleep")
    image = images(args.kernel)[0]
    guest = Guest(f"sleep-{image.name}", image, ROOT / "tests/sleep_guest.sh", timeout=TIMEOUT)
    boot(guest, FILES, run).count(stage)
    for kernel, cpus in HIBERNATED:
        image = images(args.hibernate or kernel)[0]
        guest = Guest(f"hibernate-{image.name}-{cpus}", image, ROOT / "tests/hibernate_guest.sh",
                      cpus=cpus, kargs=["cma=64M"], timeout=TIMEOUT)
        boot(guest, HIBERNATE_FILES, hibernate, ["virtio_blk"]).count(stage, f"CPUs: {cpus}: ")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
