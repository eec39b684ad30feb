# SPDX-License-Identifier: GPL-2.0-only
"""Which hosts each step of a ramp adds, and how much of a failure domain a step may hit."""

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from livemmctl.ab.assign import entry_pct
from livemmctl.ab.model import Experiment
from livemmctl.errors import Exit, UsageError, os_errors

#: The columns of an inventory: a host's id as `livemmctl ab check` shows it, and where it stands.
COLUMNS = ("host", "domain")
ROWS_MOST = 1_000_000


@dataclass(frozen=True)
class Wave:
    """A step of the ramp; hosts are None without an inventory."""

    percent: float
    after_s: float
    hosts: int | None
    #: The failure domain of which the largest share takes part by then, and that share.
    domain: str
    share: float


def read_inventory(path: Path) -> list[tuple[str, str]]:
    """Hosts and their domains, of a CSV file with a head.  Raises CtlError, USAGE."""
    with os_errors(f"cannot read {path}", Exit.USAGE), path.open(encoding="utf-8",
                                                                  newline="") as file:
        try:
            rows = csv.DictReader(file)
            if rows.fieldnames is None or set(COLUMNS) - set(rows.fieldnames):
                raise UsageError(f"{path}: the first line has to name the columns host and domain")
            found = []
            for row in rows:
                if not row["host"] or row["domain"] is None:
                    raise UsageError(f"{path}: line {rows.line_num}: no host, or no domain")
                found.append((row["host"], row["domain"]))
                if len(found) > ROWS_MOST:
                    raise UsageError(f"{path}: more than {ROWS_MOST} hosts")
        except (csv.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: no CSV: {error}") from None
    if not found:
        raise UsageError(f"{path}: no host")
    return found


def waves(experiment: Experiment, inventory: list[tuple[str, str]] | None) -> list[Wave]:
    """Every step of the ramp, in order."""
    entries = [(entry_pct(experiment, host), domain) for host, domain in inventory or []]
    size = Counter(domain for _, domain in entries)
    found = []
    for step, percent in enumerate(experiment.ramp.percents):
        inside = Counter(domain for entry, domain in entries if entry < percent)
        shares = {domain: inside[domain] / size[domain] for domain in size}
        domain = max(shares, key=lambda name: (shares[name], name), default="")
        found.append(Wave(percent, step * experiment.ramp.every_s,
                          sum(inside.values()) if inventory is not None else None,
                          domain, shares.get(domain, 0.0)))
    return found
