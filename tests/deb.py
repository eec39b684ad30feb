# SPDX-License-Identifier: GPL-2.0-only
"""make deb-test: install, boot, upgrade, remove and purge the packages in a clean Debian.

The Debian is a debootstrapped folder in the cache, which stays as it is: all happens
in a mount namespace, in an overlay over it that is thrown away.  Commands that load
modules or start services are replaced there by ones that only write down who called.
What the units do is seen in a guest that boots a copy of it (tests.systemd).
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from guests.boot import guest_pool
from guests.command import call
from guests.kernels import cache_dir, load, mirror
from guests.modules import MODULES
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from tests import systemd
from tests.matrix import versions

WORK = BUILD / "deb-test"
SUITE = "bookworm"
#: What the packages need, and a kernel to build for and to boot, with an init.
PACKAGES = ["dkms", "gcc-12", "linux-headers-amd64", "linux-image-amd64", "make",
            "python3-click", "python3-prometheus-client", "python3-rich", "systemd-sysv", "udev"]
#: What is in its initramfs, by Debian's own means: all that there is takes seconds to unpack.
INITRAMFS = {"conf.d/modules": "MODULES=list\nCOMPRESS=gzip\n",
             "modules": "virtio_pci\nvirtio_blk\next4\n"}
#: Kernels that we do not build for, with all that DKMS looks for: one that nobody has
#: heard of, and a realtime one of a series that we know.
UNKNOWN = {"9.9.0-1-amd64": "CONFIG_MODULES=y\n",
           "6.1.0-99-rt-amd64": "CONFIG_MODULES=y\nCONFIG_PREEMPT_RT=y\n"}
#: livemmctl is the package's own to be: that is watched only while an upgrade runs.
WATCHED = ("modprobe", "rmmod", "insmod", "systemctl")

INSIDE = """
set -eu
top=$1 base=$2
shift 2
mount -t overlay none -o "lowerdir=$base,upperdir=$top/keep,workdir=$top/work" "$top/root"
mount --bind "$top/debs" "$top/root/mnt"
mount -t proc none "$top/root/proc"
mount --rbind /dev "$top/root/dev"
exec chroot "$top/root" env -i HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \\
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


def base() -> Path:
    """The clean Debian, made when it is not there."""
    root = cache_dir() / "roots" / f"deb-{SUITE}"
    key = " ".join([*PACKAGES, *INITRAMFS.values()])
    stamp = root / ".done"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == key:
        return root
    say(f"    making a clean {SUITE} (minutes, once)")
    shutil.rmtree(root, ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    call(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, root,
          mirror()], log=BUILD / "log" / "deb-base.log")
    for name, text in INITRAMFS.items():
        (root / "etc/initramfs-tools" / name).write_text(text, encoding="utf-8")
    call(["chroot", root, "update-initramfs", "-u"], log=BUILD / "log" / "deb-initramfs.log")
    stamp.write_text(key, encoding="utf-8")
    return root


def lay_out() -> None:
    """An empty overlay, with commands that only write down that they were called."""
    shutil.rmtree(WORK, ignore_errors=True)
    for name in ("keep", "work", "root", "debs"):
        (WORK / name).mkdir(parents=True)
    (WORK / "keep/usr/local/sbin").mkdir(parents=True)
    for name in WATCHED:
        watch(name)
    # Else maintainer scripts think that nothing can be started.
    (WORK / "keep/run/systemd/system").mkdir(parents=True)
    for release, config in UNKNOWN.items():
        build = WORK / "keep/usr/lib/modules" / release / "build"
        (build / "include").mkdir(parents=True)
        (build / "Makefile").write_text("modules clean:\n\tfalse\n", encoding="utf-8")
        (build / ".config").write_text(config, encoding="utf-8")


def watch(name: str) -> None:
    """Replace a command."""
    path = WORK / "keep/usr/local/sbin" / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >>/var/log/livemm-calls\n', encoding="utf-8")
    path.chmod(0o755)


def calls() -> list[str]:
    """What was called since last asked, of what could toggle a policy."""
    path = WORK / "keep/var/log/livemm-calls"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    # Reading units anew starts and stops nothing.
    return [line for line in lines if line.split()[1:2] != ["daemon-reload"]
            and "--system daemon-reload" not in line]


