# SPDX-License-Identifier: GPL-2.0-only
"""The measured claims, one program a policy."""
