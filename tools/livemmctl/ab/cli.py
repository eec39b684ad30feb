# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl ab"""

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from livemmctl.ab import assign as draw
from livemmctl.ab.clock import RealClock
from livemmctl.ab.data import FILE, Data, with_data
from livemmctl.ab.experiment import TICK_LEAST_S, TICK_MOST_S, load_experiment
from livemmctl.ab.facts import strata_of
from livemmctl.ab.fields import duration_text
from livemmctl.ab.journal import past_of, read_journal
from livemmctl.ab.model import HOST, Experiment
from livemmctl.ab.place import Place
from livemmctl.ab.session import fit_here, run_here, stop_here, with_tick
from livemmctl.ab.timeline import blocks_of
from livemmctl.app import App, Group, Seconds, command
from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.files import replace


@click.group(
    cls=Group,
    examples=[
        ("livemmctl ab check pcp.toml", "check the file, and show what would happen on this host"),
        ("livemmctl ab run pcp.toml --journal pcp.jsonl", "run the experiment on this host"),
        ("livemmctl ab report pcp.toml pcp.jsonl", "the results"),
    ],
)
def ab() -> None:
    """Run experiments that compare settings, and report on them.

    An experiment is one TOML file with two or more arms (settings that are compared). In
    mode host each host stays in one arm, which the host works out by itself; in mode switchback
    one host changes arms in blocks of time. Whatever ends a run, the host goes back to stock
    (every policy off).
    """


_command = partial(command, of=ab)


def _moment(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OSError, OverflowError, ValueError):
        return f"{seconds:g} s"


def _host_data(app: App, experiment: Experiment, identity: str | None) -> dict[str, Any]:
    host = draw.host_id(app.host) if identity is None else draw.checked_id(identity, "--id")
    strata = strata_of(app.host, experiment.strata)
    data: dict[str, Any] = {"host": host, "strata": strata}
    if experiment.mode == HOST:
        data["arm"] = draw.arm_of(experiment, host, strata)
        data["joins_after_seconds"] = draw.joins_after_s(experiment, host)
    else:
        data["blocks"] = [block.arm for block in blocks_of(experiment, host)]
    return data


def _host_text(experiment: Experiment, data: Mapping[str, Any]) -> str:
    lines = [f"this host is {data['host']}"]
    lines += [f"{key}: {value}" for key, value in data["strata"].items()]
    if "blocks" in data:
        lines.append(f"{len(data['blocks'])} blocks: {' '.join(data['blocks'])}")
        return "\n".join(lines)
    joins = data["joins_after_seconds"]
    lines.append(f"arm: {data['arm']}")
    if joins is None:
        lines.append("the ramp never gets to this host: the host does not take part")
    elif joins:
        lines.append(f"takes part {duration_text(joins)} after the start")
    else:
        lines.append("takes part from the start")
    return "\n".join(lines)


@_command(("livemmctl ab check pcp.toml", "errors name the wrong key"))
@click.argument("experiment", type=FILE)
def check(app: App, experiment: Path) -> None:
    """Check the file of an EXPERIMENT, and show the plan for this host.

    The file is TOML: name; salt (another salt assigns hosts anew); mode, host or
    switchback; duration, tick and lease, such as 14d, 30s, 5m; control, the arm that others
    are compared with; correction for many comparisons: holm, bonferroni, fdr_bh or none; looks:
    any (the default: a report holds whenever somebody looks) or end (one look, when the
    duration is over, with narrower intervals).

    [arms.NAME]: an empty arm is stock; profile, a name or a path; or
    [arms.NAME.policy.POLICY] with enabled and knobs, as in profiles. A policy that is not
    named is off, and a knob that is not named has its default.

    [[metrics]]: name; source, one of vmstat:FIELD (several with +), psi:memory/full,
    counter:POLICY/NAME, command:/PROGRAM ARGUMENTS (the first number that the program
    prints).

    The kind of a metric is rate (growth a second), mean (of a level), ratio (growth for
    each growth of per), quantile (with quantile = 0.9; grows = true for the quantile of
    a rate) or count (events that many hosts have rarely or never, such as OOM kills).

    better is less or more; detect_pct is the smallest effect worth seeing; margin_pct is how
    much worse than control an arm may be and still count as no worse. promql and
    per_promql are the metric in Prometheus: a selector, or an expression with $window.

    [guardrails]: allocation_stalls_per_s, psi_memory_full_pct and thp_fallback_pct over
    window, oom_kills since the host joined, taint = true (a new taint bit that is not
    livemm's). Set a guardrail to false to do without the guardrail. A host that passes a
    limit goes back to stock at once. went_down = true: a host that crashed while an arm was
    on does not switch the arm on again.

    Mode host: weight of each arm (all, or none); start, a date and time; baseline, a length
    of time before the start, whose differences the report takes out (CUPED); strata:
    machine_type, cpus, memory, numa_nodes, architecture; [ramp] with
    percent = [1, 5, 10, 25, 50] and every = "1d". When weights change, the old weights go into
    previous_weights = [{off = 0.5, on = 0.5}], oldest first, so that as few hosts as
    possible change arms.

    [gate] with decision (a path or an http(s) address), signers (a file of ssh-keygen's
    allowed signers) and lease: hosts join the ramp when a signed decision says so, and not by
    the clock; see `livemmctl rollout`. Without news for longer than lease a host goes to
    stock until there is news; without a lease the host stays where it is. [ramp] may have
    margin_times, such as [10, 4, 2, 1], by which each step's margins are wider: few hosts
    cannot show a small margin.

    Mode switchback: [switchback] with block, washout (the first part of a block, not
    counted) and seed. Not for policies that leave a lasting state in memory: pageblock and
    cma.
    """
    found = load_experiment(experiment, app.host)
    missing = fit_here(app.host, found)
    data = {
        "experiment": found.name, "mode": found.mode, "control": found.control,
        "arms": {arm.name: {"weight": arm.weight, "policies": arm.settings}
                 for arm in found.arms},
        "duration_seconds": found.duration_s, "lease_seconds": found.lease_s,
        "metrics": [metric.name for metric in found.metrics],
        "no_numbers_for": missing,
        **_host_data(app, found, None),
    }

    def text() -> str:
        lines = [f"{found.name}: by {'host' if found.mode == HOST else 'blocks of time'},"
                 f" {duration_text(found.duration_s)}, lease {found.lease_s} s"]
        for arm in found.arms:
            words = "; ".join(
                f"{policy} " + " ".join(f"{key}={value}" for key, value in knobs.items())
                for policy, knobs in arm.settings.items()) or "stock"
            share = f" {arm.weight:.0%}" if found.mode == HOST else ""
            control = " (control)" if arm.name == found.control else ""
            lines.append(f"  {arm.name}{control}{share}: {words}")
        lines.append(f"metrics: {', '.join(metric.name for metric in found.metrics)}")
        lines += [f"no numbers here, now, for: {source}" for source in missing]
        return "\n".join([*lines, _host_text(found, data)])

    app.show(data, text)


