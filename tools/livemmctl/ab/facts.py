# SPDX-License-Identifier: GPL-2.0-only
"""What kind of machine a host is: facts that no reboot and no update changes."""

import math
import os
import re
from collections.abc import Callable, Sequence

from livemmctl.host import Host, count_of, number_of

UNKNOWN = "unknown"


def _machine_type(host: Host) -> str:
    dmi = "/sys/class/dmi/id"
    vendor, product = (host.read_or(f"{dmi}/{name}") for name in ("sys_vendor", "product_name"))
    return " ".join(f"{vendor} {product}".split()) or UNKNOWN


def _count(host: Host, name: str) -> str:
    return str(count_of(host.read_or(f"/sys/devices/system/{name}")) or UNKNOWN)


def _memory(host: Host) -> str:
    """In GiB, to the next power of two: what the kernel itself takes differs by version."""
    for line in host.read_or("/proc/meminfo").splitlines():
        words = line.split()
        if words[:1] == ["MemTotal:"] and (kib := number_of("".join(words[1:2]))) is not None:
            return f"{2 ** round(math.log2(max(kib, 1) / (1 << 20))):g}GiB"
    return UNKNOWN


FACTS: dict[str, Callable[[Host], str]] = {
    "machine_type": _machine_type,
    # Present, not online: a CPU that is switched off does not make it another machine.
    "cpus": lambda host: _count(host, "cpu/present"),
    "memory": _memory,
    "numa_nodes": lambda host: _count(host, "node/has_memory"),
    "architecture": lambda host: os.uname().machine,
}


def series_of(release: str) -> str:
    """Of a kernel's release: 6.12 of 6.12.48+deb13-amd64; empty for what is none."""
    found = re.match(r"\d+\.\d+", release)
    return found[0] if found else ""


def strata_of(host: Host, wanted: Sequence[str]) -> dict[str, str]:
    """Those facts of this host that an experiment asks for; `unknown` is a value too."""
    return {name: FACTS[name](host) for name in wanted}
