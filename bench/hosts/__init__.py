# SPDX-License-Identifier: GPL-2.0-only
"""Whole hosts, with Debian's defaults, without and with each policy: see bench.hosts.run."""
