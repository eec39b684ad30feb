# SPDX-License-Identifier: GPL-2.0-only
"""What the shell may complete, asked of the module where it is loaded."""

import contextlib

import click

from livemmctl.app import App
from livemmctl.control import Knobs
from livemmctl.errors import CtlError


def _settings(context: click.Context) -> Knobs:
    """Knobs of every policy; none where the module is not to be asked."""
    with contextlib.suppress(CtlError):
        return (context.find_object(App) or App()).control().settings()
    return {}


def policy_names(context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    return [name for name in _settings(context) if name.startswith(start)]


def assignments(context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    """`knob=` for each knob of the policy that stands before."""
    knobs = _settings(context).get(str(context.params.get("policy")), {})
    key, equals, _ = start.partition("=")
    if equals:
        return [f"{key}={knobs[key]}"] if key in knobs else []
    return [f"{name}=" for name in knobs if name.startswith(start)]


def knob_names(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    return [word.rstrip("=") for word in assignments(context, parameter, start)]
