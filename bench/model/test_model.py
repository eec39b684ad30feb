# SPDX-License-Identifier: GPL-2.0-only
"""The queueing model against closed forms, and against the committed predictions."""

import pytest

from bench.model.inputs import inputs
from bench.model.lock import Station, bound, solve
from bench.model.predict import (
    FITTED_CORES,
    OPERATIONS,
    bulk_counts,
    cases,
    fitted,
    many,
    published,
)
from bench.model.table import figure, percent, read_measured, read_predictions, two_lines


def exact(cpus: int, think: float, hold: float) -> float:
    """A turn by mean value analysis, exact for exponential holds."""
    queue, turn = 0.0, think + hold
    for number in range(1, cpus + 1):
        answer = hold * (1 + queue)
        turn = think + answer
        queue = number / turn * answer
    return turn


@pytest.mark.parametrize("cpus", [1, 2, 5, 16, 112])
def test_with_exponential_holds_it_is_mean_value_analysis(cpus: int) -> None:
    station = Station(think=900.0, hold=70.0)
    found = solve(station, cpus, stages=1)
    wanted = exact(cpus, 900.0, 70.0)
    assert found.turn == pytest.approx(wanted, rel=1e-9)
    assert found.wait == pytest.approx(wanted - 970.0, rel=1e-9, abs=1e-6)


def test_one_cpu_never_waits_and_moves_no_data() -> None:
    found = solve(Station(500.0, 100.0, moved=40.0, handover=9.0), 1)
    assert found == pytest.approx((600.0, 0.0))


def test_a_lock_that_is_always_held_is_the_bottleneck() -> None:
    station = Station(500.0, 100.0, moved=40.0, handover=10.0)
    for found in (solve(station, 64), bound(station, 64)):
        assert found.turn == pytest.approx(64 * 150.0, rel=1e-6)
        assert found.spin == pytest.approx(1 - 650 / (64 * 150), rel=1e-3)


def test_even_holds_wait_less_and_the_bound_least() -> None:
    station = Station(500.0, 100.0, moved=40.0, handover=10.0)
    for cpus in (2, 4, 5, 8):
        turns = [bound(station, cpus).turn,
                 *(solve(station, cpus, stages).turn for stages in (16, 4, 1))]
        assert turns == sorted(turns)


def test_waiting_cpus_slow_a_hold_down_only_with_growth() -> None:
    even, grows = (Station(500.0, 100.0, 40.0, 10.0, growth) for growth in (0.0, 0.01))
    assert solve(even, 64).turn / solve(even, 32).turn == pytest.approx(2.0, rel=1e-3)
    assert solve(grows, 64).turn / solve(grows, 32).turn > 2.1
    assert bound(grows, 64).turn == pytest.approx(solve(grows, 64).turn, rel=0.01)


def test_more_cpus_never_do_less_without_growth() -> None:
    station = Station(900.0, 70.0, moved=30.0, handover=10.0)
    rates = [cpus / solve(station, cpus).turn for cpus in range(1, 40)]
    # What moves costs throughput once, when a second CPU comes, and no more.
    assert all(later > 0.999 * earlier for earlier, later in zip(rates, rates[1:], strict=False))


def test_without_think_time_there_is_no_answer() -> None:
    with pytest.raises(ValueError, match="without think time"):
        solve(Station(0.0, 1.0), 2)


def test_the_fit_goes_through_both_points_in_every_case() -> None:
    given = inputs()
    assert {point.cores for point in given.points} == {1, FITTED_CORES}
    for operation in OPERATIONS:
        benchmark, _, name = operation.partition(" ")
        counts = bulk_counts(given, operation)
        for case in cases(given):
            station, moved = fitted(given, operation, case)
            assert moved >= 0
            for cores in (1, FITTED_CORES):
                ns = case.solved(station, cores).turn * counts.holds
                assert ns == pytest.approx(given.point(benchmark, name, cores), rel=1e-6)


def test_the_committed_file_is_what_the_model_says() -> None:
    known, given = read_predictions(), inputs()
    some = {**dict(published(given, (2, 24))), **dict(many(given, (56,)))}
    for key, value in some.items():
        for now, then in zip(value, known[key], strict=True):
            assert float(figure(now)) == pytest.approx(then, rel=1e-3, abs=1e-3), key


def test_two_lines_do_as_well_on_the_published_machine() -> None:
    known = read_predictions()
    points = [point for point in read_measured() if point.key.metric == "ns"]
    chain = [abs(percent(known[point.key].value, point.value)) <= 10 for point in points]
    lines = [abs(percent(two_lines(known, point.key), point.value)) <= 10 for point in points]
    assert (len(points), sum(chain), sum(lines)) == (16, 14, 15)
