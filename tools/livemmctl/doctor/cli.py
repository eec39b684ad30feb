# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl doctor"""

from dataclasses import asdict

import click

from livemmctl.app import App, command
from livemmctl.doctor import kernel, module, settings
from livemmctl.doctor.finding import Check, Finding, Scene, warn
from livemmctl.errors import CtlError, Exit, os_words
from livemmctl.table import Table, text_of

#: Every check, in the order in which they are shown.
CHECKS: tuple[tuple[str, Check], ...] = (
    ("kernel", kernel.kernel),
    ("kernel config", kernel.config),
    ("BTF", kernel.btf),
    ("livepatch", kernel.livepatch),
    ("lockdown", kernel.lockdown),
    ("signing", kernel.signing),
    ("taint", kernel.taint),
    ("modules", kernel.modules_allowed),
    ("DKMS", module.dkms),
    ("headers", module.headers),
    ("livemm", module.loaded),
    ("debugfs", module.debugfs),
    ("hooks", module.hooks),
    ("policies", module.policies),
    ("held memory", module.held),
    ("other livepatches", kernel.foreign_livepatches),
    ("ftrace users", kernel.ftrace_users),
    ("THP", settings.thp),
    ("NUMA", settings.numa),
    ("CMA", settings.cma),
    ("sysctls", settings.sysctls),
)


def examine(scene: Scene) -> list[tuple[str, Finding]]:
    """Every check's finding; one that fails itself is a finding too."""
    rows = []
    for name, check in CHECKS:
        try:
            finding = check(scene)
        except CtlError as error:
            finding = warn(f"cannot be told: {error.message}", error.hint or "see dmesg")
        except OSError as error:
            finding = warn(f"cannot be told: {os_words(error)}", "run the command as root")
        rows.append((name, finding))
    return rows


@command(
    ("livemmctl doctor", "every finding, with what to do"),
    ("livemmctl doctor --problems", "only findings that are not ok"),
    ("livemmctl doctor --json | jq '.checks[] | select(.state == \"fail\")'", "for scripts"),
)
@click.option("--problems", is_flag=True, help="Show only findings that are not ok.")
def doctor(app: App, problems: bool) -> None:
    """Find what keeps livemm from working on this host, and say what to do.

    ok: nothing to do.  warn: livemm works, with a limit.  fail: livemm, or a part of livemm,
    cannot work; the exit code is 1.  Nothing is changed.
    """
    found = examine(Scene(app.host))
    shown = [(name, row) for name, row in found if row.state != "ok" or not problems]
    app.show(
        {"checks": [{"check": name, **asdict(row)} for name, row in shown]},
        lambda: text_of(Table(("check", "state", "seen", "what to do"),
                              [(name, row.state, row.seen, row.todo or "-")
                               for name, row in shown])) if shown else "nothing is in livemm's way",
    )
    if any(row.state == "fail" for _, row in found):
        click.get_current_context().exit(Exit.FAILED)
