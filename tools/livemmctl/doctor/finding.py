# SPDX-License-Identifier: GPL-2.0-only
"""What a check finds."""

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from livemmctl.control import Hook, ModuleControl, is_loaded, open_control
from livemmctl.errors import CtlError
from livemmctl.host import Host, Ran, version_key

#: livemm is in no archive of Debian.
INSTALL = "install the package livemm-dkms, or run make install in a clone of livemm"


@dataclass(frozen=True)
class Finding:
    """One row: ok; warn, livemm works, but less or not as one may think; fail, it does not."""

    state: str
    #: What was seen.
    seen: str
    #: What to do; empty where there is nothing to.
    todo: str = ""


def ok(seen: str) -> Finding:
    return Finding("ok", seen)


def warn(seen: str, todo: str) -> Finding:
    """It works, with a limit that one should know of."""
    return Finding("warn", seen, todo)


def fail(seen: str, todo: str) -> Finding:
    """livemm, or a part of livemm, cannot work."""
    return Finding("fail", seen, todo)


@dataclass
class Scene:
    """The host, with what several checks ask it."""

    host: Host
    _ran: dict[tuple[str, ...], Ran | None] = field(default_factory=dict)

    def line(self, name: str) -> str:
        """A file's text without blanks at its ends; empty where it cannot be read."""
        return self.host.read_or(name).strip()

    def run(self, *argv: str) -> Ran | None:
        """A command, run once; None where it is not to be had."""
        if argv not in self._ran:
            try:
                self._ran[argv] = self.host.run(list(argv), 20)
            except CtlError:
                self._ran[argv] = None
        return self._ran[argv]

    def modinfo(self, field: str) -> str:
        """What the installed module says of itself; empty where it does not."""
        ran = self.run("modinfo", "-F", field, "livemm")
        return ran.out.strip() if ran and not ran.status else ""

    @cached_property
    def release(self) -> str:
        return self.host.release()

    @cached_property
    def loaded(self) -> bool:
        return is_loaded(self.host)

    @cached_property
    def control(self) -> ModuleControl | None:
        with contextlib.suppress(CtlError):
            return open_control(self.host)
        return None

    def mode(self, policy: str) -> str:
        """The policy's mode, on or off; empty where it cannot be seen."""
        with contextlib.suppress(CtlError):
            rows = self.control.policies() if self.control else []
            return next((row.mode for row in rows if row.name == policy), "")
        return ""

    @cached_property
    def hooks(self) -> list[Hook]:
        """Its hooks, none where they cannot be seen."""
        with contextlib.suppress(CtlError):
            return self.control.hooks() if self.control else []
        return []

    @cached_property
    def lockdown(self) -> str:
        """none, integrity or confidentiality; empty for a kernel without it."""
        found = re.search(r"\[(\w+)\]", self.line("/sys/kernel/security/lockdown"))
        return found[1] if found else ""

    @cached_property
    def dkms_conf(self) -> dict[str, str]:
        """Settings of the newest installed dkms.conf of livemm."""
        folders = [name for name in self.host.names("/usr/src") if name.startswith("livemm-")]
        newest = max(folders, key=version_key, default="")
        text = self.line(f"/usr/src/{newest}/dkms.conf") if newest else ""
        return dict(re.findall(r'^(\w+)="([^"\n]*)"$', text, re.M))


Check = Callable[[Scene], Finding]
