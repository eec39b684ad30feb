# SPDX-License-Identifier: GPL-2.0-only
"""What every command shares: the host, the form of output, options and examples."""

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from livemmctl.control import ModuleControl, open_control
from livemmctl.host import Host

#: Of --json: raised when a member changes its meaning or goes; new ones may come.
OUTPUT_VERSION = 1


@dataclass
class App:
    host: Host = field(default_factory=Host)
    json: bool = False

    def control(self) -> ModuleControl:
        return open_control(self.host)

    def show(self, data: Mapping[str, Any], text: Callable[[], str]) -> bool:
        """A result: one JSON document, or text for people.  Returns whether somebody reads.

        Whoever reads a pipe may have enough: that changes neither what the command does nor its
        status, which is an answer of its own (doctor, profile verify).
        """
        made = json_text(data) if self.json else text().rstrip("\n")
        try:
            click.echo(made)
        except BrokenPipeError:
            nobody_reads()
            return False
        return True

    def say(self, text: str) -> None:
        """Progress; nothing where the output is to be JSON.

        What the command does goes on where nobody listens, or the disk is full.
        """
        if not self.json:
            with contextlib.suppress(OSError):
                click.echo(text)


def nobody_reads() -> None:
    """Nothing may be flushed into a closed pipe: what is left to say goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_pass_app = click.make_pass_decorator(App, ensure=True)


def _json_value(value: Any) -> Any:
    """The value with null for each number that JSON does not have: NaN and infinity."""
    if isinstance(value, Mapping):
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(data: Mapping[str, Any]) -> str:
    return json.dumps({"output_version": OUTPUT_VERSION, **_json_value(data)}, allow_nan=False)


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(App).json = True


JSON_OPTION = click.Option(
    ["--json"], is_flag=True, expose_value=False, is_eager=True, callback=_set_json,
    help="Print one JSON document, errors too.",
)


class Command(click.Command):
    """A command with examples below its help."""

    def __init__(self, *args: Any, examples: Sequence[tuple[str, str]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Pairs of a command line and what it does.
        self.examples = list(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section "Examples": each line can be copied as it is."""
        if not self.examples:
            return
        with formatter.section("Examples"):
            for line, what in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
                formatter.write(f"{'':>{formatter.current_indent + 6}}{what}\n")


class Group(Command, click.Group):
    """A group of such commands, with examples of its own."""


def command(
    *examples: tuple[str, str], name: str | None = None, of: click.Group | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command with these examples and --json, whose function is given the App first."""

    def decorate(function: Callable[..., None]) -> click.Command:
        made = click.command(name, cls=Command, examples=examples)(_pass_app(function))
        made.params.append(JSON_OPTION)
        if of is not None:
            of.add_command(made)
        return made

    return decorate


class Figure(click.FloatRange):
    """A number within bounds; not one that is none (nan lies in every range)."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class Seconds(Figure):
    """A time."""

    name = "seconds"


def is_terminal() -> bool:
    """Does a person see standard output?"""
    return sys.stdout.isatty()
