# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the host's own memory settings, which livemm leaves to the admin."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from livemmctl.doctor.finding import Finding, Scene, ok, warn
from livemmctl.host import count_of


@dataclass(frozen=True)
class Sysctl:
    name: str
    #: Does this value limit livemm?
    limits: Callable[[int], bool]
    #: Then this is so,
    what: str
    #: and this would end it.
    todo: str

    @property
    def path(self) -> str:
        return "/proc/sys/" + self.name.replace(".", "/")


SYSCTLS = (
    Sysctl("vm.percpu_pagelist_high_fraction", lambda value: value != 0,
           "the admin sizes the page lists: the policy pcp leaves them alone",
           "sysctl vm.percpu_pagelist_high_fraction=0, if pcp shall size them"),
    Sysctl("vm.watermark_boost_factor", lambda value: value == 0,
           "kswapd is not woken when block types mix, and the policy pageblock does not wake"
           " kswapd",
           "sysctl vm.watermark_boost_factor=15000, the kernel's default"),
    Sysctl("vm.defrag_mode", lambda value: value != 0,
           "the kernel keeps block types apart itself: the policy pageblock adds little",
           "sysctl vm.defrag_mode=0, if pageblock shall keep types apart"),
    Sysctl("vm.compaction_proactiveness", lambda value: value == 0,
           "the kernel does not compact ahead of need",
           "sysctl vm.compaction_proactiveness=20, the kernel's default"),
    Sysctl("kernel.panic_on_warn", lambda value: value != 0,
           "a warning of the kernel's own is possible whenever a livepatch begins to come or go,"
           " and then the kernel panics",
           "sysctl kernel.panic_on_warn=0 while a policy first comes on and while livemm is"
           " unloaded, or livemm with livepatch=0"),
)


def sysctls(scene: Scene) -> Finding:
    """Settings of the admin's that livemm leaves alone."""
    limited = []
    for sysctl in SYSCTLS:
        text = scene.line(sysctl.path)
        if re.fullmatch(r"\d{1,9}", text) and sysctl.limits(int(text)):
            limited.append((f"{sysctl.name} is {text}: {sysctl.what}", sysctl.todo))
    if not limited:
        return ok("none that limits livemm")
    return warn("; ".join(seen for seen, _ in limited), "; ".join(todo for _, todo in limited))


def numa(scene: Scene) -> Finding:
    """Nodes, and whether the kernel balances between them."""
    nodes = count_of(scene.line("/sys/devices/system/node/online")) or 0
    balancing = scene.line("/proc/sys/kernel/numa_balancing")
    if nodes < 2:
        return ok("one node: there is nothing to balance, and the policy numa does nothing")
    if balancing == "":
        return warn(f"{nodes} nodes, but this kernel does not balance between them",
                    "boot a kernel with CONFIG_NUMA_BALANCING")
    if balancing == "0":
        return warn(f"{nodes} nodes, but kernel.numa_balancing is 0: the policy numa has"
                    " nothing to do", "sysctl kernel.numa_balancing=1, if memory shall follow")
    if scene.mode("numa") == "promote":
        if balancing != "2":
            return warn(f"kernel.numa_balancing is {balancing}: mode promote of the policy numa"
                        " changes nothing",
                        "sysctl kernel.numa_balancing=2, or livemmctl set numa mode=quiet")
    elif balancing in ("2", "3"):
        return warn(f"kernel.numa_balancing is {balancing}, memory tiering: modes quiet and period"
                    " of the policy numa change nothing",
                    "sysctl kernel.numa_balancing=2 and livemmctl set numa mode=promote; or"
                    " sysctl kernel.numa_balancing=1, without tiering")
    return ok(f"{nodes} nodes, kernel.numa_balancing is {balancing}")


def thp(scene: Scene) -> Finding:
    """Transparent huge pages, which whole blocks are good for."""
    text = scene.line("/sys/kernel/mm/transparent_hugepage/enabled")
    found = re.search(r"\[(\w+)\]", text)
    if found is None:
        return ok("not in this kernel")
    if found[1] == "never":
        return warn("never: huge pages are only those of hugetlb, so the policy pageblock"
                    " brings less",
                    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, if wanted")
    return ok(found[1])


def cma(scene: Scene) -> Finding:
    """Memory reserved for contiguous allocation, which the policy cma uses."""
    found = re.search(r"^CmaTotal:\s+(\d{1,15}) kB", scene.host.read_or("/proc/meminfo"), re.M)
    if found is None or found[1] == "0":
        return ok("none is reserved: the policy cma would have nothing to use")
    return ok(f"{int(found[1]) // 1024} MiB are reserved")
