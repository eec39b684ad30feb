# SPDX-License-Identifier: GPL-2.0-only
"""doctor: each check in each of its states."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import Ctl
from fake_tree import HOOKS, RELEASE, FakeHost
from livemmctl.control import DEBUGFS, PARAMETERS
from livemmctl.doctor.cli import CHECKS
from livemmctl.doctor.kernel import SECURE_BOOT
from livemmctl.errors import Exit
from livemmctl.host import Ran
from livemmctl.modules import MODULES, PATCHES

CONF = (
    'BUILD_EXCLUSIVE_KERNEL="^(6\\.1|6\\.12)\\."\n'
    'BUILD_EXCLUSIVE_CONFIG="CONFIG_LIVEPATCH CONFIG_KPROBES !CONFIG_PREEMPT_RT"\n'
)
CONFIG = f"/boot/config-{RELEASE}"
PATCH = f"{PATCHES}/livemm_klp_lists"
HOOK = "kick kprobe wakeup_kswapd {} 0 0 {}\n"
FRACTION = "/proc/sys/vm/percpu_pagelist_high_fraction"


@pytest.fixture
def well(host: FakeHost) -> FakeHost:
    """A host on which doctor finds nothing."""
    host.kernel.put("/usr/src/livemm-0.1.0/dkms.conf", CONF)
    host.kernel.put(CONFIG, "CONFIG_LIVEPATCH=y\nCONFIG_KPROBES=y\n")
    host.path(f"/lib/modules/{RELEASE}/build").mkdir(parents=True)
    host.answers["dkms"] = Ran(0, f"livemm/0.1.0, {RELEASE}, x86_64: installed\n", "")
    host.answers["modinfo -F"] = Ran(0, "0123456789ABCDEF0123456\n", "")
    lines = [line for line in HOOKS.splitlines() if "unavailable" not in line]
    host.kernel.put(f"{DEBUGFS}/hooks", "\n".join(lines) + "\n", 0o400)
    # The armed livepatch hook is ours.
    host.kernel.load_klp()
    host.kernel.put("/sys/kernel/tracing/enabled_functions",
                    "free_pcppages_bulk (1) R I     M \ttramp: 0xffff\nschedule (2) \n")
    return host


def row(ctl: Ctl, host: FakeHost, name: str) -> dict[str, Any]:
    rows = ctl("doctor", "--json", on=host).data()["checks"]
    return next(dict(row) for row in rows if row["check"] == name)


def check_row(ctl: Ctl, host: FakeHost, name: str, state: str, seen: str) -> str:
    """Check one check's state and some of its words; returns what to do."""
    found = row(ctl, host, name)
    assert found["state"] == state
    assert seen in found["seen"]
    return str(found["todo"])


def test_nothing_is_wrong(well: FakeHost, ctl: Ctl) -> None:
    done = ctl("doctor", "--problems", on=well)
    assert done.out == "nothing is in livemm's way\n"
    assert done.status == 0
    rows = ctl("doctor", "--json", on=well).data()["checks"]
    assert [row["check"] for row in rows] == [name for name, _ in CHECKS]
    assert {row["state"] for row in rows} == {"ok"}


@pytest.mark.parametrize(("balancing", "state"), [("1", "warn"), ("2", "ok"), ("3", "warn")])
def test_mode_promote_wants_memory_tiering(
    well: FakeHost, ctl: Ctl, balancing: str, state: str
) -> None:
    well.kernel.put("/proc/sys/kernel/numa_balancing", f"{balancing}\n")
    assert ctl("set", "numa", "mode=promote", on=well).status == 0
    found = check_row(ctl, well, "NUMA", state, f"numa_balancing is {balancing}")
    assert ("=2" in found) == (state == "warn")


def test_it_changes_nothing(well: FakeHost, ctl: Ctl) -> None:
    ctl("doctor", on=well)
    assert well.kernel.writes == []
    assert {words[0] for words in well.ran} <= {"dkms", "modinfo", "mokutil"}
    assert all("install" not in words and "--import" not in words for words in well.ran)


