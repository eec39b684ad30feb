# SPDX-License-Identifier: GPL-2.0-only
"""What all tests of the tools share."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ab.doubles import World, be_quick
from fake_tree import FakeHost
from knob_tables import TOOLS
from livemmctl.ab.place import ARM
from livemmctl.app import App
from livemmctl.cli import run
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Host

# A shell's background job ignores the one and nohup the other, and so would every process
# that a test sends them to.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    """A host with livemm loaded and every policy off."""
    return FakeHost.make(tmp_path / "host")


@pytest.fixture
def bare(tmp_path: Path) -> FakeHost:
    return FakeHost.make(tmp_path / "bare", loaded=False)


@pytest.fixture
def closed(tmp_path: Path) -> FakeHost:
    return FakeHost.make(tmp_path / "closed", lockdown=True)


@pytest.fixture
def world(host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> World:
    """A host for experiments, with time turned by hand."""
    be_quick(monkeypatch)
    return World(host)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The path of a journal that is not there yet."""
    return tmp_path / "journal.jsonl"


class Done(NamedTuple):
    status: int
    out: str
    err: str

    def data(self) -> dict[str, Any]:
        """Its output as JSON, of the version that we know."""
        found = json.loads(self.out)
        assert found["output_version"] == 1
        assert isinstance(found, dict)
        return found

    def failed(self, status: Exit, *words: str) -> None:
        """Check that it ended so, and that its one line has these words."""
        assert self.status == status
        for text in words:
            assert text in self.err

    def error(self) -> dict[str, Any]:
        found = json.loads(self.err)
        assert found["output_version"] == 1
        return dict(found["error"])


Ctl = Callable[..., Done]


@contextmanager
def fails(status: Exit, words: str = "") -> Iterator[pytest.ExceptionInfo[CtlError]]:
    """What is inside has to raise CtlError with this status; `words` is a pattern."""
    with pytest.raises(CtlError, match=words) as caught:
        yield caught
    assert caught.value.status == status


def argv(host: Host) -> list[str]:
    """livemmctl as a process that takes a fake host for its own."""
    return [sys.executable, "-m", "livemmctl", "--root", str(host.root)]


def environment(host: Host | None = None) -> dict[str, str]:
    """Of a process that finds livemmctl; of a shell, CTL is the command on a fake host."""
    return {**os.environ, "PYTHONPATH": str(TOOLS), "PATH": f"{TOOLS}/bin:{os.environ['PATH']}",
            "CTL": " ".join(argv(host or Host()))}


@pytest.fixture
def ctl(host: FakeHost, capfd: pytest.CaptureFixture[str]) -> Ctl:
    """Run a command line on `host`, or on another given as on=."""

    def call(*words: str, on: FakeHost | None = None) -> Done:
        capfd.readouterr()
        status = run(list(words), App(on or host))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        # One line, whatever went wrong.
        assert err.count("\n") <= 1
        assert (status in (0, 6)) == (not err) or words[:1] == ("doctor",)
        return Done(int(status), out, err)

    return call


@pytest.fixture
def busy(host: FakeHost, ctl: Ctl) -> FakeHost:
    """A host with all that can be seen: an arm, a profile, counts."""
    ctl("profile", "apply", "lists")
    ctl("lease", "60")
    host.kernel.bump("pcp", refills=7, drains=3)
    host.kernel.put(ARM, '{"experiment": "lists-1", "arm": "treated"}\n')
    return host


@pytest.fixture
def venv(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries that Debian does not have, from the project's venv."""
    cache = Path(os.environ.get("LIVEMM_CACHE") or Path.home() / ".cache/livemm")
    packages = next(cache.glob("venv/lib/python3*/site-packages"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
