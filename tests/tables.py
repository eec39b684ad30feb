# SPDX-License-Identifier: GPL-2.0-only
"""The module's knobs and counters, printed by the module's own code: python3 -m tests.tables

The tables (module/policy/*/knobs.[ch]) and the grammar (module/control/knobs.c) are built as a
program of user space, once for each series of the matrix.  What follows from a knob's row is made
from the row: the defaults of livemmctl, the table in docs/<policy>.md, the first paragraph of the
knob's entry in debugfs-docs/<policy>, and what scenarios take for the defaults.

--write brings these files up to date; --check, and lint, says which are not.
"""

import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from guests.command import call
from guests.kernels import load
from guests.report import BUILD, ROOT, ToolError, main_guard
from tests.userspace import USER, stand_ins

_IDS = re.compile(r"^enum lmm_policy_id \{\n(.*)^\tLMM_NR_POLICIES$", re.DOTALL | re.MULTILINE)
DEFAULTS = ROOT / "tools/livemmctl/defaults.toml"
SCENARIOS = ROOT / "tests/scenarios/lib_defaults.sh"
#: Of kinds of knobs that have a least and a largest value: what lies between two values.
STEPS = {"UINT": "1", "TENTHS": "0.1"}
#: A parameter takes one page, the longest text of a knob (LMM_TEXT_LEN), and the most modes.
PAGE, LONGEST, MODES = 4096, 511, 4
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
    unit: str
    text: str
    choices: list[str]

    @property
    def allowed(self) -> str:
        """Every value that there may be, in words."""
        if self.kind == "CHOICE":
            return ", ".join(f"`{word}`" for word in self.choices)
        return self.unit if self.kind == "TEXT" else f"{self.low} to {self.high} {self.unit}"

    @property
    def shown(self) -> str:
        """The default, in words."""
        return f"`{self.default}`" if self.kind == "CHOICE" else self.default or "empty"

    @property
    def longest(self) -> int:
        """The longest text of a value."""
        if self.kind == "TEXT":
            return LONGEST
        return max(map(len, self.choices or [self.low, self.high])) + 2 * (self.kind == "TENTHS")


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
                                      "-Wno-sign-compare", "-DLMM_KNOB_DOCS", "-I",
                                      work / "include", "-I", ROOT / "module"]
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


def defaults_sh() -> str:
    """What scenarios take for the defaults: those of every kernel."""
    now = tables(series()[0])
    if any(tables(release) != now for release in series()):
        raise ToolError("a default that depends on the kernel: scenarios know of none")
    text = """\
# SPDX-License-Identifier: GPL-2.0-only
# Policies and the defaults of their knobs; made by: python3 -m tests.tables --write
# shellcheck disable=SC2034 # scenarios read these
"""
    text += f'policies="{" ".join(now)}"\n'
    for policy, found in now.items():
        pairs = " ".join(f"{knob.name}={knob.default}" for knob in found.knobs)
        text += f'{policy}_defaults="{pairs}"\n'
    return text


def page(policy: str, text: str) -> str:
    """The page of a policy, with the table of its knobs."""
    rows = "".join(f"| `{knob.name}` | {knob.shown} | {knob.allowed} | {knob.text} |\n"
                   for knob in tables()[policy].knobs)
    made, found = re.subn(r"^(\| knob \| default .*\n\|[-|]+\|\n)(?:\|.*\n)*",
                          lambda head: head[1] + rows, text, count=1, flags=re.MULTILINE)
    if not found:
        raise ToolError(f"docs/{policy}.md: no table | knob | default | range | effect |")
    return made


def entries(policy: str, text: str) -> str:
    """The entries of a policy's files, each knob's with its row in the first paragraph."""
    head, *parts = re.split(r"^(?=What:\t)", text, flags=re.MULTILINE)
    folder = f"/sys/kernel/debug/livemm/{policy}/"
    names = [part.split(None, 2)[1].removeprefix(folder) for part in parts]
    found = dict(zip(names, parts, strict=True))
    made = []
    for knob in tables()[policy].knobs:
        old = found.pop(knob.name, "\n\n")
        # What is written by hand begins behind the first empty line.
        rest = old.partition("\n\n")[2].strip("\n")
        words = (f"{knob.allowed[0].upper()}{knob.allowed[1:]}, default {knob.shown}. "
                 f"{knob.text[0].upper()}{knob.text[1:]}.")
        first = textwrap.fill(words, 80, initial_indent=16 * " ", subsequent_indent=16 * " ")
        made.append(f"What:\t\t{folder}{knob.name}\nDescription:\n"
                    + first.replace(16 * " ", "\t\t") + "\n\n" + (rest and f"{rest}\n\n"))
    return (head + "".join(made) + "".join(found.values())).rstrip("\n") + "\n"


def files() -> Iterator[tuple[Path, str]]:
    """Every file that is made from the tables, or in part, and what it must be."""
    yield DEFAULTS, defaults_toml()
    yield SCENARIOS, defaults_sh()
    for policy in policies():
        for path, made in ((ROOT / f"docs/{policy}.md", page),
                           (ROOT / f"debugfs-docs/{policy}", entries)):
            yield path, made(policy, path.read_text(encoding="utf-8"))


def check() -> Iterator[str]:
    """What is wrong, in words: a file that is not what it must be, and rows beyond bounds."""
    for path, text in files():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield f"{path.relative_to(ROOT)}: run python3 -m tests.tables --write"
    room = 0
    for policy, found in tables().items():
        room += len(f"{policy}:enabled=0;") + sum(len(knob.name) + 2 + knob.longest
                                                  for knob in found.knobs)
        if sum(knob.kind == "TEXT" for knob in found.knobs) > 1:
            yield f"{policy}: more than one knob with a text"
        if any(knob.name == "mode" and len(knob.choices) > MODES for knob in found.knobs):
            yield f"{policy}: more than {MODES} modes"
        yield from (f"{policy}/{knob.name}: no meaning" for knob in found.knobs if not knob.text)
    if room >= PAGE:
        yield f"the settings of all policies have up to {room} characters, and a page has {PAGE}"


def main() -> int:
    if sys.argv[1:] not in ([], ["--write"], ["--check"]):
        raise ToolError(f"{' '.join(sys.argv[1:])}: the only arguments are --write and --check")
    if sys.argv[1:] == ["--check"]:
        wrong = list(check())
        for words in wrong:
            print(words)
        return bool(wrong)
    if sys.argv[1:]:
        for path, text in list(files()):
            path.write_text(text, encoding="utf-8")
    else:
        print(defaults_toml(), end="")
    return 0


if __name__ == "__main__":
    main_guard(main)
