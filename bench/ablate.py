# SPDX-License-Identifier: GPL-2.0-only
"""What a mechanism of a policy is good for: hosts with it, and with a module that lacks it.

python3 -m bench.run ablate NAME... [--kernel K] [--host HOST,...] [--pairs N]
python3 -m bench.ablate [--check | --store FILE...]: bench/mechanisms.md from bench/results/ablate/

A mechanism is switched off by texts of its source that are replaced in a copy, where each text
must stand exactly once.  tests.lint checks that (--check).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.guest import OUT
from bench.hosts.hosts import HOSTS
from bench.hosts.metrics import METRICS
from bench.hosts.page import line, number, results
from bench.hosts.run import PAIRS, STOCK, HostRow, Runs, document, run
from bench.hosts.verdict import LEAST, LEVEL, NONE, holm, interval, p_value
from bench.table import HOST, align, write_or_check
from guests.command import call, tail
from guests.kernels import Image
from guests.modules import WORDS, make_argv, merge_modroot, sync
from guests.report import BUILD, ROOT, ToolError, main_guard, say

PAGE = ROOT / "bench/mechanisms.md"
RESULTS = ROOT / "bench/results/ablate"
KERNEL = "6.12"
GAINS, LOSES = "gains", "loses"


@dataclass(frozen=True)
class Mechanism:
    """A mechanism.

    words   what it does
    policy  whose it is
    lines   of code that it has, about
    texts   where the mechanism is off: a file of module/policy, a text in it, and what stands there
    hosts   where it should matter
    kernel  where it is measured
    """

    words: str
    policy: str
    lines: int
    texts: tuple[tuple[str, str, str], ...]
    hosts: Sequence[str]
    kernel: str = KERNEL


MECHANISMS: Mapping[str, Mechanism] = {
    "unseen_refills": Mechanism(
        "pages that may have been taken between two looks count as used, where refills are not "
        "seen", "pcp", 12,
        (("pcp/core_event.c", "\tif (limits->sees_refills || event->missing",
          "\tif (true || event->missing"),),
        ("cache", "small")),
    "limited_drain": Mechanism(
        "a full list drains what is outstanding alone, or an eighth", "pcp", 102,
        (("pcp/core_event.c", "\tif (taken && event->drained + use->drained <= high) {",
          "\tif (false) {"),),
        ("cache", "build")),
    "split_refills": Mechanism(
        "a refill takes a large block and splits it outside of zone->lock (6.1)", "zonelock", 110,
        (("zonelock/handlers.c",
          "\tif (refill->migratetype != MIGRATE_MOVABLE || refill->blocks <= 1)",
          "\tif (refill->migratetype >= 0)"),),
        ("build", "cache"), "6.1"),
    "gone_ahead": Mechanism(
        "all that a list gives back in parts goes with the first part", "zonelock", 60,
        (("zonelock/handlers.c", "\tgone = clamp(before->pages, 0, drain->count);",
          "\tgone = 0;"),),
        ("cache", "receive"), "7.2"),
    "pass_on": Mechanism(
        "what other CPUs are about to take goes to the depot when a list shrinks", "zonelock", 60,
        (("zonelock/handlers.c",
          "\tif (time_before(jiffies, READ_ONCE(zz->asked_at) + READ_ONCE(zonelock.max_age)))",
          "\tif (zz)"),),
        ("receive", "two-zones")),
    "worth": Mechanism(
        "a depot whose pages nobody takes holds fewer", "zonelock", 20,
        (("zonelock/core.c", "\treturn min3(limit, room, max(2 * took, trial));",
          "\treturn min(limit, room);"),),
        ("cache", "build", "two-zones")),
    "joined_drain": Mechanism(
        "pages that no depot stores go back joined to larger blocks", "zonelock", 170,
        (("zonelock/handlers.c", "\t\tif (!stored) {", "\t\tif (!stored && !count) {"),),
        ("build", "cache")),
    "reserve": Mechanism(
        "the worker makes free blocks ahead of requests", "pageblock", 400,
        (("pageblock/reserve.c", "\treturn pageblock.vacates && READ_ONCE(pageblock.move_rate) &&",
          "\treturn false &&"),),
        ("build", "metadata")),
    "boost": Mechanism(
        "a refused request raises the watermarks as a mix would", "pageblock", 37,
        (("pageblock/core.c", "\tif (!most || block * 4 > managed)", "\tif (true)"),),
        ("build", "cache", "metadata")),
    "buffers": Mechanism(
        "buffers of block devices are asked for as unmovable", "pageblock", 20,
        (("pageblock/policy.c",
          "\tlmm_buffers_unmovable(LMM_PAGEBLOCK, true);\n", ""),),
        ("build", "metadata")),
    "own_node": Mechanism(
        "a request that would leave its node may mix", "pageblock", 79,
        (("pageblock/filter.c", "known && !pageblock_allows(verdict) && pageblock_leaves_node",
          "known && false && pageblock_leaves_node"),),
        ("database",)),
    "quiet": Mechanism(
        "some of the kernel's scans of a quiet process are left out", "numa", 60,
        (("numa/core.h", "#define NUMA_FACTOR_MAX\t\t4", "#define NUMA_FACTOR_MAX\t\t1"),),
        ("database", "phases")),
    "look": Mechanism(
        "a scan is put off by a second at most, so that another thread may ask", "numa", 5,
        (("numa/scan.c", "#define NUMA_LOOK_MS\t1000", "#define NUMA_LOOK_MS\tU32_MAX"),),
        ("database", "phases")),
    "rise": Mechanism(
        "a rise of the share of remote hint faults ends quiet", "numa", 4,
        (("numa/core.c", "share > quiet->share + NUMA_RISE_POINTS ||", "false ||"),),
        ("database", "phases")),
    "moved": Mechanism(
        "a window in which many pages moved is not quiet", "numa", 4,
        (("numa/core.c", "window->moved >= div_u64(numa_pages_of(window), NUMA_MOVED_PART)",
          "false"),),
        ("database", "phases")),
    "at_once": Mechanism(
        "a change counts in the middle of a pass", "numa", 6,
        (("numa/scan.c", "if (!numa_counts_since(&entry->closed, &sum, &window))",
          "if (!numa_counts_since(&entry->closed, &sum, &window) || !ends)"),),
        ("database", "phases")),
    "unpaid": Mechanism(
        "passes of mode promote that do not pay come less often", "numa", 14,
        (("numa/core_promote.c", "(paid >= NUMA_PROMOTE_PAGES &&", "(true ||"),),
        ("tiers",)),
    "circles": Mechanism(
        "passes of mode promote pay no more where promotion and demotion go in circles", "numa",
        10, (("numa/core_promote.c", "\tcircles = promote->recent > resident;",
              "\tcircles = false;"),),
        ("tiers",)),
    "movement": Mechanism(
        "pages move to CMA memory before the kernel swaps", "cma", 458,
        (("cma/balance.c", "\tif (!rate || READ_ONCE(balance.leaving))", "\tif (true)"),),
        ("device",), "7.2"),
    "kept_range": Mechanism(
        "the range that an owner has just had is not used by others", "cma", 255,
        (("cma/areas.c", ".until = jiffies + READ_ONCE(cma.keep),", ".until = jiffies,"),),
        ("device",), "7.2"),
}


def lacking(source: str, old: str, new: str, where: str) -> str:
    """A source where another text stands instead of one."""
    if source.count(old) != 1:
        raise ToolError(f"{where} has this {source.count(old)} times: {old}")
    return source.replace(old, new)


def build(name: str, image: Image) -> Path:
    """Build the modules without a mechanism; a folder with a tree for modprobe."""
    mechanism = MECHANISMS[name]
    folder = BUILD / "ablate" / image.release
    sync(folder)
    for file, old, new in mechanism.texts:
        path = folder / "module/policy" / file
        path.write_text(lacking(path.read_text(encoding="utf-8"), old, new, f"{name}: {file}"),
                        encoding="utf-8")
    for module in folder.glob("*.ko"):
        module.unlink()
    say(f"    building without {name} for {image.name}")
    # What is used no more stays where it is: that is no warning here.
    status, said = call(make_argv(image, folder, [word for word in WORDS if "=-W" not in word]),
                        check=False, log=BUILD / "log" / f"ablate-{name}.log")
    if status:
        raise ToolError(f"{name}: make: status {status}\n{tail(said)}")
    merge_modroot(image, folder)
    return folder / "modroot"


def rows_of(policy: str, whole: Runs, lacks: Runs) -> list[HostRow]:
    """A row a figure: how the policy's difference to stock changes with the mechanism."""
    rows: list[HostRow] = []
    for metric, value in METRICS.items():
        found = [[value(result) for result in runs[side]]
                 for runs in (whole, lacks) for side in (STOCK, policy)]
        if not any(map(any, found)):
            continue
        more = [(on - stock) - (off - other)
                for stock, on, other, off in zip(*found, strict=True)]
        low, high = interval(more)
        stock, on, other, off = map(statistics.fmean, found)
        rows.append({"metric": metric, "stock": stock, "with": on, "without": off - other + stock,
                     "low": low, "high": high, "pairs": len(more), "p": p_value(more),
                     "verdict": NONE})
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        difference = row["with"] - row["without"]
        if p < LEVEL and abs(difference) > LEAST * abs(row["stock"]):
            row["verdict"] = GAINS if difference < 0 else LOSES
    return rows


