# SPDX-License-Identifier: GPL-2.0-only
"""The command line: reads, settings, errors, help."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import click
import knob_tables
import pytest
from conftest import Ctl, argv, environment
from fake_tree import KLP, FakeHost, policy_order
from livemmctl import __version__, docs
from livemmctl.app import App, Command
from livemmctl.cli import COMMANDS, cli, run
from livemmctl.commands.read import census_rows, rates
from livemmctl.control import DEBUGFS
from livemmctl.errors import Exit
from livemmctl.host import Host

READS = [
    ["status"], ["list"], ["get", "pcp"], ["counters"], ["state"], ["hooks"], ["census"],
    ["lease"], ["profile", "list"], ["profile", "diff", "stock"],
]


def process(host: Host, *words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*argv(host), *words], text=True, timeout=60, env=environment(),
                          **({"capture_output": True} | how))


def shell(host: FakeHost, line: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which CTL is livemmctl."""
    return subprocess.run(["bash", "-c", line], text=True, capture_output=True, timeout=60,
                          env=environment(host))


def test_version_is_the_modules(ctl: Ctl) -> None:
    assert ctl("--version").out == f"livemmctl {__version__}\n"
    header = (knob_tables.MODULE / "livemm.h").read_text(encoding="utf-8")
    assert f'LMM_VERSION\t"{__version__}"' in header.replace("  ", "\t")


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_every_read_has_json(ctl: Ctl, words: list[str]) -> None:
    done = ctl(*words, "--json")
    assert done.status == 0
    assert len(done.data()) > 1
    assert ctl(*words).out.strip()


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_not_loaded_is_said(bare: FakeHost, ctl: Ctl, words: list[str]) -> None:
    done = ctl(*words, "--json", on=bare)
    if words == ["profile", "list"]:
        assert done.status == 0
    else:
        assert done.status == Exit.NOT_LOADED
        assert done.error()["code"] == "NOT_LOADED"
        assert done.error()["hint"] == "livemmctl load"
        assert ctl(*words, on=bare).err == "livemmctl: livemm is not loaded (livemmctl load)\n"


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_reads_work_under_lockdown(closed: FakeHost, ctl: Ctl, words: list[str]) -> None:
    assert ctl(*words, "--json", on=closed).status == 0


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_no_file_that_is_garbage_ends_in_a_traceback(
    host: FakeHost, ctl: Ctl, words: list[str]
) -> None:
    for path in sorted(host.path(DEBUGFS).rglob("*")):
        if path.is_file():
            path.unlink()
            path.write_bytes(b"\xff\xfe\x00 : ; = \n# \n" * 7)
    ctl(*words)
    ctl(*words, "--json")
    for path in sorted(host.path(DEBUGFS).rglob("*")):
        if path.is_file():
            path.unlink()
    ctl(*words)
    (host.path("/sys/module/livemm/parameters") / "policies").unlink()
    (host.path("/sys/module/livemm/parameters") / "lease").write_text("x\n", encoding="utf-8")
    ctl(*words)


def test_status_is_one_screen(host: FakeHost, ctl: Ctl) -> None:
    ctl("enable", "pcp")
    ctl("lease", "77")
    host.kernel.load_klp()
    data = ctl("status", "--json").data()
    assert [row["name"] for row in data["policies"]] == policy_order()
    assert [row["state"] for row in data["policies"]] == [
        "on" if name == "pcp" else "off" for name in policy_order()]
    assert data["lease_seconds"] == 77
    assert data["livepatch"] == "on"
    assert data["profile"] is None
    assert data["livepatches"] == dict.fromkeys(KLP, "on")
    assert data["hooks"] == {"armed": 2, "idle": 2, "unavailable": 1}
    text = ctl("status").out
    for word in ("pcp", "77 s left", "6.1.0-56-amd64", "buffers are movable",
                 "livemm_klp_lists on"):
        assert word in text
    assert len(text.splitlines()) < 24
    ctl("profile", "apply", "lists")
    assert "lists, applied last" in ctl("status").out


def test_status_says_lockdown(closed: FakeHost, ctl: Ctl) -> None:
    assert ctl("status", "--json", on=closed).data()["debugfs"] == "read-only"
    assert "closed by lockdown" in ctl("status", on=closed).out


