# SPDX-License-Identifier: GPL-2.0-only
"""Commands about settings: enable, disable, get, set, lease"""

from dataclasses import asdict

import click

from livemmctl import awaiting
from livemmctl.app import App, Seconds, command
from livemmctl.commands.complete import assignments, knob_names, policy_names
from livemmctl.commands.read import chosen
from livemmctl.control import UNSETTLED, ModuleControl, Settings, unknown_knob
from livemmctl.errors import UsageError


def change(app: App, control: ModuleControl, settings: Settings,
           limit_s: float = awaiting.WAIT_S) -> None:
    """Apply settings, wait for livepatches that they need, and show what is different now."""
    before = control.settings()
    awaiting.apply(control, settings, limit_s, say=app.say)
    after = control.settings()
    rows = [
        {"policy": policy, "knob": key, "was": before.get(policy, {}).get(key, ""), "is": value}
        for policy, knobs in after.items() for key, value in knobs.items()
        if before.get(policy, {}).get(key) != value
    ]
    unsettled = [row for row in control.policies()
                 if row.name in settings and row.state in UNSETTLED]

    def text() -> str:
        lines = [f"{row['policy']}/{row['knob']}: {row['was'] or '(empty)'} -> "
                 f"{row['is'] or '(empty)'}" for row in rows] or ["nothing to change"]
        return "\n".join(lines + [row.words() for row in unsettled])

    app.show({"changed": rows, "unsettled": [asdict(row) for row in unsettled]}, text)


@command(
    ("livemmctl enable pcp", "pcp goes on with its present settings"),
    ("livemmctl enable pcp numa", "neither, if one is refused at once"),
)
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...",
                shell_complete=policy_names)
@click.option("-t", "--timeout", "limit_s", type=Seconds(0, 86400), default=awaiting.WAIT_S,
              show_default=True, metavar="SECONDS", help="How long to wait for livepatches.")
def enable(app: App, policies: tuple[str, ...], limit_s: float) -> None:
    """Switch policies on, and wait for the livepatches that they need.

    When the kernel refuses one of them, none comes on. A livepatch that does not come takes down
    the policies that require it, and no others. A policy whose livepatch is not in force in time
    goes on to wait, and the command names the tasks that hold the livepatch up. `livemmctl
    disable` gives the policy up.
    """
    control = app.control()
    change(app, control, {name: {"enabled": "1"} for name in chosen(control, policies)}, limit_s)


@command(
    ("livemmctl disable pcp", "pcp decides nothing from then on"),
    ("livemmctl disable --all", "every policy"),
)
@click.argument("policies", nargs=-1, metavar="POLICY...", shell_complete=policy_names)
@click.option("--all", "every", is_flag=True, help="Every policy.")
def disable(app: App, policies: tuple[str, ...], every: bool) -> None:
    """Switch policies off at once, and wait, 10 s at most, for the kernel's own values."""
    if bool(policies) == every:
        raise click.UsageError("name the policies, or give --all", click.get_current_context())
    control = app.control()
    change(app, control, {name: {"enabled": "0"} for name in chosen(control, policies)})


@command(
    ("livemmctl get pcp", "every knob, and whether pcp is on"),
    ("livemmctl get pcp decay_ms", "one value and nothing else"),
)
@click.argument("policy", shell_complete=policy_names)
@click.argument("knob", nargs=-1, metavar="[KNOB]...", shell_complete=knob_names)
def get(app: App, policy: str, knob: tuple[str, ...]) -> None:
    """Show the knobs of a policy."""
    knobs = app.control().get(policy)
    for name in knob:
        if name not in knobs:
            raise unknown_knob(policy, name, knobs)
    wanted = {name: knobs[name] for name in knob or knobs}

    def text() -> str:
        if len(knob) == 1:
            return wanted[knob[0]]
        return "\n".join(f"{name}={value}" for name, value in wanted.items())

    app.show({"policy": policy, "knobs": wanted}, text)


def parse_assignments(policy: str, words: tuple[str, ...]) -> dict[str, str]:
    """`key=value` words; CtlError, USAGE, for what is none or comes twice."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"{policy}: {word[:80]!r}: not KNOB=VALUE")
        if key in found:
            raise UsageError(f"{policy}/{key}: given twice")
        found[key] = value
    return found


@command(
    ("livemmctl set pcp decay_ms=2000 high_max_pct=10", "both knobs, or neither"),
    ("livemmctl set pcp enabled=1 mode=depth", "switch pcp on in mode depth"),
    ("livemmctl set numa cgroups=/system.slice/db.service",
     "numa steers only the processes of this cgroup"),
    name="set",
)
@click.argument("policy", shell_complete=policy_names)
@click.argument("assignment", nargs=-1, required=True, metavar="KNOB=VALUE...",
                shell_complete=assignments)
def set_knobs(app: App, policy: str, assignment: tuple[str, ...]) -> None:
    """Change knobs of a policy, all of them or none; the kernel judges the values.

    Switching on, or another mode, may wait for a livepatch as `livemmctl enable` does.
    """
    control = app.control()
    (name,) = chosen(control, (policy,))
    change(app, control, {name: parse_assignments(name, assignment)})


@command(
    ("livemmctl lease", "how many seconds are left"),
    ("livemmctl lease 300", "every policy goes off in five minutes, unless renewed"),
    ("livemmctl lease 0", "end the lease; policies stay as they are"),
)
@click.argument("seconds", required=False, metavar="[SECONDS]")
def lease(app: App, seconds: str | None) -> None:
    """Show the lease, or begin or renew a lease of SECONDS (at most 604800); 0 ends the lease.

    When a lease runs out the kernel switches every policy off. A host whose controller
    died therefore goes back to stock (every policy off).
    """
    control = app.control()
    if seconds is not None:
        # Longer is no number of seconds, and Python would take its time over it.
        if not (seconds.isascii() and seconds.isdigit() and len(seconds) < 10):
            raise UsageError(f"lease: {seconds[:40]}: not a number of seconds, 0..604800")
        control.set_lease(int(seconds))
    left = control.lease()
    app.show({"lease_seconds": left},
             lambda: f"{left} s left, then every policy is off" if left else "no lease")
