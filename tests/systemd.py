# SPDX-License-Identifier: GPL-2.0-only
"""The packages' systemd units under a running systemd, on the Debian that has them installed.

The clean Debian of tests.deb, with what the installation has made of it, becomes a disk.
It is booted with its own kernel several times, and goes on each time from what the boot
before has left: tests/systemd_guest.sh has what happens in which.  Guests of guests.boot are on
the host's root, with our script for an init, and have no systemd.
"""

import shutil
from pathlib import Path

from guests.accel import choose
from guests.boot import CHANNEL, EMULATED_KARGS, KARGS, OUTPUT_PORT, PORT, judged, launch, port
from guests.command import call, complaint
from guests.report import BUILD, ROOT, Stage, ToolError
from guests.verdict import Verdict

WORK = BUILD / "units"
DISK = WORK / "disk"
SIZE = "2G"
#: For more features than these, udev would have the kernel load modules that use them.
CPU = "qemu64,+rdrand"
TIMEOUT = 1800.0  # seconds
#: Each a boot, as systemd_guest.sh calls it.
BOOTS = ["fresh", "again", "resumed", "crashed"]
#: Where the guest finds its script, and what that sources.
PLACE = "opt/units"
FILES = ["tests/systemd_guest.sh", "tests/scenarios/lib.sh"]
#: What nobody logs in to, and what else takes long to start and has nothing to do with us.
UNUSED = ["e2scrub_reap.service", "getty-static.service", "getty.target",
          "serial-getty@ttyS0.service", "systemd-binfmt.service",
          "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service"]
UNIT = f"""\
[Unit]
Description=The test of livemm's units

[Service]
ExecStart=/bin/sh /{PLACE}/tests/systemd_guest.sh
Environment=LMM_ROOT=/{PLACE}
"""
#: Of an overlay of the clean Debian, what happened there, and files of ours.  Left out is
#: what only the test in the chroot needs, and what is large and nothing boots with.
IMAGE = """
set -eu
work=$1 kept=$2 base=$3 disk=$4 size=$5
mount -t overlay none -o "lowerdir=$work/files:$kept:$base" "$work/root"
cd "$work/root"
for folder in usr/local/sbin run tmp usr/lib/gcc usr/src usr/share/doc usr/share/locale \\
	var/cache/apt var/lib/apt/lists lib/modules/*/kernel/sound \\
	lib/modules/*/kernel/drivers/gpu lib/modules/*/kernel/drivers/media \\
	lib/modules/*/kernel/drivers/net; do
	mount -t tmpfs -o mode=755 none "$folder"
done
exec mke2fs -q -t ext4 -d . "$disk" "$size"
"""


def make_disk(base: Path, kept: Path) -> str:
    """Have the disk: the clean Debian under `base`, changed as `kept`, an overlay's, says.

    Returns what went wrong.
    """
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "root").mkdir(parents=True)
    (WORK / "files" / PLACE).mkdir(parents=True)
    call(["cp", "--parents", "-t", WORK / "files" / PLACE, *FILES], cwd=ROOT)
    wanted = WORK / "files/etc/systemd/system/multi-user.target.wants"
    wanted.mkdir(parents=True)
    (wanted.parent / "units-test.service").write_text(UNIT, encoding="utf-8")
    (wanted / "units-test.service").symlink_to("../units-test.service")
    return complaint(["unshare", "-m", "sh", "-c", IMAGE, "sh", WORK, kept, base, DISK, SIZE],
                     log=BUILD / "log" / "units-disk.log")


def boot(base: Path, name: str) -> Verdict:
    """Boot the disk, with the kernel that is installed on it, until the machine goes down."""
    kernels = list((base / "boot").glob("vmlinuz-6.1.*"))
    if len(kernels) != 1:
        raise ToolError(f"{base}/boot: one kernel is wanted, there are {len(kernels)}")
    initrd = kernels[0].with_name(kernels[0].name.replace("vmlinuz", "initrd.img"))
    accel = choose()
    words = ["root=/dev/vda", "rw", "console=ttyS0", *KARGS,
             *([] if accel.kvm else EMULATED_KARGS), f"units.boot={name}", "quiet",
             *(f"systemd.mask={unit}" for unit in UNUSED)]

    def run(folder: Path, verdict: Verdict) -> bool:
        argv = [
            accel.qemu, "-accel", accel.argument, "-M", "q35", "-cpu", CPU, "-smp", "2",
            "-m", "1G", "-nodefaults", "-no-user-config", "-display", "none",
            "-serial", "stdio", "-no-reboot",
            "-kernel", str(kernels[0]), "-initrd", str(initrd), "-append", " ".join(words),
            # The disk need not outlive a crash of the host's.
            "-drive", f"file={DISK},if=none,id=root,format=raw,cache=unsafe",
            "-device", "virtio-blk-pci,drive=root", "-device", "virtio-rng-pci",
            "-device", "virtio-serial-pci", *port(PORT, folder / CHANNEL),
            *port(OUTPUT_PORT, verdict.output),
        ]
        return launch(argv, verdict, TIMEOUT, {})

    return judged(f"units-{name}", accel, TIMEOUT, [], run)


def check(stage: Stage, base: Path) -> None:
    """Count what the units do, boot by boot; after one that fails there is no other."""
    try:
        for name in BOOTS:
            if not boot(base, name).count(stage, f"units, {name}: "):
                return
    except (ToolError, OSError) as error:
        stage.add("units", False, str(error))
    else:
        shutil.rmtree(WORK)
