# SPDX-License-Identifier: GPL-2.0-only
"""Rollouts: who is next, and whether the fleet may go on."""
