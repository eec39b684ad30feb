# SPDX-License-Identifier: GPL-2.0-only
"""`livemmctl ab run` as a process of its own, on a fake host that others can see, too.

    run_process.py ROOT WORD...
"""

import sys
from pathlib import Path

from fake_tree import FakeHost, FakeKernel
from livemmctl.app import App
from livemmctl.cli import run
from livemmctl.control import PARAMETERS, parse_settings


def attach(root: Path) -> FakeHost:
    """A fake host on a tree that is there already, with a kernel as the tree says."""
    kernel = FakeKernel(root)
    parameters = root / PARAMETERS.lstrip("/")
    values = parse_settings((parameters / "policies").read_text(encoding="utf-8"))
    lease = int((parameters / "lease").read_text(encoding="utf-8"))
    kernel.load()
    kernel.values, kernel.lease = values, lease
    kernel.show()
    return FakeHost(root, kernel)


if __name__ == "__main__":
    sys.exit(int(run(sys.argv[2:], App(attach(Path(sys.argv[1]))))))
