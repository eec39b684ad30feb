# SPDX-License-Identifier: GPL-2.0-only
"""Measure what policies do to whole hosts: python3 -m bench.run hosts [--host NAME,...]
                           [--kernel K] [--policy P,...] [--pairs N] [--again N]

Sides alternate in an order of chance, within one boot where a run leaves nothing behind that
matters to the next.  Writes build/bench/hosts-KERNEL-HOST.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import guest
from bench.guest import OUT, Plan, load_program
from bench.hosts.host import Host
from bench.hosts.hosts import HOSTS, SMOKE
from bench.hosts.metrics import METRICS
from bench.hosts.verdict import (
    BETTER,
    LEVEL,
    LIKELY,
    NONE,
    SUSPECT,
    WORSE,
    holm,
    interval,
    p_value,
    small,
)
from bench.table import HOST, align
from guests.kernels import Image
from guests.report import BUILD, ROOT, ToolError, say

STOCK, ALL = "stock", "all"
PAIRS, AGAIN = 5, 10
# With the fewest pairs, one in sixteen is the rarest that flips of signs can say.
LOOKS = 0.1
SECONDS = 10800
HUGE = {"enabled": "always", "defrag": "madvise"}

HostRow = dict[str, Any]
Runs = dict[str, list[guest.Result]]


def policies() -> list[str]:
    """The policies of the module."""
    return sorted(path.parent.name for path in (ROOT / "module/policy").glob("*/policy.c"))


def observe(plan: Plan, host: Host, name: str, side: str) -> None:
    """Add a run of the host's load on a side."""
    # As often, in instructions, on every host.
    sleeper = [] if host.quiet else [load_program("hosts/sleeper"), str(1 << host.shift)]
    plan.add("observed", name, policies=[] if side == STOCK else [side], load=host.load(),
             before=list(host.before), huge=host.huge, sleeper=sleeper,
             nodes=host.nodes > 1 or bool(host.slow))


def boot(host: Host, image: Image, name: str, modroot: Path | None, order: Sequence[str]) -> Runs:
    """Boot the host, and run its load on these sides one after the other; the runs by side.

    name    of the boot
    modroot tree for modprobe, if it is not the one of the modules as they are
    """
    plan = Plan(f"hosts-{image.name}-{host.name}{name}", image, cpus=host.cpus, shift=host.shift,
                nodes=host.nodes, memory=host.memory, slow=host.slow, disks=host.disks,
                huge="always", kargs=host.kargs, agent="bench.hosts.agent", modroot=modroot,
                allowed=[guest.OOM_PRINTS])
    plan.add("modprobe", "modprobe livemm", module="livemm")
    # As on a host of more memory: with less than 512 MiB the kernel has no huge pages.
    for file, text in HUGE.items():
        plan.add("write", file, path=f"/sys/kernel/mm/transparent_hugepage/{file}", text=text)
    # The stock kernel has nearly every page cross the lock in this load.
    plan.program("costed", "cost", "zoneload", "pipe 32")
    host.setup(plan)
    if not host.boots:
        for side in (STOCK, ALL):
            observe(plan, host, f"warm-up {side}", side)
    for at, side in enumerate(order):
        observe(plan, host, f"{at} {side}", side)
    results = guest.run(plan, words, SECONDS)
    runs: Runs = {side: [] for side in order}
    for at, side in enumerate(order):
        result = results[f"{at} {side}"]
        result["cost_ns"] = results["cost"]["cost_ns"]
        runs[side].append(result)
    return runs


def run(host: Host, image: Image, sides: Sequence[str], pairs: int, name: str,
        modroot: Path | None = None) -> Runs:
    """Run the host's load so often on each side; the runs by side, in pairs.  See boot()."""
    turns = []
    for turn in range(pairs):
        order = [STOCK, *sides]
        random.Random(f"{host.name}{name} {turn}").shuffle(order)
        turns.append(order)
    if host.boots:
        boots = [boot(host, image, f"{name}-{turn}-{side}", modroot, [side])
                 for turn, order in enumerate(turns) for side in order]
    else:
        boots = [boot(host, image, name, modroot, [side for order in turns for side in order])]
    runs: Runs = {side: [result for runs in boots for result in runs.get(side, [])]
                  for side in (STOCK, *sides)}
    return {side: found for side, found in runs.items() if "unsupported" not in found[0]}


def words(result: guest.Result) -> str:
    """Progress says this of a run."""
    return f"{result['seconds']:.1f} s" if "seconds" in result else ""


def rows_of(runs: Runs) -> list[HostRow]:
    """A row a policy and figure, but for figures that are 0 throughout."""
    rows = []
    for side, found in runs.items():
        if side == STOCK:
            continue
        for metric, value in METRICS.items():
            stock, policy = ([round(value(result), 3) for result in results]
                             for results in (runs[STOCK], found))
            if not any(stock + policy):
                continue
            more = [after - before for before, after in zip(stock, policy, strict=True)]
            low, high = interval(more)
            rows.append({"policy": side, "metric": metric, "stock": statistics.fmean(stock),
                         "with": statistics.fmean(policy), "low": low, "high": high,
                         "pairs": len(more), "p": p_value(more), "verdict": NONE,
                         "runs": [stock, policy]})
    return rows


def differs(row: HostRow, more: bool) -> bool:
    """Whether the policy's figure is higher (or lower) by enough to matter."""
    return (row["with"] > row["stock"]) == more and not small(*row["runs"])


