# SPDX-License-Identifier: GPL-2.0-only
"""The command line."""

from __future__ import annotations


def main() -> None:
    """The command."""