def packages() -> tuple[str, str]:
    """Build the packages of this version and of a later one; returns both versions."""
    now = versions()[1]
    later = f"{now}.1"
    for version in (now, later):
        call([ROOT / "tools/debian/build", BUILD / "deb", version],
             log=BUILD / "log" / f"deb-build-{version}.log")
        for path in (BUILD / "deb").glob(f"*_{version}_all.deb"):
            shutil.copy(path, WORK / "debs")
    return now, later


@dataclass
class Life:
    """The life of the packages in one clean Debian: of this version, and of a later one."""

    root: Path
    now: str
    later: str

    def inside(self, name: str, *words: str, check: bool = True) -> tuple[int, str]:
        """Run a command in the clean Debian, as far as it has come."""
        argv = ["unshare", "-m", "sh", "-c", INSIDE, "sh", str(WORK), str(self.root), *words]
        return call(argv, log=BUILD / "log" / f"deb-{name}.log", check=check, timeout=1800)

    def output(self, name: str, *words: str) -> str:
        """What a command says, whatever its status."""
        return self.inside(name, *words, check=False)[1]

    def apt(self, name: str, *words: str) -> None:
        """apt-get, without a network."""
        self.inside(name, "apt-get", "-qq", "-y", "--no-install-recommends",
                    "-o", "Dpkg::Options::=--force-confold", *words)

    def debs(self, version: str) -> list[str]:
        """The packages of a version, as seen inside."""
        return [f"/mnt/livemm-dkms_{version}_all.deb", f"/mnt/livemm-tools_{version}_all.deb"]

    def built(self, version: str) -> None:
        """Complain unless DKMS has it for the known kernel, and nothing for the unknown."""
        text = self.output("status", "dkms", "status")
        rows = re.findall(r"^livemm/([\w.]+), (\S+), \S+: (\w+)", text, re.M)
        good = len(rows) == 1 and rows[0][0::2] == (version, "installed")
        assert good and rows[0][1] not in UNKNOWN, f"dkms status: {text}"

    def modules(self) -> None:
        """All modules are where modprobe finds them."""
        text = self.output("modules", "find", "/lib/modules/", "-name", "livemm*.ko*")
        names = sorted(Path(line).name.split(".")[0] for line in text.splitlines())
        assert names == sorted(MODULES), f"there are: {text}"

    def kernel_hook(self) -> None:
        """The installation of an unknown kernel does not fail because of us."""
        for release in UNKNOWN:
            self.inside(f"hook-{release}", "/etc/kernel/postinst.d/dkms", release)

    def known_hook(self) -> None:
        """The installation of a known kernel builds for it."""
        known = set(self.output("releases", "ls", "/lib/modules/").split()) - set(UNKNOWN)
        release = known.pop() if len(known) == 1 else ""
        self.inside("unbuild", "dkms", "remove", f"livemm/{self.now}", "-k", release)
        self.inside("add", "sh", "-c", f"dkms status | grep -q livemm/{self.now} || "
                                       f"dkms add livemm/{self.now}")
        self.inside("rebuild", "/etc/kernel/postinst.d/dkms", release)

    def command(self) -> None:
        """livemmctl runs, and says that nothing is loaded."""
        status, text = self.inside("command", "/usr/bin/livemmctl", "status", check=False)
        assert status == 4 and "livemm is not loaded" in text, f"status {status}: {text}"
        text = self.output("version", "/usr/bin/livemmctl", "--version").strip()
        text += self.output("profiles", "/usr/bin/livemmctl", "profile", "list")
        assert text.startswith(f"livemmctl {self.now}") and "lists-careful" in text, text

    def documents(self) -> None:
        """Man page, completions and shared files are there."""
        wanted = ["/usr/share/man/man1/livemmctl.1.gz", "/usr/share/livemm/grafana/livemm.json",
                  "/usr/share/bash-completion/completions/livemmctl",
                  "/usr/share/zsh/vendor-completions/_livemmctl",
                  "/lib/systemd/system/livemm-ab@.service"]
        self.inside("documents", "sh", "-c", """
            for file; do test -s "$file" || missing="${missing:-} $file"; done
            test -z "${missing:-}" || { echo "missing:$missing"; exit 1; }""", "sh", *wanted)

    def disabled(self) -> list[str]:
        """No unit is enabled, none was started."""
        enabled = self.output("enabled", "find", "/etc/systemd", "-name", "livemm*").splitlines()
        return enabled + [line for line in calls() if "livemm" in line]

    def prepare_upgrade(self) -> None:
        """An admin's host: units enabled, settings changed, a profile and an experiment."""
        self.output("prepare", "sh", "-c", """
            mkdir -p /etc/systemd/system/multi-user.target.wants
            ln -s /lib/systemd/system/livemm-profile.service \
                /etc/systemd/system/multi-user.target.wants/
            ln -s /lib/systemd/system/livemm-ab@.service \
                /etc/systemd/system/multi-user.target.wants/livemm-ab@trial.service
            mkdir -p /var/lib/livemm
            echo 'name = "trial"' >/etc/livemm/experiments/trial.toml
            echo '{}' >/var/lib/livemm/trial.jsonl
            sed -i 's/"stock"/"mine"/; s/"keep"/"off"/' /etc/livemm/livemm.toml
            echo '[policy.pcp]' >/etc/livemm/profiles/mine.toml""")
        watch("livemmctl")
        calls()

    def kept(self) -> None:
        """The admin's files and the enabled units are as they were."""
        self.inside("kept", "sh", "-c", """
            grep -q '"mine"' /etc/livemm/livemm.toml && grep -q '"off"' /etc/livemm/livemm.toml &&
            test -s /etc/livemm/profiles/mine.toml &&
            test -s /etc/livemm/experiments/trial.toml && test -s /var/lib/livemm/trial.jsonl &&
            test -L /etc/systemd/system/multi-user.target.wants/livemm-ab@trial.service &&
            test -L /etc/systemd/system/multi-user.target.wants/livemm-profile.service""")

    def remove(self) -> str:
        """Both, and the admin's settings stay."""
        (WORK / "keep/usr/local/sbin/livemmctl").unlink()
        self.apt("remove", "remove", "livemm-dkms", "livemm-tools")
        self.inside("settings", "test", "-s", "/etc/livemm/livemm.toml")
        return self.output("removed", "sh", "-c", "find /lib/modules/ /usr/src /var/lib/dkms "
                           "/usr/bin /usr/lib/python3 -name 'livemm*'; dkms status")

    def purge(self) -> list[str]:
        """Nothing is left."""
        self.apt("purge", "purge", "livemm-dkms", "livemm-tools")
        text = self.output("left", "sh", "-c", "find / -xdev -name '*livemm*' ! -path '/mnt/*' "
                           "! -path '/proc/*' ! -path /var/log/livemm-calls; dpkg -l | grep livemm")
        # The links were the admin's own.
        return [line for line in text.splitlines() if "multi-user.target.wants" not in line]


