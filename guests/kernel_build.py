# SPDX-License-Identifier: GPL-2.0-only
"""Build a kernel of the matrix from Debian's source package.

python3 -m guests.kernel_build [NAME]      have it in the cache, with progress shown; NAME is debug
                                   (KUnit, KASAN, lockdep) or another [[built]] of the matrix

Installs the source package when it is absent: setup.sh has only the one that `make check` needs.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from guests.command import call, ended_with_us, tail
from guests.kernels import DEBUG, MATRIX, built_image, cache_dir, load, source_version
from guests.report import ToolError, main_guard, say

STEP = 20.0  # seconds between two progress lines


def source_tree() -> Path:
    """The unpacked kernel source: also where checkpatch and kunit.py are."""
    return unpacked(load()[1][DEBUG].source)


def install_source(package: str) -> None:
    """Have the source package of a kernel."""
    try:
        source_version(package)
    except ToolError:
        say(f"    installing {package}")
        # apt takes a name that it does not know for a pattern.
        call(["apt-cache", "show", package])
        call(["apt-get", "-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=600",
              "install", package], env={"DEBIAN_FRONTEND": "noninteractive"})


def unpacked(package: str) -> Path:
    """The tree of a source package."""
    version = source_version(package)
    tree = cache_dir() / "source" / f"{package}_{version}"
    if (tree / ".done").exists():
        return tree
    say(f"    unpacking {package} {version}")
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    tarball = Path("/usr/src") / f"{package}.tar.xz"
    call(["tar", "-C", tree, "--strip-components=1", "-xf", tarball])
    (tree / ".done").touch()
    return tree


def config_lost(wanted: str, got: str) -> list[str]:
    """The lines of our configuration that Kconfig did not take."""
    have = set(got.splitlines())
    names = {line.partition("=")[0] for line in have}
    return [line for line in wanted.splitlines() if line.startswith("CONFIG_") and (
        line.partition("=")[0] in names if line.endswith("=n") else line not in have)]


def build_watched(name: str, argv: list[str], cwd: Path, log: Path) -> None:
    """Run the long make, saying now and then how far it is."""
    started = shown = time.monotonic()
    compiled = 0
    with log.open("w", encoding="utf-8") as sink, subprocess.Popen(
        argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as make, ended_with_us(make):
        assert make.stdout is not None
        for line in make.stdout:
            sink.write(line)
            compiled += bool(re.match(r"\s+(CC|AS|LD|AR|BTF)\b", line))
            now = time.monotonic()
            if now - shown >= STEP:
                shown = now
                say(f"    {name} kernel: {compiled} steps done, {now - started:.0f} s")
    if make.returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace")
        raise ToolError(f"{name} kernel: make failed, see {log}\n{tail(text)}")


def install(build: Path, tree: Path, release: str) -> None:
    """Lay the image out as a stock one is, so that guests boot both alike."""
    boot = tree / "boot"
    boot.mkdir(exist_ok=True)
    shutil.copy2(build / "arch/x86/boot/bzImage", boot / f"vmlinuz-{release}")
    modules = tree / "lib" / "modules" / release
    (modules / "kernel").mkdir(parents=True, exist_ok=True)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        (modules / name).touch()
        if (build / name).exists():
            shutil.copy2(build / name, modules / name)
    call(["depmod", "-b", tree, release])
    # Objects are 1 GB that nobody needs once vmlinux is linked.
    for path in build.rglob("*.o"):
        if path.relative_to(build).parts[0] not in ("scripts", "tools"):
            path.unlink()


@contextmanager
def alone(tree: Path) -> Iterator[None]:
    """One build at a time; whoever comes second finds it done."""
    tree.parent.mkdir(parents=True, exist_ok=True)
    with (tree.parent / ".lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"     {tree.parent.name} kernel: waiting for another build of it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(name: str = DEBUG) -> None:
    """Build a kernel unless the cache has it."""
    rows = load()[1]
    if name not in rows:
        raise ToolError(f"kernel {name}: not built from {MATRIX.name} ({', '.join(rows)})")
    row = rows[name]
    install_source(row.source)
    tree = row.tree
    if (tree / ".done").exists():
        return
    with alone(tree):
        if (tree / ".done").exists():
            return
        source = unpacked(row.source)
        # The name of the tree says what is built there: a build that was cut short goes on.
        build = tree / "build"
        build.mkdir(parents=True, exist_ok=True)
        make = ["make", f"O={build}", f"CC={row.compiler}", f"-j{os.cpu_count() or 1}", *row.words]
        say(f"    {name} kernel: building {row.source} ({tree.name}), some 7 minutes on two cores")
        wanted = tree / "wanted.config"
        wanted.write_text(row.config, encoding="utf-8")
        call([*make, "allnoconfig", f"KCONFIG_ALLCONFIG={wanted}"], cwd=source)
        got = (build / ".config").read_text(encoding="utf-8")
        lost = config_lost(row.config, got)
        if lost:
            raise ToolError(f"{' '.join(row.configs)}: not taken by Kconfig: {', '.join(lost)}")
        build_watched(name, [*make, "bzImage", "modules"], source, tree / "build.log")
        release_file = build / "include/config/kernel.release"
        release = release_file.read_text(encoding="utf-8").strip()
        install(build, tree, release)
        (tree / ".done").write_text(release + "\n", encoding="utf-8")


def main() -> int:
    if len(sys.argv) > 2:
        raise ToolError("usage: python3 -m guests.kernel_build [NAME]")
    name = sys.argv[1] if sys.argv[1:] else DEBUG
    ensure(name)
    say(f"    {name} kernel: {built_image(name).release}")
    return 0


if __name__ == "__main__":
    main_guard(main)
