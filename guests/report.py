# SPDX-License-Identifier: GPL-2.0-only
"""Counted tests: one line each on the terminal, a JSON file and a JUnit file a stage."""

import json
import re
import signal
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = BUILD / "check"
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class ToolError(Exception):
    """Something outside the tests went wrong; the text says what, in words."""


@dataclass
class Test:
    """One counted test; a skipped test does not exist here: it is a failure."""

    name: str
    ok: bool
    note: str = ""
    seconds: float = 0.0


def say(text: str) -> None:
    """Progress, shown at once even when piped."""
    print(text, flush=True)


@dataclass
class Stage:
    """The tests of one stage of `make check`."""

    name: str
    tests: list[Test] = field(default_factory=list)
    #: What failed in the first of two runs, of which the second counts.
    flaky: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def add(self, name: str, ok: bool, note: str = "", seconds: float = 0.0) -> bool:
        """Count a test and show its line; a failure's note follows, indented."""
        self.tests.append(Test(name, ok, note, round(seconds, 1)))
        word = "ok  " if ok else "FAIL"
        spent = f" ({seconds:.0f} s)" if seconds >= 1 else ""
        say(f"{word} {self.name}: {name}{spent}")
        if note and not ok:
            for line in note.rstrip().splitlines():
                say(f"       {line}")
        return ok

    def run(self, name: str, check: Callable[[], str | Iterable[str] | None]) -> bool:
        """Count `check` as a test: it returns or yields what is wrong, or asserts what is right."""
        start = time.monotonic()
        try:
            found = check() or ""
            note = found if isinstance(found, str) else "\n".join(found)
        except (ToolError, OSError, AssertionError) as error:
            note = str(error) or type(error).__name__
        return self.add(name, not note, note, time.monotonic() - start)

    @property
    def passed(self) -> int:
        return sum(test.ok for test in self.tests)

    @property
    def failed(self) -> int:
        return len(self.tests) - self.passed

    def write_junit(self, path: Path) -> None:
        """The same results for a CI that reads JUnit XML."""
        suite = ET.Element("testsuite", name=self.name, tests=str(len(self.tests)),
                           failures=str(self.failed))
        for test in self.tests:
            case = ET.SubElement(suite, "testcase", classname=f"livemm.{self.name}",
                                 name=_plain(test.name), time=str(test.seconds))
            if not test.ok:
                ET.SubElement(case, "failure").text = _plain(test.note)
        ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)

    def finish(self) -> int:
        """Write JSON and JUnit XML, show the sum; 0 when every test passed and there was one."""
        if not self.tests:
            self.add("any test ran", False, "the stage counted no test")
        RESULTS.mkdir(parents=True, exist_ok=True)
        data = {
            "stage": self.name,
            "passed": self.passed,
            "failed": self.failed,
            "seconds": round(time.monotonic() - self.started, 1),
            "tests": [asdict(test) for test in self.tests],
            "flaky": self.flaky,
        }
        path = RESULTS / f"{self.name}.json"
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        self.write_junit(path.with_suffix(".xml"))
        say(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


_UNPRINTABLE = re.compile(r"[^\t\n -~]")


def _plain(text: str) -> str:
    """A text that XML can hold."""
    return _UNPRINTABLE.sub("?", text)


class Ended(KeyboardInterrupt):
    """We were told to end; unwinds through everything that has to be put back."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


def end(number: int, _frame: FrameType | None) -> None:
    """Unwind, once: make, timeout and a terminal all tell us more than once."""
    for other in ENDING:
        signal.signal(other, lambda _number, _frame: None)
    raise Ended(number)


def heed_signals() -> None:
    """Turn the signals that end us into Ended, but for those a caller has us ignore."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)


def main_guard(main: Callable[[], int]) -> None:
    """Run a command's main: one line for an expected error, never a traceback.

    A command without argparse answers --help with the text at the top of its file.
    """
    heed_signals()
    command = sys.modules["__main__"]
    asked = {"-h", "--help"} & set(sys.argv[1:]) and not hasattr(command, "argparse")
    try:
        if asked:
            print((command.__doc__ or "").strip(), flush=True)
        status = 0 if asked else main()
    except (ToolError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        status = 2
    except Ended as error:
        print(f"error: ended by {error}", file=sys.stderr)
        status = error.status
    sys.exit(status)
