# SPDX-License-Identifier: GPL-2.0-only
"""What a host is: a guest as Debian has it, and its load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bench import guest


def nothing(_plan: guest.Plan) -> None:
    """No steps."""


def beside(*argvs: tuple[str, str]) -> Callable[[], guest.Step]:
    """A load of programs side by side: each a program and its arguments."""
    return lambda: {"do": "beside", "argvs": [[guest.load_program(program), *args.split()]
                                              for program, args in argvs]}


def program(name: str, args: str) -> Callable[[], guest.Step]:
    """A load of one program that prints JSON."""
    return lambda: {"do": "program", "program": guest.load_program(name), "args": args.split()}


@dataclass(frozen=True)
class Host:
    """A host.

    words   what it is, for the page
    load    what each run is: one step of bench.agent or bench.hosts.agent
    setup   adds the steps that make the host what it is, once a boot
    before  steps before each run, which are not measured
    matters figures that the page shows of this host, most important first
    huge    huge pages are asked for after each run
    kernels where there is such a host; empty: everywhere
    without policies that have nothing to do there, and are measured in `all` alone
    boots   each run has a boot of its own: which block has pages of which type outlasts a run
    quiet   nothing is added that wakes up: a real-time task's delays are not measured
    shift   an instruction takes 2^shift ns of the guest's time

    For the rest see bench.guest.Plan.
    """

    name: str
    words: str
    load: Callable[[], guest.Step]
    matters: Sequence[str]
    setup: Callable[[guest.Plan], None] = nothing
    before: Sequence[guest.Step] = ()
    huge: bool = False
    kernels: Sequence[str] = ()
    without: Sequence[str] = ("numa", "cma")
    boots: bool = False
    quiet: bool = False
    shift: int = 0
    memory: str = "1G"
    cpus: int = 2
    nodes: int = 1
    slow: str = ""
    disks: Mapping[str, int] = field(default_factory=dict)
    kargs: Sequence[str] = ()
