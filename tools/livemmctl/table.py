# SPDX-License-Identifier: GPL-2.0-only
"""Tables and screens as text: for a terminal with colours, for a pipe without."""

import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from livemmctl.app import is_terminal

# No line of a pipe is ever wrapped or cut: programs read it.
_PIPE_WIDTH = 100_000

_COLOURS = {
    "on": "green", "off": "dim", "unsupported": "red", "armed": "green", "unavailable": "yellow",
    "loading": "yellow", "waiting": "yellow", "leaving": "yellow",
    "ok": "green", "warn": "yellow", "fail": "bold red",
}


class Table(NamedTuple):
    """A plain table; the columns named in `numbers` are set flush right."""

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    numbers: Sequence[str] = ()


def text_of(*parts: Table | str) -> str:
    """What the parts look like, one below the other."""
    # Takes long to import, and JSON does without.
    from rich import console, table, text

    terminal = is_terminal()
    screen = console.Console(
        file=io.StringIO(), force_terminal=terminal, highlight=False, markup=False,
        width=None if terminal else _PIPE_WIDTH, emoji=False,
    )
    with screen.capture() as captured:
        for part in parts:
            if isinstance(part, str):
                screen.print(part)
                continue
            made = table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
            for column in part.columns:
                made.add_column(column, justify="right" if column in part.numbers else "left",
                                overflow="fold")
            for row in part.rows:
                # Text, as no word of a file may be taken for markup.
                made.add_row(*(text.Text(str(cell), style=_COLOURS.get(str(cell), ""))
                               for cell in row))
            screen.print(made)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
