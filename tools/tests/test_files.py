# SPDX-License-Identifier: GPL-2.0-only
"""Files that commands write."""

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import ClassVar

import pytest
from conftest import Ctl, fails
from fake_tree import FakeHost
from livemmctl.app import App
from livemmctl.cli import run
from livemmctl.errors import Exit
from livemmctl.files import replace
from livemmctl.whatif import recorder


@pytest.fixture(params=["pipe", "link"])
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A pipe as /dev/null is a device, or a link as /dev/stdout is one."""
    made = tmp_path / "special"
    if request.param == "pipe":
        os.mkfifo(made)
    else:
        made.symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").write_text("old", encoding="utf-8")
    return made


def test_what_is_no_file_is_not_replaced_by_one(special: Path) -> None:
    before = special.lstat()
    with fails(Exit.USAGE, "not a regular file"):
        replace(special, "new")
    assert os.path.samestat(special.lstat(), before)
    assert [path for path in special.parent.iterdir() if path.suffix == ".tmp"] == []


def test_nor_by_a_recording(special: Path, ctl: Ctl) -> None:
    before = special.lstat()
    ctl("record", "-o", str(special)).failed(Exit.USAGE, "not a regular file")
    ctl("record", "-o", str(special.parent)).failed(Exit.USAGE, "is a folder")
    assert os.path.samestat(special.lstat(), before)


def test_a_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for text in ("one", "two"):
        replace(file, text, 0o640)
        assert file.read_text(encoding="utf-8") == text
        assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_page_with_the_name_of_a_file_that_is_no_text(tmp_path: Path) -> None:
    replace(tmp_path / "page", os.fsdecode(b"of \xff.rec"))
    assert (tmp_path / "page").read_text(encoding="utf-8") == "of ?.rec"


@pytest.mark.parametrize(("name", "hint"), [
    ("./load", False), ("/sys/kernel/tracing/instances/x/trace_pipe_raw", True)])
def test_a_recording_names_what_is_closed(
    host: FakeHost, ctl: Ctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, hint: bool
) -> None:
    host.path("/sys/kernel/tracing/instances").mkdir(parents=True)
    where = str(host.path(name)) if name.startswith("/") else name

    def closed(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", where)

    monkeypatch.setattr(recorder, "record", closed)
    done = ctl("record", "-o", str(tmp_path / "x.rec"), "--", "./load")
    done.failed(Exit.DENIED, f"{where}: permission denied")
    assert ("record needs root" in done.err) == hint


class NoRing:
    """In place of the kernel's ring buffers."""

    files: ClassVar[dict[int, object]] = {}

    def __init__(self, *_: object) -> None:
        pass

    def drain(self) -> int:
        return 0

    def overruns(self) -> dict[str, int]:
        return {}


@pytest.mark.parametrize(("load", "status"), [
    ("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)])
def test_a_recording_ends_as_its_load(
    host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str], load: str, status: int
) -> None:
    host.path("/sys/kernel/tracing/instances").mkdir(parents=True)
    for name, value in (
        ("instance", lambda *_: contextlib.nullcontext()), ("_enable", lambda _: {}),
        ("_page_size", lambda _: 4096), ("Reader", NoRing),
        ("_begin", lambda _: os.open("/dev/null", os.O_RDONLY)),
    ):
        monkeypatch.setattr(recorder, name, value)
    out = tmp_path / "x.rec"
    assert run(["record", "-o", str(out), "--", "sh", "-c", load], App(host)) == status
    # The recording is there, whatever became of the load, and nothing is an error of ours.
    assert out.stat().st_size
    said = capfd.readouterr()
    assert (said.out.startswith(f"{out}: "), said.err) == (True, "")
