# SPDX-License-Identifier: GPL-2.0-only
"""Inputs, the fit to two published points, and the committed predictions."""

import hashlib
import json
from pathlib import Path

import pytest
from conftest import Ctl
from knob_tables import ROOT
from livemmctl.errors import Exit
from livemmctl.model.cli import committed
from livemmctl.model.inputs import inputs
from livemmctl.model.predict import (
    CPUS,
    FITTED_CORES,
    KERNELS,
    OPERATIONS,
    POLICIES,
    PUBLISHED_CORES,
    RANDOM,
    REPEAT,
    Key,
    bulk_counts,
    cases,
    fitted,
    many,
    published,
)
from livemmctl.model.table import figure, read_predictions

#: A file of predictions that was committed is never changed.
DIGESTS = {
    "1": "128a463a5aecb722510d3237f3b96b9a856adc07f0f234c11813e9814d1965e0",
    "2": "0b077a8d963d9bf141c15491485a3e1ab999c3f8a0d24e162d7d9a9c8e06c3ee",
    "3": "deb4798d87b97b2f886f49de96f85cc363c8587cd26d63abb69f6d9cc2e382ff",
}


def newest() -> Path:
    return list(committed().values())[-1]


def test_the_fit_goes_through_both_points_in_every_case() -> None:
    given = inputs()
    for operation in OPERATIONS:
        benchmark, _, name = operation.partition(" ")
        counts = bulk_counts(given, operation)
        for case in cases(given):
            station, moved = fitted(given, operation, case)
            assert moved >= 0
            for cores in (1, FITTED_CORES):
                ns = case.solved(station, cores).turn * counts.holds
                assert ns == pytest.approx(given.point(benchmark, name, cores), rel=1e-6)


def test_nothing_but_one_and_eight_cores_is_fed_in() -> None:
    assert {point.cores for point in inputs().points} == {1, FITTED_CORES}


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_counts_are_those_of_the_bench(kernel: str) -> None:
    path = ROOT / f"bench/results/scaling-fault-socket-{kernel}.json"
    document = json.loads(path.read_text("utf-8"))
    given = inputs()
    order = ("instructions a page", "instructions under zone->lock a page",
             "holds of zone->lock, 1000 pages", "blocks over zone->lock, 1000 pages")
    seen = set()
    for row in document["rows"]:
        load = "fault" if "fault" in row["workload"] else "socket"
        number = order.index(row["metric"])
        for policy, value in (("stock", row["base"]), (row["mode"].replace(
                "pcp+zonelock", "both"), row["policy"])):
            found = given.counts[kernel, load, policy]
            figures = (found.instructions, found.held, found.holds * 1000, found.blocks * 1000)
            assert figures[number] == pytest.approx(max(value, 0.0), rel=1e-3, abs=1e-3), row
            seen.add((load, policy))
    assert seen == {(load, policy) for load in ("fault", "socket") for policy in POLICIES}


def test_a_committed_file_is_never_changed() -> None:
    found = {version: hashlib.sha256(path.read_bytes()).hexdigest()
             for version, path in committed().items()}
    assert found == DIGESTS


def test_the_newest_file_is_what_the_model_says() -> None:
    known = read_predictions(newest())
    given = inputs()
    some = {**dict(published(given, (1, 2, 8, 32))), **dict(many(given, (8, 56, 112)))}
    for key, value in some.items():
        for now, then in zip(value, known[key], strict=True):
            assert float(figure(now)) == pytest.approx(then, rel=1e-3, abs=1e-3), key


def test_the_file_has_all_that_was_asked_for() -> None:
    known = read_predictions(newest())
    for load in (*OPERATIONS, REPEAT):
        assert [key.cpus for key in known
                if (key.load, key.metric) == (load, "ns")] == list(PUBLISHED_CORES)
    for kernel in KERNELS:
        for policy in POLICIES:
            assert {key.cpus for key in known if key.load == "page_fault1"
                    and (key.kernel, key.policy) == (kernel, policy)} == set(CPUS)
    for key, value in known.items():
        assert value.low <= value.value <= value.high, key
        assert key.metric != "spin %" or 0 <= value.high < 100


def test_a_version_that_is_not_there(ctl: Ctl, tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("load,kernel,policy,zones,cpus,metric,value\n"
                      "bulk alloc,6.0,stock,1,4,ns,9\n", encoding="utf-8")
    ctl("model", "compare", str(points), "--version", "0").failed(
        Exit.USAGE, "--version 0: there are 1, 2, 3")


def test_a_load_of_ones_own_is_reckoned_as_the_predictions_are(ctl: Ctl) -> None:
    known = read_predictions(newest())
    counts = inputs().counts["6.1", "fault", "stock"]
    words = ("--blocks", str(counts.blocks), "--holds", str(counts.holds), "--zones", "2")
    data = ctl("--json", "model", "scale", *words, "--cpus", "56", "--cpus", "112").data()
    for point in data["points"]:
        key = Key("page_fault1", "6.1", "stock", 2, point["cpus"], "GB/s")
        # Instructions under the lock are those of the bulk load here: 2 % more.
        assert point["mpages_per_s"]["value"] * 4096 / 1000 == pytest.approx(
            known[key].value, rel=0.03)
    # A hundredth of that over the lock: nobody waits.
    few = ctl("--json", "model", "scale", "--blocks", str(counts.blocks / 100), "--holds",
              str(counts.holds / 100), "--cpus", "112").data()["points"][0]
    assert few["spin_pct"]["high"] < 10
    assert few["mpages_per_s"]["value"] > 2 * data["points"][1]["mpages_per_s"]["value"]


def test_a_lock_of_mixed_pages_goes_through_the_published_point(ctl: Ctl) -> None:
    given = inputs()
    counts = bulk_counts(given, RANDOM)
    words = ("--blocks", str(counts.blocks), "--holds", str(counts.holds), "--cpus", "56")
    mixed, ordered = (ctl("--json", "model", "scale", *words, *more).data()["points"][0]
                      for more in (("--mixed",), ()))
    # The lock is always held, as by eight cores of the published machine, so is as fast.
    ns = 1000 / mixed["mpages_per_s"]["value"]
    assert ns * FITTED_CORES == pytest.approx(given.point("rand", "alloc+free", FITTED_CORES))
    assert ordered["mpages_per_s"]["value"] > 1.5 * mixed["mpages_per_s"]["value"]
    # Nothing over the lock is no error.
    ctl("model", "scale", "--blocks", "0", "--holds", "0.1", "--cpus", "2", "--mixed")


@pytest.mark.parametrize("words,error", [
    (("--blocks", "nan", "--holds", "1"), "'nan' is not a number"),
    (("--blocks", "1", "--holds", "0"), "--holds"),
    (("--blocks", "1"), "--holds"),
    (("--blocks", "1", "--holds", "1", "--zones", "3"), "cannot be shared evenly by 3 zones"),
    (("--blocks", "1e300", "--holds", "1"), "1e+300 is not in the range"),
    (("--blocks", "1", "--holds", "1e300"), "1e+300 is not in the range"),
    (("--blocks", "1", "--holds", "1", "--outside", "1e300"), "1e+300 is not in the range"),
    (("--blocks", "1", "--holds", "1", "--bytes", "9" * 30), "is not in the range"),
])
def test_a_load_that_is_none_is_refused_in_a_line(
    ctl: Ctl, words: tuple[str, ...], error: str
) -> None:
    ctl("model", "scale", "--cpus", "8", *words).failed(Exit.USAGE, error)
