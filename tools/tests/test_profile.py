# SPDX-License-Identifier: GPL-2.0-only
"""Profiles: read, compared, applied all or nothing, verified, saved."""

import errno
import json
import re
import shutil
import tomllib
from pathlib import Path

import knob_tables
import pytest
from conftest import Ctl
from fake_tree import FakeHost
from livemmctl.control import open_control
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Ran
from livemmctl.profile.defaults import NOTED, defaults, documented, learn
from livemmctl.profile.model import parse_profile, profile_text, same_value
from livemmctl.profile.plan import apply_changes, plan

READY = sorted((knob_tables.ROOT / "tools/profiles").glob("*.toml"))
MINE = """\
description = "mine"
[policy.pcp]
enabled = true
mode = "depth"
decay_ms = 2000
"""


def put(host: FakeHost, name: str, text: str) -> None:
    host.kernel.put(f"/etc/livemm/profiles/{name}.toml", text)


def test_defaults_are_the_modules() -> None:
    assert (knob_tables.ROOT / "tools/livemmctl/defaults.toml").read_text(
        encoding="utf-8") == knob_tables.defaults_toml()
    for release in ((6, 1), (6, 12), (7, 2)):
        table = {policy: {knob.name: knob.default for knob in knobs}
                 for policy, knobs in knob_tables.knobs(release).items()}
        assert documented(release) == table


def test_counters_are_those_that_are_documented() -> None:
    entries = knob_tables.documented()
    for policy, names in knob_tables.counters().items():
        text = entries[f"/sys/kernel/debug/livemm/{policy}/counters"]
        # Two shapes of a row: "- name: words", and names in a column of their own.
        rows = re.findall(r"^\t\t(?:- (?=\w+:)|    )(\w+(?:, \w+)*)", text, re.MULTILINE)
        assert set(", ".join(rows).split(", ")) ^ set(names) == set(), policy


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_ready_profiles_apply(host: FakeHost, ctl: Ctl, path: Path) -> None:
    name = path.stem
    assert ctl("profile", "apply", name).status == 0
    assert ctl("profile", "verify").out == f"as {name} says\n"
    assert ctl("profile", "apply", name).out == "nothing to change\n"
    assert ctl("profile", "list", "--json").data()["profiles"][0]["description"]
    assert ctl("profile", "modprobe", name).status == 0
    assert ctl("profile", "apply", "stock").status == 0
    assert open_control(host).settings() == {
        policy: {"enabled": "0"} | knobs for policy, knobs in documented((6, 1)).items()
    }


