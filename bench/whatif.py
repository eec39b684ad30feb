# SPDX-License-Identifier: GPL-2.0-only
"""How far predictions are off: python3 -m bench.whatif --kernel 6.1 [LOAD...]

A guest records each load with every policy off, and with pcp on in each configuration. The
recording without the policy, replayed with a configuration, is held against the recording with the
policy. The guest's clock counts instructions, so that a period of the policy holds as much of the
load whatever the host does; with --cpus 2 or more the clock is the host's, and periods differ.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import guest
from guests.accel import EMULATION
from guests.boot import Guest, boot
from guests.command import call
from guests.kernels import images
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say

OUT = BUILD / "bench/whatif"
#: Settings by the words of the table.
SIDES = {
    "defaults": "mode=event,decay_ms=3000,high_max_pct=12.5,gain_pct=100",
    "high_max_pct=2": "mode=event,decay_ms=3000,high_max_pct=2,gain_pct=100",
    "decay_ms=500, gain_pct=50": "mode=event,decay_ms=500,high_max_pct=12.5,gain_pct=50",
}
OFF = "off"
SCRIPT = "whatif_load.sh"
LOADS = {
    "steady": (guest.PAGETOUCH, "-w 64 -r 8"),
    "pauses": (guest.PAGETOUCH, "-w 64 -r 6 -H 1500 -F 1500"),
    "large": (guest.PAGETOUCH, "-w 192 -r 4"),
    "small": (guest.PAGETOUCH, "-w 16 -r 32"),
    "files": (SCRIPT, "6"),
}
#: Loads that need two CPUs.
TWO = {"pipe": ("zoneload", "pipe 96")}


def argv_of(name: str) -> list[str]:
    program, args = {**LOADS, **TWO}[name]
    words = ["sh", str(ROOT / "bench/whatif_load.sh")] if program == SCRIPT else \
        [guest.load_program(program)]
    return [name, *words, *args.split()]


def folder_of(kernel: str, cpus: int) -> Path:
    return OUT / (kernel if cpus == 1 else f"{kernel}-{cpus}cpus")


def run_guest(kernel: str, script: str, words: Sequence[str], cpus: int = 1) -> Path:
    """Boot a guest, whose clock counts instructions if it has one CPU; where it writes to."""
    image = images(kernel)[0]
    folder = folder_of(image.name, cpus)
    exact = cpus == 1
    folder.mkdir(parents=True, exist_ok=True)
    verdict = boot(Guest(
        name=f"bench-{script}-{image.name}", image=image, script=ROOT / f"bench/{script}.sh",
        args=[str(folder), *words], cpus=cpus, memory="2G",
        kargs=["transparent_hugepage=never", *(guest.EXACT_KARGS if exact else [])],
        accel=EMULATION if exact else "", qemu=guest.ICOUNT if exact else [], rwdirs=[folder],
        timeout=3000,
        env={"LMM_TOUCH": guest.load_program(guest.PAGETOUCH)}))
    if not verdict.ok:
        raise ToolError(f"guest: {verdict.reason}")
    return folder


def record(kernel: str, loads: Sequence[str], cpus: int) -> Path:
    """Record each load on each side; the folder of the recordings."""
    words = [OFF, *SIDES.values()]
    for name in loads:
        words += ["--", *argv_of(name)]
    return run_guest(kernel, "whatif", words, cpus)


#: What a recording may add to the instructions of a page fault.
COST_LIMIT = 0.01


def cost(kernel: str, stage: Stage) -> None:
    """Instructions of a page fault, in the cheapest round and in all, recorder included."""
    lines = (run_guest(kernel, "record_cost", []) / "cost").read_text(encoding="utf-8").splitlines()
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
        say(f"| {kernel} | {load} | {state} | {best:.1f} ({best / base[0] - 1:+.2%}) |"
            f" {whole:.1f} ({whole / base[1] - 1:+.2%}) |")
        stage.add(f"{state}, {load}: at most {COST_LIMIT:.0%} more instructions a fault",
                  best <= base[0] * (1 + COST_LIMIT), f"{best / base[0] - 1:+.2%}")


@dataclass(frozen=True)
class Row:
    """A prediction beside what a real run did."""

    kernel: str
    load: str
    side: str
    stock: float
    predicted: float
    measured: float
    holds_stock: int
    holds_predicted: int
    holds_measured: int
    kept_predicted: float
    kept_measured: float
    lost: int

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1 if self.measured else float("inf")

    @property
    def of_stock(self) -> float:
        """The error as a share of what the load does without the policy."""
        return (self.predicted - self.measured) / self.stock if self.stock else float("inf")


def whatif(path: Path, settings: str) -> dict[str, Any]:
    """What livemmctl says of a recording."""
    sets = [word for one in settings.split(",") if one for word in ("--set", one)]
    _, text = call(["/usr/bin/python3", ROOT / "tools/bin/livemmctl", "whatif", path, "--json",
                    *sets])
    document: dict[str, Any] = json.loads(text)
    return document


def compare(kernel: str, folder: Path, loads: Sequence[str]) -> list[Row]:
    """Rows of all loads and configurations."""
    made = []
    for load in loads:
        for words, side in SIDES.items():
            found = whatif(folder / f"{load}-{OFF}.rec", side)
            real = whatif(folder / f"{load}-{side}.rec", "")
            measured = real["recorded"]
            made.append(Row(
                kernel, load, words, found["recorded"]["a_fault"], found["predicted"]["a_fault"],
                measured["a_fault"], found["recorded"]["holds"], found["predicted"]["holds"],
                measured["holds"], found["predicted"]["kept"], measured["kept"],
                found["events_lost"] + real["events_lost"]))
    return made


def table(made: Sequence[Row]) -> str:
    lines = ["| kernel | load | pcp | without | predicted | measured | error | of stock |"
             " holds | predicted | measured | kept, predicted | measured |",
             "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    lines += [f"| {row.kernel} | {row.load} | {row.side} | {row.stock:.4f} | {row.predicted:.4f} |"
              f" {row.measured:.4f} | {row.error:+.1%} | {row.of_stock:+.2%} |"
              f" {row.holds_stock} | {row.holds_predicted} | {row.holds_measured} |"
              f" {row.kept_predicted:.0f} | {row.kept_measured:.0f} |" for row in made]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.whatif", description=__doc__)
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--cpus", type=int, default=1, metavar="N")
    parser.add_argument("--cost", action="store_true",
                        help="measure what a recording costs, and nothing else")
    parser.add_argument("--again", type=Path, metavar="FOLDER",
                        help="use the recordings that are in FOLDER")
    parser.add_argument("loads", nargs="*", default=list(LOADS), metavar="LOAD")
    args = parser.parse_args()
    stage = Stage("whatif")
    image = images(args.kernel)[0]
    if args.cost:
        cost(image.name, stage)
        return stage.finish()
    folder = args.again or record(args.kernel, args.loads, args.cpus)
    made = compare(image.name, folder, args.loads)
    say(table(made))
    (folder_of(image.name, args.cpus) / "rows.json").write_text(
        json.dumps([vars(row) for row in made], indent=1) + "\n", encoding="utf-8")
    for row in made:
        stage.add(f"{row.load}, {row.side}: no event is lost", row.lost == 0, f"{row.lost}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