def test_status_watch(ctl: Ctl) -> None:
    done = ctl("status", "--watch", "0.1", "--count", "3", "--json")
    assert [json.loads(line)["output_version"] for line in done.out.splitlines()] == [1, 1, 1]


def test_status_watch_ends_by_ctrl_c(host: FakeHost) -> None:
    with subprocess.Popen(
        [*argv(host), "status", "--watch", "60"], env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as watcher:
        assert watcher.stdout is not None and watcher.stderr is not None
        assert watcher.stdout.readline().startswith("policy")
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(30) == 0
        assert watcher.stderr.read() == ""


def test_enable_and_disable(host: FakeHost, ctl: Ctl) -> None:
    assert ctl("enable", "pcp", "numa").out == (
        "pcp/enabled: 0 -> 1\nnuma/enabled: 0 -> 1\n")
    assert ctl("enable", "pcp", "pcp").out == "nothing to change\n"
    assert len(host.kernel.writes) == 2
    changed = ctl("disable", "pcp", "--json").data()["changed"]
    assert changed == [{"policy": "pcp", "knob": "enabled", "was": "1", "is": "0"}]
    assert ctl("disable", "--all").out == "numa/enabled: 1 -> 0\n"


@pytest.mark.parametrize(
    ("state", "words", "said"),
    [("leaving", ["disable", "pcp"],
      "pcp/enabled: 1 -> 0\npcp is off; the kernel's values are still being put back (words)\n"),
     ("waiting", ["set", "pcp", "decay_ms=2000"],
      "pcp/decay_ms: 3000 -> 2000\npcp is to come on when a livepatch is in force (words)\n")],
)
def test_what_is_neither_on_nor_off_is_said(
    host: FakeHost, ctl: Ctl, state: str, words: list[str], said: str
) -> None:
    ctl("enable", "pcp")
    host.kernel.be("pcp", state, "words")
    assert ctl(*words).out == said
    # Only of policies that were named.
    assert ctl("enable", "numa").out == "numa/enabled: 0 -> 1\n"
    rows = ctl("disable", "pcp", "--json").data()["unsettled"]
    assert [(row["name"], row["state"], row["reason"]) for row in rows] == [
        ("pcp", state, "words")]


@pytest.mark.parametrize("words", [["disable"], ["disable", "pcp", "--all"], ["enable"],
                                   ["set", "pcp"], ["nosuch"], ["status", "x"], ["get"],
                                   ["--nosuch"], ["counters", "--rate", "0"],
                                   ["counters", "--rate", "x"], ["unload", "-t", "-1"],
                                   ["profile"], ["lease", "-5"], ["status", "--watch", "nan"]])
def test_wrong_command_lines(host: FakeHost, ctl: Ctl, words: list[str]) -> None:
    if words != ["profile"]:
        done = ctl(*words)
        assert done.status == Exit.USAGE
        assert done.err.startswith("livemmctl: ")
        assert done.out == ""
    assert host.kernel.writes == []


def test_all_or_none_of_several(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.refuse["numa"] = (errno.EBUSY, "livepatch x is in transition")
    done = ctl("enable", "pcp", "numa", "--json")
    assert done.status == Exit.REFUSED
    assert done.error()["message"].startswith("numa/enabled: 1: livepatch x")
    assert ctl("get", "pcp", "enabled").out == "0\n"


def test_unsupported(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.unsupported["pageblock"] = "hook fallback: not found"
    host.kernel.show()
    assert ctl("enable", "pageblock").status == Exit.UNSUPPORTED
    rows = ctl("list", "--json").data()["policies"]
    assert [row["name"] for row in rows if row["state"] == "unsupported"] == ["pageblock"]


def test_get_and_set(host: FakeHost, ctl: Ctl) -> None:
    assert ctl("get", "pcp", "decay_ms").out == "3000\n"
    done = ctl("set", "pcp", "decay_ms=2000", "high_max_pct=10")
    assert done.out == "pcp/high_max_pct: 12.5 -> 10\npcp/decay_ms: 3000 -> 2000\n"
    assert ctl("get", "pcp", "decay_ms", "mode", "--json").data()["knobs"] == {
        "decay_ms": "2000", "mode": "event"}
    assert ctl("set", "numa", "cgroups=/a:/b=c").status == 0
    assert ctl("get", "numa", "cgroups").out == "/a:/b=c\n"
    assert ctl("set", "numa", "cgroups=").out == "numa/cgroups: /a:/b=c -> (empty)\n"


@pytest.mark.parametrize(
    ("word", "said", "status"),
    [
        ("decay_ms=1", "pcp/decay_ms: 1: not in 500..60000", Exit.REFUSED),
        ("decay_ms=x", "pcp/decay_ms: x: not a whole number", Exit.REFUSED),
        ("decay_ms=" + "9" * 30, "not in 500..60000", Exit.REFUSED),
        ("mode=fast", "pcp/mode: fast: not one of depth event", Exit.REFUSED),
        ("nosuch=1", "pcp/nosuch: no such knob", Exit.REFUSED),
        ("decay_ms=", "pcp/decay_ms: (empty)", Exit.REFUSED),
        ("decay_ms", "not KNOB=VALUE", Exit.USAGE),
        ("=1", "not KNOB=VALUE", Exit.USAGE),
        ("mode=a b", "pcp/mode", Exit.USAGE),
        ("mode=\udcff", "pcp/mode", Exit.USAGE),
        ("mode=event;numa:enabled=1", "pcp/mode", Exit.USAGE),
        ("mode=" + "a" * 5000, "the kernel takes", Exit.USAGE),
    ],
)
def test_a_bad_setting_is_named(
    host: FakeHost, ctl: Ctl, word: str, said: str, status: Exit
) -> None:
    before = dict(host.kernel.values["pcp"])
    done = ctl("set", "pcp", "high_max_pct=10", word, "--json")
    assert done.status == status
    assert said in done.error()["message"]
    assert host.kernel.values["pcp"] == before


def test_given_twice(ctl: Ctl) -> None:
    assert "pcp/mode: given twice" in ctl("set", "pcp", "mode=event", "mode=depth").err


def test_lease(host: FakeHost, ctl: Ctl) -> None:
    assert ctl("lease").out == "no lease\n"
    assert ctl("lease", "300").out == "300 s left, then every policy is off\n"
    assert ctl("lease", "--json").data() == {"output_version": 1, "lease_seconds": 300}
    assert ctl("lease", "0").out == "no lease\n"
    for bad in ("604801", "x", "1.5", "", "9" * 5000, "\u0663"):
        assert ctl("lease", bad).status == Exit.USAGE
    assert host.kernel.lease == 0


def test_counters(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.bump("pcp", drains=5)
    assert ctl("counters", "pcp", "--json").data()["counters"]["pcp"]["drains"] == 5
    every = ctl("counters", "--json").data()["counters"]
    assert {name: list(counts) for name, counts in every.items()} == knob_tables.counters()
    assert ctl("counters", "nosuch").status == Exit.USAGE


def test_counters_rate(ctl: Ctl) -> None:
    data = ctl("counters", "pcp", "--rate", "0.05", "--json").data()
    assert data["seconds"] >= 0.05
    assert data["rates"]["pcp"]["drains"] == 0


def test_rates_are_per_second_and_never_negative() -> None:
    assert rates({"a": 10}, {"a": 30, "b": 4}, 2) == {"a": 10, "b": 2}
    assert rates({"a": 10}, {"a": 3}, 1) == {"a": 3}


def test_hooks_only(ctl: Ctl) -> None:
    rows = ctl("hooks", "--only", "unavailable", "--json").data()["hooks"]
    assert [row["name"] for row in rows] == ["buffer"]
    assert rows[0]["reason"] == "not found; lost: buffers are movable"


def test_census_rows() -> None:
    rows, notes = census_rows("# node zone type\n0 DMA32 all 1\n# incomplete: memory goes\n")
    assert rows == [{"node": "0", "zone": "DMA32", "type": "all"}]
    assert notes == ["incomplete: memory goes"]
    assert census_rows("# unavailable: no symbol\n") == ([], ["unavailable: no symbol"])
    assert census_rows("") == ([], [])


def test_state(ctl: Ctl) -> None:
    assert "(empty)" in ctl("state", "pcp").out
    ctl("enable", "pcp")
    assert "DMA32" in ctl("state", "pcp").out


ALL = list(docs.commands(cli, []))


@pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _ in ALL])
def test_every_help_has_examples(ctl: Ctl, words: list[str], command: click.Command) -> None:
    done = ctl(*words, "--help")
    assert done.status == 0
    assert "xamples:" in done.out or "xample:" in done.out
    # What click shows for a range without a bound.
    assert "None" not in done.out
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _ in ALL])
def test_every_example_is_a_command_line_that_there_is(
    words: list[str], command: click.Command
) -> None:
    assert isinstance(command, Command)
    for line, _ in command.examples:
        first, *rest = line.split()
        if first != "livemmctl":
            continue
        at: click.Command = cli
        for word in rest:
            if not isinstance(at, click.Group):
                break
            if not word.startswith("-"):
                found = at.get_command(click.Context(at), word)
                assert found is not None, line
                at = found
        known = {name for option in at.params for name in option.opts} | {"--help", "--json", "--"}
        said = line.split("|")[0].split()
        assert {word for word in said if word.startswith("--")} <= known, line


