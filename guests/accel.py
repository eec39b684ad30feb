# SPDX-License-Identifier: GPL-2.0-only
"""Which accelerator guests get: KVM where it really boots a kernel, else emulation.

In single emulation all CPUs of a guest take turns of 0.1 s; in parallel emulation each CPU has
a thread.  Parallel is for races.  Checks that count or follow the clock need single emulation.
"""

import functools
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from guests import emulator
from guests.command import bound, call
from guests.kernels import cache_dir, load, stock_image
from guests.report import ToolError, say

SINGLE = "single"
PARALLEL = "parallel"
# Guests that are emulated run on the later QEMU of kernels.toml.  With parallel CPUs the host's
# QEMU, 7.2, now and then reports patched code as a stray breakpoint; with all CPUs in one thread
# the later one takes a fifth fewer cycles.  Guests that count instructions stay on the host's.
EMULATION = "tcg,thread=single"
PARALLEL_EMULATION = "tcg,thread=multi"
# With erms a kernel clears and copies pages by instructions that the emulator runs byte by
# byte: without, scenario `effect` takes 29 s of CPU time, not 41.  Guests that count instructions
# keep the CPU with which earlier figures were taken.
EMULATED_CPU = "max,-erms,-fsrm"
QEMU = "qemu-system-x86_64"
PROBE_SECONDS = 30
_lock = threading.Lock()


def kvm_boots(vmlinuz: Path) -> bool:
    """Boot a kernel without a root: it must come to its panic over that, and exit.

    A device node says nothing, and neither does a firmware that runs: there
    are hosts where KVM stops in the middle of the kernel's early boot.
    """
    argv = [str(emulator.fetched()), "-accel", "kvm", "-M", "q35", "-cpu", "max", "-smp", "2",
            "-m", "512M", "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
            "-kernel", str(vmlinuz), "-append", "console=ttyS0 panic=-1 nokaslr"]
    try:
        return "Unable to mount root" in call(bound(argv), timeout=PROBE_SECONDS, check=False)[1]
    except (ToolError, OSError):
        return False


def kvm_works() -> bool:
    """The answer for this boot of the host, asked once and kept in the cache."""
    if os.environ.get("LIVEMM_KVM") == "0" or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    kept = cache_dir() / f"kvm-{boot_id}"
    if not kept.exists():
        say(f"    /dev/kvm is there; trying whether it boots a kernel (up to {PROBE_SECONDS} s)")
        works = kvm_boots(stock_image(load()[0][0]).vmlinuz)
        kept.write_text("yes\n" if works else "no\n", encoding="utf-8")
    return kept.read_text(encoding="utf-8").strip() == "yes"


@dataclass(frozen=True)
class Accel:
    """The accelerator and the emulator of a guest."""

    argument: str  # of qemu's -accel
    qemu: str  # the program
    version: str  # of the program, in its own words

    @property
    def kvm(self) -> bool:
        """Whether nothing is emulated but devices."""
        return self.argument == "kvm"

    @property
    def cpu(self) -> str:
        """Of qemu's -cpu; "" where virtme-ng decides."""
        return "" if self.kvm or self.qemu == QEMU else EMULATED_CPU

    def __str__(self) -> str:
        return f"{self.argument} on QEMU {self.version}"


@functools.cache
def hosts_version() -> str:
    """Of the host's own qemu."""
    return emulator.starts(Path(QEMU))


@functools.cache
def _kvm() -> bool:
    works = kvm_works()
    say("    guests run on KVM" if works else
        "    no usable KVM here: guests run under emulation, which is slow")
    return works


def uses_kvm() -> bool:
    """Whether guests run on KVM, said aloud once."""
    with _lock:
        return _kvm()


def emulated(emulation: str) -> Accel:
    """The accelerator for a kind of emulation; a ToolError without an emulator."""
    arguments = {SINGLE: EMULATION, PARALLEL: PARALLEL_EMULATION}
    if emulation not in arguments:
        raise ToolError(f"emulation {emulation}: neither {' nor '.join(arguments)}")
    program = emulator.fetched()
    return Accel(arguments[emulation], str(program), emulator.starts(program))


def choose(emulation: str = SINGLE) -> Accel:
    """KVM where KVM works, else the given kind of emulation."""
    if uses_kvm():
        program = emulator.fetched()
        return Accel("kvm", str(program), emulator.starts(program))
    return emulated(emulation)
