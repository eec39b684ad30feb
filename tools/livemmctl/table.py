# SPDX-License-Identifier: GPL-2.0-only
"""Tables and screens as text: for a terminal with colours, for a pipe without."""

import io
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from livemmctl.app import is_terminal

# No line of a pipe is ever wrapped or cut: programs read it.
_PIPE_WIDTH = 100_000

_COLOURS = {
    "on": "green", "off": "dim", "unsupported": "red", "armed": "green", "unavailable": "yellow",
    "loading": "yellow", "standby": "yellow", "leaving": "yellow",
    "ok": "green", "warn": "yellow", "fail": "bold red",
}


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[str] = ()
) -> Table:
    """A plain table; the columns named in `numbers` are set flush right."""
    right = set(numbers)
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        # Text, as no word of a file may be taken for markup.
        made.add_row(*(Text(str(cell), style=_COLOURS.get(str(cell), "")) for cell in row))
    return made


def text_of(*parts: RenderableType) -> str:
    """What the parts look like, one below the other."""
    terminal = is_terminal()
    console = Console(
        file=io.StringIO(), force_terminal=terminal, highlight=False, markup=False,
        width=None if terminal else _PIPE_WIDTH, emoji=False,
    )
    with console.capture() as captured:
        console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