@pytest.mark.parametrize(
    ("path", "text", "check", "state", "seen", "todo"),
    [
        ("/proc/sys/kernel/osrelease", "5.10.0-8-amd64", "kernel", "fail", "not supported", "boot"),
        ("/usr/src/livemm-0.1.0/dkms.conf", 'BUILD_EXCLUSIVE_KERNEL="("', "kernel", "warn",
         "no pattern", "reinstall"),
        (CONFIG, "CONFIG_KPROBES=y\nCONFIG_PREEMPT_RT=y\n", "kernel config", "fail",
         "CONFIG_LIVEPATCH, !CONFIG_PREEMPT_RT", "not a realtime build"),
        ("/proc/sys/kernel/ftrace_enabled", "0", "livepatch", "fail", "ftrace_enabled", "sysctl"),
        (f"{PARAMETERS}/livepatch", "N", "livepatch", "warn", "livepatch=0", "echo 1"),
        (f"{PATCH}/enabled", "0", "livepatch", "warn", "switched off from outside", "rmmod"),
        (f"{PATCH}/transition", "1", "livepatch", "warn", "in transition", "wait"),
        ("/sys/kernel/security/lockdown", "none [integrity] confidentiality", "lockdown", "warn",
         "integrity", "parameters"),
        ("/proc/cmdline", "quiet panic_on_taint=0x9000", "taint", "fail",
         "an out-of-tree module and a livepatch", "panic_on_taint="),
        (f"{PARAMETERS}/off", "Y", "livemm", "warn", "livemm.off=1", "command line"),
        ("/sys/module/livemm/srcversion", "FFFF", "livemm", "warn", "an upgrade waits", "unload"),
        ("/sys/module/livemm/version", "0.0.9", "livemm", "warn", "livemm 0.0.9", "one version"),
        (f"{DEBUGFS}/hooks", HOOKS, "hooks", "warn", "1 of 5 are unavailable: buffer", "hooks"),
        (f"{DEBUGFS}/status", "pcp unsupported event hook drain: gone\n", "policies", "warn",
         "pcp: hook drain: gone", "hooks"),
        (f"{DEBUGFS}/status", "pcp waiting event x is in transition\n", "policies", "warn",
         "pcp is to come on when a livepatch is in force (x is in transition)", "wait"),
        (f"{DEBUGFS}/status", "pcp leaving event -\n", "policies", "warn",
         "pcp is off; the kernel's values are still being put back", "wait"),
        (f"{DEBUGFS}/status", "pcp loading event -\n", "policies", "warn", "switched on", "wait"),
        (f"{DEBUGFS}/hooks", HOOK.format("idle", "all kprobes are off"), "hooks", "warn",
         "idle for a reason: kick: all kprobes are off", "--only idle"),
        (f"{DEBUGFS}/hooks", HOOK.format("armed", "shares the function with BPF"), "hooks", "ok",
         "all 1", ""),
        (f"{DEBUGFS}/hooks", HOOK.format("idle", "cannot be unhooked; livemm stays loaded"),
         "hooks", "fail", "cannot be unhooked: kick", "reboot"),
        ("/sys/kernel/tracing/enabled_functions", "bpf_trampoline_link_prog (2) R D\n",
         "ftrace users", "warn", "bpf_trampoline_link_prog", "stop tracers"),
        ("/sys/kernel/tracing/enabled_functions", "free_pcppages_bulk (2) R I\n", "ftrace users",
         "warn", "free_pcppages_bulk", "stop tracers"),
        ("/sys/kernel/tracing/enabled_functions", "free_pcppages_bulk (1) R I\n"
         "rmqueue_bulk (2) \n", "ftrace users", "warn", "rmqueue_bulk", "stop tracers"),
        (FRACTION, "8", "sysctls", "warn", "percpu_pagelist_high_fraction is 8", "=0"),
        ("/proc/sys/vm/watermark_boost_factor", "0", "sysctls", "warn", "boost", "15000"),
        ("/proc/sys/vm/defrag_mode", "1", "sysctls", "warn", "defrag_mode is 1", "=0"),
        ("/proc/sys/kernel/panic_on_warn", "1", "sysctls", "warn", "panic_on_warn is 1", "=0"),
        ("/proc/sys/kernel/numa_balancing", "0", "NUMA", "warn", "nothing to do", "=1"),
        ("/proc/sys/kernel/numa_balancing", "2", "NUMA", "warn", "tiering", "mode=promote"),
        ("/proc/sys/kernel/numa_balancing", "3", "NUMA", "warn", "tiering", "=2"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]", "THP", "warn",
         "never", "madvise"),
        ("/proc/meminfo", "CmaTotal:  65536 kB\n", "CMA", "ok", "64 MiB", ""),
        ("/sys/devices/system/node/online", "0", "NUMA", "ok", "one node", ""),
        ("/sys/devices/system/node/online", "0,2-4", "NUMA", "ok", "4 nodes", ""),
    ],
)
def test_each_finding(
    well: FakeHost, ctl: Ctl, path: str, text: str, check: str, state: str, seen: str, todo: str
) -> None:
    well.kernel.put(path, text + "\n")
    found = check_row(ctl, well, check, state, seen)
    assert todo in found
    assert (found != "") == (state != "ok")
    assert ctl("doctor", on=well).status == (Exit.FAILED if state == "fail" else 0)


