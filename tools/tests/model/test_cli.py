# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl model predict and compare."""

from pathlib import Path

import pytest
from conftest import Ctl
from livemmctl.errors import Exit
from livemmctl.model.predict import Key
from livemmctl.model.table import read_predictions

HEAD = "load,kernel,policy,zones,cpus,metric,value,within,source\n"
PREDICTIONS = """\
{"series": [
{"load": "bulk alloc", "kernel": "6.0", "policy": "stock", "zones": 1, "metric": "ns",
 "cpus": [4, 8], "value": [150, 298], "low": [140, 298], "high": [160, 298]},
{"load": "page_fault1", "kernel": "6.1", "policy": "pcp", "zones": 2, "metric": "GB/s",
 "cpus": [56], "value": [80], "low": [60], "high": [120]}
]}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    predictions = tmp_path / "predictions.json"
    predictions.write_text(PREDICTIONS, encoding="utf-8")
    return tmp_path / "points.csv", predictions


def test_compare_prints_each_error(ctl: Ctl, files: tuple[Path, Path]) -> None:
    points, predictions = files
    points.write_text(HEAD + "# a note\nbulk alloc,6.0,stock,1,4,ns,200,10,a paper\n"
                      "page_fault1,6.1,pcp,2,56,GB/s,75,20,\n"
                      "bulk alloc,6.0,stock,1,8,ns,298,,\n", encoding="utf-8")
    done = ctl("model", "compare", str(points), "--predictions", str(predictions))
    assert done.status == Exit.OK
    lines = done.out.splitlines()
    assert "-25.0 %" in lines[1] and "no (10 %)" in lines[1]
    assert "+6.7 %" in lines[2] and "yes (20 %)" in lines[2]
    assert lines[3].endswith("-")
    assert lines[-1] == "1 of 2 claims met; 2 of 3 points in their interval"
    data = ctl("--json", "model", "compare", str(points), "--predictions",
               str(predictions)).data()
    assert (data["claimed"], data["short"]) == (2, 1)
    assert [round(one["error_pct"], 1) for one in data["points"]] == [-25.0, 6.7, 0.0]
    assert data["points"][0]["source"] == "a paper"


@pytest.mark.parametrize("text,words", [
    ("", "empty"),
    (HEAD, "no points"),
    ("load,kernel\n", "no column policy"),
    (HEAD.replace("source", "colour"), "column 'colour' is not known"),
    (HEAD + "bulk alloc,6.0,stock,1,4,ns\n", ":2: 6 cells, 9 columns"),
    (HEAD + "bulk alloc,6.0,stock,1,4,ns,many,,\n", ":2: value: 'many' is not a number"),
    (HEAD + "bulk alloc,6.0,stock,1,4,ns,nan,,\n", "value: 'nan' is not a number"),
    (HEAD + "bulk alloc,6.0,stock,1,4,ns,0,,\n", "value: an error in percent of 0"),
    (HEAD + "bulk alloc,6.0,stock,1,4.5,ns,9,,\n", "cpus: '4.5' is not a count"),
    (HEAD + "bulk alloc,6.0,stock,1,4,ns,9,-1,\n", "within: '-1' is not a number"),
    (HEAD + "bulk alloc,6.0,stock,1,5,ns,9,,\n", "cpus 5: there are 4, 8"),
    (HEAD + "bulk free,6.0,stock,1,4,ns,9,,\n", "load 'bulk free': there are bulk alloc"),
    (HEAD + '"bulk alloc,6.0\n', ":2: unexpected end of data"),
    ("\x00\xff", "not UTF-8"),
])
def test_bad_input_is_one_line(
    ctl: Ctl, files: tuple[Path, Path], text: str, words: str
) -> None:
    points, predictions = files
    points.write_bytes(text.encode("latin-1"))
    ctl("model", "compare", str(points), "--predictions",
        str(predictions)).failed(Exit.USAGE, words)


def test_a_file_that_is_not_there(ctl: Ctl, tmp_path: Path) -> None:
    ctl("model", "compare", str(tmp_path / "none.csv")).failed(
        Exit.USAGE, "cannot be read: no such file")
    error = ctl("--json", "model", "compare", str(tmp_path)).error()
    assert "is a directory" in error["message"]


@pytest.mark.parametrize("text", ["", "[]", '{"series": 1}', '{"series": [{"cpus": [1]}]}',
                                  PREDICTIONS.replace("[4, 8]", "[4]"), "[" * 100000])
def test_predictions_that_are_none(
    ctl: Ctl, files: tuple[Path, Path], text: str
) -> None:
    points, predictions = files
    points.write_text(HEAD + "bulk alloc,6.0,stock,1,4,ns,9,,\n", encoding="utf-8")
    predictions.write_text(text, encoding="utf-8")
    ctl("model", "compare", str(points), "--predictions", str(predictions)).failed(
        Exit.USAGE, "not a file of predictions")


def test_predict_shows_and_writes(ctl: Ctl, tmp_path: Path) -> None:
    only = ("--load", "bulk alloc", "--metric", "ns", "--cpus", "1", "--cpus", "8")
    found = ctl("--json", "model", "predict", *only).data()["predictions"]
    assert [(one["cpus"], round(one["value"])) for one in found] == [(1, 91), (8, 298)]
    path = tmp_path / "out.json"
    assert "2 predictions" in ctl("model", "predict", *only, "--write", str(path)).out
    assert read_predictions(path) == {
        Key("bulk alloc", "6.0", "stock", 1, cpus, "ns"): pytest.approx((ns, ns, ns))
        for cpus, ns in ((1, 91.0), (8, 298.0))}
    ctl("model", "predict", "--load", "none").failed(Exit.USAGE, "--load none: there are")
