# SPDX-License-Identifier: GPL-2.0-only
"""Other builds of the kernels: python3 -m tests.flavours [NAME...]

The rows [[flavour]] of kernels.toml say what livemm must come to on each.  A flavour that works
lacks no hook and no policy that the same series of the matrix has in the same guest.  On a flavour
that refuses, neither DKMS nor a build by hand makes a module, and the modules of the same series do
not load.  The guests have their root in memory, because the cloud kernels have no 9p;
tests/flavours_guest.sh has the checks.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from functools import partial

from guests import modules
from guests.boot import Guest, guest_pool
from guests.command import tail
from guests.in_memory import boot
from guests.kernels import Flavour, Image, Kernel, fetch_one, flavours, images, load, refresh
from guests.programs import pagetouch
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from tests.matrix import DKMS
from tests.run import build_programs

SCRIPT = ROOT / "tests/flavours_guest.sh"
FILES = ["tests/scenarios/lib.sh", "tests/scenarios/lib_helper.sh", "build/bench/pagetouch",
         "build/programs/hintload"]
# Only 7.2 has CMA; elsewhere the argument means nothing.
KARGS = ["cma=64M", "transparent_hugepage=never"]
TIMEOUT = 900.0  # seconds
# What make says on a kernel that livemm does not run on.
REFUSAL = re.compile(r"^\S+: \*\*\* livemm does not run on a realtime kernel", re.MULTILINE)
# Notes of the script: the rows of a kind, such as "hooks unavailable: refill drain".
_ROWS = re.compile(r"(hooks unavailable|supported|armed by \w+): ?(.*)")


@dataclass
class Seen:
    """What a guest has shown."""

    release: str = ""
    outcome: str = "not run"
    rows: dict[str, set[str]] = field(default_factory=dict)


def had(kernel: Kernel) -> str:
    """Fetch a kernel, once more with today's lists of packages if need be."""
    try:
        fetch_one(kernel)
    except ToolError:
        refresh(kernel)
        fetch_one(kernel)
    return ""


def rows_in(notes: list[str]) -> dict[str, set[str]]:
    """The rows that the script's notes name, by kind."""
    found = filter(None, map(_ROWS.fullmatch, notes))
    return {match[1]: set(match[2].split()) for match in found}


def judged_by_dkms(kernel: Kernel, image: Image) -> str:
    """Why DKMS does not build for a kernel, by the rules of dkms.conf, or ""."""
    rules = dict(re.findall(r'^(\w+)="(.+)"$', DKMS.read_text(encoding="utf-8"), re.MULTILINE))
    series = rules["BUILD_EXCLUSIVE_KERNEL"]
    if not re.match(series, image.release):
        return f"{image.release} is not in {series}"
    headers = f"usr/src/linux-headers-{image.release}"
    place = (kernel.root / headers if kernel.root else image.kdir) / ".config"
    config = re.findall(r"^(CONFIG_\w+)=[ym]$", place.read_text(encoding="utf-8"), re.MULTILINE)
    wrong = [word for word in rules["BUILD_EXCLUSIVE_CONFIG"].split()
             if (word.removeprefix("!") in config) == word.startswith("!")]
    return f"{image.release} is not built with {' '.join(wrong)}" if wrong else ""


def judge_dkms(stage: Stage, kernel: Kernel, image: Image) -> None:
    """Count whether DKMS builds for the kernels that livemm works on, and for no other."""
    why = judged_by_dkms(kernel, image)
    if outcome_of(kernel) == "works":
        stage.add(f"{kernel.series}: DKMS builds for it", not why, why)
    else:
        say(f"     {kernel.series}: {why}")
        stage.add(f"{kernel.series}: DKMS does not build for it", bool(why), "no rule says no")


def outcome_of(kernel: Kernel) -> str:
    """What livemm must come to; on a kernel of the matrix it works."""
    return kernel.outcome if isinstance(kernel, Flavour) else "works"


def refuses_to_build(image: Image) -> str:
    """What is wrong with the refusal of a build by hand, or ""."""
    if not modules.build(image, variants=False):
        return "the modules were built"
    text = (BUILD / "log" / f"modules-{image.name}.log").read_text(encoding="utf-8")
    if REFUSAL.search(text) is None or "error:" in text:
        return f"make does not say why in one line:\n{tail(text)}"
    return ""


