# SPDX-License-Identifier: GPL-2.0-only
"""How far predictions of numa are off: python3 -m bench.whatif_numa --kernel 6.1 [LOAD...]

As bench.whatif, in a guest of two nodes with a CPU each: the kernel's count of hint faults of a run
with the policy on, beside what the recording without the policy predicts.
"""

import argparse

from bench.whatif import NODES, OFF, Side, add_options, folder_of, measured, record, whatif
from guests.kernels import images
from guests.report import Stage, main_guard, say

SIDES = (Side("numa-vma", "vma", {"numa": "mode=vma"}),
         Side("numa-period", "period", {"numa": "mode=period"}))
CPUS = 2
SCANS = ("scans", "sampling_scans", "resampled")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.whatif_numa", description=__doc__)
    add_options(parser)
    args = parser.parse_args()
    stage = Stage("whatif_numa")
    image = images(args.kernel)[0]
    loads = args.loads or list(NODES)
    folder = args.again or record(image, loads, SIDES, CPUS, nodes=2)
    say("| load | mode | hint faults: without | predicted | measured | error |"
        " full scans: predicted | measured | sampling scans: predicted | measured |"
        " alarms: predicted | measured |")
    say("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for load in loads:
        for side in SIDES:
            found = whatif(folder / f"{load}-{OFF.tag}.rec", side.settings)
            real = measured(folder / f"{load}-{side.tag}", "numa")
            stock, predicted = found["recorded"], found["predicted"]
            faults = real["numa_hint_faults"]
            scans = " | ".join(f"{predicted[name]:,} | {real[name]:,}" for name in SCANS)
            say(f"| {load} | `{side.words}` | {stock['hint_faults']:,} |"
                f" {predicted['hint_faults']:,} | {faults:,} |"
                f" {predicted['hint_faults'] / max(faults, 1) - 1:+.1%} | {scans} |")
            stage.add(f"{load}, {side.words}: no event is lost", found["events_lost"] == 0,
                      f"{found['events_lost']}")
    say(f"recordings: {folder_of(image.name, CPUS) if args.again is None else folder}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
