# SPDX-License-Identifier: GPL-2.0-only
"""Names of ABI 1 in what people and journals still hold."""

import re
from pathlib import Path

import pytest
from conftest import Ctl
from fake_tree import FakeHost
from livemmctl.ab.journal import Past
from livemmctl.ab.switch import found_before
from livemmctl.naming import RENAMED

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"


@pytest.mark.parametrize("words", [("get", "pcp", "keep_at_exit"),
                                   ("set", "pcp", "keep_at_exit=0")])
def test_an_old_name_is_explained(ctl: Ctl, words: tuple[str, ...]) -> None:
    assert "since ABI 2 the knob is called pcp/limit_exit_drain" in ctl(*words).err


def test_an_old_name_in_a_profile_is_explained(ctl: Ctl, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text("[policy.pcp]\nenabled = true\nkeep_at_exit = 0\n", encoding="utf-8")
    assert "since ABI 2 the knob is called pcp/limit_exit_drain" in ctl(
        "profile", "apply", str(file)).err


def test_a_journal_with_old_names_restores_their_values(host: FakeHost) -> None:
    now = {policy: dict(knobs) for policy, knobs in host.kernel.values.items()}
    old = {policy: dict(knobs) for policy, knobs in now.items()}
    for policy, names in RENAMED.items():
        for before, after in names.items():
            old[policy][before] = "old-" + old[policy].pop(after)
    past = Past(start={"found": old}, last={}, ended="", tripped="", block=-1)
    found = found_before(past, now)
    assert {policy: list(knobs) for policy, knobs in found.items()} == {
        policy: list(knobs) for policy, knobs in now.items()}
    for policy, names in RENAMED.items():
        for after in names.values():
            assert found[policy][after].startswith("old-")


def test_the_changelog_has_every_renamed_knob() -> None:
    rows = re.findall(r"^\| `(\w+)/(\w+)` \| `(\w+)` \|$",
                      CHANGELOG.read_text(encoding="utf-8"), re.M)
    for policy, names in RENAMED.items():
        assert {(policy, *pair) for pair in names.items()} <= set(rows)