@_command(
    ("livemmctl ab assign pcp.toml", "the arm that this host would be in"),
    ("livemmctl ab assign pcp.toml --id 4e7a918525b94da8ad4b4f264a130726",
     "the arm of another host of the same kind"),
)
@click.argument("experiment", type=FILE)
@click.option("--id", "identity", metavar="ID", help="A host's id in experiments.")
def assign(app: App, experiment: Path, identity: str | None) -> None:
    """Show this host's arm, and when the host takes part in EXPERIMENT."""
    found = load_experiment(experiment, app.host)
    data = _host_data(app, found, identity)
    app.show({"experiment": found.name, **data}, lambda: _host_text(found, data))


def _telling(app: App, experiment: Experiment) -> Any:
    blocks = ""
    if experiment.switchback is not None:
        count = int(experiment.duration_s // experiment.switchback.block_s)
        blocks = f" of {count}"

    def tell(kind: str, fields: Mapping[str, object]) -> None:
        where = f" (block {int(str(fields['block'])) + 1}{blocks})" if "block" in fields else ""
        words = {
            "start": "started", "resume": "going on",
            "apply": f"arm {fields.get('arm')}{where}",
            "guard": f"guardrail passed: {fields.get('words')}; back to stock",
            "drift": str(fields.get("reason")),
        }.get(kind)
        if kind == "apply" and not fields.get("ok"):
            words = f"{words}: refused: {fields.get('reason')}; stays at stock"
        if words is not None:
            app.say(f"{time.strftime('%H:%M:%S')} {words}")

    return tell


@_command(
    ("livemmctl ab run pcp.toml --journal /var/lib/livemm/pcp.jsonl", "run the experiment"),
    ("livemmctl ab run pcp.toml --journal pcp.jsonl --tick 2", "read every two seconds"),
)
@click.argument("experiment", type=FILE)
@click.option("--journal", type=FILE, required=True,
              help="File for every decision and number, a JSON object a line.")
@click.option("--tick", type=Seconds(TICK_LEAST_S, TICK_MOST_S),
              help="Seconds between two readings, in place of the tick in the file.")
def run(app: App, experiment: Path, journal: Path, tick: float | None) -> None:
    """Run an EXPERIMENT on this host to the end, in the foreground.

    Every policy must be off before the first run. Ctrl-C and SIGTERM end the run with the
    host at stock; the same command with the same journal continues the run. If the runner is
    killed, the kernel goes back to stock by itself when the lease runs out.

    livemm-ab@NAME.service runs /etc/livemm/experiments/NAME.toml with the journal
    /var/lib/livemm/NAME.jsonl, once you have enabled the service. The service continues the
    experiment after a reboot, and restarts a runner that was killed.
    """
    found = load_experiment(experiment, app.host)
    if tick is not None:
        found = with_tick(found, tick)
    with RealClock() as clock:
        outcome = run_here(app.host, found, experiment, journal, clock, _telling(app, found))
    if outcome.status != Exit.OK:
        left = ("what was switched by hand stays so, the rest is at stock"
                if outcome.status == Exit.DRIFT else "the host is back to stock")
        raise CtlError(f"{outcome.reason}; {left}", outcome.status,
                       "start the experiment again to go on" if outcome.kind == "stop" else None)
    app.show({"experiment": found.name, "outcome": outcome.kind, "reason": outcome.reason},
             lambda: f"ended: {outcome.reason}; the host is at stock")


@_command(("livemmctl ab status", "which experiment runs here, and its arm"))
def status(app: App) -> None:
    """Show the experiment that runs on this host."""
    running, alive = Place(app.host).runner()
    if running is None:
        app.show({"running": None}, lambda: "no experiment is running on this host")
        return
    data: dict[str, Any] = {
        "running": alive, "pid": running.pid, "experiment": running.experiment,
        "file": running.file, "journal": running.journal,
    }
    records = read_journal(Path(running.journal)).records
    past = past_of(records, running.experiment, draw.host_id(app.host))
    if past is not None:
        data |= {
            "since": past.start["t"], "last": past.last["t"], "guardrail": past.tripped or None,
            "arm": next((r["arm"] for r in reversed(records) if "arm" in r), None),
            "block": past.block + 1 if past.block >= 0 else None, "ended": past.ended or None,
        }

    def text() -> str:
        lines = [f"{running.experiment}: " + (
            f"runner {running.pid}" if alive else
            "the runner has died; livemmctl ab run continues the experiment,"
            " livemmctl ab stop ends the experiment")]
        for key in ("arm", "block", "guardrail"):
            if data.get(key) is not None:
                lines.append(f"{key}: {data[key]}")
        lines += [f"{key}: {_moment(data[key])}" for key in ("since", "last") if key in data]
        return "\n".join([*lines, f"journal: {running.journal}"])

    app.show(data, text)


@_command(("livemmctl ab stop", "end the experiment here for good; the host is at stock"))
@click.option("--timeout", type=Seconds(0, 3600), default=60, show_default=True,
              help="Seconds to wait for the runner.")
def stop(app: App, timeout: float) -> None:
    """End the experiment on this host for good.

    The command works whether or not the runner is alive.
    """
    experiment, alive = stop_here(app.host, timeout)
    words = "ended" if alive else "the runner had died; ended"
    app.show({"experiment": experiment, "runner_alive": alive},
             lambda: f"{experiment}: {words}; the host is at stock")


@_command(
    ("livemmctl ab report pcp.toml pcp.jsonl", "from the journal of one host"),
    ("livemmctl ab report pcp.toml journals/*.jsonl --html report.html",
     "from the journals of a fleet, as a page"),
    ("livemmctl ab report pcp.toml --prometheus http://metrics:9090 --json",
     "from the fleet's Prometheus"),
)
@with_data
@click.option("--html", type=FILE, help="Also write an HTML page with pictures to this file.")
def report(app: App, experiment: Path, html: Path | None, **data: Any) -> None:
    """Report on an EXPERIMENT.

    The data come from the journals of hosts or from a Prometheus server. Where an assumption
    fails, the report draws no conclusion and names the assumption.

    Verdicts: better; worse; no worse by MARGIN % (margin_pct of the metric); undecided, with
    the part of the data that is there. A report may be read at any time, and as often as you
    like, unless the experiment says looks = "end".
    """
    # The libraries of statistics take a second to import: nothing else waits for them.
    from livemmctl.ab.analyse import analyse
    from livemmctl.ab.report import report_data, report_text

    found = load_experiment(experiment, app.host)
    made = analyse(found, Data(**data).seen(found))
    if html is not None:
        from livemmctl.ab.html import report_html

        replace(html, report_html(made))
    app.show(report_data(made), lambda: report_text(made))


@_command(
    ("livemmctl ab power --mean 8230 --deviation 400 --effect 1",
     "hosts an arm to see 1 % of 8230"),
)
@click.option("--mean", type=float, required=True, help="The metric's mean over hosts.")
@click.option("--deviation", type=float, required=True,
              help="The metric's standard deviation over hosts.")
@click.option("--effect", type=float, required=True, metavar="PERCENT",
              help="The smallest effect worth seeing.")
def power(app: App, mean: float, deviation: float, effect: float) -> None:
    """Show how many hosts (or blocks) each arm needs.

    The number suffices to detect the effect with a power of 80 %, at a significance level of 5 %.
    """
    from livemmctl.ab.stats.checks import units_for

    # Written so that nan, which compares false with everything, is refused too.
    if not (0 < deviation < 1e300 and 0 < abs(mean) < 1e300 and 0 < effect < 1e6):
        raise UsageError("--deviation and --effect have to be above 0, --mean not 0")
    units = units_for(abs(mean) * effect / 100 / deviation)
    if units is None:
        raise UsageError("the effect is too small against the deviation for any fleet")
    app.show({"units_per_arm": units},
             lambda: f"{units:,} an arm, {2 * units:,} together with control")
