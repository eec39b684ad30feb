# SPDX-License-Identifier: GPL-2.0-only
"""Measure a policy's claims: python3 -m bench.run [--json] [--quick | --only WHAT,...]
                           [--kernel K] [--config KNOBS] [NAME...]
or whole hosts: python3 -m bench.run hosts, see bench.hosts.run; ablate NAME, see bench.ablate

Prints a table and writes build/bench/NAME.json (NAME-quick.json, NAME-WHAT.json).  A target
that is not met is said in the table; the status is 0 when everything could be measured.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys

from bench import ablate, cma, guest, lists, numa, pageblock, pcp, scaling, zonelock
from bench.compare import Bench
from bench.hosts import run as hosts
from bench.table import document, render
from guests import kernel_build, modules
from guests.command import call
from guests.kernels import Image, built_image, images, load, stock_image
from guests.report import ROOT, ToolError, main_guard, say

BENCHES = {bench.name: bench for bench in (
    zonelock.BENCH, pcp.BENCH, lists.BENCH, scaling.BENCH, numa.BENCH, pageblock.BENCH, cma.BENCH
)}

CONFIG_LINE = re.compile(r"\w+=[\w.]+(,\w+=[\w.]+)*")


def stock(wanted: str | None) -> list[Image]:
    """The stock kernels to measure on: the named one, or all that the host builds for."""
    if wanted == "debug":
        raise ToolError("--kernel debug: its checkers are what would be measured")
    if wanted:
        return images(wanted)
    return [stock_image(kernel) for kernel in load()[0] if not kernel.buildroot]


def own(bench: Bench, wanted: str | None) -> list[Image]:
    """The built kernel of a bench, and the modules for it; both are had here when absent."""
    if wanted in bench.stock:
        return stock(wanted)
    if wanted not in (None, bench.kernel):
        raise ToolError(f"--kernel {wanted}: {bench.name} is measured on {bench.kernel}")
    kernel_build.ensure(bench.kernel)
    image = built_image(bench.kernel)
    say(f"    building the modules for {bench.kernel}")
    wrong = modules.build(image)
    if wrong:
        raise ToolError(f"the modules for {bench.kernel}: {wrong}")
    return [image]


def tree_state() -> str:
    """The commit of the checkout, with "-dirty" where files differ; "" outside of git."""
    argv = ["git", "-c", f"safe.directory={ROOT}", "describe", "--always", "--dirty"]
    try:
        return call(argv, cwd=ROOT)[1].strip()
    except ToolError:
        return ""


def main() -> int:
    """The command."""
    if sys.argv[1:2] == ["hosts"]:
        return hosts.main(sys.argv[2:], stock, tree_state())
    if sys.argv[1:2] == ["ablate"]:
        return ablate.command(sys.argv[2:], stock, tree_state())
    parser = argparse.ArgumentParser(prog="bench.run", description="measure the claims")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    few = parser.add_mutually_exclusive_group()
    few.add_argument("--quick", action="store_true", help="a few rows on the first kernel")
    few.add_argument("--only", help="these parts alone, of: " + "; ".join(
        f"{name}: {', '.join(bench.names)}" for name, bench in BENCHES.items()
    ))
    parser.add_argument("--kernel", help="only on this kernel: a series, a release or cma")
    parser.add_argument("--config", help="knobs besides the usual: mode=event,...")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    args = parser.parse_args()
    for name in args.names:
        if name not in BENCHES:
            raise ToolError(f"bench {name}: not in {', '.join(BENCHES)}")
    if args.config and not CONFIG_LINE.fullmatch(args.config):
        raise ToolError(f"--config {args.config}: write it as knob=value,knob=value")
    config = args.config or ""
    only = args.only.split(",") if args.only else []
    # Without names, all that can be measured on that kernel.
    for name in args.names or [name for name, bench in BENCHES.items()
                               if args.kernel in (None, bench.kernel or args.kernel)]:
        bench = BENCHES[name]
        for part in only:
            if part not in bench.names:
                raise ToolError(f"--only {part}: not in {', '.join(bench.names)} of {name}")
        # Progress stays off the standard output when a program reads that.
        with contextlib.redirect_stdout(sys.stderr if args.json else sys.stdout):
            there = own(bench, args.kernel) if bench.kernel else stock(args.kernel)
            rows = bench.measure(there, args.quick, config, only)
        text = document(name, config, only, tree_state(), rows)
        # A few rows must not take the place of all.
        words = [name, *(["quick"] if args.quick else []), *only]
        path = guest.OUT / f"{'-'.join(words)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        title = f"{name}, {config}" if config else name
        say(text.rstrip() if args.json else f"\n{title}\n\n{render(rows)}")
    return 0


if __name__ == "__main__":
    main_guard(main)