def measure(names: Sequence[str], host: str, image: Image, pairs: int, tree: str) -> None:
    """Boot a host with the whole module, and without each of some mechanisms of one policy."""
    policy = MECHANISMS[names[0]].policy
    say(f"---- host {host}, {image.name}: {policy}, without {', '.join(names)}")
    whole = run(HOSTS[host], image, [policy], pairs, "-whole")
    if policy not in whole:
        raise ToolError(f"{policy}: not on {image.name}")
    for name in names:
        rows = rows_of(policy, whole, run(HOSTS[host], image, [policy], pairs, "-lacks",
                                          build(name, image)))
        head = {"bench": "ablate", "mechanism": name, "host": host, "kernel": image.name,
                "tree": tree, "date": time.strftime("%F", time.gmtime()), "on": HOST,
                "pairs": pairs}
        path = OUT / f"ablate-{image.name}-{name}-{host}.json"
        path.write_text(document(head, rows), encoding="utf-8")
        shown = [row for row in rows
                 if row["verdict"] != NONE or row["metric"] in HOSTS[host].matters]
        say(align([[f"{name}, {host}", "verdict", "stock", "with", "without"], *(
            [row["metric"], row["verdict"], *(f"{row[key]:.1f}" for key in
                                              ("stock", "with", "without"))]
            for row in shown)], 2))


