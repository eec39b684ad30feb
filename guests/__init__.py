# SPDX-License-Identifier: GPL-2.0-only
"""Boot a kernel on the host's root file system and bring back a verdict."""

from guests.boot import Guest, boot
from guests.verdict import Verdict

__all__ = ["Guest", "Verdict", "boot"]
