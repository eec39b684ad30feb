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
from livemmctl.host import Host


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-m", "livemmctl.docs", str(top)], check=True, timeout=60,
                   env=environment(Host()))
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
    """What bash offers for the last word; of what it may ask of the shell, nothing happens."""
    text = (
        f"compopt() {{ :; }}; source {made}/bash/livemmctl; COMP_WORDS=(\"$@\");"
        'COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE};'
        f"_livemmctl {knob_tables.TOOLS}/bin/livemmctl; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", text, "bash", "livemmctl", *words], text=True, capture_output=True,
        check=True, env=environment(host), timeout=60)
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


def typed_in_bash(made: Path, host: FakeHost, line: str) -> str:
    """What bash makes of a line at the first TAB, in a terminal of its own; a bar at its end."""
    told = made / "bash-told"
    told.unlink(missing_ok=True)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {
            **environment(host), "TERM": "dumb", "PS1": "", "INPUTRC": "/dev/null"})
    tell = f'printf %s "$READLINE_LINE|" >{told}.new; mv {told}.new {told}'
    lines = [f"source {made}/bash/livemmctl", f"bind -x '\"\\C-x\\C-x\": {tell}'"]
    keys = "".join(f"{text}\n" for text in lines) + f"{line}\t\x18\x18"
    try:
        os.write(terminal, keys.encode())
        deadline = time.monotonic() + 60
        # What it prints has to be read, or it waits.
        while not told.exists() and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.05)[0]:
                os.read(terminal, 4096)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)
    return told.read_text(encoding="utf-8")


#: What is typed, and what both shells make of it.
TYPED = [
    ("livemmctl ena", "livemmctl enable |"),
    ("livemmctl enable nu", "livemmctl enable numa |"),
    # A value follows at once.
    ("livemmctl set pcp wat", "livemmctl set pcp watermark_guard_pct=|"),
    ("livemmctl set pcp decay_ms=2000 wat",
     "livemmctl set pcp decay_ms=2000 watermark_guard_pct=|"),
    ("livemmctl profile apply lists-c", "livemmctl profile apply lists-careful |"),
    ("livemmctl export --textf", "livemmctl export --textfile |"),
    # As far as all that it might be have in common.
    ("livemmctl st", "livemmctl stat|"),
    ("livemmctl enable x", "livemmctl enable x|"),
]


@pytest.mark.parametrize("line,wanted", [
    *TYPED,
    # The = ends a word of bash's, not of ours.
    ("livemmctl set pcp decay_ms=", "livemmctl set pcp decay_ms=3000 |"),
    ("livemmctl set pcp enabled=1 decay_ms=3", "livemmctl set pcp enabled=1 decay_ms=3000 |"),
    ("livemmctl set pcp nonsense=", "livemmctl set pcp nonsense=|"),
])
def test_bash_completes_what_is_typed(made: Path, host: FakeHost, line: str, wanted: str) -> None:
    assert typed_in_bash(made, host, line) == wanted


def test_bash_completes_files(made: Path, host: FakeHost, tmp_path: Path) -> None:
    (tmp_path / "trial.toml").touch()
    for begun in ("check ", "run --journal "):
        line = f"livemmctl ab {begun}{tmp_path}/tri"
        assert typed_in_bash(made, host, line) == f"{line}al.toml |"


def test_zsh_finds_its_mark(made: Path) -> None:
    text = (made / "zsh/_livemmctl").read_text(encoding="utf-8")
    assert text.startswith("#compdef livemmctl\n")
    assert "_LIVEMMCTL_COMPLETE=zsh_complete" in text
    done = subprocess.run(["zsh", "-n", str(made / "zsh/_livemmctl")], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


#: A shell of zsh's in a terminal of its own, into which a line and one TAB are typed; what
#: the line is then, it writes down.  $1: folders of completions, $2: the file, $3: the line.
ZSH_TYPES = r"""
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u; unsetopt beep
tell() { zle expand-or-complete; print -rn -- \"\$BUFFER|\" >$2.new; mv $2.new $2 }
zle -N tell; bindkey '^X' tell; print rea''dy"
while zpty -r shell line; do [[ $line == *ready* ]] && break; done
zpty -wn shell "$3"$'\x18'
# What it prints has to be read, or it waits.
for n in {1..1200}; do [[ -s $2 ]] && break; zpty -rt shell line; sleep 0.05; done
zpty -d shell
"""


def typed_in_zsh(made: Path, host: FakeHost, line: str) -> str:
    """What zsh makes of a line at the first TAB, with a bar at its end."""
    assert shutil.which("zsh"), "zsh is not installed: apt install zsh"
    told = made / "zsh-told"
    told.unlink(missing_ok=True)
    subprocess.run(
        ["zsh", "-f", "-c", ZSH_TYPES, "zsh", str(made / "zsh"), str(told), line],
        check=True, timeout=120, stdin=subprocess.DEVNULL, env=environment(host))
    return told.read_text(encoding="utf-8")


@pytest.mark.parametrize("line,wanted", TYPED)
def test_zsh_completes(made: Path, host: FakeHost, line: str, wanted: str) -> None:
    assert typed_in_zsh(made, host, line) == wanted


def test_zsh_completes_files(made: Path, host: FakeHost, tmp_path: Path) -> None:
    (tmp_path / "trial.toml").touch()
    line = f"livemmctl ab check {tmp_path}/tri"
    assert typed_in_zsh(made, host, line) == f"livemmctl ab check {tmp_path}/trial.toml |"


def test_zsh_reads_it_in_a_users_own_file_too(made: Path) -> None:
    # As ~/.zshrc would, after compinit.
    done = subprocess.run(
        ["zsh", "-f", "-c", f"autoload -Uz compinit; compinit -D -u; . {made}/zsh/_livemmctl;"
         "print -r -- $_comps[livemmctl]"], text=True, capture_output=True)
    assert (done.stdout, done.stderr) == ("_livemmctl\n", "")


@pytest.mark.parametrize("policy", sorted(knob_tables.knobs()))
def test_a_policys_page_has_every_knob_with_default_and_range(policy: str) -> None:
    page = (knob_tables.ROOT / f"docs/{policy}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", page, re.M)
    shown = {name: (default.strip("` "), allowed.replace("`", "").strip())
             for name, default, allowed in rows}
    wanted = {}
    for knob in knob_tables.knobs()[policy]:
        allowed = f"{knob.low} to {knob.high}"
        if knob.kind == "BOOL":
            allowed = "0, 1"
        elif knob.kind == "CHOICE":
            allowed = ", ".join(knob.choices)
        elif knob.kind == "TEXT":
            allowed = "paths"
        wanted[knob.name] = (knob.default or "empty", allowed)
    assert shown == wanted


@pytest.mark.parametrize("policy", sorted(knob_tables.counters()))
def test_a_policys_page_names_counters_that_there_are(policy: str) -> None:
    page = (knob_tables.ROOT / f"docs/{policy}.md").read_text(encoding="utf-8")
    section = page.partition("## Counters to watch")[2].partition("## ")[0]
    known = {*knob_tables.counters()[policy], *(knob.name for knob in knob_tables.knobs()[policy]),
             "state"}
    named = {word for word in re.findall(r"`(\w+)`", section) if word not in known}
    assert named == set()
