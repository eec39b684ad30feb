# SPDX-License-Identifier: GPL-2.0-only
"""Steps that have the kernel take pages as broken, and give the pages back.

A page that fails hard is taken from whoever has the page; a process that has the page is killed.
So only free pages and pages of a program of the step's own fail hard.  A page that is moved off its
place (soft offline) does no harm: any page will do, those in depots of livemm too.

The kernel's own ways to give a page back have two gaps, which the steps leave alone.  Where the
kernel has refused to take a page, the page may stay marked, and giving back such a page would drop
a reference of somebody else.  And where memory with a marked page goes off and on, the page is lost
or the memory stays off.  The oracle counts marked pages by themselves.
"""

from __future__ import annotations

import contextlib
import errno
import subprocess
from array import array
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.torture.base import (
    MEMORY_BLOCKS,
    SCRATCH,
    Guest,
    Kind,
    Machine,
    Wrong,
    block_pages,
    command,
    outcome,
    write,
)

SOFT = MEMORY_BLOCKS / "soft_offline_page"
INJECT = Path("/sys/kernel/debug/hwpoison")
FLAGS = Path("/proc/kpageflags")
LOOK = Path("/sys/module/lmm_oracle/parameters/check")
UNOWNED = LOOK.with_name("where")
# Bits of a word of FLAGS: include/uapi/linux/kernel-page-flags.h.
LRU, BUDDY, POISONED = (1 << bit for bit in (5, 10, 19))
# What the kernel answers for a page that cannot be taken, or given back.
EHWPOISON = 133  # which Python does not know
REFUSALS = {errno.EBUSY, errno.EIO, errno.ENXIO, errno.EOPNOTSUPP, EHWPOISON, errno.EINTR,
            errno.EAGAIN, errno.ENOMEM}
# Pages of a step.
MOST = 6
# The allocator rarely takes pages from a free block of so many: a page that fails hard is still
# free when the kernel looks.
QUIET = 64
PAGE_SHIFT = 12


def page_flags(first: int, count: int) -> array[int]:
    """The words of some pages."""
    words = array("Q")
    with FLAGS.open("rb", buffering=0) as handle:
        handle.seek(first * words.itemsize)
        text = handle.read(count * words.itemsize)
    words.frombytes(text[:len(text) // words.itemsize * words.itemsize])
    return words


def poisoned(pfn: int) -> bool:
    """Whether the kernel has a page as broken."""
    return any(word & POISONED for word in page_flags(pfn, 1))


def block_is_poisoned(block: int) -> bool:
    """Whether a block of memory has a broken page; loads break pages of their own, too."""
    return any(word & POISONED for word in page_flags(block * block_pages(), block_pages()))


def last_pfn() -> int:
    """One more than the last page frame of the memory that there is."""
    blocks = [int(path.name[len("memory"):]) for path in MEMORY_BLOCKS.glob("memory[0-9]*")]
    return (max(blocks) + 1) * block_pages()


def fits(place: str, words: array[int], at: int) -> bool:
    """Whether a page is of the place."""
    if words[at] & POISONED:
        return False
    if place == "quiet":
        around = words[at - at % QUIET:at - at % QUIET + QUIET]
        return all(word & BUDDY for word in around)
    return {"free": bool(words[at] & BUDDY), "used": bool(words[at] & LRU),
            "any": True}[place]


def pages_in(place: str, rnd: Random) -> list[int]:
    """Some pages, at random; none where there are none."""
    if place == "unowned":
        LOOK.read_text(encoding="ascii")
        found = [int(line) for line in UNOWNED.read_text(encoding="ascii").split()]
        return rnd.sample(found, min(MOST, len(found)))
    for _ in range(8):
        first = rnd.randrange(last_pfn()) // QUIET * QUIET
        words = page_flags(first, QUIET * 64)
        found = [first + at for at in range(len(words)) if fits(place, words, at)]
        if found:
            return rnd.sample(found, min(MOST, len(found)))
    return []


@contextlib.contextmanager
def only_free() -> Iterator[None]:
    """Have the kernel leave a page alone that is no longer free when the kernel looks."""
    for file in "mask", "value":
        write(INJECT / f"corrupt-filter-flags-{file}", str(BUDDY), set())
    write(INJECT / "corrupt-filter-enable", "1", set())
    try:
        yield
    finally:
        write(INJECT / "corrupt-filter-enable", "0", set())


def take(how: str, pfn: int) -> int:
    """Have the kernel take a page; the errno."""
    if how == "soft":
        return write(SOFT, str(pfn << PAGE_SHIFT), REFUSALS)
    with only_free():
        return write(INJECT / "corrupt-pfn", str(pfn), REFUSALS)


def take_own(guest: Guest, how: str, size: str, seed: str) -> dict[int, int]:
    """A program has pages of its own taken: page -> errno."""
    done = subprocess.run([guest.root / "build/programs/poison", how, size, str(MOST), seed],
                          cwd=SCRATCH, capture_output=True, text=True, timeout=240, check=False)
    # The OOM killer, and a page that was swapped out meanwhile, are nobody's fault.
    rows = [line.split() for line in done.stdout.splitlines() if len(line.split()) == 2]
    if done.returncode > 0:
        raise Wrong(f"poison {how} {size}: {done.stderr}")
    for _, error in rows:
        if int(error) and int(error) not in REFUSALS:
            raise Wrong(f"poison {how} {size}: {outcome(int(error))}")
    return {int(pfn): int(error) for pfn, error in rows if int(pfn)}


def draw_poison(rnd: Random, machine: Machine) -> list[str]:
    how, place = rnd.choice([("hard", "quiet"), ("hard", "small"), ("hard", "huge"),
                             ("soft", "small"), ("soft", "huge"), ("soft", "free"),
                             ("soft", "used"), ("soft", "any"),
                             ("soft", "unowned"), ("soft", "unowned")])
    return [how, place, str(rnd.randint(0, 999999))]


def run_poison(guest: Guest, how: str, place: str, seed: str) -> None:
    """Pages are taken as broken, and given back where the kernel can."""
    if not INJECT.exists() and (command(["modprobe", "hwpoison-inject"]) or not INJECT.exists()):
        guest.count("poison absent")
        return
    with guest.memory:
        if place in ("small", "huge"):
            taken = take_own(guest, how, place, seed)
        else:
            taken = {pfn: take(how, pfn) for pfn in pages_in(place, Random(int(seed)))}
        if not taken:
            guest.count(f"poison {how} {place} none")
        for pfn, error in taken.items():
            word = outcome(error)
            if error and how == "hard":
                # The kernel has counted the page, and may have marked it.
                guest.poisoned.add(pfn)
            elif not error and (pfn in guest.poisoned or not poisoned(pfn)):
                word = "left alone"
            elif not error:
                back = write(INJECT / "unpoison-pfn", str(pfn), REFUSALS)
                word = f"done, given back {outcome(back)}"
                if back:
                    guest.poisoned.add(pfn)
            guest.count(f"poison {how} {place} {word}")


KINDS: dict[str, Kind] = {
    "poison": Kind(150, run_poison, draw_poison),
}
