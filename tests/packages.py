# SPDX-License-Identifier: GPL-2.0-only
"""Which package of Python may import which: guests imports neither tests nor bench."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

MAY_IMPORT = {
    "guests": set[str](),
    "bench": {"guests"},
    "tests": {"guests"},
    "livemmctl": set[str](),
}


def imported(text: str) -> set[str]:
    """The top names of the packages that a module imports, also inside functions."""
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}


def check(root: Path, files: Iterable[Path]) -> Iterator[str]:
    """What is imported against the table, in words."""
    for path in files:
        package = "livemmctl" if "livemmctl" in path.parts else path.parts[0]
        if path.suffix != ".py" or package not in MAY_IMPORT:
            continue
        strange = (imported((root / path).read_text(encoding="utf-8"))
                   & MAY_IMPORT.keys()) - MAY_IMPORT[package] - {package}
        yield from (f"{path}: {package} may not import {name}" for name in sorted(strange))