def judge(rows: list[HostRow]) -> None:
    """Say what is better, among all rows; and what looks worse or better."""
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        if p < LEVEL and differs(row, more=False):
            row["verdict"] = BETTER
        elif row["p"] < LOOKS and differs(row, more=True):
            row["verdict"] = SUSPECT
        elif row["p"] < LOOKS and differs(row, more=False):
            row["verdict"] = LIKELY


def confirm(rows: list[HostRow], again: list[HostRow]) -> list[HostRow]:
    """The rows, of which new pairs replace each that only looks different, with a verdict."""
    looks = {(row["policy"], row["metric"]) for row in rows if row["verdict"] in (SUSPECT, LIKELY)}
    new = {key: row for row in again if (key := (row["policy"], row["metric"])) in looks}
    for policy in {policy for policy, _ in new}:
        family = [row for row in new.values() if row["policy"] == policy]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p"] = p
            if p < LEVEL:
                row["verdict"] = (WORSE if differs(row, more=True) else
                                  BETTER if differs(row, more=False) else NONE)
    # What was not run again, or is 0 throughout when run again, shows no difference.
    return [new.get(key, {**row, "verdict": NONE})
            if (key := (row["policy"], row["metric"])) in looks else row for row in rows]


def asks_again(row: HostRow, host: Host) -> bool:
    """Whether a policy is run again for this row."""
    return row["verdict"] == SUSPECT or (
        row["verdict"] == LIKELY and row["metric"] in host.matters)


def measure(host: Host, image: Image, sides: Sequence[str], pairs: int, again: int,
            ) -> list[HostRow]:
    """The rows of a host; what looks different is run again, if so many pairs are wanted."""
    say(f"---- host {host.name} on {image.name}: {', '.join(sides)}")
    rows = rows_of(run(host, image, sides, pairs, ""))
    judge(rows)
    asked = {row["policy"] for row in rows if asks_again(row, host)}
    if not asked or not again:
        return rows
    say(f"---- host {host.name} on {image.name}: again, {', '.join(sorted(asked))}")
    return confirm(rows, rows_of(run(host, image, [side for side in sides if side in asked], again,
                                     "-again")))


def document(head: dict[str, Any], rows: Sequence[HostRow]) -> str:
    """JSON, a row a line."""
    def rounded(value: Any) -> Any:
        return round(value, 6) if isinstance(value, float) else value

    lines = ",\n".join(json.dumps({key: rounded(value) for key, value in row.items()})
                       for row in rows)
    return f'{json.dumps(head)[:-1]}, "rows": [\n{lines}\n]}}\n'


def table(host: Host, rows: Sequence[HostRow]) -> str:
    """What differs, and what matters of the host."""
    shown = [row for row in rows if row["verdict"] != NONE or row["metric"] in host.matters]
    lines = [["policy", "figure", "verdict", "stock", "with", "difference", "pairs"]]
    lines += [[row["policy"], row["metric"], row["verdict"], f"{row['stock']:.1f}",
               f"{row['with']:.1f}", f"{row['low']:.1f} to {row['high']:.1f}", str(row["pairs"])]
              for row in shown]
    return align(lines, 3)


def main(argv: Sequence[str], stock: Callable[[str | None], list[Image]], tree: str) -> int:
    """The command.  stock: the kernels that a name means; tree: the commit."""
    parser = argparse.ArgumentParser(prog="bench.run hosts", description="measure whole hosts")
    parser.add_argument("--host", help=f"of {', '.join(HOSTS)}")
    parser.add_argument("--kernel", help="only on this kernel")
    parser.add_argument("--policy", help=f"of {', '.join([*policies(), ALL])}")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"runs a side ({PAIRS})")
    parser.add_argument("--again", type=int, default=AGAIN,
                        help=f"of what looks different, runs a side besides ({AGAIN}); 0: none")
    args = parser.parse_args(argv)
    names = args.host.split(",") if args.host else list(HOSTS)
    sides = args.policy.split(",") if args.policy else [*policies(), ALL]
    every = {**HOSTS, SMOKE.name: SMOKE}
    for name, there in [(name, [*every]) for name in names] + [
            (side, [*policies(), ALL]) for side in sides]:
        if name not in there:
            raise ToolError(f"{name}: not in {', '.join(there)}")
    for image in stock(args.kernel):
        if not (BUILD / image.release / "livemm.ko").exists():
            raise ToolError(f"{image.name}: no modules; run `make modules`")
        for name in names:
            host = every[name]
            if host.kernels and image.name not in host.kernels:
                continue
            began = time.monotonic()
            chosen = [side for side in sides if side not in host.without]
            rows = measure(host, image, chosen, args.pairs, args.again)
            head = {"bench": "hosts", "host": name, "kernel": image.name, "tree": tree,
                    "date": time.strftime("%F", time.gmtime()), "on": HOST,
                    "policies": chosen, "pairs": args.pairs,
                    "minutes": round((time.monotonic() - began) / 60, 1)}
            OUT.mkdir(parents=True, exist_ok=True)
            (OUT / f"hosts-{image.name}-{name}.json").write_text(document(head, rows),
                                                                 encoding="utf-8")
            say(f"\n{name} on {image.name}, {head['minutes']} min\n\n{table(host, rows)}\n")
    return 0
