# SPDX-License-Identifier: GPL-2.0-only
"""Journals: what is in them survives; what is wrong in them is passed over and counted."""

import json
import os
from pathlib import Path

import pytest
from conftest import fails
from livemmctl.ab.guard import taint_bits
from livemmctl.ab.journal import Journal, number, parse_line, past_of, read_journal
from livemmctl.ab.sample import parse_pressure
from livemmctl.errors import CtlError, Exit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_what_is_written_is_read(path: Path) -> None:
    journal = Journal(path, "e", "h")
    journal.write(12.3456, "start", arm="on", found={"pcp": {"enabled": "0"}})
    journal.close()
    (record,) = read_journal(path).records
    assert record == {"v": 1, "t": 12.346, "type": "start", "experiment": "e", "host": "h",
                      "arm": "on", "found": {"pcp": {"enabled": "0"}}}


def test_each_line_is_on_the_disk_before_the_call_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(path.read_bytes()))
    journal = Journal(path, "e", "h")
    synced.clear()
    for kind in ("start", "sample"):
        journal.write(1.0, kind)
    assert [data.count(b"\n") for data in synced] == [1, 2]
    journal.close()


def test_half_a_line_does_not_swallow_the_next(path: Path) -> None:
    path.write_bytes(b'{"v":1,"t":1,"type":"start","experiment":"e","host":"h"}\n{"v":1,"t":2,"ty')
    journal = Journal(path, "e", "h")
    journal.write(3.0, "end", reason="done")
    journal.close()
    lines = read_journal(path)
    assert [record["type"] for record in lines.records] == ["start", "end"]
    assert lines.unreadable == 1


def test_one_writer_at_a_time(path: Path) -> None:
    journal = Journal(path, "e", "h")
    with pytest.raises(CtlError, match="another runner"):
        Journal(path, "e", "h")
    journal.close()
    Journal(path, "e", "h").close()


@pytest.mark.parametrize("name", ["absent/journal", "."])
def test_a_journal_that_cannot_be(tmp_path: Path, name: str) -> None:
    with pytest.raises(CtlError, match="cannot open"):
        Journal(tmp_path / name, "e", "h")


@pytest.mark.parametrize("line", [
    b"", b"\xff", b"[]", b"{}", b"null", b"[" * 5000, b'{"v":2}', b'"' + b"a" * (2 << 20) + b'"',
    b'{"v":1,"t":NaN,"type":"a","experiment":"e","host":"h"}',
    b'{"v":1,"t":1e999,"type":"a","experiment":"e","host":"h"}',
    b'{"v":1,"t":1' + b"0" * 400 + b',"type":"a","experiment":"e","host":"h"}',
    b'{"v":1,"t":1,"type":3,"experiment":"e","host":"h"}',
    b'{"v":1,"t":true,"type":"a","experiment":"e","host":"h"}',
])
def test_lines_that_are_no_records(line: bytes) -> None:
    assert parse_line(line) is None


def test_a_file_of_anything(path: Path) -> None:
    path.write_bytes(os.urandom(1 << 16) + b"\n" + b"x" * (3 << 20))
    lines = read_journal(path)
    assert lines.records == []
    assert lines.unreadable > 1


def test_a_file_that_is_not_there(path: Path) -> None:
    with fails(Exit.USAGE):
        read_journal(path)


@pytest.mark.parametrize("value,wanted", [
    (1, 1.0), (2.5, 2.5), (True, None), ("1", None), (None, None), (10**400, None),
    (float("inf"), None),
])
def test_numbers(value: object, wanted: float | None) -> None:
    assert number(value) == wanted


def test_the_past(path: Path) -> None:
    journal = Journal(path, "e", "h")
    assert past_of(read_journal(path).records, "e", "h") is None
    for kind, fields in (("start", {"found": {}}), ("sample", {"block": 0}), ("stop", {}),
                         ("resume", {}), ("sample", {"block": 3}),
                         ("guard", {"guard": "taint"}), ("end", {"reason": "done"})):
        journal.write(1.0, kind, **fields)
    journal.close()
    past = past_of(read_journal(path).records, "e", "h")
    assert past is not None
    assert (past.ended, past.tripped, past.block) == ("done", "taint", 3)


@pytest.mark.parametrize("kinds,arm", [
    (["start"], ""), (["start", "apply"], "on"), (["start", "apply", "sample"], "on"),
    (["start", "switch"], "on"), (["start", "switch", "refused"], ""),
    (["start", "apply", "guard", "sample"], ""),
    (["start", "apply", "stop"], ""), (["start", "apply", "end"], ""),
    (["start", "apply", "resume", "sample"], ""), (["start", "apply", "resume", "apply"], "on"),
])
def test_where_the_records_break_off(path: Path, kinds: list[str], arm: str) -> None:
    journal = Journal(path, "e", "h")
    for place, kind in enumerate(kinds):
        journal.write(1.0, "apply" if kind == "refused" else kind, boot=f"b{place}",
                      arm="on", ok=kind != "refused")
    journal.close()
    past = past_of(read_journal(path).records, "e", "h")
    assert past is not None
    last = max(n for n, kind in enumerate(kinds) if kind in ("start", "resume"))
    assert (past.cut_arm, past.boot) == (arm, f"b{last}")
    with pytest.raises(CtlError, match="on host h"):
        past_of(read_journal(path).records, "e", "other")


def test_json_has_no_numbers_that_are_none(path: Path) -> None:
    journal = Journal(path, "e", "h")
    with pytest.raises(ValueError):
        journal.write(1.0, "sample", values={"a": float("nan")})
    journal.close()
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def test_pressure() -> None:
    text = "some avg10=0.00 total=5\nfull avg10=0.00 avg60=1 total=2500000\n"
    assert parse_pressure(text, "full") == 2.5
    for broken in ("", "full", "full total=", "full total=x", "some total=1",
                   "full total=²", "full total=" + "9" * 5000):
        assert parse_pressure(broken, "full") is None


def test_our_own_taint_bits_do_not_count() -> None:
    assert taint_bits(1 << 12 | 1 << 13 | 1 << 15) == set()
    assert taint_bits(1 << 9 | 1 << 15 | 1) == {0, 9}


def test_half_a_line_of_ours_does_not_swallow_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full for a moment; the line after that says how the run ended."""
    path = tmp_path / "j.jsonl"
    journal = Journal(path, "x", "h")
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[: len(data) // 2]))
    with pytest.raises(CtlError, match="no space left"):
        journal.write(1.0, "sample")
    monkeypatch.setattr(os, "write", real)
    journal.write(2.0, "stop")
    journal.close()
    assert [record["type"] for record in read_journal(path).records] == ["stop"]


def test_a_journal_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CtlError, match="regular file"):
        Journal(tmp_path / "pipe", "x", "h")


def test_texts_of_other_hosts_are_clean() -> None:
    line = (b'{"v":1,"t":1,"type":"guard","experiment":"x","host":"h",'
            b'"guard":"X\\u001b]0;pwn\\u0007"}')
    found = parse_line(line)
    assert found is not None and "\x1b" not in found["guard"]
