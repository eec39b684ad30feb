# SPDX-License-Identifier: GPL-2.0-only
"""The machine, as files below a root and commands: the only place that touches either.

Tests use a folder made like one (the hidden option --root), or a subclass that answers as the
kernel would.
"""

import contextlib
import errno
import os
import re
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from livemmctl.errors import CtlError, Exit, os_words

#: Nothing that we read is larger; what is, is not what it seems.
READ_MAX_BYTES = 64 << 20
READ_PIECE_BYTES = 64 << 10
#: How long a command that was killed may take to end.
KILLED_S = 1.0


@dataclass(frozen=True)
class Ran:
    status: int
    #: Its standard output.
    out: str
    #: What it said: standard error, or else standard output.
    said: str


@dataclass(frozen=True)
class Host:
    """A machine whose files are below `root`."""

    root: Path = Path("/")

    def path(self, name: str | PurePosixPath) -> Path:
        """Where the absolute path `name` of the machine really is."""
        return self.root / str(name).lstrip("/")

    @property
    def is_real(self) -> bool:
        return self.root == Path("/")

    def _open(self, name: str, flags: int) -> int:
        try:
            return os.open(self.path(name), flags | os.O_CLOEXEC)
        except ValueError:
            # A NUL in the name, which a settings file may hold.
            raise OSError(errno.EINVAL, "not a file name", name) from None

    def fetch(self, name: str) -> str:
        """Text of a file, bytes that are not UTF-8 replaced.  Raises OSError."""
        descriptor = self._open(name, os.O_RDONLY | os.O_NONBLOCK)
        data = bytearray()
        try:
            # A FIFO or a device could keep us for ever.
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", name)
            # In pieces: a sysctl refuses a read that it could not keep in memory.
            while piece := os.read(descriptor, READ_PIECE_BYTES):
                data += piece
                if len(data) > READ_MAX_BYTES:
                    raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
        finally:
            os.close(descriptor)
        return data.decode("utf-8", errors="replace")

    def read(self, name: str) -> str:
        """Text of a file.  Raises CtlError, FAILED or DENIED."""
        try:
            return self.fetch(name)
        except OSError as error:
            raise file_error("read", name, error) from None

    def read_or(self, name: str, default: str = "") -> str:
        """Text of a file, or `default` where it cannot be read for any reason."""
        try:
            return self.fetch(name)
        except OSError:
            return default

    def store(self, name: str, text: str) -> None:
        """Write a file of the kernel's in one write; never makes one.  Raises OSError."""
        data = text.encode("utf-8", errors="surrogateescape")
        descriptor = self._open(name, os.O_WRONLY | os.O_TRUNC)
        try:
            written = os.write(descriptor, data)
        finally:
            os.close(descriptor)
        if written != len(data):
            raise OSError(errno.EIO, "written in part", name)

    def exists(self, name: str) -> bool:
        """Is there such a file or folder, as far as we may see?"""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted; nothing where it cannot be looked into."""
        try:
            return sorted(os.listdir(self.path(folder)))
        except OSError:
            return []

    def run(self, argv: list[str], timeout_s: float = 60.0) -> Ran:
        """Run a command to its end; it cannot ask anything.

        A command that is stuck in the kernel cannot be killed, and is left behind.
        Raises CtlError: FAILED if it is not installed, TIMEOUT.
        """
        if not self.is_real:
            raise CtlError(f"{argv[0]}: commands are not run with --root", Exit.UNSUPPORTED)
        environment = dict(os.environ, LC_ALL="C")
        # Admin tools live in sbin, which su leaves out of PATH.
        environment["PATH"] = environment.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
        try:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=environment,
            )
        except FileNotFoundError:
            raise CtlError(f"{argv[0]} is not installed", Exit.FAILED) from None
        except OSError as error:
            raise CtlError(f"{argv[0]}: {os_words(error)}", Exit.FAILED) from None
        try:
            out, said = child.communicate(timeout=timeout_s)
        except BaseException as error:
            child.kill()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=KILLED_S)
            raise CtlError(f"{argv[0]} did not end within {timeout_s:g} s", Exit.TIMEOUT) from None
        return Ran(child.returncode, out, (said or out).strip())

    def release(self) -> str:
        """The running kernel's release, "unknown" where it is not to be had."""
        said = self.read_or("/proc/sys/kernel/osrelease").strip()
        return said or (os.uname().release if self.is_real else "unknown")

    def user_id(self) -> int:
        """Effective user id: 0 is root."""
        return os.geteuid()


def number_of(text: str) -> int | None:
    """A number of the kernel's, of 64 bits at most; None where the text is none."""
    return int(text) if re.fullmatch(r"\d{1,20}", text, re.A) else None


def version_key(name: str) -> list[int]:
    """By which names are in the order of the versions in them: 0.10 comes after 0.9."""
    return [int(number) for number in re.findall(r"\d{1,9}", name)]


def count_of(ranges: str) -> int | None:
    """How many numbers a kernel's list such as `0-3,8` has; None where the text is none."""
    if not re.fullmatch(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", ranges.strip(), re.A):
        return None
    ends = [part.split("-") for part in ranges.strip().split(",")]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def file_error(verb: str, name: str, error: OSError) -> CtlError:
    """The error for a file that could not be read or written."""
    denied = error.errno in (errno.EACCES, errno.EPERM)
    return CtlError(f"cannot {verb} {name}: {os_words(error)}",
                    Exit.DENIED if denied else Exit.FAILED,
                    "run the command as root" if denied and os.geteuid() != 0 else None)
