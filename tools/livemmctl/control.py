# SPDX-License-Identifier: GPL-2.0-only
"""The module's control contract: its parameters and its debugfs files.

Settings and the lease always go through the module parameters: they work with and
without lockdown, and `policies` alone takes several policies all or nothing.  What
only debugfs has (counters, state, hooks) is read there; lockdown leaves files that
cannot be written readable.
"""

import errno
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from livemmctl.errors import CtlError, Exit, UsageError, os_words
from livemmctl.host import Host, file_error, number_of

MODULE = "/sys/module/livemm"
PARAMETERS = f"{MODULE}/parameters"
#: Of the names and words of the module's files: LMM_ABI of module/livemm.h.
ABI = "3"
DEBUGFS = "/sys/kernel/debug/livemm"
LEASE_MAX_S = 604800
#: The kernel takes a parameter in one write of less than a page.
PARAMETER_MAX_BYTES = 4095

_NAME = re.compile(r"[a-z0-9_]+\Z")
# What the grammar of the contract uses itself, and what no text may hold.
_UNFIT = re.compile(r"[\s,;\x00-\x1f\x7f]|[^\x00-\x7f]")

#: Policy to knob to value.
Settings = Mapping[str, Mapping[str, str]]
Knobs = dict[str, dict[str, str]]

#: States of a policy that may pass by themselves, and that `enabled` does not show.  A policy
#: in one of these states is not on.
UNSETTLED = {
    "waiting": "to come on when a livepatch is in force",
    "loading": "being switched on",
    "leaving": "off; the kernel's values are still being put back",
}


@dataclass(frozen=True)
class PolicyStatus:
    """A row of `status`; empty texts mean none.

    `state` is on, off, unsupported, or one of UNSETTLED.
    """

    name: str
    state: str
    mode: str
    reason: str

    def words(self) -> str:
        """The state of the policy, and the reason, for people."""
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.name} is {UNSETTLED.get(self.state, self.state)}{why}"


@dataclass(frozen=True)
class Hook:
    """A row of `hooks`; an empty reason means none."""

    name: str
    mechanism: str
    symbol: str
    #: armed, idle or unavailable
    state: str
    hits: int
    missed: int
    reason: str


class Reach(StrEnum):
    OPEN = "open"
    #: Lockdown: only files that cannot be written can be read.
    READ_ONLY = "read-only"
    #: Not mounted, or not in this kernel.
    ABSENT = "absent"


def settings_text(settings: Settings) -> str:
    """The form that the parameter `policies` takes.

    Raises CtlError, USAGE, for what could not be one word of it.
    """
    sections = []
    for policy, knobs in settings.items():
        if not _NAME.match(policy):
            raise UsageError(f"{policy!r}: not a policy's name")
        words = []
        for key, value in knobs.items():
            if not _NAME.match(key):
                raise UsageError(f"{policy}/{key}: not a knob's name")
            if _UNFIT.search(value):
                raise UsageError(
                    f"{policy}/{key}: {value!r}: a blank, comma, semicolon, or a character"
                    " that is not ASCII, in it"
                )
            words.append(f"{key}={value}")
        sections.append(f"{policy}:{','.join(words)}")
    return ";".join(sections)


def parse_settings(text: str) -> Knobs:
    """What the parameter `policies` shows."""
    found: Knobs = {}
    for section in text.strip().split(";"):
        name, colon, line = section.partition(":")
        if colon:
            found[name.strip()] = parse_line(line)
    return found


def parse_line(line: str) -> dict[str, str]:
    """`key=value` words with blanks or commas between."""
    words = (word.partition("=") for word in re.split(r"[\s,]+", line) if "=" in word)
    return {key: value for key, _, value in words}


def on_in(settings: Settings) -> list[str]:
    """The policies that are on."""
    return [policy for policy, knobs in settings.items() if knobs.get("enabled") == "1"]


def parse_status(text: str) -> list[PolicyStatus]:
    rows = []
    for line in text.splitlines():
        fields = line.split(None, 3) + ["-"] * 4
        if line.strip():
            mode, reason = ("" if field == "-" else field for field in fields[2:4])
            rows.append(PolicyStatus(fields[0], fields[1], mode, reason))
    return rows