def test_every_leaf_takes_json() -> None:
    without = [
        words for words, command in ALL
        if not isinstance(command, click.Group)
        and "--json" not in {name for option in command.params for name in option.opts}
    ]
    assert without == []


def test_exit_codes_are_documented(ctl: Ctl) -> None:
    text = ctl("--help").out
    for code in Exit:
        assert f"{int(code)} " in text
        assert code.meaning in text


def test_reads_import_no_library_of_statistics(host: FakeHost) -> None:
    text = (
        f"import sys; from livemmctl.cli import run; root = ['--root', '{host.root}'];"
        "run([*root, 'status', '--json']); run(['--help']);"
        "print([n for n in ('scipy', 'numpy', 'statsmodels', 'matplotlib', 'prometheus_client',"
        " 'rich') if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True,
                          env=environment())
    assert done.stderr == "[]\n"


def test_a_closed_pipe_is_no_failure(host: FakeHost) -> None:
    done = shell(host, "$CTL counters | true; echo ${PIPESTATUS[0]}")
    assert (done.stderr, done.stdout) == ("", "0\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("words", "status"), [("list", 0), ("--help", 0), ("get nosuch", 2)])
def test_closed_streams(host: FakeHost, closed: str, words: str, status: int) -> None:
    done = shell(host, f"$CTL {words} {closed}")
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_one_line(host: FakeHost) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = process(host, "counters", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == Exit.FAILED
    assert done.stderr == "livemmctl: no space left on device\n"


def test_the_command_as_a_process(host: FakeHost, tmp_path: Path) -> None:
    assert process(host, "get", "pcp", "mode").stdout == "event\n"
    done = process(Host(tmp_path / "nosuch"), "status")
    assert (done.returncode, done.stdout) == (Exit.NOT_LOADED, "")
    assert done.stderr.count("\n") == 1
    done = shell(host, f"{knob_tables.TOOLS}/bin/livemmctl --root {host.root} lease")
    assert done.stdout == "no lease\n"


def test_not_root(host: FakeHost, ctl: Ctl, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(FakeHost, "fetch", denied)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = ctl("status", "--json")
    assert done.status == Exit.DENIED
    assert done.error()["hint"] == "run the command as root"


@pytest.mark.parametrize(("library", "words"), [("rich", ["status"]),
                                                ("prometheus_client", ["export"])])
def test_a_missing_library_is_named(
    ctl: Ctl, monkeypatch: pytest.MonkeyPatch, library: str, words: list[str]
) -> None:
    for name in list(sys.modules):
        if name == library or name.startswith((f"{library}.", "livemmctl.metrics.",
                                               "livemmctl.table")):
            monkeypatch.delitem(sys.modules, name)
    modules = cast("dict[str, Any]", sys.modules)
    monkeypatch.setitem(modules, library, None)
    done = ctl(*words)
    done.failed(Exit.FAILED, "a Python library that livemmctl needs is missing")
    assert f"apt install python3-{library.replace('_', '-')}" in done.err


def test_interrupted(host: FakeHost, monkeypatch: pytest.MonkeyPatch,
                     capfd: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    assert run(["counters", "--rate", "5"], App(host)) == Exit.INTERRUPTED
    assert capfd.readouterr().err == "livemmctl: ended by Ctrl-C\n"


def test_commands_are_where_they_are_said_to_be() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name
    assert cli.list_commands(context) == list(COMMANDS)
