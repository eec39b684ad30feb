# SPDX-License-Identifier: GPL-2.0-only
"""Debian's own servers on loopback, each below a folder of its own, gone when a test is.

The packages' services are not used: nothing here runs as a service, or keeps anything.
"""

import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

#: The machine may be busy with guests; who waits so long in vain has found a fault.
PATIENCE_S = 120.0


def promtool(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Prometheus's own judgement; that it is not installed is a failure."""
    found = shutil.which("promtool")
    assert found is not None, "promtool is not installed: apt install prometheus"
    return subprocess.run([found, *words], input=text, text=True, capture_output=True,
                          timeout=PATIENCE_S, check=False)


@dataclass(frozen=True)
class Daemon:
    process: subprocess.Popen[bytes]
    log: Path
    #: HOST:PORT
    address: str

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_for(what: str, condition: Callable[[], bool],
             meanwhile: Callable[[], None] = lambda: time.sleep(0.05)) -> None:
    """Do something again and again until a condition holds; that it never does is a failure."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {PATIENCE_S:.0f} s")
        meanwhile()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


@contextmanager
def _running(argv: list[str], log: Path, address: str, ready: str) -> Iterator[Daemon]:
    """A server, named as its package, once it answers at `ready`.

    With port 0 in `address`, its log tells which port it has.
    """
    if shutil.which(argv[0]) is None:
        pytest.fail(f"{argv[0]} is not installed: apt install {argv[0]}")
    # A test that is killed takes its servers with it.
    argv = ["setpriv", "--pdeathsig=TERM", *argv]
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    made = Daemon(process, log, address)

    def said() -> str:
        return log.read_text(encoding="utf-8", errors="replace")

    def is_ready() -> bool:
        nonlocal made
        if process.poll() is not None:
            pytest.fail(f"{argv[2]} has ended: {said()[-800:]}")
        if made.address.endswith(":0"):
            found = re.search(r'msg="Listening on" address=(\S+)', said())
            if found is None:
                return False
            made = Daemon(process, log, found[1])
        return _answers(made.url + ready)

    try:
        wait_for(argv[2], is_ready)
        yield made
    finally:
        made.end()


def node_exporter(textfiles: Path, log: Path, *more: str) -> AbstractContextManager[Daemon]:
    """node_exporter with the textfile collector alone, unless `more` asks for others."""
    argv = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
            f"--collector.textfile.directory={textfiles}", "--web.listen-address=127.0.0.1:0",
            *more]
    return _running(argv, log, "127.0.0.1:0", "/metrics")


def alertmanager(folder: Path, config: str) -> AbstractContextManager[Daemon]:
    """Alertmanager, alone, with its data in the folder `alerts` below `folder`."""
    file = folder / "alertmanager.yml"
    file.write_text(config, encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    argv = ["prometheus-alertmanager", f"--config.file={file}", f"--storage.path={folder}/alerts",
            f"--web.listen-address={address}", "--cluster.listen-address="]
    return _running(argv, folder / "alertmanager.log", address, "/-/ready")


def prometheus(folder: Path, config: str, *more: str) -> AbstractContextManager[Daemon]:
    """Prometheus with its data in the folder `data` below `folder`."""
    file = folder / "prometheus.yml"
    file.write_text(config, encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    argv = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={address}", *more]
    return _running(argv, folder / "log", address, "/-/ready")
