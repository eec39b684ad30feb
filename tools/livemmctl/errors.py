# SPDX-License-Identifier: GPL-2.0-only
"""What can go wrong, as one line for people and one number for scripts."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command; part of the interface, so none is ever reused."""

    OK = 0
    #: Something on the host failed: a file, a command, a full disk; `doctor` found a fault.
    FAILED = 1
    #: The command line, or a file that it names, is wrong.
    USAGE = 2
    #: The kernel refused; the reason is its own, and nothing has changed.
    REFUSED = 3
    #: livemm is not loaded.
    NOT_LOADED = 4
    #: This kernel, or this state of it, cannot do it.
    UNSUPPORTED = 5
    #: The host is not as the profile says.
    DRIFT = 6
    #: Not done in the time given; the message says what is left as it is.
    TIMEOUT = 7
    #: Not allowed: not root, or closed by lockdown.
    DENIED = 8
    #: Done in part; the message says which.
    PARTIAL = 9
    #: Ended by Ctrl-C.
    INTERRUPTED = 130


#: What each code means, for --help and the man page.
MEANING: dict[Exit, str] = {
    Exit.OK: "done",
    Exit.FAILED: "something on the host failed, or doctor found a fault",
    Exit.USAGE: "the command line, or a file that it names, is wrong",
    Exit.REFUSED: "the kernel refused, and nothing has changed",
    Exit.NOT_LOADED: "livemm is not loaded",
    Exit.UNSUPPORTED: "this kernel does not support what was asked for",
    Exit.DRIFT: "the host is not as the profile says",
    Exit.TIMEOUT: "not done in the time given; the error says what is left",
    Exit.DENIED: "not root, or closed by lockdown",
    Exit.PARTIAL: "done in part; the error says which part",
    Exit.INTERRUPTED: "ended by Ctrl-C",
}


class CtlError(Exception):
    """An expected failure.

    `message` is one line that says what is wrong; `hint`, if any, what to do next;
    `status` is the exit code.
    """

    def __init__(
        self, message: str, status: int = Exit.FAILED, hint: str | None = None
    ) -> None:
        # Whatever a file or the kernel said, it is one line here.
        self.message = " ".join(message.split())
        self.status = int(status)
        self.hint = hint
        super().__init__(self.message)


def os_words(error: OSError) -> str:
    """The system's words for an error, without number or path."""
    return (error.strerror or type(error).__name__).lower()
