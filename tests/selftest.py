# SPDX-License-Identifier: GPL-2.0-only
"""The harness tried on what it must catch: python3 -m tests.selftest"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from functools import partial
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from guests import emulator
from guests.accel import (
    EMULATED_CPU,
    EMULATION,
    PARALLEL,
    PARALLEL_EMULATION,
    SINGLE,
    Accel,
    emulated,
)
from guests.boot import (
    Guest,
    boot,
    command,
    emulator_aborted,
    known_fault,
    megabytes,
    slot,
    slow_node,
    topology,
    wait,
)
from guests.command import call as run_program
from guests.kernel_build import config_lost
from guests.kernels import images, load, stock_image
from guests.modules import leaves
from guests.programs import compile_program, pagetouch
from guests.report import BUILD, ROOT, Stage, Test, ToolError, main_guard
from guests.vcpus import Watch
from guests.verdict import Verdict, first_report, foreign_races, read_channel
from tests import flavours, layers, packages, repo_rules, setup
from tests.check import counted
from tests.inject import selftest as inject
from tests.kunit import cases, complete_ktap, suites_lost
from tests.matrix import rule
from tests.run import Scenario, emulations_of, guest_for, guests_for, known_kernels, parse, run_all
from tests.torture import selftest as torture

REPORTS = [
    "[   12.345678] WARNING: CPU: 1 PID: 77 at mm/page_alloc.c:123 foo+0x1/0x2 [livemm]",
    "[   12.345678] BUG: unable to handle page fault for address: ffff888000000000",
    "[   12.345678] BUG: KASAN: use-after-free in lmm_foo+0x1/0x2",
    "[   12.345678] BUG: sleeping function called from invalid context at mm/util.c:1",
    "[   12.345678] WARNING: possible circular locking dependency detected",
    "[   12.345678] WARNING: suspicious RCU usage",
    "[   12.345678] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[   12.345678] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "[   12.345678] watchdog: BUG: soft lockup - CPU#0 stuck for 26s!",
    "[   12.345678] INFO: task modprobe:77 blocked for more than 120 seconds.",
    "[   12.345678] Kernel panic - not syncing: Fatal exception",
    "[   12.345678] Oops: 0000 [#1] PREEMPT SMP NOPTI",
    "[   12.345678] Call Trace:",
    "[   12.345678] UBSAN: array-index-out-of-bounds in mm/a.c:1:2",
    "[   12.345678] BUG: Bad page state in process foo  pfn:00001",
    "[   12.345678] work func foo+0x0/0x1 [livemm] enqueued on deprecated workqueue. Use ...",
]
# Releases of the matrix's series that are not Debian's.
FOREIGN = [
    "6.12.0-124.8.1.el10_1.x86_64", "6.12.0-160000.37-default", "6.12.0-107.el10uek.x86_64",
    "6.1.141-155.222.amzn2023.x86_64", "6.12.46-66.121.amzn2023.x86_64", "7.2.6-1-cachyos",
    "7.2.5-arch1-1", "7.2.4-200.fc44.x86_64", "6.12.95", "6.1.141", "7.2.0-rc4+", "6.1.15-1-pve",
    "6.1.0-1036-oem", "6.12.9-1-liquorix-amd64", "6.12.46-x64v3-xanmod1", "6.12.47+rpt-rpi-v8",
    "6.12.33-production+truenas", "6.12.46-flatcar", "6.12.31-talos",
    "6.1.21.2-microsoft-standard-WSL2", "6.1.123+",
]
HARMLESS = """
[    0.000000] Command line: panic_on_warn=1 oops=panic panic=-1
[    0.000000] kasan: KernelAddressSanitizer initialized
[    0.100000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
[    1.000000] livemm: loading out-of-tree module taints kernel.
[    1.000000] debug: no warning here
[    5.595926] virtme-ng-init: WARNING: failed to run: "systemd-tmpfiles" --create
"""


def written(folder: str, files: dict[str, str]) -> Path:
    """The folder, with these files in it."""
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Path(folder)


def wrong_includes_are_seen() -> Iterator[str]:
    """An arrow upwards, an arrow between policies, a circle and a lost file fail; others do not."""
    good = {"livemm.h": "<linux/mm.h>", "compat/compat.h": "", "hook/table.h": "livemm.h",
            "hook/table.c": "table.h compat/compat.h", "flow/events.h": "hook/table.h",
            "flow/deliver.h": "events.h", "control/control.h": "flow/events.h",
            "policy/common/zones.h": "", "policy/a/core.h": "",
            "policy/a/policy.c": "core.h flow/events.h policy/common/zones.h",
            "policy/b/core.h": "", "main.c": "control/control.h"}
    bad = {"hook/table.c": "control/control.h", "policy/b/core.h": "policy/a/core.h",
           "livemm.h": "hook/table.h", "flow/events.h": "policy/a/core.h",
           "flow/deliver.h": "control/control.h",
           "policy/common/zones.h": "control/control.h", "hook/extra.h": "table.h extra2.h",
           "main.c": "nothing.h", "attic/a.h": "livemm.h", "control/b.h": "<main.c>"}
    round_ = {"hook/a.h": "b.h", "hook/b.h": "c.h", "hook/c.h": "", "hook/a.c": "a.h",
              "hook/c.c": "a.h"}
    for change in [{}, *({name: text} for name, text in bad.items()), round_]:
        with tempfile.TemporaryDirectory() as folder:
            said = list(layers.check(written(folder, {
                name: "".join(f"#include {one}\n" if one.startswith("<") else
                              f'#include "{one}"\n' for one in text.split())
                for name, text in (good | change).items()})))
        if bool(said) != bool(change):
            yield f"{change}: said '{said}'"


def wrong_calls_are_seen() -> Iterator[str]:
    """A circle of calls, a call upwards and a circle that is gone fail; data and statics do not."""
    good = {"hook/a": "void b(void); int v; void a(void) { b(); }",
            "hook/b": "extern int v; static void a(void) { } void b(void) { v++; a(); }",
            "control/c": "void a(void); void c(void) { a(); }"}
    circle = {"hook/b": "void a(void); void b(void) { a(); }"}
    up = {"hook/b": "void c(void); void b(void) { c(); }", "control/c": "void c(void) { }"}
    pair = frozenset({"hook/a", "hook/b"})
    for change, known, wrong in (({}, {}, False), (circle, {}, True), (up, {}, True),
                                 (circle, {pair: "known"}, False), ({}, {pair: "gone"}, True)):
        with tempfile.TemporaryDirectory() as folder:
            top = written(folder, {f"{name}.c": text for name, text in (good | change).items()})
            for path in top.rglob("*.c"):
                run_program(["gcc-12", "-c", path, "-o", path.with_suffix(".o")])
            said = list(layers.check_calls(top, known))
        if bool(said) != wrong:
            yield f"{change}, known {known}: said '{said}'"


def functions_defined_twice_are_seen() -> None:
    """A scenario that replaces a function of its library fails; another scenario does not."""
    lib = "patch_off() { :; }\nunload() { patch_off; }\n"
    source = '. "$LMM_ROOT/tests/scenarios/lib.sh"\n'
    good = {"lib.sh": lib, "one.sh": source + "own() {\n", "two.sh": "patch_off() {\n"}
    said = list(repo_rules.defined_twice(good))
    assert not said, said
    said = list(repo_rules.defined_twice(good | {"one.sh": source + "patch_off() {\n"}))
    assert "one.sh: patch_off()" in "".join(said), f"not seen, said '{said}'"


def wrong_imports_are_seen() -> Iterator[str]:
    """A package that imports against the table fails, also inside a function; others do not."""
    for name, text, good in (
        ("guests/boot.py", "from guests.command import call\nimport os\n", True),
        ("bench/run.py", "from guests import boot\n", True),
        ("guests/boot.py", "from tests.run import parse\n", False),
        ("bench/run.py", "import tests.report\n", False),
        ("tests/run.py", "def f() -> None:\n    from bench import guest\n", False),
    ):
        with tempfile.TemporaryDirectory() as folder:
            said = list(packages.check(written(folder, {name: text}), [Path(name)]))
        if bool(said) == good:
            yield f"{name}: {text}: said '{said}'"


def reports_are_seen() -> Iterator[str]:
    """Each kind of report fails a guest; a quiet console does not."""
    yield from (line for line in REPORTS if not first_report(HARMLESS + line + "\n", []))
    if found := first_report(HARMLESS, []):
        yield f"taken for a report: {found}"
    if first_report(REPORTS[0], [r"at mm/page_alloc\.c:123"]):
        yield "an allowed line was counted"


def races_are_told_apart() -> None:
    """A race counts when a function of ours has made an access that is not marked, or may have."""
    race = ("=" * 66 + "\n[   9.1] BUG: KCSAN: data-race in a / b\n\n"
            "write to 0x1 of 8 bytes by task 1 on cpu 0:\n a+0x1/0x2{}\n c+0x3/0x4\n\n"
            "read to 0x1 of 8 bytes by task 2 on cpu 1:\n b+0x1/0x2{}\n\n"
            "Reported by Kernel Concurrency Sanitizer on:\n" + "=" * 66 + "\n")
    alien = race.format("", " [lmm_exchange]")
    assert first_report(alien, []) == "", "a race of the kernel's own counts"
    assert dict(foreign_races(alien * 2 + race.format("", " [livemm]"))) == \
        {"data-race in a / b": 2}, foreign_races(alien)
    for words in ((" [livemm]", ""), ("", " [livemm]"), ("", " [livemm_klp_lists]")):
        assert "[livemm" in first_report(alien + race.format(*words), []), words
    mark = race.replace("read to", "read (marked) to").replace(" b\n", " b [livemm]\n")
    assert not first_report(mark.format("", " [livemm]"), []), "our access is marked"
    assert first_report(mark.format(" [livemm]", ""), []), "only the other access is marked"
    clock = race.format("", "\n d+0x5/0x6 [livemm]")
    assert first_report(clock, []), "our function has called the one that reads"
    assert not first_report(clock.replace(" b+", " ktime_get_mono_fast_ns+"), []), "latched clock"
    unknown = ("BUG: KCSAN: data-race in f+0x1/0x2 [livemm]\n\nrace at unknown origin, with read "
               "to 0x1 of 8 bytes by interrupt on cpu 0:\n f+0x1/0x2 [livemm]\n\n" + "=" * 66)
    assert first_report(unknown, []), "the other side is unknown"
    lost = alien.replace(" c+0x3/0x4", "** 3 printk messages dropped **")
    assert first_report(lost, []) and not foreign_races(lost), "a part of the report is lost"
    assert "WARNING" in first_report(alien + "[ 9.2] WARNING: CPU: 0 PID: 1 at x\n", [])
    within = alien.replace(" c+0x3/0x4", " c+0x3/0x4\nWARNING: CPU: 0 PID: 1 at x")
    assert first_report(within, []), "a report of another CPU within that of a race"
    assert first_report("[ 9.1] BUG: KASAN: use-after-free in a\n", []), "KASAN is no race"


def channel_is_read() -> None:
    """Checks, notes, the end; and a script that never ended."""
    verdict = Verdict("x")
    status = read_channel(verdict, "ok a b\nnot ok c # why\nnote n\ngarbage\nend 0\n")
    got = [(test.name, test.ok, test.note) for test in verdict.tests]
    assert got == [("a b", True, ""), ("c", False, "why")], got
    assert status == 0 and verdict.ended and not verdict.ok, f"{status} {verdict}"
    assert verdict.notes == ["n", "channel: garbage"], verdict
    parts = Verdict("z")
    read_channel(parts, "part a\nok x\nnote n\npart b\nnot ok x # why\npart\nok b: y\nend 0\n")
    assert [test.name for test in parts.tests] == ["a: x", "b: x", "b: y"], parts
    assert parts.notes == ["a: n"], parts
    silent = Verdict("s")
    read_channel(silent, "part a\nok x\npart\npart b\nnote n\npart\nok b: leaves nothing\nend 0\n")
    assert [test.name for test in silent.tests if not test.ok] == ["b: makes a check"], silent
    cut = Verdict("y")
    assert read_channel(cut, "ok a\n") is None and not cut.ended, "a cut channel ended"


def checks_of_what_is_not_there_fail() -> Iterator[str]:
    """A check of a file that cannot be read, or by a command that there is not, fails."""
    for text, good in (('same x "$(lists_changed)" ""', False), ("none_armed", False),
                       ("refute x no_such_command", False), ("refute x /dev/null", False),
                       ("refute x grep x no_such_file", False),
                       ("refute x true", False), ("refute x false", True)):
        verdict = Verdict("x")
        with tempfile.TemporaryDirectory() as folder:
            script = f'. "$LMM_ROOT/tests/scenarios/lib.sh"\nLMM_DBG={folder}\n{text}\n'
            path = written(folder, {"script": script, "channel": ""})
            run_program(["sh", "-c", f"exec sh {path}/script 3>{path}/channel"], check=False,
                        env={"LMM_ROOT": str(ROOT), "LMM_MODDIR": folder})
            read_channel(verdict, (path / "channel").read_text(encoding="utf-8"))
        if not verdict.tests or verdict.ok != good:
            yield f"{text}: {verdict.tests}"


def aborts_of_the_emulator_are_told() -> None:
    """Only an emulator that aborts before the first check lets a guest begin anew."""
    words = "qemu-system-x86_64: system/physmem.c:2678: iotlb_to_section: Assertion `x' failed.\n"
    with tempfile.TemporaryDirectory() as folder:
        console = Path(folder) / "console"
        verdict = Verdict("x", console=console, reason="died")
        for before in "[    1.7", "":
            console.write_text(HARMLESS + before + words, encoding="utf-8")
            assert emulator_aborted(verdict), f"not told behind {before!r}"
        verdict.tests.append(Test("a check", True, ""))
        assert not emulator_aborted(verdict), "told after a check"
        verdict.tests.clear()
        console.write_text(HARMLESS + "kernel: Assertion failed\n", encoding="utf-8")
        assert not emulator_aborted(verdict), "a guest's own words are told"


def a_task_that_ends_is_told() -> None:
    """Only livepatch's own warning of a task that ends lets a guest begin anew."""
    warning = """\
[   83.4] WARNING: CPU: 0 PID: 358 at kernel/livepatch/patch.c:98 klp_ftrace_handler+0x2d1/0x360
[   83.4] Call Trace:
[   83.4]  <IRQ>
[   83.4]  free_pcppages_bulk+0x5/0x900
[   83.4]  </IRQ>
[   83.4]  do_exit+0x11d/0x1480
[   83.4] ---[ end trace 0000000000000000 ]---
"""
    other = "[   83.5]  do_exit+0x11d/0x1480\n"
    with tempfile.TemporaryDirectory() as folder:
        console = Path(folder) / "console"
        verdict = Verdict("x", console=console, reason=f"the kernel reported:\n{warning}")
        for text, told in (
                (HARMLESS + warning, True),
                (HARMLESS + warning.replace(" do_exit", " do_fault") + other, False),
                (HARMLESS + warning.replace("klp_ftrace_handler", "rmqueue_bulk"), False)):
            console.write_text(text, encoding="utf-8")
            assert bool(known_fault(verdict)) == told, f"{'not ' * told}told: {text}"
        console.write_text(warning, encoding="utf-8")
        for verdict.reason in "", "the script ended with status 1":
            assert not known_fault(verdict), f"told of a guest with reason: {verdict.reason}"


def a_stray_breakpoint_is_told() -> None:
    """Only where CPUs are emulated side by side, and memory has no int3."""
    report = ("the kernel reported:\n[  241.7] Oops: int3: 0000 [#1] SMP NOPTI\n"
              "[  241.7] RIP: 0010:__schedule+0xab/0x1060\n"
              "[  241.7] Code: 4b 0a 0f 1f 44 00 00 0f <1f> 44 00 00 fa\n")
    for threads, text, told in (("multi", report, True), ("single", report, False),
                                ("multi", report.replace("0f <", "cc <"), False),
                                ("multi", report.replace("int3", "0000"), False)):
        accel = f"tcg,thread={threads} on QEMU 10"
        verdict = Verdict("x", console=Path("/dev/null"), accel=accel, reason=text)
        assert bool(known_fault(verdict)) == told, f"{'not ' * told}told: {accel}: {text}"


def a_guest_that_does_not_start_is_told() -> None:
    """Only where the script has not begun: a script that takes long is waited for."""
    assert known_fault(Verdict("x", console=Path("/dev/null"), stalled=True))
    with patch("guests.boot.BOOT_SECONDS", 0.2):
        for there in (False, True):
            process = subprocess.Popen(["sleep", "1"], start_new_session=True)
            assert wait(process, 60, partial(bool, there)) == there, f"begun: {there}"


def refused(call: Callable[[], object], words: str) -> None:
    """The call must raise a ToolError that says so."""
    try:
        call()
    except ToolError as error:
        assert re.search(words, str(error)), f"said: {error}"
    else:
        raise AssertionError(f"not refused: {words}")


def parsed(head: str, known: Sequence[str] = ("6.1",), name: str = "s") -> Scenario:
    """A scenario with that head."""
    with tempfile.TemporaryDirectory() as folder:
        return parse(written(folder, {f"{name}.sh": head}) / f"{name}.sh", list(known))


def heads_are_read() -> None:
    """A scenario's head; a typo in it is refused, not ignored."""
    head = "# kernels: 6.1 debug\n# named: 6.12\n# cpus: 4\n# nodes: 2\n# args: a b=1\n"
    found = parsed(head + "\n# cpus: 9\n", ["6.1", "6.12", "debug"])
    assert (found.kernels, found.named) == (["6.1", "debug"], ["6.12"]), found
    assert (found.cpus, found.nodes, found.args) == (4, 2, ["a", "b=1"]), found
    refused(lambda: parsed("# kernels: 5.10\n"), "5.10: not in the matrix")
    refused(lambda: parsed("# cpus: two\n"), "two: not a number")
    refused(lambda: parsed("# balloon: maybe\n"), "maybe: not in yes, reporting")


def guests_are_shared() -> None:
    """Scenarios that share a guest need the same machine; others have one each."""
    shared = "# kernels: 6.1\n# guest: shared\n"
    scenarios = [parsed(shared, name="a"), parsed(shared + "# timeout: 100\n", name="b"),
                 parsed("# kernels: 6.1\n", name="c"), parsed(shared + "# cpus: 4\n", name="d")]
    found = guests_for(scenarios, {"6.1": stock_image(load()[0][0])}, soak=False, kvm=False)
    names = [guest.name for guest in found]
    assert names == ["a+b-6.1", "c-6.1", "d-6.1"], names
    assert found[0].env["LMM_PARTS"] == "a b" and found[0].timeout == 1000, found[0]
    refused(lambda: parsed("# guest: own\n"), "guest: own: not shared")


def emulations_are_read() -> None:
    """The emulation of a scenario's head, and its guests; an unknown word is refused."""
    image = stock_image(load()[0][0])
    for head, wanted in (
        ("", [SINGLE]), ("# emulation: single\n", [SINGLE]),
        ("# emulation: parallel\n", [PARALLEL]),
        ("# emulation: parallel debug\n", [SINGLE]),
        ("# emulation: both 6.1 debug\n", [SINGLE, PARALLEL]),
    ):
        found = parsed(head, ["6.1", "debug"])
        assert emulations_of(found, "6.1", kvm=False) == wanted, f"{head}: {found}"
        assert emulations_of(found, "6.1", kvm=True) == [SINGLE], f"{head}: {found}"
    names = [guest_for(found, image, way).name for way in emulations_of(found, "6.1", kvm=False)]
    assert names == ["s-6.1", "s-6.1-parallel"], names
    refused(lambda: parsed("# emulation: both 5.10\n"), "5.10: not in the matrix")
    refused(lambda: parsed("# emulation: sideways\n"), "sideways: not in single, ")
    refused(lambda: emulated("sideways"), "neither single nor parallel")


def each_emulation_has_its_emulator() -> None:
    """Each emulation has its program; without the program no other is used."""
    single, parallel = emulated(SINGLE), emulated(PARALLEL)
    assert single.argument == EMULATION, single
    assert parallel.argument == PARALLEL_EMULATION, parallel
    guest = Guest("t", stock_image(load()[0][0]), Path("x"))
    for accel in (single, parallel, Accel("kvm", "qemu", "")):
        argv = command(guest, accel, Path("i"), Path("c"), Path("o"))
        for other in (single, parallel):
            assert (f"-accel {other.argument}" in " ".join(argv)) is (accel == other), argv
        assert (parallel.qemu in argv) is (accel.argument != "kvm"), argv
        assert (f"-cpu {EMULATED_CPU}" in " ".join(argv)) is (accel.argument != "kvm"), argv
    absent = replace(emulator.load(), version="1:0.9.*")
    refused(lambda: emulator.fetched(absent), "1:0.9.* of .* not in the cache; run ")


def threads_of_cpus_are_told_apart() -> None:
    """A thread for each CPU is parallel; one for all, too few or none is not."""
    watch = Watch()
    for names, argument, right in (
        (["CPU 0/TCG", "CPU 1/TCG"], PARALLEL_EMULATION, True),
        (["ALL CPUs/TCG"], PARALLEL_EMULATION, False),
        (["CPU 0/TCG"], PARALLEL_EMULATION, False),
        ([], PARALLEL_EMULATION, False),
        (["ALL CPUs/TCG"], EMULATION, True),
        (["CPU 0/TCG", "CPU 1/TCG"], EMULATION, False),
        (["CPU 0/KVM", "CPU 1/KVM"], "kvm", True),
    ):
        watch.seconds = dict.fromkeys(names, 1.0)
        assert (watch.wrong(argument, 2) == "") is right, f"{argument}: {names}"


def machines_are_laid_out() -> None:
    """A socket a node; what cannot be split is refused."""
    guest = Guest("t", stock_image(load()[0][0]), Path("x"), cpus=4, nodes=2, memory="2G")
    words = " ".join(topology(guest))
    assert "4,sockets=2,cores=2" in words and "--numa 1024M,cpus=2-3" in words, words
    guest.cpus = 3
    refused(lambda: topology(guest), "do not split")
    guest.slow = "512M"
    refused(lambda: slow_node(guest), "beside one node")
    guest.nodes = 1
    words = " ".join([*topology(guest), *slow_node(guest)])
    assert "--memory 2560M" in words and "id=node1,size=512M" in words, words
    assert "hmat=on" in words and "--numa" not in words, words
    assert not slot(guest)
    guest.dimm = "256M"
    words = " ".join(slot(guest))
    assert "size=256M" in words and "pc-dimm" in words, words
    refused(lambda: megabytes("lots"), "write it as")


def ktap_is_read() -> None:
    """No suite is an error; nested groups are walked."""
    group = {"sub_groups": [{"name": "s", "test_cases": [{"name": "t", "status": "SKIP"}]}]}
    found = list(cases(group))
    assert found == [("s: t", "SKIP")], found
    text = complete_ktap("    ok 1 a\nok 1 s\nnot ok 2 r\n")
    assert text.startswith("KTAP version 1\n1..2\n"), text
    refused(lambda: complete_ktap("nothing\n"), "no suite ended")
    sources = "".join(f'static struct kunit_suite {name}_suite = {{\n\t.name = "{name}",\n}};\n'
                      for name in "rst")
    assert suites_lost("    ok 1 t\nok 1 s\nnot ok 2 r # x\n", sources) == "t", sources


def a_lost_configuration_line_is_named() -> None:
    """A lost line of the debug kernel's configuration is named."""
    lost = config_lost("# c\nCONFIG_A=y\nCONFIG_B=n\nCONFIG_C=y\n", "CONFIG_A=y\nCONFIG_B=y\n")
    assert lost == ["CONFIG_B=n", "CONFIG_C=y"], lost


def built_kernels_are_told_apart() -> None:
    """Each has a release of its own; a wrong name is refused."""
    rows = load()[1].values()
    names = [(row.source, *re.findall(r"^CONFIG_LOCALVERSION=.+$", row.config, re.MULTILINE))
             for row in rows]
    assert all(len(found) == 2 for found in names), f"releases: {names}"
    assert len(set(names)) == len(rows), f"releases: {names}"
    known = known_kernels()
    assert known == [*(kernel.series for kernel in load()[0]), "debug"], f"scenarios have {known}"
    refused(lambda: images("5.10"), r"not in .*6\.1, .*debug, inject, kcsan, ")


def flavours_are_compared() -> None:
    """Each hook and policy that a flavour lacks is told, and so is a kernel that was not seen."""
    notes = ["hooks unavailable: refill", "supported: pcp numa", "armed by pcp: drain page_alloc",
             "pcp: no: hooks unavailable: drain"]
    base = flavours.Seen(rows=flavours.rows_in(notes))
    assert base.rows["armed by pcp"] == {"drain", "page_alloc"} and len(base.rows) == 3, base.rows
    assert not list(flavours.lost(base, base)), "a kernel lacks what it has itself"
    for kind, rows in (("hooks unavailable", {"refill", "drain"}), ("supported", {"numa"}),
                       ("armed by pcp", {"drain"}), ("armed by pcp", set())):
        found = list(flavours.lost(flavours.Seen(rows={**base.rows, kind: rows}), base))
        assert len(found) == 1 and found[0].startswith(kind), f"{kind}: {found}"
    assert list(flavours.lost(base, flavours.Seen())), "compared with nothing"


def wrappers_that_are_left_are_seen() -> None:
    """A jump of a wrapper's to other code of the module or to the kernel's; not one within."""
    text = ("0000000000000010 <wrap_a>:\n"
            "  12:\tjne    20 <wrap_a+0x10>\n"
            "  14:\tcall   19 <wrap_a+0x9>\n\t\t\t15: R_X86_64_PLT32\t__SCT__orig_a-0x4\n"
            "  1a:\tcall   40 <helper>\n"
            "  20:\tjmp    {target}\n"
            "0000000000000040 <helper>:\n"
            "  44:\tjmp    10 <wrap_a>\n")
    assert leaves(text.format(target="12 <wrap_a+0x2>")) == []
    assert leaves("") == ["no wrapper is there"]
    for target, name in {
        "40 <helper>": "helper",
        "25 <wrap_a+0x15>\n\t\t\t21: R_X86_64_PC32\t.text.unlikely+0x21": ".text.unlikely",
        "25 <wrap_a+0x15>\n\t\t\t21: R_X86_64_PLT32\thelper-0x4": "helper",
        "25 <wrap_a+0x15>\n\t\t\t21: R_X86_64_PLT32\t__SCT__orig_a-0x4": "__SCT__orig_a",
        "60 <wrap_a.part.0>\n0000000000000060 <wrap_a.part.0>:": "wrap_a.part.0",
    }.items():
        assert leaves(text.format(target=target)) == [f"wrap_a jumps to {name}"], target


def dkms_keeps_to_the_matrix() -> None:
    """The rule takes Debian's kernels of the matrix's series, and nobody else's."""
    kernels, _ = load()
    pattern = rule(kernels).split('"')[1]
    names = ["6.1.0-57-amd64", "6.1.0-9-cloud-amd64", "6.12.25-amd64", "6.12.117+deb12-amd64",
             "6.12.12+bpo-amd64", "7.2.12+deb13-cloud-amd64",
             *(kernel.release() for kernel in kernels)]
    for name in names:
        assert re.match(pattern, name), f"not taken: {name}"
    for name in [*FOREIGN, "6.10.0-1-amd64"]:
        assert not re.match(pattern, name), f"taken: {name}"


def threads_that_take_turns_end() -> None:
    """Threads of hintload that take turns end together, whoever sees the end first."""
    program = BUILD / "programs/hintload"
    compile_program(program, [ROOT / "tests/programs/hintload.c"])
    for _ in range(100):
        run_program([program, "-p", "shared", "-t", "4", "-m", "1", "-s", "3"], timeout=30)


def no_child_outlives_its_load() -> None:
    """pkill may look for processes just before one forks, so a load's death ends its children."""
    load_program = subprocess.Popen([pagetouch(), "-p", "1", "-w", "1", "-r", "1000000"],
                                    stdout=subprocess.DEVNULL)
    children = Path(f"/proc/{load_program.pid}/task/{load_program.pid}/children")
    until(lambda: bool(children.read_text(encoding="utf-8")), "the load has a child")
    child = int(children.read_text(encoding="utf-8"))
    load_program.kill()
    load_program.wait()
    # The link of a process that has ended can't be read, be it reaped or not.
    until(lambda: not os.path.exists(f"/proc/{child}/exe"), "the child ends")


def until(seen: Callable[[], bool], words: str) -> None:
    """Wait 10 s for something, in words."""
    for _ in range(100):
        if seen():
            return
        time.sleep(0.1)
    raise AssertionError(f"not within 10 s: {words}")


def a_guest_that_is_ended_has_no_verdict() -> None:
    """Whoever waits for a guest that the tool ends is told, in a process that may end guests."""
    text = ("import subprocess, threading\n"
            "from guests import boot\n"
            "process = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
            "threading.Timer(0.5, boot.end_guests).start()\n"
            "boot.wait(process, 30)\n")
    status, said = run_program([sys.executable, "-c", text], cwd=ROOT, check=False)
    assert status and "ToolError: ended before" in said, said


def the_end_of_a_check_names_what_failed() -> None:
    """A stage that failed, that broke after its tests, and that left nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for name, tests in (("bad", [Test("counts", True), Test("adds up", False, "1 is not 2")]),
                            ("broke", [Test("counts", True)])):
            (Path(folder) / f"{name}.json").write_text(json.dumps(
                {"seconds": 3, "passed": 1, "tests": [asdict(test) for test in tests],
                 "flaky": ["counts"] if name == "broke" else []}), encoding="utf-8")
        said = [counted(name, 1, Path(folder)).lines() for name in ("bad", "broke", "none")]
    assert said == [
        ["bad            1 passed   1 failed      3 s", "FAIL bad: adds up", "       1 is not 2"],
        ["broke          1 passed   1 failed      3 s", "FAIL broke: ends well",
         "       exit code 1", "FLAKY broke: counts: failed once"],
        ["none           0 passed   1 failed      0 s", "FAIL none: leaves a result",
         "       exit code 1"]], said


def checks_that_fail_by_chance_are_run_again() -> None:
    """Not a guest that its kernel ended, not more guests than may, and not a third time."""
    image = stock_image(load()[0][0])
    fails, passes = Test("check", False), Test("check", True)
    ran: list[str] = []

    def booted(guest: Guest) -> Verdict:
        ran.append(guest.name)
        well = guest.name == "chance" and ran.count(guest.name) == 2
        return Verdict(guest.name, [passes if well else fails], ended=True,
                       reason="a report" if guest.name == "report" else "")

    stage = Stage("selftest of run")
    with patch("tests.run.boot", booted), redirect_stdout(StringIO()):
        run_all(stage, [Guest(name, image, Path())
                        for name in ("report", "chance", "always", "third")], jobs=1, again=2)
    assert ran == ["report", "chance", "always", "third", "chance", "always"], ran
    failed = [test.name for test in stage.tests if not test.ok]
    assert failed == ["report: check", "report: guest and its kernel", "third: check",
                      "always: check"], failed
    assert stage.flaky == ["chance: check"], stage.flaky


def of_a_shared_guest_the_failed_part_runs_again() -> None:
    """The checks of the other scenarios count as they were, and each check counts once."""
    guest = Guest("one+two-6.1", stock_image(load()[0][0]), Path(), env={"LMM_PARTS": "one two"})
    ran: list[tuple[str, str]] = []

    def booted(guest: Guest) -> Verdict:
        ran.append((guest.name, guest.env["LMM_PARTS"]))
        tests = [Test(f"{part}: check", len(ran) > 1 or part == "one")
                 for part in guest.env["LMM_PARTS"].split()]
        return Verdict(guest.name, tests, ended=True)

    stage = Stage("selftest of run")
    with patch("tests.run.boot", booted), redirect_stdout(StringIO()):
        run_all(stage, [guest], jobs=1, again=1)
    assert ran == [("one+two-6.1", "one two"), ("two-6.1", "two")], ran
    counted_as = [(test.name, test.ok) for test in stage.tests]
    assert counted_as == [
        ("one+two-6.1: one: check", True), ("one+two-6.1: guest and its kernel", True),
        ("two-6.1: two: check", True), ("two-6.1: guest and its kernel", True)], counted_as
    assert stage.flaky == ["one+two-6.1: two: check"], stage.flaky


def help_runs_nothing() -> None:
    """A command without argparse shows the text of its file, in place of its work."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "work.py"
        path.write_text('"""What it does."""\nfrom guests.report import main_guard\n'
                        "main_guard(lambda: 7)\n", encoding="utf-8")
        for words, wanted in (([], (7, "")), (["--help"], (0, "What it does.\n")),
                              (["x", "-h"], (0, "What it does.\n"))):
            ran = run_program([sys.executable, path, *words], cwd=ROOT, check=False,
                              env={"PYTHONPATH": str(ROOT)})
            assert ran == wanted, ran


def guest_that(
    script: str, reason: str, emulation: str = SINGLE, qemu: Sequence[str] = ()
) -> Callable[[], None]:
    """A guest that must fail for that reason."""

    def check() -> None:
        BUILD.mkdir(exist_ok=True)
        path = BUILD / "selftest.sh"
        path.write_text(script, encoding="utf-8")
        image = stock_image(load()[0][0])
        verdict = boot(Guest("selftest", image, path, memory="512M", timeout=300,
                             emulation=emulation, qemu=list(qemu)))
        assert re.search(reason, verdict.reason), f"reason: {verdict.reason or 'none'}"

    return check


CHECKS: list[Callable[[], Iterator[str] | None]] = [
    reports_are_seen, races_are_told_apart, wrong_includes_are_seen, wrong_calls_are_seen,
    wrong_imports_are_seen, functions_defined_twice_are_seen, channel_is_read,
    checks_of_what_is_not_there_fail, aborts_of_the_emulator_are_told,
    a_task_that_ends_is_told, a_stray_breakpoint_is_told, a_guest_that_does_not_start_is_told,
    heads_are_read, emulations_are_read, guests_are_shared, each_emulation_has_its_emulator,
    threads_of_cpus_are_told_apart, machines_are_laid_out, ktap_is_read,
    a_lost_configuration_line_is_named, built_kernels_are_told_apart, flavours_are_compared,
    wrappers_that_are_left_are_seen, dkms_keeps_to_the_matrix, threads_that_take_turns_end,
    no_child_outlives_its_load,
    a_guest_that_is_ended_has_no_verdict, the_end_of_a_check_names_what_failed,
    checks_that_fail_by_chance_are_run_again, of_a_shared_guest_the_failed_part_runs_again,
    help_runs_nothing, setup.no_kernel, setup.known_groups]


def main() -> int:
    stage = Stage("selftest")
    for own in CHECKS:
        stage.run(own.__name__.replace("_", " "), own)
    for name, check in {**inject.CHECKS, **torture.CHECKS}.items():
        stage.run(name, check)
    stage.run("a guest that crashes has failed, whatever it said before",
              guest_that("echo 'ok fine' >&3; echo c >/proc/sysrq-trigger; sleep 60\n",
                         "the kernel reported:(.|\n)*sysrq"))
    stage.run("a guest that powers off early has failed",
              guest_that("echo 'ok fine' >&3; echo o >/proc/sysrq-trigger; sleep 60\n",
                         "died before its script ended"))
    # Of two accelerators qemu takes the first.
    stage.run("a guest whose CPUs take turns is not parallel",
              guest_that("echo 'ok fine' >&3\n", "ALL CPUs/TCG ran (.|\n)* has CPU 0/",
                         PARALLEL, ["-accel", EMULATION]))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
