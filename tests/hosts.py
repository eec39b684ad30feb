# SPDX-License-Identifier: GPL-2.0-only
"""The bench of whole hosts, tried on the smallest: python3 -m tests.hosts"""

import json
import sys
from collections.abc import Iterator

from guests.command import call
from guests.report import BUILD, ROOT, Stage, main_guard

KERNEL = "6.12"
COMMAND = ["-m", "bench.run", "hosts", "--host", "smoke", "--kernel", KERNEL, "--policy", "pcp,all",
           "--pairs", "1", "--again", "0"]
CROSSINGS = "blocks over zone->lock, of 1000 pages"
ROWS = BUILD / f"bench/hosts-{KERNEL}-smoke.json"


def smoke() -> Iterator[str]:
    """A guest runs its load on each side, and each side has the figures that no host is without."""
    ROWS.unlink(missing_ok=True)
    call([sys.executable, *COMMAND], cwd=ROOT, log=BUILD / "log/hosts.log", timeout=1800)
    rows = json.loads(ROWS.read_text(encoding="utf-8"))["rows"]
    for policy in ("pcp", "all"):
        there = {row["metric"]: row for row in rows if row["policy"] == policy}
        for metric in (CROSSINGS, "instructions, millions", "longest wake-up delay, us",
                       "free, and not in MemAvailable, MiB", "interrupts"):
            row = there.get(metric)
            # What lists and depots hold is enough for this load: with them nothing may cross.
            if row is None or row["stock"] <= 0 or row["with"] <= 0 and metric != CROSSINGS:
                yield f"{policy}: {metric}: {row}"


def main() -> int:
    stage = Stage("hosts")
    stage.run("a small host is measured on each side", smoke)
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
