# SPDX-License-Identifier: GPL-2.0-only
"""Verdicts of runs that are made up, and the page that comes of them."""

import json
import random
from pathlib import Path

import pytest

from bench import agent as bench_agent
from bench import guest
from bench.hosts import agent, metrics, page, run
from bench.hosts.hosts import HOSTS
from bench.hosts.verdict import (
    BETTER,
    NONE,
    SUSPECT,
    WORSE,
    flip_p,
    holm,
    p_value,
    student_p,
    student_t,
)


@pytest.mark.parametrize(("freedom", "t"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776),
                                            (9, 2.262), (14, 2.145)])
def test_student(freedom: int, t: float) -> None:
    """Student's t is that of the tables."""
    assert student_p(t, freedom) == pytest.approx(0.05, abs=1e-4)
    assert student_t(freedom) == pytest.approx(t, abs=1e-3)


def test_signs() -> None:
    """Differences that tie are judged by their signs, and none says nothing."""
    assert flip_p([1.0] * 5) == p_value([1.0] * 5) == 2 / 32
    assert p_value([0.0] * 5) == 1
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_failed_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is atomic if it may use reserves and may not wait."""
    monkeypatch.setattr("bench.agent.KMEM", tmp_path)
    (tmp_path / agent.REQUEST).mkdir()
    (tmp_path / agent.REQUEST / "hist").write_text("""# event histogram
{ order:          9, gfp_flags:    1843402 } hitcount:          7
{ order:          1, gfp_flags:     272416 } hitcount:          3
{ order:          1, gfp_flags:     264224 } hitcount:          2
{ order:          0, gfp_flags:       3296 } hitcount:          1

Totals:
    Hits: 13
""", encoding="ascii")
    assert agent.failed_by_order(False) == {"9": 7, "1": 5, "0": 1}
    assert agent.failed_by_order(True) == {"1": 5}


def made_up(dice: random.Random, wake_ups: float, crossings: float) -> guest.Result:
    """A run."""
    return {
        "seconds": 1.0, "cpu_ns": 2e9 * dice.gauss(1, 0.01), "cost_ns": 100.0,
        "stat": {"intr": 5000, "ctxt": 4000}, "extfrag": [], "failed": {},
        "failed_atomic": {}, "reserved": 0, "late": {}, "load": {}, "flushes": {},
        "hits": {event: {"0": round(dice.gauss(crossings, crossings / 30))}
                 for event in ("mm_page_alloc_zone_locked", "mm_page_pcpu_drain")},
        "events": {"pgalloc_dma32": 100000, "pageoutrun": round(dice.gauss(wake_ups, 3))},
        "samples": [{"lists": 2000, "depots": 0, "boost": 0, "total": 2048, "available": 1024}],
        "blocks": 0.5,
    }


def runs(dice: random.Random, pairs: int) -> run.Runs:
    """Runs in which a policy halves crossings, and wakes kswapd more often."""
    return {"stock": [made_up(dice, 30, 100000) for _ in range(pairs)],
            "pcp": [made_up(dice, 46, 50000) for _ in range(pairs)]}


TRACE = """\
# tracer: nop
           a-b-71      [000] .....    12.000100: scan: (task_numa_work+0x0)
             c-72      [001] .....    12.000150: scan: (task_numa_work+0x0)
           a-b-71      [001] .....    12.000400: scanned: (task_work_run+0x5c <- task_numa_work)
             d-73      [001] .....    12.000500: scanned: (task_work_run+0x5c <- task_numa_work)
             c-72      [001] .....    12.000250: scanned: (task_work_run+0x5c <- task_numa_work)
             c-72      [001] .....    12.000600: scan: (task_numa_work+0x0)
"""


def test_balancing() -> None:
    """Scans have the time of their own task, and a first preferred node is no change."""
    result = {"scans": agent.calls(TRACE), "preferred": {"71": 3, "72": 1},
              "flushes": {"0": 5, "2": 1, "3": 2}}
    assert result["scans"] == [300, 100]
    figures = {name: metrics.METRICS[name](result) for name in (
        "task_numa_work, us of all calls", "task_numa_work, us of the longest call",
        "changes of a preferred node", "TLB flushes of a CPU's own")}
    assert list(figures.values()) == [400, 300, 2, 3]


NODE = """\
Page block order: 9
Pages per block:  512

Free pages count per migrate type at order       0      1
Node    {node}, zone    DMA32, type    Unmovable      3      4
Node    {node}, zone    DMA32, type   HighAtomic      5      6

Number of blocks type     Unmovable   HighAtomic
Node {node}, zone    DMA32           30            {node}
"""


def test_block_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are those of all nodes, each of which has its own table of free pages, too."""
    monkeypatch.setattr(bench_agent, "text_of",
                        lambda _path: "".join(NODE.format(node=node) for node in range(3)))
    assert bench_agent.block_types() == {"Unmovable": 90, "HighAtomic": 3}


def test_verdicts_and_page() -> None:
    """What looks worse is so once it is run again, and the page says it first."""
    dice = random.Random(3)
    rows = run.rows_of(runs(dice, 5))
    run.judge(rows)

    def verdict(metric: str) -> str:
        return str(next(row["verdict"] for row in rows if row["metric"] == metric))

    assert verdict("kswapd wake-ups") == SUSPECT
    assert verdict("blocks over zone->lock, of 1000 pages") == BETTER
    assert verdict("instructions, millions") == NONE
    rows = run.confirm(rows, run.rows_of(runs(dice, 10)))
    assert verdict("kswapd wake-ups") == WORSE
    assert {row["metric"] for row in rows if row["pairs"] == 10} == {"kswapd wake-ups"}
    head = {"host": "cache", "kernel": "6.12", "tree": "abc", "date": "1970-01-01",
            "policies": ["pcp", "all"], "minutes": 3.0}
    text = page.tables([json.loads(run.document(head, rows))])
    assert "**− +** − kswapd wake-ups " in text
    assert text.index("## 6.12") < text.index("## Not measured yet")
    assert all(f"**{host}**" in text for host in HOSTS)
    short = page.which([json.loads(run.document(head, rows))])
    # "all" has no row: the kernel has no such policy.
    assert "| cache | pcp (6.12) | pcp (6.12) |  |\n" in short
    assert "idle" in short and "cache" not in short.partition("- 6.12:")[2].partition("\n")[0]


def test_readme_columns() -> None:
    """What is not certain has a question mark, and what only looks so on one kernel stays apart."""
    files = [{"host": "idle", "kernel": kernel, "policies": ["pcp", "zonelock"],
              "rows": [{"policy": "pcp", "verdict": verdict}, {"policy": "pcp", "verdict": NONE},
                       {"policy": "zonelock", "verdict": NONE}]}
             for kernel, verdict in (("6.1", SUSPECT), ("6.12", WORSE), ("7.2", WORSE))]
    assert page.advice("idle", files) == (
        "| idle |  | pcp? (6.1); pcp (6.12, 7.2) | zonelock (6.1, 6.12, 7.2) |")
