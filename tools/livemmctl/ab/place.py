# SPDX-License-Identifier: GPL-2.0-only
"""What a runner leaves in /run/livemm: that it is there, and which arm the host is in.

`arm.json` is what `livemmctl export` makes the arm's metric of.  `ab.lock` is held by
the runner for as long as it lives; `ab.json` says which runner that is.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from livemmctl.errors import CtlError, os_errors
from livemmctl.files import lock_file, replace_on
from livemmctl.host import Host

FOLDER = "/run/livemm"
ARM = f"{FOLDER}/arm.json"
RUNNER = f"{FOLDER}/ab.json"
LOCK = f"{FOLDER}/ab.lock"
#: So many seconds a runner tries to take the lock, which `ab status` holds while it looks.
LOCK_S = 0.4


@dataclass(frozen=True)
class Running:
    """A runner, as it says of itself."""

    pid: int
    experiment: str
    file: str
    journal: str


@dataclass(frozen=True)
class Place:
    host: Host

    @contextlib.contextmanager
    def taken(self, running: Running) -> Iterator[None]:
        """Be the host's only runner for a while.  Raises CtlError if there is another."""
        path = self.host.path(LOCK)
        with os_errors(f"cannot use {path}", hint="run the command as root"):
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            lock_file(lock, LOCK_S)
        except OSError:
            os.close(lock)
            raise CtlError("another experiment is running on this host",
                           hint="livemmctl ab status") from None
        # What a runner that died has left names a process that may be anybody's by now.
        self.leave()
        try:
            replace_on(self.host, RUNNER, json.dumps(asdict(running)) + "\n")
            yield
        finally:
            self.leave()
            os.close(lock)

    def leave(self) -> None:
        for name in (ARM, RUNNER):
            with contextlib.suppress(OSError):
                self.host.path(name).unlink()

    def show_arm(self, experiment: str, arm: str, kernel: str = "") -> None:
        """Say which arm the host was put in, whether or not it could be applied.

        `kernel` is given where kernels take their steps one after the other.
        """
        text = json.dumps({"experiment": experiment, "arm": arm, "kernel": kernel})
        replace_on(self.host, ARM, text + "\n")

    def runner(self) -> tuple[Running | None, bool]:
        """The last runner that said so, and whether it lives."""
        try:
            table = json.loads(self.host.read_or(RUNNER, "null"))
            running = Running(int(table["pid"]), str(table["experiment"]),
                              str(table["file"]), str(table["journal"]))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return None, False
        # No process: a signal to such a number goes to many.
        if running.pid <= 0:
            return None, False
        try:
            lock = os.open(self.host.path(LOCK), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return running, False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return running, True
        finally:
            os.close(lock)
        return running, False
