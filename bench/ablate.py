# SPDX-License-Identifier: GPL-2.0-only
"""What a mechanism of a policy is good for: hosts with it, and with a module that lacks it.

python3 -m bench.run ablate NAME... [--kernel K] [--host HOST,...] [--pairs N]
python3 -m bench.ablate [--check | --store FILE...]: bench/mechanisms.md from bench/results/ablate/

A mechanism is switched off by texts of its source that are replaced in a copy, where each text
must stand exactly once.
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
PCP, ZONELOCK = "module/policy/pcp/", "module/policy/zonelock/"
GAINS, LOSES = "gains", "loses"


@dataclass(frozen=True)
class Mechanism:
    """A mechanism.

    words   what it does
    policy  whose it is
    lines   of code that it has, about
    file    the source
    texts   each text, and what stands there where the mechanism is off
    hosts   where it should matter
    """

    words: str
    policy: str
    lines: int
    file: str
    texts: tuple[tuple[str, str], ...]
    hosts: Sequence[str]


MECHANISMS: Mapping[str, Mechanism] = {
    "unseen_refills": Mechanism(
        "pages that may have been taken between two looks count as used, where refills are not "
        "seen", "pcp", 12, f"{PCP}core_event.c",
        (("\tif (limits->sees_refills || event->missing", "\tif (true || event->missing"),),
        ("cache", "small")),
    "limited_drain": Mechanism(
        "a full list drains what is outstanding alone, or an eighth", "pcp", 102,
        f"{PCP}core_event.c",
        (("\tif (taken && event->drained + use->drained <= high) {", "\tif (false) {"),),
        ("cache", "build")),
    "size_after_pressure": Mechanism(
        "a list comes back at once to the size that it had before pressure", "pcp", 20,
        f"{PCP}core_event.c",
        (("\tout = min_t(long, outstanding(event, sample), limits->sized);", "\tout = 0;"),),
        ("cache", "small", "receive")),
    "spare_blocks": Mechanism(
        "unused blocks of other types make room in a full list", "pcp", 55,
        f"{PCP}core_event.c",
        (("\treturn others ? __fls(others) : -1;", "\treturn others ? -1 : -1;"),),
        ("build", "cache")),
    "gone_ahead": Mechanism(
        "all that a list gives back in parts goes with the first part", "zonelock", 30,
        f"{ZONELOCK}ahead.c",
        (("\tgone = clamp(before->pages, 0, count);", "\tgone = 0;"),),
        ("cache", "receive")),
    "pass_on": Mechanism(
        "what other CPUs are about to take goes to the depot when a list shrinks", "zonelock", 60,
        f"{ZONELOCK}handlers.c",
        (("\tif (time_before(jiffies, READ_ONCE(zz->asked_at) + READ_ONCE(zonelock.max_age)))",
          "\tif (zz)"),),
        ("receive", "two-zones")),
}


def build(name: str, image: Image) -> Path:
    """Build the modules without a mechanism; a folder with a tree for modprobe."""
    mechanism = MECHANISMS[name]
    folder = BUILD / "ablate" / image.release
    sync(folder)
    path = folder / mechanism.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for old, new in mechanism.texts:
        if text.count(old) != 1:
            raise ToolError(f"{name}: {mechanism.file} has this {text.count(old)} times: {old}")
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
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


def measure(name: str, host: str, image: Image, modroot: Path, pairs: int) -> list[HostRow]:
    """Boot a host with the whole module, and with the one that lacks a mechanism."""
    policy = MECHANISMS[name].policy
    say(f"---- {name} on host {host}, {image.name}")
    whole = run(HOSTS[host], image, [policy], pairs, "-whole")
    lacks = run(HOSTS[host], image, [policy], pairs, "-lacks", modroot)
    return rows_of(policy, whole, lacks)


def command(argv: Sequence[str], stock: Callable[[str | None], list[Image]], tree: str) -> int:
    """bench.run ablate.  stock: the kernels that a name means; tree: the commit."""
    parser = argparse.ArgumentParser(prog="bench.run ablate",
                                     description="measure what a mechanism is good for")
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"of {', '.join(MECHANISMS)}")
    parser.add_argument("--kernel", default="6.12", help="a series or a release (6.12)")
    parser.add_argument("--host", help="other hosts than those where it should matter")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"runs a side ({PAIRS})")
    args = parser.parse_args(argv)
    image = stock(args.kernel)[0]
    for name in args.names:
        if name not in MECHANISMS:
            raise ToolError(f"{name}: not in {', '.join(MECHANISMS)}")
        modroot = build(name, image)
        for host in args.host.split(",") if args.host else MECHANISMS[name].hosts:
            rows = measure(name, host, image, modroot, args.pairs)
            head = {"bench": "ablate", "mechanism": name, "host": host, "kernel": image.name,
                    "tree": tree, "date": time.strftime("%F", time.gmtime()), "on": HOST,
                    "pairs": args.pairs}
            path = OUT / f"ablate-{image.name}-{name}-{host}.json"
            path.write_text(document(head, rows), encoding="utf-8")
            shown = [row for row in rows
                     if row["verdict"] != NONE or row["metric"] in HOSTS[host].matters]
            say(align([["figure", "verdict", "stock", "with", "without"], *(
                [row["metric"], row["verdict"], *(f"{row[key]:.1f}" for key in
                                                  ("stock", "with", "without"))]
                for row in shown)], 2))
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
    files = results(RESULTS)
    head = PAGE.read_text(encoding="utf-8").partition("| mechanism |")[0]
    return write_or_check({PAGE: f"{head}{table(files)}\n"}, "bench.ablate")


if __name__ == "__main__":
    main_guard(main)
