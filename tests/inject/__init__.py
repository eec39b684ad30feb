# SPDX-License-Identifier: GPL-2.0-only
"""Every allocation of livemm fails once."""
