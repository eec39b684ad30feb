# SPDX-License-Identifier: GPL-2.0-only
"""The commands of one module each, one file a subject."""
