# SPDX-License-Identifier: GPL-2.0-only
"""Our figures against those of gbstats, which GrowthBook computes its own reports with.

gbstats is not in Debian: it comes from PyPI into a venv that is kept in the cache.  If it
cannot be had these tests fail; they are never skipped.
"""

import dataclasses
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from livemmctl.ab.stats import bootstrap, checks, hosts, sequential
from livemmctl.ab.stats.estimate import Estimate, vector

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "gbstats-requirements.txt"


@pytest.fixture(scope="module")
def gbstats_python() -> Path:
    """An interpreter that has gbstats."""
    cache = Path(os.environ.get("LIVEMM_CACHE") or Path.home() / ".cache/livemm")
    mark = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache / f"gbstats-{mark}"
    python = folder / "bin/python"
    if python.exists():
        return python
    # Made beside and renamed, so that half a venv is never taken for one.
    making = folder.with_name(f"{folder.name}.{os.getpid()}")
    making.parent.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", making], check=True)
        done = subprocess.run(
            [making / "bin/python", "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS],
            capture_output=True, text=True,
        )
        if done.returncode:
            pytest.fail(f"gbstats cannot be had: {done.stderr.strip()[-500:]}")
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return python


@pytest.fixture(scope="module")
def answers(gbstats_python: Path) -> dict[str, Any]:
    """What gbstats says of each case; it is asked once, as it takes long to import."""
    cases = make_cases()
    done = subprocess.run(
        [gbstats_python, HERE / "gbstats_says.py"], input=json.dumps(list(cases.values())),
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(cases, json.loads(done.stdout), strict=True))


def make_cases() -> dict[str, Any]:
    draw = np.random.default_rng(7)

    def pair(count: int, mean: float) -> tuple[list[float], list[float]]:
        before = draw.gamma(8, mean / 8, count)
        return list(before * draw.normal(1, 0.1, count)), list(before)

    def fraction(count: int, level: float) -> tuple[list[float], list[float]]:
        den = draw.gamma(6, 100, count)
        return list(den * level * draw.normal(1, 0.1, count)), list(den)

    return {
        "equal": {"kind": "mean", "control": list(draw.normal(10, 2, 400)),
                  "treatment": list(draw.normal(10.3, 2, 400))},
        "unequal": {"kind": "mean", "control": list(draw.normal(10, 1, 25)),
                    "treatment": list(draw.normal(11, 5, 300))},
        "cuped": {"kind": "cuped", "control": pair(150, 20), "treatment": pair(170, 21)},
        "ratio": {"kind": "ratio", "control": fraction(600, 0.2),
                  "treatment": fraction(500, 0.21)},
        "looks": {"kind": "mean", "control": list(draw.normal(10, 2, 3000)),
                  "treatment": list(draw.normal(10.2, 2, 3000)), "tuning": 5000},
        "looks at a ratio": {"kind": "ratio", "control": fraction(3000, 0.2),
                             "treatment": fraction(3000, 0.202), "tuning": 12000},
        "srm": {"kind": "srm", "counts": [5100, 4900, 980], "weights": [0.45, 0.45, 0.1]},
        "srm, near": {"kind": "srm", "counts": [520, 480, 130], "weights": [0.45, 0.45, 0.1]},
    }


def same(ours: Estimate, theirs: dict[str, Any], tolerance: float,
         relative_tolerance: float | None = None) -> None:
    """Alike up to a share of the interval's width."""
    for kind, names, share in (
        ("absolute", ("difference", "low", "high"), tolerance),
        ("relative", ("relative", "relative_low", "relative_high"),
         relative_tolerance or tolerance),
    ):
        wanted = theirs[kind]
        width = wanted["high"] - wanted["low"]
        for name, key in zip(names, ("effect", "low", "high"), strict=True):
            assert getattr(ours, name) == pytest.approx(wanted[key], abs=share * width), name


@pytest.mark.parametrize("name", ["equal", "unequal"])
def test_means_agree(answers: dict[str, Any], name: str) -> None:
    case = make_cases()[name]
    ours = hosts.welch(vector(case["control"]), vector(case["treatment"]))
    same(ours, answers[name], 1e-9)
    assert ours.p == pytest.approx(answers[name]["absolute"]["p"], abs=1e-12)


def test_cuped_agrees(answers: dict[str, Any]) -> None:
    case = make_cases()["cuped"]
    (after_c, before_c), (after_t, before_t) = case["control"], case["treatment"]
    values = hosts.cuped(vector([*after_c, *after_t]), vector([*before_c, *before_t]))
    level = float(np.mean(after_c))
    ours = hosts.welch(values[: len(after_c)], values[len(after_c):], level)
    # The delta method takes the adjusted effect here and the plain one there.
    same(ours, answers["cuped"], 1e-9, 0.02)
    assert ours.p == pytest.approx(answers["cuped"]["absolute"]["p"], abs=1e-12)
    plain = hosts.welch(vector(after_c), vector(after_t))
    assert ours.high - ours.low < 0.6 * (plain.high - plain.low)


@pytest.mark.parametrize("name", ["looks", "looks at a ratio"])
def test_looks_agree(answers: dict[str, Any], name: str) -> None:
    """The sequence for any effect is that of gbstats at the tuning parameter of that effect."""
    case = make_cases()[name]
    if case["kind"] == "mean":
        ours = hosts.welch(vector(case["control"]), vector(case["treatment"]))
    else:
        control, treatment = (
            (vector(n), vector(d)) for n, d in (case["control"], case["treatment"]))
        ours = hosts.ratio(control, treatment)
    # Without Student's correction, which gbstats does not have.
    plain = dataclasses.replace(ours, degrees=1e9)
    found = sequential.sequence_of(plain, 0.01)
    assert found is not None
    # Their parameter is the number of units at which the interval is narrowest.
    wanted = 6000 * found.planned / found.information
    found = sequential.sequence_of(plain, 0.01 * math.sqrt(wanted / case["tuning"]))
    assert found is not None
    width = found.relative_high - found.relative_low
    assert found.relative_low == pytest.approx(answers[name]["low"], abs=2e-3 * width)
    assert found.relative_high == pytest.approx(answers[name]["high"], abs=2e-3 * width)
    assert found.p == pytest.approx(answers[name]["p"], rel=0.02)


def test_ratios_agree(answers: dict[str, Any]) -> None:
    # Two ways to the same interval, the bootstrap and the delta method: nearly alike.
    case = make_cases()["ratio"]
    control, treatment = ((vector(n), vector(d)) for n, d in (case["control"], case["treatment"]))
    same(bootstrap.ratio(control, treatment), answers["ratio"], 0.05)


@pytest.mark.parametrize("name", ["srm", "srm, near"])
def test_sample_ratios_agree(answers: dict[str, Any], name: str) -> None:
    case = make_cases()[name]
    ours = checks.sample_ratio_p(case["counts"], case["weights"])
    assert ours == pytest.approx(answers[name]["p"], rel=1e-9)
    assert (ours < checks.MISMATCH_P) == (name == "srm")
