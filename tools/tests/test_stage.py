# SPDX-License-Identifier: GPL-2.0-only
"""The stage of `make check` that counts these tests."""

from pathlib import Path

import pytest

from guests.report import Stage, ToolError
from tests.tools import count

REPORT = """<testsuites><testsuite>
<testcase classname="tools.tests.test_x" name="good" time="0.1"/>
<testcase classname="tools.tests.test_x" name="wrong"><failure message="a != b"/></testcase>
<testcase classname="tools.tests.test_x" name="broken"><error message="no fixture"/></testcase>
<testcase classname="tools.tests.test_x" name="left &#228;"><skipped message="not here"/></testcase>
</testsuite></testsuites>"""


def test_what_did_not_pass_has_failed(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(REPORT, encoding="utf-8")
    stage = Stage("x")
    count(stage, path)
    assert (stage.passed, stage.failed) == (1, 3)
    assert stage.tests[0].name == "test_x: good"
    assert stage.tests[1].note == "failure: a != b"
    assert stage.tests[3].name == "test_x: left \\xe4"


@pytest.mark.parametrize("text", ["", "<testsuites>", "\x00"])
def test_no_report_is_a_failure(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolError):
        count(Stage("x"), path)
    with pytest.raises(ToolError):
        count(Stage("x"), tmp_path / "nosuch.xml")
