# SPDX-License-Identifier: GPL-2.0-only
"""What builds, boots and judges livemm."""
