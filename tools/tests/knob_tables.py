# SPDX-License-Identifier: GPL-2.0-only
"""The module's own tables of knobs and counters, read from its source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "module"

_ENTRY = re.compile(r"\[KNOB_\w+\] = \{(.*?)\n\t\},", re.S)
_FIELD = re.compile(r"\.(\w+) = (\"[^\"]*\"|[^,\n]+)")
_TABLE = re.compile(r"static const struct lmm_knob (\w+)_knobs\[\] = \{(.*?)\n\};", re.S)
_WORDS = re.compile(r"static const char \*const (\w+)\[\w*\] = \{(.*?)\};", re.S)
_DEFINE = re.compile(r"^#define (\w+)\s+(\d+)$", re.M)
# Conditions on the kernel, by the release from which they hold.
_SINCE = re.compile(
    r"#define (LMM_\w+)\s+\(LINUX_VERSION_CODE >= KERNEL_VERSION\((\d+), (\d+), 0\)\)"
)


@dataclass(frozen=True)
class Knob:
    """A row of a knob table; numbers are as stored (tenths in tenths)."""

    name: str
    kind: str
    low: int
    high: int
    default: str
    choices: tuple[str, ...] = ()

    def judge(self, text: str) -> tuple[str, str]:
        """("", "") for a value that the kernel takes, or errno's name and its words."""
        if self.kind == "TEXT":
            return ("", "") if len(text) < 512 else ("ERANGE", "longer than 511 characters")
        if self.kind == "CHOICE":
            known = text in self.choices
            return ("", "") if known else ("EINVAL", "not one of " + " ".join(self.choices))
        if self.kind == "BOOL":
            return ("", "") if text in ("0", "1") else ("EINVAL", "not 0 or 1")
        tenths = self.kind == "TENTHS"
        if not re.fullmatch(r"\d+(\.\d)?" if tenths else r"\d+", text, re.A):
            form = "a number with at most one decimal" if tenths else "a whole number"
            return "EINVAL", f"not {form}"
        number = round(float(text) * 10) if tenths else int(text)
        if self.low <= number <= self.high:
            return "", ""
        return "ERANGE", f"not in {self.shown(self.low)}..{self.shown(self.high)}"

    def shown(self, number: int) -> str:
        """A stored number as the kernel prints it."""
        return f"{number / 10:g}" if self.kind == "TENTHS" else str(number)


def _numbers(release: tuple[int, int]) -> dict[str, int]:
    """Named numbers of the module's headers, for a kernel release."""
    found: dict[str, int] = {}
    for path in MODULE.rglob("*.h"):
        text = path.read_text(encoding="utf-8")
        found |= {name: int(value) for name, value in _DEFINE.findall(text)}
        for name, major, minor in _SINCE.findall(text):
            found[name] = int(release >= (int(major), int(minor)))
    return found


def _word_lists(text: str) -> dict[str, list[tuple[str, str]]]:
    """Tables of words: name of the table to (index, word)."""
    return {
        name: re.findall(r"\[(\w+)\] = \"(\w+)\"", body) for name, body in _WORDS.findall(text)
    }


def _knob(body: str, numbers: dict[str, int], words: dict[str, list[tuple[str, str]]]) -> Knob:
    fields = {name: value.strip().strip('"') for name, value in _FIELD.findall(body)}
    kind = fields["kind"].removeprefix("LMM_KNOB_")
    listed = words.get(fields.get("choices", ""), [])
    known = numbers | {index: place for place, (index, _) in enumerate(listed)}

    def number(key: str) -> int:
        text = fields.get(key, "0")
        if text.startswith("!"):
            return int(not known[text[1:]])
        return int(text) if text.isdigit() else known[text]

    choices = tuple(word for _, word in listed)
    knob = Knob(fields["name"], kind, number("min"), number("max"), "", choices)
    default = knob.shown(number("def"))
    if kind == "TEXT":
        default = ""
    elif kind == "CHOICE":
        default = choices[number("def")]
    return Knob(knob.name, kind, knob.low, knob.high, default, choices)


def knobs(release: tuple[int, int] = (6, 1)) -> dict[str, list[Knob]]:
    """Knobs of every policy of the module, as built for a kernel release."""
    numbers = _numbers(release)
    found = {}
    for path in sorted((MODULE / "policy").glob("*/*.c")):
        text = path.read_text(encoding="utf-8")
        for policy, body in _TABLE.findall(text):
            words = _word_lists(text)
            found[policy] = [_knob(entry, numbers, words) for entry in _ENTRY.findall(body)]
    return found


def counters() -> dict[str, list[str]]:
    """Names of the counters of every policy."""
    found = {}
    for path in sorted((MODULE / "policy").glob("*/*.c")):
        for table, entries in _word_lists(path.read_text(encoding="utf-8")).items():
            if table.endswith("_counter_names"):
                found[table.removesuffix("_counter_names")] = [word for _, word in entries]
    return found


def documented() -> dict[str, str]:
    """Every file that debugfs-docs/ has an entry of, and the entry's text.

    An entry with <policy> in its name is an entry of each policy's file.
    """
    found = {}
    policies = counters()
    for path in (ROOT / "debugfs-docs").iterdir():
        for entry in path.read_text(encoding="utf-8").split("What:\t")[1:]:
            name, _, text = entry.partition("\n")
            for policy in policies:
                path_of_file = name.strip().replace("<policy>", policy)
                found[path_of_file] = text.partition("Description:\n")[2]
    return found


def boundaries() -> list[tuple[int, int]]:
    """Kernel releases at which something of the module changes, oldest first."""
    found = set()
    for path in MODULE.rglob("*.h"):
        for _, major, minor in _SINCE.findall(path.read_text(encoding="utf-8")):
            found.add((int(major), int(minor)))
    return sorted(found)


def defaults_toml() -> str:
    """What livemmctl/defaults.toml must be."""
    before = knobs((0, 0))
    lines = [
        "# SPDX-License-Identifier: GPL-2.0-only",
        "# The module's defaults; made by: python3 tools/tests/knob_tables.py",
    ]
    for policy, table in before.items():
        lines += ["", f"[policy.{policy}]", *(f'{knob.name} = "{knob.default}"' for knob in table)]
    for release in boundaries():
        for policy, table in knobs(release).items():
            for old, knob in zip(before[policy], table, strict=True):
                if old.default != knob.default:
                    lines += ["", "[[since]]", f"kernel = [{release[0]}, {release[1]}]",
                              f'policy = "{policy}"', f'knob = "{knob.name}"',
                              f'value = "{knob.default}"']
        before = knobs(release)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "tools/livemmctl/defaults.toml").write_text(defaults_toml(), encoding="utf-8")
