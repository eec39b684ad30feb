# SPDX-License-Identifier: GPL-2.0-only
"""Run a program of steps in the guest: python3 -m tests.torture.guest PROGRAM

Speaks the verdict channel (fd 3) as tests/scenarios/lib.sh does.  Ends at the first phase after
which the oracle finds something wrong: whatever comes later would say no more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.torture import base, oracle, program, steps, steps_trace

# Guest seconds after which a step is stuck.  Two transitions under load take longest.
LIMIT = 2 * base.KLP_LIMIT
# Guest seconds until policies that were switched off have put everything back.
REST = 120
# Guest seconds until the last user of an address space has gone.
SOON = 20
HELPERS = ["lmm_oracle", "lmm_exchange", "lmm_pageset"]


class Channel:
    """The verdict channel."""

    def __init__(self) -> None:
        self.failed = False

    def say(self, text: str) -> None:
        os.write(3, (text.replace("\n", " ") + "\n").encode())
        print(text, flush=True)

    def check(self, name: str, wrong: str) -> bool:
        """One check: passed where nothing is wrong."""
        if wrong:
            self.failed = True
            self.say(f"not ok {name} # {wrong}")
        else:
            self.say(f"ok {name}")
        return not wrong


class Worker(threading.Thread):
    """Runs the steps of one worker in one phase, one after the other."""

    def __init__(self, guest: base.Guest, todo: list[program.Step]) -> None:
        super().__init__(daemon=True)
        self.guest, self.todo = guest, todo
        self.now: program.Step | None = None
        self.since = time.monotonic()
        self.wrong = ""
        # Kinds of the steps made, and their guest seconds.
        self.made: list[tuple[str, float]] = []

    def run(self) -> None:
        for step in self.todo:
            self.now, self.since = step, time.monotonic()
            try:
                steps.KINDS[step.kind].run(self.guest, *step.words)
            # Whatever goes wrong is the verdict of this step.
            except Exception as error:  # noqa: BLE001
                self.wrong = f"{step}: {type(error).__name__}: {error}"
                break
            self.made.append((step.kind, time.monotonic() - self.since))
        self.now = None

    def stuck(self) -> str:
        """The step that does not end, and where the kernel has it; or ""."""
        step = self.now
        if step is None or time.monotonic() - self.since < LIMIT:
            return ""
        # The stacks of what the CPUs run go to the console.
        base.write(Path("/proc/sysrq-trigger"), "l", base.KERNEL_REFUSALS)
        where = oracle.kernel_stack(Path(f"/proc/self/task/{self.native_id}"))
        return (f"{step}: not done after {LIMIT} s: {where}; in uninterruptible sleep: "
                f"{oracle.stuck_tasks()}; in the way of a livepatch: {oracle.unswitched()}")


def wait_until(seconds: float, ready: Callable[[], bool]) -> bool:
    """Poll a condition."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


