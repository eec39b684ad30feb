# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl rollout"""

import math
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from dataclasses import replace as changed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from livemmctl.ab.data import FILE, Data, with_data
from livemmctl.ab.decision import Decision, first_decision, signed, verified
from livemmctl.ab.experiment import load_experiment
from livemmctl.ab.fields import duration_text
from livemmctl.ab.gate import fetch
from livemmctl.ab.model import Experiment
from livemmctl.app import App, Figure, Group, command
from livemmctl.errors import CtlError, Exit, UsageError, os_errors, os_words
from livemmctl.files import check_replaceable, lock_file, replace
from livemmctl.rollout.plan import read_inventory, too_much, waves
from livemmctl.rollout.show import metrics_of
from livemmctl.table import Table, text_of

if TYPE_CHECKING:
    from livemmctl.ab.analyse import Report
    from livemmctl.rollout.decide import Verdict


@click.group(
    cls=Group,
    examples=[
        ("livemmctl rollout plan lists.toml", "the steps, and when each may begin"),
        ("livemmctl rollout status lists.toml --prometheus http://metrics:9090",
         "what would be decided now"),
        ("livemmctl rollout halt lists.toml --key KEY --publish FILE -m 'pages lost'",
         "every host goes to stock"),
    ],
)
def rollout() -> None:
    """Roll an experiment out step by step, as long as no guard is worse by its margin.

    An experiment with [ramp] and [gate] waits at each step for a decision: a signed file that
    every host reads at each tick. Whoever publishes the file needs no connection to a host.
    """


_command = partial(command, of=rollout)
#: Looks of a replay: enough to see when something is decided, in seconds of computing.
REPLAY_LOOKS = 100
#: Whoever publishes may take so many seconds to sign and to write.
LOCK_S = 30.0
_publish = click.option(
    "--publish", type=FILE, required=True, metavar="FILE",
    help="Where the decision is published: what the hosts read, or what a web server shows them.")
_key = click.option("--key", type=FILE, required=True, help="The private SSH key that signs.")


def _gated(app: App, file: Path) -> Experiment:
    found = load_experiment(file, app.host)
    if found.gate is None:
        raise UsageError(f"{file}: has no [gate]: its ramp goes by the clock",
                         '[gate] with decision = "/path/or/address"')
    return found


def _published(source: str, experiment: Experiment) -> Decision | None:
    """The decision in force; None: there is none yet.  Raises CtlError for one that is not ours."""
    assert experiment.gate is not None
    if "://" not in source and not Path(source).exists():
        return None
    try:
        found = verified(fetch(source, 10.0), Path(experiment.gate.signers))
        if found.experiment != experiment.name:
            raise ValueError(f"it is about {found.experiment!r}")
    except ValueError as error:
        raise CtlError(f"{source}: not believed: {error}", Exit.FAILED,
                       f"allowed signers: {experiment.gate.signers}") from None
    return found


@_command(("livemmctl rollout plan lists.toml --inventory hosts.csv",
           "hosts of each step, and the failure domain that is hit most"))
@click.argument("experiment", type=FILE)
@click.option("--inventory", type=FILE,
              help="CSV with the columns host (the id that `ab check` shows), domain, and kernel"
                   " where the ramp has kernels.")
@click.option("--domain", default="domain", show_default=True, metavar="COLUMN",
              help="The column that says what fails together.")
@click.option("--domain-most", type=Figure(0, 100), metavar="PERCENT",
              help="Fail if a step before the last hits more of a failure domain.")
def plan(app: App, experiment: Path, inventory: Path | None, domain: str,
         domain_most: float | None) -> None:
    """Show the steps of an EXPERIMENT's ramp.

    With an inventory the plan shows how many hosts take part at each step, and the failure
    domain (a rack, a row, a zone) of which the largest part does. Who takes part is drawn by the
    experiment's salt: with --domain-most, try another salt until the plan holds.
    """
    found = _gated(app, experiment)
    steps = waves(found, None if inventory is None else read_inventory(
        inventory, domain, bool(found.ramp.kernels)))
    rows = [[*([step.kernel] if found.ramp.kernels else []), f"{step.percent:g} %",
             duration_text(step.after_s) if step.after_s else "at once",
             "-" if step.hosts is None else f"{step.hosts:,}",
             f"{step.domain}: {step.share:.0%}" if step.domain else "-"] for step in steps]
    table = Table((*(["kernel"] if found.ramp.kernels else []), "step", "not before", "hosts",
                   "most of a domain"), rows, ("step", "hosts"))
    app.show({"steps": [asdict(step) for step in steps]}, lambda: text_of(table))
    if domain_most is not None:
        if inventory is None:
            raise UsageError("--domain-most: an inventory is wanted", "--inventory FILE")
        if over := too_much(steps, domain_most):
            raise CtlError(f"more than {domain_most:g} % of a failure domain at {'; '.join(over)}",
                           Exit.FAILED, "another salt, or smaller steps")


