# SPDX-License-Identifier: GPL-2.0-only
"""Run a command line in a guest with livemm loaded, and show what the command prints.

python3 -m tests.look [--kernel K] COMMAND

The command begins in /sys/kernel/debug/livemm.  The guest has two CPUs on two nodes.
"""

import argparse

from guests import modules
from guests.boot import Guest, boot
from guests.kernels import images
from guests.report import ROOT, ToolError, main_guard, say


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.look", description="run a command in a guest")
    parser.add_argument("--kernel", default="6.1", help="a series, a release or debug")
    parser.add_argument("command", help="a line of shell, such as: cat hooks")
    args = parser.parse_args()
    image = images(args.kernel)[0]
    if wrong := modules.build(image):
        raise ToolError(wrong)
    script = ROOT / "tests/look_guest.sh"
    verdict = boot(Guest(f"look-{image.name}", image, script, [args.command], nodes=2))
    say(verdict.output.read_text(encoding="utf-8", errors="replace"))
    if verdict.reason:
        raise ToolError(f"{verdict.reason}\nconsole: {verdict.console}")
    return 0


if __name__ == "__main__":
    main_guard(main)