def parse_hooks(text: str) -> list[Hook]:
    """The file `hooks`; a row that is not one is passed over."""
    rows = []
    for line in text.splitlines():
        fields = line.split(None, 6)
        numbers = [number_of(field) for field in fields[4:6]]
        if len(numbers) < 2 or numbers[0] is None or numbers[1] is None:
            continue
        reason = fields[6] if len(fields) > 6 and fields[6] != "-" else ""
        name, mechanism, symbol, state = fields[:4]
        rows.append(Hook(name, mechanism, symbol, state, numbers[0], numbers[1], reason))
    return rows


def parse_counters(text: str) -> dict[str, int]:
    """The file `counters`, or vmstat; a line that is not a name and a number is passed over."""
    lines = (line.split() for line in text.splitlines())
    return {fields[0]: number for fields in lines
            if len(fields) == 2 and (number := number_of(fields[1])) is not None}


#: What to do about a refusal, by its number.
_HINTS = {
    errno.EBUSY: "a livepatch is in the way: livemmctl hooks, livemmctl doctor",
    errno.ECANCELED: "somebody switched the policy off, or the lease ran out",
}


def parse_held(text: str) -> dict[tuple[str, str], int]:
    """What a policy's `state` says is held: pages, by node and zone."""
    return {(node, zone): int(pages) for node, zone, pages in
            re.findall(r"^# held (\d{1,4}) (\w+) (\d{1,15})$", text, re.M)}


def refusal(what: str, error: OSError, reason: str) -> CtlError:
    """The error for a write to a parameter; `reason` is the kernel's, or empty."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return file_error("write", f"{PARAMETERS}/{what}", error)
    if error.errno == errno.ENODEV:
        return CtlError("livemm is being loaded or unloaded", Exit.NOT_LOADED)
    words = reason or f"the kernel refused {what}: {os_words(error)}"
    if error.errno == errno.EOPNOTSUPP:
        return CtlError(words, Exit.UNSUPPORTED, "see: livemmctl status, livemmctl hooks")
    return CtlError(words, Exit.REFUSED, _HINTS.get(error.errno or 0))


def unknown_knob(policy: str, key: str, knobs: Iterable[str], where: str = "") -> CtlError:
    """The error for a knob that the policy does not have; `where` names a file."""
    place = f"{where}: " if where else ""
    return UsageError(f"{place}{policy}/{key}: no such knob; there are: {', '.join(knobs)}")


class ModuleControl:
    """What an admin, or an experiment, can do with the loaded module."""

    def __init__(self, host: Host, reach: Reach) -> None:
        self.host = host
        #: How much of debugfs can be used.
        self.reach = reach

    def _debugfs(self, name: str) -> str:
        """A debugfs file.  Raises CtlError, UNSUPPORTED where debugfs is closed."""
        path = f"{DEBUGFS}/{name}"
        try:
            return self.host.fetch(path)
        except OSError as error:
            if self.reach is Reach.ABSENT:
                raise CtlError(f"{name} is only in debugfs, which is not there", Exit.UNSUPPORTED,
                               "mount -t debugfs none /sys/kernel/debug") from None
            raise file_error("read", path, error) from None

    def settings(self) -> Knobs:
        """All knobs of all policies, `enabled` first, in the module's order."""
        return parse_settings(self.host.read(f"{PARAMETERS}/policies"))

    def policies(self) -> list[PolicyStatus]:
        if self.reach is not Reach.ABSENT:
            return parse_status(self._debugfs("status"))
        # Without debugfs, only the parameter tells.
        settings = self.settings()
        return [PolicyStatus(name, "on" if name in on_in(settings) else "off",
                             knobs.get("mode", ""), "") for name, knobs in settings.items()]

    def get(self, policy: str) -> dict[str, str]:
        every = self.settings()
        self.require(policy, every)
        return every[policy]

    @staticmethod
    def require(policy: str, known: Mapping[str, object]) -> None:
        """Raise CtlError, USAGE, unless `known` has that policy."""
        if policy not in known:
            raise UsageError(f"{policy}: no such policy; there are: {', '.join(known)}")

    def apply(self, settings: Settings) -> None:
        """Change settings of several policies, all or nothing.

        `settings` maps a policy to those of its knobs (and `enabled`) that are to
        change; others stay.  Raises CtlError with the kernel's reason: REFUSED,
        UNSUPPORTED or DENIED.  A change that only switches policies off takes effect at once; a
        policy that needs a livepatch may wait afterwards: see UNSETTLED, and awaiting.apply().
        """
        text = settings_text(settings)
        if len(text) >= PARAMETER_MAX_BYTES:
            raise UsageError(
                f"settings of {len(text)} characters; the kernel takes {PARAMETER_MAX_BYTES - 1}"
            )
        if text:
            self._set("policies", text)

    def _set(self, parameter: str, text: str) -> None:
        try:
            self.host.store(f"{PARAMETERS}/{parameter}", text + "\n")
        except OSError as error:
            raise refusal(parameter, error, self.last_error()) from None

    def counters(self, policy: str) -> dict[str, int]:
        """Counters of a policy; they never fall while the module is loaded."""
        self.require(policy, self.settings())
        return parse_counters(self._debugfs(f"{policy}/counters"))

    def set_lease(self, seconds: int) -> None:
        """Every policy goes off in so many seconds unless renewed; 0 ends the lease."""
        if not 0 <= seconds <= LEASE_MAX_S:
            raise UsageError(f"lease: {seconds}: not in 0..{LEASE_MAX_S}")
        self._set("lease", str(seconds))

    def lease(self) -> int:
        """Seconds left, 0 without a lease."""
        text = self.host.read(f"{PARAMETERS}/lease").strip()
        seconds = number_of(text)
        if seconds is None:
            raise CtlError(f"{PARAMETERS}/lease: not a number of seconds: {text[:40]!r}")
        return seconds

    def last_error(self) -> str:
        """Why the last refused write was refused; empty when none was."""
        return self.host.read_or(f"{PARAMETERS}/last_error").strip()

    def version(self) -> str:
        """The module's version, from debugfs or else from its own record."""
        text = self.host.read_or(f"{DEBUGFS}/version").strip()
        return text or f"livemm {self.host.read_or(f'{MODULE}/version').strip() or 'unknown'}"

    def hooks(self) -> list[Hook]:
        return parse_hooks(self._debugfs("hooks"))

    def state(self, policy: str) -> str:
        self.require(policy, self.settings())
        return self._debugfs(f"{policy}/state")

    def held(self) -> dict[tuple[str, str, str], int]:
        """Pages that policies hold: free, but not in MemFree; by policy, node and zone."""
        return {(policy, *place): pages
                for policy in on_in(self.settings())
                for place, pages in parse_held(self.state(policy)).items()}

    def census(self) -> str:
        """The census of blocks, by whichever policy has one."""
        for policy in self.settings():
            if self.host.exists(f"{DEBUGFS}/{policy}/census"):
                return self._debugfs(f"{policy}/census")
        raise CtlError("this module has no census", Exit.UNSUPPORTED)