class Torture:
    """One guest's run."""

    def __init__(self, wanted: program.Program) -> None:
        self.program = wanted
        self.channel = Channel()
        self.guest = base.Guest(Path(os.environ["LMM_ROOT"]), Path(os.environ["LMM_MODDIR"]),
                                wanted.cpus)
        # No phase begins after so many guest seconds; 0: every phase is run.
        self.seconds = float(os.environ.get("LMM_SECONDS", "0"))
        self.in_phases = self.in_oracle = 0.0
        # Counters by whether they have moved: what no step has had a policy do.
        self.moved: set[str] = set()
        self.still: set[str] = set()
        self.made: list[tuple[str, float]] = []
        self.defaults: list[str] = []
        # Counters while livemm stays loaded.
        self.counters: dict[str, dict[str, int]] = {}
        # Where every program gets huge pages, no list of single pages grows.
        base.write(steps.THP, "madvise", base.KERNEL_REFUSALS)
        self.settings = {file: self.setting(file) for file in steps.SETTINGS}

    @staticmethod
    def setting(file: str) -> str:
        """A setting of the kernel as a write takes it; "" where the kernel has none."""
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except OSError:
            return ""
        # A choice shows all its words, the one in force in brackets.
        return text.partition("[")[2].partition("]")[0] or text

    def prepare(self) -> bool:
        """Modules that the steps use, and ours."""
        wrong = [name for name in HELPERS if base.insmod(self.guest.modules / f"{name}.ko")]
        with contextlib.suppress(OSError):
            Path("/proc/sys/vm/oom_dump_tasks").write_text("0", encoding="ascii")
        if not self.channel.check("modules of the torture are loaded", " ".join(wrong)):
            return False
        check = self.channel.check
        good = check("there is swap", steps.swap_on())
        good &= check("CMA memory has an owner", steps.owner_there(self.guest))
        good &= check("every page is in its place at the start", oracle.pages_wrong())
        good &= check("the oracle sees lost pages", oracle.blind())
        idle = [load for load in steps.TRIALS
                if base.command(["timeout", "60", *steps.words_of(self.guest, load)])]
        if oracle.KCSAN.exists():
            oracle.kcsan_on()
            good &= check("KCSAN sees a race", oracle.kcsan_blind())
        return good & check("loads run", ", ".join(idle))

    def run_phase(self, number: int) -> str:
        """All workers of a phase; what went wrong, or ""."""
        todo: dict[int, list[program.Step]] = {}
        for step in self.program.steps:
            if step.phase == number:
                todo.setdefault(step.worker, []).append(step)
        workers = [Worker(self.guest, mine) for mine in todo.values()]
        for worker in workers:
            worker.start()
        while alive := [worker for worker in workers if worker.is_alive()]:
            alive[0].join(0.2)
            self.guest.beside.look()
            stuck = next(filter(None, (worker.stuck() for worker in workers)), "")
            if stuck:
                return stuck
        for worker in workers:
            self.made += worker.made
        return next((worker.wrong for worker in workers if worker.wrong), "")

    def put_back(self) -> str:
        """What steps have left of the kernel's settings goes back; what cannot, or ""."""
        for online in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/online"):
            base.write(online, "1", base.KERNEL_REFUSALS)
        for state in steps.memory_blocks():
            if state.read_text(encoding="ascii").strip() == "offline":
                base.write(state, "online", base.KERNEL_REFUSALS)
        self.write_all({file: value for file, value in self.settings.items() if value})
        base.write(Path("/sys/kernel/tracing/events/enable"), "0", base.KERNEL_REFUSALS)
        for probe in steps_trace.PROBES.read_text(encoding="ascii").split():
            if probe[1:2] == ":":
                base.write(steps_trace.PROBES, f"-:{probe[2:]}", base.KERNEL_REFUSALS)
        left = [f"{path} is offline" for path in steps.memory_blocks()
                if path.read_text(encoding="ascii").strip() == "offline"]
        left += [f"{path} is 0" for path in Path("/sys/devices/system/cpu").glob("cpu*/online")
                 if path.read_text(encoding="ascii").strip() == "0"]
        left += [f"{file} is {self.setting(file)}" for file, value in self.settings.items()
                 if value and self.setting(file) != value]
        return ", ".join(left)

    def at_work(self, number: int) -> str:
        """Have every policy on and busy for a moment, so that "off" has something to restore.

        Returns the policies that did not come on where they should, or "".

        In turn: with settings as after boot, by which every policy acts, while watermarks jump
        above the free pages and back; with those that the steps have left; so that a CPU goes while
        its lists are in use; and while memory is short, also so that cma moves pages while owners
        ask.  Where the depots take pages, lists are not drained and do not grow, so zonelock comes
        later.
        """
        if not base.DEBUGFS.exists():
            return ""
        off = ""
        base.write(base.DEBUGFS / "lease", "0", base.REFUSALS)
        if number % 4 != 1:
            self.put_back()
            for policy in self.program.policies:
                base.write(base.DEBUGFS / policy / "enabled", "0", base.REFUSALS)
            self.switch_on([text for text in self.defaults if not text.startswith("zonelock:")])
            self.work()
            if number % 4 == 2:
                base.write(Path(f"/sys/devices/system/cpu/cpu{self.program.cpus - 1}/online"), "0",
                           base.KERNEL_REFUSALS)
            self.switch_on(self.defaults)
            off = self.not_on()
            if number % 4 == 0:
                with steps.memory_short(steps.ROOM):
                    self.work(meanwhile=steps.jump_watermarks)
        else:
            for policy in self.program.policies:
                base.write(base.DEBUGFS / policy / "enabled", "1", base.REFUSALS)
            self.work("touch_large")
        if number % 4 == 3:
            with steps.memory_short():
                self.work()
            if "cma" in self.program.policies:
                self.write_all(steps.CALM)
                with steps.memory_short(steps.SPARE_CMA):
                    self.work(meanwhile=partial(steps.ask_and_wait, self.guest))
        self.work()
        if self.program.nodes > 1:
            # Kernels that are built here have balancing off after boot.
            self.write_all(steps.BALANCING)
            self.work("scanned")
        self.watch_counters()
        return off

    def not_on(self) -> str:
        """Policies of the program that are not on soon, with their state and reason, or ""."""
        def states() -> list[str]:
            return [" ".join(row) for row in oracle.rows("status")
                    if row[0] in self.program.policies and row[1] != "on"]

        return "" if wait_until(REST, lambda: not states()) else "; ".join(states())

    @staticmethod
    def write_all(settings: Mapping[str, str]) -> None:
        """Write settings of the kernel, by file."""
        for file, value in settings.items():
            base.write(Path(file), value, base.KERNEL_REFUSALS)

    @staticmethod
    def forgotten() -> str:
        """Processes that are gone and whose address space numa still knows, or ""."""
        # The last user of an address space may be another process, for a moment.
        if wait_until(SOON, lambda: not oracle.forgotten()):
            return ""
        return ", ".join(f"{name} {pid}" for pid, name in oracle.forgotten().items())

    @staticmethod
    def switch_on(texts: list[str]) -> None:
        """Write settings one by one: a policy that is not supported here refuses a whole text."""
        for text in texts:
            base.write(base.PARAMETERS / "policies", text, base.REFUSALS)

    def work(self, *more: str, meanwhile: Callable[[], None] = lambda: None) -> None:
        """The loads of WORK, all at once; or the loads that are named."""
        for load in [steps.LOADS[name] for name in more] or steps.WORK:
            self.guest.beside.start("at work", steps.words_of(self.guest, load), 100)
        self.guest.beside.wait(meanwhile)

    def watch_counters(self) -> None:
        """Note which counters have moved so far."""
        for policy in self.program.policies:
            for name, number in oracle.counters(policy).items():
                (self.moved if number else self.still).add(f"{policy}/{name}")
        self.still -= self.moved

    def keep_defaults(self) -> None:
        """Note the settings of a module that was just loaded, with the policy on, by policy."""
        text = (base.PARAMETERS / "policies").read_text(encoding="ascii").strip()
        self.defaults = [one.replace("enabled=0", "enabled=1") for one in text.split(";")
                         if one.partition(":")[0] in self.program.policies]

    def short_load(self) -> None:
        """Faults, frees, pages from CPU to CPU, for a moment."""
        for load in steps.TRIALS:
            base.command(["timeout", "60", *steps.words_of(self.guest, load)])

    def fallen(self) -> str:
        """Counters that are lower than after an earlier phase; they never are while loaded."""
        fallen = []
        for policy in self.program.policies:
            now = oracle.counters(policy)
            fallen += [f"{policy}/{name}" for name in
                       oracle.fallen(self.counters.get(policy, {}), now)]
            self.counters[policy] = now
        return " ".join(fallen)

    @staticmethod
    def policies_off(by_lease: bool) -> str:
        """Switch all off, and wait until nothing of theirs is left; what is left, or ""."""
        if not base.DEBUGFS.exists():
            return "livemm is not loaded"
        base.write(base.DEBUGFS / "lease", "1" if by_lease else "0", set())
        for row in [] if by_lease else oracle.rows("status"):
            base.write(base.DEBUGFS / row[0] / "enabled", "0", set())
        if wait_until(REST, lambda: not oracle.policies_on() and not oracle.hooks_armed()):
            return ""
        return " ".join([*oracle.policies_on(), *oracle.hooks_armed()])

    @staticmethod
    def stuck() -> str:
        """Tasks that wait uninterruptibly for 10 s, or ""."""
        waiting = set(oracle.stuck_tasks())
        end = time.monotonic() + 10
        while waiting and time.monotonic() < end:
            time.sleep(0.2)
            waiting &= set(oracle.stuck_tasks())
        where = oracle.stuck_tasks()
        return "; ".join(f"{name} in {where[name]}" for name in waiting if name in where)

    def judge(self, number: int, stay: bool) -> bool:
        """The oracle after a phase; `stay`: livemm stays loaded."""
        check, name = self.channel.check, f"phase {number}"
        self.guest.beside.stop()
        off = self.at_work(number)
        # With settings that steps have left, a policy may be refused.
        good = number % 4 == 1 or check(f"{name}: every policy comes on", off)
        good &= check(f"{name}: numa knows no process that is gone", self.forgotten())
        # Nobody has a reference to a free page of a pool.
        base.write(steps.HUGE_POOL, self.settings[str(steps.HUGE_POOL)], base.KERNEL_REFUSALS)
        # The policies first: a sysctl that goes back, or a CPU or memory that comes back, has the
        # kernel set all bounds anew, and would hide a bound that a policy has left.
        good &= check(f"{name}: policies off, no hook armed", self.policies_off(number % 2 == 1))
        good &= check(f"{name}: every page is in its place", oracle.pages_wrong())
        if good:
            good &= check(f"{name}: off is off", oracle.moving(self.short_load))
        good &= check(f"{name}: settings are as before", self.put_back())
        good &= check(f"{name}: no hook armed, settings put back", " ".join(oracle.hooks_armed()))
        good &= check(f"{name}: every page is in its place, settings put back",
                      oracle.pages_wrong())
        good &= check(f"{name}: no task is stuck", self.stuck())
        good &= check(f"{name}: the kernel has reported nothing", oracle.reports())
        if any(step.phase == number and step.kind == "reload" for step in self.program.steps):
            self.counters = {}
        else:
            good &= check(f"{name}: no counter has fallen", self.fallen())
        if not stay:
            self.counters = {}
            good &= check(f"{name}: unloads", self.unload())
            good &= check(f"{name}: every page is in its place, unloaded",
                          oracle.pages_wrong())
            if oracle.KMEMLEAK.exists():
                good &= check(f"{name}: nothing leaks", oracle.leaks())
        return good

    @staticmethod
    def unload() -> str:
        """Take livemm and its livepatches out; what stays, or ""."""
        for enabled in base.DEBUGFS.glob("*/enabled"):
            base.write(enabled, "0", base.REFUSALS)

        def patches_gone() -> bool:
            for patch in base.LIVEPATCHES.glob("livemm_klp*"):
                base.write(patch / "enabled", "0", base.KERNEL_REFUSALS)
            left = list(Path("/sys/module").glob("livemm_klp*"))
            for module in left:
                base.rmmod(module.name)
            return not list(Path("/sys/module").glob("livemm_klp*"))

        if not wait_until(base.KLP_LIMIT, patches_gone):
            return " ".join(path.name for path in Path("/sys/module").glob("livemm_klp*"))

        def gone() -> bool:
            return base.rmmod("livemm") in (0, errno.ENOENT)

        return "" if wait_until(base.KLP_LIMIT, gone) else "livemm"

    def run(self) -> int:
        """Every phase, until one is wrong."""
        if not self.prepare():
            return 1
        phases = sorted({step.phase for step in self.program.steps})
        start = time.monotonic()
        for number in phases:
            if not Path("/sys/module/livemm").exists():
                base.command(["modprobe", "livemm"])
            if not self.defaults:
                self.keep_defaults()
            began = time.monotonic()
            good = self.channel.check(f"phase {number}: every step ends, in a way of the contract",
                                      self.run_phase(number))
            ended = time.monotonic()
            # Every other time livemm stays loaded, with what it has learnt.
            last = number == phases[-1] or 0 < self.seconds < ended - start
            # A step that is stuck holds what the oracle would wait for.
            good = good and self.judge(number, number % 2 == 0 and not last)
            self.in_phases += ended - began
            self.in_oracle += time.monotonic() - ended
            if not good or last:
                break
        self.tell()
        return 1 if self.channel.failed else 0

    def tell(self) -> None:
        """Notes: outcomes of steps, how long steps of each kind took, and how many were made."""
        for outcome, count in sorted(self.guest.counts.items()):
            self.channel.say(f"note {outcome}: {count}")
        if oracle.KCSAN.exists():
            seen = oracle.kcsan()
            self.channel.say("note KCSAN: " + ", ".join(
                f"{word} {seen[word]}" for word in oracle.OF_KCSAN))
        spent: dict[str, list[float]] = {}
        for kind, seconds in self.made:
            spent.setdefault(kind, []).append(seconds)
        for kind, times in sorted(spent.items(), key=lambda row: -sum(row[1])):
            self.channel.say(f"note kind {kind}: {len(times)} steps, {sum(times):.1f} s, longest "
                             f"{max(times):.2f} s, {1000 * sum(times) / len(times):.1f} ms each")
        seconds = self.in_phases + self.in_oracle
        self.channel.say(f"note phases: steps {self.in_phases:.0f} s, oracle "
                         f"{self.in_oracle:.0f} s, {len(self.made) / seconds:.1f} steps a second")
        self.channel.say(f"note counters that stayed 0: {' '.join(sorted(self.still)) or 'none'}")
        self.channel.say(f"note steps made: {len(self.made)}")


def main() -> int:
    """The command."""
    return Torture(program.parse(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()


if __name__ == "__main__":
    # Memory runs out on purpose: loads are killed first.
    Path("/proc/self/oom_score_adj").write_text("-900", encoding="ascii")
    # A worker that comes back from the kernel does not wait long for one that computes.
    sys.setswitchinterval(0.0005)
    # Threads that are stuck in the kernel must not keep the verdict from being heard.
    status = main()
    sys.stdout.flush()
    os.close(3)
    os._exit(status)
