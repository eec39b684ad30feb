# SPDX-License-Identifier: GPL-2.0-only
"""Metrics for the dashboards that a fleet has already.

Names follow the conventions of Prometheus: base units, _total for what only grows, _info
for facts that are labels.  The policies' counters keep their own names:
livemm_<policy>_<counter>_total.
"""
