# SPDX-License-Identifier: GPL-2.0-only
"""Run the cases of a group in the guest: python3 -m tests.inject.guest FILE

LMM_EVERY of 1 has every allocation fail once, of K each K-th.  Speaks the verdict channel.
"""

from __future__ import annotations

import collections
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

from tests.inject import cases
from tests.torture import base, oracle
from tests.torture import guest as torture

FAILNTH = Path("/sys/module/lmm_failnth/parameters")
# The kernel warns of a kprobe that it cannot remove for want of memory, and livemm then stays
# loaded until the next boot.
SPARED = "unregister_kprobe"
# What the action of a task may end with when an allocation of this very task has failed.
OWN = {"done", "ENOMEM"}
# The same when a program or a kernel thread that livemm waits for has failed.
OTHERS = OWN | {"ENOENT", "EBUSY", "ETIMEDOUT"}
# Guest seconds of a command, on a host that is busy with other things.
LONG = 1200
# More allocations than any action makes: a case that gets so far does not end.
MOST = 5000
NOTHING = "lease: x: "
WITHOUT_FILES = {"livemm": "loaded without files"}


def site() -> tuple[str, bool]:
    """Where the allocation failed, and whether in a call of livemm."""
    names = [line.split() for line in (FAILNTH / "site").read_text(encoding="ascii").splitlines()]
    ours = next((at for at, name in enumerate(names) if name[1:] and "livemm" in name[1]), None)
    if ours is None:
        # The outermost function tells the system call.
        return (names[-3][0] if len(names) > 3 else "nowhere"), False
    # livemm's own function, and the kernel's that it has called.
    return f"{names[ours][0]} > {names[ours - 1][0] if ours else '-'}", True


def words(path: str) -> str:
    """A file in one line."""
    return " ".join(Path(path).read_text(encoding="utf-8").split())


def left_out() -> set[str]:
    """Hooks that say that the kernel refused them for want of memory when they were tried last."""
    return {f"hook {row[0]}" for row in oracle.rows("hooks")
            if row[3] == "unavailable" and "the kernel refused the hook (-12)" in " ".join(row[6:])}


def state() -> dict[str, str]:
    """Everything that a refused action must leave alone."""
    if not base.DEBUGFS.exists():
        there = Path("/sys/module/livemm").exists()
        return WITHOUT_FILES if there else {"livemm": "not loaded"}
    refused = left_out()
    found = {f"hook {row[0]}": "idle" if f"hook {row[0]}" in refused else row[3]
             for row in oracle.rows("hooks")}
    for row in oracle.rows("status"):
        found[row[0]] = " ".join(row[1:3])
        found[f"{row[0]}/config"] = words(f"{base.DEBUGFS}/{row[0]}/config")
    found["lease"] = "some" if words(f"{base.DEBUGFS}/lease") != "0" else "none"
    return found


def differs(now: dict[str, str], wanted: dict[str, str], but: Collection[str] = ()) -> str:
    """What is otherwise than wanted."""
    return ", ".join(f"{name}: {now.get(name)}, not {wanted.get(name)}"
                     for name in sorted({*now, *wanted})
                     if name not in but and now.get(name) != wanted.get(name))


def settled() -> bool:
    """No policy is on its way; one that came on without an optional hook tries again soon."""
    return not base.DEBUGFS.exists() or \
        not any(row[1] in ("waiting", "loading", "leaving") for row in oracle.rows("status"))


