# SPDX-License-Identifier: GPL-2.0-only
"""Output that nobody reads: each command does, and ends, as if somebody read."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from ab.doubles import gated, toml
from conftest import Ctl, environment
from fake_tree import FakeHost
from livemmctl import docs
from livemmctl.app import App
from livemmctl.cli import cli, run
from livemmctl.errors import Exit

LEAVES = [" ".join(words) for words, command in docs.commands(cli, [])
          if not isinstance(command, click.Group)]

#: What each command is given beside its words, if anything: FOLDER has key, signers, trial.toml
#: (switched back and forth) and gated.toml (with a gate).
GIVEN = {
    "enable": "pcp", "disable": "--all", "get": "pcp", "set": "pcp decay_ms=2000", "lease": "60",
    "profile apply": "lists", "profile diff": "lists", "profile modprobe": "lists",
    "profile save": "mine", "profile verify": "lists",
    "ab assign": "FOLDER/trial.toml", "ab check": "FOLDER/trial.toml",
    "ab power": "--mean 8230 --deviation 400 --effect 1",
    "ab report": "FOLDER/trial.toml FOLDER/none.jsonl",
    "ab run": "FOLDER/none.toml --journal FOLDER/none.jsonl",
    "record": "-o FOLDER/host.rec", "whatif": "FOLDER/none.rec",
    "rollout advance": "FOLDER/gated.toml FOLDER/none.jsonl --key FOLDER/key "
                       "--publish FOLDER/decision",
    "rollout halt": "FOLDER/gated.toml --key FOLDER/key --publish FOLDER/decision",
    "rollout plan": "FOLDER/gated.toml", "rollout replay": "FOLDER/gated.toml FOLDER/none.jsonl",
    "rollout status": "FOLDER/gated.toml FOLDER/none.jsonl",
}
#: Commands that have nothing to show here: they end with an error.
MUTE = {"ab report", "ab run", "ab stop", "record", "rollout replay",
        "rollout status", "whatif"}
#: Answers in the form of a status.
ANSWERS = {"profile verify": Exit.DRIFT, "doctor": Exit.FAILED}


def folder_of(top: Path) -> Path:
    """What GIVEN names."""
    top.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", top / "key"], check=True)
    public = (top / "key.pub").read_text(encoding="utf-8")
    (top / "signers").write_text(f"livemm-rollout {public}", encoding="utf-8")
    (top / "trial.toml").write_text(toml("""\
mode = "switchback"
duration = "1d"
""", """\
[switchback]
block = "10m"
washout = "1m"
seed = 1
"""), encoding="utf-8")
    (top / "gated.toml").write_text(gated(top), encoding="utf-8")
    return top


@pytest.fixture
def line(tmp_path: Path) -> Callable[[str, str], list[str]]:
    """The words of a command, with a folder of its own."""

    def make(words: str, name: str) -> list[str]:
        given = GIVEN.get(words, "")
        if "FOLDER" in given:
            given = given.replace("FOLDER", str(folder_of(tmp_path / name)))
        return [*words.split(), *given.split()]

    return make


def test_commands_that_are_given_words_are_there() -> None:
    assert set(GIVEN) | MUTE | set(ANSWERS) <= set(LEAVES)


def unread(host: FakeHost, words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The status of a command whose standard output is a pipe that nobody reads."""
    ours, theirs = os.pipe()
    os.close(ours)
    with open(theirs, "w", encoding="utf-8") as pipe, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", pipe)
        return int(run(words, App(host)))


@pytest.mark.parametrize("words", LEAVES)
def test_a_closed_pipe_changes_neither_status_nor_effect(
    words: str, ctl: Ctl, line: Callable[[str, str], list[str]], tmp_path: Path,
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = [FakeHost.make(tmp_path / name, loaded=words != "doctor") for name in ("a", "b")]
    for host in hosts:
        host.kernel.put("/etc/livemm/livemm.toml", 'profile = "lists"\n')
    read = ctl(*line(words, "read"), on=hosts[0])
    assert bool(read.out) == (words not in MUTE)
    assert read.status == ANSWERS.get(words, Exit.OK) or words in MUTE
    capfd.readouterr()
    status = unread(hosts[1], line(words, "unread"), monkeypatch)
    assert status == read.status
    said = capfd.readouterr().err.replace(str(tmp_path / "unread"), str(tmp_path / "read"))
    assert said == read.err
    assert hosts[1].kernel.values == hosts[0].kernel.values


@pytest.mark.parametrize(("words", "status"), [
    ("doctor", Exit.FAILED), ("profile verify lists", Exit.DRIFT), ("status", 0), ("--help", 0),
    ("status --watch 0.1", 0)])
def test_in_a_shell(tmp_path: Path, words: str, status: int) -> None:
    host = FakeHost.make(tmp_path / "host", loaded=words != "doctor")
    for out in ("| head -n 0", "| true"):
        done = subprocess.run(
            ["bash", "-c", f"$CTL {words} {out}; echo ${{PIPESTATUS[0]}}"],
            text=True, capture_output=True, timeout=60,
            env=environment(host))
        assert (done.stdout, done.stderr) == (f"{int(status)}\n", "")


@pytest.mark.parametrize("out", ["pipe", "closed"])
def test_metrics_are_served_to_others(host: FakeHost, out: str) -> None:
    """Without standard output nobody is told of a port that was chosen; the port is open."""
    ours, theirs = os.pipe()
    os.close(ours)
    command = "exec $CTL export --listen 127.0.0.1:0" + (
        " >&-" if out == "closed" else "")
    server = subprocess.Popen(["bash", "-c", command], stdout=theirs, stderr=subprocess.PIPE,
                              text=True, env=environment(host))
    os.close(theirs)
    try:
        port = port_of(server)
        assert port, server.communicate()[1]
        done = subprocess.run(["curl", "-sS", f"http://127.0.0.1:{port}/metrics"], text=True,
                              capture_output=True, check=True, timeout=30)
        assert "livemm_up 1.0" in done.stdout
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        assert server.stderr is not None and server.stderr.read() == ""
        server.stderr.close()


def port_of(server: "subprocess.Popen[str]") -> int:
    """The port that a process listens on, as the kernel tells; 0 if the process ends before."""
    while server.poll() is None:
        inodes = {link for link in links(Path(f"/proc/{server.pid}/fd"))
                  if link.startswith("socket:")}
        for row in Path(f"/proc/{server.pid}/net/tcp").read_text(encoding="ascii").splitlines():
            found = re.match(r" *\d+: 0100007F:([0-9A-F]{4}) \S+ 0A .* (\d+) 1 \S+ ", row)
            if found and f"socket:[{found[2]}]" in inodes:
                return int(found[1], 16)
        time.sleep(0.05)
    return 0


def links(folder: Path) -> list[str]:
    found = []
    for path in folder.iterdir():
        try:
            found.append(os.readlink(path))
        except OSError:
            continue
    return found