def test_apply_is_one_write_and_idempotent(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    done = ctl("profile", "apply", "mine", "--json").data()
    assert {(row["knob"], row["now"], row["wanted"], row["why"]) for row in done["changes"]} == {
        ("enabled", "0", "1", "profile"), ("mode", "event", "depth", "profile"),
        ("decay_ms", "3000", "2000", "profile"),
    }
    assert len(host.kernel.writes) == 1
    assert ctl("profile", "apply", "mine", "--json").data()["changes"] == []
    assert len(host.kernel.writes) == 1


def test_dry_run_changes_nothing_and_says_why(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    ctl("enable", "numa")
    out = ctl("profile", "apply", "mine", "--dry-run").out
    assert "would change pcp/decay_ms: 3000 -> 2000  (the profile says so)" in out
    assert "would change numa/enabled: 1 -> 0  (the profile does not name the policy" in out
    assert len(host.kernel.writes) == 1
    assert ctl("profile", "verify").status == Exit.USAGE


def test_nothing_of_the_old_profile_is_left(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    put(host, "other", "[policy.pcp]\nenabled = true\nhigh_max_pct = 20.0\n"
                       "[policy.numa]\nenabled = true\n")
    ctl("profile", "apply", "mine")
    out = ctl("profile", "diff", "other").out
    assert "pcp/decay_ms: 2000 -> 3000  (not named in the profile: the default)" in out
    ctl("profile", "apply", "other")
    pcp = dict(host.kernel.values["pcp"])
    assert pcp == documented((6, 1))["pcp"] | {"enabled": "1", "high_max_pct": "20"}
    ctl("profile", "apply", "stock")
    for policy, knobs in documented((6, 1)).items():
        assert host.kernel.values[policy] == {"enabled": "0"} | knobs


@pytest.mark.parametrize("release", [(6, 1), (6, 12)])
def test_defaults_follow_the_kernel(tmp_path: Path, ctl: Ctl, release: tuple[int, int]) -> None:
    host = FakeHost.make(tmp_path / "other", release=release)
    assert ctl("profile", "diff", "stock", on=host).out == "as stock says\n"


@pytest.mark.parametrize(
    ("line", "named", "status"),
    [
        ("decay_ms = 1", "pcp/decay_ms: 1: not in 500..60000", Exit.REFUSED),
        ('mode = "fast"', "pcp/mode: fast: not one of depth event", Exit.REFUSED),
        ("decay_ms = true", "pcp/decay_ms: 1: not in", Exit.REFUSED),
        ("decay_ms = 2.55", "pcp/decay_ms: 2.55", Exit.REFUSED),
        ("decay_ms = -1", "pcp/decay_ms: -1", Exit.REFUSED),
        ("decay_ms = inf", "pcp/decay_ms: inf", Exit.REFUSED),
        ("decay_ms = nan", "pcp/decay_ms: nan", Exit.REFUSED),
        ("decay_ms = 99999999999999999999", "pcp/decay_ms: 9999", Exit.REFUSED),
        ("decay_ms = 999999999999999999999", "pcp/decay_ms: too large", Exit.USAGE),
        ("decay_ms = " + "9" * 5000, "", Exit.USAGE),
        ("decay = 2000", "pcp/decay: no such knob", Exit.USAGE),
        ("decay_ms = [1]", "pcp/decay_ms: list", Exit.USAGE),
        ("decay_ms = {a = 1}", "pcp/decay_ms: dict", Exit.USAGE),
        ("decay_ms = 2001-01-01", "pcp/decay_ms: date", Exit.USAGE),
        ('mode = "a b"', "pcp/mode", Exit.USAGE),
        ('mode = "a;numa:enabled=1"', "pcp/mode", Exit.USAGE),
        ('"mo de" = 1', "pcp/mo de", Exit.USAGE),
        ("enabled = 1", "", Exit.USAGE),
        ("[policy.nosuch]\nenabled = true", "nosuch: no such policy; there are: ", Exit.USAGE),
        ("[policy.numa]\nmode = 'quiet'", "numa/enabled: not given", Exit.USAGE),
        ("[policy.numa]\nenabled = 'yes'", "numa/enabled: yes: must be true or false", Exit.USAGE),
        ("[policies.numa]", "policies: no such key; there are: description, policy", Exit.USAGE),
        ("x =", "line", Exit.USAGE),
        ("decay_ms = 1000\ndecay_ms = 2000", "", Exit.USAGE),
        ("[policy.numa]\nenabled = true\ncgroups = '//a'", "numa/cgroups: //a: not a path",
         Exit.REFUSED),
    ],
)
def test_one_bad_key_changes_nothing_and_is_named(
    host: FakeHost, ctl: Ctl, line: str, named: str, status: Exit
) -> None:
    ctl("enable", "numa")
    before = {policy: dict(knobs) for policy, knobs in host.kernel.values.items()}
    put(host, "bad", f"[policy.pcp]\nenabled = true\n{line}\n")
    done = ctl("profile", "apply", "bad", "--json")
    assert done.status == status
    assert named in done.error()["message"]
    assert "bad.toml" in done.error()["message"]
    assert host.kernel.values == before
    assert ctl("profile", "verify").status == Exit.USAGE


@pytest.mark.parametrize("text", ["policy = 3", "policy.pcp = 3", "description = 3", "[policy",
                                  "\x00", "a" * (1 << 21), "[" * 100000, "x=" + "[" * 100000])
def test_no_profile_at_all(host: FakeHost, ctl: Ctl, text: str) -> None:
    put(host, "bad", text)
    for command in ("apply", "diff", "verify", "modprobe"):
        assert ctl("profile", command, "bad").status == Exit.USAGE
    rows = ctl("profile", "list", "--json").data()["profiles"]
    assert [bool(row["error"]) for row in rows if row["name"] == "bad"] == [True]
    assert host.kernel.writes == []


def test_profile_that_is_not_text(host: FakeHost, ctl: Ctl, tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"# \xff\n")
    assert "not UTF-8" in ctl("profile", "apply", str(path)).err
    assert ctl("profile", "apply", str(tmp_path / "nosuch.toml")).status == Exit.FAILED
    assert ctl("profile", "apply", str(tmp_path)).status == Exit.FAILED
    assert ctl("profile", "apply", "/dev/zero").status == Exit.FAILED
    assert ctl("profile", "apply", "nosuch").status == Exit.USAGE
    assert ctl("profile", "apply", "\udcff/x\x00").status != 0


def test_a_refusal_in_the_middle_puts_back(host: FakeHost, ctl: Ctl) -> None:
    ctl("set", "pcp", "decay_ms=2500")
    host.kernel.refuse["numa"] = (errno.EOPNOTSUPP, "hook hint_fault: not found")
    done = ctl("profile", "apply", "numa")
    assert done.status == Exit.UNSUPPORTED
    assert "numa/enabled: 1: hook hint_fault: not found; nothing was changed" in done.err
    assert host.kernel.values["pcp"]["decay_ms"] == "2500"
    assert host.kernel.values["pcp"]["enabled"] == "0"


class Halfway(FakeHost):
    """A kernel that refuses, and has done half of it all the same."""

    def store(self, name: str, text: str) -> None:
        if "decay_ms=2000" in text:
            self.kernel.set("pcp", enabled="1")
            raise OSError(errno.EBUSY, "Device or resource busy")
        super().store(name, text)


def test_what_the_kernel_left_half_done_is_put_back(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    half = Halfway(host.root, host.kernel)
    before = dict(host.kernel.values["pcp"])
    ctl("profile", "apply", "mine", on=half).failed(Exit.REFUSED, "nothing was changed")
    assert host.kernel.values["pcp"] == before


def test_what_cannot_be_put_back_is_said(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    ctl("enable", "numa")
    host.kernel.refuse["numa"] = (errno.ENOMEM, "no memory")

    class Worse(Halfway):
        def store(self, name: str, text: str) -> None:
            if "decay_ms=2000" in text:
                self.kernel.values["numa"]["enabled"] = "0"
            super().store(name, text)

    done = ctl("profile", "apply", "mine", on=Worse(host.root, host.kernel))
    done.failed(Exit.PARTIAL, "could not be put back: numa/enabled")


def test_what_the_lease_switched_off_stays_off(host: FakeHost, ctl: Ctl) -> None:
    """To put back is no way round the lease, nor round another admin."""
    put(host, "mine", MINE)
    ctl("enable", "numa")
    ctl("lease", "30")

    class Late(FakeHost):
        def store(self, name: str, text: str) -> None:
            if "decay_ms=2000" in text:
                self.kernel.expire_lease()
                raise OSError(errno.ECANCELED, "Operation canceled")
            super().store(name, text)

    done = ctl("profile", "apply", "mine", on=Late(host.root, host.kernel))
    assert done.status != Exit.OK and "the lease has ended" in done.err
    assert host.kernel.values["numa"]["enabled"] == "0"
    assert host.kernel.values["pcp"]["enabled"] == "0"


def test_applied_but_not_noted_is_said(host: FakeHost, ctl: Ctl) -> None:
    shutil.rmtree(host.path("/run"))
    host.kernel.put("/run", "a file")
    done = ctl("profile", "apply", "lists")
    done.failed(Exit.PARTIAL, "lists is applied, but that could not be noted")
    assert host.kernel.values["pcp"]["enabled"] == "1"


def test_a_kernel_that_takes_it_and_does_not_do_it(host: FakeHost) -> None:
    class Deaf(FakeHost):
        def store(self, name: str, text: str) -> None:
            pass

    control = open_control(Deaf(host.root, host.kernel))
    profile = parse_profile(MINE, "mine", "mine")
    changes = plan(profile, control.settings(), defaults(host), "mine")
    with pytest.raises(CtlError, match="does not show: pcp/enabled, .*nothing was changed"):
        apply_changes(control, changes)


def test_verify_names_exactly_the_drift(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    ctl("profile", "apply", "mine")
    assert ctl("profile", "verify", "--json").data()["as_profile"] is True
    ctl("set", "pcp", "decay_ms=9000", "high_max_pct=50")
    ctl("enable", "pageblock")
    done = ctl("profile", "verify", "--json")
    assert done.status == Exit.DRIFT
    assert [(row["policy"], row["knob"]) for row in done.data()["changes"]] == [
        ("pcp", "high_max_pct"), ("pcp", "decay_ms"), ("pageblock", "enabled")]
    diff = ctl("profile", "diff")
    assert diff.status == 0
    assert diff.out.splitlines() == [
        "pcp/high_max_pct: 50 -> 12.5  (not named in the profile: the default)",
        "pcp/decay_ms: 9000 -> 2000  (the profile says so)",
        "pageblock/enabled: 1 -> 0  (the profile does not name the policy: off, the default)",
    ]


def test_the_admins_hides_a_ready_one(host: FakeHost, ctl: Ctl) -> None:
    put(host, "lists", "description = 'own'\n")
    rows = ctl("profile", "list", "--json").data()["profiles"]
    assert [row["description"] for row in rows if row["name"] == "lists"] == ["own"]


def test_save_and_apply(host: FakeHost, ctl: Ctl) -> None:
    ctl("set", "pcp", "enabled=1", "high_max_pct=7.5")
    ctl("set", "numa", "cgroups=/a\"b:/c")
    before = {policy: dict(knobs) for policy, knobs in host.kernel.values.items()}
    path = "/etc/livemm/profiles/kept.toml"
    assert ctl("profile", "save", "kept", "-d", 'a "word"').out == f"saved as {path}\n"
    assert host.path(path).stat().st_mode & 0o777 == 0o644
    document = tomllib.loads(host.path(path).read_text(encoding="utf-8"))
    assert set(document["policy"]) == {"pcp", "numa"}
    assert document["policy"]["pcp"]["high_max_pct"] == 7.5
    ctl("profile", "apply", "stock")
    assert host.kernel.values != before
    ctl("profile", "apply", "kept")
    assert host.kernel.values == before
    assert ctl("profile", "save", "kept").status == Exit.USAGE
    assert ctl("profile", "save", "kept", "--force").status == 0
    assert [p.name for p in host.path("/etc/livemm/profiles").iterdir()] == ["kept.toml"]


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "-x", "a b", "x" * 65, "\udcff"])
def test_save_takes_no_bad_name(host: FakeHost, ctl: Ctl, name: str) -> None:
    ctl("profile", "save", "--", name).failed(Exit.USAGE)
    assert list(host.path("/etc/livemm/profiles").iterdir()) == []


def test_save_where_it_cannot(host: FakeHost, ctl: Ctl) -> None:
    host.path("/etc/livemm/profiles").rmdir()
    host.kernel.put("/etc/livemm/profiles", "a file")
    ctl("profile", "save", "x").failed(Exit.FAILED)


def test_text_of_a_profile_reads_back() -> None:
    policies = {"pcp": {"enabled": "1", "mode": "event", "a": "007", "b": "12.5", "c": "",
                        "d": '/x"y\\z', "e": "10.55", "f": "99999999999999999999"}}
    read = parse_profile(profile_text(policies, 'quote " and \\'), "x", "x")
    assert read.policies == policies
    assert read.description == 'quote " and \\'


def test_same_value() -> None:
    assert same_value("10.0", "10")
    assert same_value("007", "7")
    assert not same_value("a", "A")
    assert not same_value("", "0")


def test_a_knob_nobody_knows_is_not_guessed(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.set("pcp", new_knob="5")
    ctl("profile", "apply", "stock").failed(Exit.USAGE, "pcp/new_knob: its default is not known")
    assert host.kernel.writes == []
    put(host, "names", "[policy.pcp]\nenabled = false\nnew_knob = 5\n")
    assert ctl("profile", "diff", "names").out == "as names says\n"


def test_defaults_noted_at_load_come_first(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.set("pcp", new_knob="5", decay_ms="3333")
    host.answers["modprobe --showconfig"] = Ran(0, "", "")
    assert learn(host)
    assert ctl("profile", "diff", "stock").out == "as stock says\n"
    # Another build: what was noted is not of it.
    host.kernel.put("/sys/module/livemm/srcversion", "OTHER\n")
    assert ctl("profile", "diff", "stock").status == Exit.USAGE


@pytest.mark.parametrize("shown", ["options livemm policies=pcp:enabled=1\n",
                                   'options livemm livepatch=0 policies="x"\n'])
def test_defaults_are_not_learned_of_what_was_set(host: FakeHost, shown: str) -> None:
    host.answers["modprobe --showconfig"] = Ran(0, shown, "")
    assert not learn(host)
    host.answers["modprobe --showconfig"] = Ran(0, "", "")
    host.kernel.put("/proc/cmdline", "quiet livemm.policies=pcp:enabled=1\n")
    assert not learn(host)
    assert not host.exists(NOTED)


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"build": 3, "policies": 4}', "\xff",
                                  '{"build": "", "policies": {}}', "[" * 100000])
def test_a_broken_note_is_none(host: FakeHost, ctl: Ctl, text: str) -> None:
    host.kernel.put(NOTED, text)
    host.kernel.put("/run/livemm/profile.json", text)
    assert ctl("profile", "diff", "stock").out == "as stock says\n"
    assert ctl("profile", "verify").status == Exit.USAGE


def test_modprobe_snippet_recreates_it(host: FakeHost, ctl: Ctl) -> None:
    put(host, "mine", MINE)
    text = ctl("profile", "modprobe", "mine").out
    options = [line for line in text.splitlines() if line.startswith("options")]
    assert options == ['options livemm policies="pcp:enabled=1,mode=depth,decay_ms=2000"']
    host.kernel.write_policies(options[0].split('"')[1])
    assert ctl("profile", "diff", "mine").out == "as mine says\n"
    put(host, "quoted", "[policy.numa]\nenabled = true\ncgroups = '/a\"b'\n")
    assert ctl("profile", "modprobe", "quoted").status == Exit.USAGE
    assert "options" not in ctl("profile", "modprobe", "stock").out


def service(host: FakeHost, text: str) -> None:
    host.kernel.put("/etc/livemm/livemm.toml", text)


def test_service_start_and_stop(bare: FakeHost, ctl: Ctl) -> None:
    service(bare, 'profile = "lists"\nat_stop = "off"\n')
    assert ctl("profile", "start", on=bare).status == 0
    assert bare.kernel.values["pcp"]["enabled"] == "1"
    assert ctl("profile", "start", on=bare).out == "nothing to change\n"
    said = ctl("profile", "stop", on=bare).out
    assert said == "pcp/enabled: 1 -> 0  (the service stops, and at_stop is off)\n"
    assert bare.kernel.values["pcp"]["enabled"] == "0"
    service(bare, 'profile = "lists"\n')
    assert ctl("profile", "start", on=bare).status == 0
    assert ctl("profile", "stop", on=bare).out == "policies are kept\n"
    assert bare.kernel.values["pcp"]["enabled"] == "1"
    service(bare, 'profile = "lists"\nat_stop = "off"\n')
    bare.kernel.unload()
    assert ctl("profile", "stop", on=bare).out == "all are off\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [("", "profile"), ("profile = 3", "profile"), ('profile = "x"', "x: no such profile"),
     ('profile = "lists"\nat_stop = "no"', "at_stop"), ('profil = "x"', "profil: no such key"),
     ('profile = "lists"\nat_stop = true', "at_stop"), ("=", "line 1")],
)
def test_service_with_bad_settings(bare: FakeHost, ctl: Ctl, text: str, named: str) -> None:
    service(bare, text)
    ctl("profile", "start", on=bare).failed(Exit.USAGE, named)
    # Nothing was loaded for it.
    assert bare.ran == []


def test_service_without_settings(host: FakeHost, ctl: Ctl) -> None:
    assert "/etc/livemm/livemm.toml is not there" in ctl("profile", "start").err


def test_the_shipped_settings_are_good(host: FakeHost, ctl: Ctl) -> None:
    text = (knob_tables.ROOT / "tools/systemd/livemm.toml").read_text(encoding="utf-8")
    service(host, text)
    assert ctl("profile", "start").out == "nothing to change\n"
    assert json.loads(host.path("/run/livemm/profile.json").read_text(
        encoding="utf-8"))["profile"] == "stock"


def test_a_profile_is_not_saved_under_the_name_of_a_file(host: FakeHost, ctl: Ctl) -> None:
    ctl("profile", "save", "mine.toml").failed(Exit.USAGE, "does not end in .toml")
