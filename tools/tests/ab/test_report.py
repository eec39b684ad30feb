# SPDX-License-Identifier: GPL-2.0-only
"""From journals to a table, to JSON and to a page."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from ab.doubles import World, be_quick, experiment, toml
from ab.doubles import records as records_of
from ab.fleet import journal_lines, machines
from conftest import Ctl, Done
from fake_tree import FakeHost
from livemmctl.ab.effects import between_blocks
from livemmctl.ab.experiment import load_experiment
from livemmctl.ab.from_journals import seen_in
from livemmctl.ab.journal import Lines, read_journal
from livemmctl.ab.points import BlockSeen, Point
from livemmctl.ab.words import interval, level, p_value, percent
from livemmctl.errors import CtlError, Exit

HOST_FILE = toml("""\
mode = "host"
duration = "20m"
baseline = "10m"
strata = ["machine_type"]""", metric="detect_pct = 2", metrics="""\
[[metrics]]
name = "stalls_per_fault"
kind = "ratio"
source = "vmstat:allocstall_normal"
per = "vmstat:pgfault"
[[metrics]]
name = "p90"
kind = "quantile"
quantile = 0.9
grows = true
source = "vmstat:pgfault"
""")

SWITCHBACK_FILE = toml(
    'mode = "switchback"\nduration = "16m"\ntick = "5s"',
    '[switchback]\nblock = "1m"\nwashout = "10s"\nseed = 7', metric='better = "more"')


@pytest.fixture
def host_file(tmp_path: Path) -> Path:
    file = tmp_path / "trial.toml"
    file.write_text(HOST_FILE, encoding="utf-8")
    return file


@pytest.fixture
def fleet_journal(tmp_path: Path) -> Path:
    made = experiment("host", duration="20m", baseline="10m")
    journal = tmp_path / "fleet.jsonl"
    lines = journal_lines(made, machines(made, 300, -0.03, 8), 120)
    journal.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return journal


Report = Callable[..., Done]


@pytest.fixture
def report(ctl: Ctl, host_file: Path, fleet_journal: Path) -> Report:
    """`ab report` on the fleet, with more words."""
    return lambda *words: ctl("ab", "report", str(host_file), str(fleet_journal), *words)


@pytest.fixture
def switchback(host: FakeHost, tmp_path: Path, ctl: Ctl,
               monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An experiment's file and the journal of its run."""
    be_quick(monkeypatch)
    file, journal = tmp_path / "sb.toml", tmp_path / "sb.jsonl"
    file.write_text(SWITCHBACK_FILE, encoding="utf-8")
    World(host).run(load_experiment(file, host), journal)
    return file, journal


def test_a_fleets_journals(report: Report) -> None:
    done = report()
    assert done.status == 0, done.err
    assert "faults better" in done.out
    assert re.search(r"^faults +on .* better$", done.out, re.M)
    assert "another version of the experiment's file" in done.out


def test_as_data(report: Report) -> None:
    data = report("--json").data()
    assert data["conclusive"] is True
    assert sum(data["units"].values()) == 300
    by_name = {item["metric"]: item for item in data["comparisons"]}
    assert set(by_name) == {"faults", "stalls_per_fault", "p90"}
    found = by_name["faults"]["estimate"]
    assert found["method"] == "regression with strata + CUPED"
    assert found["relative_low"] <= -0.03 <= found["relative_high"]
    assert by_name["p90"]["estimate"]["method"].startswith("bootstrap")


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "srcset", "data") and value:
                if not value.startswith("#"):
                    self.outside.append(value)
            elif name == "id" and value:
                self.ids.append(value)


def page_of(path: Path) -> Page:
    page = Page()
    text = path.read_text(encoding="utf-8")
    page.feed(text)
    assert "@import" not in text and "url(http" not in text
    return page


def test_as_a_page_that_needs_nothing_else(report: Report, tmp_path: Path) -> None:
    html = tmp_path / "report.html"
    assert report("--html", str(html)).status == 0
    page = page_of(html)
    assert page.outside == []
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    # The effects, and how the hosts lie for each metric; each effect over time and by kind.
    text = html.read_text(encoding="utf-8")
    assert text.count("at each look") + text.count("by kind of machine") >= 5
    assert page.tags.count("svg") == 4 + 5
    assert len(page.ids) == len(set(page.ids))


