# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of a host, and what a policy would have done on it."""
