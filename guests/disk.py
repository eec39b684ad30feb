# SPDX-License-Identifier: GPL-2.0-only
"""Boot a machine of its own: a kernel, its initramfs, and a disk with an init of its own.

Where guests.boot has a guest on the host's root, with our script for an init, this is
for what needs an init to run under.  The machine reports by ports: checks on
one port, what the script prints on another, the console in build/log/NAME.log.  A disk
can be booted again, and then is as the boot before has left it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from guests.accel import Accel, choose
from guests.boot import CHANNEL, EMULATED_KARGS, KARGS, OUTPUT_PORT, PORT, judged, launch, port
from guests.verdict import Verdict

#: For more features than these, udev would have the kernel load modules that use them.
CPU = "qemu64,+rdrand"


@dataclass
class Machine:
    """A machine to boot."""

    name: str
    vmlinuz: Path
    initrd: Path
    disk: Path  # a file system as a file, for the root; its init is to start a script
    kargs: list[str] = field(default_factory=list)  # more kernel arguments
    timeout: float = 900.0  # wall seconds until the machine is given up


def command(machine: Machine, accel: Accel, channel: Path, output: Path) -> list[str]:
    """The command line of qemu. It ends when the machine is switched off or starts again."""
    kargs = ["root=/dev/vda", "rw", "console=ttyS0", *KARGS,
             *([] if accel.kvm else EMULATED_KARGS), *machine.kargs]
    return [
        accel.qemu, "-accel", accel.argument, "-M", "q35", "-cpu", CPU, "-smp", "2",
        "-m", "1G", "-nodefaults", "-no-user-config", "-display", "none",
        "-serial", "stdio", "-no-reboot",
        "-kernel", str(machine.vmlinuz), "-initrd", str(machine.initrd),
        "-append", " ".join(kargs),
        # The disk need not outlive a crash of the host's.
        "-drive", f"file={machine.disk},if=none,id=root,format=raw,cache=unsafe",
        "-device", "virtio-blk-pci,drive=root", "-device", "virtio-rng-pci",
        "-device", "virtio-serial-pci", *port(PORT, channel), *port(OUTPUT_PORT, output),
    ]


def boot_disk(machine: Machine) -> Verdict:
    """Boot the machine until it goes down, and judge it and its script."""
    accel = choose()

    def run(folder: Path, verdict: Verdict) -> bool:
        argv = command(machine, accel, folder / CHANNEL, verdict.output)
        return launch(argv, verdict, machine.timeout, {})

    return judged(machine.name, accel, machine.timeout, [], run)
