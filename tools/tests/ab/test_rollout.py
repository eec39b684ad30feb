# SPDX-License-Identifier: GPL-2.0-only
"""Rollouts: decisions that are believed, hosts that follow them, and fleets that are halted."""

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ab import fleet as rates
from ab.doubles import START_S, World, be_quick, experiment, gated
from conftest import Ctl
from fake_tree import FakeHost
from livemmctl.ab.analyse import Report
from livemmctl.ab.assign import app_specific_id
from livemmctl.ab.decision import Decision, parse, signed, verified
from livemmctl.ab.from_journals import seen_in
from livemmctl.ab.gate import Fetcher
from livemmctl.ab.journal import read_journal
from livemmctl.errors import CtlError, Exit
from livemmctl.rollout.decide import HALT, Verdict, decide

START = datetime.fromtimestamp(START_S, UTC)
TICK_S = 60.0


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the key `key`, another key `other`, and `signers`, who are `key` alone."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("key", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name],
                       check=True)
    public = (folder / "key.pub").read_text(encoding="utf-8")
    (folder / "signers").write_text(f"livemm-rollout {public}", encoding="utf-8")
    return folder


def decision(**over: object) -> Decision:
    made = Decision("trial", 1, 5.0, False, "the first step", START_S, START_S)
    return replace(made, **over)  # type: ignore[arg-type]


# ---- decisions


def test_what_was_signed_is_believed(keys: Path) -> None:
    text = signed(decision(), keys / "key")
    assert verified(text.encode(), keys / "signers") == decision()


@pytest.mark.parametrize("change", [
    lambda text: text.replace('"percent": 5.0', '"percent": 100.0'),
    lambda text: text.replace("false", "true"),
    lambda text: text.partition("\n")[0] + "\n",
    lambda text: text[:-80],
    lambda text: "",
    lambda text: "\n" + text,
    lambda text: text.partition("\n")[2],
    lambda text: "x" * 100_000,
])
def test_what_was_changed_is_not(keys: Path, change: Callable[[str], str]) -> None:
    text = change(signed(decision(), keys / "key"))
    with pytest.raises(ValueError, match=r"signature|no decision"):
        verified(text.encode(), keys / "signers")


def test_another_key_is_not_believed(keys: Path) -> None:
    with pytest.raises(ValueError, match="the signature is not of"):
        verified(signed(decision(), keys / "other").encode(), keys / "signers")


def test_without_a_key_nothing_is_signed(keys: Path) -> None:
    with pytest.raises(CtlError, match="cannot sign"):
        signed(decision(), keys / "none")


@pytest.mark.parametrize("line", [
    "", "[]", "{}", "nan", "[" * 5000,
    json.dumps({**json.loads(decision().line()), "percent": 101}),
    json.dumps({**json.loads(decision().line()), "serial": 0}),
    json.dumps({**json.loads(decision().line()), "serial": True}),
    json.dumps({**json.loads(decision().line()), "halt": 1}),
    json.dumps({**json.loads(decision().line()), "at_s": "1"}),
    json.dumps({**json.loads(decision().line()), "more": 1}),
])
def test_nonsense_is_no_decision(line: str) -> None:
    with pytest.raises(ValueError, match="decision"):
        parse(line)


# ---- a host


class Rolled:
    """A host of a rollout whose decisions the test publishes."""

    def __init__(self, folder: Path, keys: Path, **gate: object) -> None:
        self.world = World(FakeHost.make(folder / "root"))
        self.keys, self.file = keys, folder / "decision"
        self.experiment = experiment(
            "host", start=START, duration="2h", tick="1m", lease="5m",
            ramp={"percent": [1, 100], "every": "10m"}, looks="any",
            gate={"decision": str(self.file), "signers": str(keys / "signers"), **gate},
            metrics=[{"name": "faults", "source": "vmstat:pgfault", "margin_pct": 2}],
            arms={"off": {"weight": 0}, "on": {"weight": 0.5, "policy": {"pcp": {"enabled": True}}},
                  "more": {"weight": 0.5, "policy": {"pcp": {"enabled": True, "decay_ms": 2000}}}},
        )

    def publish(self, **over: object) -> None:
        made = decision(**({"experiment": self.experiment.name, "percent": 100.0,
                            "at_s": self.world.clock.wall()} | over))
        self.file.write_text(signed(made, self.keys / "key"), encoding="utf-8")

    def look(self, *minutes: float) -> list[bool]:
        return self.world.look(*(60 * minute + 1 for minute in minutes))

    def later(self, minutes: float, action: Callable[[], None]) -> None:
        self.world.later(60 * minutes, action)


