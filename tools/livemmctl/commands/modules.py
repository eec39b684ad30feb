# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl load, livemmctl unload"""

from collections.abc import Callable

import click

from livemmctl import modules
from livemmctl.app import App, Seconds, command
from livemmctl.control import is_loaded
from livemmctl.profile.defaults import learn


def _limit(words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option of a time; `words` say what may take so long."""
    return click.option(
        "-t", "--timeout", "limit_s", type=Seconds(0, 86400), default=60.0,
        show_default=True, metavar="SECONDS", help=f"How long to wait for {words}.",
    )


@command(
    ("livemmctl load", "load the module; every policy is off unless modprobe.d says otherwise"),
    ("livemmctl load --off", "load the module, but refuse every policy"),
)
@_limit("a livepatch transition")
@click.option("--off", is_flag=True, help="Load with every policy refused (livemm.off=1).")
def load(app: App, limit_s: float, off: bool) -> None:
    """Load livemm by modprobe, and wait for livepatches that policies need.

    A module that is loaded already stays as it is.
    """
    fresh = modules.load(app.host, limit_s, modules.Clock(), ["off=1"] if off else [])
    if fresh:
        learn(app.host)
    words = "is loaded" if fresh else "was loaded already"
    app.show({"loaded": True, "changed": fresh}, lambda: f"livemm {words}")


@command(
    ("livemmctl unload", "back to the kernel as it was before"),
    ("livemmctl unload -t 10", "give up after ten seconds; run the command again later"),
)
@_limit("rmmod and livepatch transitions, all in all")
def unload(app: App, limit_s: float) -> None:
    """Switch every policy off, then the livepatches, and unload all modules.

    The kernel disables a livepatch once no task runs in the livepatch's code (the
    transition). After SECONDS in all, the command names the tasks that delay the
    transition. The transition then goes on by itself; nothing is ever forced.
    Exit codes: 3 livemm could not be unloaded; 7 rmmod or a transition did not end in time;
    9 every policy is off, a livepatch is still loaded.
    """
    before = is_loaded(app.host) or bool(modules.klp_modules(app.host))
    modules.unload(app.host, limit_s, modules.Clock(), app.say)
    if app.json:
        app.show({"loaded": False, "changed": before}, str)
