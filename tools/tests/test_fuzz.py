# SPDX-License-Identifier: GPL-2.0-only
"""Random profiles and experiments: each is read, or refused in one line, never a traceback."""

from __future__ import annotations

import copy
from typing import Any

from ab.doubles import table
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some
from knob_tables import TOOLS, knobs
from livemmctl.ab.experiment import parse_experiment
from livemmctl.errors import CtlError
from livemmctl.files import parse_toml
from livemmctl.host import Host
from livemmctl.profile.model import (
    Profile,
    modprobe_text,
    parse_policies,
    parse_profile,
    profile_text,
)

# The same examples each time: a check that fails now and then is no check.
bounded = settings(derandomize=True, max_examples=150, deadline=None, database=None,
                   suppress_health_check=list(HealthCheck))

#: Words of the grammar among the random ones: more than the first test of a text is reached.
WORDS = sorted({knob.name for rows in knobs().values() for knob in rows} | set(knobs()) | {
    "enabled", "policy", "mode", "host", "switchback", "10s", "5m", "1h", "vmstat:pgfault",
    "counter:pcp/raised", "command:/bin/true", "psi:memory/full", "ratio", "quantile"})
texts = some.one_of(some.sampled_from(WORDS), some.text(max_size=12))
values = some.recursive(
    some.one_of(some.none(), some.booleans(), some.integers(), some.floats(), texts,
                some.datetimes()),
    lambda inner: some.one_of(some.lists(inner, max_size=3),
                              some.dictionaries(texts, inner, max_size=3)),
    max_leaves=6)


def refused(error: CtlError) -> None:
    """A refusal is one line that says what is wrong."""
    assert error.message
    assert "\n" not in error.message
    assert error.message.isprintable()


def read_back(profile: Profile) -> None:
    """A profile written is a profile read."""
    again = parse_profile(profile_text(profile.policies, profile.description), profile.name, "x")
    assert again == profile


@bounded
@given(policies=some.dictionaries(
    some.sampled_from(sorted(knobs())),
    some.dictionaries(some.sampled_from(WORDS), values, max_size=4), max_size=5))
def test_profile_of_any_values(policies: dict[str, Any]) -> None:
    for policy in policies.values():
        policy.setdefault("enabled", True)
    try:
        profile = Profile("x", "", parse_policies(policies, "x.toml"))
        read_back(profile)
        assert modprobe_text(profile, "x").count("\n") <= 2
    except CtlError as error:
        refused(error)


@bounded
@given(description=some.text())
@example(description="fast \U0001f680, \x7f, \ufffd")
def test_profile_of_any_description(description: str) -> None:
    read_back(Profile("x", description, {}))


def test_profile_whose_description_is_not_utf8() -> None:
    """As the shell gives a word of another locale."""
    assert parse_profile(profile_text({}, "gr\udcfc\udcdf"), "x", "x").description == "gr??"


@bounded
@given(data=some.data())
def test_profile_of_damaged_text(data: some.DataObject) -> None:
    ready = sorted((TOOLS / "profiles").glob("*.toml"))
    text = data.draw(some.sampled_from(ready)).read_text(encoding="utf-8")
    for _ in range(data.draw(some.integers(1, 4))):
        start = data.draw(some.integers(0, len(text)))
        end = data.draw(some.integers(start, min(start + 20, len(text))))
        text = text[:start] + data.draw(some.one_of(texts, some.just("\n"))) + text[end:]
    try:
        read_back(parse_profile(text, "x", "x.toml"))
    except CtlError as error:
        refused(error)


def damage(data: some.DataObject, tree: Any) -> Any:
    """A tree in which a value somewhere is another one, or gone, or one more."""
    if not isinstance(tree, (dict, list)) or not tree or data.draw(some.integers(0, 3)) == 0:
        return data.draw(values)
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = data.draw(some.sampled_from(keys))
    match data.draw(some.integers(0, 4)):
        case 0:
            del tree[key]
        case 1 if isinstance(tree, dict):
            tree[data.draw(texts)] = data.draw(values)
        case _:
            tree[key] = damage(data, tree[key])
    return tree


@bounded
@given(data=some.data())
def test_experiment_with_damage(data: some.DataObject) -> None:
    tree = copy.deepcopy(table())
    for _ in range(data.draw(some.integers(1, 3))):
        tree = damage(data, tree)
        if not isinstance(tree, dict):
            return
    try:
        parse_experiment(tree, "x.toml", "0" * 16, TOOLS, Host())
    except CtlError as error:
        refused(error)


@bounded
@given(text=some.one_of(some.text(), some.lists(texts).map(" = ".join)))
def test_toml_of_any_text(text: str) -> None:
    try:
        parse_toml(text, "x.toml")
    except CtlError as error:
        refused(error)
