# SPDX-License-Identifier: GPL-2.0-only
"""Man page and completions, made from the text of --help."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import knob_tables
import pytest
from fake_tree import FakeHost, policy_order
from livemmctl import docs
from livemmctl.cli import cli
from livemmctl.errors import Exit

TOOLS = knob_tables.ROOT / "tools"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the generator makes."""
    top = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-m", "livemmctl.docs", str(top)], check=True, timeout=60,
                   env={**os.environ, "PYTHONPATH": str(TOOLS)})
    return top


def shown(path: Path) -> str:
    """The page as man shows it; any warning of groff's is a failure."""
    assert shutil.which("groff"), "groff is not installed: apt install groff-base"
    done = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-ww", "-rLL=200n", str(path)],
                          text=True, capture_output=True, check=True)
    assert done.stderr == ""
    return " ".join(done.stdout.split())


def test_the_page_says_what_help_says(made: Path) -> None:
    page = shown(made / "man/livemmctl.1")
    count = 0
    for words, command in docs.commands(cli, []):
        count += 1
        assert " ".join(["livemmctl", *words]) in page
        for text in docs.paragraphs(inspect.cleandoc(command.help or "")):
            # groff may break a line after a hyphen.
            assert text.replace(" ", "") in page.replace(" ", ""), words
        for option in command.params:
            record = option.get_help_record(click.Context(command))
            if record:
                assert record[0].split()[0] in page
    assert count > 20
    for code in Exit:
        assert re.search(rf" {int(code)} \w", page)


def test_it_is_the_same_each_time(made: Path) -> None:
    assert (made / "man/livemmctl.1").read_text(encoding="utf-8") == docs.man_page()
    assert docs.man_page() == docs.man_page()


def test_roff_takes_any_text() -> None:
    assert docs.roff(".TH it's a\\b -x") == "\\&.TH it\\(aqs a\\eb \\-x"


def complete(made: Path, host: FakeHost, *words: str) -> list[str]:
    """What bash offers for the last word."""
    text = (
        f"source {made}/bash/livemmctl; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1));"
        f"_livemmctl_completion {TOOLS}/bin/livemmctl; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", text, "bash", "livemmctl", *words], text=True, capture_output=True,
        check=True, env={**os.environ, "LIVEMM_ROOT": str(host.root)}, timeout=60)
    return done.stdout.split()


def test_bash_completes(made: Path, host: FakeHost) -> None:
    assert complete(made, host, "st") == ["status", "state"]
    known = [name for name in policy_order() if name.startswith("p")]
    assert complete(made, host, "enable", "p") == known
    assert complete(made, host, "set", "pcp", "wat") == ["watermark_guard_pct="]
    assert complete(made, host, "get", "pcp", "dec") == ["decay_ms"]
    assert "lists" in complete(made, host, "profile", "apply", "")
    assert complete(made, host, "status", "--wa") == ["--watch"]
    host.kernel.unload()
    assert complete(made, host, "enable", "p") == []


def test_zsh_finds_its_mark(made: Path) -> None:
    text = (made / "zsh/_livemmctl").read_text(encoding="utf-8")
    assert text.startswith("#compdef livemmctl\n")
    assert "_LIVEMMCTL_COMPLETE=zsh_complete" in text
