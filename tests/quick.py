# SPDX-License-Identifier: GPL-2.0-only
"""make quick: lint, cores and livemmctl's tests, side by side; no guest is booted."""

from guests.report import main_guard
from tests.check import run_rows

if __name__ == "__main__":
    main_guard(lambda: run_rows([["cores"], ["lint", "tools"]]))
