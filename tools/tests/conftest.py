# SPDX-License-Identifier: GPL-2.0-only
"""What all tests of the tools share."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_tree import FakeHost


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    """A host with livemm loaded and every policy off."""
    return FakeHost.make(tmp_path / "host")
