# SPDX-License-Identifier: GPL-2.0-only
"""Torture: random steps in true parallel, and an oracle that trusts nobody's counters."""
