# SPDX-License-Identifier: GPL-2.0-only
"""The include graph of module/: dependencies run one way, from floor to floor, without a circle.

Floors, lowest first: compat/; livemm.h and counters; hook/; dispatch; control/ and
policy/common/; policy/<name>/; main.c.  A file may include files of its own room and of rooms on
lower floors.  X.c and X.h of one folder are one node of the graph.
"""

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FLOORS = {"compat": 0, "base": 1, "hook": 2, "dispatch": 3, "control": 4, "policy/common": 4,
          "main": 6}
POLICY_FLOOR = 5


def room(node: str) -> str:
    """The room of a file, given without suffix and relative to module/."""
    parts = node.split("/")
    if parts[0] == "policy":
        return "/".join(parts[:2])
    if len(parts) > 1:
        return parts[0]
    return node if node in ("dispatch", "main") else "base"


def floor(name: str) -> int:
    """The floor of a room; every policy has a room on the same floor."""
    if name not in FLOORS and not name.startswith("policy/"):
        raise ValueError(f"module/{name}: a room that tests/rooms.py does not know")
    return FLOORS.get(name, POLICY_FLOOR)


def graph(module: Path) -> dict[str, set[str]]:
    """Node -> nodes that it includes."""
    arrows: dict[str, set[str]] = {}
    for path in sorted(module.rglob("*.[chS]")):
        node = str(path.relative_to(module).with_suffix(""))
        targets = arrows.setdefault(node, set())
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            for base in (path.parent, module):
                target = (base / name).resolve()
                if target.is_file() and target.is_relative_to(module.resolve()):
                    targets.add(str(target.relative_to(module.resolve()).with_suffix("")))
                    break
            else:
                raise ValueError(f"module/{node}: includes {name}, which is not in module/")
        targets.discard(node)
    return arrows


def faults(arrows: dict[str, set[str]]) -> Iterator[str]:
    """Arrows into another room that is not on a lower floor, and a circle."""
    for source, targets in sorted(arrows.items()):
        for target in sorted(targets):
            if room(source) != room(target) and floor(room(source)) <= floor(room(target)):
                yield (f"module/{source} includes {target}: "
                       f"{room(source)}/ may not depend on {room(target)}/")
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        # Its nodes go from what is included to what includes it.
        yield "a circle: " + " -> ".join(reversed(error.args[1]))


def drawing(arrows: dict[str, set[str]]) -> str:
    """The arrows between rooms, the highest floor first: room -> room (number of includes)."""
    between = Counter((room(source), room(target)) for source, targets in arrows.items()
                      for target in targets if room(source) != room(target))
    return "".join(f"{a:18} -> {b:14} {count:3}\n" for (a, b), count in
                   sorted(between.items(), key=lambda one: (-floor(one[0][0]), one)))


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
