# SPDX-License-Identifier: GPL-2.0-only
"""A host that does nothing."""

from __future__ import annotations

from bench.hosts.host import Host

SECONDS = 15

IDLE = Host(
    "idle", f"1 GiB; nothing, for {SECONDS} s",
    lambda: {"do": "beside", "argvs": [["/bin/sleep", str(SECONDS)]]},
    ("interrupts", "context switches", "instructions, millions"),
    quiet=True,
)
