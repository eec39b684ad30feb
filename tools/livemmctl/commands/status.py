# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl status"""

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import click

from livemmctl.app import App, Seconds, command, is_terminal
from livemmctl.control import Hook, ModuleControl, PolicyStatus, Reach
from livemmctl.errors import CtlError
from livemmctl.modules import LivepatchState, livepatch_state, livepatches
from livemmctl.profile.store import applied
from livemmctl.table import Table, text_of


@dataclass(frozen=True)
class Overview:
    version: str
    kernel: str
    debugfs: Reach
    #: Seconds left, 0 for no lease.
    lease_seconds: int
    #: State of all livepatches in one word.
    livepatch: LivepatchState
    #: State of each livepatch, by the name of the module.
    livepatches: dict[str, LivepatchState]
    #: The profile applied last since boot, if any.
    profile: str | None
    policies: list[PolicyStatus]
    hooks: list[Hook]

    def data(self) -> dict[str, Any]:
        counts = Counter({state: 0 for state in ("armed", "idle", "unavailable")})
        counts.update(hook.state for hook in self.hooks)
        missing = [asdict(hook) for hook in self.hooks if hook.state == "unavailable"]
        return asdict(self) | {"hooks": counts, "unavailable": missing}

    def text(self) -> str:
        data = self.data()
        counted = ", ".join(f"{number} {state}" for state, number in data["hooks"].items())
        lease = (f"{self.lease_seconds} s left, then every policy is off" if self.lease_seconds
                 else "none")
        patches = "; ".join(f"{name} {state}" for name, state in self.livepatches.items())
        debugfs = {
            Reach.OPEN: "open",
            Reach.READ_ONLY: "closed by lockdown: control is by module parameter",
            Reach.ABSENT: "not there: control is by module parameter, no counters",
        }[self.debugfs]
        facts = [
            ("module", self.version), ("kernel", self.kernel), ("debugfs", debugfs),
            ("lease", lease), ("livepatch", patches or self.livepatch),
            ("profile", f"{self.profile}, applied last" if self.profile else "none applied"),
            ("hooks", counted if self.hooks else "unknown"),
        ]
        parts: list[Any] = [
            Table(("policy", "state", "mode", "reason"),
                  [(row.name, row.state, row.mode or "-", row.reason or "-")
                   for row in self.policies]),
            "",
            *(f"{name:<10} {what}" for name, what in facts),
        ]
        missing = [hook for hook in self.hooks if hook.state == "unavailable"]
        if missing:
            parts += ["", Table(("unavailable", "symbol", "why, and what is lost"),
                                [(hook.name, hook.symbol, hook.reason) for hook in missing])]
        return text_of(*parts)


def look(control: ModuleControl) -> Overview:
    """The present state; without debugfs there are no hooks to be seen."""
    try:
        hooks = control.hooks()
    except CtlError:
        hooks = []
    host = control.host
    found = applied(host)
    return Overview(
        control.version(), host.release(),
        control.reach, control.lease(), livepatch_state(host),
        livepatches(host), found.name if found else None, control.policies(), hooks,
    )


def watch(app: App, seconds: float, count: int | None) -> None:
    """Show it again and again while somebody reads, until Ctrl-C, or `count` times if given."""
    terminal = is_terminal() and not app.json
    shown = 0
    try:
        while True:
            overview = look(app.control())
            if terminal:
                click.clear()
            read = app.show(overview.data(), overview.text)
            shown += 1
            if not read or shown == count:
                return
            time.sleep(seconds)
    except KeyboardInterrupt:
        # The way to end it, hence no failure.
        return


@command(
    ("livemmctl status", "one screen"),
    ("livemmctl status --watch", "every two seconds, until Ctrl-C"),
    ("livemmctl status --json | jq '.policies[] | select(.state == \"on\").name'",
     "for scripts"),
)
@click.option("--watch", "every", type=Seconds(0.1, 86400), is_flag=False,
              flag_value=2.0, metavar="[SECONDS]",
              help="Show the status again every SECONDS (default 2).")
@click.option("--count", type=click.IntRange(1), metavar="N", help="With --watch: number of times.")
def status(app: App, every: float | None, count: int | None) -> None:
    """Show policies, kernel, hooks and the lease on one screen."""
    if every is None:
        overview = look(app.control())
        app.show(overview.data(), overview.text)
    else:
        watch(app, every, count)
