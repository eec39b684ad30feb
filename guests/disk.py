# SPDX-License-Identifier: GPL-2.0-only
"""Boot a machine of its own: a kernel, its initramfs, and a disk with an init of its own.

Where guests.boot has a guest on the host's root, with our script for an init, this is
for what needs an init to run under.  The machine reports by ports: checks on
one port, what the script prints on another, the console in build/log/NAME.log.  A disk
can be booted again, and then is as the boot before has left it.
"""

from pathlib import Path

from guests.accel import choose
from guests.boot import CHANNEL, EMULATED_KARGS, KARGS, OUTPUT_PORT, PORT, judged, launch, port
from guests.verdict import Verdict

#: For more features than these, udev would have the kernel load modules that use them.
CPU = "qemu64,+rdrand"


def boot_disk(name: str, vmlinuz: Path, initrd: Path, disk: Path, kargs: list[str],
              timeout: float) -> Verdict:
    """Boot a machine until it goes down or starts again, and judge it and its script.

    The disk is a file system as a file, for the root; its init is to start the script.
    """
    accel = choose()
    words = ["root=/dev/vda", "rw", "console=ttyS0", *KARGS,
             *([] if accel.kvm else EMULATED_KARGS), *kargs]

    def run(folder: Path, verdict: Verdict) -> bool:
        argv = [
            accel.qemu, "-accel", accel.argument, "-M", "q35", "-cpu", CPU, "-smp", "2",
            "-m", "1G", "-nodefaults", "-no-user-config", "-display", "none",
            "-serial", "stdio", "-no-reboot",
            "-kernel", str(vmlinuz), "-initrd", str(initrd), "-append", " ".join(words),
            # The disk need not outlive a crash of the host's.
            "-drive", f"file={disk},if=none,id=root,format=raw,cache=unsafe",
            "-device", "virtio-blk-pci,drive=root", "-device", "virtio-rng-pci",
            "-device", "virtio-serial-pci", *port(PORT, folder / CHANNEL),
            *port(OUTPUT_PORT, verdict.output),
        ]
        return launch(argv, verdict, timeout, {})

    return judged(name, accel, timeout, [], run)
