# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl profile"""

from dataclasses import asdict
from functools import partial
from typing import Any

import click

from livemmctl import modules
from livemmctl.app import App, Group, Seconds, command
from livemmctl.control import is_loaded, on_in
from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.files import replace_on
from livemmctl.profile import store
from livemmctl.profile.defaults import default_of, defaults, learn
from livemmctl.profile.model import modprobe_text, profile_text
from livemmctl.profile.plan import Change, apply_changes, plan
from livemmctl.profile.store import Found
from livemmctl.table import Table, text_of


def _names(context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    host = (context.find_object(App) or App()).host
    return [found.name for found in store.profiles(host) if found.name.startswith(start)]


_profile = click.argument("name", metavar="PROFILE", shell_complete=_names)
_profile_or_last = click.argument("name", metavar="[PROFILE]", required=False,
                                  shell_complete=_names)


def _planned(app: App, found: Found) -> list[Change]:
    wanted = found.read()
    return plan(wanted, app.control().settings(), defaults(app.host), found.where)


def _note(app: App, found: Found) -> None:
    """Remember the profile.  Raises CtlError, PARTIAL: it is applied all the same."""
    try:
        store.note_applied(app.host, found)
    except CtlError as error:
        raise CtlError(f"{found.name} is applied, but that could not be noted: {error.message}",
                       Exit.PARTIAL, f"livemmctl profile verify {found.name}") from None


def _data(found: Found, changes: list[Change]) -> dict[str, Any]:
    return {"profile": found.name, "path": str(found.host.path(found.path)),
            "changes": [asdict(change) for change in changes]}


def _lines(changes: list[Change], nothing: str, prefix: str = "") -> str:
    return "\n".join(prefix + change.text() for change in changes) or nothing


@click.group(
    cls=Group,
    examples=[
        ("livemmctl profile list", "the profiles of this host"),
        ("livemmctl profile diff lists", "settings that the profile would change, and why"),
        ("livemmctl profile apply lists", "every setting of the profile, or no change"),
        ("livemmctl profile verify", "does the host still have the settings of the profile?"),
    ],
)
def profile() -> None:
    """Apply, compare and save profiles.

    A profile is a file with the settings of every policy. A knob that the profile does not
    name has its default; a policy that the profile does not name is off.  PROFILE is the name of a
    file NAME.toml in /etc/livemm/profiles or /usr/share/livemm/profiles, or a path.
    """


_command = partial(command, of=profile)


@_command(("livemmctl profile list", "name and purpose of each profile"), name="list")
def list_profiles(app: App) -> None:
    """List the profiles of this host."""
    rows: list[dict[str, Any]] = []
    for found in store.profiles(app.host):
        row = {"name": found.name, "path": found.where}
        try:
            read = found.read()
            rows.append(row | {"description": read.description, "enables": on_in(read.policies),
                               "error": None})
        except CtlError as error:
            rows.append(row | {"description": "", "enables": [], "error": error.message})
    app.show({"profiles": rows}, lambda: text_of(Table(
        ("profile", "enables", "description", "file"),
        [(row["name"], ", ".join(row["enables"]) or "-",
          row["error"] or row["description"] or "-", row["path"]) for row in rows])))


@_command(
    ("livemmctl profile apply lists", "every setting, or none if one is refused"),
    ("livemmctl profile apply ./mine.toml --dry-run", "show what would change, and why"),
)
@_profile
@click.option("-n", "--dry-run", is_flag=True, help="Change nothing, show what would change.")
def apply(app: App, name: str, dry_run: bool) -> None:
    """Set every policy as PROFILE says. When one setting is refused, nothing is changed.

    Waits for livepatches as `livemmctl enable` does. The kernel judges the values; --dry-run does
    not ask the kernel.
    """
    found = store.find(app.host, name)
    changes = _planned(app, found)
    if not dry_run:
        try:
            apply_changes(app.control(), changes)
        except CtlError as error:
            raise CtlError(f"{found.where}: {error.message}", error.status, error.hint) from None
        _note(app, found)
    app.show(_data(found, changes) | {"dry_run": dry_run},
             lambda: _lines(changes, "nothing to change", "would change " if dry_run else ""))


@_command(
    ("livemmctl profile diff lists", "settings that the profile would change"),
    ("livemmctl profile diff", "how the host differs from the profile applied last"),
)
@_profile_or_last
def diff(app: App, name: str | None) -> None:
    """Show what PROFILE would change, and why. The exit code is 0 either way."""
    found = store.named_or_applied(app.host, name)
    changes = _planned(app, found)
    app.show(_data(found, changes), lambda: _lines(changes, f"as {found.name} says"))


@_command(
    ("livemmctl profile verify", "compare with the profile applied last"),
    ("livemmctl profile verify lists; [ $? -ne 6 ] || echo drifted",
     "for cron; exit code 6 means that a setting differs"),
)
@_profile_or_last
def verify(app: App, name: str | None) -> None:
    """Name each knob that differs from PROFILE. The exit code is 6 if there is one."""
    found = store.named_or_applied(app.host, name)
    changes = _planned(app, found)
    app.show(_data(found, changes) | {"as_profile": not changes},
             lambda: _lines(changes, f"as {found.name} says"))
    if changes:
        click.get_current_context().exit(Exit.DRIFT)


@_command(
    ("livemmctl profile save mine", "into /etc/livemm/profiles/mine.toml"),
    ("livemmctl profile save mine --force -d 'since the new disks'",
     "replace the existing profile"),
)
@click.argument("name", metavar="NAME")
@click.option("-d", "--description", default="", help="What the profile is for.")
@click.option("--force", is_flag=True, help="Replace an existing profile.")
def save(app: App, name: str, description: str, force: bool) -> None:
    """Save the present settings as a profile.

    A policy that is off with its defaults is left out. Every other policy is saved with all
    knobs, so that another version of the module gets the same settings.
    """
    path = store.own_path(name)
    if app.host.exists(path) and not force:
        raise UsageError(f"{path} is there already", "--force replaces it")
    known = defaults(app.host)
    kept = {
        policy: knobs for policy, knobs in app.control().settings().items()
        if any(default_of(known, policy, key) != value for key, value in knobs.items())
    }
    replace_on(app.host, path, profile_text(kept, description))
    app.show({"profile": name, "path": path}, lambda: f"saved as {path}")


@_command(
    ("livemmctl profile modprobe lists > /etc/modprobe.d/livemm.conf",
     "modprobe livemm then sets these values"),
)
@_profile
def modprobe(app: App, name: str) -> None:
    """Print a modprobe.d file with the settings of PROFILE.

    The module then starts with these settings. A file in /etc/modules-load.d with the line
    livemm has the module loaded at boot. When the kernel refuses a setting, the module does not
    load. Try the profile first with `livemmctl profile apply`.
    """
    found = store.find(app.host, name)
    text = modprobe_text(found.read(), found.where)
    app.show({"profile": found.name, "text": text}, lambda: text)


@_command(("systemctl enable --now livemm-profile.service", "run this command at boot"))
@click.option("-t", "--timeout", "limit_s", type=Seconds(0, 86400), default=60.0,
              show_default=True, metavar="SECONDS", help="How long to wait for livepatches.")
def start(app: App, limit_s: float) -> None:
    """Load livemm, apply this host's profile.

    livemm-profile.service runs this command; /etc/livemm/livemm.toml names the profile.
    """
    wanted = store.service(app.host)
    found = store.find(app.host, wanted.profile)
    # Before the module is loaded: a file that cannot be read changes nothing.
    found.read()
    if modules.load(app.host, limit_s, modules.Clock(), []):
        learn(app.host)
    context = click.get_current_context()
    context.invoke(apply, name=wanted.profile, dry_run=False)


@_command(("livemmctl profile stop", "policies stay, or go off: at_stop in livemm.toml"))
def stop(app: App) -> None:
    """Keep the policies, or switch them off.

    livemm-profile.service runs this command when the service stops. at_stop in
    /etc/livemm/livemm.toml says what to do; by default policies stay.
    """
    what = store.service(app.host).at_stop
    changes: list[Change] = []
    if what == "off" and is_loaded(app.host):
        control = app.control()
        changes = [Change(policy, "enabled", "1", "0", "stop")
                   for policy in on_in(control.settings())]
        apply_changes(control, changes)
    app.show({"at_stop": what, "changes": [asdict(change) for change in changes]},
             lambda: _lines(changes, "policies are kept" if what == "keep" else "all are off"))
