# SPDX-License-Identifier: GPL-2.0-only
"""How far predictions are off: python3 -m bench.whatif --kernel 6.1 [LOAD...]

A guest records each load with every policy off, and with pcp, zonelock or both on in several
configurations, which come on when the recording begins. The recording without a policy, replayed
with a configuration, is held against the run with that configuration. The guest's clock counts
instructions, so that a period of a policy holds as much of the load whatever the host does.

A recording tells all of a run with pcp. With zonelock on the kernel's own tracepoints count the
pages that cross zone->lock, and probes at the lock count holds.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import guest
from guests.accel import EMULATION
from guests.boot import Guest, boot
from guests.command import call
from guests.kernels import Image, images
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say

OUT = BUILD / "bench/whatif"


@dataclass(frozen=True)
class Side:
    """Policies that are on, with their settings.

    tag     names its files
    words   of the table
    """

    tag: str
    words: str
    settings: dict[str, str]

    @property
    def policy(self) -> str:
        return "+".join(self.settings)

    @property
    def argument(self) -> str:
        """As whatif.sh takes a side."""
        return f"{self.tag}=" + "+".join(f"{name}:{text}" for name, text in self.settings.items())


def _pcp(decay_ms: int = 3000, high_max_pct: str = "12.5") -> dict[str, str]:
    return {"pcp": f"mode=event,decay_ms={decay_ms},high_max_pct={high_max_pct}"}


def _zonelock(max_pages_pct: str = "4", max_age_ms: int = 1000) -> dict[str, str]:
    return {"zonelock": f"max_pages_pct={max_pages_pct},max_age_ms={max_age_ms}"}


OFF = Side("off", "", {})
SIDES = (
    Side("pcp-defaults", "defaults", _pcp()),
    Side("pcp-small", "high_max_pct=2", _pcp(high_max_pct="2")),
    Side("pcp-short", "decay_ms=500", _pcp(decay_ms=500)),
    Side("zonelock-defaults", "defaults", _zonelock()),
    Side("zonelock-small", "max_pages_pct=1, max_age_ms=300", _zonelock("1", 300)),
    Side("both", "defaults", {**_pcp(), **_zonelock()}),
)
SCRIPT = "whatif_load.sh"
LOADS = {
    "steady": (guest.PAGETOUCH, "-w 64 -r 8"),
    "pauses": (guest.PAGETOUCH, "-w 64 -r 6 -H 1500 -F 1500"),
    "large": (guest.PAGETOUCH, "-w 192 -r 4"),
    "small": (guest.PAGETOUCH, "-w 16 -r 32"),
    "files": (SCRIPT, "6"),
}
#: Loads that need two CPUs.
TWO = {"pipe": ("zoneload", "pipe 96"), "exit": ("zoneload", "exit 96")}
#: The kernel's tracepoints: a block crosses zone->lock on its way to a list, or back.
CROSSINGS = ("mm_page_alloc_zone_locked", "mm_page_pcpu_drain")
_BUCKET = re.compile(r"\{ order: +(\d+) *\} hitcount: +(\d+)")


def argv_of(name: str) -> list[str]:
    program, args = {**LOADS, **TWO}[name]
    words = ["sh", str(ROOT / "bench/whatif_load.sh")] if program == SCRIPT else \
        [guest.load_program(program)]
    return [name, *words, *args.split()]


def folder_of(kernel: str, cpus: int) -> Path:
    return OUT / (kernel if cpus == 1 else f"{kernel}-{cpus}cpus")


def run_guest(image: Image, script: str, words: Sequence[str], cpus: int = 1,
              env: dict[str, str] | None = None) -> Path:
    """Boot a guest whose clock counts instructions; where it writes to."""
    folder = folder_of(image.name, cpus)
    folder.mkdir(parents=True, exist_ok=True)
    # CPUs beyond the first are brought up by the script: see guest.LATE_KARGS.
    late, begins = (guest.LATE_KARGS, {"LMM_CPUS": "1"}) if cpus > 1 else ([], {})
    verdict = boot(Guest(
        name=f"bench-{script}-{image.name}", image=image, script=ROOT / f"bench/{script}.sh",
        args=[str(folder), *words], cpus=cpus, memory="2G",
        kargs=["transparent_hugepage=never", *guest.EXACT_KARGS, *late],
        accel=EMULATION, qemu=guest.ICOUNT, rwdirs=[folder], timeout=3000,
        env={"LMM_TOUCH": guest.load_program(guest.PAGETOUCH),
             "LMM_SPIN": guest.load_program("numaload"), **begins, **(env or {})}))
    if not verdict.ok:
        raise ToolError(f"guest: {verdict.reason}")
    return folder


def record(image: Image, loads: Sequence[str], sides: Sequence[Side], cpus: int) -> Path:
    """Record each load on each side; the folder of the recordings."""
    words = [side.argument for side in (OFF, *sides)]
    for name in loads:
        words += ["--", *argv_of(name)]
    locks = guest.build_modules(image, "zoneload/locks") / "lmm_locks.ko"
    return run_guest(image, "whatif", words, cpus, {"LMM_LOCKS": str(locks)})


#: What a recording may add to the instructions of a page fault.
COST_LIMIT = 0.01


def cost(image: Image, stage: Stage) -> None:
    """Instructions of a page fault, in the cheapest round and in all, recorder included."""
    lines = (run_guest(image, "record_cost", []) / "cost").read_text(
        encoding="utf-8").splitlines()
    found: dict[tuple[str, str], tuple[float, float]] = {}
    say("| kernel | load | state | instructions a fault, cheapest round | all rounds |")
    say("|---|---|---|--:|--:|")
    for line in lines:
        state, load, text = line.split("|")
        ran = json.loads(text)
        found[load, state] = (ran["best_round_ns"] / (ran["pages"] / ran["rounds"]),
                              (ran["touch_ns"] + ran["unmap_ns"]) / ran["pages"])
        base = found[load, "not loaded"]
        best, whole = found[load, state]
        say(f"| {image.name} | {load} | {state} | {best:.1f} ({best / base[0] - 1:+.2%}) |"
            f" {whole:.1f} ({whole / base[1] - 1:+.2%}) |")
        stage.add(f"{state}, {load}: at most {COST_LIMIT:.0%} more instructions a fault",
                  best <= base[0] * (1 + COST_LIMIT), f"{best / base[0] - 1:+.2%}")


@dataclass(frozen=True)
class Row:
    """A prediction beside what a real run did; pages and holds in the whole run."""

    kernel: str
    load: str
    policy: str
    side: str
    stock: int
    predicted: int
    measured: int
    holds_stock: int
    holds_predicted: int
    holds_measured: int
    kept_predicted: float
    kept_measured: float
    faults: int
    lost: int

    @property
    def error(self) -> float:
        if self.predicted == self.measured:
            return 0.0
        return self.predicted / self.measured - 1 if self.measured else float("inf")

    @property
    def of_stock(self) -> float:
        """The error as a share of what the load does without the policy."""
        return (self.predicted - self.measured) / self.stock if self.stock else float("inf")


def whatif(path: Path, settings: dict[str, str]) -> dict[str, Any]:
    """What livemmctl says of a recording."""
    words = [word for name in settings or {"pcp": ""} for word in ("--policy", name)]
    words += [word for name, text in settings.items() for one in text.split(",")
              for word in ("--set", f"{name}/{one}")]
    _, text = call(["/usr/bin/python3", ROOT / "tools/bin/livemmctl", "whatif", path, "--json",
                    *words])
    document: dict[str, Any] = json.loads(text)
    return document


def crossed(run: Path) -> int:
    """Pages that the kernel's tracepoints have counted."""
    return sum(int(hits) << int(order) for event in CROSSINGS
               for order, hits in _BUCKET.findall(
                   run.with_name(f"{run.name}.{event}").read_text(encoding="utf-8")))


