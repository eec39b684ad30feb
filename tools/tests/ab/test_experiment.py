# SPDX-License-Identifier: GPL-2.0-only
"""Experiment files: each fault is named by its key; the ready one is sound."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ab.doubles import experiment, table, toml
from conftest import Ctl
from fake_tree import FakeHost
from livemmctl.ab.experiment import load_experiment
from livemmctl.ab.fields import duration_text, seconds_of
from livemmctl.ab.timeline import blocks_of
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Host

READY = Path(__file__).parents[2] / "experiments"
METRIC = {"name": "m", "source": "vmstat:pgfault"}
ON = {"policy": {"pcp": {"enabled": True}}}


def metric(**over: Any) -> dict[str, Any]:
    return {"metrics": [{k: v for k, v in (METRIC | over).items() if v is not None}]}


BY_HOST: list[tuple[str, dict[str, Any], str]] = [
    ("name", {"name": None}, "missing"),
    ("name", {"name": "a b"}, "letters"),
    ("name", {"name": 3}, "a text is wanted"),
    ("name", {"name": "é"}, "letters"),
    ("salt", {"salt": ""}, "a text is wanted"),
    ("salt", {"salt": "a\x1b"}, "printed"),
    ("mode", {"mode": "both"}, "host, switchback"),
    ("duration", {"duration": "5"}, "not a number and one of"),
    ("duration", {"duration": 5}, 'such as "5m"'),
    ("duration", {"duration": "9999999999d"}, "not a number and one of"),
    ("duration", {"duration": "5s"}, "not in 10s"),
    ("tick", {"tick": "0s"}, "not in 1s"),
    ("lease", {"lease": "10s"}, "not in 45s"),
    ("lease", {"lease": "30d"}, "not in"),
    ("control", {"control": "of"}, "not one of off, on"),
    ("colour", {"colour": 1}, "unknown key"),
    ("arms", {"arms": {"off": {}}}, "two arms"),
    ("arms", {"arms": {}}, "two arms"),
    ("arms", {"arms": [1]}, "a table"),
    ("arms.off", {"arms": {"off": 1, "on": ON}}, "a table"),
    ("arms.on", {"arms": {"off": {}, "on": {}}}, "the same settings as off"),
    ("arms.b c", {"arms": {"b c": {}, "on": ON}}, "letters"),
    ("arms.on.wieght", {"arms": {"off": {}, "on": {**ON, "wieght": 1}}}, "unknown key"),
    ("arms", {"arms": {"off": {"weight": 0.5}, "on": ON}}, "for every arm, or for none"),
    ("arms", {"arms": {"off": {"weight": 0.5}, "on": {**ON, "weight": 0.4}}}, "add up to 0.9"),
    ("arms", {"arms": {"off": {"weight": 0.0}, "on": {**ON, "weight": 1.0}}},
     "two arms at least need a weight"),
    ("arms.on.weight", {"arms": {"off": {"weight": 0.5}, "on": {**ON, "weight": 2}}},
     "not in 0..1"),
    ("pcp/enabled", {"arms": {"off": {}, "on": {"policy": {"pcp": {}}}}}, "must be true or false"),
    ("pcp/mode", {"arms": {"off": {}, "on": {"policy": {
        "pcp": {"enabled": True, "mode": "a;b"}}}}}, "semicolon"),
    ("arms.on.profile", {"arms": {"off": {}, "on": {"profile": "nowhere"}}}, "no such profile"),
    ("arms.on.policy", {"arms": {"off": {}, "on": {"profile": "stock", **ON}}}, "not both"),
    ("metrics", {"metrics": None}, "at least one"),
    ("metrics", {"metrics": 7}, "an array"),
    ("metrics[1]", {"metrics": ["x"]}, "a table"),
    ("metrics[2].name", {"metrics": [METRIC, METRIC]}, "twice"),
    ("metrics[1].source", metric(source=None), "missing"),
    ("metrics[1].source", metric(source="vmstat"), "wanted is counter"),
    ("metrics[1].source", metric(source="file:/x"), "wanted is counter"),
    ("metrics[1].source", metric(source="psi:memory"), "not a name"),
    ("metrics[1].source", metric(source="vmstat:../x"), "not a name"),
    ("metrics[1].source", metric(source="command:"), "whole path"),
    ("metrics[1].source", metric(source="command:awk 1"), "whole path"),
    ("metrics[1].source", metric(source="command:/bin/x 'a"), "closing quotation"),
    ("metrics[1].source", metric(source="counter:pcp/drains"),
     "stands still while pcp is off, as in arm off"),
    ("metrics[1].kind", metric(kind="median"), "rate, mean, ratio, quantile"),
    ("metrics[1].per", metric(kind="ratio"), "wanted with"),
    ("metrics[1].per", metric(per="vmstat:pgfault"), "only with it"),
    ("metrics[1].quantile", metric(kind="quantile"), "missing"),
    ("metrics[1].quantile", metric(kind="quantile", quantile=1), "not in 0.01..0.99"),
    ("metrics[1].quantile", metric(quantile=0.5), "only with"),
    ("metrics[1].source", metric(kind="mean", source="psi:memory/full"), "only ever grows"),
    ("metrics[1].better", metric(better="higher"), "less, more"),
    ("metrics[1].detect_pct", metric(detect_pct=0), "not in"),
    ("metrics[1].detect_pct", metric(detect_pct=10**400), "not in"),
    ("metrics[1].detect_pct", metric(detect_pct=float("nan")), "not in"),
    ("metrics[1].detect_pct", metric(detect_pct=True), "a number"),
    ("metrics[1].souce", metric(souce="x"), "unknown key"),
    ("strata", {"strata": ["colour"]}, "not one of machine_type"),
    ("strata", {"strata": ["cpus", "cpus"]}, "twice"),
    ("strata", {"strata": [["cpus"]]}, "not one of"),
    ("correction", {"correction": "hope"}, "holm"),
    ("start", {"start": "2027-01-01"}, "no quotes"),
    ("start", {"start": datetime(2027, 1, 1)}, "with an offset"),
    ("start", {"start": datetime(1900, 1, 1, tzinfo=UTC)}, "too far off"),
    ("ramp.every", {"ramp": {"percent": [1, 50]}}, "missing"),
    ("start", {"ramp": {"percent": [1, 50], "every": "1m"}}, "missing"),
    ("ramp.percent", {"ramp": {"percent": [5, 1], "every": "1m"}}, "more than"),
    ("ramp.percent", {"ramp": {"percent": [0, 1], "every": "1m"}}, "more than"),
    ("ramp.percent", {"ramp": {"percent": [1, 101], "every": "1m"}}, "not in 0..100"),
    ("ramp.every", {"ramp": {"percent": [1, 2], "every": "1h"},
                    "start": datetime(2027, 1, 1, tzinfo=UTC)}, "would end before"),
    ("switchback", {"switchback": {"block": "1m"}}, "only with mode"),
    ("previous_weights[1].no", {"previous_weights": [{"no": 1}]}, "not an arm"),
    ("previous_weights[1]", {"previous_weights": [{"on": 0.5}]}, "add up to 0.5"),
    ("guardrails.oom_kill", {"guardrails": {"oom_kill": 0}}, "unknown key"),
    ("guardrails.oom_kills", {"guardrails": {"oom_kills": "no"}}, "a number"),
    ("guardrails.taint", {"guardrails": {"taint": 1}}, "true or false"),
    ("guardrails.window", {"guardrails": {"window": "1s"}}, "not in 5s"),
    ("guardrails.psi_memory_full_pct", {"guardrails": {"psi_memory_full_pct": 101}},
     "not in 0..100"),
]
BY_TIME: list[tuple[str, dict[str, Any], str]] = [
    ("switchback.block", {"switchback": {}}, "missing"),
    ("switchback.seed", {"switchback": {"block": "1m"}}, "missing"),
    ("switchback.washout",
     {"switchback": {"block": "1m", "washout": "55s", "seed": 1}}, "less than two ticks"),
    ("duration", {"duration": "3m"}, "not two blocks"),
    ("start", {"start": datetime(2027, 1, 1, tzinfo=UTC)}, "only with mode"),
    ("baseline", {"baseline": "1m"}, "only with mode"),
    ("ramp", {"ramp": {"every": "1m"}}, "only with mode"),
    ("arms.off.weight", {"arms": {"off": {"weight": 0.5},
                                 "on": {**ON, "weight": 0.5}}}, "take turns"),
]


@pytest.mark.parametrize("mode,key,over,words", [
    *(("host", *row) for row in BY_HOST), *(("switchback", *row) for row in BY_TIME)])
def test_a_fault_is_named(mode: str, key: str, over: dict[str, Any], words: str) -> None:
    with pytest.raises(CtlError) as caught:
        experiment(**{"mode": mode, **over})
    assert key in caught.value.message
    assert caught.value.message.startswith("trial.toml: ")
    assert words in caught.value.message
    assert caught.value.status == Exit.USAGE


def test_a_near_miss_is_guessed_at() -> None:
    with pytest.raises(CtlError) as caught:
        experiment("host", metrics=[METRIC | {"beter": "less"}])
    assert caught.value.hint == 'did you mean "better"?'


@pytest.mark.parametrize("policy", ["pageblock", "cma"])
def test_what_lasts_is_not_switched_to_and_fro(policy: str) -> None:
    arms = {"off": {}, "on": {"policy": {policy: {"enabled": True}}}}
    with pytest.raises(CtlError, match=f"{policy}.*lasting state") as caught:
        experiment(arms=arms)
    assert caught.value.hint == 'use mode = "host"'
    assert experiment("host", arms=arms).arm("on").settings == {policy: {"enabled": "1"}}


def test_counters_compare_arms_that_both_count() -> None:
    arms = {"a": ON, "b": {"policy": {"pcp": {"enabled": True, "mode": "depth"}}}}
    made = experiment("host", arms=arms, control="a", **metric(source="counter:pcp/drains"))
    assert made.metrics[0].source.kind == "counter"


def test_defaults() -> None:
    made = experiment("host")
    assert [arm.weight for arm in made.arms] == [0.5, 0.5]
    assert (made.lease_s, made.correction, made.ramp.percents) == (60, "holm", (100.0,))
    assert made.guardrails.taint and made.guardrails.oom_kills == 0
    assert experiment("host", tick="1m").lease_s == 180


def test_guardrails_can_be_done_without() -> None:
    made = experiment("host", guardrails={"oom_kills": False, "taint": False})
    assert made.guardrails.oom_kills is None and not made.guardrails.taint


def test_an_arm_may_be_a_profile(tmp_path: Path) -> None:
    (tmp_path / "lists.toml").write_text("[policy.pcp]\nenabled = true\n", encoding="utf-8")
    file = tmp_path / "e.toml"
    text = (READY / "pcp-switchback.toml").read_text(encoding="utf-8")
    text = text.replace('[arms.on.policy.pcp]\nenabled = true\nmode = "event"',
                        '[arms.on]\nprofile = "lists.toml"')
    file.write_text(text, encoding="utf-8")
    made = load_experiment(file, Host(tmp_path))
    assert made.arm("on").settings == {"pcp": {"enabled": "1"}}


def test_the_ready_experiments_are_sound(ctl: Ctl) -> None:
    files = sorted(READY.glob("*.toml"))
    assert files
    for file in files:
        done = ctl("ab", "check", str(file))
        assert done.status == 0, done.err
        assert "control" in done.out


BAD_FILES = [b"\xff\xfe", b"= 1", b"a = [" * 5000, b"name = 'x'\nname = 'y'", b"\x00",
             b"a = 1" + b"0" * 5000, b""]


@pytest.mark.parametrize("data", BAD_FILES)
def test_files_that_are_none(ctl: Ctl, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(data)
    ctl("ab", "check", str(file)).failed(Exit.USAGE, "bad.toml")


def test_files_that_cannot_be_read(ctl: Ctl, tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path, Path("/dev/null")):
        assert ctl("ab", "check", str(path)).status == Exit.USAGE
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (2 << 20))
    assert "larger" in ctl("ab", "check", str(large)).err


def test_check_and_assign_agree(ctl: Ctl, host: FakeHost, tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = toml('mode = "host"\nduration = "1h"\nstrata = ["cpus"]')
    file.write_text(text, encoding="utf-8")
    checked = ctl("ab", "check", str(file), "--json").data()
    assigned = ctl("ab", "assign", str(file), "--json").data()
    assert checked["host"] == assigned["host"]
    assert checked["arm"] == assigned["arm"] in ("off", "on")
    again = ctl("ab", "assign", str(file), "--id", assigned["host"], "--json").data()
    for wrong in ("", "web01", assigned["host"].upper()):
        ctl("ab", "assign", str(file), "--id", wrong).failed(Exit.USAGE, "not a host's id")
    assert again["arm"] == assigned["arm"]
    assert "takes part from the start" in ctl("ab", "assign", str(file)).out


def test_check_looks_at_the_host(ctl: Ctl, tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = toml('mode = "host"\nduration = "1h"',
                metrics='[[metrics]]\nname = "n"\nsource = "vmstat:absent"\n')
    file.write_text(text, encoding="utf-8")
    assert ctl("ab", "check", str(file), "--json").data()["no_numbers_for"] == ["vmstat:absent"]
    file.write_text(text.replace("policy.pcp]", "policy.pcpp]"), encoding="utf-8")
    done = ctl("ab", "check", str(file))
    assert done.status == Exit.UNSUPPORTED and "arm on: pcpp" in done.err
    file.write_text(text.replace("enabled = true", "enabled = true\nmdoe = 1"), encoding="utf-8")
    assert "pcp/mdoe: no such knob" in ctl("ab", "check", str(file)).err


@pytest.mark.parametrize("text,seconds", [("90s", 90), ("5m", 300), ("2h", 7200), ("1w", 604800)])
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("seconds,text", [(0.5, "0.5s"), (45, "45s"), (90, "1m30s"),
                                          (90000, "1d1h")])
def test_durations_for_people(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


# Blocks ---------------------------------------------------------------------


def test_blocks_are_drawn_in_rounds() -> None:
    made = experiment(duration="60m")
    blocks = blocks_of(made, "h" * 32)
    assert len(blocks) == 60
    for first, second in zip(blocks[::2], blocks[1::2], strict=True):
        assert {first.arm, second.arm} == {"off", "on"}
        assert (first.end_s, second.start_s) == (first.start_s + 60, first.end_s)
        assert first.washed_s == first.start_s + 10
    firsts = [block.arm for block in blocks[::2]]
    assert 5 <= firsts.count("on") <= 25


def test_the_order_is_the_seeds_and_the_hosts() -> None:
    def order(host: str, **over: Any) -> list[str]:
        return [block.arm for block in blocks_of(experiment(duration="60m", **over), host)]

    plan = {"block": "1m", "washout": "10s"}
    assert order("a") == order("a")
    assert order("a") != order("b")
    assert order("a") != order("a", switchback={**plan, "seed": 8})
    assert order("a") != order("a", salt="other")


def test_a_known_order() -> None:
    # Should it ever change, runs that are resumed would go on with another plan.
    arms = [block.arm for block in blocks_of(experiment(), "h")]
    wanted = "on off off on off on off on on off on off"
    assert arms == wanted.split()


def test_only_whole_rounds_are_run() -> None:
    assert len(blocks_of(experiment(duration="719s"), "h")) == 10


def test_by_host_there_are_no_blocks() -> None:
    with pytest.raises(ValueError, match="not a switchback"):
        blocks_of(experiment("host"), "h")
    assert "switchback" not in table("host")
