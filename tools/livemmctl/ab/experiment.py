# SPDX-License-Identifier: GPL-2.0-only
"""Reading an experiment's TOML file: all of it is checked, and each error names its key."""

import hashlib
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from livemmctl.ab.facts import FACTS, series_of
from livemmctl.ab.fields import LAST_TIME_S, Fields
from livemmctl.ab.model import (
    ANY_TIME,
    AT_END,
    HOST,
    LASTING_POLICIES,
    SWITCHBACK,
    Arm,
    Experiment,
    GatePlan,
    Guardrails,
    Metric,
    Ramp,
    Source,
    Switchback,
)
from livemmctl.control import LEASE_MAX_S, Knobs, Settings
from livemmctl.errors import CtlError, Exit, UsageError, os_errors
from livemmctl.files import parse_toml
from livemmctl.host import Host
from livemmctl.profile.model import parse_policies
from livemmctl.profile.store import find

CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")
METRIC_KINDS = ("rate", "mean", "ratio", "quantile", "count")
#: The least hosts' time in a tick, so that the tool is no load of its own.
TICK_LEAST_S, TICK_MOST_S = 1, 3600
#: A livepatch transition may hold the runner up for as long; the lease has to last longer.
LEASE_LEAST_S = 45
LONGEST_S = 366 * 86400.0
DEFAULT_RAMP = (1.0, 5.0, 10.0, 25.0, 50.0)
#: Whose decisions about rollouts a host believes.
SIGNERS = "/etc/livemm/rollout-signers"
#: No experiment needs more, and a file of this size is a mistake.
FILE_MAX_BYTES = 1 << 20

_SOURCE_FORMS = {
    "counter": re.compile(r"[a-z0-9_]+/[a-z0-9_]+\Z"),
    "vmstat": re.compile(r"[a-z0-9_]+(\+[a-z0-9_]+)*\Z"),
    "psi": re.compile(r"(cpu|io|memory)/(some|full)\Z"),
}


def load_experiment(path: Path, host: Host) -> Experiment:
    """Read an experiment's file; profiles by name are those of `host`.

     Raises CtlError, USAGE, that names the key.
    """
    with os_errors(f"cannot read {path}", Exit.USAGE), path.open("rb") as file:
        data = file.read(FILE_MAX_BYTES + 1)
    if len(data) > FILE_MAX_BYTES:
        raise UsageError(f"{path}: larger than {FILE_MAX_BYTES} bytes")
    table = parse_toml(data.decode("utf-8", errors="replace"), str(path))
    digest = hashlib.sha256(data).hexdigest()[:16]
    return parse_experiment(table, str(path), digest, path.parent, host)


def parse_experiment(
    table: Mapping[str, Any], source: str, digest: str, folder: Path, host: Host
) -> Experiment:
    """An experiment from its table; profiles are looked for in `folder` first.

    Raises CtlError, USAGE, that names the key.
    """
    top = Fields(table, "", source)
    mode = top.choice("mode", (HOST, SWITCHBACK))
    tick_s = top.seconds("tick", TICK_LEAST_S, TICK_MOST_S, 10.0)
    duration_s = top.seconds("duration", 2 * tick_s, LONGEST_S)
    arms = _arms(top.table("arms"), folder, host, mode)
    names = [arm.name for arm in arms]
    least = max(LEASE_LEAST_S, 3 * tick_s)
    start_s = top.moment("start")
    if start_s is not None and not 0 <= start_s <= LAST_TIME_S - LONGEST_S:
        raise top.error("start", "too far off")
    made = Experiment(
        name=top.name("name"), salt=top.text("salt"), mode=mode, arms=arms,
        control=top.choice("control", names, names[0]),
        metrics=_metrics(top, arms, mode), duration_s=duration_s, tick_s=tick_s,
        lease_s=int(top.seconds("lease", least, LEASE_MAX_S, max(60.0, least))),
        start_s=start_s, baseline_s=top.seconds("baseline", 0, LONGEST_S, 0.0),
        strata=top.words("strata", list(FACTS)), ramp=_ramp(top, mode, start_s, duration_s),
        gate=_gate(top, mode, "ramp" in table),
        switchback=_switchback(top, mode, tick_s, duration_s, len(arms)),
        guardrails=_guardrails(top.table("guardrails"), tick_s),
        correction=top.choice("correction", CORRECTIONS, "holm"),
        looks=top.choice("looks", (ANY_TIME, AT_END), ANY_TIME),
        previous_weights=_previous_weights(top, names), digest=digest,
    )
    for key in ("start", "baseline", "previous_weights"):
        if mode == SWITCHBACK and key in table:
            raise top.error(key, 'only with mode = "host": here one host is its own control')
    top.end()
    return made


