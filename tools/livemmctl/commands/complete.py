# SPDX-License-Identifier: GPL-2.0-only
"""What the shell may complete, asked of the module where it is loaded."""

from __future__ import annotations

import click

from livemmctl.app import App
from livemmctl.control import ModuleControl
from livemmctl.errors import CtlError


def _control(context: click.Context) -> ModuleControl | None:
    try:
        return (context.find_object(App) or App()).control()
    except CtlError:
        return None


def policy_names(context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    """Names of policies; none where the module is not to be asked."""
    control = _control(context)
    try:
        names = list(control.settings()) if control else []
    except CtlError:
        names = []
    return [name for name in names if name.startswith(start)]


def assignments(context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    """`knob=` for each knob of the policy that stands before."""
    control = _control(context)
    try:
        knobs = control.get(str(context.params.get("policy"))) if control else {}
    except CtlError:
        knobs = {}
    key, equals, _ = start.partition("=")
    if equals:
        return [f"{key}={knobs[key]}"] if key in knobs else []
    return [f"{name}=" for name in knobs if name.startswith(start)]


def knob_names(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Knobs of the policy that stands before."""
    return [word.rstrip("=") for word in assignments(context, parameter, start)]
