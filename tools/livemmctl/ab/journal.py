# SPDX-License-Identifier: GPL-2.0-only
"""The journal: one JSON object a line, on the disk before anything else happens.

Every line has `v` (of this form), `t` (seconds since 1970), `type`, `experiment` and
`host`, so that journals of many hosts can be put together with cat.  The types:

start    a run begins: digest, mode, arm (host mode), strata, boot, kernel, module, found,
         joined (counts that guardrails compare with)
resume   a run goes on after its runner died or was ended; as start
switch   an arm is about to be switched to: arm
apply    it was, or was refused: arm, ok, reason
sample   numbers: phase (baseline or run), arm, state (arm or stock), block and washed
         (switchback), m (seconds of a clock that never jumps), values
block    a block of time is over: block, arm, complete, reason
guard    a guardrail was passed: guard, seen, limit, arm
gate     of a rollout: serial, percent, kernel (of whose hosts so many take part), words; opens
         (a decision lets the host in), heard (when the host had news), quiet (no news for longer
         than the lease), halt (for good)
drift    somebody else, or the lease, changed a policy: reason
stop     the runner ended before the experiment did; it can be taken up again: reason
end      the experiment is over on this host: reason
"""

import fcntl
import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from livemmctl.errors import CtlError, Exit, UsageError, one_line, os_errors
from livemmctl.files import sync_folder

VERSION = 1
#: A line that is longer is none of ours.
LINE_MAX_BYTES = 1 << 20
#: The reason of an end that nothing brought about before its time.
TIME_OVER = "its time is over"

Record = dict[str, Any]