@pytest.fixture
def rolled(tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> Rolled:
    be_quick(monkeypatch)
    return Rolled(tmp_path, keys)


def test_a_host_waits_for_its_decision(rolled: Rolled) -> None:
    seen = rolled.look(9, 12, 100)
    rolled.later(10, rolled.publish)
    outcome = rolled.world.run(rolled.experiment)
    assert outcome.status == Exit.OK
    assert seen == [False, True, True]
    assert [r["opens"] for r in rolled.world.records("gate") if "opens" in r] == [True]


def test_halt_comes_within_three_ticks(rolled: Rolled) -> None:
    seen = rolled.look(19, 23)
    rolled.later(10, rolled.publish)
    rolled.later(20, lambda: rolled.publish(serial=2, halt=True, reason="pages lost"))
    outcome = rolled.world.run(rolled.experiment)
    assert seen == [True, False] or (seen == [True] and not rolled.world.is_on())
    assert (outcome.kind, outcome.reason) == ("end", "halted: pages lost")
    assert rolled.world.clock.now_s <= 23 * 60
    # For good: neither a new runner nor an old decision begins again.
    rolled.publish(serial=3)
    assert rolled.world.run(rolled.experiment).reason.startswith("already over here: halted")
    assert not rolled.world.is_on()


@pytest.mark.parametrize("lose", [
    lambda rolled: rolled.file.unlink(),
    lambda rolled: rolled.file.write_text("nonsense", encoding="utf-8"),
    lambda rolled: rolled.file.write_text(
        signed(decision(experiment="other", serial=9, halt=True), rolled.keys / "key"),
        encoding="utf-8"),
    lambda rolled: rolled.file.write_text(
        signed(decision(experiment=rolled.experiment.name, serial=9, halt=True),
               rolled.keys / "other"), encoding="utf-8"),
])
def test_without_news_a_host_stays(rolled: Rolled, lose: Callable[[Rolled], None]) -> None:
    seen = rolled.look(15, 25, 110)
    rolled.later(10, rolled.publish)
    rolled.later(20, lambda: lose(rolled))
    assert rolled.world.run(rolled.experiment).status == Exit.OK
    assert seen == [True, True, True]
    words = [r["words"] for r in rolled.world.records("gate") if "opens" not in r]
    # First there was no file at all; then something that is not believed.  Each is said once.
    assert len(words) == 2


def test_what_does_not_answer_costs_a_part_of_a_tick(tmp_path: Path) -> None:
    """A pipe that nobody writes to, as a mount that hangs; then a server that sends slowly."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        def drip() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as one:
                while not done.wait(0.1):
                    one.send(b"H")

        threading.Thread(target=drip, daemon=True).start()
        for source in (str(pipe), f"http://127.0.0.1:{server.getsockname()[1]}/x"):
            fetcher = Fetcher(source, 0.2)
            begun_s = time.monotonic()
            for _ in range(3):
                with pytest.raises(ValueError, match=r"no answer in 0\.2 s"):
                    fetcher.ask()
            assert time.monotonic() - begun_s < 30
    asking = [thread for thread in threading.enumerate() if thread.name == "livemm-gate"]
    assert len(asking) == 2
    # What was not answered is, now: no thread outlives the test.
    done.set()
    pipe.write_bytes(b"")
    for thread in asking:
        thread.join()


def test_a_late_answer_is_used(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    fetcher = Fetcher(str(pipe), 0.1)
    with pytest.raises(ValueError, match="no answer"):
        fetcher.ask()
    pipe.write_bytes(b"late")
    fetcher.timeout_s = 30
    assert fetcher.ask() == b"late"


def test_an_old_decision_opens_nothing(rolled: Rolled) -> None:
    seen = rolled.look(15, 40)
    rolled.later(10, lambda: rolled.publish(serial=5, percent=0.0))
    rolled.later(20, lambda: rolled.publish(serial=4))
    rolled.world.run(rolled.experiment)
    assert seen == [False, False]


@pytest.mark.parametrize("over", [{"serial": 1}, {"at_s": START_S + 9e6}])
def test_halt_prevails_over_lost_counts_and_wrong_clocks(
    rolled: Rolled, over: dict[str, float]
) -> None:
    """The published file was lost, and counts begin at 1 again; or a clock is wrong."""
    seen = rolled.look(15, 25)
    rolled.later(10, lambda: rolled.publish(serial=5))
    rolled.later(20, lambda: rolled.publish(**({"serial": 6, "halt": True} | over)))
    outcome = rolled.world.run(rolled.experiment)
    assert (seen[0], rolled.world.is_on()) == (True, False)
    assert outcome.reason.startswith("halted")


@pytest.mark.parametrize("kept", range(1, 10))
def test_a_runner_that_is_killed_at_any_record_stays_halted(rolled: Rolled, kept: int) -> None:
    """Once a host has written that the fleet is halted, no runner switches an arm on again."""
    rolled.later(3, rolled.publish)
    rolled.later(6, lambda: rolled.publish(serial=2, halt=True))
    rolled.world.run(rolled.experiment)
    journal = rolled.world.journal
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:kept]))
    rolled.world.clock.at.clear()
    outcome = rolled.world.run(rolled.experiment)
    assert "halted" in outcome.reason
    assert not rolled.world.is_on()


def test_what_the_host_cannot_do_is_no_news(
    rolled: Rolled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or no memory for another process, ends no runner."""
    text = signed(decision(), rolled.keys / "key").encode()
    signers = rolled.keys / "signers"

    def fail(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    with pytest.raises(ValueError, match="cannot read .*no such file"):
        verified(text, rolled.keys / "nobody")
    for name in ("subprocess.run", "tempfile.NamedTemporaryFile"):
        with monkeypatch.context() as patch:
            patch.setattr(name, fail)
            with pytest.raises(ValueError, match="cannot allocate memory"):
                verified(text, signers)
    with pytest.raises(CtlError, match="too long"):
        signed(decision(reason="x" * 70000), rolled.keys / "key")


def test_with_a_lease_a_host_without_news_goes_to_stock(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_quick(monkeypatch)
    rolled = Rolled(tmp_path, keys, lease="10m")
    seen = rolled.look(15, 19, 25, 45)
    rolled.later(10, rolled.publish)
    rolled.later(40, rolled.publish)
    assert rolled.world.run(rolled.experiment).status == Exit.OK
    assert seen == [True, True, False, True]
    assert [r["words"] for r in rolled.world.records("gate") if "quiet" in r] == [
        "no news of the rollout", "news again", "no news of the rollout"]
    # A report says that the host was not in its arm all the time.
    seen_by_report = seen_in(read_journal(rolled.world.journal), rolled.experiment, START_S + 1e6)
    assert [info.held for info in seen_by_report.hosts.values()] == ["no news of the rollout"]


def leased(tmp_path: Path, keys: Path) -> Rolled:
    """A host in its arm, whose runner was told to end after 12 minutes; the lease is 10 minutes."""
    rolled = Rolled(tmp_path, keys, lease="10m")
    rolled.later(5, rolled.publish)
    rolled.later(12, rolled.world.clock.tell)
    assert rolled.world.run(rolled.experiment).kind == "stop"
    rolled.world.clock.signal = None
    return rolled


def test_a_runner_whose_lease_is_over_does_not_begin(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host was off for an hour, and the server does not answer: no arm for even a tick."""
    be_quick(monkeypatch)
    rolled = leased(tmp_path, keys)
    rolled.file.unlink()
    rolled.world.clock.now_s += 3600
    before = len(rolled.world.records("switch"))
    seen = rolled.look(72, 74, 80, 85)
    rolled.later(82, rolled.publish)
    rolled.world.run(rolled.experiment)
    assert seen == [False, False, False, True]
    assert len(rolled.world.records("switch")) == before + 1


def test_an_arm_that_cannot_be_had_after_quiet_is_held(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an arm begins: the host stays in its arm, at stock, and is read on."""
    be_quick(monkeypatch)
    rolled = Rolled(tmp_path, keys, lease="10m")
    rolled.later(5, rolled.publish)

    def refuse() -> None:
        def to_arm(*_: object) -> None:
            raise CtlError("no livepatch now")
        monkeypatch.setattr("livemmctl.ab.switch.Switch.to_arm", to_arm)

    rolled.later(20, refuse)
    rolled.later(30, rolled.publish)
    assert rolled.world.run(rolled.experiment).status == Exit.OK
    assert rolled.world.records("apply")[-1]["reason"] == "no livepatch now"
    assert not rolled.world.is_on()
    assert rolled.world.records("sample")[-1]["t"] > START_S + 3600


def test_a_runner_that_was_killed_goes_on_without_the_server(rolled: Rolled) -> None:
    rolled.later(10, rolled.publish)
    rolled.later(30, rolled.world.clock.tell)
    assert rolled.world.run(rolled.experiment).kind == "stop"
    assert not rolled.world.is_on()
    rolled.file.unlink()
    rolled.world.clock.at.clear()
    seen = rolled.look(33, 60)
    assert rolled.world.run(rolled.experiment).status == Exit.OK
    assert seen == [True, True]


def test_a_gate_needs_a_ramp_and_a_whole_path() -> None:
    for over, words in (({"ramp": None}, "a gate opens the steps of a ramp"),
                        ({"gate": {"decision": "here"}}, "a whole path")):
        keys = {"start": START, "ramp": {"percent": [1, 100], "every": "10m"},
                "gate": {"decision": "/x"}} | over
        with pytest.raises(CtlError, match=words):
            experiment("host", **{key: value for key, value in keys.items() if value})


# ---- the command


@pytest.fixture
def file(tmp_path: Path, keys: Path) -> Path:
    for name in ("signers", "key"):
        (tmp_path / name).write_bytes((keys / name).read_bytes())
        (tmp_path / name).chmod(0o600)
    made = tmp_path / "trial.toml"
    made.write_text(gated(tmp_path), encoding="utf-8")
    return made


def test_plan(ctl: Ctl, file: Path, tmp_path: Path) -> None:
    rows = [f"{app_specific_id(f'{number:032x}')},rack{number % 4}" for number in range(400)]
    inventory = tmp_path / "hosts.csv"
    inventory.write_text("\n".join(["host,domain", *rows]) + "\n", encoding="utf-8")
    data = ctl("rollout", "plan", str(file), "--inventory", str(inventory), "--json").data()
    assert [step["percent"] for step in data["steps"]] == [1, 5, 100]
    assert data["steps"][-1]["hosts"] == 400
    assert data["steps"][-1]["share"] == 1.0
    assert "1d" in ctl("rollout", "plan", str(file)).out
    most = ctl("rollout", "plan", str(file), "--inventory", str(inventory), "--domain-most", "4")
    assert (most.status, "% of rack" in most.err) == (Exit.FAILED, True)
    other = inventory.read_text(encoding="utf-8").replace("domain", "row")
    inventory.write_text(other, encoding="utf-8")
    assert ctl("rollout", "plan", str(file), "--inventory", str(inventory), "--domain", "row",
               "--domain-most", "50").status == Exit.OK
    for wrong in ("nan", "-1", "101"):
        ctl("rollout", "plan", str(file), "--inventory", str(inventory), "--domain", "row",
            "--domain-most", wrong).failed(Exit.USAGE, "--domain-most")
    # As a spreadsheet writes the file.
    inventory.write_text(other, encoding="utf-8-sig")
    assert ctl("rollout", "plan", str(file), "--inventory", str(inventory), "--domain", "row"
               ).status == Exit.OK
    # The name of a host would be drawn too, as another host.
    inventory.write_text("host,domain\nweb01,rack1\n", encoding="utf-8")
    ctl("rollout", "plan", str(file), "--inventory", str(inventory)).failed(
        Exit.USAGE, "line 2: 'web01': not a host's id")
    inventory.write_text("name\nx\n", encoding="utf-8")
    assert ctl("rollout", "plan", str(file), "--inventory", str(inventory)).status == Exit.USAGE


def test_a_host_waits_for_the_turn_of_its_kernel(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that boots another kernel waits for that kernel's turn, at stock."""
    be_quick(monkeypatch)
    rolled = Rolled(tmp_path, keys)
    rolled.experiment = replace(rolled.experiment, ramp=replace(
        rolled.experiment.ramp, kernels=("6.1", "6.12")))
    release = "/proc/sys/kernel/osrelease"
    rolled.world.host.kernel.put(release, "6.1.0-40-amd64\n")
    seen = rolled.look(8, 15, 31)
    rolled.later(5, lambda: rolled.publish(percent=0.0, kernel="6.1"))
    rolled.later(10, lambda: rolled.publish(serial=2, kernel="6.1"))
    rolled.later(30, rolled.world.clock.tell)
    assert rolled.world.run(rolled.experiment).kind == "stop"
    rolled.world.clock.signal = None
    rolled.world.host.kernel.put(release, "6.12.48+deb13-amd64\n")
    rolled.world.clock.at.clear()
    seen += (later := rolled.look(40, 55))
    rolled.later(50, lambda: rolled.publish(serial=3, kernel="6.12"))
    assert rolled.world.run(rolled.experiment).status == Exit.OK
    assert seen[:2] + later == [False, True, False, True]
    # Once more, without the server: the host knows that its kernel was let in.
    assert [r["kernel"] for r in rolled.world.records("gate") if r.get("opens")] == ["6.1", "6.12"]


@pytest.mark.parametrize(("kernels", "words"), [
    (["6.1", "6.1"], "twice"), (["6.1.0"], "kernel series"), ([6.1], "kernel series"),
    ([""], "kernel")])
def test_kernels_that_are_none(kernels: list[object], words: str) -> None:
    with pytest.raises(CtlError, match=words):
        experiment("host", start=START, duration="14d", gate={"decision": "/x"},
                   ramp={"percent": [1, 100], "every": "1h", "kernels": kernels})


def test_a_replay_of_a_journal(ctl: Ctl, tmp_path: Path) -> None:
    """Faults fall by 5 % where more is better; the recorded run's ramp went by the clock."""
    file, journal = tmp_path / "trial.toml", tmp_path / "fleet.jsonl"
    made = rates.fleet_experiment()
    fleet = rates.machines(made, 300, -0.05, 3)
    journal.write_text("\n".join(rates.journal_lines(made, fleet, 600)) + "\n", encoding="utf-8")
    file.write_text(gated(tmp_path, 'margin_pct = 2\nbetter = "more"'), encoding="utf-8")
    data = ctl("rollout", "replay", str(file), str(journal), "--json").data()
    last = data["decisions"][-1]
    assert last["what"] == HALT
    assert "faults, on: worse" in last["reason"]


def test_a_halt_that_comes_while_advance_reckons_stays(
    ctl: Ctl, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rates.fleet_experiment()
    monkeypatch.setattr(time, "time", lambda: START_S + 600)
    journal = tmp_path / "fleet.jsonl"
    journal.write_text("\n".join(rates.journal_lines(
        made, rates.machines(made, 100, 0.0, 3), 600)) + "\n", encoding="utf-8")
    words = ("--publish", str(tmp_path / "decision"), "--key", str(tmp_path / "key"))
    assert ctl("rollout", "advance", str(file), str(journal), *words).status == Exit.OK

    def decide_slowly(report: Report, before: Decision | None, now_s: float) -> Verdict:
        assert ctl("rollout", "halt", str(file), *words).status == Exit.OK
        return decide(report, before, now_s)

    monkeypatch.setattr("livemmctl.rollout.decide.decide", decide_slowly)
    done = ctl("rollout", "advance", str(file), str(journal), *words)
    assert (done.status, "published meanwhile" in done.err) == (Exit.FAILED, True)
    assert verified((tmp_path / "decision").read_bytes(), tmp_path / "signers").halt


def test_advance_and_halt_publish(ctl: Ctl, file: Path, tmp_path: Path) -> None:
    words = ("--publish", str(tmp_path / "decision"), "--key", str(tmp_path / "key"))
    first = ctl("rollout", "advance", str(file), str(tmp_path / "none.jsonl"), *words, "--json",
                "--textfile", str(tmp_path / "rollout.prom"))
    assert first.data()["decision"]["percent"] == 1
    lines = (tmp_path / "rollout.prom").read_text(encoding="utf-8").splitlines()
    assert 'livemm_rollout_percent{experiment="trial"} 1' in lines
    assert 'livemm_rollout_halted{experiment="trial"} 0' in lines
    assert ctl("rollout", "halt", str(file), *words, "-m", "a fault").status == Exit.OK
    found = verified((tmp_path / "decision").read_bytes(), tmp_path / "signers")
    assert (found.serial, found.halt, found.reason) == (2, True, "a fault")


@pytest.mark.parametrize("command", ["halt", "advance"])
def test_a_lock_that_stays_is_named(
    ctl: Ctl, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("livemmctl.rollout.cli.LOCK_S", 0.2)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    journal = [] if command == "halt" else [str(tmp_path / "none.jsonl")]
    try:
        done = ctl("rollout", command, str(file), *journal, "--publish", str(tmp_path / "decision"),
                   "--key", str(tmp_path / "key"))
    finally:
        os.close(folder)
    assert (done.status, str(tmp_path) in done.err) == (Exit.TIMEOUT, True)
    assert "nothing is published" in done.err and not (tmp_path / "decision").exists()


def test_before_the_start_somebody_is_there(
    ctl: Ctl, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has joined, and no server is asked; the lease of hosts and the alerts see a sign."""
    words = ("--publish", str(tmp_path / "decision"), "--key", str(tmp_path / "key"),
             "--prometheus", "http://127.0.0.1:9")
    for at_s in (START_S - 900, START_S - 600):
        monkeypatch.setattr(time, "time", lambda at_s=at_s: at_s)
        assert ctl("rollout", "advance", str(file), *words).status == Exit.OK
        found = verified((tmp_path / "decision").read_bytes(), tmp_path / "signers")
        assert (found.serial, found.at_s, found.since_s) == (1, at_s, START_S)
    monkeypatch.setattr(time, "time", lambda: START_S + 60)
    assert ctl("rollout", "advance", str(file), *words).status == Exit.FAILED


def test_a_page_shows_where_a_rollout_is(ctl: Ctl, tmp_path: Path) -> None:
    file, journal, page = (tmp_path / name for name in ("trial.toml", "fleet.jsonl", "page.html"))
    made = rates.fleet_experiment()
    journal.write_text("\n".join(rates.journal_lines(
        made, rates.machines(made, 100, 0.0, 3), 600)) + "\n", encoding="utf-8")
    file.write_text(gated(tmp_path), encoding="utf-8")
    assert ctl("rollout", "status", str(file), str(journal), "--html", str(page)).status == Exit.OK
    text = page.read_text(encoding="utf-8")
    for words in ("<h2>Ramp</h2>", "<h2>Guards</h2>", 'aria-label="The ramp"', "At each look"):
        assert words in text


@pytest.mark.parametrize("what", ["text", "other", "unreadable", "experiment"])
def test_halt_does_not_need_what_was_published(
    ctl: Ctl, file: Path, keys: Path, tmp_path: Path, what: str
) -> None:
    """The brake works whatever stands there, says so, and keeps what stood there."""
    publish = tmp_path / "decision"
    text = {"text": "something else\n", "other": signed(decision(serial=7), keys / "other"),
            "unreadable": "", "experiment": signed(decision(experiment="x"), keys / "key")}[what]
    if what == "unreadable":
        publish.mkdir()
    else:
        publish.write_text(text, encoding="utf-8")
    words = ("--publish", str(publish), "--key", str(tmp_path / "key"))
    done = ctl("rollout", "halt", str(file), *words)
    assert (done.status, done.err) == (Exit.OK, "")
    assert done.out.startswith("halted: halted by hand\n")
    assert "not believed" in done.out
    found = verified(publish.read_bytes(), tmp_path / "signers")
    assert (found.experiment, found.halt) == ("trial", True)
    kept = tmp_path / "decision.not-believed"
    assert kept.is_dir() if what == "unreadable" else kept.read_text(encoding="utf-8") == text
    # And again: the halt that stands there now is believed.
    again = ctl("rollout", "halt", str(file), *words, "--json").data()
    assert (again["not_believed"], again["decision"]["serial"]) == (None, 2)


@pytest.mark.parametrize("what", ["key", "folder", "link", "pipe"])
def test_a_halt_that_fails_changes_nothing(
    ctl: Ctl, file: Path, tmp_path: Path, what: str
) -> None:
    """A published file that went away would have the rollout begin anew."""
    publish, key = tmp_path / "decision", tmp_path / "key"
    if what == "key":
        key = tmp_path / "no-key"
        publish.write_text("something else\n", encoding="utf-8")
    elif what == "folder":
        publish.mkdir()
        (publish / "index.html").write_text("a site\n", encoding="utf-8")
    elif what == "link":
        publish.symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(publish)
    before = publish.lstat()
    done = ctl("rollout", "halt", str(file), "--publish", str(publish), "--key", str(key))
    assert done.status != Exit.OK
    assert os.path.samestat(publish.lstat(), before)
    assert not (tmp_path / "decision.not-believed").exists()


def test_advance_does_not_overwrite_a_foreign_decision(
    ctl: Ctl, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "decision").write_text("something else\n", encoding="utf-8")
    done = ctl("rollout", "advance", str(file), str(tmp_path / "none.jsonl"), "--publish",
               str(tmp_path / "decision"), "--key", str(tmp_path / "key"))
    assert (done.status, "not believed" in done.err) == (Exit.FAILED, True)


def test_a_host_that_is_listed_twice_is_refused(ctl: Ctl, file: Path, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.csv"
    row = f"{app_specific_id('1' * 32)},rack"
    inventory.write_text(f"host,domain\n{row}\n{row}\n", encoding="utf-8")
    ctl("rollout", "plan", str(file), "--inventory", str(inventory)).failed(
        Exit.USAGE, "a second time")