def command(argv: Sequence[str], stock: Callable[[str | None], list[Image]], tree: str) -> int:
    """bench.run ablate.  stock: the kernels that a name means; tree: the commit."""
    parser = argparse.ArgumentParser(prog="bench.run ablate",
                                     description="measure what a mechanism is good for")
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"of {', '.join(MECHANISMS)}")
    parser.add_argument("--kernel", help="another kernel than the one where it should matter")
    parser.add_argument("--host", help="other hosts than those where it should matter")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"runs a side ({PAIRS})")
    args = parser.parse_args(argv)
    # Mechanisms of a policy share the runs of the whole module.
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in args.names:
        if name not in MECHANISMS:
            raise ToolError(f"{name}: not in {', '.join(MECHANISMS)}")
        mechanism = MECHANISMS[name]
        for host in args.host.split(",") if args.host else mechanism.hosts:
            key = (args.kernel or mechanism.kernel, mechanism.policy, host)
            groups.setdefault(key, []).append(name)
    for (kernel, _policy, host), names in groups.items():
        measure(names, host, stock(kernel)[0], args.pairs, tree)
    return 0


def hosts_that(files: Sequence[dict[str, Any]], verdict: str) -> str:
    """The hosts that gain or lose, each with its first figure."""
    found = []
    for data in files:
        rows = [row for row in data["rows"] if row["verdict"] == verdict]
        matters = HOSTS[data["host"]].matters
        for row in sorted(rows, key=lambda row: row["metric"] not in matters)[:1]:
            found.append(f"{data['host']} {data['kernel']} ({row['metric']} "
                         f"{number(row['without'])} → {number(row['with'])})")
    return "; ".join(found)


def verdict_of(files: Sequence[dict[str, Any]]) -> str:
    """What is to be said of a mechanism."""
    if not files:
        return "not measured yet"
    gains, loses = (hosts_that(files, verdict) for verdict in (GAINS, LOSES))
    if gains and loses:
        return "gains and loses"
    return "pays" if gains else "harms" if loses else "no host shows it"


def table(files: Sequence[dict[str, Any]]) -> str:
    """The generated part of the page."""
    lines = [line(["mechanism", "policy", "lines", "hosts that gain", "hosts that lose",
                   "verdict"]), line(["---", "---", "--:", "---", "---", "---"])]
    for name, mechanism in MECHANISMS.items():
        own = [data for data in files if data["mechanism"] == name]
        lines.append(line([f"`{name}`: {mechanism.words}", mechanism.policy, str(mechanism.lines),
                           hosts_that(own, GAINS), hosts_that(own, LOSES), verdict_of(own)]))
    lines += ["", *(f"- `python3 -m bench.run ablate {data['mechanism']} --host {data['host']} "
                    f"--kernel {data['kernel']}`, commit {data['tree']}, {data['date']}, "
                    f"{data['pairs']} pairs" for data in files)]
    return "\n".join(lines).rstrip()


def main() -> int:
    """The page."""
    for name, mechanism in MECHANISMS.items():
        for file, old, new in mechanism.texts:
            source = (ROOT / "module/policy" / file).read_text(encoding="utf-8")
            lacking(source, old, new, f"{name}: {file}")
    files = results(RESULTS)
    head = PAGE.read_text(encoding="utf-8").partition("| mechanism |")[0]
    return write_or_check({PAGE: f"{head}{table(files)}\n"}, "bench.ablate")


if __name__ == "__main__":
    main_guard(main)