def reach_of(host: Host) -> Reach:
    """How much of debugfs can be used."""
    try:
        host.fetch(f"{DEBUGFS}/lease")
    except PermissionError as error:
        # Root may do all but what lockdown forbids; others are refused for who they are.
        return Reach.READ_ONLY if error.errno == errno.EPERM else Reach.OPEN
    except OSError:
        return Reach.ABSENT
    return Reach.OPEN


def is_loaded(host: Host) -> bool:
    return os.path.isdir(host.path(MODULE))


def other_abi(host: Host) -> CtlError | None:
    """The error for a module of another ABI; None for one of ours, or if debugfs is closed."""
    words = host.read_or(f"{DEBUGFS}/version").split()
    if len(words) < 4 or words[3] == ABI:
        return None
    return CtlError(f"{' '.join(words)} is loaded; this livemmctl speaks ABI {ABI} alone",
                    Exit.UNSUPPORTED, "livemmctl unload, then livemmctl load")


def open_control(host: Host) -> ModuleControl:
    """The control of the module on this host.  Raises CtlError, NOT_LOADED or UNSUPPORTED."""
    if not is_loaded(host):
        raise CtlError("livemm is not loaded", Exit.NOT_LOADED, "livemmctl load")
    state = host.read_or(f"{MODULE}/initstate", "live").strip()
    if state != "live":
        raise CtlError(f"livemm is not loaded: it is {state}", Exit.NOT_LOADED, "try again")
    if error := other_abi(host):
        raise error
    return ModuleControl(host, reach_of(host))
