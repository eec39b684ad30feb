# SPDX-License-Identifier: GPL-2.0-only
"""Loading and unloading, with bounded waits."""

import errno
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ab.doubles import HandClock
from conftest import Ctl, fails
from fake_tree import KLP, FakeHost
from livemmctl import modules
from livemmctl.app import App
from livemmctl.cli import run
from livemmctl.control import is_loaded
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Host, Ran
from livemmctl.modules import MODULES, PATCHES, LivepatchState
from livemmctl.profile.defaults import NOTED

#: One livepatch.
LISTS = "livemm_klp_lists"
PATCH = f"{PATCHES}/{LISTS}"


def clock_of(hand: HandClock) -> modules.Clock:
    return modules.Clock(hand.elapsed, hand.wait)


class Stuck(FakeHost):
    """A host whose livepatches stay in transition when switched off."""

    def switch(self, folder: str, text: str) -> None:
        self.kernel.put(f"{folder}/enabled", f"{text}\n")
        self.kernel.put(f"{folder}/transition", "1\n")


def stuck(root: Path) -> Stuck:
    """A loaded host like that, with a task that holds the transition up."""
    plain = FakeHost.make(root)
    host = Stuck(root, plain.kernel)
    host.kernel.load_klp(LISTS)
    for pid, name, state in ((7, "kworker", "0"), (42, "db writer", "1"), (43, "db", "1")):
        host.kernel.put(f"/proc/{pid}/task/{pid}/patch_state", f"{state}\n")
        host.kernel.put(f"/proc/{pid}/task/{pid}/comm", f"{name}\n")
    return host


def test_load_and_again(bare: FakeHost, ctl: Ctl) -> None:
    bare.answers["modprobe --showconfig"] = Ran(0, "options snd x=1\n", "")
    assert ctl("load", on=bare).out == "livemm is loaded\n"
    assert is_loaded(bare)
    assert bare.path(NOTED).exists()
    assert ctl("load", "--json", on=bare).data()["changed"] is False
    assert [words for words in bare.ran if words[1] == "livemm"] == [["modprobe", "livemm"]]


def test_load_off(bare: FakeHost, ctl: Ctl) -> None:
    assert ctl("load", "--off", on=bare).status == 0
    assert ["modprobe", "livemm", "off=1"] in bare.ran


#: The kernel's log before: what the module said when it was loaded earlier is no reason.
OLD = "[    1.5] livemm: lease ran out: every policy is switched off\n[    1.5] other: y\n"
NEW = "[    9.0] livemm: policies: pcp/decay_ms: 5: not in 500..60000\n"
NOT_PERMITTED = "ERROR: could not insert 'livemm': Operation not permitted"


@pytest.mark.parametrize(
    ("said", "new", "file", "text", "words", "status"),
    [
        ("FATAL: Module livemm not found in directory /lib/modules/6.1", NEW, "", "",
         "livemm is not installed for kernel 6.1.0-56-amd64", Exit.UNSUPPORTED),
        ("ERROR: could not insert 'livemm': Key was rejected by service", NEW, "", "",
         "not signed", Exit.DENIED),
        ("ERROR: could not insert 'livemm': Invalid argument", NEW, "", "",
         "policies: pcp/decay_ms: 5: not in 500..60000", Exit.REFUSED),
        ("ERROR: could not insert 'livemm': Cannot allocate memory", "", "", "",
         "Cannot allocate memory", Exit.REFUSED),
        ("", "", "", "", "no reason given", Exit.REFUSED),
        (NOT_PERMITTED, "", "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n",
         "under lockdown a module has to be signed", Exit.DENIED),
        (NOT_PERMITTED, "", "/proc/sys/kernel/modules_disabled", "1\n",
         "kernel.modules_disabled is 1", Exit.DENIED),
        (NOT_PERMITTED, "", "/proc/cmdline", "quiet\n", "is this a container?", Exit.DENIED),
    ],
)
def test_load_fails_in_words(
    bare: FakeHost, ctl: Ctl, said: str, new: str, file: str, text: str, words: str, status: Exit
) -> None:
    if file:
        bare.kernel.put(file, text)
    bare.answers["modprobe"] = Ran(1, "", said and f"modprobe: {said}")
    bare.logs[:] = [OLD, OLD + new]
    done = ctl("load", on=bare)
    done.failed(status, words)
    assert "lease" not in done.err


