# SPDX-License-Identifier: GPL-2.0-only
"""The torture tried on what it must do; tests.selftest runs these checks."""

from __future__ import annotations

import re

from guests.report import ROOT
from tests.torture import base, faults, oracle, program, steps, steps_abuse


def draws_and_shrinks() -> str:
    """A seed always makes the same program, with every kind in it; a failing one is cut down."""
    knobs = {"pcp": {"mode": ["depth", "event"]}, "numa": {"mode": ["quiet"]}}
    machine = base.Machine("6.1", 2, 1, True, True, list(knobs), knobs)

    def drawn(seed: int) -> program.Program:
        made = program.draw_steps(seed, 2, 3, 1000, steps.drawer(machine),
                                  steps.kinds_of(machine))
        return program.Program(seed, "6.1", 2, 1, tuple(knobs), made)

    one = drawn(7)
    missing = set(steps.kinds_of(machine)) - {step.kind for step in one.steps}
    if missing or one != drawn(7) or one == drawn(8):
        return f"seed 7: never drawn {missing}, again the same: {one == drawn(7)}"
    if program.parse(one.dump()) != one or one.name == drawn(8).name:
        return "what was written is read otherwise, or two programs have one name"
    bad = {one.steps[17], one.steps[1234], one.steps[-1]}
    least = program.minimise(one.steps, lambda kept: bad <= set(kept))
    if set(least) != bad:
        return f"cut down to {len(least)} steps, not to the three that fail"
    return "" if program.minimise(one.steps, lambda kept: False) == list(one.steps) else \
        "steps were cut although nothing failed"


def covers_every_set() -> str:
    """Among the seeds are each policy alone, each pair, and all policies."""
    known = ["a", "b", "c", "d", "e"]
    sets = {tuple(program.choose_policies(seed, known)) for seed in range(30)}
    sizes = sorted(len(one) for one in sets)
    return "" if sizes == [1] * 5 + [2] * 10 + [5] else f"sizes of the sets: {sizes}"


def oracle_sees_faults() -> str:
    """Each word of lmm_oracle.ko is a fault, but for the words that only tell places."""
    text = (ROOT / "tests/kmod/oracle.c").read_text(encoding="utf-8")
    words = re.findall(r"\bword\((\w+)\)", text.partition("enum word")[0])
    quiet = [word for word in words if not oracle.faults({word: 9})]
    return "" if quiet == list(oracle.PLACES) else f"no faults: {quiet}"


def faults_have_a_place() -> str:
    """Each planted fault changes a text that stands in the module exactly once."""
    wrong = {name: faults.misplaced(fault) for name, fault in faults.FAULTS.items()}
    return "\n".join(f"{name}: {text}" for name, text in wrong.items() if text)


def knows_long_texts() -> str:
    """Which texts a file must refuse for their length: of a parameter, what stands before a NUL."""
    page = steps_abuse.PAGE
    parameter, file = "/sys/module/livemm/parameters/policies", "/sys/kernel/debug/livemm/lease"
    wanted = [(parameter, b"pcp:\0" + bytes(page), False), (parameter, b" " * 2 * page, False),
              (parameter, b"p" * (page + 1), True), (parameter, b"p" * page, False),
              (file, b"pcp:\0" + bytes(page), True), (file, b"p" * page, False)]
    wrong = [f"{path}: {text[:8]!r}" for path, text, long in wanted
             if steps_abuse.too_long(path, text) != long]
    return "\n".join(wrong)


CHECKS = {
    "torture draws programs from a seed, and cuts them down": draws_and_shrinks,
    "torture gets to every set of policies": covers_every_set,
    "the oracle sees each fault": oracle_sees_faults,
    "torture knows which texts are too long": knows_long_texts,
    "each planted fault has its place": faults_have_a_place,
}