class Injector:
    """Runs cases."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.channel = torture.Channel()
        self.root, self.modules = Path(os.environ["LMM_ROOT"]), Path(os.environ["LMM_MODDIR"])
        # Settings of all policies after the load.
        self.defaults = ""
        # Site -> outcome -> times.
        self.sites: dict[str, collections.Counter[str]] = {}

    def failnth(self, nth: int, action: tuple[str, ...]) -> tuple[str, str, int]:
        """Do an action; the call that ended it, its outcome, and what is left of `nth`."""
        argv = [str(self.root / "build/programs/failnth"), str(nth), *action]
        if action[0] == "load":
            argv[3] = str(self.modules / action[1])
        done = subprocess.run(argv, cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=LONG)
        if done.returncode:
            raise base.Wrong(f"failnth {nth} {' '.join(action)}: {done.stderr}")
        call, outcome, left = done.stdout.split()
        return call, outcome, int(left)

    def helper(self, *parameters: str) -> None:
        """Load lmm_failnth.ko."""
        if base.command(["insmod", self.modules / "lmm_failnth.ko", f"spare={SPARED}",
                          *parameters], LONG):
            raise base.Wrong(f"lmm_failnth.ko does not load: {' '.join(parameters)}")

    def bring(self, case: cases.Case) -> None:
        """The state that a case begins with."""
        wrong = ""
        # livemm stays while a livepatch of its is loaded.
        if case.elsewhere or case.before is None or case.action[0] == "unload":
            wrong = torture.Torture.unload()
        if wrong:
            raise base.Wrong(f"{wrong} stays")
        if case.before is None:
            return
        if not base.DEBUGFS.exists():
            self.failnth(0, ("load", "livemm.ko", ""))
            self.defaults = self.defaults or words(f"{base.PARAMETERS}/policies")
        for text in self.defaults, case.before:
            base.write(base.PARAMETERS / "policies", text, set())
        base.write(base.DEBUGFS / "lease", "0", set())
        torture.wait_until(60, settled)

    def once(self, case: cases.Case, nth: int) -> tuple[str, str, int]:
        """The action with an allocation that fails."""
        if not case.function:
            return self.failnth(nth, case.action)
        base.command(["rmmod", "lmm_failnth"])
        self.helper(f"function={case.function}", f"nth={nth}")
        call, outcome, _ = self.failnth(0, case.action)
        left = int((FAILNTH / "left").read_text(encoding="ascii"))
        base.command(["rmmod", "lmm_failnth"])
        self.helper()
        if left < 0:
            raise base.Wrong(f"{case.function} was not called, or has not returned")
        return call, outcome, left

    def wrong(self, case: cases.Case, call: str, outcome: str, ours: bool,
              now: dict[str, str], before: dict[str, str], after: dict[str, str]) -> str:
        """What must not be after the action; or ""."""
        allowed = OTHERS if case.elsewhere else OWN
        if case.never and call != "open":
            allowed = {"done"}
        if outcome not in allowed:
            return f"{call}: {outcome}"
        # Without memory for a file there is none, and the module parameters do all.
        if outcome == "done" and case.action[0] == "load" and now == WITHOUT_FILES:
            return ""
        # The write that has asked for a livepatch is done, and the policy is off, as none has come.
        if outcome == "done" and case.elsewhere and not differs(now, before):
            return ""
        if outcome == "done":
            return differs(now, after, left_out() if len(now) > 1 else set())
        if changed := differs(now, before):
            return f"{outcome}, but changed: {changed}"
        if call == "write" and ours and words(f"{base.DEBUGFS}/last_error").startswith(NOTHING):
            return f"{outcome}, without a word in last_error"
        return ""

    def run(self, case: cases.Case) -> str:
        """A case; what is wrong, or ""."""
        self.bring(case)
        before = state()
        _, outcome, _ = self.failnth(0, case.action)
        if outcome != "done":
            return f"without a fault: {outcome}"
        after = state()
        outcomes: collections.Counter[str] = collections.Counter()
        fresh = False
        wrong = []
        start = time.monotonic()
        for nth in range(1, MOST, self.every):
            if not fresh or case.elsewhere:
                self.bring(case)
                if changed := differs(state(), before):
                    return f"does not go back: {changed}"
            if base.DEBUGFS.exists():
                with contextlib.suppress(OSError):
                    (base.DEBUGFS / "lease").write_text("x", encoding="ascii")
            call, outcome, left = self.once(case, nth)
            where, ours = site()
            if not torture.wait_until(20, settled) and case.elsewhere:
                # Nobody tells how modprobe has ended.
                base.write(base.PARAMETERS / "policies", case.before or "", set())
            now = state()
            if bad := self.wrong(case, call, outcome, ours and not left, now, before, after):
                wrong.append(f"allocation {nth} ({'none' if left else where}): {bad}")
            fresh = not differs(now, before)
            if left:
                break
            outcomes[outcome] += 1
            self.sites.setdefault(where, collections.Counter())[outcome] += 1
        else:
            wrong.append(f"does not end with {MOST} allocations")
        if not outcomes:
            wrong.append("no allocation failed")
        text = ", ".join(f"{outcome} {times}" for outcome, times in outcomes.items())
        self.channel.say(f"note {case.name}: {nth - left} allocations, {text}, "
                         f"{time.monotonic() - start:.0f} s")
        return "; ".join(wrong[:5]) + (f"; {len(wrong)} in all" if len(wrong) > 5 else "")

    def main(self, todo: list[cases.Case]) -> int:
        """All cases, and what they have left."""
        check = self.channel.check
        helpers = base.command(["insmod", self.modules / "lmm_oracle.ko"], LONG)
        check("the oracle is there", "lmm_oracle.ko does not load" if helpers else "")
        self.helper()
        if oracle.KMEMLEAK.exists():
            oracle.KMEMLEAK.write_text("clear", encoding="ascii")
        for case in todo:
            try:
                wrong = self.run(case)
            except (base.Wrong, OSError, subprocess.SubprocessError) as error:
                wrong = f"{type(error).__name__}: {error}"
            check(case.name, wrong)
        if base.DEBUGFS.exists():
            check("policies off, no hook armed", torture.Torture.policies_off(False))
        check("every page is in its place", oracle.pages_wrong())
        check("unloads", torture.Torture.unload())
        if oracle.KMEMLEAK.exists():
            check("nothing leaks", oracle.leaks())
        for where, counts in sorted(self.sites.items()):
            text = ", ".join(f"{outcome} {times}" for outcome, times in counts.items())
            self.channel.say(f"note site {where}: {text}")
        return 1 if self.channel.failed else 0


def main() -> int:
    """The command."""
    todo = cases.parse(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return Injector(int(os.environ.get("LMM_EVERY", "1"))).main(todo)


if __name__ == "__main__":
    sys.exit(main())
