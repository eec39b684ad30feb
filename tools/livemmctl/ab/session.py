# SPDX-License-Identifier: GPL-2.0-only
"""One run on this host, put together: lock, journal, module, clock; and its end from outside."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from livemmctl.ab.assign import host_id
from livemmctl.ab.clock import STOP_SIGNAL, Clock
from livemmctl.ab.facts import series_of, strata_of
from livemmctl.ab.gate import Fetcher, Gate
from livemmctl.ab.journal import Journal, Past, past_of, read_journal
from livemmctl.ab.model import HOST, Experiment
from livemmctl.ab.place import Place, Running
from livemmctl.ab.runner import Outcome, Runner, Setting
from livemmctl.ab.sample import Sampler
from livemmctl.ab.switch import Switch, found_before, found_on, settings_for
from livemmctl.control import MODULE, ModuleControl, is_loaded, on_in, open_control
from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.host import Host
from livemmctl.profile.defaults import defaults

#: Part of a tick that commands of metrics may take.
COMMAND_SHARE = 0.5
#: Part of a tick, and seconds, that asking for a decision may take.
GATE_SHARE, GATE_TIMEOUT_S = 0.25, 5.0

Tell = Callable[[str, Mapping[str, object]], None]


def with_tick(experiment: Experiment, tick_s: float) -> Experiment:
    """The experiment with another tick.  Raises CtlError, USAGE, if it does not fit."""
    plan = experiment.switchback
    if experiment.lease_s < 3 * tick_s:
        raise UsageError(f"--tick {tick_s:g}: the lease is {experiment.lease_s} s; three ticks have"
                         " to fit into it")
    if plan is not None and plan.washout_s + 2 * tick_s > plan.block_s:
        raise UsageError(f"--tick {tick_s:g}: less than two ticks of a block would be left")
    return replace(experiment, tick_s=tick_s)


def setting_of(host: Host, experiment: Experiment) -> Setting:
    return Setting(
        host=host_id(host), strata=strata_of(host, experiment.strata),
        boot=host.read_or("/proc/sys/kernel/random/boot_id").strip(),
        kernel=host.read_or("/proc/sys/kernel/osrelease").strip(),
        module=host.read_or(f"{MODULE}/version").strip(),
    )


def _open(host: Host, experiment: Experiment) -> tuple[ModuleControl | None, str]:
    """The module, or why there is none: by host that is no reason not to take part."""
    try:
        return open_control(host), ""
    except CtlError as error:
        if experiment.mode == HOST and error.status == Exit.NOT_LOADED:
            return None, error.message
        raise


def sampler_for(host: Host, experiment: Experiment, control: ModuleControl | None) -> Sampler:
    """What reads the host; all commands together take half a tick at most."""
    commands = sum(1 for source in experiment.sources if source.kind == "command")
    return Sampler(host, control, experiment.tick_s * COMMAND_SHARE / max(commands, 1))


def wave_of(experiment: Experiment, setting: Setting) -> str:
    """The kernel whose hosts this host takes its steps with; empty: with all."""
    return series_of(setting.kernel) if experiment.ramp.kernels else ""


def gate_for(experiment: Experiment, kernel: str, past: Past | None) -> Gate | None:
    """The rollout's decisions, from where the last runner of this host stood."""
    if experiment.gate is None:
        return None
    fetcher = Fetcher(experiment.gate.decision,
                      min(GATE_TIMEOUT_S, experiment.tick_s * GATE_SHARE))
    gate = Gate(experiment.gate, experiment.name, fetcher, experiment.ramp, kernel)
    if past is not None:
        gate.serial, gate.percent, gate.heard_s = past.serial, past.percent, past.heard_s
    return gate


def fit_here(host: Host, experiment: Experiment) -> list[str]:
    """The sources of metrics that this host has no numbers for now.

    Raises CtlError if the module is loaded and does not have what an arm asks for.
    """
    control = open_control(host) if is_loaded(host) else None
    if control is not None:
        found = found_on(control)
        for arm in experiment.arms:
            try:
                settings_for(found, arm.settings)
            except CtlError as error:
                raise CtlError(f"arm {arm.name}: {error.message}", error.status,
                               error.hint) from None
    numbers = sampler_for(host, experiment, control).read(experiment.sources)
    return [str(source) for source in experiment.sources if str(source) not in numbers]


def run_here(
    host: Host, experiment: Experiment, file: Path, journal_path: Path, clock: Clock, tell: Tell
) -> Outcome:
    control, missing = _open(host, experiment)
    setting = setting_of(host, experiment)
    place = Place(host)
    running = Running(os.getpid(), experiment.name, str(file.absolute()),
                      str(journal_path.absolute()))
    with (place.taken(running),
          closing(Journal(journal_path, experiment.name, setting.host)) as journal):
        wave = wave_of(experiment, setting)
        past = past_of(read_journal(journal_path).records, experiment.name, setting.host, wave)
        if (past is not None and experiment.mode != HOST
                and past.start.get("digest") != experiment.digest):
            raise UsageError(f"{journal_path} is of another version of {file}",
                             "a switchback's plan cannot change on the way: use a new journal")
        return Runner(
            experiment, setting, control, sampler_for(host, experiment, control), journal, clock,
            lambda arm: place.show_arm(experiment.name, arm, wave),
            gate_for(experiment, wave, past), past, missing, defaults(host), tell,
            lambda: is_loaded(host),
        ).run()


def stop_here(host: Host, timeout_s: float) -> tuple[str, bool]:
    """End the experiment on this host for good: its name, and whether a runner still lived.

    Raises CtlError: FAILED, TIMEOUT.
    """
    place = Place(host)
    running, alive = place.runner()
    if running is None:
        raise CtlError("no experiment is running on this host", Exit.FAILED)
    if not alive:
        _clean(host, running)
        place.leave()
        return running.experiment, False
    try:
        os.kill(running.pid, STOP_SIGNAL)
    except OSError as error:
        raise CtlError(f"cannot tell runner {running.pid} to stop: {error.strerror}",
                       Exit.DENIED) from None
    deadline = time.monotonic() + timeout_s
    while place.runner()[1]:
        if time.monotonic() > deadline:
            raise CtlError(f"runner {running.pid} has not ended within {timeout_s:g} s",
                           Exit.TIMEOUT, "livemmctl disable --all")
        time.sleep(0.1)
    return running.experiment, True


def _clean(host: Host, running: Running) -> None:
    """A runner died: what it was to do at its end."""
    path = Path(running.journal)
    identity = host_id(host)
    past = None
    with ExitStack() as ends:
        journal = None
        if path.exists():
            # Locked first: should a runner begin just now, it is for that one to clean up.
            journal = ends.enter_context(closing(Journal(path, running.experiment, identity)))
            past = past_of(read_journal(path).records, running.experiment, identity)
        control = open_control(host) if is_loaded(host) else None
        if control is not None:
            now = found_on(control)
            # Only what a lease of ours still covers; the rest is the kernel's or an admin's.
            if on_in(now) and control.lease() > 0:
                found = found_before(past, now)
                Switch(control, found, 1, found).to_stock()
        if journal is not None and past is not None and not past.ended:
            journal.write(time.time(), "end", reason="ended by livemmctl ab stop, after its runner")