def test_the_same_report_is_the_same_page(report: Report, tmp_path: Path) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        report("--html", str(tmp_path / name))
        pages.append((tmp_path / name).read_text(encoding="utf-8"))
    assert pages[0] == pages[1]


def test_a_switchbacks_page_shows_its_blocks(
    ctl: Ctl, switchback: tuple[Path, Path], tmp_path: Path,
) -> None:
    file, journal = switchback
    html = tmp_path / "report.html"
    done = ctl("ab", "report", str(file), str(journal), "--html", str(html), "--json")
    (item,) = done.data()["comparisons"]
    assert item["verdict"] == "better"
    assert item["estimate"]["relative_low"] <= 0.1 <= item["estimate"]["relative_high"]
    assert item["estimate"]["n_control"] == item["estimate"]["n_treatment"] == 8
    assert "faults by block" in html.read_text(encoding="utf-8")
    assert page_of(html).tags.count("svg") == 3 + 1


#: A run of tests/scenarios/livemmctl_ab.sh, on stock 6.1 in a busy guest: its output has both.
RECORDED = Path(__file__).with_name("recorded") / "pcp-switchback.toml"


def test_a_guests_own_run(ctl: Ctl, tmp_path: Path) -> None:
    html = tmp_path / "report.html"
    done = ctl("ab", "report", str(RECORDED), str(RECORDED.with_suffix(".jsonl")), "--html",
               str(html), "--json").data()
    assert done["conclusive"] is True
    found = {item["metric"]: item for item in done["comparisons"]}
    crossings = found["crossings_per_fault"]
    assert crossings["verdict"] == "better"
    assert crossings["estimate"]["relative_high"] < -0.98
    # The command was not done in time in one block: that is said, and is not alone a fault.
    assert crossings["estimate"]["n_control"] == 7
    text = html.read_text(encoding="utf-8")
    assert "crossings_per_fault, on: 1 of 16 blocks have no data" in text
    assert "the value is the same in every block" in text
    page = page_of(html)
    assert page.outside == []
    assert len(page.ids) == len(set(page.ids))
    # Effects; each metric by block, and its blocks; three metrics over time.
    pictures = re.findall(r"<svg.*?</svg>", text, re.S)
    assert len(pictures) == page.tags.count("svg") == 1 + 4 + 4 + 3
    for picture in pictures:
        ET.fromstring(picture)
    # One host is no first one, and nothing is taken out of its blocks.
    assert "<h2>Block by block</h2>" in text
    assert "kinds of machines" not in text