def _arms(tables: Fields, folder: Path, host: Host, mode: str) -> tuple[Arm, ...]:
    found: list[tuple[str, float | None, Knobs]] = []
    for name, table in tables.rest().items():
        tables.check_name(name, name)
        fields = Fields(table, tables.place(name), tables.source)
        weight = fields.number("weight", 0.0, 1.0) if fields.has("weight") else None
        settings = _arm_settings(fields, folder, host)
        fields.end()
        if mode == SWITCHBACK:
            _refuse_lasting(fields, settings)
            if weight is not None:
                raise fields.error("weight", "not with mode = \"switchback\": arms take turns")
        found.append((name, weight, settings))
    if len(found) < 2:
        raise tables.error("", "two arms at least are wanted: [arms.off] and [arms.on], say")
    given = [weight for _, weight, _ in found if weight is not None]
    if given and len(given) != len(found):
        raise tables.error("", "a weight for every arm, or for none")
    if given and abs(sum(given) - 1) > 1e-6:
        raise tables.error("", f"the weights add up to {sum(given):g}, not to 1")
    if given and min(given) == 0 and sum(1 for weight in given if weight) < 2:
        raise tables.error("", "two arms at least need a weight above 0")
    arms = tuple(
        Arm(name, 1 / len(found) if weight is None else weight, settings)
        for name, weight, settings in found
    )
    seen: dict[str, str] = {}
    for arm in arms:
        text = repr(sorted((p, sorted(knobs.items())) for p, knobs in arm.settings.items()))
        if text in seen:
            raise tables.error(arm.name, f"the same settings as {seen[text]}")
        seen[text] = arm.name
    return arms


def _arm_settings(fields: Fields, folder: Path, host: Host) -> Knobs:
    """Settings by policy and knob, of an arm's table; empty is stock.

    `profile` is the name of a profile of the host, or the path of a file, which may be
    relative to the experiment's own folder.  Raises CtlError, USAGE, that names the key.
    """
    if fields.has("profile"):
        name = fields.text("profile")
        if fields.has("policy"):
            raise fields.error("policy", "either a profile or [policy.NAME] tables, not both")
        path = "/" in name or name.endswith(".toml")
        try:
            return find(host, str(folder / name) if path else name).read().policies
        except CtlError as error:
            raise fields.error("profile", error.message) from None
    where = f"{fields.source}: {fields.where}"
    return parse_policies(fields.table("policy").rest(), where)


def _refuse_lasting(fields: Fields, settings: Settings) -> None:
    for policy in settings:
        if policy in LASTING_POLICIES:
            raise fields.error(
                policy,
                f"{policy} leaves a lasting state in physical memory behind, which the next"
                " block of time would inherit: switchback cannot compare the policy",
                'use mode = "host"',
            )


def _previous_weights(top: Fields, arms: list[str]) -> tuple[Mapping[str, float], ...]:
    found = []
    for fields in top.tables("previous_weights"):
        weights = {
            name: fields.check_number(name, value, 0.0, 1.0)
            for name, value in fields.rest().items()
        }
        unknown = sorted(set(weights) - set(arms))
        if unknown:
            raise fields.error(unknown[0], "not an arm of this experiment")
        if abs(sum(weights.values()) - 1) > 1e-6:
            raise fields.error("", f"the weights add up to {sum(weights.values()):g}, not to 1")
        found.append(weights)
    return tuple(found)


