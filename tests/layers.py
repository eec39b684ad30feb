# SPDX-License-Identifier: GPL-2.0-only
"""The include graph of module/: dependencies run one way, from layer to layer, without a circle.

Layers, lowest first: compat/; livemm.h and counters; hook/; dispatch and events; control/ and
policy/common/; policy/<name>/ and record/; main.c.  A file may include files of its own part and
of parts on lower layers.  X.c and X.h of one folder are one node of the graph.
"""

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
LAYERS = {"compat": 0, "base": 1, "hook": 2, "dispatch": 3, "control": 4, "policy/common": 4,
          "record": 5, "main": 6}
POLICY_LAYER = 5
# Parts that are files of module/ itself; every other file there is of the part "base".
FILES = {"events": "dispatch", "deliver": "dispatch", "dispatch": "dispatch", "main": "main"}


def part(node: str) -> str:
    """The part of a file, given without suffix and relative to module/."""
    parts = node.split("/")
    if parts[0] == "policy":
        return "/".join(parts[:2])
    if len(parts) > 1:
        return parts[0]
    return FILES.get(node, "base")


def layer(name: str) -> int:
    """The layer of a part; every policy has a part on the same layer."""
    if name not in LAYERS and not name.startswith("policy/"):
        raise ValueError(f"module/{name}: a part that tests/layers.py does not know")
    return LAYERS.get(name, POLICY_LAYER)


def graph(module: Path) -> dict[str, set[str]]:
    """Node -> nodes that it includes."""
    arrows: dict[str, set[str]] = {}
    for path in sorted(module.rglob("*.[chS]")):
        node = str(path.relative_to(module).with_suffix(""))
        targets = arrows.setdefault(node, set())
        for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            for base in (path.parent, module):
                target = (base / name).resolve()
                if target.is_file() and target.is_relative_to(module.resolve()):
                    targets.add(str(target.relative_to(module.resolve()).with_suffix("")))
                    break
            else:
                # <...> is the kernel's; module/ is among the folders searched for it, too.
                if quote == '"':
                    raise ValueError(f"module/{node}: includes {name}, which is not in module/")
        targets.discard(node)
    return arrows


def faults(arrows: dict[str, set[str]]) -> Iterator[str]:
    """Arrows into another part that is not on a lower layer, and a circle."""
    for source, targets in sorted(arrows.items()):
        for target in sorted(targets):
            if part(source) != part(target) and layer(part(source)) <= layer(part(target)):
                yield (f"module/{source} includes {target}: "
                       f"{part(source)}/ may not depend on {part(target)}/")
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        # Its nodes go from what is included to what includes it.
        yield "a circle: " + " -> ".join(reversed(error.args[1]))


def drawing(arrows: dict[str, set[str]]) -> str:
    """The arrows between parts, the highest layer first: part -> part (number of includes)."""
    between = Counter((part(source), part(target)) for source, targets in arrows.items()
                      for target in targets if part(source) != part(target))
    return "".join(f"{a:18} -> {b:14} {count:3}\n" for (a, b), count in
                   sorted(between.items(), key=lambda one: (-layer(one[0][0]), one)))


def check(module: Path, draw: Path | None = None) -> Iterator[str]:
    """What is wrong, in words; the graph goes into the file @draw."""
    try:
        arrows = graph(module)
        yield from faults(arrows)
        if draw:
            draw.parent.mkdir(parents=True, exist_ok=True)
            draw.write_text(drawing(arrows), encoding="utf-8")
    except ValueError as error:
        yield str(error)
