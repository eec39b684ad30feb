# SPDX-License-Identifier: GPL-2.0-only
"""What guests/setup.sh would install on a machine that has nothing, by apt's own simulation."""

import re
from collections.abc import Iterator

from guests.command import call
from guests.report import ROOT

PACKAGES = ROOT / "guests/packages.sh"
#: Packages that would make the host boot another kernel.
_KERNEL = re.compile(r"^Inst (linux-image-\S+|linux-binary-\S+|grub\S*)", re.MULTILINE)


def groups() -> list[str]:
    """The groups of packages.sh."""
    return re.findall(r"^\t([a-z]+)\) echo", PACKAGES.read_text(encoding="utf-8"), re.MULTILINE)


def packages(group: str) -> list[str]:
    """The packages of a group."""
    return call(["sh", "-c", f'. "{PACKAGES}"; packages_of "$1"', "sh", group])[1].split()


def simulated(names: list[str]) -> str:
    """What apt says it would install for them, on a machine without a package."""
    return call(["apt-get", "-s", "-o", "Dir::State::status=/dev/null", "-o",
                 "Debug::NoLocking=true", "--no-install-recommends", "install", *names])[1]


def no_kernel() -> Iterator[str]:
    """No group brings a kernel onto the host."""
    said = simulated(sorted({name for group in groups() for name in packages(group)}))
    if "Inst make " not in said:
        yield "apt's simulation installs nothing"
    for found in _KERNEL.findall(said):
        yield f"guests/packages.sh would install {found}"


def known_groups() -> Iterator[str]:
    """The Makefile asks for groups that there are, and each group is asked for."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = re.findall(r"call have,(.*)\)$|^GUESTS := (.*)$|--kernels \S+ (.*)$", text,
                       re.MULTILINE)
    asked = set(re.findall(r"[a-z]+", " ".join(word for line in lines for word in line))) - {"all"}
    for group in sorted(asked ^ set(groups())):
        yield f"{group}: not in both Makefile and guests/packages.sh"
