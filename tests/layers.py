# SPDX-License-Identifier: GPL-2.0-only
"""The graphs of module/: dependencies run one way, from layer to layer, without a circle.

Layers, lowest first: compat/; livemm.h and counters; hook/; flow/; control/ and
policy/common/; policy/<name>/; main.c.  The wrappers of livepatches and record/ are modules of
their own, which link to livemm.ko, and are above it.  A file may include files of its own part and
of parts on lower layers.  X.c and X.h of one folder are one node of the graph.

A header may declare functions of any file, so a second graph has who calls whom: the functions
that the object of a file needs (nm), each an arrow to the file that has the function.  Handlers,
static calls and tracepoints are the way up, and make no arrow.
"""

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from guests.command import call

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
LAYERS = {"compat": 0, "base": 1, "hook": 2, "flow": 3, "control": 4, "policy/common": 4,
          "main": 6, "record": 7, "wrappers": 7}
WRAPPERS = ("hook/klp_fallback", "hook/klp_giveback", "hook/klp_lists")
POLICY_LAYER = 5
#: Circles of calls that there still are, and why.  The list only becomes shorter.
KNOWN: dict[frozenset[str], str] = {}
# Functions that the kernel's macros make.
MADE = re.compile(r"^(?:__|trace_|perf_trace_|trace_event_|init_module|cleanup_module)")
# Parts that are files of module/ itself; every other file there is of the part "base".
FILES = {"main": "main"}


def part(node: str) -> str:
    """The part of a file, given without suffix and relative to module/."""
    if node in WRAPPERS:
        return "wrappers"
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


def calls(objects: Path) -> dict[str, set[str]]:
    """Node -> nodes whose functions it calls, by the objects in a build folder's module/."""
    paths = sorted(objects.rglob("*.o"))
    paths = [path for path in paths if (path.with_suffix(".c")).exists()]
    homes: dict[str, str] = {}
    needs: dict[str, set[str]] = {}
    for path in paths:
        node = str(path.relative_to(objects).with_suffix(""))
        needs[node] = set()
        for line in call(["nm", "-g", path])[1].splitlines():
            *_, kind, name = line.split()
            if MADE.match(name):
                continue
            if kind == "T":
                homes[name] = node
            elif kind == "U":
                needs[node].add(name)
    return {node: {homes[name] for name in names if name in homes} - {node}
            for node, names in needs.items()}


def circles(arrows: dict[str, set[str]]) -> list[frozenset[str]]:
    """The groups of nodes each of which leads to every other."""
    def reach(start: str) -> set[str]:
        found: set[str] = set()
        open_ = [start]
        while open_:
            for node in arrows.get(open_.pop(), set()) - found:
                found.add(node)
                open_.append(node)
        return found

    to = {node: reach(node) for node in arrows}
    return sorted({frozenset({node} | {other for other in to[node] if node in to[other]})
                   for node in arrows if node in to[node]}, key=sorted)


def check_calls(objects: Path, known: dict[frozenset[str], str] | None = None) -> Iterator[str]:
    """What is wrong with the graph of calls, in words."""
    known = KNOWN if known is None else known
    arrows = calls(objects)
    if not arrows:
        yield f"{objects}: no objects; python3 -m guests.modules builds them"
        return
    for source, targets in sorted(arrows.items()):
        for target in sorted(targets):
            if part(source) != part(target) and layer(part(source)) <= layer(part(target)):
                yield (f"module/{source} calls {target}: "
                       f"{part(source)}/ may not depend on {part(target)}/")
    there = circles(arrows)
    for circle in there:
        if not any(circle <= other for other in known):
            yield f"a circle of calls: {', '.join(sorted(circle))}"
    for other in known:
        if not any(circle <= other for circle in there):
            yield f"no circle any more, so take it off KNOWN: {', '.join(sorted(other))}"
