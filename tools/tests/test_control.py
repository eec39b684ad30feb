# SPDX-License-Identifier: GPL-2.0-only
"""The control contract, from the side of its user."""

import errno
import os
import re
from pathlib import Path

import knob_tables
import pytest
from conftest import Ctl, fails
from fake_tree import FakeHost, policy_order
from livemmctl.control import (
    ABI,
    DEBUGFS,
    MODULE,
    PARAMETERS,
    ModuleControl,
    PolicyStatus,
    Reach,
    open_control,
    parse_counters,
    parse_hooks,
    parse_settings,
    parse_status,
    settings_text,
)
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Host


def on(control: ModuleControl) -> list[str]:
    return [row.name for row in control.policies() if row.state == "on"]


def test_the_fake_has_every_documented_file(host: FakeHost) -> None:
    # The modules with the livepatches come with a policy.
    names = {name for name in knob_tables.documented() if "<livepatch>" not in name}
    missing = {name for name in names if not host.path(name).is_file()}
    assert len(names) > 50
    assert not missing


@pytest.mark.parametrize("state", ["coming", "going"])
def test_on_its_way_in_or_out(host: FakeHost, state: str) -> None:
    host.kernel.put(f"{MODULE}/initstate", f"{state}\n")
    with fails(Exit.NOT_LOADED, f"it is {state}"):
        open_control(host)
    host.kernel.put(f"{MODULE}/initstate", "live\n")
    assert open_control(host).policies()


def test_apply_is_one_write_for_all(host: FakeHost) -> None:
    control = open_control(host)
    control.apply({"pcp": {"enabled": "1", "mode": "depth"},
                   "numa": {"promote_rate_mb": "512"}})
    assert host.kernel.writes == ["pcp:enabled=1,mode=depth;numa:promote_rate_mb=512\n"]
    assert control.get("pcp")["mode"] == "depth"
    assert control.get("numa")["promote_rate_mb"] == "512"
    assert on(control) == ["pcp"]


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (errno.EOPNOTSUPP, Exit.UNSUPPORTED),
        (errno.ENOMEM, Exit.REFUSED),
        (errno.EBUSY, Exit.REFUSED),
        (errno.ECANCELED, Exit.REFUSED),
        (errno.EINTR, Exit.REFUSED),
    ],
)
def test_reasons_have_their_status(host: FakeHost, number: int, status: Exit) -> None:
    host.kernel.refuse["pcp"] = (number, "hook drain: words")
    with fails(status, "hook drain: words"):
        open_control(host).apply({"pcp": {"enabled": "1"}})


def test_under_lockdown_parameters_work(closed: FakeHost) -> None:
    control = open_control(closed)
    assert control.reach is Reach.READ_ONLY
    control.apply({"pcp": {"enabled": "1"}})
    assert on(control) == ["pcp"]
    assert control.get("pcp")["enabled"] == "1"
    control.set_lease(30)
    assert control.lease() == 30
    assert control.counters("pcp")["drains"] == 0
    with pytest.raises(PermissionError):
        closed.fetch(f"{DEBUGFS}/pcp/config")


def test_without_debugfs_settings_can_be_had(host: FakeHost) -> None:
    for path in sorted(host.path(DEBUGFS).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    control = open_control(host)
    assert control.reach is Reach.ABSENT
    control.apply({"pcp": {"enabled": "1"}})
    # The fake shows debugfs again as it writes: the control was opened without it.
    assert on(control) == ["pcp"]
    host.path(f"{DEBUGFS}/pcp/counters").unlink()
    with fails(Exit.UNSUPPORTED):
        control.counters("pcp")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"pcp": {"mode": "a b"}}, "pcp/mode"),
        ({"pcp": {"mode": "a,b"}}, "pcp/mode"),
        ({"pcp": {"mode": "a;numa:enabled=1"}}, "pcp/mode"),
        ({"pcp": {"mode": "a\nb"}}, "pcp/mode"),
        ({"pcp": {"mode": "\u00e9"}}, "pcp/mode"),
        ({"pcp": {"mo de": "a"}}, "pcp/mo de"),
        ({"pcp;": {"mode": "a"}}, "pcp;"),
        ({"pcp": {"mode\n": "a"}}, "pcp/mode"),
    ],
)
def test_what_cannot_be_said_is_not_sent(
    host: FakeHost, settings: dict[str, dict[str, str]], named: str
) -> None:
    with fails(Exit.USAGE) as caught:
        open_control(host).apply(settings)
    assert named in caught.value.message
    assert "\n" not in caught.value.message
    assert host.kernel.writes == []


