# SPDX-License-Identifier: GPL-2.0-only
"""The emulator of guests that do not run on KVM ([emulator] of kernels.toml).

python3 -m guests.emulator fetch    fetch the emulator into the cache

The packages come from a later Debian suite and are unpacked into the cache.  Nothing on the
host changes: apt runs with sources and lists of its own.
"""

import fnmatch
import json
import re
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from guests.command import call
from guests.kernels import MATRIX, cache_dir, mirror
from guests.report import ToolError, main_guard, say

PROGRAM = "qemu-system-x86_64"
# Some packages of Debian 12 have their libraries below /lib.
LIBRARIES = "x86_64-linux-gnu"
# Firmware and modules of the same version as the program, not the host's.
WRAPPER = f"""#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
libraries=$here/usr/lib/{LIBRARIES}
export LD_LIBRARY_PATH="$libraries:$here/lib/{LIBRARIES}" QEMU_MODULE_DIR="$libraries/qemu"
exec "$here/usr/bin/{PROGRAM}" -L "$here/usr/share/qemu" -L "$here/usr/share/seabios" "$@"
"""


@dataclass(frozen=True)
class Emulator:
    """The table of kernels.toml."""

    packages: tuple[str, ...]  # to unpack, the emulator first; missing dependencies come along
    suite: str  # Debian suite of the packages
    version: str  # of the first package; a star stands for anything

    @property
    def record(self) -> Path:
        """Which version is in the cache."""
        return cache_dir() / "qemu" / "version.json"


def load() -> Emulator:
    """Read the table; a wrong key or type is refused by name."""
    try:
        table = tomllib.loads(MATRIX.read_text(encoding="utf-8"))["emulator"]
        return Emulator(**{**table, "packages": tuple(table["packages"])})
    except (tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        raise ToolError(f"{MATRIX.name}: emulator: {error}") from error


def fetched(wanted: Emulator | None = None) -> Path:
    """The program of the emulator in the cache, of the version that kernels.toml has."""
    wanted = wanted or load()
    missing = (f"{wanted.packages[0]} {wanted.version} of {wanted.suite} is not in the cache; "
               "run `python3 -m guests.emulator fetch`")
    try:
        version = str(json.loads(wanted.record.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError) as error:
        raise ToolError(missing) from error
    program = tree_of(wanted, version) / PROGRAM
    if not fnmatch.fnmatchcase(version, wanted.version) or not program.exists():
        raise ToolError(missing)
    return program


def tree_of(wanted: Emulator, version: str) -> Path:
    """A version's place. An epoch's colon would part the loader's path in two."""
    return wanted.record.parent / version.partition(":")[2]


def starts(program: Path) -> str:
    """Start the program and return its version, such as "10.0.2"."""
    _, text = call([program, "--version"])
    found = re.search(r"version (\S+ ?(?:\(.*\))?)", text)
    if found is None:
        raise ToolError(f"{program}: says of its version: {text}")
    return found[1]


def apt(folder: Path) -> list[str]:
    """Options that give apt sources, lists and a cache of its own."""
    options = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
        # apt locks files of the host that apt does not write here.
        "Debug::NoLocking": "true",
    }
    return ["-qq", *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]


def newest(wanted: Emulator, options: list[str]) -> str:
    """The latest version of the suite's that fits."""
    name = wanted.packages[0]
    _, text = call(["apt-cache", *options, "madison", name])
    # Latest first.
    rows = [[part.strip() for part in line.split("|")] for line in text.splitlines()]
    versions = [row[1] for row in rows if len(row) == 3 and f" {wanted.suite}/" in f" {row[2]}"]
    found = fnmatch.filter(versions, wanted.version)
    if not found:
        there = ", ".join(versions) or "none"
        raise ToolError(f"{wanted.suite} has no {name} {wanted.version} (it has: {there})")
    return found[0]


def download(wanted: Emulator, folder: Path) -> tuple[str, list[Path]]:
    """Have apt download the packages; return the version and the package files."""
    source = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    site = mirror()
    suites = [wanted.suite, wanted.suite.partition("-")[0]]
    lines = "".join(f"{source} {site} {suite} main\n" for suite in suites)
    (folder / "sources.list").write_text(lines, encoding="utf-8")
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "cache/archives/partial").mkdir(parents=True)
    options = apt(folder)
    call(["apt-get", *options, "-o", "APT::Update::Error-Mode=any", "update"])
    version = newest(wanted, options)
    say(f"    fetching {wanted.packages[0]} {version}")
    call(["apt-get", *options, "-y", "--no-install-recommends", "--reinstall", "--download-only",
          "-t", wanted.suite, "install", f"{wanted.packages[0]}={version}", *wanted.packages[1:]])
    return version, sorted((folder / "cache/archives").glob("*.deb"))


def unpack(wanted: Emulator, version: str, packages: list[Path]) -> Path:
    """Unpack the packages, and write the program that starts the emulator from there."""
    tree = tree_of(wanted, version)
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for package in packages:
        call(["dpkg-deb", "-x", package, tree])
    program = tree / PROGRAM
    program.write_text(WRAPPER, encoding="utf-8")
    program.chmod(0o755)
    starts(program)
    wanted.record.write_text(json.dumps({"version": version}) + "\n", encoding="utf-8")
    return program


def have(wanted: Emulator) -> Path:
    """The emulator in the cache; fetched anew unless version and start are right."""
    try:
        starts(fetched(wanted))
        return fetched(wanted)
    except ToolError:
        wanted.record.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wanted.record.parent) as folder:
            return unpack(wanted, *download(wanted, Path(folder)))


def fetch() -> int:
    """Fetch the emulator, or print in one line why not."""
    wanted = load()
    try:
        found = have(wanted)
    except ToolError as error:
        lines = str(error).splitlines()
        # The first error of apt says most.
        reason = next((line for line in lines if line.startswith("E: ")), lines[0])
        say(f"    no emulator for guests in parallel, their scenarios will fail: {reason}")
        return 0
    say(f"    emulator for guests in parallel: {wanted.packages[0]} {found.parent.name}")
    return 0


def main() -> int:
    if sys.argv[1:] != ["fetch"]:
        raise ToolError("usage: python3 -m guests.emulator fetch")
    return fetch()


if __name__ == "__main__":
    main_guard(main)
