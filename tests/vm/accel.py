# SPDX-License-Identifier: GPL-2.0-only
"""Which accelerator guests get: KVM where it really boots a kernel, else emulation."""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from pathlib import Path

from tests.command import bound
from tests.kernels import cache_dir, load, stock_image
from tests.report import say

# Hooks patch kernel code; multi-threaded emulation dies of that now and then.
EMULATION = "tcg,thread=single"
QEMU = "qemu-system-x86_64"
PROBE_SECONDS = 30
_lock = threading.Lock()


def kvm_boots(vmlinuz: Path) -> bool:
    """Boot a kernel without a root: it must come to its panic over that, and exit.

    A device node says nothing, and neither does a firmware that runs: there
    are hosts where KVM stops in the middle of the kernel's early boot.
    """
    argv = [QEMU, "-accel", "kvm", "-M", "q35", "-cpu", "max", "-smp", "2", "-m", "512M",
            "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
            "-kernel", str(vmlinuz), "-append", "console=ttyS0 panic=-1 nokaslr"]
    try:
        done = subprocess.run(
            bound(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=PROBE_SECONDS, check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"Unable to mount root" in done.stdout


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


@functools.cache
def _choose() -> str:
    if kvm_works():
        say("    guests run on KVM")
        return "kvm"
    say("    no usable KVM here: guests run under single-threaded emulation, which is slow")
    return EMULATION


def choose() -> str:
    """The -accel argument for guests, said aloud once."""
    with _lock:
        return _choose()
