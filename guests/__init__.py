# SPDX-License-Identifier: GPL-2.0-only
"""Boot a kernel on the host's root file system and bring back a verdict."""
