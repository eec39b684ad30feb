# SPDX-License-Identifier: GPL-2.0-only
"""Experiments: which arm a host or a block of time is in, the run, and what it showed."""
