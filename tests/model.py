# SPDX-License-Identifier: GPL-2.0-only
"""The depot's protocol, every order of steps of three threads: tests/model/depot.pml under spin."""

import re
from functools import partial

from guests.command import call, tail
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard

MODEL = ROOT / "tests/model/depot.pml"
WORK = BUILD / "model"

#: The threads of a run, as the model names them.
LOADS = ("STORE_TAKE_DRAIN", "STORE_DRAIN_DRAIN", "TAKE_TAKE_STORE", "STORE_TAKE_CLOSE")
#: Mistakes that must be found, and the threads that meet them.
BUGS = {
    "STORES_UNLOCKED": ("STORE_TAKE_DRAIN", "a store does without the lock"),
    "TAKES_UNLOCKED": ("TAKE_TAKE_STORE", "a take does without the lock"),
    "SUM_LATE": ("STORE_TAKE_DRAIN", "a store adds to the sum after unlocking"),
    "REFUSED_LOST": ("STORE_TAKE_DRAIN", "what was refused is not put back"),
    "DRAIN_NO_WAIT": ("STORE_DRAIN_DRAIN", "a drain does not wait for another's last batch"),
    "RETURNING_LATE": ("STORE_DRAIN_DRAIN", "a drain says too late that it works"),
    "CLOSE_NO_LISTS": ("STORE_TAKE_CLOSE", "lists are not drained after the depot was closed"),
    "CLOSED_UNSEEN": ("STORE_TAKE_CLOSE", "a store does not look whether the depot is closed"),
    "COUNT_KEPT": ("STORE_TAKE_DRAIN", "an emptied batch keeps its count"),
}
_STATES = re.compile(r"(\d+) states, stored")


def explore(load: str, bug: str) -> tuple[bool, int, str]:
    """Whether a run breaks what must hold, the number of states, and what the checker says."""
    folder = WORK / f"{load}-{bug or 'none'}".lower()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    # spin leaves the trail of an earlier error beside the model's name.
    call(["spin", "-a", f"-DLOAD={load}", *([f"-DBUG={bug}"] if bug else []), MODEL], log=log,
         cwd=folder)
    call(["gcc-12", "-O2", "-DSAFETY", "-DCOLLAPSE", "pan.c", "-o", "pan"], log=log, cwd=folder)
    _, text = call(["./pan", "-m100000"], log=log, cwd=folder, check=False, timeout=300)
    found = _STATES.search(text)
    if not found or "max search depth too small" in text:
        raise ToolError(tail(text, 10))
    return "errors: 0" not in text, int(found[1]), tail(text, 10)


def holds(load: str) -> str:
    broken, _, text = explore(load, "")
    return text if broken else ""


def finds(bug: str, load: str) -> str:
    broken, states, _ = explore(load, bug)
    return "" if broken else f"nothing found in {states} states"


def main() -> int:
    stage = Stage("model")
    for load in LOADS:
        stage.run(f"depot: {load.lower().replace('_', ', ')}: every order of steps is right",
                  partial(holds, load))
    for bug, (load, words) in BUGS.items():
        stage.run(f"depot: a mistake is found: {words}", partial(finds, bug, load))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)
