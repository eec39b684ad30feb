# SPDX-License-Identifier: GPL-2.0-only
"""The man page and the shells' completions, from the same text as --help.

    python3 -m livemmctl.docs FOLDER
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from livemmctl import __version__
from livemmctl.app import Command
from livemmctl.cli import COMPLETE, cli
from livemmctl.errors import Exit
from livemmctl.profile.store import APPLIED, CONFIG, FOLDERS

NAME = "livemmctl"
#: Not click's own, which puts a space between a knob's = and its value, and after the =
#: offers the names of knobs again: bash takes it for a word of its own.
BASH = f"""\
# SPDX-License-Identifier: GPL-2.0-only

_{NAME}() {{
    local -a words=() answer
    local IFS=$' \\t\\n' word kind text last=${{COMP_WORDS[COMP_CWORD]}} number
    for ((number = 0; number <= COMP_CWORD; number++)); do
        word=${{COMP_WORDS[number]}}
        # What the = has cut is put together, but for a new word that follows a blank.
        if ((${{#words[@]}})) && [[ $word == = || ${{words[-1]}} == *= ]] &&
            ! [[ -z $word && ${{COMP_LINE:0:COMP_POINT}} == *[[:blank:]] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    COMPREPLY=()
    # One line a completion: what kind it is, a comma, the word.
    mapfile -t answer < <(COMP_WORDS="${{words[*]}}" COMP_CWORD=$((${{#words[@]}} - 1)) \\
        {COMPLETE}=bash_complete "$1" 2>/dev/null)
    for text in "${{answer[@]}}"; do
        kind=${{text%%,*}} word=${{text#*,}}
        case $kind in
        file) compopt -o default ;;
        dir) compopt -o dirnames ;;
        plain)
            # A value follows at once.
            [[ $word != *= ]] || compopt -o nospace
            # Only what is behind the = is replaced.
            [[ $last == "${{words[-1]}}" ]] || word=${{word#*=}}
            COMPREPLY+=("$word") ;;
        esac
    done
}}

complete -o nosort -F _{NAME} {NAME}
"""
#: Not click's own, which completes nothing at the first TAB when zsh itself loads it from
#: its path, as from a package, and puts a space between a knob's = and its value.
ZSH = f"""\
#compdef {NAME}
# SPDX-License-Identifier: GPL-2.0-only

_{NAME}() {{
    local -a answer plain told begun
    local kind word help
    (( $+commands[{NAME}] )) || return 1
    # Three lines a completion: what kind it is, the word, and help or _.
    answer=("${{(@f)$(COMP_WORDS="${{words[*]}}" COMP_CWORD=$((CURRENT - 1)) \\
        {COMPLETE}=zsh_complete {NAME} 2>/dev/null)}}")
    for kind word help in "${{answer[@]}}"; do
        case $kind in
        file) _files ;;
        dir) _files -/ ;;
        plain)
            if [[ $word == *= ]]; then
                begun+=("$word")
            elif [[ $help == _ ]]; then
                plain+=("$word")
            else
                told+=("${{word//:/\\:}}:$help")
            fi ;;
        esac
    done
    (( $#told )) && _describe -V {NAME} told
    (( $#plain )) && compadd -V words -a plain
    (( $#begun )) && compadd -V knobs -S '' -a begun
    (( compstate[nmatches] ))
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _{NAME} "$@"
else
    compdef _{NAME} {NAME}
fi
"""
FILES = {
    f"{FOLDERS[0]}/*.toml": "the admin's own profiles",
    f"{FOLDERS[1]}/*.toml": "ready profiles; an admin's own profile of the same name wins",
    CONFIG: "the profile that livemm-profile.service applies; what stopping the service does",
    APPLIED: "the profile applied last since boot",
    "/etc/livemm/experiments/*.toml": "what livemm-ab@NAME.service runs",
    "/var/lib/livemm/*.jsonl": "journals of livemm-ab@NAME.service",
    "/run/livemm/arm.json": "the arm that the host is in, of the experiment that runs",
    "/sys/kernel/debug/livemm": "the module's files",
    "/sys/module/livemm/parameters": "the module's parameters; livemmctl sets policies by these",
}


def roff(text: str) -> str:
    """Text that roff shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    # A macro takes quotes off its arguments.
    text = text.replace('"', "\\(dq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", inspect.cleandoc(text))]


def commands(command: click.Command, words: list[str]) -> Iterator[tuple[list[str], click.Command]]:
    """A command and all below it, with the words that call them."""
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from commands(found, [*words, name])


def tagged(style: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    """A tagged list, whose tags are set in `style`."""
    return [line for tag, text in rows for line in (".TP", style % roff(tag), roff(text))]


def below(command: click.Command, context: click.Context) -> list[str]:
    records = (option.get_help_record(context) for option in command.params)
    lines = tagged("\\fB%s\\fR", filter(None, records))
    if isinstance(command, Command) and command.examples:
        lines += [".PP", "Examples:", *tagged(".B %s", command.examples)]
    return lines


def section(words: list[str], command: click.Command) -> list[str]:
    context = click.Context(command, info_name=" ".join([NAME, *words]))
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {roff(' '.join([NAME, *words]))} {roff(usage)}"]
    for number, text in enumerate(paragraphs(command.help or "")):
        lines += [".PP"] * bool(number) + [roff(text)]
    return lines + below(command, context)


def man_page() -> str:
    context = click.Context(cli, info_name=NAME)
    short, *rest = paragraphs(cli.help or "")
    lines = [
        '.\\" SPDX-License-Identifier: GPL-2.0-only',
        f'.TH LIVEMMCTL 1 "" "livemm {__version__}" "System administration"',
        # No word is divided: whoever looks for a key or an option finds it.
        ".nh",
        ".SH NAME",
        f"{NAME} \\- control page\\-allocator and NUMA\\-balancing policies of a running kernel",
        ".SH SYNOPSIS", f".B {NAME}", "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]...",
        ".SH DESCRIPTION", roff(short),
    ]
    for text in rest:
        lines += [".PP", roff(text)]
    lines += [*below(cli, context), ".SH COMMANDS"]
    for words, command in commands(cli, []):
        if words:
            lines += section(words, command)
    codes = ((str(int(code)), code.meaning) for code in Exit)
    lines += [".SH EXIT STATUS", *tagged(".B %s", codes),
              ".SH FILES", *tagged(".I %s", FILES.items()),
              ".SH SEE ALSO", ".BR modprobe.d (5),", ".BR dkms (8),", ".BR mokutil (1)"]
    return "\n".join(lines) + "\n"


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: python3 -m livemmctl.docs FOLDER", file=sys.stderr)
        return 2
    top = Path(sys.argv[1])
    # Completions under the names that their shells look for.
    files = {f"man/{NAME}.1": man_page(), f"bash/{NAME}": BASH, f"zsh/_{NAME}": ZSH}
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