def _verdict(
    found: Experiment, before: Decision | None, data: Data
) -> tuple["Verdict", "Report"]:
    # The libraries of statistics take a second to import.
    from livemmctl.ab.analyse import analyse
    from livemmctl.rollout.decide import decide

    since_s = (found.start_s or 0.0) if before is None else before.since_s
    report = analyse(found, data.seen(found, since_s))
    return decide(report, before, time.time()), report


def _show(app: App, verdict: "Verdict", more: dict[str, Any]) -> None:
    decision = verdict.decision
    table = Table(("guard", "arm", "", "what is known"),
                  [[g.metric, f"{g.arm}, {g.kernel}" if g.kernel else g.arm, g.state, g.words]
                   for g in verdict.guards], ())
    whose = f"the hosts of kernel {decision.kernel}" if decision.kernel else "the fleet"
    lines = [f"{verdict.what}: {verdict.reason}",
             f"{decision.percent:g} % of {whose} takes part" if not decision.halt else
             "every host goes to stock", "", text_of(table)]
    app.show({"what": verdict.what, "reason": verdict.reason, "decision": asdict(decision),
              "guards": [asdict(guard) for guard in verdict.guards], **more},
             lambda: "\n".join(lines))


@_command(("livemmctl rollout status lists.toml journals/*.jsonl",
           "from the journals of a fleet"))
@with_data
@click.option("--html", type=FILE,
              help="Also write a page with pictures of the ramp and of each guard over time.")
def status(app: App, experiment: Path, html: Path | None, **data: Any) -> None:
    """Show where the rollout of an EXPERIMENT is, and what would be decided now.

    Nothing is published.
    """
    found = _gated(app, experiment)
    assert found.gate is not None
    verdict, report = _verdict(found, _published(found.gate.decision, found), Data(**data))
    if html is not None:
        from livemmctl.rollout.page import page_of

        replace(html, page_of(report, verdict))
    _show(app, verdict, {})


@_command(("livemmctl rollout replay lists.toml journals/*.jsonl",
           "a dry run, on what an earlier run has recorded"))
@with_data
def replay(app: App, experiment: Path, **data: Any) -> None:
    """Show what would have been decided, and when, on recorded data.

    The data may be of a run whose ramp went by the clock. Nothing is published.
    """
    from livemmctl.ab.history import looks_back
    from livemmctl.rollout import decide

    found = _gated(app, experiment)
    seen = Data(**data).seen(found)
    begun_s = min((point.at_s for points in seen.points.values() for point in points
                   if not point.before), default=time.time())
    verdicts = decide.replay(looks_back(found, seen, REPLAY_LOOKS), begun_s)
    rows = [[duration_text(at_s), verdict.what, f"{verdict.decision.percent:g} %", verdict.reason]
            for at_s, verdict in verdicts]
    table = Table(("after", "decision", "step", "why"), rows, ("after", "step"))
    app.show({"decisions": [{"after_seconds": at_s, "what": verdict.what,
                             "reason": verdict.reason, "decision": asdict(verdict.decision)}
                            for at_s, verdict in verdicts]}, lambda: text_of(table))


