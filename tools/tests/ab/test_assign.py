# SPDX-License-Identifier: GPL-2.0-only
"""Ids and buckets as others compute them, and who moves when weights change."""

import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from ab.doubles import experiment
from fake_tree import FakeHost
from livemmctl.ab import assign
from livemmctl.ab.assign import APP_ID, BUCKETS, arm_of, entry_pct
from livemmctl.ab.facts import strata_of
from livemmctl.ab.model import Ramp
from livemmctl.errors import CtlError
from livemmctl.host import Host

MACHINE_ID = "0123456789abcdef0123456789abcdef"

IDS = [f"{number:032x}" for number in range(4000)]


# Made by systemd-id128 of systemd 252 with that machine-id bound over /etc/machine-id.
@pytest.mark.parametrize("app_id,wanted", [
    ("00112233445566778899aabbccddeeff", "4e7a918525b94da8ad4b4f264a130726"),
    ("b5ab0ed74b6e4a3e9b34f5f8a3c4d1e6", "476e7cb11562447ebaa58c6836ac0315"),
    (APP_ID, "bb4dc92bd67646b89c16a48167d3bc8a"),
])
def test_ids_are_systemds(app_id: str, wanted: str) -> None:
    assert assign.app_specific_id(MACHINE_ID, app_id) == wanted


def test_this_machines_id_is_what_systemd_says() -> None:
    program = shutil.which("systemd-id128")
    assert program is not None, "systemd-id128 is not installed: apt install systemd"
    done = subprocess.run([program, "machine-id", f"--app-specific={APP_ID}"],
                          capture_output=True, text=True)
    text = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    assert done.stdout.strip() == assign.app_specific_id(text)


@pytest.mark.parametrize("text", ["", "uninitialized\n", "0" * 31, "g" * 32, "\x00" * 40])
def test_no_machine_id(host: FakeHost, text: str) -> None:
    host.kernel.put("/etc/machine-id", text)
    with pytest.raises(CtlError, match="no machine id"):
        assign.host_id(host)


def test_the_machine_id_is_not_shown(host: FakeHost) -> None:
    assert MACHINE_ID not in assign.host_id(host)


# The test vectors of FNV's authors, draft-eastlake-fnv.
@pytest.mark.parametrize("text,value", [
    ("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968),
])
def test_fnv(text: str, value: int) -> None:
    assert assign.fnv32a(text) == value


# Those that GrowthBook publishes for its SDKs: cases.json, "hash", version 2.
@pytest.mark.parametrize("seed,value,wanted", [
    ("seed", "a", 0.0505), ("seed", "b", 0.2696), ("foo", "ab", 0.2575),
    ("foo", "def", 0.2019), ("89123klj", "8952klfjas09ujkasdf", 0.124),
    ("90850943850283058242805", "123", 0.7516), ("()**(%$##$%#$#", '___)((*":&', 0.0128),
])
def test_buckets_are_growthbooks(seed: str, value: str, wanted: float) -> None:
    assert assign.bucket(seed, value) / BUCKETS == wanted


# The same file, "getBucketRange": where coverage is whole.
@pytest.mark.parametrize("weights,ranges", [
    ([0.5, 0.5], [(0, 0.5), (0.5, 1)]),
    ([0.25] * 4, [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]),
    ([0.4, 0.6], [(0, 0.4), (0.4, 1)]),
    ([0.2, 0.3, 0.5], [(0, 0.2), (0.2, 0.5), (0.5, 1)]),
])
def test_ranges_are_growthbooks(weights: list[float],
                                ranges: list[tuple[float, float]]) -> None:
    owners = assign.layout([weights])
    for arm, (start, end) in enumerate(ranges):
        assert set(owners[round(start * BUCKETS):round(end * BUCKETS)]) == {arm}


HISTORIES = [
    [[0.5, 0.5], [0.6, 0.4]], [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]],
    [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25]], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
    [[0.2, 0.3, 0.5], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4]],
    [[0.9, 0.1, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]],
]


@pytest.mark.parametrize("history", HISTORIES)
def test_no_bucket_moves_that_need_not(history: list[list[float]]) -> None:
    for length in range(1, len(history)):
        before, after = assign.layout(history[:length]), assign.layout(history[:length + 1])
        moved = sum(one != other for one, other in zip(before, after, strict=True))
        grown = sum(max(new - old, 0) for old, new in zip(*history[length - 1:length + 1],
                                                          strict=True))
        assert moved == pytest.approx(grown * BUCKETS, abs=len(history[0]))
        counts = Counter(after)
        for arm, weight in enumerate(history[length]):
            assert counts[arm] == pytest.approx(weight * BUCKETS, abs=1)


