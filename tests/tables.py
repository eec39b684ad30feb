# SPDX-License-Identifier: GPL-2.0-only
"""The module's knobs and counters, printed by the module's own code: python3 -m tests.tables

The tables (module/policy/*/knobs.c) and the grammar (module/control/knobs.c) are built as a
program of user space, once for each series of the matrix.  Prints tools/livemmctl/defaults.toml;
--write replaces the file.
"""

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from guests.command import call
from guests.kernels import load
from guests.report import BUILD, ROOT, ToolError, main_guard
from tests.userspace import USER, stand_ins

_IDS = re.compile(r"^enum lmm_policy_id \{\n(.*)^\tLMM_NR_POLICIES$", re.DOTALL | re.MULTILINE)
DEFAULTS = ROOT / "tools/livemmctl/defaults.toml"
#: Of kinds of knobs that have a least and a largest value: what lies between two values.
STEPS = {"UINT": "1", "TENTHS": "0.1", "BOOL": "1"}
HEAD = """\
# SPDX-License-Identifier: GPL-2.0-only
# The module's defaults and limits; made by: python3 -m tests.tables --write
"""


@dataclass(frozen=True)
class Knob:
    """A row of a policy's table, as people write its values."""

    name: str
    kind: str
    low: str
    high: str
    default: str
    choices: list[str]


@dataclass(frozen=True)
class Tables:
    """Knobs and counters of a policy."""

    knobs: list[Knob]
    counters: list[str]


@cache
def policies() -> tuple[str, ...]:
    """Names of the policies, in the order of enum lmm_policy_id."""
    ids = _IDS.search((ROOT / "module/livemm.h").read_text(encoding="utf-8"))
    if ids is None:
        raise ToolError("module/livemm.h: no enum lmm_policy_id that ends in LMM_NR_POLICIES")
    return tuple(re.findall(r"\blmm_(\w+)", ids[1].lower()))


def series() -> list[tuple[int, int]]:
    """Release of each kernel of the matrix, oldest first."""
    names = (kernel.series.split(".") for kernel in load()[0])
    return sorted((int(major), int(minor)) for major, minor in names)


def rows_flag() -> str:
    """The compiler's option that names the rows of every policy, for a program of all."""
    return "-DROWS(ROW)=" + "".join(f" ROW({policy}_rows)" for policy in policies())


def rows_of(release: tuple[int, int], compiler: Sequence[str | Path], folder: Path) -> list[Path]:
    """Objects with the rows of each policy, as a kernel release has them."""
    made = []
    for policy in policies():
        made.append(folder / f"{policy}.o")
        call([*compiler, f"-DLINUX_VERSION_CODE=KERNEL_VERSION({release[0]},{release[1]},0)",
              f"-DPOLICY={policy}", f'-DKNOBS_C="{ROOT}/module/policy/{policy}/knobs.c"', "-c",
              USER / "knobs_rows.c", "-o", made[-1]])
    return made


@cache
def program(release: tuple[int, int]) -> Path:
    """The program for a kernel release, built when it is older than its sources."""
    folder = BUILD / "tables"
    made = folder / f"knobs-{release[0]}.{release[1]}"
    sources = [*ROOT.glob("module/policy/*/knobs.c"), *USER.glob("*.[ch]"),
               *ROOT.glob("module/**/*.h"), ROOT / "module/control/knobs.c"]
    if made.exists() and made.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return made
    folder.mkdir(parents=True, exist_ok=True)
    # Tests run side by side: each builds on its own, and the last one's program stays.
    with tempfile.TemporaryDirectory(dir=folder) as name:
        work = Path(name)
        stand_ins(sources, work / "include")
        compiler: list[str | Path] = ["gcc-12", "-std=gnu11", "-O1", "-Wall", "-Werror",
                                      "-Wno-sign-compare", "-I", work / "include", "-I",
                                      ROOT / "module"]
        call([*compiler, rows_flag(), USER / "knobs_user.c", ROOT / "module/control/knobs.c",
              *rows_of(release, compiler, work), "-o", work / "knobs"])
        (work / "knobs").replace(made)
    return made


@cache
def tables(release: tuple[int, int] = (6, 1)) -> dict[str, Tables]:
    """Tables of every policy, in the order of the module, as built for a kernel release."""
    _, text = call([program(release)])
    return {policy: Tables([Knob(**row) for row in found["knobs"]], found["counters"])
            for policy, found in json.loads(text).items()}


def judge(present: str, wanted: str, release: tuple[int, int] = (6, 1)) -> tuple[int, str]:
    """A write to the parameter `policies`: 0 and all settings, or errno and the reason."""
    status, text = call([program(release), present, wanted], check=False)
    if status == 0:
        return 0, text.rstrip("\n")
    number, _, reason = text.rstrip("\n").partition(" ")
    return int(number), reason


def defaults_toml() -> str:
    """What tools/livemmctl/defaults.toml must be: the oldest kernel, what changes, and limits."""
    releases = series()
    before = tables(releases[0])
    text = HEAD
    for policy in sorted(before):
        text += f"\n[policy.{policy}]\n"
        text += "".join(f'{knob.name} = "{knob.default}"\n' for knob in before[policy].knobs)
    for release in releases[1:]:
        now = tables(release)
        for policy in sorted(now):
            for old, knob in zip(before[policy].knobs, now[policy].knobs, strict=True):
                if old.default != knob.default:
                    text += (f"\n[[since]]\nkernel = [{release[0]}, {release[1]}]\n"
                             f'policy = "{policy}"\nknob = "{knob.name}"\n'
                             f'value = "{knob.default}"\n')
        before = now
    for policy, found in sorted(tables(releases[0]).items()):
        text += f"\n[limits.{policy}]\n"
        text += "".join(f'{knob.name} = ["{knob.low}", "{knob.high}", "{STEPS[knob.kind]}"]\n'
                        for knob in found.knobs if knob.kind in STEPS)
    return text


def main() -> int:
    if sys.argv[1:] not in ([], ["--write"]):
        raise ToolError(f"{' '.join(sys.argv[1:])}: the only argument is --write")
    if sys.argv[1:]:
        DEFAULTS.write_text(defaults_toml(), encoding="utf-8")
    else:
        print(defaults_toml(), end="")
    return 0


if __name__ == "__main__":
    main_guard(main)