def test_load_waits_for_the_transition(bare: FakeHost) -> None:
    bare.kernel.load_klp()
    bare.kernel.put(f"{PATCH}/transition", "1\n")
    time = HandClock(at=[(3.0, lambda: bare.kernel.put(f"{PATCH}/transition", "0\n"))])
    assert modules.load(bare, 60, clock_of(time), [])
    assert 3 <= time.now_s < 4


def test_load_gives_up_waiting(tmp_path: Path) -> None:
    host = stuck(tmp_path)
    host.kernel.unload()
    host.kernel.put(f"{PATCH}/transition", "1\n")
    time = HandClock()
    with fails(Exit.TIMEOUT) as caught:
        modules.load(host, 5, clock_of(time), [])
    assert f"{LISTS} is in transition, held by 7 (kworker)" in caught.value.message
    assert "42" not in caught.value.message
    assert 5 <= time.now_s < 6


def test_unload_all(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.load_klp()
    # The livepatch of an earlier version of the package.
    host.kernel.load_klp("livemm_klp")
    names = ["livemm_klp", *KLP]
    assert ctl("unload").out == "every policy is off\n" + "".join(
        f"switching {name} off\n{name} is unloaded\n" for name in names) + "livemm is unloaded\n"
    assert host.ran == [["rmmod", name] for name in [*names, "livemm"]]
    assert host.names(PATCHES) == []
    assert ctl("unload").out == "no livepatch of livemm is loaded\n"
    assert ctl("unload", "--json").data() == {
        "output_version": 1, "loaded": False, "changed": False}


def test_the_recorder_goes_first(host: FakeHost, ctl: Ctl) -> None:
    modules.load_recorder(host)
    modules.load_recorder(host)
    assert host.ran == [["modprobe", modules.RECORDER]]
    host.answers[f"rmmod {modules.RECORDER}"] = Ran(1, "", "rmmod: ERROR: in use")
    ctl("unload").failed(Exit.PARTIAL, f"{modules.RECORDER} stays loaded", "somebody records")
    host.answers.clear()
    assert ctl("unload").out.splitlines()[1] == f"{modules.RECORDER} is unloaded"
    host.answers["modprobe"] = Ran(1, "", "modprobe: ERROR: no such device")
    with fails(Exit.REFUSED, "livemm_record does not load"):
        modules.load_recorder(host)


@pytest.mark.parametrize("limit_s", [0.0, 7.5, 600.0])
def test_unload_has_one_limit(host: FakeHost, monkeypatch: pytest.MonkeyPatch,
                              limit_s: float) -> None:
    """rmmod gets what is left of --timeout, and a second at least."""
    host.kernel.load_klp(LISTS)
    time = HandClock()
    given: list[tuple[str, float]] = []
    run_it = FakeHost.run

    def slow(self: FakeHost, argv: list[str], timeout_s: float = 60.0) -> Ran:
        given.append((argv[1], timeout_s))
        time.wait(2)
        return run_it(self, argv, timeout_s)

    monkeypatch.setattr(FakeHost, "run", slow)
    modules.unload(host, limit_s, clock_of(time), lambda _: None)
    assert given == [(LISTS, max(limit_s, 1.0)), ("livemm", max(limit_s - 2, 1.0))]


def test_unload_says_that_rmmod_goes_on(host: FakeHost, monkeypatch: pytest.MonkeyPatch,
                                        ctl: Ctl) -> None:
    def stuck_there(_: FakeHost, argv: list[str], timeout_s: float = 60.0) -> Ran:
        raise CtlError(f"{argv[0]} did not end within {timeout_s:g} s", Exit.TIMEOUT)

    monkeypatch.setattr(FakeHost, "run", stuck_there)
    ctl("unload", "-t", "3").failed(Exit.TIMEOUT, "livemm is not unloaded yet: rmmod did not end",
                                    "run the command again")


def test_a_command_that_cannot_be_killed_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """As rmmod that waits in the kernel: it takes no signal."""
    left: list[subprocess.Popen[str]] = []

    def kill(self: "subprocess.Popen[str]") -> None:
        left.append(self)

    with monkeypatch.context() as patch, fails(Exit.TIMEOUT, "sleep did not end within 0.1 s"):
        patch.setattr(subprocess.Popen, "kill", kill)
        Host().run(["sleep", "60"], 0.1)
    assert left[0].poll() is None
    left[0].kill()
    left[0].communicate()


def test_unload_leaves_what_is_not_ours(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.load_klp(*KLP, "kpatch_cve")
    assert ctl("unload").status == 0
    assert host.names(PATCHES) == ["kpatch_cve"]
    assert not [words for words in host.ran if "kpatch_cve" in words]


def test_unload_a_module_whose_livepatch_is_gone(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.load_klp(LISTS)
    shutil.rmtree(host.path(PATCH))
    assert modules.livepatch_state(host) is LivepatchState.OFF
    assert ctl("unload").out == f"every policy is off\n{LISTS} is unloaded\nlivemm is unloaded\n"


def test_unload_begins_with_the_one_in_transition(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.load_klp()
    host.kernel.put(f"{PATCH}/transition", "1\n")
    assert ctl("unload").status == 0
    assert host.ran[0] == ["rmmod", LISTS]
    assert modules.klp_modules(host) == []


def test_unload_waits_for_somebody_elses_transition(host: FakeHost) -> None:
    host.kernel.load_klp(*KLP, "kpatch_cve")
    other = f"{PATCHES}/kpatch_cve/transition"
    host.kernel.put(other, "1\n")
    time = HandClock(at=[(3.0, lambda: host.kernel.put(other, "0\n"))])
    modules.unload(host, 60, clock_of(time), lambda _: None)
    assert 3 <= time.now_s < 4
    assert modules.klp_modules(host) == []


def test_unload_gives_up_on_somebody_elses_transition(host: FakeHost) -> None:
    host.kernel.load_klp(*KLP, "kpatch_cve")
    host.kernel.put(f"{PATCHES}/kpatch_cve/transition", "1\n")
    host.kernel.put("/proc/9/task/9/patch_state", "0\n")
    host.kernel.put("/proc/9/task/9/comm", "sleeper\n")
    with fails(Exit.TIMEOUT) as caught:
        modules.unload(host, 5, clock_of(HandClock()), lambda _: None)
    assert "kpatch_cve is in transition, held by 9 (sleeper)" in caught.value.message


def test_unload_refused_leaves_livemm(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.set("pcp", enabled="1")
    host.answers["rmmod livemm"] = Ran(1, "", "rmmod: ERROR: Module livemm is in use")
    done = ctl("unload")
    assert done.status == Exit.REFUSED
    assert done.err.startswith(
        "livemmctl: livemm stays loaded: rmmod: ERROR: Module livemm is in use (livemmctl hooks")
    assert host.kernel.values["pcp"]["enabled"] == "0"


def test_unload_gives_up_and_names_the_tasks(tmp_path: Path) -> None:
    host = stuck(tmp_path)
    time = HandClock()
    said: list[str] = []
    with fails(Exit.TIMEOUT) as caught:
        modules.unload(host, 10, clock_of(time), said.append)
    assert "held by 42 (db writer), 43 (db)" in caught.value.message
    assert 10 <= time.now_s < 11
    assert modules.livepatch_state(host) is LivepatchState.TRANSITION
    # And again, when the tasks have gone: nothing is written a second time.
    time.at = [(time.now_s + 1, lambda: shutil.rmtree(host.path(PATCH)))]
    modules.unload(host, 10, clock_of(time), said.append)
    assert said.count(f"switching {LISTS} off") == 1
    assert modules.klp_modules(host) == []


def test_unload_klp_that_stays(host: FakeHost) -> None:
    host.kernel.load_klp()
    host.answers[f"rmmod {LISTS}"] = Ran(1, "", "rmmod: ERROR: in use")
    time = HandClock()
    with fails(Exit.PARTIAL, f"{LISTS} stays loaded"):
        modules.unload(host, 2, clock_of(time), lambda _: None)


def test_unload_klp_that_somebody_unloads_first(host: FakeHost) -> None:
    host.kernel.load_klp(LISTS)
    host.answers[f"rmmod {LISTS}"] = Ran(1, "", "rmmod: ERROR: not currently loaded")
    time = HandClock(at=[(1.0, lambda: shutil.rmtree(host.path(f"{MODULES}/{LISTS}")))])
    said: list[str] = []
    modules.unload(host, 10, clock_of(time), said.append)
    assert said[-2:] == [f"{LISTS} is unloaded", "livemm is unloaded"]
    assert 1 <= time.now_s < 2


def test_unload_klp_that_is_being_loaded(host: FakeHost) -> None:
    host.kernel.put(f"{MODULES}/{LISTS}/refcnt", "1\n")
    host.answers[f"rmmod {LISTS}"] = Ran(1, "", "rmmod: ERROR: Module is in use")

    def loads() -> None:
        host.kernel.load_klp(LISTS)
        del host.answers[f"rmmod {LISTS}"]

    time = HandClock(at=[(1.0, loads)])
    said: list[str] = []
    modules.unload(host, 10, clock_of(time), said.append)
    assert said[1:] == [f"switching {LISTS} off", f"{LISTS} is unloaded", "livemm is unloaded"]


def test_unload_klp_that_comes_meanwhile(host: FakeHost) -> None:
    host.answers["rmmod livemm"] = Ran(1, "", "rmmod: ERROR: Module livemm is in use")

    def loads() -> None:
        host.kernel.load_klp(LISTS)
        del host.answers["rmmod livemm"]

    time = HandClock(at=[(0.1, loads)])
    said: list[str] = []
    modules.unload(host, 10, clock_of(time), said.append)
    assert said[-2:] == [f"{LISTS} is unloaded", "livemm is unloaded"]
    assert modules.klp_modules(host) == []


def test_unload_patch_that_cannot_be_switched(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FakeHost.store

    def refused(self: FakeHost, path: str, text: str) -> None:
        if path.startswith(PATCHES):
            raise OSError(errno.EINVAL, "Invalid argument")
        store(self, path, text)

    host.kernel.load_klp()
    monkeypatch.setattr(FakeHost, "store", refused)
    with fails(Exit.PARTIAL, "cannot be switched off: invalid argument"):
        modules.unload(host, 2, clock_of(HandClock()), lambda _: None)


def test_unload_not_root(host: FakeHost, ctl: Ctl) -> None:
    user = FakeHost(host.root, host.kernel, uid=1000)
    user.answers["rmmod"] = Ran(1, "", "rmmod: ERROR: could not remove: Operation not permitted")
    ctl("unload", on=user).failed(Exit.DENIED, "run the command as root")


def test_many_tasks_are_not_all_named() -> None:
    text = modules.named([f"{pid} (x)" for pid in range(25)])
    assert "9 (x) and 15 more" in text
    assert "10 (x)" not in text
    assert "no task" in modules.named([])


def test_a_task_that_ends_is_none(tmp_path: Path) -> None:
    host = stuck(tmp_path)
    host.path("/proc/43/task/43/patch_state").unlink()
    host.path("/proc/notapid").mkdir()
    assert modules.holders(host, patched=True) == ["42 (db writer)"]


def test_make_unload_is_the_same_command(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(modules, "Host", lambda: host)
    monkeypatch.setattr(sys, "argv", ["modules", "--help"])
    host.kernel.load_klp()
    assert modules.main() == Exit.USAGE
    assert capfd.readouterr().err.startswith("usage: ")
    assert not host.ran
    monkeypatch.setattr(sys, "argv", ["modules"])
    host.answers["rmmod livemm"] = Ran(1, "", "in use")
    assert modules.main() == Exit.REFUSED
    assert "unload: livemm stays loaded: in use" in capfd.readouterr().err
    host.answers.pop("rmmod livemm")
    assert modules.main() == Exit.OK
    assert capfd.readouterr().out.endswith("livemm is unloaded\n")


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
@pytest.mark.parametrize("command", [
    pytest.param(lambda host: run(["unload"], App(host)), id="livemmctl"),
    pytest.param(lambda _: modules.main(), id="make"),
])
def test_unload_goes_on_when_nobody_listens(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    number: int, command: Callable[[FakeHost], int]
) -> None:
    """No livepatch is left behind by `unload | head -1`, or where the disk is full."""
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(number, os.strerror(number))

    host.kernel.load_klp()
    monkeypatch.setattr(modules, "Host", lambda: host)
    monkeypatch.setattr(sys, "argv", ["modules"])
    with capfd.disabled():
        # The command may put another file in the place of standard output.
        kept = os.dup(1)
        try:
            monkeypatch.setattr(sys, "stdout", Closed())
            assert command(host) == Exit.OK
        finally:
            os.dup2(kept, 1)
            os.close(kept)
    assert modules.klp_modules(host) == []


def test_make_unload_needs_no_library() -> None:
    code = "import sys, livemmctl.modules; sys.exit('click' in sys.modules)"
    tools = Path(modules.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], cwd=tools, check=False).returncode == 0
