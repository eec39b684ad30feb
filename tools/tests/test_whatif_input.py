# SPDX-License-Identifier: GPL-2.0-only
"""Files that are no recordings, and settings that no module takes, are refused in one line."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from conftest import Ctl
from livemmctl.errors import Exit
from livemmctl.whatif import predict, recording, rows
from test_whatif import BATCH, FORMATS, HIGH, meta, ring_event, ring_page

Members = dict[str, bytes]
LOOKS = (ring_event("zone_state", 1, slot=1, cpus=1, low=HIGH, high=HIGH, managed=500_000,
                    free=400_000, high_mark=6000, mark=6000, gap=1000),
         ring_event("list_state", 1, slot=1, count=HIGH, high=HIGH, batch=BATCH),
         ring_event("cpu_state", 1))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole.rec"
    recording.write(path, meta(), FORMATS, {0: io.BytesIO(ring_page(1, *LOOKS))})
    return path


def changed(path: Path, change: Callable[[Members], None]) -> Path:
    """The recording with other members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    made = path.with_name("changed.rec")
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made


def with_meta(**values: Any) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        members["meta.json"] = json.dumps({**json.loads(members["meta.json"]), **values}).encode()
    return change


def with_format(event: str, old: str, new: str) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        name = f"formats/{event}"
        assert old.encode() in members[name]
        members[name] = members[name].replace(old.encode(), new.encode())
    return change


def with_member(name: str, data: bytes) -> Callable[[Members], None]:
    return lambda members: members.update({name: data})


def refused(ctl: Ctl, path: Path, *words: str) -> str:
    """The one line of an error of status 1."""
    done = ctl("whatif", str(path), *words)
    assert done.status == Exit.FAILED, done.err
    [line] = done.err.splitlines()
    return str(line)


@pytest.mark.parametrize(("change", "why"), [
    (with_meta(page_size=0), "page_size is 0"),
    (with_meta(page_size=-4096), "page_size is -4096"),
    (with_meta(page_size=8), "page_size is 8"),
    (with_meta(page_size=12288), "page_size is 12288"),
    (with_meta(page_size="4096"), "page_size is '4096'"),
    (with_meta(page_size=True), "page_size is True"),
    (with_meta(page_size=65536), "cpu/0 ends within a page"),
    (with_meta(overruns=[1]), "overruns is"),
    (with_meta(overruns={"0": "x"}), "overruns is"),
    (with_meta(policies=5), "policies is 5"),
    (with_meta(host=5), "host is 5"),
    (with_meta(version=2, more=1), "of version 2; this livemmctl reads 1"),
    (with_member("meta.json", b"[]"), "its meta data are no table"),
    (with_member("cpu/x", b""), "invalid literal"),
    (with_member("cpu/1024", b""), "it has a CPU 1024"),
    (with_member("cpu/0", b""), "holds no events"),
    (with_member("cpu/0", ring_page(1, *LOOKS)[:-1]), "cpu/0 ends within a page"),
    (with_member("formats/list_state", b"\xff"), "can't decode"),
    (with_format("list_state", "ID:", "IX:"), "a format without an ID"),
    (with_format("list_state", "ID: 3", "ID: 99993"), "list_state has ID 99993"),
    (with_format("list_state", "long count", "long pages"), "list_state has no field count"),
    (with_format("list_state", "offset:16;\tsize:8", "offset:16;\tsize:400"), "400 bytes at 16"),
    (with_format("list_state", "offset:16;", "offset:4294967280;"), "8 bytes at 4294967280"),
    (lambda members: members.pop("formats/list_state") and None, "no event list_state"),
    (with_member("cpu/0", ring_page(1, *LOOKS[1:])), "no look at zones"),
    (with_member("cpu/0", ring_page(1, LOOKS[0], LOOKS[2])), "no look at lists"),
    (with_member("cpu/0", ring_page(1, *LOOKS) + ring_page(1 << 62, *LOOKS)), "two days apart"),
])
def test_what_lies_is_refused(ctl: Ctl, whole: Path, change: Callable[[Members], None],
                              why: str) -> None:
    assert why in refused(ctl, changed(whole, change))


def test_a_file_that_was_cut_or_damaged_is_refused(ctl: Ctl, whole: Path) -> None:
    raw = whole.read_bytes()
    for size in range(0, len(raw), 97):
        whole.write_bytes(raw[:size])
        assert "not a recording" in refused(ctl, whole)
    damaged = bytearray(raw)
    damaged[raw.index(b"cpu/0") + 50] ^= 0xff
    whole.write_bytes(damaged)
    assert "not a recording" in refused(ctl, whole)
    # Among others such a file is named, and the others count.
    good = whole.with_name("good.rec")
    good.write_bytes(raw)
    done = ctl("whatif", str(good), str(whole))
    assert done.status == 0 and f"left out: {whole}" in done.out


