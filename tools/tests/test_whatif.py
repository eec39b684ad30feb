# SPDX-License-Identifier: GPL-2.0-only
"""Recordings are read as the kernel wrote them, and replayed through the module's own cores."""

import io
import json
import struct
import subprocess
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from knob_tables import ROOT
from livemmctl.app import App
from livemmctl.errors import CtlError, Exit
from livemmctl.profile.model import parse_profile
from livemmctl.whatif import events, fleet, library, predict, recorder, recording, rows, sweep

PAGE = 4096
BATCH, HIGH = 63, 378
MS = 1_000_000
PCP: predict.Plan = {"pcp": {}}
ZONELOCK: predict.Plan = {"zonelock": {}}


def format_text(event: str, number: int) -> str:
    """A file `format` as tracefs has one; every field has 8 bytes."""
    lines = [f"name: {event}", f"ID: {number}", "format:",
             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;",
             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;"]
    lines += [f"\tfield:long {name};\toffset:{8 + 8 * i};\tsize:8;\tsigned:1;"
              for i, name in enumerate(events.fields(event))]
    return "\n".join(lines) + "\n"


FORMATS = {event: format_text(event, 300 + i) for i, event in enumerate(events.OURS)}


def ring_event(event: str, delta: int, **values: int) -> bytes:
    """An event as it lies in the ring buffer, its length in a word of its own."""
    number = 300 + list(events.OURS).index(event)
    data = struct.pack("<HBBi", number, 0, 0, 1)
    data += struct.pack(f"<{len(events.fields(event))}q",
                        *(values.get(name, 0) for name in events.fields(event)))
    return struct.pack("<II", delta << 5, len(data) + 4) + data


def ring_page(time: int, *parts: bytes, missed: bool = False) -> bytes:
    data = b"".join(parts)
    commit = len(data) | (1 << 31 if missed else 0)
    return (struct.pack("<QQ", time, commit) + data).ljust(PAGE, b"\0")


def meta() -> recording.Meta:
    return recording.Meta(livemm="livemm 0.1.0 abi 3", host="h", kernel="6.1.0", cpus=1, seconds=1,
                          began=0, page_size=PAGE, buffer_kb=64)


def write(path: Path, *pages: bytes) -> Path:
    recording.write(path, meta(), FORMATS, {0: io.BytesIO(b"".join(pages))})
    return path


def test_pages_are_read_as_the_kernel_wrote_them(tmp_path: Path) -> None:
    extend = struct.pack("<II", 5 << 5 | 30, 2)
    stamp_at = (7 << 27) + 3
    stamp = struct.pack("<II", 3 << 5 | 31, 7)
    path = write(tmp_path / "a.rec",
                 ring_page(1000, ring_event("list_drain", 0, slot=1, pages=63, batch=BATCH, net=-5),
                           ring_event("list_refill", 10, slot=2, pages=64, batch=BATCH)),
                 ring_page(5000, extend, ring_event("list_state", 1, count=9, batch=BATCH), stamp,
                           ring_event("cpu_state", 2, faults=7)))
    found = rows.read(path)
    times = [1000, 1010, 5000 + 5 + (2 << 27) + 1, stamp_at + 2]
    assert sorted(found.rows[:, 0]) == sorted(times)
    by_kind = {int(row[2]): row for row in found.rows}
    assert list(by_kind[1][3:11]) == [1, 0, 0, 63, 0, 0, BATCH, -5]
    assert by_kind[0][6] == 64 and by_kind[2][5] == 9 and by_kind[4][4] == 7


def test_a_page_that_lies_ends_where_it_lies() -> None:
    whole = ring_page(1, ring_event("list_drain", 0, pages=1))
    formats = rows.formats_of(FORMATS)
    for cut in range(128):
        # Each byte in turn is one that nobody would write.
        bad = whole[:cut] + b"\xff" + whole[cut + 1:]
        assert len(library.pages(bad, PAGE, 0, formats)[0]) <= 1


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.rec"
    path.write_text("no")
    with pytest.raises(CtlError, match="not a recording"):
        recording.read(path)


@dataclass
class Stock:
    """A list of 6.1 and its CPU, recorded: what the kernel does without a policy."""

    free: int = 400_000
    count: int = 0
    net: int = 0
    allocated: int = 0
    now: int = 0
    factor: int = 0
    faults: int = 1
    looked: int = -1
    crossed: int = 0
    cpu: int = 0
    #: Pages that requests cannot use.
    others: int = 0
    #: kswapd runs, and a list may have four batches.
    reclaim: bool = False
    made: list[list[int]] = field(default_factory=list)

    def row(self, event: str, **values: int) -> None:
        own = {"slot": 1, "cpu": self.cpu, "count": self.count, "high": HIGH, "batch": BATCH,
               "net": self.net, "allocated": self.allocated, "free": self.free, **values}
        line = [self.now, self.cpu, list(events.OURS).index(event)]
        line += [own.get(name, 0) for name in events.fields(event)]
        self.made.append(line + [0] * (library.COLUMNS - len(line)))

    def step(self) -> None:
        self.now += 5000
        if self.now // (50 * MS) > self.looked:
            self.look()

    def look(self) -> None:
        self.looked = self.now // (50 * MS)
        self.row("zone_state", cpus=2, low=HIGH, high=HIGH, managed=500_000, high_mark=6000,
                 mark=6000, gap=1000, reclaim=self.reclaim)
        self.row("list_state")
        self.row("cpu_state", faults=self.faults)

    def take(self, pages: int) -> None:
        for _ in range(pages):
            self.step()
            if self.count <= self.others:
                self.free -= BATCH
                self.row("list_refill", pages=BATCH)
                self.count += BATCH
                self.crossed += BATCH
            self.factor >>= 1
            self.count -= 1
            self.net += 1
            self.allocated += 1
            self.faults += 1

    def give(self, pages: int) -> None:
        high = min(HIGH, 4 * BATCH) if self.reclaim else HIGH
        for _ in range(pages):
            self.step()
            self.count += 1
            self.net -= 1
            if self.count < high:
                continue
            batch = BATCH << self.factor
            if batch < high - BATCH:
                self.factor += 1
            batch = min(batch, high - BATCH)
            self.row("list_drain", pages=batch)
            self.count -= batch
            self.free += batch
            self.crossed += batch

    def rest(self, ms: int) -> None:
        for _ in range(ms // 50):
            self.now += 50 * MS
            self.look()

    def events(self) -> rows.Events:
        self.look()
        return rows.Events(meta(), np.array(self.made, dtype=np.int64))


def bursts(pages: int, rounds: int, rest_ms: int = 0, reclaim: bool = False) -> Stock:
    host = Stock(reclaim=reclaim)
    for _ in range(rounds):
        host.take(pages)
        host.rest(rest_ms)
        host.give(pages)
        host.rest(rest_ms)
    return host


@pytest.mark.parametrize(("pages", "rest_ms"), [(300, 0), (4000, 0), (16384, 500)])
def test_without_the_policy_the_replay_is_the_recording(pages: int, rest_ms: int) -> None:
    host = bursts(pages, 6, rest_ms)
    found = predict.predict(host.events(), {"pcp": {"enabled": "0"}})
    assert found.recorded.crossed == host.crossed
    assert found.predicted.crossed == pytest.approx(host.crossed, rel=0.01, abs=2 * BATCH)
    assert found.predicted.holds == pytest.approx(found.recorded.holds, rel=0.02, abs=4)
    assert found.predicted.kept == pytest.approx(found.recorded.kept, rel=0.1, abs=BATCH)


def test_the_policy_saves_what_its_own_arithmetic_saves() -> None:
    host = bursts(4000, 30)
    found = predict.predict(host.events(), PCP)
    assert found.recorded.a_fault == pytest.approx(2, rel=0.1)
    # The first rounds teach; later ones cross no lock.
    assert found.predicted.crossed < found.recorded.crossed / 5
    assert found.detail["grown"] > 0
    assert found.predicted.kept_max > 3000


def test_beside_kswapd_lists_keep_pages_while_the_zone_has_enough() -> None:
    host = bursts(300, 30, reclaim=True)
    stock = predict.predict(host.events(), {"pcp": {"enabled": "0"}}).predicted
    assert stock.crossed == pytest.approx(host.crossed, rel=0.01, abs=2 * BATCH)
    assert predict.predict(host.events(), PCP).predicted.crossed < host.crossed / 2
    # As many free pages as the mark and the gap ask for, and not one list more.
    short = Stock(free=7000, reclaim=True)
    for _ in range(30):
        short.take(300)
        short.give(300)
    found = predict.predict(short.events(), PCP).predicted
    assert found.crossed == pytest.approx(short.crossed, rel=0.1)


def test_a_smaller_maximum_keeps_less_and_saves_less() -> None:
    found = [predict.predict(bursts(16384, 10).events(), {"pcp": {"high_max_pct": share}})
             for share in ("1", "2", "12.5")]
    crossed = [item.predicted.crossed for item in found]
    kept = [item.predicted.kept_max for item in found]
    assert crossed == sorted(crossed, reverse=True) and crossed[0] > crossed[-1]
    assert kept == sorted(kept) and kept[0] <= 500_000 // 100 + BATCH


def test_below_the_watermark_no_list_grows() -> None:
    host = Stock(free=8000)
    for _ in range(8):
        host.take(4000)
        host.give(4000)
    found = predict.predict(host.events(), PCP)
    assert found.detail["limited_watermark"] > 0
    assert found.predicted.kept_max < 4000


def pipe(pages: int) -> rows.Events:
    """One CPU takes pages, the other frees these; 5 us a page."""
    source, sink = Stock(cpu=0), Stock(cpu=1)
    source.look()
    sink.look()
    for _ in range(pages):
        source.take(1)
        sink.give(1)
    made = np.array([*source.made, *sink.made], dtype=np.int64)
    return rows.Events(meta(), made[np.argsort(made[:, 0], kind="stable")])


def test_a_depot_hands_pages_from_cpu_to_cpu() -> None:
    events = pipe(40_000)
    found = predict.predict(events, ZONELOCK)
    assert found.recorded.crossed > 75_000
    # What the first refills brought goes round.
    assert found.predicted.crossed < found.recorded.crossed / 20
    assert found.predicted.holds < found.recorded.holds / 20
    assert found.detail["taken_pages"] > 35_000
    assert "with zonelock" in found.text()
    # pcp alone does not help: nothing that a CPU frees comes back to the CPU.
    alone = predict.predict(events, PCP).predicted
    both = predict.predict(events, {**PCP, **ZONELOCK}).predicted
    assert alone.crossed > found.recorded.crossed / 2
    assert both.crossed < found.recorded.crossed / 20


def test_pages_that_a_cpu_frees_are_there_before_the_recording_tells_of_its_list() -> None:
    found = predict.predict(pipe(40_000), ZONELOCK)
    # A full list is all that the pipe needs of the buddy.  When pages came with the next recorded
    # moment of their list only, 630 were refilled.
    assert HIGH <= found.predicted.refill_pages <= HIGH + BATCH
    assert found.predicted.drain_pages == 0


def test_a_depot_off_is_no_depot() -> None:
    events = bursts(4000, 6).events()
    off = predict.predict(events, {"zonelock": {"enabled": "0"}}).predicted
    assert off == predict.predict(events, {"pcp": {"enabled": "0"}}).predicted


def test_a_depot_gives_back_what_no_cpu_takes() -> None:
    host = Stock()
    host.take(2000)
    host.give(2000)
    host.rest(3000)
    found = predict.predict(host.events(), ZONELOCK)
    # Nobody has taken any, so two batches are held at most; half of max_age_ms later all is old.
    assert 504 < found.detail["stored_pages"] <= 1008
    assert found.detail["returned_age"] == found.detail["stored_pages"]
    assert found.predicted.crossed == pytest.approx(found.recorded.crossed, rel=0.2)
    small = predict.predict(host.events(), {"zonelock": {"max_pages_pct": "0.1"}})
    assert small.detail["stored_pages"] < found.detail["stored_pages"]
    assert small.detail["refused"] > 0


def test_below_the_watermark_a_depot_stores_nothing() -> None:
    host = Stock(free=5000)
    host.take(500)
    host.give(2000)
    found = predict.predict(host.events(), ZONELOCK)
    assert found.detail["stored_pages"] == 0 and found.detail["refused"] > 0


def test_settings_that_are_not_predicted_are_refused() -> None:
    with pytest.raises(CtlError) as error:
        predict.plan_of(["pcp"], {"mode": "depth"})
    assert error.value.status == Exit.UNSUPPORTED
    with pytest.raises(CtlError, match="no knob"):
        predict.plan_of(["pcp"], {"speed": "1"})


def test_a_setting_names_its_policy_where_there_are_two() -> None:
    both = ["pcp", "zonelock"]
    plan = predict.plan_of(both, {"zonelock/max_age_ms": "300", "pcp/decay_ms": "500"})
    assert plan == {"pcp": {"decay_ms": "500"}, "zonelock": {"max_age_ms": "300"}}
    assert predict.settings_words(plan) == "pcp/decay_ms=500 zonelock/max_age_ms=300"
    pcp, zonelock = predict.config(plan, True)
    assert (pcp.decay_ms, zonelock.max_age_ms, zonelock.max_tenths) == (500, 300, 40)
    with pytest.raises(CtlError, match="of which policy"):
        predict.plan_of(both, {"enabled": "1"})
    with pytest.raises(CtlError, match="numa is not to be on"):
        predict.plan_of(["pcp"], {"numa/mode": "x"})
    with pytest.raises(CtlError, match="numa is not predicted, only pcp and zonelock are"):
        predict.plan_of(["pcp", "numa"], {})


def test_a_recording_ends_with_its_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at the next look: what a depot gives back after the load is not of the load."""
    slept: list[float] = []
    monkeypatch.setattr("livemmctl.whatif.recorder.time.sleep", slept.append)
    assert not recorder.pause(0.2, None)
    assert slept == [0.2]
    go = tmp_path / "go"
    go.touch()
    with subprocess.Popen(["sh", "-c", f"while [ -e {go} ]; do :; done"]) as load:
        assert not recorder.pause(0.001, load)
        go.unlink()
        assert recorder.pause(60, load)
    assert slept == [0.2]


def test_a_recording_that_the_kernel_has_ended_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "last_error").write_text("record: ended: hook drain: lost\n", encoding="utf-8")
    with (tmp_path / "last_error").open("rb") as file:
        recorder._goes_on(file.fileno(), tmp_path)

    def ended(*_: object) -> bytes:
        raise BrokenPipeError

    monkeypatch.setattr("livemmctl.whatif.recorder.os.pread", ended)
    with pytest.raises(CtlError, match="record: ended: hook drain: lost"):
        recorder._goes_on(0, tmp_path)


def test_a_recording_says_what_it_lost(tmp_path: Path) -> None:
    path = write(tmp_path / "a.rec", ring_page(1, ring_event("list_state", 0)))
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("meta.json"))["overruns"] == {}


def test_a_sweep_finds_the_frontier_and_writes_a_profile(tmp_path: Path) -> None:
    found = bursts(16384, 10).events()
    made = sweep.points(found, PCP, sweep.grid(["high_max_pct", "decay_ms=1000,3000"]))
    assert len(made) == 14
    best = sweep.frontier(made)
    assert [p.kept for p in best] == sorted(p.kept for p in best)
    assert [p.crossed for p in best] == sorted((p.crossed for p in best), reverse=True)
    assert all(any(b.kept <= p.kept and b.crossed <= p.crossed for b in best) for p in made)
    assert sweep.choose(best).crossed <= 1.1 * min(p.crossed for p in made)
    plot, profile = tmp_path / "f.svg", tmp_path / "p.toml"
    sweep.run(App(), found, PCP, ["high_max_pct"], plot, profile)
    assert "<svg" in plot.read_text()
    settings = parse_profile(profile.read_text(), "p", "p.toml").policies["pcp"]
    assert settings["enabled"] == "1" and "high_max_pct" in settings


def test_a_fleet_is_ranked_and_a_broken_file_is_named(tmp_path: Path) -> None:
    paths = []
    for pages in (0, 1, 2):
        drains = [ring_event("zone_state", 1, slot=1, cpus=1, low=HIGH, high=HIGH, managed=500_000,
                             free=400_000, high_mark=6000, mark=6000, gap=1000),
                  ring_event("list_state", 1, slot=1, count=HIGH, high=HIGH, batch=BATCH)]
        drains += [ring_event("list_drain", MS, slot=1, pages=BATCH, count=HIGH, high=HIGH,
                              batch=BATCH, net=-BATCH * i, free=400_000)
                   for i in range(10 * pages)]
        paths.append(write(tmp_path / f"{pages}.rec", ring_page(1, *drains)))
    bad = tmp_path / "bad.rec"
    bad.write_text("no")
    html = tmp_path / "fleet.html"
    fleet.run(App(), [*paths, bad], fleet.PLANS, html)
    hosts = [fleet.host_of(path, [PCP]) for path in paths]
    assert hosts[0].before <= hosts[1].before <= hosts[2].before
    text = html.read_text()
    assert "What pcp, zonelock or both would do on 3 hosts" in text
    assert "bad.rec: not a recording" in text and "<svg" in text


def test_the_best_policy_of_a_host_saves_as_much_as_any_and_keeps_least() -> None:
    def host(*sides: tuple[str, float, float]) -> fleet.Host:
        return fleet.Host("h", "h.rec", "6.1", 2, 60, 1000, 0, 0, "", False, tuple(
            fleet.Side(policy, 1000 - saved, 0, saved, saved / 1000, cost)
            for policy, saved, cost in sides))

    hosts = [host(("pcp", 940, 40), ("zonelock", -50, 10), ("pcp and zonelock", 950, 45)),
             host(("pcp", 100, 40), ("zonelock", 930, 10), ("pcp and zonelock", 950, 45))]
    assert [item.best.policy for item in hosts] == ["pcp", "zonelock"]
    assert [(total.policy, total.saved, total.best, total.worse) for total in fleet.totals(hosts)
            ] == [("pcp and zonelock", 1900, 0, 0), ("pcp", 1040, 1, 0), ("zonelock", 880, 1, 1)]


def documented_query() -> str:
    """The query over the files of many hosts, as docs/whatif.md has it."""
    text = (ROOT / "docs/whatif.md").read_text(encoding="utf-8")
    return text[text.index("    SELECT host,"):].split(";")[0]


@pytest.mark.usefixtures("venv")
def test_parquet_holds_what_was_recorded(tmp_path: Path) -> None:
    import duckdb

    found = bursts(4000, 3).events()
    path = tmp_path / "a.parquet"
    rows.write_parquet(found, path)
    again = rows.read(path)
    assert (again.rows == found.rows).all() and again.meta == found.meta
    duckdb.sql(f"CREATE OR REPLACE VIEW events AS FROM '{path}'")
    host, _, refilled, drained, seconds = duckdb.sql(documented_query()).fetchall()[0]
    recorded = predict.predict(found, PCP).recorded
    assert (host, refilled, drained) == ("h", recorded.refill_pages, recorded.drain_pages)
    assert seconds == pytest.approx((found.rows[-1, 0] - found.rows[0, 0]) / 1e9)


def recorded(name: str) -> rows.Events:
    """What a guest has recorded, from a file of numbers."""
    lines = (Path(__file__).parent / "recordings" / name).read_text(encoding="ascii").splitlines()
    made = [[int(word) for word in line.split(",")] for line in lines if line[0] != "#"]
    return rows.Events(meta(), np.array([[*line, *[0] * (library.COLUMNS - len(line))]
                                         for line in made], dtype=np.int64))


@pytest.mark.parametrize("name", ["steady", "small", "pauses"])
def test_the_replay_of_a_kernel_that_tunes_its_lists_is_the_recording(name: str) -> None:
    found = predict.predict(recorded(f"6.12-{name}.csv"), {"pcp": {"enabled": "0"}})
    assert found.recorded.crossed > 2000
    assert found.predicted.crossed == pytest.approx(found.recorded.crossed, rel=0.05, abs=BATCH)
    assert found.predicted.kept == pytest.approx(found.recorded.kept, rel=0.05)


def test_a_list_is_as_recorded_until_a_depot_has_its_pages() -> None:
    """Of a recording whose list is never full, zonelock changes nothing."""
    whole = recorded("6.12-rounds.csv")
    drains = np.flatnonzero(whole.rows[:, 2] == list(events.OURS).index("list_drain"))
    found = predict.predict(rows.Events(whole.meta, whole.rows[:drains[0]]), ZONELOCK)
    assert found.detail["stored_pages"] == 0
    assert found.recorded.crossed > 2000
    assert found.predicted.crossed == found.recorded.crossed
    assert found.predicted.kept == found.recorded.kept


@pytest.mark.parametrize("pages", [4000, 16384])
def test_refills_that_are_not_recorded_are_worked_out(pages: int) -> None:
    host = bursts(pages, 8)
    whole = host.events()
    # As on 6.7 and later, where refills cannot be hooked.
    half = rows.Events(whole.meta, np.ascontiguousarray(whole.rows[whole.rows[:, 2] != 0]))
    found = predict.predict(half, {"pcp": {"enabled": "0"}})
    assert "the prediction is rough" in found.text() and found.document()["rough"]
    assert not predict.predict(whole, PCP).document()["rough"]
    assert found.recorded.crossed == pytest.approx(host.crossed, rel=0.03)
    assert found.predicted.crossed == pytest.approx(host.crossed, rel=0.1)


def test_what_the_kernel_s_decay_gives_back_goes_under_few_holds_with_zonelock() -> None:
    found = predict.predict(recorded("6.12-pauses.csv"), ZONELOCK).predicted
    # With a batch under each hold, as the kernel gives back, the holds are 114.
    assert found.drain_pages > 7000
    assert found.holds < 45


def test_a_real_run_of_a_kernel_that_tunes_its_lists_is_predicted() -> None:
    """Against what the same load did with pcp on, which moves `high` alone: bench/whatif.md."""
    found = predict.predict(recorded("6.12-rounds.csv"), {"pcp": {}}).predicted
    assert found.crossed == pytest.approx(52_841, rel=0.1)
    assert found.kept == pytest.approx(7457, rel=0.2)


@pytest.mark.parametrize("low", [1901, 12_807])
def test_a_list_is_not_full_because_a_block_of_a_higher_order_lowers_its_bound(low: int) -> None:
    """From 6.7 on: 14823 is lowered by 2016, or to the least, before the drain is recorded."""
    host = Stock(count=706)
    host.row("zone_state", cpus=1, low=low, high=62_626, managed=500_000, high_mark=6000, mark=6000,
             gap=1000)
    host.row("list_state", high=14_823)
    host.count, host.net, host.now = 12_998, -12_292, 24 * MS
    host.row("list_drain", high=12_807, pages=2016, pindex=5)
    host.count, host.now = 10_982, 50 * MS
    host.row("list_state", high=12_807)
    found = rows.Events(meta(), np.array(host.made, dtype=np.int64))
    assert predict.predict(found, {"pcp": {"enabled": "0"}}).predicted.drain_pages == 2016
