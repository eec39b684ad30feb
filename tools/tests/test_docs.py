# SPDX-License-Identifier: GPL-2.0-only
"""Man page and completions, made from the text of --help."""

import inspect
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import knob_tables
import pytest
from conftest import environment
from fake_tree import FakeHost, policy_order
from livemmctl import docs
from livemmctl.cli import cli
from livemmctl.errors import Exit


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-m", "livemmctl.docs", str(top)], check=True, timeout=60,
                   env=environment())
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
    assert docs.roff('"on"') == "\\(dqon\\(dq"


def complete(made: Path, host: FakeHost, *words: str) -> list[str]:
    """What bash offers for the last word; of what it may ask of the shell, nothing happens."""
    text = (
        f"compopt() {{ :; }}; source {made}/bash/livemmctl; COMP_WORDS=(\"$@\");"
        'COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE};'
        f"_livemmctl {knob_tables.TOOLS}/bin/livemmctl; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", text, "bash", "livemmctl", "--root", str(host.root), *words], text=True,
        capture_output=True, check=True, env=environment(), timeout=60)
    return done.stdout.split()


def test_bash_completes(made: Path, host: FakeHost) -> None:
    assert complete(made, host, "st") == ["status", "state"]
    known = [name for name in policy_order() if name.startswith("p")]
    assert complete(made, host, "enable", "p") == known
    assert complete(made, host, "set", "pcp", "hig") == ["high_max_pct="]
    assert complete(made, host, "get", "pcp", "dec") == ["decay_ms"]
    assert "lists" in complete(made, host, "profile", "apply", "")
    assert complete(made, host, "status", "--wa") == ["--watch"]
    host.kernel.unload()
    assert complete(made, host, "enable", "p") == []


#: How a shell begins, and what has it complete; ^X^X then writes down what the line is.  The first
#: zsh looks through its functions for some seconds and keeps what it has found for the others.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], """\
source {made}/bash/livemmctl
bind -x '"\\C-x\\C-x": printf %s "$READLINE_LINE|" >{told}.new; mv {told}.new {told}'
"""),
    "zsh": (["zsh", "-f", "-i"], """\
fpath=({made}/zsh $fpath); autoload -Uz compinit; compinit -C -u -d {made}/dump; unsetopt beep
tell() {{ print -rn -- "$BUFFER|" >{told}.new; mv {told}.new {told} }}
zle -N tell; bindkey '^X^X' tell
"""),
}


def typed(shell: str, made: Path, host: FakeHost, line: str) -> str:
    """What a shell makes of a line at the first TAB, in a terminal of its own; a bar at its end.

    The shell sees the option --root, the caller does not.
    """
    begins = f"livemmctl --root {host.root} "
    line = line.replace("livemmctl ", begins, 1)
    assert shutil.which(shell), f"{shell} is not installed: apt install {shell}"
    told = made / f"{shell}-told"
    told.unlink(missing_ok=True)
    argv, setup = SHELLS[shell]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(shell, argv, {
            **environment(), "TERM": "dumb", "PS1": "", "INPUTRC": "/dev/null"})
    try:
        os.write(terminal, f"{setup.format(made=made, told=told)}{line}\t\x18\x18".encode())
        deadline = time.monotonic() + 60
        # What it prints has to be read, or it waits.
        while not told.exists() and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.05)[0]:
                os.read(terminal, 4096)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)
    return told.read_text(encoding="utf-8").replace(begins, "livemmctl ", 1)


#: What is typed, and what both shells make of it.
TYPED = [
    ("livemmctl ena", "livemmctl enable |"),
    ("livemmctl enable nu", "livemmctl enable numa |"),
    # A value follows at once.
    ("livemmctl set pcp hig", "livemmctl set pcp high_max_pct=|"),
    ("livemmctl set pcp decay_ms=2000 hig",
     "livemmctl set pcp decay_ms=2000 high_max_pct=|"),
    ("livemmctl profile apply lists-c", "livemmctl profile apply lists-careful |"),
    ("livemmctl export --textf", "livemmctl export --textfile |"),
    # As far as all that it might be have in common.
    ("livemmctl st", "livemmctl stat|"),
    ("livemmctl enable x", "livemmctl enable x|"),
]


@pytest.mark.parametrize("shell,line,wanted", [
    *((shell, *row) for shell in SHELLS for row in TYPED),
    # The = ends a word of bash's, not of ours.
    ("bash", "livemmctl set pcp decay_ms=", "livemmctl set pcp decay_ms=3000 |"),
    ("bash", "livemmctl set pcp enabled=1 decay_ms=3",
     "livemmctl set pcp enabled=1 decay_ms=3000 |"),
    ("bash", "livemmctl set pcp nonsense=", "livemmctl set pcp nonsense=|"),
])
def test_a_shell_completes_what_is_typed(
    made: Path, host: FakeHost, shell: str, line: str, wanted: str
) -> None:
    assert typed(shell, made, host, line) == wanted


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("begun", ["check ", "run --journal "])
def test_a_shell_completes_files(
    made: Path, host: FakeHost, tmp_path: Path, shell: str, begun: str
) -> None:
    (tmp_path / "trial.toml").touch()
    line = f"livemmctl ab {begun}{tmp_path}/tri"
    assert typed(shell, made, host, line) == f"{line}al.toml |"


def test_zsh_finds_its_mark(made: Path) -> None:
    text = (made / "zsh/_livemmctl").read_text(encoding="utf-8")
    assert text.startswith("#compdef livemmctl\n")
    assert "_LIVEMMCTL_COMPLETE=zsh_complete" in text
    done = subprocess.run(["zsh", "-n", str(made / "zsh/_livemmctl")], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_zsh_reads_it_in_a_users_own_file_too(made: Path) -> None:
    # As ~/.zshrc would, after compinit.
    done = subprocess.run(
        ["zsh", "-f", "-c", f"autoload -Uz compinit; compinit -D -u; . {made}/zsh/_livemmctl;"
         "print -r -- $_comps[livemmctl]"], text=True, capture_output=True)
    assert (done.stdout, done.stderr) == ("_livemmctl\n", "")


@pytest.mark.parametrize("policy", sorted(knob_tables.counters()))
def test_a_policys_page_names_counters_that_there_are(policy: str) -> None:
    page = (knob_tables.ROOT / f"docs/{policy}.md").read_text(encoding="utf-8")
    section = page.partition("## Counters to watch")[2].partition("## ")[0]
    known = {*knob_tables.counters()[policy], *(knob.name for knob in knob_tables.knobs()[policy]),
             "state"}
    named = {word for word in re.findall(r"`(\w+)`", section) if word not in known}
    assert named == set()