def test_a_newer_livemmctl_may_have_written_more(whole: Path) -> None:
    def newer(members: Members) -> None:
        with_meta(machine="x86_64")(members)
        members["formats/list_wink"] = b"not of this livemm"

    assert len(rows.read(changed(whole, newer)).rows) == len(LOOKS)


@pytest.mark.parametrize(("policy", "setting"), [
    ("pcp", "decay_ms=0"), ("pcp", "decay_ms=-5"), ("pcp", "decay_ms=60001"),
    ("pcp", "decay_ms=1e3"), ("pcp", "high_max_pct=nan"),
    ("pcp", "high_max_pct=12.55"), ("pcp", "high_max_pct=0.9"), ("pcp", "enabled=7"),
    ("zonelock", "max_pages_pct=-1"), ("zonelock", "max_age_ms=0"),
])
def test_a_number_that_the_module_refuses_is_refused(ctl: Ctl, whole: Path, policy: str,
                                                     setting: str) -> None:
    done = ctl("whatif", str(whole), "--policy", policy, "--set", setting)
    assert done.status == Exit.USAGE, done.err
    knob, _, value = setting.partition("=")
    assert f"{policy}/{knob}: {value}: not a number from" in done.err
    if policy == "pcp":
        done = ctl("whatif", str(whole), "--sweep", setting)
        assert done.status == Exit.USAGE, done.err


def test_numbers_at_the_limits_are_taken(whole: Path) -> None:
    found = rows.read(whole)
    for settings in ({"decay_ms": "500", "high_max_pct": "50"},
                     {"decay_ms": "60000", "high_max_pct": "1.0"}):
        assert predict.predict(found, predict.plan_of(["pcp"], settings)).predicted.kept >= 0


@pytest.mark.usefixtures("venv")
def test_a_parquet_file_of_something_else_is_refused(ctl: Ctl, whole: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = whole.with_suffix(".parquet")
    path.write_bytes(b"PAR1 no")
    assert "not made of a recording" in refused(ctl, path)
    pyarrow.parquet.write_table(pyarrow.table({"event": ["x"]}), path)
    assert "not made of a recording" in refused(ctl, path)
    rows.write_parquet(rows.read(whole), path)
    assert ctl("whatif", str(path)).status == 0
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.drop_columns(["time_ns"]), path)
    assert "no column time_ns" in refused(ctl, path)


def test_rows_of_several_cpus_are_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "two.rec"
    pages: dict[int, IO[bytes]] = {cpu: io.BytesIO(b"".join(
        ring_page(time + 1000 * cpu, *(ring_event("list_state", 3, slot=1, cpu=cpu, count=i,
                                                  batch=BATCH) for i in range(9)))
        for time in (10_000, 20_000))) for cpu in range(3)}
    recording.write(path, meta(), FORMATS, pages)
    found = rows.read(path).rows
    assert len(found) == 54 and (np.diff(found[:, 0]) >= 0).all()
    for cpu in range(3):
        assert found[found[:, 1] == cpu][:, 5].tolist() == [*range(9), *range(9)]


@pytest.mark.parametrize(("event", "field", "value"), [
    ("list_state", "count", 1 << 31), ("list_state", "batch", 0), ("list_state", "slot", 512),
    ("list_state", "cpu", 1024), ("list_state", "high", -1), ("zone_state", "managed", 1 << 40),
    ("zone_state", "low", 1 << 33),
])
def test_a_look_that_cannot_be_is_refused(ctl: Ctl, whole: Path, event: str, field: str,
                                          value: int) -> None:
    good = {"slot": 1, "cpus": 1, "low": HIGH, "high": HIGH, "batch": BATCH}
    bad = ring_event(event, 1, **{**good, field: value})
    assert f"{event}/{field} is {value}" in refused(
        ctl, changed(whole, with_member("cpu/0", ring_page(1, *LOOKS, bad))))


@pytest.mark.parametrize("field", ["net", "allocated"])
@pytest.mark.parametrize("sign", [1, -1])
def test_counts_that_no_cpu_reaches_are_refused(ctl: Ctl, whole: Path, field: str,
                                                sign: int) -> None:
    """As when a CPU goes offline: the kernel adds its counts to those of another."""
    look = ring_event("list_state", 1, slot=1, count=HIGH, high=HIGH, batch=BATCH,
                      **{field: sign << 40})
    line = refused(ctl, changed(whole, with_member("cpu/0", ring_page(1, *LOOKS, look))))
    assert "over 1 TiB between two moments" in line


def test_a_link_in_place_of_the_unfinished_recording_is_not_followed(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "y.rec"
    victim.write_text("mine\n", encoding="utf-8")
    (tmp_path / "y.rec.part").symlink_to(victim)
    recording.write(path, meta(), FORMATS, {0: io.BytesIO(ring_page(1, *LOOKS))})
    assert victim.read_text(encoding="utf-8") == "mine\n"
    assert path.is_file() and not path.is_symlink()
