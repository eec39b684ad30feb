# SPDX-License-Identifier: GPL-2.0-only
"""What livemm does while an allocation fails: a group of cases a guest.

Pure: the host lists the groups, the guest runs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from tests.tables import Knob, Tables

DEBUGFS = "/sys/kernel/debug/livemm"
PARAMETERS = "/sys/module/livemm/parameters"
READ_OF_POLICY = ("config", "counters", "state", "supported")
READ_OF_ALL = ("version", "hooks", "status", "lease", "last_error")
# The kernel calls the init of a module here.  Before, the kernel itself warns of allocations that
# fail while it makes the files of tracepoints.
INIT = "do_init_module"
# Where allocations fail in tasks that are not the writer: the kernel's function, and what the
# task does there.
ELSEWHERE = {
    "ask_worker": "a worker runs modprobe",
    INIT: "modprobe starts the livepatch",
    "klp_enable_patch": "the kernel enables the livepatch",
}


@dataclass(frozen=True)
class Case:
    """An action, tried again and again, each time with a later allocation that fails.

    before    settings to begin with, as parameter `policies` takes them; None: livemm is not loaded
    action    words of build/programs/failnth
    never     True: the action itself may not fail, only the opening of the file
    function  "": allocations of the action's task fail; else those of this call, in any task
    """

    name: str
    before: str | None
    action: tuple[str, ...]
    never: bool = False
    function: str = ""

    @property
    def elsewhere(self) -> bool:
        """Whether allocations fail in a task that loads a livepatch, so that none is loaded yet."""
        return bool(self.function) and self.before is not None


def dump(cases: Sequence[Case]) -> str:
    """Cases as JSON."""
    return json.dumps([asdict(case) for case in cases], indent=1) + "\n"


def parse(text: str) -> list[Case]:
    """The inverse of dump()."""
    return [Case(**{**row, "action": tuple(row["action"])}) for row in json.loads(text)]


def other_value(knob: Knob) -> str:
    """A legal value that is not the default, near the default so that no rule is broken."""
    if knob.kind == "TEXT":
        return "/a:/b"
    near = int(float(knob.default)) + (1 if knob.default != knob.high else -1)
    return str(near)


def some_settings(tables: Tables) -> str:
    """Other values for all knobs of a policy but those that are a choice."""
    return ",".join(f"{knob.name}={other_value(knob)}" for knob in tables.knobs
                    if not knob.choices)


def modes(tables: Tables) -> list[str]:
    """The modes of a policy, the default first; [] for a policy without modes."""
    return next(([knob.default, *(word for word in knob.choices if word != knob.default)]
                 for knob in tables.knobs if knob.name == "mode"), [])


def policy_cases(policy: str, tables: Tables) -> list[Case]:
    """Everything that can be done with one policy."""
    folder = f"{DEBUGFS}/{policy}"
    off, on = f"{policy}:enabled=0", f"{policy}:enabled=1"
    some = some_settings(tables)
    found = [
        Case("on", off, ("write", f"{folder}/enabled", "1")),
        Case("off", on, ("write", f"{folder}/enabled", "0"), never=True),
        Case("settings while off", off, ("write", f"{folder}/config", some)),
        Case("settings while on", on, ("write", f"{folder}/config", some)),
        *(Case(f"read {file}", on, ("read", f"{folder}/{file}")) for file in READ_OF_POLICY),
    ]
    first, *others = modes(tables) or [""]
    for mode in others:
        found += [Case(f"on in mode {mode}", f"{off},mode={mode}",
                       ("write", f"{folder}/enabled", "1")),
                  Case(f"from mode {first} to {mode}", f"{on},mode={first}",
                       ("write", f"{folder}/mode", mode)),
                  Case(f"from mode {mode} to {first}", f"{on},mode={mode}",
                       ("write", f"{folder}/mode", first))]
    return found


def groups(rows: Mapping[str, Tables], policies: Sequence[str]) -> dict[str, list[Case]]:
    """The cases of each guest."""
    off = ";".join(f"{policy}:enabled=0" for policy in policies)
    on = off.replace("=0", "=1")
    found = {policy: policy_cases(policy, rows[policy]) for policy in policies}
    found["load"] = [
        Case("load", None, ("load", "livemm.ko", ""), function=INIT),
        Case("unload", off, ("unload", "livemm"), never=True),
    ]
    found["load_on"] = [
        Case("load with policies on", None, ("load", "livemm.ko", f"policies={on}"),
             function=INIT),
        Case("unload with a policy on", "numa:enabled=1,mode=period", ("unload", "livemm"),
             never=True),
    ]
    found["all"] = [
        Case("all on", off, ("write", f"{PARAMETERS}/policies", on)),
        Case("all off", on, ("write", f"{PARAMETERS}/policies", off), never=True),
        Case("lease", on, ("write", f"{DEBUGFS}/lease", "600")),
        *(Case(f"read {file}", on, ("read", f"{DEBUGFS}/{file}")) for file in READ_OF_ALL),
        Case("read policies", on, ("read", f"{PARAMETERS}/policies")),
    ]
    found["livepatch"] = [
        Case(words, "zonelock:enabled=0", ("write", f"{DEBUGFS}/zonelock/enabled", "1"),
             function=function) for function, words in ELSEWHERE.items()]
    return found