def test_what_it_shows_recreates_it(host: FakeHost) -> None:
    control = open_control(host)
    control.apply({"numa": {"cgroups": "/a:/b=c", "enabled": "1"}})
    shown = control.settings()
    assert shown["numa"]["cgroups"] == "/a:/b=c"
    control.apply({policy: dict.fromkeys(["enabled"], "0") for policy in shown})
    control.apply(shown)
    assert control.settings() == shown


@pytest.mark.parametrize("seconds", [-1, 604801, 10**30])
def test_lease_out_of_range(host: FakeHost, seconds: int) -> None:
    with fails(Exit.USAGE):
        open_control(host).set_lease(seconds)


def test_unknown_policy_names_those_there_are(host: FakeHost) -> None:
    known = ", ".join(policy_order())
    with pytest.raises(CtlError, match=f"nosuch: no such policy; there are: {known}$"):
        open_control(host).get("nosuch")


def test_parsers_take_anything() -> None:
    long = "9" * 5000
    for text in ("", "\n", "x", "a b c d e f", ":::;;;", "\ufffd" * 50, "pcp on",
                 "a b c idle ² 0 -", f"a b c idle {long} 0 -", f"a {long}"):
        parse_status(text)
        parse_hooks(text)
        parse_counters(text)
        parse_settings(text)
    assert parse_status("pcp on event -\n") == [PolicyStatus("pcp", "on", "event", "")]
    assert parse_status("pcp unsupported - no hook: x y\n")[0].reason == "no hook: x y"
    assert parse_counters("a 1\nb x\nc\n\nc -1\nd 2 3\nf ٣\n") == {"a": 1}
    assert settings_text({}) == ""


def test_host_reads_no_device_and_no_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(CtlError, match="cannot read /fifo: not a regular file"):
        Host(tmp_path).read("/fifo")
    assert Host(tmp_path).read_or("/nosuch", "x") == "x"
    with pytest.raises(CtlError, match="cannot read /nosuch: no such file"):
        Host(tmp_path).read("/nosuch")


def test_host_never_makes_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Host(tmp_path).store("/nosuch", "1")
    assert not (tmp_path / "nosuch").exists()


def test_host_replaces_bytes_that_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"a\xff\xfeb")
    assert Host(tmp_path).read("/bad") == "a\ufffd\ufffdb"


def test_a_root_of_its_own_runs_no_command(tmp_path: Path) -> None:
    with fails(Exit.UNSUPPORTED):
        Host(tmp_path).run(["true"])


def test_a_missing_command_is_one_line() -> None:
    with pytest.raises(CtlError, match="nosuch-command is not installed"):
        Host().run(["nosuch-command"])
    assert Host().run(["sh", "-c", "echo a; echo b >&2; exit 3"]).said == "b"
    with fails(Exit.TIMEOUT):
        Host().run(["sleep", "9"], timeout_s=0.05)


def test_module_gone_meanwhile(host: FakeHost) -> None:
    control = open_control(host)
    host.kernel.unload()
    with pytest.raises(CtlError):
        control.apply({"pcp": {"enabled": "1"}})
    with pytest.raises(CtlError):
        control.lease()
    assert not host.exists(PARAMETERS)


def test_host_reads_what_the_kernel_shows() -> None:
    # Sysctls refuse to be read with a large buffer.
    assert Host().read("/proc/sys/kernel/osrelease").strip() == os.uname().release
    assert Host().release() == os.uname().release
    assert "MemTotal" in Host().read("/proc/meminfo")


def test_host_reads_no_endless_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livemmctl.host.READ_MAX_BYTES", 1000)
    (tmp_path / "long").write_bytes(b"x" * 1001)
    with pytest.raises(CtlError, match="too large"):
        Host(tmp_path).read("/long")


def test_a_module_of_another_abi_is_named_in_a_line(host: FakeHost, ctl: Ctl) -> None:
    text = (knob_tables.ROOT / "module/livemm.h").read_text(encoding="utf-8")
    assert re.search(rf"^#define LMM_ABI\s+{ABI}$", text, re.MULTILINE)
    host.kernel.put(f"{DEBUGFS}/version", "livemm 0.1.0 abi 2\n", 0o400)
    for words in (("status",), ("set", "pcp", "decay_ms=2000")):
        ctl(*words).failed(Exit.UNSUPPORTED, "livemm 0.1.0 abi 2 is loaded; this livemmctl speaks "
                                             "ABI 3 alone (livemmctl unload, then livemmctl load)")
    assert "this livemmctl speaks ABI 3 alone" in ctl("doctor").out
