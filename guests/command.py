# SPDX-License-Identifier: GPL-2.0-only
"""Run a program, keep its output in a file, say in one line what failed."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from guests.report import ToolError


def tail(text: str, lines: int = 15) -> str:
    """The last lines of a long output."""
    return "\n".join(text.rstrip().splitlines()[-lines:])


def bound(argv: Sequence[str]) -> list[str]:
    """The same command, killed when we die, however we die."""
    return ["setpriv", "--pdeathsig", "KILL", *argv]


@contextmanager
def ended_with_us(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Stop the program when the block is left by an exception."""
    try:
        yield process
    except BaseException:
        # Some time, in which the program ends what it has started.
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise


def call(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 3600,
    check: bool = True,
) -> tuple[int, str]:
    """Run argv with stdin closed; return its status and joined output.

    With `check`, a status other than 0 is a ToolError with the last lines.
    """
    words = [str(word) for word in argv]
    try:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C", **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        with process, ended_with_us(process):
            output, _ = process.communicate(timeout=timeout)
    except FileNotFoundError as error:
        raise ToolError(f"{words[0]}: not installed; run `make setup`") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{words[0]}: not done after {timeout:.0f} s") from error
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(output, encoding="utf-8")
    if check and process.returncode != 0:
        raise ToolError(f"{' '.join(words)}: status {process.returncode}\n{tail(output)}")
    return process.returncode, output


def complaint(argv: Sequence[str | Path], *, log: Path, cwd: Path | None = None,
              timeout: float = 3600) -> str:
    """Run argv as call() does; return the last lines of a program that failed, or ""."""
    status, text = call(argv, cwd=cwd, log=log, timeout=timeout, check=False)
    return "" if status == 0 else tail(text, 40) or f"status {status}"
