# SPDX-License-Identifier: GPL-2.0-only
"""Policies that are replayed each by itself: numa, cma, pageblock."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from livemmctl.app import App
from livemmctl.errors import CtlError, Exit
from livemmctl.whatif import events, hints, lend, library, mix, recorder, rows
from livemmctl.whatif.cli import whatif
from test_whatif import HIGH, MS, bursts, meta

PAGES = 4096


def scanned(scans: int, period_ms: int = 1000, remote: "dict[int, float] | None" = None,
            shared: bool = False, other_ms: int = 0, age_ms: int = 0) -> rows.Events:
    """A process of two threads whose pages in use all fault soon after each scan of the kernel's.

    remote    share of remote faults by scan; 0 where not named
    other_ms  recorded scan period of the thread that does not scan; 0: not recorded
    age_ms    how late the last faults of a scan are told of
    """
    made: list[list[int]] = []

    def row(time: int, event: str, *values: int) -> None:
        line = [time, 0, list(events.OURS).index(event), *values]
        made.append(line + [0] * (library.COLUMNS - len(line)))

    row(0, "cpu_state")
    now, total, local = 1000 * MS, 0, 0
    for scan in range(scans):
        row(now, "numa_scan_begin", 7, 100, 100, scan, period_ms, PAGES, now // MS, 2)
        for part in range(PAGES // 64):
            far = round(64 * (remote or {}).get(scan, 0))
            at, age = now // MS + (1 + part) * 5, age_ms if part == PAGES // 64 - 1 else 0
            told = (other_ms, at, at - at % max(other_ms, 1)) if part % 2 else (0, 0, 0)
            row((at + age) * MS, "numa_hint_faults", 7, 100 + part % 2, 64,
                *((0, 64 - far, 0, far) if shared else (64 - far, 0, far, 0)), *told, age)
            local += 64 - far
        total += PAGES
        now += round(period_ms * 1.04) * MS
        period_ms = min(60_000, round(period_ms * 1.3))
    row(now, "cpu_state", 0, 0, 0, total, local, total)
    found = rows.Events(meta(), np.array(sorted(made), dtype=np.int64))
    found.meta.numa_scan = {"scan_size_mb": 256, "scan_period_min_ms": 1000}
    return found


def test_without_numa_the_hint_faults_are_those_recorded() -> None:
    found = scanned(9)
    outcome = hints.predict(found, {"numa": {"enabled": "0"}})
    assert outcome.recorded.hint_faults == outcome.predicted.hint_faults == 9 * PAGES
    assert outcome.recorded.scans == outcome.predicted.scans == 9
    assert outcome.spaces == 1


def test_of_pages_that_stay_numa_samples_and_saves_the_rest() -> None:
    found = scanned(12)
    vma = hints.predict(found, {"numa": {}}).predicted
    period = hints.predict(found, {"numa": {"mode": "period"}}).predicted
    assert vma.hint_faults < 12 * PAGES / 3
    assert vma.scans <= 3 and vma.sampling_scans > 12
    assert vma.resampled == 0
    # Mode period makes no sampling scan: whatever is scanned is scanned as a whole.
    assert period.sampling_scans == 0
    assert period.hint_faults == pytest.approx(period.scans * PAGES, rel=0.02)
    assert vma.hint_faults < period.hint_faults < 12 * PAGES
    # With smaller samples fewer pages fault.
    small = hints.predict(found, {"numa": {"sampling_stride": "64"}}).predicted
    assert small.hint_faults < vma.hint_faults


def test_each_thread_asks_for_scans_by_its_own_period() -> None:
    plan = {"numa": {"mode": "period"}}
    found = {period: hints.predict(scanned(12, other_ms=period), plan).predicted.scans
             for period in (0, 200, 2000, 30_000)}
    # Of a thread whose CPU time is not recorded, and that never scans, nothing is known.
    assert found[0] == found[30_000]
    assert found[200] > found[30_000]


def test_faults_that_are_told_of_late_belong_to_the_scan_before() -> None:
    off = {"numa": {"enabled": "0"}}
    # The last 64 faults of each scan are told of after the next scan has begun.
    late = scanned(9, remote={3: 1.0}, age_ms=2500)
    assert hints.predict(late, off).predicted.hint_faults == 9 * PAGES
    plan = {"numa": {"mode": "period"}}
    soon = hints.predict(scanned(9, remote={3: 1.0}), plan).predicted
    assert hints.predict(late, plan).predicted.remote_pct == pytest.approx(soon.remote_pct, abs=0.1)


def test_memory_that_becomes_remote_raises_an_alarm() -> None:
    calm = hints.predict(scanned(12), {"numa": {}}).predicted
    moved = hints.predict(scanned(12, remote={8: 0.9}), {"numa": {}}).predicted
    assert calm.resampled == 0 and moved.resampled == 1
    # Full passes follow the alarm.
    assert moved.scans >= calm.scans + 2
    assert moved.remote_pct > calm.remote_pct
    # An alarm that does not help is not raised again soon.
    stuck = hints.predict(scanned(12, remote=dict.fromkeys(range(8, 12), 0.9)), {"numa": {}})
    assert stuck.predicted.resampled == 1 and stuck.predicted.held_back > 0


def test_shared_pages_are_not_scanned_more_often_than_by_the_kernel() -> None:
    remote = dict.fromkeys(range(9), 0.5)
    found = hints.predict(scanned(9, remote=remote, shared=True), {"numa": {"mode": "period"}})
    assert found.predicted.scans < found.recorded.scans
    assert found.predicted.remote_pct == pytest.approx(50, abs=2)


def test_what_numa_cannot_be_asked_is_refused() -> None:
    found = scanned(3)
    for settings in ({"mode": "promote"}, {"cgroups": "/a"}, {"charge_ptes": "1"}):
        with pytest.raises(CtlError, match="not predicted, only") as error:
            hints.predict(found, {"numa": settings})
        assert error.value.status == Exit.UNSUPPORTED
    with pytest.raises(CtlError, match="no scan of NUMA balancing") as error:
        hints.predict(bursts(300, 1).events(), {"numa": {}})
    assert error.value.status == Exit.UNSUPPORTED


CMA, MANAGED = 100_000, 400_000


def refilled(pages: int, drained: int = 0) -> rows.Events:
    """A zone, a quarter of which is CMA memory, all free; its list is refilled, and drained."""
    made: list[list[int]] = []
    free, now = MANAGED, 0

    def row(event: str, *values: int) -> None:
        line = [now, 0, list(events.OURS).index(event), *values]
        made.append(line + [0] * (library.COLUMNS - len(line)))

    def look() -> None:
        row("zone_state", 1, 1, 0, HIGH, HIGH, MANAGED, free, 10_000, 10_000, 1000, CMA, CMA)

    look()
    for left in range(pages, 0, -64):
        now += MS
        free -= 64
        row("list_refill", 1, 0, 1, 64, 0, HIGH, 64, pages - left, pages - left, free)
    look()
    for _ in range(0, drained, 64):
        now += MS
        free += 64
        row("list_drain", 1, 0, 1, 64, 64, HIGH, 64, 0, 0, free)
    look()
    return rows.Events(meta(), np.array(made, dtype=np.int64))


def lent(found: rows.Events, **settings: str) -> lend.Outcome:
    return lend.predict(found, {"cma": {"move_pages_per_s": "0", **settings}})


def test_cma_lends_by_its_own_arithmetic() -> None:
    found = refilled(64_000)
    first, ratio = lent(found), lent(found, mode="ratio")
    assert (first.lent_pages, first.regular_pages) == (64_000, 0)
    # 100,000 free pages of CMA memory beside 290,000 regular ones above the watermark.
    assert ratio.lent_pages == pytest.approx(64_000 * 100 / 390, rel=0.05)
    assert lent(found, mode="regular_first").lent_pages == 0
    # The kernel's own rule: not before CMA memory is over half of what is free.
    assert lent(found, mode="keep").lent_pages == 0
    assert lent(refilled(320_000), enabled="0").lent_pages == pytest.approx(60_000, abs=128)
    # No more than there is, and no more than cap_pct allows.
    assert lent(refilled(128_000)).lent_pages == CMA
    assert lent(refilled(128_000), cap_pct="50").lent_pages == pytest.approx(CMA / 2, abs=64)


def test_what_cma_lent_comes_back() -> None:
    found = lent(refilled(64_000, drained=64_000))
    assert found.predicted.cma_used_most == 64_000
    # Three looks: all is free, 64,000 pages are lent, all is free.
    assert found.predicted.free_cma == pytest.approx(CMA - 64_000 / 3, abs=64)
    assert found.predicted.free_regular == pytest.approx(found.recorded.free_regular + 64_000 / 3,
                                                         abs=64)


def test_what_cma_cannot_be_asked_is_refused() -> None:
    for found, settings, why in ((refilled(64), {}, "what the worker moves"),
                                 (bursts(300, 1).events(), {"move_pages_per_s": "0"},
                                  "no refills of movable pages")):
        with pytest.raises(CtlError, match=why) as error:
            lend.predict(found, {"cma": settings})
        assert error.value.status == Exit.UNSUPPORTED


def mixes(free: int) -> rows.Events:
    """Three requests mix: a movable one, and two unmovable ones in the same movable block."""
    made = []
    for time, event, *values in (
            (1, "zone_state", 1, 1, 0, HIGH, HIGH, MANAGED, free, 10_000, 10_000, 1000, 0, 0),
            (2, "mm_page_alloc_extfrag", 5000, 0, 3, 1, 0, 0),
            (3, "mm_page_alloc_extfrag", 8192, 0, 4, 0, 1, 0),
            (4, "mm_page_alloc_extfrag", 8200, 0, 2, 2, 1, 0),
            # A whole block is no mix, nor is what lies in no zone.
            (5, "mm_page_alloc_extfrag", 9216, 0, 9, 0, 1, 1),
            (6, "mm_page_alloc_extfrag", 7, 0, 1, 0, 1, 0)):
        line = [time, 0, events.NAMES.index(event), *values]
        made.append(line + [0] * (library.COLUMNS - len(line)))
    found = rows.Events(meta(), np.array(made, dtype=np.int64))
    found.meta.zones = [[1, 4096, 100_000]]
    return found


def test_pageblock_lets_through_what_its_filter_lets_through() -> None:
    plan = {"pageblock": {"move_pages_per_s": "0", "buffers": "0"}}
    strict = {"pageblock": {"mode": "strict", **plan["pageblock"]}}
    for free, wanted, mixed, of_strict in (
            # Four times the high watermark is free: nothing is delayed; mode strict delays all.
            (50_000, 3, 1, 0),
            # Above the high watermark a movable request may mix at once, others may not.
            (20_000, 1, 0, 0), (9_000, 0, 0, 0)):
        found = mix.predict(mixes(free), plan)
        assert (found.mixes, found.blocks) == (3, 1)
        assert (found.mixes_at_once, found.blocks_at_once) == (wanted, mixed)
        assert mix.predict(mixes(free), strict).mixes_at_once == of_strict
    assert "0 to 1" in found.text()


def test_what_pageblock_cannot_be_asked_is_refused() -> None:
    found = mixes(50_000)
    for settings in ({}, {"move_pages_per_s": "0"}, {"move_pages_per_s": "5", "buffers": "0"}):
        with pytest.raises(CtlError, match="not predicted") as error:
            mix.predict(found, {"pageblock": settings})
        assert error.value.status == Exit.UNSUPPORTED


def test_zones_are_where_the_kernel_says() -> None:
    zone = ("Node {}, zone {:>8}\n  pages free     5\n        spanned  {}\n"
            "  start_pfn:           {}\n")
    text = "".join(zone.format(*row) for row in (
        (0, "DMA", 4095, 1), (0, "DMA32", 1000, 4096), (0, "Normal", 0, 0),
        (1, "DMA", 0, 0), (1, "DMA32", 0, 0), (1, "Normal", 50, 5096)))
    assert recorder.zones_of(text) == [[0, 1, 4096], [1, 4096, 5096], [5, 5096, 5146]]


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


def test_a_refused_policy_shows_what_was_recorded(tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "read", lambda path: mixes(50_000))
    found = CliRunner().invoke(whatif, [str(tmp_path / "a.rec"), "--policy", "pageblock"],
                               obj=App())
    assert isinstance(found.exception, CtlError)
    assert found.exception.status == Exit.UNSUPPORTED
    assert "parts of blocks taken for another type" in found.output


def test_a_recording_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def count(path: Path) -> rows.Events:
        read.append(path)
        return scanned(3)

    monkeypatch.setattr(rows, "read", count)
    path = tmp_path / "a.rec"
    path.write_text("")
    asked = [word for policy in ("numa", "pageblock", "cma") for word in ("--policy", policy)]
    status = CliRunner().invoke(whatif, [str(path), *asked], obj=App()).exit_code
    assert status != 0 and read == [path]