def main() -> int:
    stage = Stage("deb")
    if not any(kernel.series == "6.1" for kernel in load()[0]):
        raise ToolError(f"{SUITE}'s own kernel is not supported: this test needs another one")
    lay_out()
    life = Life(base(), *packages())
    # On a host with a kernel that we know, and some that we do not.
    stage.run("installs, beside a kernel that is not known",
              lambda: life.apt("install", "install", *life.debs(life.now)))
    stage.run("built for the known kernel only", lambda: life.built(life.now))
    stage.run("all modules are installed", life.modules)
    stage.run("an unknown kernel's installation does not fail", life.kernel_hook)
    stage.run("a known kernel's installation builds for it", life.known_hook)
    stage.run("and only for it", lambda: life.built(life.now))
    stage.run("livemmctl runs", life.command)
    stage.run("man page and completions are there", life.documents)
    stage.run("no unit is enabled or started", life.disabled)
    kept = WORK / "keep"
    bootable = not stage.failed and stage.run(
        "a disk is made of it", lambda: systemd.make_disk(life.root, kept))
    # A guest is one busy core, and most of what is left in the chroot another.
    with guest_pool(1) as pool:
        booted = pool.submit(systemd.check, stage, life.root) if bootable else None
        life.prepare_upgrade()
        stage.run("upgrades", lambda: life.apt("upgrade", "install", *life.debs(life.later)))
        stage.run("the upgrade toggles nothing", calls)
        stage.run("the new version is built", lambda: life.built(life.later))
        stage.run("the admin's settings stay", life.kept)
        stage.run("removes, and leaves the settings", life.remove)
        stage.run("purges, and leaves nothing", life.purge)
        if booted is not None:
            booted.result()
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
