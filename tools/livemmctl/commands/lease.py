# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl lease"""

import click

from livemmctl.app import App, command
from livemmctl.errors import UsageError


@command(
    ("livemmctl lease", "how many seconds are left"),
    ("livemmctl lease 300", "every policy goes off in five minutes, unless renewed"),
    ("livemmctl lease 0", "end the lease; policies stay as they are"),
)
@click.argument("seconds", required=False, metavar="[SECONDS]")
def lease(app: App, seconds: str | None) -> None:
    """Show the lease, or begin or renew a lease of SECONDS (at most 604800); 0 ends the lease.

    When a lease runs out the kernel switches every policy off. A host whose controller
    died therefore goes back to stock.
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
