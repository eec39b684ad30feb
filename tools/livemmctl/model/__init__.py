# SPDX-License-Identifier: GPL-2.0-only
"""A queueing model of zone->lock: what many CPUs would do, from counts of two."""
