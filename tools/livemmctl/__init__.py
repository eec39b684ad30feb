# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl: the admin's and the fleet's command for livemm.ko."""

# The module's own version: one package, one number (checked by a test).
__version__ = "0.1.0"
