# SPDX-License-Identifier: GPL-2.0-only
"""Show predictions beside what was measured: python3 -m bench.model [--check | --predict FILE]

--check    fail unless the page and its picture show the committed predictions
--predict  work the predictions out anew, and write a file of these
"""

import sys
from pathlib import Path

from bench.model import picture
from bench.model.table import HERE, read_predictions, rows, text_of_predictions
from bench.table import write_or_check
from guests.report import main_guard, say


def main() -> int:
    """The command."""
    if sys.argv[1:2] == ["--predict"]:
        # scipy takes a second to import, and lint has no use for it.
        from bench.model.predict import predictions

        Path(sys.argv[2]).write_text(text_of_predictions(predictions()), encoding="utf-8")
        return 0
    lines = list(rows(read_predictions()))
    checks = sys.argv[1:] == ["--check"]
    if checks:
        page = (HERE / "README.md").read_text(encoding="utf-8").splitlines()
        lines = [line for line in lines if line not in page]
    for line in lines:
        say(line)
    return write_or_check(picture.drawings(), "bench.model") or int(checks and bool(lines))


if __name__ == "__main__":
    main_guard(main)
