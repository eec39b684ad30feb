# SPDX-License-Identifier: GPL-2.0-only
"""make ansible-test: the role of tools/ansible against two guests that boot a clean Debian.

The Debian is that of tests.deb, with an SSH server. livemm-dkms is installed while the disk is
made, as an emulated guest takes half an hour to compile; the role finds the package there, and
installs livemm-tools.  Guests have no network but the one port of SSH.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from socket import socket

from guests.accel import choose
from guests.boot import EMULATED_KARGS, KARGS
from guests.command import bound, call, tail
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from tests import deb
from tests.matrix import versions
from tests.systemd import CPU, UNUSED

WORK = BUILD / "ansible"
LOG = BUILD / "log"
ROLE = ROOT / "tools/ansible"
GUESTS = 2
#: Seconds: an emulated guest boots and answers, and a playbook ends.
BOOT_S, PLAY_S = 900, 1800
#: What makes a disk of the clean Debian, in a mount namespace of its own.
IMAGE = """
set -eu
work=$1 base=$2 debs=$3 disk=$4 key=$5
mount -t overlay none -o "lowerdir=$base,upperdir=$work/keep,workdir=$work/over" "$work/root"
cd "$work/root"
mount -t proc none proc
mount --rbind /dev dev
mount --bind "$debs" mnt
cp /etc/resolv.conf etc/resolv.conf
printf '#!/bin/sh\\nexit 101\\n' >usr/sbin/policy-rc.d
chmod 755 usr/sbin/policy-rc.d
run() { chroot . env -i HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \\
	PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
run apt-get -qq update
run apt-get -qq -y --no-install-recommends install openssh-server python3-apt
run sh -c 'dpkg -i /mnt/livemm-dkms_*.deb'
rm usr/sbin/policy-rc.d
mkdir -p root/.ssh
cp "$key.pub" root/.ssh/authorized_keys
chmod -R go= root/.ssh
printf '[Match]\\nType=ether\\n[Network]\\nAddress=10.0.2.15/24\\n' >etc/systemd/network/10.network
run systemctl -q enable systemd-networkd ssh
umount -l mnt dev proc
for folder in run tmp usr/lib/gcc usr/src usr/share/doc usr/share/locale var/cache/apt/archives \\
	var/lib/apt/lists lib/modules/*/kernel/sound lib/modules/*/kernel/drivers/gpu \\
	lib/modules/*/kernel/drivers/media; do
	mount -t tmpfs -o mode=755 none "$folder"
done
exec mke2fs -q -t ext4 -d . "$disk" 2G
"""


def make_disks() -> None:
    """A disk for each guest, and a key for all."""
    shutil.rmtree(WORK, ignore_errors=True)
    for name in ("keep", "over", "root", "debs"):
        (WORK / name).mkdir(parents=True)
    call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", WORK / "key"])
    version = versions()[1]
    call([ROOT / "tools/debian/build", BUILD / "deb", version], log=LOG / "ansible-build.log")
    for path in (BUILD / "deb").glob(f"*_{version}_all.deb"):
        shutil.copy(path, WORK / "debs")
    call(["unshare", "-m", "sh", "-c", IMAGE, "sh", WORK, deb.base(), WORK / "debs",
          WORK / "disk0", WORK / "key"], log=LOG / "ansible-disk.log")
    for number in range(1, GUESTS):
        call(["cp", "--sparse=always", WORK / "disk0", WORK / f"disk{number}"])


@dataclass(frozen=True)
class Machine:
    """A guest that is running."""

    name: str
    port: int
    process: subprocess.Popen[bytes]

    def ssh(self, *words: str, timeout: float = 120) -> tuple[int, str]:
        """Run a command there."""
        return call(["ssh", "-q", "-i", WORK / "key", "-p", str(self.port), *OPTIONS,
                     "-o", "ConnectTimeout=30", "root@127.0.0.1", *words],
                    check=False, timeout=timeout)

    def wait(self) -> None:
        """Until the guest answers."""
        deadline = time.monotonic() + BOOT_S
        while self.ssh("true")[0]:
            if self.process.poll() is not None or time.monotonic() > deadline:
                console = (LOG / f"{self.name}.log").read_text(encoding="utf-8", errors="replace")
                raise ToolError(f"{self.name} does not answer: {tail(console, 10)}")
            time.sleep(2)


OPTIONS = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]


def free_port() -> int:
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def machine(number: int) -> Iterator[Machine]:
    """A guest that ends with the block."""
    (kernel,) = (deb.base() / "boot").glob("vmlinuz-6.1.*")
    initrd = kernel.with_name(kernel.name.replace("vmlinuz", "initrd.img"))
    accel, name, port = choose(), f"ansible-{number}", free_port()
    words = ["root=/dev/vda", "rw", "console=ttyS0", *KARGS,
             *([] if accel.kvm else EMULATED_KARGS), "quiet",
             *(f"systemd.mask={unit}" for unit in UNUSED)]
    argv = [accel.qemu, "-accel", accel.argument, "-M", "q35", "-cpu", CPU, "-smp", "1",
            "-m", "768M", "-nodefaults", "-no-user-config", "-display", "none",
            "-serial", f"file:{LOG / name}.log", "-no-reboot", "-kernel", str(kernel),
            "-initrd", str(initrd), "-append", " ".join(words),
            "-drive", f"file={WORK}/disk{number},if=none,id=root,format=raw,cache=unsafe",
            "-device", "virtio-blk-pci,drive=root", "-device", "virtio-rng-pci",
            "-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
            "-device", "virtio-net-pci,netdev=net,romfile="]
    process = subprocess.Popen(bound(argv), stdin=subprocess.DEVNULL)
    try:
        yield Machine(name, port, process)
    finally:
        process.kill()
        process.wait()


class Play:
    """The playbook, for these guests."""

    def __init__(self, machines: list[Machine]) -> None:
        self.inventory = WORK / "inventory"
        self.inventory.write_text("[livemm]\n" + "".join(
            f"{one.name} ansible_host=127.0.0.1 ansible_port={one.port} ansible_user=root"
            f" ansible_python_interpreter=/usr/bin/python3\n" for one in machines),
            encoding="utf-8")
        self.words = json.dumps({
            "livemm_packages": sorted(map(str, (WORK / "debs").glob("*.deb"))),
            "livemm_profile": "lists", "livemm_at_stop": "off", "livemm_serial": "100%"})

    def run(self, name: str, *more: str) -> dict[str, dict[str, int]]:
        """What became of each host: how many tasks are ok, changed, failed and so on."""
        with tempfile.TemporaryDirectory(prefix="livemm-") as control:
            env = {**os.environ, "ANSIBLE_PIPELINING": "1", "ANSIBLE_TIMEOUT": "120",
                   "ANSIBLE_SSH_ARGS": " ".join([*OPTIONS, "-o ControlMaster=auto",
                                                 "-o ControlPersist=300"]),
                   "ANSIBLE_SSH_CONTROL_PATH_DIR": control, "ANSIBLE_NOCOLOR": "1",
                   # Ansible refuses other encodings.
                   "LC_ALL": "C.UTF-8",
                   "ANSIBLE_ROLES_PATH": str(ROLE / "roles")}
            status, text = call(
                ["ansible-playbook", "-i", self.inventory, "--private-key", WORK / "key",
                 "-e", self.words, *more, ROLE / "site.yml"], env=env, check=False,
                log=LOG / f"ansible-{name}.log", timeout=PLAY_S)
        rows = re.findall(r"^(\S+)\s+: ((?:\w+=\d+\s*)+)$", text, re.M)
        assert status == 0 and rows, tail(text, 30)
        return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", found)}
                for host, found in rows}


def everywhere(machines: list[Machine], command: str, wanted: str) -> str:
    """What is wrong with what a command says on each guest."""
    found = {one.name: one.ssh(command)[1].strip() for one in machines}
    return "" if set(found.values()) == {wanted} else f"{command}: {found}"


def check(stage: Stage, machines: list[Machine]) -> None:
    play = Play(machines)

    def boots() -> None:
        for one in machines:
            one.wait()

    def dry() -> str:
        rows = play.run("dry", "--check")
        assert len(rows) == len(machines) and all(row["changed"] for row in rows.values()), rows
        return everywhere(machines, "test -e /usr/bin/livemmctl || echo no", "no")

    def real() -> str:
        rows = play.run("real")
        assert all(row["changed"] and not row["failed"] for row in rows.values()), rows
        return ""

    def again() -> str:
        rows = play.run("again")
        return "" if not any(row["changed"] for row in rows.values()) else f"{rows}"

    stage.run(f"{len(machines)} guests boot", boots)
    stage.run("--check on bare hosts says what would change, and changes nothing", dry)
    stage.run("the role runs", real)
    stage.run("livemm is loaded, with the profile", lambda: everywhere(
        machines, "cat /sys/kernel/debug/livemm/pcp/enabled", "1"))
    stage.run("and enabled for the next boot", lambda: everywhere(
        machines, "systemctl is-enabled livemm-profile.service livemm-export.timer | uniq",
        "enabled"))
    stage.run("run again the role changes nothing", again)


def main() -> int:
    stage = Stage("ansible")
    if shutil.which("ansible-playbook") is None:
        raise ToolError("ansible-playbook is not installed: apt install ansible-core")
    say("    making disks")
    LOG.mkdir(parents=True, exist_ok=True)
    make_disks()
    with ExitStack() as stack:
        check(stage, [stack.enter_context(machine(number)) for number in range(GUESTS)])
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
