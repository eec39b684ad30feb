# SPDX-License-Identifier: GPL-2.0-only
"""How far predictions of pageblock are off: python3 -m bench.whatif_pageblock [LOAD...]

As bench.whatif, with bench.pageblock's load on its disks: the movable blocks that a real run with
the policy mixed, beside the least and the most that the recording without the policy predicts.
Fragmentation is history, so that each run has a guest of its own.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench import guest
from bench.pageblock import DISKS, MEMORY, MIN_FREE_KIB
from bench.whatif import (
    BUILDS,
    OFF,
    Side,
    add_options,
    argv_of,
    folder_of,
    run_guest,
    whatif,
)
from guests.kernels import Image, images
from guests.report import Stage, main_guard, say

#: What the worker would move is not predicted.
ALONE = "move_pages_per_s=0,buffers=0"
SIDES = tuple(Side(f"pageblock-{mode}", mode, {"pageblock": f"mode={mode},{ALONE}"})
              for mode in ("claim", "strict"))


def record(image: Image, loads: Sequence[str]) -> Path:
    """Record each load on each side, in a guest of its own; the folder of the recordings."""
    folder = folder_of(image.name, 1)
    folder.mkdir(parents=True, exist_ok=True)
    env = {"LMM_DISKS": " ".join(DISKS), "LMM_MIN_FREE": str(MIN_FREE_KIB)}
    for name in loads:
        for side in (OFF, *SIDES):
            run_guest(image, "whatif", [side.argument, "--", *argv_of(name)], env=env,
                      kargs=["transparent_hugepage=madvise"],
                      qemu=guest.disk_args(DISKS, folder), memory=MEMORY,
                      allowed=[guest.OOM_PRINTS])
    for serial in DISKS:
        (folder / serial).unlink()
    return folder


def off_by(measured: int, least: int, most: int) -> str:
    """The error: none between the least and the most, else that of the nearer of both."""
    nearer = min(max(measured, least), most)
    return "within" if nearer == measured else f"{nearer / max(measured, 1) - 1:+.1%}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.whatif_pageblock", description=__doc__)
    add_options(parser)
    args = parser.parse_args()
    stage = Stage("whatif_pageblock")
    image = images(args.kernel)[0]
    loads = args.loads or list(BUILDS)
    folder = args.again or record(image, loads)
    say("| load | mode | movable blocks mixed: without | predicted, least | most | measured |"
        " error | mixes: without | predicted at once | measured |")
    say("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for load in loads:
        for side in SIDES:
            found = whatif(folder / f"{load}-{OFF.tag}.rec", side.settings)
            real = whatif(folder / f"{load}-{side.tag}.rec", side.settings)
            stock, predicted, run = found["recorded"], found["predicted"], real["recorded"]
            least, most = predicted["blocks_least"], predicted["blocks_most"]
            say(f"| {load} | `{side.words}` | {stock['blocks']:,} | {least:,} | {most:,} |"
                f" {run['blocks']:,} | {off_by(run['blocks'], least, most)} |"
                f" {stock['mixes']:,} | {predicted['mixes_at_once']:,} | {run['mixes']:,} |")
            lost = found["events_lost"] + real["events_lost"]
            stage.add(f"{load}, {side.words}: no event is lost", lost == 0, f"{lost}")
    say(f"recordings: {folder}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