@pytest.mark.parametrize(
    ("path", "check", "state"),
    [
        ("/sys/kernel/btf/vmlinux", "BTF", "fail"),
        ("/sys/kernel/livepatch", "livepatch", "fail"),
        (f"/lib/modules/{RELEASE}/build", "headers", "warn"),
        ("/usr/src/livemm-0.1.0", "kernel", "ok"),
        (DEBUGFS, "debugfs", "warn"),
        ("/sys/kernel/tracing/enabled_functions", "ftrace users", "ok"),
        ("/sys/kernel/security/lockdown", "lockdown", "ok"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "THP", "ok"),
        ("/proc/sys/kernel/numa_balancing", "NUMA", "warn"),
        ("/proc/meminfo", "CMA", "ok"),
        ("/proc/cmdline", "taint", "ok"),
    ],
)
def test_what_is_not_there(well: FakeHost, ctl: Ctl, path: str, check: str, state: str) -> None:
    gone = well.path(path)
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert row(ctl, well, check)["state"] == state


def test_a_cloud_kernel_is_judged_by_its_options(well: FakeHost, ctl: Ctl) -> None:
    release = "6.1.0-56-cloud-amd64"
    well.kernel.put("/proc/sys/kernel/osrelease", release)
    well.kernel.put(f"/boot/config-{release}", "CONFIG_LIVEPATCH=y\nCONFIG_KPROBES=y\n")
    check_row(ctl, well, "kernel", "ok", f"{release}, supported")
    check_row(ctl, well, "kernel config", "ok", "3 options")
    well.kernel.put(f"/boot/config-{release}", "CONFIG_LIVEPATCH=y\n")
    assert "cloud" not in check_row(ctl, well, "kernel config", "fail", ": CONFIG_KPROBES")


def test_not_loaded(bare: FakeHost, ctl: Ctl) -> None:
    assert row(ctl, bare, "livemm") == {
        "check": "livemm", "state": "warn", "seen": "livemm is not loaded",
        "todo": "livemmctl load"}
    bare.kernel.put("/proc/sys/kernel/modules_disabled", "1\n")
    assert row(ctl, bare, "modules")["state"] == "fail"


def test_a_dead_livepatch(well: FakeHost, ctl: Ctl) -> None:
    shutil.rmtree(well.path(PATCH))
    found = row(ctl, well, "livepatch")
    assert (found["state"], found["seen"]) == (
        "warn", "switched off from outside: livemm_klp_lists")
    shutil.rmtree(well.path(f"{MODULES}/livemm_klp_lists"))
    assert row(ctl, well, "livepatch")["seen"] == "supported; on: livemm_klp_giveback"
    shutil.rmtree(well.path(PATCHES) / "livemm_klp_giveback")
    shutil.rmtree(well.path(f"{MODULES}/livemm_klp_giveback"))
    assert row(ctl, well, "livepatch")["seen"] == "supported; none of ours is loaded"
    shutil.rmtree(well.path(PATCHES))
    # DKMS builds nothing there: no parameter of the module helps.
    assert "livepatch=0" not in check_row(ctl, well, "livepatch", "fail", "cannot livepatch")


def test_a_livepatch_that_no_policy_uses_is_no_tracer(well: FakeHost, ctl: Ctl) -> None:
    # Wrapped, not armed: refill is idle.
    well.kernel.put("/sys/kernel/tracing/enabled_functions", "rmqueue_bulk (1) R I\n")
    assert row(ctl, well, "ftrace users")["state"] == "ok"
    shutil.rmtree(well.path(PATCH))
    assert row(ctl, well, "ftrace users")["state"] == "warn"


def test_foreign_livepatch(well: FakeHost, ctl: Ctl) -> None:
    well.kernel.put("/sys/kernel/livepatch/kpatch_cve/enabled", "1\n")
    assert row(ctl, well, "other livepatches")["state"] == "ok"
    text = HOOKS.replace("idle        0 0 -", "unavailable 0 0 livepatch kpatch_cve holds it", 1)
    well.kernel.put(f"{DEBUGFS}/hooks", text, 0o400)
    check_row(ctl, well, "other livepatches", "warn", "refill")
    well.kernel.put("/sys/kernel/livepatch/kpatch_cve/transition", "1\n")
    check_row(ctl, well, "other livepatches", "warn", "kpatch_cve is in transition")