@pytest.mark.parametrize("lost,refused", [(4, False), (24, True)])
def test_a_metric_may_not_lack_blocks_of_one_arm_alone(lost: int, refused: bool) -> None:
    # Where a command is too slow under one arm only, the blocks that it was read in are others.
    made = experiment("switchback")
    arms = ["on" if (index // 2 + index) % 2 else "off" for index in range(80)]
    blocks = [BlockSeen("h", index, arm, True) for index, arm in enumerate(arms)]
    without = [index for index, arm in enumerate(arms) if arm == "on"][:lost]
    points = [Point("h", 90.0 + (index * 7 + k) % 11, 10.0, block=index)
              for index in range(80) for k in range(3) if index not in without]
    effect = between_blocks(made.metrics[0], points, blocks, "off", "on")
    assert f"{lost} of 80 blocks have no data" in effect.notes
    words = [text for text in effect.refused if "not alike in the arms" in text]
    assert bool(words) is refused
    if refused:
        assert words[0].startswith("blocks without data are not alike in the arms: 0 of 40 of"
                                   " control, 24 of 40 of treatment")


def test_nothing_in_a_page_is_taken_for_markup(
    report: Report, fleet_journal: Path, tmp_path: Path,
) -> None:
    text = fleet_journal.read_text(encoding="utf-8").replace('"small"', '"<script>x</script>"')
    fleet_journal.write_text(text, encoding="utf-8")
    other = json.loads(text.splitlines()[0]) | {"experiment": "<b>other</b>"}
    with fleet_journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps(other) + "\n")
    html = tmp_path / "report.html"
    assert report("--html", str(html)).status == 0
    page = page_of(html)
    assert not {"script", "b"} & set(page.tags)


def seen(records: list[dict[str, Any]], mode: str = "switchback") -> Any:
    over = {"duration": "20m", "baseline": "10m"} if mode == "host" else {}
    return seen_in(Lines(records), experiment(mode, **over), 0.0)


def test_what_is_in_the_washout_is_not_used(switchback: tuple[Path, Path]) -> None:
    records = records_of(switchback[1])
    for record in records:
        if record["type"] == "sample" and not record["washed"]:
            record["values"]["vmstat:pgfault"] += 10**9
    used = seen(records).points["faults"]
    assert used and max(point.num / point.den for point in used) < 1200


def test_a_block_that_was_cut_short_is_not_used(switchback: tuple[Path, Path]) -> None:
    records = records_of(switchback[1])
    for record in records:
        if record["type"] == "block" and record["block"] == 3:
            record["complete"] = False
    found = seen(records)
    assert {point.block for point in found.points["faults"]} == set(range(16)) - {3}
    assert [block.index for block in found.blocks if not block.complete] == [3]


def test_a_block_without_an_end_is_not_used(switchback: tuple[Path, Path]) -> None:
    records = [r for r in records_of(switchback[1]) if (r["type"], r.get("block")) != ("block", 5)]
    assert 5 not in {point.block for point in seen(records).points["faults"]}


@pytest.mark.parametrize("block", [[1], {}, True, "1", 1.5])
def test_a_block_that_is_no_number_is_not_used(
    switchback: tuple[Path, Path], block: object
) -> None:
    records = records_of(switchback[1])
    for record in records:
        if record.get("block") == 5:
            record["block"] = block
    assert {point.block for point in seen(records).points["faults"]} == set(range(16)) - {5}


def test_a_counter_that_fell_began_afresh(fleet_journal: Path) -> None:
    records = records_of(fleet_journal)
    one = records[0]["host"]
    mine = [r for r in records if r["host"] == one and r["type"] == "sample"]
    mine[9]["values"]["vmstat:pgfault"] = 0
    before = len([p for p in seen(records_of(fleet_journal), "host").points["faults"]
                  if p.host == one])
    points = [p for p in seen(records, "host").points["faults"] if p.host == one]
    assert len(points) == before - 1
    assert all(point.num >= 0 for point in points)


def test_growth_does_not_reach_over_a_restart(fleet_journal: Path) -> None:
    records = records_of(fleet_journal)
    one = records[0]["host"]
    at = [n for n, r in enumerate(records) if r["host"] == one and r["type"] == "sample"][9]
    resumed = records[0] | {"type": "resume", "t": records[at]["t"] - 0.5}
    count = len([p for p in seen(records, "host").points["faults"] if p.host == one])
    records.insert(at, resumed)
    assert len([p for p in seen(records, "host").points["faults"] if p.host == one]) == count - 1


def test_hosts_that_could_not_be_switched_count(report: Report, fleet_journal: Path) -> None:
    records = records_of(fleet_journal)
    failed = 0
    for record in records:
        if record["type"] == "apply" and record["arm"] == "on" and failed < 7:
            record |= {"ok": False, "reason": "hook drain: not found"}
            failed += 1
    fleet_journal.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    data = report("--json").data()
    assert sum(data["units"].values()) == 300
    assert any(note.startswith("7 of ") and "intention to treat" in note
               for note in data["notes"])


def test_guardrails_are_counted(report: Report, fleet_journal: Path) -> None:
    records = records_of(fleet_journal)
    record = next(r for r in records if r["type"] == "apply" and r["arm"] == "on")
    records.append(record | {"type": "guard", "guard": "oom_kills", "t": record["t"] + 1})
    fleet_journal.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    out = report().out
    assert "guardrail oom_kills passed 1 times in on" in out


def test_torn_lines_are_counted(report: Report, fleet_journal: Path) -> None:
    with fleet_journal.open("ab") as file:
        file.write(b'{"v":1,"t":\n\xff\xfe\n')
    assert "2 lines could not be read" in report().out


def test_a_host_that_moved_counts_in_its_first_arm(fleet_journal: Path) -> None:
    records = records_of(fleet_journal)
    first = records[0]
    other = {"off": "on", "on": "off"}[first["arm"]]
    last = max(r["t"] for r in records if r["host"] == first["host"])
    records.append(first | {"type": "resume", "arm": other, "t": last + 1})
    info = seen(records, "host").hosts[first["host"]]
    assert (info.arm, info.arm_now, info.moved) == (first["arm"], other, True)


def test_a_run_that_a_guardrail_ended_is_not_concluded_from(
    ctl: Ctl, switchback: tuple[Path, Path],
) -> None:
    file, journal = switchback
    text = journal.read_text(encoding="utf-8").replace("its time is over", "guardrail taint")
    journal.write_text(text, encoding="utf-8")
    data = ctl("ab", "report", str(file), str(journal), "--json").data()
    assert [check["words"] for check in data["checks"] if not check["ok"]] == [
        "the run was cut short: guardrail taint"]
    assert data["comparisons"][0]["verdict"] == "not concluded"


def test_a_host_that_is_gone_for_good_is_not_waited_for(fleet_journal: Path) -> None:
    records = [r for r in records_of(fleet_journal) if r["type"] != "end"]
    made = experiment("host", duration="20m", baseline="10m")
    last = max(r["t"] for r in records)
    assert not seen_in(Lines(records), made, last - 1).over
    assert seen_in(Lines(records), made, last + 1).over


def test_half_a_run_is_not_concluded_from(ctl: Ctl, switchback: tuple[Path, Path]) -> None:
    file, journal = switchback
    lines = journal.read_text(encoding="utf-8").splitlines()
    journal.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    assert ctl("ab", "report", str(file), str(journal), "--json").data()["conclusive"] is True
    file.write_text('looks = "end"\n' + file.read_text(encoding="utf-8"), encoding="utf-8")
    data = ctl("ab", "report", str(file), str(journal), "--json").data()
    assert data["conclusive"] is False
    assert "planned time" in [check["name"] for check in data["checks"] if not check["ok"]]


def test_a_switchback_of_another_file_is_not_concluded_from(
    ctl: Ctl, switchback: tuple[Path, Path],
) -> None:
    file, journal = switchback
    file.write_text(SWITCHBACK_FILE + "# changed\n", encoding="utf-8")
    data = ctl("ab", "report", str(file), str(journal), "--json").data()
    assert any("another version" in check["words"] for check in data["checks"])


def test_records_of_others_only(fleet_journal: Path) -> None:
    with pytest.raises(CtlError, match="no record of experiment 'mine'; there is trial"):
        seen_in(read_journal(fleet_journal), experiment("host", name="mine"), 0.0)


@pytest.mark.parametrize("words", [
    (), ("--prometheus", "http://127.0.0.1:9", "x.jsonl"), ("absent.jsonl",),
    ("--prometheus", "nonsense"), ("--step", "nan", "x.jsonl"),
    ("--prometheus", "http://127.0.0.1:9", "--host-label", 'a"}'),
])
def test_command_lines_that_are_wrong(ctl: Ctl, host_file: Path, words: tuple[str, ...]) -> None:
    ctl("ab", "report", str(host_file), *words).failed(Exit.USAGE)


def test_a_page_that_cannot_be_written(report: Report, tmp_path: Path) -> None:
    done = report("--html", str(tmp_path / "absent/report.html"))
    done.failed(Exit.FAILED, "cannot write")


def test_power(ctl: Ctl) -> None:
    data = ctl("ab", "power", "--mean", "100", "--deviation", "10", "--effect", "1",
               "--json").data()
    assert data["units_per_arm"] == pytest.approx(1571, abs=2)
    for bad in ("nan", "0", "-1", "inf"):
        ctl("ab", "power", "--mean", "100", "--deviation", bad, "--effect", "1").failed(Exit.USAGE)


def test_numbers_for_people() -> None:
    assert [level(v) for v in (12345678.0, 12345.6, 1.23456, 0.0, 1e-7, float("nan"))] == [
        "1.235e+07", "12,346", "1.235", "0", "1.000e-07", "-"]
    assert [percent(v) for v in (0.5, -0.0212, 2.0, 1e-5, 0.0)] == [
        "+50.0 %", "-2.12 %", "+200 %", "+0.001 %", "+0.00 %"]
    assert interval(-0.01, 0.02) == "-1.00 % .. +2.00 %"
    assert interval(float("nan"), 1) == "-"
    assert [p_value(p) for p in (1e-9, 0.04, float("nan"))] == ["< 0.0001", "0.0400", "-"]


def test_a_journal_that_is_given_twice_is_refused(ctl: Ctl, tmp_path: Path) -> None:
    """The same hosts twice look like twice the evidence."""
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(RECORDED.with_suffix(".jsonl").read_bytes())
    done = ctl("ab", "report", str(RECORDED), str(RECORDED.with_suffix(".jsonl")), str(copy))
    done.failed(Exit.USAGE, "given twice")