def _ramp(top: Fields, mode: str, start_s: float | None, duration_s: float) -> Ramp:
    if not top.has("ramp"):
        return Ramp()
    fields = top.table("ramp")
    if mode != HOST:
        raise fields.error("", 'only with mode = "host"')
    given = fields.items("percent") or list(DEFAULT_RAMP)
    percents = tuple(fields.check_number("percent", value, 0, 100) for value in given)
    every_s = fields.seconds("every", 60, LONGEST_S)
    margins = tuple(fields.check_number("margin_times", value, 1, 1000)
                    for value in fields.items("margin_times") or [1.0] * len(percents))
    kernels = tuple(fields.items("kernels"))
    for kernel in kernels:
        if not isinstance(kernel, str) or not kernel or series_of(kernel) != kernel:
            raise fields.error("kernels", f"{kernel!r}: a kernel series is wanted, as \"6.12\"")
    if len(set(kernels)) != len(kernels):
        raise fields.error("kernels", "a kernel twice")
    if kernels and not top.has("gate"):
        raise fields.error("kernels", "only with [gate]: by the clock all kernels go together")
    fields.end()
    if len(margins) != len(percents):
        raise fields.error("margin_times", "a number for each step is wanted")
    if list(percents) != sorted(set(percents)) or percents[0] <= 0:
        raise fields.error("percent", "each has to be more than the one before, the first above 0")
    if start_s is None and len(percents) > 1:
        raise top.error(
            "start", "missing: hosts that ramp up by their clocks have to agree on when it began"
        )
    if every_s * (len(percents) * max(len(kernels), 1) - 1) >= duration_s:
        raise fields.error("every", "the experiment would end before the last step of the ramp")
    return Ramp(percents, every_s, margins, kernels)


def _gate(top: Fields, mode: str, has_ramp: bool) -> GatePlan | None:
    if not top.has("gate"):
        return None
    fields = top.table("gate")
    if mode != HOST:
        raise fields.error("", 'only with mode = "host"')
    if not has_ramp:
        raise top.error("ramp", "missing: a gate opens the steps of a ramp")
    decision = fields.text("decision")
    if not decision.startswith(("/", "http://", "https://")):
        raise fields.error("decision", f"{decision!r}: a whole path or http(s) address is wanted")
    plan = GatePlan(decision, fields.text("signers", SIGNERS),
                    fields.seconds("lease", 0, LONGEST_S, 0.0))
    fields.end()
    return plan


def _switchback(
    top: Fields, mode: str, tick_s: float, duration_s: float, arms: int
) -> Switchback | None:
    if mode == HOST:
        if top.has("switchback"):
            raise top.table("switchback").error("", 'only with mode = "switchback"')
        return None
    fields = top.table("switchback")
    block_s = fields.seconds("block", 2 * tick_s, 7 * 86400)
    washout_s = fields.seconds("washout", 0, 7 * 86400, 0.0)
    seed = int(fields.number("seed", 0, 2**53))
    fields.end()
    if washout_s + 2 * tick_s > block_s:
        raise fields.error("washout", "less than two ticks of a block would be left after it")
    if duration_s < 2 * arms * block_s:
        raise top.error("duration", f"not two blocks for each of the {arms} arms")
    return Switchback(block_s, washout_s, seed)


def _refuse_silent(fields: Fields, source: Source, arms: tuple[Arm, ...]) -> None:
    """A policy that is off counts nothing: its counters say nothing about that arm."""
    policy = source.what.partition("/")[0]
    for arm in arms:
        if arm.settings.get(policy, {}).get("enabled") != "1":
            raise fields.error(
                "source",
                f"{source} stands still while {policy} is off, as in arm {arm.name}",
                "compare by what the kernel itself counts, or what a command prints",
            )


