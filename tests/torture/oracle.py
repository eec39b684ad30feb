# SPDX-License-Identifier: GPL-2.0-only
"""What must hold after each phase, read from the kernel and not from the policies' counters."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.torture.base import DEBUGFS, LIVEPATCHES

CHECK = Path("/sys/module/lmm_oracle/parameters/check")
LOSE = CHECK.with_name("lose")
RACE = CHECK.with_name("race")
KMEMLEAK = Path("/sys/kernel/debug/kmemleak")
KCSAN = Path("/sys/kernel/debug/kcsan")
TAINTED = Path("/proc/sys/kernel/tainted")
LOCKDEP = Path("/proc/lockdep_stats")
# Documentation/admin-guide/tainted-kernels.rst: bad page, died, warned, soft lockup.
REPORTED = {5: "a bad page", 7: "an oops", 9: "a warning", 14: "a soft lockup"}
# Words of KCSAN that a note has.
OF_KCSAN = ("setup_watchpoints", "data_races", "races_unknown_origin")
# Words of lmm_oracle.ko that say where pages are, not that one is wrong.
PLACES = ("tails", "buddy", "pcp", "used", "reserved", "poisoned")
# Pages on their way are unowned for a moment: so many looks, that far apart, until none is.
LOOKS = 20
BETWEEN = 0.25  # guest seconds
LOST = 64  # pages that lmm_oracle.ko loses; some change hands meanwhile


def look() -> dict[str, int]:
    """One look at all pages, with all CPUs stopped."""
    rows = (line.split() for line in CHECK.read_text(encoding="ascii").splitlines())
    return {word: int(number) for word, number in rows}


def faults(seen: dict[str, int]) -> dict[str, int]:
    """What is wrong in a look."""
    return {word: number for word, number in seen.items() if number and word not in PLACES}


def pages_wrong() -> str:
    """What stays wrong with pages while nothing allocates or frees, or ""."""
    wrong: dict[str, int] = {}
    for _ in range(LOOKS):
        wrong = faults(look())
        if not wrong:
            return ""
        time.sleep(BETWEEN)
    return ", ".join(f"{word} {number}" for word, number in wrong.items())


def blind() -> str:
    """Whether the oracle sees pages that are lost; what is wrong, or ""."""
    seen = []
    for text in "1", "0":
        LOSE.write_text(text, encoding="ascii")
        # A page behind a used page may look like the rest of a block.
        seen.append(min(sum(now[word] for word in ("unowned", "tails"))
                        for now in (look() for _ in range(LOOKS))))
    lost, found = seen
    return "" if lost >= found + LOST // 2 else \
        f"{lost} pages unowned with {LOST} lost pages, {found} without"


def rows(file: str) -> list[list[str]]:
    """A table of debugfs, a list of words a row."""
    text = (DEBUGFS / file).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line.strip()]


def policies_on() -> list[str]:
    """Policies that are neither off nor unsupported, with their state."""
    return [" ".join(row[:2]) for row in rows("status") if row[1] not in ("off", "unsupported")]


def hooks_armed() -> list[str]:
    """Hooks that the kernel calls us by."""
    return [row[0] for row in rows("hooks") if row[3] == "armed"]


def hits() -> dict[str, int]:
    """How often the kernel has called each hook."""
    return {row[0]: int(row[4]) for row in rows("hooks")}


def moving(load: Callable[[], object]) -> str:
    """Hooks and counters that a load moves while every policy is off, or ""."""
    def seen() -> dict[str, int]:
        names = [row[0] for row in rows("status")]
        return {**hits(), **{f"{policy}/{name}": number for policy in names
                             for name, number in counters(policy).items()}}

    before = seen()
    load()
    after = seen()
    return ", ".join(name for name in before if after.get(name) != before[name])


def counters(policy: str) -> dict[str, int]:
    """The counters of a policy."""
    return {name: int(number) for name, number in rows(f"{policy}/counters")}


def reports() -> str:
    """What the kernel has reported without an end of the guest, or ""; the console has the text."""
    taint = int(TAINTED.read_text(encoding="ascii"))
    seen = [word for bit, word in REPORTED.items() if taint >> bit & 1]
    if LOCKDEP.exists():
        switch = [line.split()[1] for line in LOCKDEP.read_text(encoding="ascii").splitlines()
                  if line.split()[:1] == ["debug_locks:"]]
        seen += ["locks in a wrong order"] if switch == ["0"] else []
    return ", ".join(seen)


def forgotten() -> dict[str, str]:
    """Processes that are gone, and whose address space numa still knows: number -> name."""
    if not (DEBUGFS / "numa/state").exists():
        return {}
    return {row[0]: row[1] for row in rows("numa/state")
            if row[0].isdigit() and not Path("/proc", row[0]).exists()}


def fallen(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Counters that are lower than before: they never are while the module stays loaded."""
    return [name for name in before if after.get(name, -1) < before[name]]


def kernel_stack(task: Path) -> str:
    """The kernel functions in which a task is."""
    try:
        frames = (task / "stack").read_text(encoding="ascii").split("\n")
    except OSError:
        return ""
    return " < ".join(frame.split("+")[0].split("] ")[-1] for frame in frames if frame)[:400]


def threads() -> Iterator[tuple[str, str, Path]]:
    """All threads: name and number, state, folder."""
    for task in Path("/proc").glob("[0-9]*/task/[0-9]*"):
        # A thread may be gone at any moment.
        with contextlib.suppress(OSError):
            name, _, rest = (task / "stat").read_text(encoding="ascii").rpartition(")")
            yield f"{name.partition('(')[2]} {task.name}", rest.split()[0], task


def stuck_tasks() -> dict[str, str]:
    """Threads in uninterruptible sleep: name and number -> where they are."""
    return {name: kernel_stack(task) for name, state, task in threads() if state == "D"}


def text_of(path: Path) -> str:
    """A file's text, "" where the file is gone."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def unswitched() -> dict[str, str]:
    """Threads that a livepatch's transition waits for: name, number, state -> where they are."""
    # At most one livepatch at a time is in transition.
    goals = {text_of(patch / "enabled") for patch in LIVEPATCHES.glob("*")
             if text_of(patch / "transition") == "1"}
    return {f"{name} {state}": kernel_stack(task) for name, state, task in threads()
            if goals and text_of(task / "patch_state") not in {"", *goals}}


def leaks() -> str:
    """Objects that kmemleak finds nobody to point to, or ""."""
    # An object has to be seen without a pointer twice.
    for _ in range(2):
        KMEMLEAK.write_text("scan", encoding="ascii")
        time.sleep(5)
    return "\n".join(KMEMLEAK.read_text(encoding="utf-8").splitlines()[:40])


def kcsan() -> dict[str, str]:
    """What KCSAN says of itself."""
    rows = (line.partition(":") for line in KCSAN.read_text(encoding="ascii").splitlines())
    return {word: text.strip() for word, _, text in rows if text.strip()}


def kcsan_on() -> None:
    """Have KCSAN look for races, which it does not while the kernel boots."""
    KCSAN.write_text("on", encoding="ascii")


def kcsan_blind() -> str:
    """Whether KCSAN sees a race of lmm_oracle.ko; what is wrong, or ""."""
    seen = int(kcsan()["data_races"])
    RACE.write_text("1", encoding="ascii")
    now = kcsan()
    if int(now["data_races"]) > seen:
        return ""
    return f"enabled {now['enabled']}, {now['setup_watchpoints']} watchpoints, no race seen"
