# SPDX-License-Identifier: GPL-2.0-only
"""Have every allocation of livemm fail once: python3 -m tests.inject [--every K] [GROUP...]

A guest for each group of cases, on the kernel `inject` of kernels.toml.  A case does one thing,
such as to switch a policy on, again and again: first the first allocation of the writer fails,
then the second, until an action comes to its end without a failure.  After each the errno, all
settings and hooks, last_error and the kernel's log are looked at, in the end pages and kmemleak.
"""

from __future__ import annotations

import argparse
from concurrent.futures import as_completed

from guests import kernel_build
from guests.accel import PARALLEL, SINGLE
from guests.boot import Guest, boot, guest_pool
from guests.kernels import Image, images, load
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from tests import tables
from tests.inject import cases
from tests.run import build_for, build_programs, count
from tests.torture.__main__ import policies_of

KERNEL = "inject"
FOLDER = BUILD / "inject"
SCRIPT = ROOT / "tests/inject/guest.sh"
TIMEOUT = 4 * 3600.0  # wall seconds of a guest
# The kernel says where an allocation has failed.
ALLOWED = [r"\bCall Trace:"]
RELEASE = (6, 1)


def guest_of(image: Image, name: str, todo: list[cases.Case], every: int, emulation: str) -> Guest:
    """The guest of a group."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(cases.dump(todo), encoding="utf-8")
    return Guest(name=f"inject-{name}", image=image, script=SCRIPT, cpus=2, memory="1G", nodes=2,
                 kargs=["cma=64M"] if image.built else [], emulation=emulation, timeout=TIMEOUT,
                 allowed=ALLOWED, env={"LMM_GROUP": str(path), "LMM_EVERY": str(every)})


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.inject", description="allocations that fail")
    parser.add_argument("--every", type=int, default=1,
                        help="fail only each K-th allocation of an action (1)")
    parser.add_argument("--kernel", default=KERNEL, help=f"a kernel up to 6.10 ({KERNEL})")
    parser.add_argument("--jobs", type=int, default=2, help="guests at once (2)")
    parser.add_argument("--emulation", choices=[SINGLE, PARALLEL], default=PARALLEL,
                        help="without KVM: a thread for each CPU, or one for all (parallel)")
    parser.add_argument("--case", action="append", help="only this case; repeatable")
    parser.add_argument("groups", nargs="*", metavar="GROUP",
                        help="a policy, load, load_on, all or livepatch (default all of them)")
    args = parser.parse_args()
    groups = cases.groups(tables.tables(RELEASE), policies_of(args.kernel))
    if unknown := set(args.groups) - set(groups):
        raise ToolError(f"group {', '.join(unknown)}: not in {', '.join(groups)}")
    todo = {name: [case for case in groups[name] if not args.case or case.name in args.case]
            for name in args.groups or groups}
    if unknown := set(args.case or ()) - {case.name for some in todo.values() for case in some}:
        raise ToolError(f"case {', '.join(sorted(unknown))}: in none of these groups")
    stage = Stage("inject")
    if args.kernel in load()[1]:
        kernel_build.ensure(args.kernel)
    image = images(args.kernel)[0]
    build_programs()
    if not build_for(stage, [image]):
        return stage.finish()
    guests = [guest_of(image, name, some, args.every, args.emulation)
              for name, some in todo.items() if some]
    with guest_pool(args.jobs) as pool:
        for future in as_completed([pool.submit(boot, guest) for guest in guests]):
            count(stage, future.result())
            say(f"     {len(stage.tests)} checks so far")
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
