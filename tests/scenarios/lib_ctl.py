# SPDX-License-Identifier: GPL-2.0-only
"""What lib_ctl.sh has Python do in a guest.

    lib_ctl.py serve COMMAND      fork and run COMMAND for each request on stdin
    lib_ctl.py judge SAID ASKED   judge the documents in SAID by the questions in ASKED

A request is a line of words with tabs between: where stdout goes, where stderr goes, and the
arguments.  The answer on stdout is a line with the exit code.
"""

import importlib
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

#: What most commands import; the rest is imported by the one that wants it.
COMMON = ("cli", "table", "commands.status", "commands.read", "commands.settings",
          "profile.cli")


def become(command: str, words: list[str]) -> None:
    """Be that command, in a process that was forked for it."""
    out, err, *args = words
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [command, *args]
    runpy.run_path(command, run_name="__main__")


def serve(command: str) -> None:
    """Answer requests until there are no more."""
    sys.path.insert(0, str(Path(command).resolve().parents[1]))
    for name in COMMON:
        importlib.import_module(f"livemmctl.{name}")
    # Unbuffered: what was read ahead would be the child's, too.
    with open(0, "rb", buffering=0, closefd=False) as requests:
        for line in requests:
            child = os.fork()
            if not child:
                become(command, line.decode().rstrip("\n").split("\t"))
                return
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def tell(name: str, good: bool, note: str = "") -> None:
    """One check, as lib.sh writes it."""
    print(f"ok {name}" if good else f"not ok {name} # {note}"[:400])


def documents(said: Path) -> dict[str, Any]:
    """Every JSON document that was printed; each is a check."""
    found: dict[str, Any] = {}
    for path in sorted(said.iterdir()):
        text = path.read_text(encoding="utf-8")
        if "Traceback" in text:
            tell(f"{path.name}: no traceback", False, " ".join(text.split())[-300:])
        if not path.stem.endswith("--json") or not text:
            continue
        try:
            found[path.stem] = json.loads(text)
            good = found[path.stem]["output_version"] == 1
        except (ValueError, TypeError, KeyError):
            good = False
        tell(f"{path.name} parses", good, text[:200])
    tell("nothing is a traceback",
         not any("Traceback" in path.read_text(encoding="utf-8") for path in said.iterdir()))
    return found


def judge(said: Path, asked: Path) -> None:
    """Put every question; one that begins with a colon is a note."""
    found = documents(said)
    for line in asked.read_text(encoding="utf-8").splitlines():
        name, _, question = line.partition("\t")
        document = found.get(name)
        try:
            value = eval(question.lstrip(":"), {"d": document})
        except Exception as error:  # whatever it is, it is no answer
            tell(f"{name}: {question}", False, repr(error))
            continue
        if question.startswith(":"):
            print(f"note {name}: {value}")
        else:
            tell(f"{name}: {question}", bool(value), json.dumps(document))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        judge(Path(sys.argv[2]), Path(sys.argv[3]))