@contextmanager
def _alone(publish: Path) -> Iterator[None]:
    """Be the only one that publishes here: no decision overwrites a halt that came meanwhile.

    Raises CtlError where somebody else, such as a stopped process, keeps the lock.
    """
    with ExitStack() as ends:
        with os_errors(f"cannot use {publish.parent}"):
            folder = os.open(publish.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            ends.callback(os.close, folder)
            try:
                lock_file(folder, LOCK_S)
            except BlockingIOError:
                raise CtlError(
                    f"nothing is published: another process has held the lock of {publish.parent}"
                    f" for {LOCK_S:g} s", Exit.TIMEOUT,
                    "lslocks names the process; end the process, and try again"
                ) from None
        yield


def _write(
    found: Experiment, before: Decision | None, decision: Decision, publish: Path, key: Path,
    textfile: Path | None, verdict: "Verdict | None" = None,
) -> None:
    """Publish what was decided after `before`; a textfile has what the guards know, too.

    Publish first: what only watches the rollout must not hold a halt up.  Raises CtlError where
    another decision was published meanwhile.
    """
    with _alone(publish):
        now = _published(str(publish), found)
        if (now and now.serial) != (before and before.serial):
            raise CtlError(f"{publish}: another decision was published meanwhile, and stays")
        replace(publish, signed(decision, key))
    if textfile is not None:
        replace(textfile, metrics_of(decision, verdict))


@_command(("livemmctl rollout advance lists.toml --prometheus URL --key KEY --publish FILE",
           "once a tick, from a timer"))
@with_data
@_publish
@_key
@click.option("--textfile", type=FILE, metavar="FILE",
              help="Also write the decision here, for node_exporter's textfile collector.")
def advance(
    app: App, experiment: Path, publish: Path, key: Path, textfile: Path | None, **data: Any
) -> None:
    """Decide, and publish the decision: the next step, the same step, or halt.

    Run this command once a tick, from a timer. A step is taken when the step has lasted as
    long as [ramp] says, and every metric with margin_pct is no worse by the margin. The fleet is
    halted when such a metric is worse. Halt is for good.
    """
    found = _gated(app, experiment)
    before = _published(str(publish), found)
    if before is None:
        first = first_decision(found, time.time())
        _write(found, None, first, publish, key, textfile)
        app.show({"what": "advance", "reason": first.reason, "decision": asdict(first)},
                 lambda: f"advance: {first.reason}: {first.percent:g} % of the fleet takes part")
        return
    now_s = time.time()
    if now_s < (found.start_s or 0.0) and not before.halt:
        # Nobody takes part yet: only say that somebody is here to decide.
        _write(found, before, changed(before, at_s=now_s), publish, key, textfile)
        words = f"wait: begins in {duration_text(math.ceil((found.start_s or 0.0) - now_s))}"
        app.show({"what": "wait", "reason": words, "decision": asdict(before)}, lambda: words)
        return
    verdict, _ = _verdict(found, before, Data(**data))
    _write(found, before, verdict.decision, publish, key, textfile, verdict)
    _show(app, verdict, {"published": str(publish)})


def _put_aside(publish: Path) -> str:
    """Keep a file that is to be replaced; what became of the file, in words."""
    aside = publish.with_name(f"{publish.name}.not-believed")
    try:
        if publish.is_dir():
            os.replace(publish, aside)
        else:
            # The name stays until the halt replaces the file: "none yet" would begin anew.
            aside.unlink(missing_ok=True)
            os.link(publish, aside, follow_symlinks=False)
    except OSError as error:
        return f"the file was not kept: {os_words(error)}"
    return f"the file is kept as {aside}"


@_command(("livemmctl rollout halt lists.toml --key KEY --publish FILE -m 'pages lost'",
           "every host goes to stock at its next tick"))
@click.argument("experiment", type=FILE)
@_publish
@_key
@click.option("-m", "--reason", default="halted by hand", show_default=True,
              help="What the hosts write into their journals.")
def halt(app: App, experiment: Path, publish: Path, key: Path, reason: str) -> None:
    """Halt the rollout of an EXPERIMENT for good: every host goes to stock.

    A published file that cannot be read or believed does not keep the halt from being published;
    the file is kept as FILE.not-believed.
    """
    found = _gated(app, experiment)
    before, doubt = None, ""
    check_replaceable(publish)
    with os_errors(f"cannot read {publish}"):
        if publish.is_dir() and any(publish.iterdir()):
            raise UsageError(f"{publish} is a folder that is not empty; a file is wanted")
    with _alone(publish):
        try:
            before = _published(str(publish), found)
        except CtlError as error:
            doubt = error.message
        now_s = time.time()
        decision = Decision(found.name, 1 if before is None else before.serial + 1,
                            0.0 if before is None else before.percent, True, reason, now_s,
                            now_s if before is None else before.since_s,
                            "" if before is None else before.kernel)
        # First: where the key does not serve, the published file stays.
        text = signed(decision, key)
        if doubt:
            doubt = f"{doubt}; {_put_aside(publish)}"
        replace(publish, text)
    app.show({"decision": asdict(decision), "not_believed": doubt or None},
             lambda: f"halted: {reason}" + (f"\n{doubt}" if doubt else ""))
