# SPDX-License-Identifier: GPL-2.0-only
"""Which hosts each step of a ramp adds, and how much of a failure domain a step may hit."""

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from livemmctl.ab.assign import checked_id, entry_pct
from livemmctl.ab.facts import series_of
from livemmctl.ab.model import Experiment
from livemmctl.errors import Exit, UsageError, os_errors

#: The columns of an inventory: a host's id as `livemmctl ab check` shows it, and its kernel, which
#: is only asked for where kernels come one after the other.
HOST, KERNEL = "host", "kernel"
ROWS_MOST = 1_000_000


@dataclass(frozen=True)
class Listed:
    """A host of an inventory."""

    host: str
    #: What fails together: a rack, a row, a zone.
    domain: str
    #: A series, as "6.12".
    kernel: str = ""


@dataclass(frozen=True)
class Wave:
    """A step of the ramp; hosts are None without an inventory."""

    kernel: str
    percent: float
    after_s: float
    hosts: int | None
    #: The failure domain of which the largest share takes part by then, and that share.
    domain: str
    share: float


def read_inventory(path: Path, label: str, kernels: bool) -> list[Listed]:
    """The hosts of a CSV file with a head; domains are in column `label`.

    Raises CtlError, USAGE.
    """
    columns = [HOST, label, *([KERNEL] if kernels else [])]
    with os_errors(f"cannot read {path}", Exit.USAGE), path.open(encoding="utf-8-sig",
                                                                  newline="") as file:
        try:
            rows = csv.DictReader(file)
            if rows.fieldnames is None or set(columns) - set(rows.fieldnames):
                raise UsageError(f"{path}: the first line has to name the columns"
                                 f" {', '.join(columns)}")
            found, seen = [], set()
            for row in rows:
                if not all(row[column] for column in columns):
                    raise UsageError(f"{path}: line {rows.line_num}: {', '.join(columns)} are"
                                     " wanted")
                host = checked_id(row[HOST], f"{path}: line {rows.line_num}")
                if host in seen:
                    raise UsageError(f"{path}: line {rows.line_num}: host {host[:8]} a second time")
                seen.add(host)
                found.append(Listed(host, row[label],
                                    series_of(row[KERNEL]) if kernels else ""))
                if len(found) > ROWS_MOST:
                    raise UsageError(f"{path}: more than {ROWS_MOST} hosts")
        except (csv.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: no CSV: {error}") from None
    if not found:
        raise UsageError(f"{path}: no host")
    return found


def waves(experiment: Experiment, inventory: list[Listed] | None) -> list[Wave]:
    """Every step of the ramp, in order; of each kernel, where kernels come one after the other."""
    ramp = experiment.ramp
    entries = [(entry_pct(experiment, listed.host), listed) for listed in inventory or []]
    size = Counter(listed.domain for _, listed in entries)
    found: list[Wave] = []
    for kernel in ramp.kernels or ("",):
        for percent in ramp.percents:
            inside = Counter(listed.domain for entry, listed in entries
                             if entry < ramp.percent_at(kernel, percent, listed.kernel))
            shares = {domain: inside[domain] / size[domain] for domain in size}
            domain = max(shares, key=lambda name: (shares[name], name), default="")
            found.append(Wave(kernel, percent, len(found) * ramp.every_s,
                              sum(inside.values()) if inventory is not None else None,
                              domain, shares.get(domain, 0.0)))
    return found


def too_much(found: list[Wave], most_pct: float) -> list[str]:
    """The steps at which a failure domain is hit more than `most_pct`; the last step may."""
    last = max(wave.percent for wave in found)
    return [f"{wave.percent:g} %{f' of kernel {wave.kernel}' if wave.kernel else ''}:"
            f" {wave.share:.0%} of {wave.domain}"
            for wave in found if wave.percent < last and wave.share * 100 > most_pct]
