# SPDX-License-Identifier: GPL-2.0-only
"""Profiles: files that say how the policies of a host shall be set.

A profile is the whole truth: what it does not name has the module's default, and a
policy that it does not name is off.  So nothing of another profile is left behind.
"""
