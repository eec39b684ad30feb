# SPDX-License-Identifier: GPL-2.0-only
"""A decision about a rollout: how much of the fleet takes part, or halt; signed, one file.

The first line is the decision as JSON; below stands an SSH signature of that line, as
`ssh-keygen -Y sign` makes it (OpenSSH 8.1 and later, PROTOCOL.sshsig).
"""

import json
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from livemmctl.ab.journal import number
from livemmctl.ab.model import Experiment
from livemmctl.errors import CtlError, Exit, UsageError, os_errors, os_words

#: Keeps a signature that was made for something else from being taken for ours.
NAMESPACE = "livemm-rollout"
#: Who signs, in the file of allowed signers.
SIGNER = "livemm-rollout"
#: A decision is some hundred bytes, and a signature some thousand.
FILE_MAX_BYTES = 1 << 16
#: Leaves room for the signature of the largest key.
LINE_MAX_CHARACTERS = FILE_MAX_BYTES // 2
KEYGEN_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Decision:
    experiment: str
    #: Grows with each decision that differs from the one before.
    serial: int
    #: So much of the fleet takes part.
    percent: float
    #: Every host goes to stock, for good.
    halt: bool
    reason: str
    #: When it was said, last; in seconds since 1970.
    at_s: float
    #: When the percentage was last raised.
    since_s: float
    #: Whose hosts take part at `percent`, where kernels come one after the other; hosts of kernels
    #: before take part at the last step's.
    kernel: str = ""

    def line(self) -> str:
        return json.dumps(asdict(self), sort_keys=True) + "\n"


def first_decision(experiment: Experiment, now_s: float) -> Decision:
    """The first step of the ramp: nobody takes part before, so there is nothing to ask.

    A decision that is published before the experiment's start does not shorten the step.
    """
    return Decision(experiment.name, 1, experiment.ramp.percents[0], False, "the first step",
                    now_s, max(now_s, experiment.start_s or 0.0),
                    experiment.ramp.kernels[0] if experiment.ramp.kernels else "")


def parse(text: str) -> Decision:
    """The inverse of Decision.line().  Raises ValueError in words."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("no decision") from None
    if not isinstance(table, dict) or set(table) != set(Decision.__dataclass_fields__):
        raise ValueError("no decision, or one of another version")
    numbers = {key: number(table[key]) for key in ("percent", "at_s", "since_s")}
    serial, halt = table["serial"], table["halt"]
    if (any(value is None for value in numbers.values()) or isinstance(serial, bool)
            or not isinstance(serial, int) or not isinstance(halt, bool)
            or not all(isinstance(table[key], str) for key in ("experiment", "reason", "kernel"))):
        raise ValueError("a decision with a value of the wrong kind")
    percent, at_s, since_s = (value or 0.0 for value in numbers.values())
    if not 0 <= percent <= 100 or serial < 1:
        raise ValueError("a decision that is out of range")
    return Decision(table["experiment"], serial, percent, halt, table["reason"], at_s, since_s,
                    table["kernel"])


def _keygen(words: list[str], line: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", "-Y", *words], input=line, capture_output=True,
                              timeout=KEYGEN_TIMEOUT_S)
    except FileNotFoundError:
        raise CtlError("ssh-keygen is not installed", Exit.FAILED,
                       "apt install openssh-client") from None
    except subprocess.TimeoutExpired:
        raise CtlError("ssh-keygen did not end in time", Exit.TIMEOUT) from None
    except OSError as error:
        raise CtlError(f"cannot run ssh-keygen: {os_words(error)}") from None


def signed(decision: Decision, key: Path) -> str:
    """The file's text; `key` is a private SSH key.  Raises CtlError."""
    line = decision.line()
    if len(line) > LINE_MAX_CHARACTERS:
        raise UsageError("the reason is too long for a decision that hosts read")
    done = _keygen(["sign", "-f", str(key), "-n", NAMESPACE], line.encode())
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise CtlError(f"{key}: cannot sign: {words[-1] if words else 'no reason given'}")
    return line + done.stdout.decode()


def verified(data: bytes, signers: Path) -> Decision:
    """What a file decides, if one of the allowed signers signed it.  Raises ValueError in words."""
    line, newline, signature = data.partition(b"\n")
    if len(data) > FILE_MAX_BYTES or not newline:
        raise ValueError("no decision")
    try:
        with os_errors(f"cannot read {signers}"):
            signers.open("rb").close()
        with (os_errors("cannot keep the signature for ssh-keygen"),
              tempfile.NamedTemporaryFile(prefix="livemm-", suffix=".sig") as file):
            file.write(signature)
            file.flush()
            done = _keygen(["verify", "-f", str(signers), "-I", SIGNER, "-n", NAMESPACE,
                            "-s", file.name], line + newline)
    except CtlError as error:
        raise ValueError(error.message) from None
    if done.returncode:
        raise ValueError(f"the signature is not of {SIGNER} in {signers}")
    return parse(line.decode(errors="replace"))