class Journal:
    """A journal open for writing, by this process alone."""

    def __init__(self, path: Path, experiment: str, host: str) -> None:
        """Open or make the file.  Raises CtlError, also when another runner has it."""
        self.path = path
        self._common = {"experiment": experiment, "host": host}
        # A line was begun, and not ended.
        self._is_torn = False
        with os_errors(f"cannot open {path}"):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                                 | os.O_NONBLOCK, 0o644)
        try:
            with os_errors(f"cannot use {path}"):
                self._begin()
        except CtlError:
            self.close()
            raise

    def _begin(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise UsageError(f"{self.path}: a journal is a regular file")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CtlError(f"{self.path}: another runner is writing to the journal",
                           hint="livemmctl ab status") from None
        size = os.fstat(self._file).st_size
        # A crash may have left half a line: it is not to swallow the next one.
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")
        sync_folder(self.path.parent)

    def write(self, wall_s: float, kind: str, **fields: Any) -> None:
        """Add a line and wait until it is on the disk.  Raises CtlError."""
        record = {"v": VERSION, "t": round(wall_s, 3), "type": kind, **self._common, **fields}
        data = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if self._is_torn:
            data = b"\n" + data
        with os_errors(f"cannot write {self.path}"):
            self._is_torn = True
            if os.write(self._file, data) != len(data):
                raise OSError(28, "no space left on device")
            self._is_torn = False
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


@dataclass
class Lines:
    """What was read, and how much could not be."""

    records: list[Record] = field(default_factory=list)
    #: Lines that are no record of ours, torn by a crash for instance.
    unreadable: int = 0


def _reject(word: str) -> float:
    raise ValueError(word)


def parse_line(line: bytes) -> Record | None:
    """A record, or None for what is none."""
    if len(line) > LINE_MAX_BYTES:
        return None
    try:
        record = json.loads(line, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("v") != VERSION:
        return None
    texts = (record.get(key) for key in ("type", "experiment", "host"))
    if not all(isinstance(text, str) for text in texts):
        return None
    return _clean(record) if number(record.get("t")) is not None else None


def _clean(value: Any) -> Any:
    """The same without what no terminal should be sent: another host has written the texts."""
    if isinstance(value, str):
        return value if value.isprintable() else one_line(value)
    if isinstance(value, dict):
        # Keys are looked up by the experiment's own texts.
        return {key: _clean(found) for key, found in value.items()}
    return [_clean(found) for found in value] if isinstance(value, list) else value


def number(value: object) -> float | None:
    """A finite number as a float, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def read_journal(path: Path, lines: Lines | None = None) -> Lines:
    """All records of a file, added to `lines`.  Raises CtlError if it cannot be read."""
    lines = Lines() if lines is None else lines
    with os_errors(f"cannot read {path}", Exit.USAGE), path.open("rb") as file:
        while line := file.readline(LINE_MAX_BYTES + 1):
            record = parse_line(line)
            if record is not None:
                lines.records.append(record)
            elif line.strip():
                lines.unreadable += 1
    return lines


@dataclass(frozen=True)
class Past:
    """What a journal says about earlier runners of the same experiment on this host."""

    #: The first start's record, which has what was found on the host.
    start: Mapping[str, Any]
    #: The last record of all.
    last: Mapping[str, Any]
    #: Why the experiment is over here; empty: it is not.
    ended: str
    #: The guardrail that was passed; empty: none.
    tripped: str
    #: The last block that was begun; -1: none.
    block: int
    #: The boot that the last runner was of.
    boot: str = ""
    #: The arm that was on, or about to be, where its records break off; empty: none was.
    cut_arm: str = ""
    #: Counts of the host when the last runner took it; not what came of its arm.
    joined: Mapping[str, Any] = field(default_factory=dict)
    #: Of a rollout: the last decision believed, when the host last had news, and when a
    #: decision let the host in (None: none has).
    serial: int = 0
    percent: float = 0.0
    heard_s: float = 0.0
    opened_s: float | None = None


def past_of(
    records: list[Record], experiment: str, host: str, kernel: str = ""
) -> Past | None:
    """The past of a run; None where there is none.

    Of a rollout whose kernels come one after the other, what let the host in under another kernel
    than `kernel` does not count.

    Raises CtlError, USAGE, if the journal is about another host or experiment.
    """
    for record in records:
        if record["experiment"] != experiment or record["host"] != host:
            raise UsageError(f"this journal is of experiment {record['experiment']!r}"
                             f" on host {record['host'][:8]}",
                             "give each experiment on each host a file of its own")
    starts = [record for record in records if record["type"] == "start"]
    if not starts:
        return None
    ends = [str(record.get("reason", "")) for record in records if record["type"] == "end"]
    guards = [str(record.get("guard", "")) for record in records if record["type"] == "guard"]
    blocks = [record["block"] for record in records if isinstance(record.get("block"), int)]
    return Past(
        start=starts[0], last=records[-1], ended=ends[-1] if ends else _halted(records),
        tripped=guards[0] if guards else "", block=max(blocks, default=-1),
        **_last_run(records), **_rollout(records, kernel),
    )


def _halted(records: list[Record]) -> str:
    """Why a rollout was halted, where the runner was killed before it wrote the end."""
    words = [str(record.get("words", "")) for record in records
             if record["type"] == "gate" and record.get("halt") is True]
    return f"halted: {words[-1]}" if words else ""


def _rollout(records: list[Record], kernel: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        if record["type"] != "gate":
            continue
        serial = record.get("serial")
        if isinstance(serial, int):
            found["serial"] = max(serial, found.get("serial", 0))
        here = record.get("kernel", "") == kernel
        for key, name in (("percent", "percent"), ("heard", "heard_s")):
            value = number(record.get(key))
            if value is not None and (here or key != "percent"):
                found[name] = max(value, found.get(name, 0.0))
        if here and record.get("opens") is True:
            found.setdefault("opened_s", float(record["t"]))
    return found


def _last_run(records: list[Record]) -> dict[str, Any]:
    boot = arm = ""
    joined: object = None
    for record in records:
        kind = record["type"]
        if kind in ("start", "resume"):
            boot, arm = str(record.get("boot", "")), ""
            joined = record.get("joined")
        elif kind == "switch":
            arm = str(record.get("arm", ""))
        elif kind == "apply":
            arm = str(record.get("arm", "")) if record.get("ok") is True else ""
        elif kind in ("guard", "stop", "end"):
            arm = ""
    return {"boot": boot, "cut_arm": arm, "joined": joined if isinstance(joined, dict) else {}}