def test_with_two_arms_the_history_makes_no_difference() -> None:
    history = [[0.5, 0.5], [0.2, 0.8], [0.6, 0.4]]
    for length in range(1, len(history) + 1):
        assert assign.layout(history[:length]) == assign.layout([history[length - 1]])


def test_hosts_keep_their_arm_when_weights_change() -> None:
    arms: dict[str, dict[str, Any]] = {
        "off": {"weight": 0.5}, "a": {"weight": 0.25, "policy": {"pcp": {"enabled": True}}},
        "b": {"weight": 0.25, "policy": {"numa": {"enabled": True}}},
    }
    old = experiment("host", arms=arms)
    weights = {"off": 0.4, "a": 0.25, "b": 0.35}
    changed = {name: {**table, "weight": weights[name]} for name, table in arms.items()}
    new = experiment("host", arms=changed,
                     previous_weights=[{"off": 0.5, "a": 0.25, "b": 0.25}])
    moves = Counter((arm_of(old, host, {}), arm_of(new, host, {})) for host in IDS[:600])
    assert set(moves) == {("off", "off"), ("a", "a"), ("b", "b"), ("off", "b")}


def test_arms_get_their_shares() -> None:
    made = experiment("host")
    names = assign.experiment_layout(made)
    counts = Counter(names[assign.bucket(assign.seed_of(made, {}), host)] for host in IDS)
    assert counts["on"] == pytest.approx(2000, abs=130)


def test_another_salt_is_another_draw() -> None:
    one, other = experiment("host", salt="one"), experiment("host", salt="other")
    same = sum(arm_of(one, host, {}) == arm_of(other, host, {}) for host in IDS[:400])
    assert same == pytest.approx(200, abs=50)


def test_taking_part_says_nothing_of_the_arm() -> None:
    made = experiment("host")
    names = assign.experiment_layout(made)
    early = [host for host in IDS if entry_pct(made, host) < 10]
    assert len(early) == pytest.approx(400, abs=75)
    on = sum(names[assign.bucket(assign.seed_of(made, {}), host)] == "on" for host in early)
    assert on == pytest.approx(len(early) / 2, abs=50)


def test_a_ramp_only_ever_adds_hosts() -> None:
    made = experiment("host", salt="s")
    takes_part = [{host for host in IDS if entry_pct(made, host) < percent}
                  for percent in (1, 5, 10, 25, 50, 100)]
    assert all(less < more for less, more in pairwise(takes_part))
    assert takes_part[-1] == set(IDS)


def test_ramp_over_time() -> None:
    made = replace(experiment("host"), ramp=Ramp((1.0, 5.0, 50.0), 60.0))
    joins = {host: assign.joins_after_s(made, host) for host in IDS}
    for now, percent in ((-1, 0), (0, 1), (59, 1), (60, 5), (119, 5), (120, 50), (1e9, 50)):
        there = {host for host, at in joins.items() if at is not None and at <= now}
        assert there == {host for host in IDS if entry_pct(made, host) < percent}
    assert {assign.joins_after_s(experiment("host"), host) for host in IDS} == {0}


def test_strata_are_drawn_apart() -> None:
    made = experiment("host", strata=["machine_type"])
    big, small = {"machine_type": "big"}, {"machine_type": "small"}
    same = sum(arm_of(made, host, big) == arm_of(made, host, small) for host in IDS[:400])
    assert same == pytest.approx(200, abs=50)


def test_strata_of_a_host(host: FakeHost) -> None:
    host.kernel.put("/sys/class/dmi/id/sys_vendor", "Maker  Inc.\n")
    host.kernel.put("/sys/class/dmi/id/product_name", "Box 9\n")
    host.kernel.put("/sys/devices/system/cpu/present", "0-3,8\n")
    host.kernel.put("/sys/devices/system/node/has_memory", "0-1\n")
    wanted = ("machine_type", "cpus", "memory", "numa_nodes")
    assert strata_of(host, wanted) == {
        "machine_type": "Maker Inc. Box 9", "cpus": "5", "memory": "2GiB", "numa_nodes": "2"}


def test_strata_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "sys/devices/system/cpu").mkdir(parents=True)
    (tmp_path / "sys/devices/system/cpu/present").write_bytes(b"\xff-x\n")
    found = strata_of(Host(tmp_path), ("machine_type", "cpus", "memory", "numa_nodes"))
    assert set(found.values()) == {"unknown"}