def _metrics(top: Fields, arms: tuple[Arm, ...], mode: str) -> tuple[Metric, ...]:
    metrics: list[Metric] = []
    for fields in top.tables("metrics"):
        metric = _metric(fields)
        for source in (metric.source, metric.per):
            if source is not None and source.kind == "counter":
                _refuse_silent(fields, source, arms)
        if metric.kind == "count" and mode != HOST:
            raise fields.error("kind", 'count only with mode = "host"', 'kind = "rate"')
        if any(metric.name == other.name for other in metrics):
            raise fields.error("name", f"{metric.name!r}: twice")
        metrics.append(metric)
    if not metrics:
        raise top.error("metrics", "missing: at least one [[metrics]] is wanted")
    return tuple(metrics)


def _metric(fields: Fields) -> Metric:
    name = fields.name("name")
    kind = fields.choice("kind", METRIC_KINDS, "rate")
    source = _source(fields, "source")
    per = _source(fields, "per") if fields.has("per") else None
    if (kind == "ratio") != (per is not None):
        raise fields.error("per", "wanted with kind = \"ratio\", and only with it")
    if kind == "quantile" or not fields.has("quantile"):
        quantile = fields.number("quantile", 0.01, 0.99) if kind == "quantile" else 0.5
    else:
        raise fields.error("quantile", "only with kind = \"quantile\"")
    grows = kind in ("rate", "ratio", "count") or (
        kind == "quantile" and fields.flag("grows", source.kind in ("counter", "psi")))
    if not grows and source.kind in ("counter", "psi"):
        raise fields.error("source", f"{source}: only ever grows: kind = \"rate\" or \"ratio\"")
    metric = Metric(
        name=name, kind=kind, source=source, per=per, quantile=quantile, grows=grows,
        better=fields.choice("better", ("less", "more"), "less"),
        detect_pct=fields.number("detect_pct", 0.01, 1000, 1.0),
        margin_pct=fields.number("margin_pct", 0.01, 1000) if fields.has("margin_pct") else None,
        promql=fields.text("promql", ""),
        per_promql=fields.text("per_promql", ""),
    )
    fields.end()
    return metric


def _source(fields: Fields, key: str) -> Source:
    text = fields.text(key)
    kind, colon, what = text.partition(":")
    if not colon or kind not in (*_SOURCE_FORMS, "command"):
        raise fields.error(
            key, f"{text!r}: wanted is counter:POLICY/NAME, vmstat:FIELD, psi:memory/full"
            " or command:PROGRAM ARGUMENTS"
        )
    if kind == "command":
        try:
            argv = shlex.split(what)
        except ValueError as error:
            raise fields.error(key, f"{text!r}: {error}") from None
        if not argv or not argv[0].startswith("/"):
            raise fields.error(key, f"{text!r}: a program with its whole path is wanted")
    elif not _SOURCE_FORMS[kind].match(what):
        raise fields.error(key, f"{text!r}: not a name that a {kind} can have")
    return Source(kind, what)


def _guardrails(fields: Fields, tick_s: float) -> Guardrails:
    stock = Guardrails()
    found = Guardrails(
        allocation_stalls_per_s=fields.limit(
            "allocation_stalls_per_s", 1e9, stock.allocation_stalls_per_s),
        oom_kills=fields.limit("oom_kills", 1e9, stock.oom_kills),
        psi_memory_full_pct=fields.limit("psi_memory_full_pct", 100, stock.psi_memory_full_pct),
        thp_fallback_pct=fields.limit("thp_fallback_pct", 100, stock.thp_fallback_pct),
        taint=fields.flag("taint", stock.taint),
        went_down=fields.flag("went_down", stock.went_down),
        window_s=fields.seconds("window", tick_s, 86400, max(stock.window_s, tick_s)),
    )
    fields.end()
    return found
