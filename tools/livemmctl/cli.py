# SPDX-License-Identifier: GPL-2.0-only
"""The command line: which commands there are, and how every one of them ends."""

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from livemmctl import __version__
from livemmctl.app import JSON_OPTION, App, Group, json_text, nobody_reads
from livemmctl.errors import CtlError, Exit, UsageError, os_words
from livemmctl.host import Host

#: Where each command is, and a line on it: none is imported before it is wanted,
#: so that `status` does not wait for libraries of statistics.
COMMANDS: dict[str, tuple[str, str]] = {
    "status": ("livemmctl.commands.status:status", "Show policies, hooks, lease, kernel."),
    "list": ("livemmctl.commands.read:list_policies", "List the policies."),
    "enable": ("livemmctl.commands.settings:enable", "Switch policies on."),
    "disable": ("livemmctl.commands.settings:disable", "Switch policies off."),
    "get": ("livemmctl.commands.settings:get", "Show the knobs of a policy."),
    "set": ("livemmctl.commands.settings:set_knobs", "Change knobs of a policy, all or none."),
    "counters": ("livemmctl.commands.read:counters", "Show what policies have counted."),
    "state": ("livemmctl.commands.read:state", "Show the table of each policy."),
    "hooks": ("livemmctl.commands.read:hooks", "Show the hooks into the kernel."),
    "census": ("livemmctl.commands.read:census", "Count pageblocks by their kinds of pages."),
    "lease": ("livemmctl.commands.settings:lease", "Show, begin, renew or end the lease."),
    "load": ("livemmctl.commands.modules:load", "Load the module."),
    "unload": ("livemmctl.commands.modules:unload", "Switch policies off, unload the modules."),
    "profile": ("livemmctl.profile.cli:profile", "Apply, compare and save profiles."),
    "doctor": ("livemmctl.doctor.cli:doctor", "Find what keeps livemm from working."),
    "export": ("livemmctl.metrics.cli:export", "Write or serve metrics."),
    "ab": ("livemmctl.ab.cli:ab", "Run experiments and report on them."),
    "record": ("livemmctl.whatif.cli:record", "Record what the per-CPU lists do."),
    "whatif": ("livemmctl.whatif.cli:whatif", "Predict what a policy does to a recorded host."),
    "rollout": ("livemmctl.rollout.cli:rollout", "Roll an experiment out step by step."),
}

#: By which the shell asks for completions.
COMPLETE = "_LIVEMMCTL_COMPLETE"


#: Libraries that Debian 12 has no package of.
PIP = {"pyarrow": "pip install 'pyarrow<21'"}


def missing_library(error: ImportError) -> CtlError:
    """The error for a library that is imported only where it is needed."""
    library = (error.name or "").partition(".")[0]
    hint = PIP.get(library) or f"apt install python3-{library.replace('_', '-')}"
    return CtlError(f"a Python library that livemmctl needs is missing: {error.name or error}",
                    Exit.FAILED, hint if library else None)


class Root(Group):
    """The command itself, whose commands are imported as they are wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        try:
            command = getattr(importlib.import_module(module), name)
        except ImportError as error:
            raise missing_library(error) from None
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, and what the exit codes mean."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), code.meaning) for code in Exit])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands, without importing any."""
        return [CompletionItem(name, help=COMMANDS[name][1])
                for name in self.list_commands(ctx) if name.startswith(incomplete)]


def _set_root(context: click.Context, _parameter: click.Parameter, root: Path | None) -> None:
    """A callback, so that completions look there, too."""
    if root is not None:
        context.ensure_object(App).host = Host(root.absolute())


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=[
        ("livemmctl load", "load the module; every policy is off"),
        ("livemmctl doctor", "find what keeps livemm from working on this host"),
        ("livemmctl lease 300", "every policy goes off in five minutes, unless renewed"),
        ("livemmctl enable pcp", "switch a policy on"),
        ("livemmctl status --watch", "status every two seconds"),
        ("livemmctl disable --all", "the kernel's own values are back"),
    ],
)
@click.option("--root", type=click.Path(path_type=Path), hidden=True, expose_value=False,
              is_eager=True, callback=_set_root,
              help="Use the files below this folder in place of the host's: for tests.")
@click.version_option(__version__, message="livemmctl %(version)s")
def cli() -> None:
    """Control livemm: page-allocator and NUMA-balancing policies of a running kernel.

    Policies go on and off while the machine runs. With every policy off, the kernel uses its own
    values. An error is one line on standard error; with --json, one JSON document.
    """


cli.params.append(JSON_OPTION)


def report(error: CtlError, as_json: bool) -> None:
    if as_json:
        words = {"message": error.message, "hint": error.hint, "status": error.status,
                 "code": error.status.name}
        text = json_text({"error": words})
    else:
        text = f"livemmctl: {error.message}" + (f" ({error.hint})" if error.hint else "")
    click.echo(text, err=True)


def usage_error(error: click.ClickException) -> CtlError:
    hint = None
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"see: {error.ctx.command_path} --help"
    return UsageError(error.format_message(), hint)


def run(arguments: Sequence[str], app: App | None = None) -> int:
    """Run a command line; every expected failure becomes one line and an exit code."""
    app = app or App()
    as_json = "--json" in arguments
    try:
        # Not cli.main(), which has its own idea of Ctrl-C and of a closed pipe.
        with cli.make_context("livemmctl", list(arguments), obj=app) as context:
            cli.invoke(context)
        sys.stdout.flush()
        return Exit.OK
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except CtlError as error:
        failure = error
    except click.ClickException as error:
        failure = usage_error(error)
    except (KeyboardInterrupt, click.Abort):
        failure = CtlError("ended by Ctrl-C", Exit.INTERRUPTED)
    except BrokenPipeError:
        # Help, or the last of a progress: the command is done, and App.show() has seen to results.
        nobody_reads()
        return Exit.OK
    except ImportError as error:
        failure = missing_library(error)
    except RecursionError:
        failure = UsageError("the input is nested too deeply")
    except MemoryError:
        failure = CtlError("no memory", Exit.FAILED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        failure = CtlError(f"{where}{os_words(error)}", Exit.FAILED)
    with contextlib.suppress(OSError):
        report(failure, as_json)
    return failure.status


def have_streams() -> None:
    """Open what a caller has closed: else the next file opened would be standard output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python has None for one that was closed when it began.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def main() -> None:
    have_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows another; no command ends over it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if COMPLETE in os.environ:
        cli.main(prog_name="livemmctl", complete_var=COMPLETE)
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        nobody_reads()
    sys.exit(int(status))
