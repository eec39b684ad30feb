# SPDX-License-Identifier: GPL-2.0-only
"""What a recording counts of hint faults, mixed blocks, CMA memory and reclaim."""

from collections.abc import Callable

import numpy as np

from livemmctl.table import Table, text_of
from livemmctl.whatif import events, library
from livemmctl.whatif.rows import Events

#: By words for people.
Counted = dict[str, int]


def _of(found: Events, event: str) -> library.Rows:
    rows: library.Rows = found.rows[found.rows[:, 2] == events.NAMES.index(event)]
    return rows


def _column(found: Events, event: str, field: str) -> library.Rows:
    return _of(found, event)[:, 3 + events.fields(event).index(field)]


def _grown(found: Events, *fields: str) -> list[int]:
    """By how much counters of all CPUs have grown."""
    cpus = _column(found, "cpu_state", "cpu")
    sums = [0] * len(fields)
    for cpu in np.unique(cpus):
        for i, field in enumerate(fields):
            values = _column(found, "cpu_state", field)[cpus == cpu]
            sums[i] += int(values[-1] - values[0])
    return sums


def _numa(found: Events) -> Counted:
    faults, local, armed = _grown(found, "hint_faults", "hint_faults_local", "scanned")
    return {"hint faults": faults, "hint faults on pages of the CPU's node": local,
            "page-table entries armed": armed}


def _pageblock(found: Events) -> Counted:
    owned = _column(found, "mm_page_alloc_extfrag", "change_ownership")
    return {"parts of blocks taken for another type": int((owned == 0).sum()),
            "whole blocks taken": int((owned != 0).sum()), **_reclaim(found)}


def _reclaim(found: Events) -> Counted:
    return {"wake-ups of kswapd": len(_of(found, "mm_vmscan_wakeup_kswapd")),
            "direct reclaims": len(_of(found, "mm_vmscan_direct_reclaim_begin")),
            "pages of direct reclaims":
                int(_column(found, "mm_vmscan_direct_reclaim_end", "nr_reclaimed").sum())}


def _cma(found: Events) -> Counted:
    failed = _column(found, "cma_alloc_finish", "errorno") != 0
    pages = _column(found, "cma_alloc_finish", "count")[~failed]
    return {"allocations of CMA memory": len(failed),
            "allocations of CMA memory that failed": int(failed.sum()),
            "pages of CMA memory allocated": int(pages.sum()), **_reclaim(found)}


TALLIES: dict[str, Callable[[Events], Counted]] = {
    "numa": _numa, "pageblock": _pageblock, "cma": _cma,
}


def tally(found: Events, policy: str) -> Counted:
    """Counts of what the policy is there to change, on the host as recorded."""
    return TALLIES[policy](found)


def text(found: Events, policy: str) -> str:
    rows = [(name, f"{count}") for name, count in tally(found, policy).items()]
    return text_of(Table(("", "recorded"), rows))
