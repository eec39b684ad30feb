# SPDX-License-Identifier: GPL-2.0-only
"""docs/model.md shows the committed predictions, and every point that they were compared with.

The lines that are missing are in the failure: they can be copied from there.
"""

from collections.abc import Iterator

from knob_tables import ROOT
from livemmctl.model.cli import committed
from livemmctl.model.compare import judge
from livemmctl.model.predict import KERNELS, POLICIES, Key, Value
from livemmctl.model.table import figure, read_measured, read_predictions
from model_after import rows

PAGE = ROOT / "docs/model.md"
CPUS = (8, 28, 56, 112)


def short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 0.05 else "0"


def cell(rate: Value, spin: Value) -> str:
    return f"{short(rate.value)} ({short(rate.low)} to {short(rate.high)}), {short(spin.value)} %"


def predicted(known: dict[Key, Value]) -> Iterator[str]:
    for kernel in KERNELS:
        for policy in POLICIES:
            cells = [cell(*(known[Key("page_fault1", kernel, policy, 2, cpus, metric)]
                            for metric in ("GB/s", "spin %"))) for cpus in CPUS]
            yield f"| {' | '.join([kernel, policy, *cells])} |"


def compared(known: dict[Key, Value]) -> Iterator[str]:
    for one in judge(read_measured(ROOT / "docs/model/measured.csv"), known):
        key = one.point.key
        cells = [key.load, key.policy, key.zones, key.cpus, key.metric, figure(one.point.value),
                 figure(one.predicted.value),
                 f"{figure(one.predicted.low)} to {figure(one.predicted.high)}",
                 f"{one.error:+.1f} %", "yes" if one.met else "no"]
        yield f"| {' | '.join(map(str, cells))} |"


def test_the_page_shows_what_was_predicted_and_compared() -> None:
    known = read_predictions(list(committed().values())[-1])
    there = PAGE.read_text(encoding="utf-8").splitlines()
    wanted = [*predicted(known), *compared(known), *rows()]
    missing = [line for line in wanted if line not in there]
    assert not missing, "\n" + "\n".join(missing)


def test_every_point_that_is_compared_names_its_source() -> None:
    points = read_measured(ROOT / "docs/model/measured.csv")
    assert all(point.source and point.within in (10, 20) for point in points)
    # Nothing that the model was fitted to is counted as a success.
    assert not [point for point in points if point.key.kernel == "6.0"
                and point.key.cpus in (1, 8)]
