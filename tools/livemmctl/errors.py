# SPDX-License-Identifier: GPL-2.0-only
"""What can go wrong, as one line for people and one number for scripts."""

import contextlib
from collections.abc import Iterator
from enum import IntEnum
from typing import Self


class Exit(IntEnum):
    """Exit codes of every command; part of the interface, so none is ever reused."""

    #: For --help and the man page.
    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        made = int.__new__(cls, code)
        made._value_ = code
        made.meaning = meaning
        return made

    OK = 0, "done"
    FAILED = 1, "something on the host failed, or doctor found a fault"
    USAGE = 2, "the command line, a profile or an experiment is wrong"
    #: The reason is the kernel's own.
    REFUSED = 3, "the kernel refused; status shows if a policy went off"
    NOT_LOADED = 4, "livemm is not loaded"
    UNSUPPORTED = 5, "what was asked for is not supported here"
    DRIFT = 6, "the host is not as the profile says"
    TIMEOUT = 7, "not done in the time given; the error says what is left"
    DENIED = 8, "not root, or closed by lockdown"
    PARTIAL = 9, "done in part; the error says which part"
    INTERRUPTED = 130, "ended by Ctrl-C"


def one_line(text: str) -> str:
    """A text on one line, in which what no terminal should be sent is escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode()
                   for char in " ".join(text.split()))


class CtlError(Exception):
    """An expected failure.

    `message` is one line that says what is wrong; `hint`, if any, what to do next;
    `status` is the exit code.
    """

    def __init__(self, message: str, status: Exit = Exit.FAILED, hint: str | None = None) -> None:
        # A file, the kernel or a user may have said anything.
        self.message = one_line(message)
        self.status = status
        self.hint = hint
        super().__init__(self.message)


class UsageError(CtlError):
    """The command line, or a file that it names, is wrong."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, Exit.USAGE, hint)


def os_words(error: OSError) -> str:
    """The system's words for an error, without number or path."""
    return (error.strerror or type(error).__name__).lower()


@contextlib.contextmanager
def os_errors(what: str, status: Exit = Exit.FAILED, hint: str | None = None) -> Iterator[None]:
    """Raise CtlError for an OSError inside; `what` could not be done, in words."""
    try:
        yield
    except OSError as error:
        raise CtlError(f"{what}: {os_words(error)}", status, hint) from None
