# SPDX-License-Identifier: GPL-2.0-only
"""A real process is told to end, is killed, is asked after: the host ends up at stock."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import daemons
import pytest
from ab.doubles import records, toml
from ab.run_process import attach
from conftest import Ctl
from fake_tree import FakeHost
from knob_tables import TOOLS
from livemmctl.ab.assign import host_id
from livemmctl.ab.experiment import load_experiment
from livemmctl.ab.timeline import blocks_of
from livemmctl.control import PARAMETERS, parse_settings
from livemmctl.errors import Exit

SCRIPT = Path(__file__).parent / "run_process.py"

@pytest.fixture
def file(host: FakeHost, tmp_path: Path) -> Path:
    """An experiment that begins with the policy on."""
    path = tmp_path / "trial.toml"
    for seed in range(20):
        text = toml('mode = "switchback"\nduration = "10m"\ntick = "1s"',
                    f'[switchback]\nblock = "2m"\nseed = {seed}')
        path.write_text(text, encoding="utf-8")
        if blocks_of(load_experiment(path, host), host_id(host))[0].arm == "on":
            return path
    raise AssertionError("no seed begins with it")


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(host: FakeHost, file: Path, journal: Path) -> Iterator[Start]:
    """Start a runner and wait until it has switched the policy on."""
    started: list[subprocess.Popen[str]] = []

    def call(stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
        applied = len(records(journal, "sample")) if journal.exists() else 0
        runner = subprocess.Popen(
            [sys.executable, SCRIPT, str(host.root), "ab", "run", str(file),
             "--journal", str(journal)],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{TOOLS}:{TOOLS}/tests"},
            stdout=stdout, stderr=subprocess.PIPE, text=True,
        )
        started.append(runner)
        daemons.wait_for("the runner reads", lambda: runner.poll() is not None
                         or (journal.exists() and len(records(journal, "sample")) > applied))
        assert runner.poll() is None, runner.communicate()
        return runner

    yield call
    for runner in started:
        if runner.poll() is None:
            runner.kill()
        runner.communicate()


def is_on(host: FakeHost) -> bool:
    text = host.path(f"{PARAMETERS}/policies").read_text(encoding="utf-8")
    return parse_settings(text)["pcp"]["enabled"] == "1"


def lease(host: FakeHost) -> int:
    return int(host.path(f"{PARAMETERS}/lease").read_text(encoding="utf-8"))


def assert_stock(host: FakeHost) -> None:
    assert not is_on(host) and lease(host) == 0


def kill(runner: subprocess.Popen[str]) -> None:
    runner.kill()
    runner.communicate()


@pytest.mark.parametrize("number,status", [
    (signal.SIGTERM, Exit.PARTIAL), (signal.SIGINT, Exit.INTERRUPTED),
    (signal.SIGHUP, Exit.PARTIAL),
])
def test_signals(host: FakeHost, start: Start, journal: Path, number: int, status: Exit) -> None:
    runner = start()
    assert is_on(host) and lease(host) == 60
    runner.send_signal(number)
    out, err = runner.communicate(timeout=30)
    assert runner.returncode == status
    assert_stock(host)
    assert err.count("\n") == 1 and "the host is back to stock" in err
    assert "Traceback" not in out + err
    assert records(journal)[-1]["type"] == "stop"


def test_killed_it_leaves_the_lease_and_can_be_cleaned_up_after(
    host: FakeHost, start: Start, journal: Path, ctl: Ctl,
) -> None:
    kill(start())
    assert is_on(host) and lease(host) == 60
    there = attach(host.root)
    data = ctl("ab", "status", "--json", on=there).data()
    assert (data["running"], data["experiment"], data["arm"]) == (False, "trial", "on")
    assert "has died" in ctl("ab", "status", on=there).out
    done = ctl("ab", "stop", on=there)
    assert done.status == 0 and "the runner had died" in done.out
    assert_stock(host)
    assert records(journal)[-1]["type"] == "end"
    assert "no experiment" in ctl("ab", "status", on=there).out


def test_cleaned_up_after_even_without_its_journal(
    host: FakeHost, start: Start, journal: Path, ctl: Ctl,
) -> None:
    kill(start())
    journal.unlink()
    assert ctl("ab", "stop", on=attach(host.root)).status == 0
    assert_stock(host)
    assert not journal.exists()


def test_killed_it_goes_on(host: FakeHost, start: Start, journal: Path) -> None:
    kill(start())
    runner = start()
    assert len(records(journal, "resume")) == 1
    assert {record["block"] for record in records(journal, "apply")} == {0, 1}
    runner.send_signal(signal.SIGTERM)
    runner.communicate(timeout=30)
    assert not is_on(host)


def test_stopped_from_outside(host: FakeHost, start: Start, journal: Path, ctl: Ctl) -> None:
    runner = start()
    data = ctl("ab", "status", "--json").data()
    assert (data["running"], data["pid"], data["block"]) == (True, runner.pid, 1)
    # The fake host has no release of a kernel.
    assert json.loads(host.read("/run/livemm/arm.json")) == {
        "experiment": "trial", "arm": "on", "kernel": ""}
    assert ctl("ab", "stop").status == 0
    out, err = runner.communicate(timeout=30)
    assert (runner.returncode, err) == (0, "")
    assert "ended by livemmctl ab stop" in out
    assert_stock(host)
    assert records(journal)[-1]["type"] == "end"
    assert not host.exists("/run/livemm/arm.json")


def test_nothing_to_stop(ctl: Ctl) -> None:
    ctl("ab", "stop").failed(Exit.FAILED, "no experiment is running")


def runner_text(pid: str) -> str:
    return f'{{"pid": {pid}, "experiment": "x", "file": "x", "journal": "x"}}'


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"pid": "x"}', "\xff",
                                  *map(runner_text, ["1e400", "0", "-1"])])
def test_a_record_of_a_runner_that_is_none(host: FakeHost, ctl: Ctl, text: str) -> None:
    host.kernel.put("/run/livemm/ab.json", text)
    assert ctl("ab", "status").status == 0
    assert ctl("ab", "stop").status == Exit.FAILED


def test_nobody_reads_what_it_says(host: FakeHost, start: Start, journal: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    runner = start(writer)
    os.close(writer)
    daemons.wait_for("more is read", lambda: runner.poll() is not None
                     or len(records(journal, "sample")) > 2)
    # A closed pipe is no reason to leave an experiment.
    assert runner.poll() is None, runner.communicate()
    runner.send_signal(signal.SIGTERM)
    _, err = runner.communicate(timeout=30)
    assert "Traceback" not in err
    assert_stock(host)


@pytest.mark.parametrize("tick", ["0.1", "3601", "nan", "61", "21"])
def test_ticks_that_do_not_fit(ctl: Ctl, file: Path, journal: Path, tick: str) -> None:
    done = ctl("ab", "run", str(file), "--journal", str(journal), "--tick", tick)
    done.failed(Exit.USAGE, "--tick")


def test_without_the_module(bare: FakeHost, file: Path, journal: Path, ctl: Ctl) -> None:
    ctl("ab", "run", str(file), "--journal", str(journal), on=bare).failed(Exit.NOT_LOADED)
    assert not bare.exists("/run/livemm/ab.json")
