# SPDX-License-Identifier: GPL-2.0-only
"""Run the suites in the debug kernel, read by the kernel's own kunit.py.

python3 -m tests.kunit [SUITE]

SUITE is a part of a suite's name: only cases of such suites are counted.  All suites run, because
6.1 filters suites of the kernel itself alone.
build/check/ keeps KTAP, JSON and JUnit XML.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guests.boot import Guest, boot
from guests.command import call, tail
from guests.kernel_build import ensure, source_tree
from guests.kernels import built_image
from guests.modules import build
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say

_SUITE = re.compile(r"^(?:not )?ok \d+ (\S+)", re.MULTILINE)
_NAMED = re.compile(r"^static struct kunit_suite \w+ = \{\n\t\.name = \"(.+)\",$", re.MULTILINE)


def complete_ktap(log: str) -> str:
    """Suites of a module come without the header that a kernel's own have."""
    lines = log.splitlines()
    suites = sum(1 for line in lines if _SUITE.match(line))
    if suites == 0:
        raise ToolError(f"no suite ended; the guest said:\n{tail(log)}")
    return "\n".join(["KTAP version 1", f"1..{suites}", *lines]) + "\n"


def suites_lost(log: str, sources: str) -> str:
    """Suites of the sources that did not end: the kernel's log has room for so much alone."""
    return " ".join(sorted(set(_NAMED.findall(sources)) - set(_SUITE.findall(log))))


def cases(group: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Name and status of every test case in kunit.py's JSON."""
    for case in group.get("test_cases", []):
        yield f"{path}{case['name']}", str(case["status"])
    for inner in group.get("sub_groups", []):
        yield from cases(inner, f"{path}{inner['name']}: ")


def parse(ktap: Path) -> dict[str, Any]:
    """Let kunit.py read the results."""
    out = ktap.with_suffix(".json")
    out.unlink(missing_ok=True)
    source = source_tree()
    tool = str(source / "tools/testing/kunit/kunit.py")
    argv = ["/usr/bin/python3", tool, "parse", f"--json={out}", str(ktap)]
    _, text = call(argv, cwd=source, log=ktap.with_suffix(".txt"), check=False)
    try:
        data: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ToolError(f"kunit.py parse wrote no result:\n{tail(text)}") from error
    return data


def main() -> int:
    stage = Stage("kunit")

    def built() -> str:
        ensure()
        return build(built_image())

    if not stage.run("the debug kernel and the suites build", built):
        return stage.finish()
    say("    booting the debug kernel")
    verdict = boot(Guest("kunit", built_image(), ROOT / "tests/kunit_guest.sh"))
    stage.add("guest and its kernel", not verdict.reason, verdict.reason, verdict.seconds)
    ktap = BUILD / "check" / "kunit.ktap"
    ktap.parent.mkdir(parents=True, exist_ok=True)
    try:
        text = verdict.output.read_text(encoding="utf-8", errors="replace")
        ktap.write_text(complete_ktap(text), encoding="utf-8")
        lost = suites_lost(text, "".join(path.read_text(encoding="utf-8")
                                         for path in sorted((ROOT / "kunit").glob("*.c"))))
        stage.add("every suite has ended", not lost, lost)
        wanted = sys.argv[1] if sys.argv[1:] else ""
        found = [case for case in cases(parse(ktap)) if wanted in case[0].partition(": ")[0]]
    except ToolError as error:
        stage.add("results could be read", False, str(error))
        return stage.finish()
    for name, status in found:
        stage.add(name, status == "PASS", f"{status}: see {ktap}")
    stage.add("there were tests", bool(found), "zero tests ran")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
