# SPDX-License-Identifier: GPL-2.0-only
"""Units and packaging: what they call is there, and nothing is switched by itself."""

import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import click
import pytest
from knob_tables import TOOLS
from livemmctl.ab.runner import ended_by
from livemmctl.cli import cli

UNITS = sorted((TOOLS / "systemd").glob("livemm-*.*"))
SCRIPTS = [path for path in sorted((TOOLS / "debian").iterdir())
           if path.name.endswith((".postinst", ".prerm", ".preinst", ".postrm"))]


def calls(text: str) -> list[list[str]]:
    """Command lines of livemmctl in a unit."""
    lines = re.findall(r"^Exec\w+=-?/usr/bin/livemmctl (.*)$", text, re.M)
    return [shlex.split(line) for line in lines]


def test_there_are_units() -> None:
    names = {path.name for path in UNITS}
    assert names == {"livemm-profile.service", "livemm-export.service", "livemm-export.timer",
                     "livemm-ab@.service"}


def test_systemd_has_nothing_to_say(tmp_path: Path) -> None:
    assert shutil.which("systemd-analyze"), "systemd is not installed: apt install systemd"
    for path in UNITS:
        # The command need not be installed here.
        text = path.read_text(encoding="utf-8").replace("/usr/bin/livemmctl",
                                                        f"{TOOLS}/bin/livemmctl")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    names = [tmp_path / path.name.replace("@.", "@trial.") for path in UNITS]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *names],
                          text=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_ends_a_run_is_what_its_unit_takes_it_for() -> None:
    text = (TOOLS / "systemd/livemm-ab@.service").read_text(encoding="utf-8")
    assert f"SuccessExitStatus={ended_by(signal.SIGTERM).status:d}\n" in text
    # What a guardrail ended is not begun again, what was killed is.
    assert "Restart=on-abnormal\n" in text
    assert "ConditionKernelCommandLine=!livemm.off=1\n" in text


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_call_what_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for words in calls(text):
        command: click.Command = cli
        while isinstance(command, click.Group):
            found = command.get_command(click.Context(command), words.pop(0))
            assert found is not None
            command = found
        # Parses, and has no argument that is missing.
        command.make_context("x", words)
    assert bool(calls(text)) == path.name.endswith(".service")
    assert re.search(r"^\[Unit\]$", text, re.M)


def test_the_profile_keeps_out_of_a_boot_that_went_wrong() -> None:
    text = (TOOLS / "systemd/livemm-profile.service").read_text(encoding="utf-8")
    assert "ConditionKernelCommandLine=!livemm.off=1\n" in text
    assert "ConditionPathExists=/etc/livemm/livemm.toml\n" in text


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_maintainer_script_touches_the_module(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(modprobe|rmmod|insmod|livemmctl|systemctl|sysctl)\b", text)


def test_there_are_maintainer_scripts() -> None:
    assert [path.name for path in SCRIPTS] == ["livemm-tools.postrm"]


def test_units_are_shipped_disabled() -> None:
    rules = (TOOLS / "debian/rules").read_text(encoding="utf-8")
    for word in ("--no-enable", "--no-start", "--no-stop-on-upgrade"):
        assert word in rules
