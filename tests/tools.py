# SPDX-License-Identifier: GPL-2.0-only
"""make tools-test: the unit tests of tools/, each a counted test."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from guests.command import call, tail
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard

LOG = BUILD / "log" / "tools.log"
REPORT = BUILD / "log" / "tools.xml"


def count(stage: Stage, report: Path) -> None:
    """Count the cases of a JUnit report; a skipped one is a failure."""
    try:
        cases = list(ET.parse(report).iter("testcase"))
    except (OSError, ET.ParseError) as error:
        raise ToolError(f"{report}: {error}") from None
    for case in cases:
        wrong = [child for child in case if child.tag in ("failure", "error", "skipped")]
        note = "\n".join(f"{child.tag}: {child.get('message', '')}" for child in wrong)
        name = f"{case.get('classname', '').removeprefix('tools.tests.')}: {case.get('name')}"
        # A parameter may hold what no terminal and no file of results should.
        stage.add(name.encode("ascii", "backslashreplace").decode()[:160], not wrong, note,
                  float(case.get("time", 0)))


def main() -> int:
    stage = Stage("tools")
    REPORT.unlink(missing_ok=True)
    argv: list[str | Path] = [sys.executable, "-m", "pytest", "-q", f"--junitxml={REPORT}"]
    status, text = call(argv, cwd=ROOT, log=LOG, check=False, timeout=2400)
    count(stage, REPORT)
    if status and not stage.failed:
        stage.add("pytest", False, tail(text, 40))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