@pytest.mark.parametrize(
    ("said", "state", "seen"),
    [
        (f"livemm/0.1.0, {RELEASE}, x86_64: installed (WARNING! Diff)\n", "ok",
         "0.1.0 is installed"),
        (f"livemm, 0.1.0, {RELEASE}, x86_64: installed\n", "ok", "0.1.0 is installed"),
        (f"livemm/0.1.0, {RELEASE}, x86_64: built\n", "fail", "is built, not installed"),
        ("livemm/0.1.0: added\n", "fail", "is not installed for"),
        ("livemm/0.1.0, 6.12.9-amd64, x86_64: installed\n", "fail", "(only for 6.12.9-amd64)"),
        ("", "fail", "is not installed for"),
        ("\ufffd\ufffd", "fail", "is not installed for"),
    ],
)
def test_dkms(bare: FakeHost, ctl: Ctl, said: str, state: str, seen: str) -> None:
    bare.answers["dkms"] = Ran(0, said, "")
    bare.answers["modinfo"] = Ran(1, "", "not found")
    check_row(ctl, bare, "DKMS", state, seen)


def test_without_dkms(well: FakeHost, ctl: Ctl) -> None:
    well.answers["dkms"] = Ran(1, "", "no such command")
    assert "not by DKMS" in row(ctl, well, "DKMS")["seen"]


@pytest.mark.parametrize(
    ("value", "signer", "mok", "loaded", "state", "seen"),
    [
        ("\x01", "DKMS key", "mok.pub is already enrolled", False, "ok", "a key that is enrolled"),
        ("\x01", "DKMS key", "mok.pub is not enrolled", False, "fail", "not enrolled"),
        ("\x01", "DKMS key", "mok.pub is not enrolled", True, "ok", "the kernel has loaded livemm"),
        ("\x01", "DKMS key", None, False, "warn", "no mokutil"),
        ("\x01", "", "mok.pub is already enrolled", False, "fail", "livemm has none"),
        ("\x00", "", None, False, "ok", "Secure Boot is off"),
    ],
)
def test_signing(
    tmp_path: Path, ctl: Ctl, value: str, signer: str, mok: str | None, loaded: bool,
    state: str, seen: str,
) -> None:
    host = FakeHost.make(tmp_path / "boot", loaded=loaded)
    host.kernel.put(SECURE_BOOT, "\x06\x00\x00\x00" + value)
    host.answers["modinfo"] = Ran(0, signer + "\n", "")
    if mok is not None:
        host.answers["mokutil"] = Ran(1, mok + "\n", "")
    todo = check_row(ctl, host, "signing", state, seen)
    assert state == "ok" or "mokutil --import /var/lib/dkms/mok.pub" in todo


def test_sig_enforce(well: FakeHost, ctl: Ctl) -> None:
    well.kernel.put("/sys/module/module/parameters/sig_enforce", "Y\n")
    well.answers["modinfo -F"] = Ran(0, "\n", "")
    assert "dkms build --force livemm/VERSION, " in check_row(
        ctl, well, "signing", "fail", "livemm has none")
    # The newest sources, not the last in the order of the alphabet.
    for version in ("0.9.0", "0.10.0"):
        well.kernel.put(f"/usr/src/livemm-{version}/dkms.conf",
                        f'{CONF}PACKAGE_VERSION="{version}"\n')
    assert ("dkms build --force livemm/0.10.0, then dkms install --force livemm/0.10.0"
            in check_row(ctl, well, "signing", "fail", "livemm has none"))


def test_garbage_everywhere(well: FakeHost, ctl: Ctl) -> None:
    for path in sorted(well.root.rglob("*")):
        if path.is_file():
            path.unlink()
            path.write_bytes(b"\xff[\xfe]( : \x00 9999999999999999999999 (99999999999)\n" * 5)
    done = ctl("doctor", "--json", on=well)
    assert len(done.data()["checks"]) == len(CHECKS)
    shutil.rmtree(well.root)
    assert len(ctl("doctor", "--json", on=well).data()["checks"]) == len(CHECKS)


def test_held_memory_is_named(well: FakeHost, ctl: Ctl) -> None:
    check_row(ctl, well, "held memory", "ok", "no policy that is on holds any")
    ctl("enable", "pcp", on=well)
    check_row(ctl, well, "held memory", "ok", "add to MemFree and MemAvailable: pcp 2 MiB")
