# SPDX-License-Identifier: GPL-2.0-only
"""doctor: what on this host may be in livemm's way, and what to do about it."""