def compare(kernel: str, folder: Path, loads: Sequence[str],
            sides: Sequence[Side]) -> list[Row]:
    """Rows of all loads and configurations."""
    made = []
    for load in loads:
        for side in sides:
            found = whatif(folder / f"{load}-{OFF.tag}.rec", side.settings)
            run = folder / f"{load}-{side.tag}"
            real = whatif(run.with_name(f"{run.name}.rec"), {})
            stock, predicted, measured = found["recorded"], found["predicted"], real["recorded"]
            if "zonelock" in side.settings:
                holds = run.with_name(f"{run.name}.holds").read_text(encoding="utf-8")
                measured = {"crossed": crossed(run), "holds": int(holds),
                            "kept": measured["kept"] + real["recorded_depot_pages"]}
            made.append(Row(
                kernel, load, side.policy, side.words, stock["crossed"], predicted["crossed"],
                measured["crossed"], stock["holds"], predicted["holds"], measured["holds"],
                predicted["kept"], measured["kept"], stock["faults"],
                found["events_lost"] + real["events_lost"]))
    return made


def table(made: Sequence[Row]) -> str:
    lines = ["| kernel | load | policy | settings | without | predicted | measured | error |"
             " of stock | holds | predicted | measured | kept, predicted | measured |",
             "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    lines += [f"| {row.kernel} | {row.load} | {row.policy} | {row.side} | {row.stock} |"
              f" {row.predicted} | {row.measured} | {row.error:+.1%} | {row.of_stock:+.2%} |"
              f" {row.holds_stock} | {row.holds_predicted} | {row.holds_measured} |"
              f" {row.kept_predicted:.0f} | {row.kept_measured:.0f} |" for row in made]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.whatif", description=__doc__)
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--again", type=Path, metavar="FOLDER",
                        help="use the recordings that are in FOLDER")
    parser.add_argument("loads", nargs="*", metavar="LOAD")
    parser.add_argument("--cpus", type=int, default=1, metavar="N")
    parser.add_argument("--cost", action="store_true",
                        help="measure what a recording costs, and nothing else")
    parser.add_argument("--sides", default=",".join(side.tag for side in SIDES), metavar="TAGS",
                        help="only these of %(default)s")
    args = parser.parse_args()
    stage = Stage("whatif")
    image = images(args.kernel)[0]
    if args.cost:
        cost(image, stage)
        return stage.finish()
    loads = args.loads or list(LOADS if args.cpus == 1 else TWO)
    sides = [side for side in SIDES if side.tag in args.sides.split(",")]
    folder = args.again or record(image, loads, sides, args.cpus)
    made = compare(image.name, folder, loads, sides)
    say(table(made))
    (folder_of(image.name, args.cpus) / "rows.json").write_text(
        json.dumps([vars(row) for row in made], indent=1) + "\n", encoding="utf-8")
    for row in made:
        stage.add(f"{row.load}, {row.policy} {row.side}: no event is lost", row.lost == 0,
                  f"{row.lost}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