def run(stage: Stage, kernel: Kernel) -> Seen:
    """Build for a kernel, and boot it."""
    name, outcome = kernel.series, outcome_of(kernel)
    image = images(name)[0]
    seen = Seen(image.release)
    judge_dkms(stage, kernel, image)
    guest = Guest(f"flavour-{name}", image, SCRIPT, nodes=2, kargs=KARGS, timeout=TIMEOUT,
                  env={"LMM_OUTCOME": outcome})
    if isinstance(kernel, Flavour) and outcome == "refused":
        stage.run(f"{name}: a build by hand is refused, and says why",
                  partial(refuses_to_build, image))
        guest.modroot = BUILD / images(kernel.like)[0].release / "modroot"
    else:
        wrong = modules.build(image, variants=False)
        if wrong and outcome == "unknown":
            # The package does not go there.
            say(f"     {name}: does not build by hand:\n{wrong}")
            seen.outcome = "does not build"
            return seen
        if not stage.add(f"{name}: builds without a warning", not wrong, wrong):
            seen.outcome = "does not build"
            return seen
    verdict = boot(guest, FILES)
    say(f"---- {name}: {image.release}, {verdict.seconds:.0f} s, {verdict.accel}")
    verdict.count(stage, f"{name}: ")
    seen.rows = rows_in(verdict.notes)
    seen.outcome = "as it must be" if verdict.ok else "FAILED"
    return seen


def lost(flavour: Seen, base: Seen) -> Iterator[str]:
    """What the same series has in the same guest, and the flavour has not."""
    if not base.rows:
        yield "the kernel to compare with was not seen"
    for kind, rows in base.rows.items():
        there = flavour.rows.get(kind, set())
        missing = there - rows if kind == "hooks unavailable" else rows - there
        if missing:
            yield f"{kind}: {' '.join(sorted(missing))}"


def fetched(stage: Stage, rows: Sequence[Kernel]) -> list[Kernel]:
    """The kernels that could be had, one after the other: apt has one lock."""
    return [row for row in rows
            if stage.run(f"{row.series}: its packages are there", partial(had, row))]


def run_all(stage: Stage, rows: list[Kernel], jobs: int) -> dict[str, Seen]:
    """What each kernel has shown, by name."""
    seen: dict[str, Seen] = {}
    with guest_pool(jobs) as pool:
        pending = {pool.submit(run, stage, row): row.series for row in rows}
        for future in as_completed(pending):
            name = pending[future]
            try:
                seen[name] = future.result()
            except (ToolError, OSError) as error:
                stage.add(f"{name}: guest and its kernel", False, str(error))
    return seen


def compare(stage: Stage, rows: list[Flavour], seen: dict[str, Seen]) -> None:
    """Judge flavours that work by the kernels that they are like."""
    for row in rows:
        if row.outcome == "works":
            flavour, base = seen.get(row.series, Seen()), seen.get(row.like, Seen())
            stage.run(f"{row.series}: has what {row.like} has", partial(lost, flavour, base))


def show(rows: list[Kernel], seen: dict[str, Seen]) -> None:
    """A line for each kernel."""
    for row in rows:
        one = seen.get(row.series, Seen())
        armed = set().union(*(names for kind, names in one.rows.items() if "armed" in kind))
        say(f"     {row.series:18} {one.release:30} {row.compiler} {outcome_of(row):8} "
            f"{one.outcome}; armed {len(armed)}, unavailable "
            f"{' '.join(sorted(one.rows.get('hooks unavailable', ()))) or '-'}; supported "
            f"{' '.join(sorted(one.rows.get('supported', ()))) or '-'}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.flavours", description="other kernel builds")
    parser.add_argument("--jobs", type=int, default=2, help="guests at once (default 2)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="flavours (default all)")
    args = parser.parse_args()
    known = {row.series: row for row in flavours()}
    if unknown := set(args.names) - known.keys():
        raise ToolError(f"flavour {', '.join(sorted(unknown))}: not in {', '.join(known)}")
    chosen = [known[name] for name in args.names or known]
    like = {row.like for row in chosen}
    base = [kernel for kernel in load()[0] if kernel.series in like]
    rows: list[Kernel] = [*base, *chosen]
    stage = Stage("flavours")
    pagetouch()
    build_programs()
    seen = run_all(stage, fetched(stage, base), args.jobs)
    # Kernels that refuse are shown the modules of these.
    seen.update(run_all(stage, fetched(stage, chosen), args.jobs))
    compare(stage, chosen, seen)
    show(rows, seen)
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
