# SPDX-License-Identifier: GPL-2.0-only
"""Commands that only read: list, counters, state, hooks, census"""

import time
from collections.abc import Mapping
from dataclasses import asdict

import click

from livemmctl.app import App, Seconds, command
from livemmctl.commands.complete import policy_names
from livemmctl.control import ModuleControl
from livemmctl.table import Table, text_of

_policies = click.argument("policies", nargs=-1, metavar="[POLICY]...",
                           shell_complete=policy_names)


def chosen(control: ModuleControl, policies: tuple[str, ...]) -> list[str]:
    """Those named, once each, or all.  Raises CtlError, USAGE, for one there is not."""
    known = control.settings()
    for policy in policies:
        control.require(policy, known)
    return list(dict.fromkeys(policies)) or list(known)


@command(
    ("livemmctl list", "name and state of each policy"),
    ("livemmctl list --json", "with mode and reason"),
    name="list",
)
def list_policies(app: App) -> None:
    """List the policies that the module has, and whether they are on."""
    rows = app.control().policies()
    app.show(
        {"policies": [asdict(row) for row in rows]},
        lambda: text_of(Table(("policy", "state"), [(row.name, row.state) for row in rows])),
    )


def rates(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Counts a second; a counter that is new, or fell with a reload, began at nothing."""
    found = {}
    for name, value in after.items():
        start = before.get(name, 0)
        found[name] = (value - (start if start <= value else 0)) / seconds
    return found


@command(
    ("livemmctl counters pcp", "since the module was loaded"),
    ("livemmctl counters --rate 5", "per second, over five seconds"),
    ("livemmctl counters --json pcp | jq .counters.pcp.drains", "for scripts"),
)
@_policies
@click.option("--rate", "seconds", type=Seconds(0.01, 86400), metavar="SECONDS",
              help="Count for SECONDS and show events a second.")
def counters(app: App, policies: tuple[str, ...], seconds: float | None) -> None:
    """Show what policies have counted since the module was loaded.

    A policy that is off counts nothing.
    """
    control = app.control()
    names = chosen(control, policies)
    start = time.monotonic()
    first = {name: control.counters(name) for name in names}
    if seconds is None:
        rows = [(policy, name, f"{value}")
                for policy, counts in first.items() for name, value in counts.items()]
        app.show({"counters": first},
                 lambda: text_of(Table(("policy", "counter", "value"), rows, ["value"])))
        return
    time.sleep(seconds)
    second = {name: control.counters(name) for name in names}
    spent = time.monotonic() - start
    found = {name: rates(first[name], second[name], spent) for name in names}
    rows = [(policy, name, f"{value:.1f}")
            for policy, counts in found.items() for name, value in counts.items()]
    app.show({"seconds": round(spent, 3), "rates": found},
             lambda: text_of(Table(("policy", "counter", "per second"), rows, ["per second"])))


@command(("livemmctl state pcp", "the lists of each CPU, and the reason of each bound"))
@_policies
def state(app: App, policies: tuple[str, ...]) -> None:
    """Show the table of each policy; empty while the policy is off or being switched."""
    control = app.control()
    texts = {name: control.state(name) for name in chosen(control, policies)}
    app.show({"state": texts}, lambda: "\n".join(
        f"{name}:\n{text or '(empty)'}".rstrip() + "\n" for name, text in texts.items()))


@command(
    ("livemmctl hooks", "every hook"),
    ("livemmctl hooks --only unavailable", "hooks that livemm cannot use here, and why"),
)
@click.option("--only", type=click.Choice(["armed", "idle", "unavailable"]),
              help="Only hooks in this state.")
def hooks(app: App, only: str | None) -> None:
    """Show the hooks: where the kernel calls livemm, and what livemm calls or reads there."""
    rows = [asdict(hook) for hook in app.control().hooks() if only in (None, hook.state)]
    columns = ("name", "mechanism", "symbol", "state", "hits", "missed", "reason")
    app.show({"hooks": rows}, lambda: text_of(Table(
        columns, [[*list(row.values())[:6], row["reason"] or "-"] for row in rows],
        ["hits", "missed"])))


def census_rows(text: str) -> tuple[list[dict[str, str]], list[str]]:
    """Rows of a census by column, and its notes (incomplete, unavailable)."""
    lines = text.splitlines()
    columns = lines[0].lstrip("# ").split() if lines and lines[0].startswith("# node") else []
    rows, notes = [], []
    for line in lines[1 if columns else 0:]:
        if line.startswith("#"):
            notes.append(line.lstrip("# "))
        elif line.strip():
            rows.append(dict(zip(columns, line.split(), strict=False)))
    return rows, notes


@command(
    ("livemmctl census", "the whole table"),
    ("livemmctl census --json | jq '.rows[] | select(.type == \"all\")'", "sums only"),
)
def census(app: App) -> None:
    """Count pageblocks by their kinds of pages: pure, mixed, neutral.

    A pure block is in use by nothing but what the type of the block is for. A mixed block has
    other pages as well. A neutral block is wholly free.

    A read looks at all memory, which takes seconds on a large host.
    """
    text = app.control().census()
    rows, notes = census_rows(text)
    app.show({"rows": rows, "notes": notes}, lambda: text)
