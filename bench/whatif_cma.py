# SPDX-License-Identifier: GPL-2.0-only
"""How far predictions of cma are off: python3 -m bench.whatif_cma [LOAD...]

As bench.whatif, in a guest of a kernel that has CMA and refills that can be hooked (`debug`), with
a quarter of its memory for CMA.
"""

import argparse

from bench.whatif import AREAS, OFF, Side, add_options, folder_of, measured, record, whatif
from guests.kernels import images
from guests.report import Stage, main_guard, say

SIDES = tuple(Side(f"cma-{mode}", mode, {"cma": f"mode={mode},move_pages_per_s=0"})
              for mode in ("cma_first", "ratio"))
#: Words, and where the replay and the real recording have the figure.
FIGURES = {"free CMA pages, mean": "free_cma", "free regular pages, mean": "free_regular",
           "CMA pages in use, most": "cma_used_most"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.whatif_cma", description=__doc__)
    add_options(parser, "debug")
    args = parser.parse_args()
    stage = Stage("whatif_cma")
    image = images(args.kernel)[0]
    loads = args.loads or list(AREAS)
    folder = args.again or record(image, loads, SIDES, 1, kargs=["cma=512M"])
    say("| load | mode | figure | without | predicted | measured | error |")
    say("|---|---|---|--:|--:|--:|--:|")
    for load in loads:
        for side in SIDES:
            run = folder / f"{load}-{side.tag}"
            found = whatif(folder / f"{load}-{OFF.tag}.rec", side.settings)
            real = whatif(run.with_name(f"{run.name}.rec"), side.settings)["recorded"]
            counted = measured(run, "cma")
            rows = [(words, f"{found['recorded'][name]:,.0f}", found["predicted"][name],
                     real[name]) for words, name in FIGURES.items()]
            rows.append(("pages of refills from CMA memory", "-", found["lent_pages"],
                         counted["lent_pages"]))
            for words, without, predicted, got in rows:
                say(f"| {load} | `{side.words}` | {words} | {without} | {predicted:,.0f} |"
                    f" {got:,.0f} | {predicted / max(got, 1) - 1:+.1%} |")
            stage.add(f"{load}, {side.words}: no event is lost", found["events_lost"] == 0,
                      f"{found['events_lost']}")
    say(f"recordings: {folder_of(image.name, 1) if args.again is None else folder}")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
