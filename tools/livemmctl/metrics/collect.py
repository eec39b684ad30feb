# SPDX-License-Identifier: GPL-2.0-only
"""The host's state as metric families."""

import re
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from livemmctl.ab.place import ARM
from livemmctl.control import ModuleControl, open_control
from livemmctl.errors import CtlError
from livemmctl.files import json_of
from livemmctl.host import Host
from livemmctl.modules import LivepatchState, livepatch_state
from livemmctl.profile.store import applied

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
PAGE = 4096
_NUMBER = re.compile(r"\d{1,15}(\.\d{1,3})?\Z", re.A)


def arm_of(host: Host) -> dict[str, str] | None:
    """Experiment and arm of the host, if it is in one; and its kernel, where that counts."""
    data = json_of(host, ARM)
    experiment, arm = data.get("experiment"), data.get("arm")
    if isinstance(experiment, str) and isinstance(arm, str) and experiment and arm:
        kernel = data.get("kernel")
        more = {"kernel": kernel} if isinstance(kernel, str) and kernel else {}
        return {"experiment": experiment, "arm": arm, **more}
    return None


class LivemmCollector(Collector):
    """Reads the host anew for each collection; what cannot be read is left out."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def collect(self) -> Iterator[Metric]:
        """Every family.  livemm_up is there, whatever happens."""
        families: list[Metric] = []
        try:
            control = open_control(self.host)
            families = [*self._module(control), *self._counters(control),
                        *self._held(control), *self._hooks(control)]
            is_up = 1
        except (CtlError, OSError):
            is_up = 0
        yield GaugeMetricFamily("livemm_up", "Whether livemm is loaded and could be read.", is_up)
        yield from families
        yield from self._facts()

    def _facts(self) -> Iterator[Metric]:
        """What is known without the module."""
        arm = arm_of(self.host)
        if arm is not None:
            yield InfoMetricFamily("livemm_arm", "The arm of an experiment that this host is in.",
                                   arm)
        profile = applied(self.host)
        if profile is not None:
            yield InfoMetricFamily("livemm_profile", "The profile applied last.",
                                   {"profile": profile.name})

    def _module(self, control: ModuleControl) -> Iterator[Metric]:
        words = control.version().split() + [""] * 4
        yield InfoMetricFamily(
            "livemm_build", "Versions of livemm, of its files, and of the kernel.",
            {"version": words[1], "abi": words[3], "kernel": self.host.release()})
        enabled = GaugeMetricFamily("livemm_policy_enabled",
                                    "Whether a policy is on and has its hooks.", labels=["policy"])
        states = GaugeMetricFamily("livemm_policy_state", "1 for the state that a policy is in.",
                                   labels=["policy", "state"])
        supported = GaugeMetricFamily("livemm_policy_supported",
                                      "Whether this kernel can run a policy.", labels=["policy"])
        mode = InfoMetricFamily("livemm_policy_mode", "The mode that a policy is set to.",
                                labels=["policy"])
        for row in control.policies():
            enabled.add_metric([row.name], int(row.state == "on"))
            states.add_metric([row.name, row.state], 1)
            supported.add_metric([row.name], int(row.state != "unsupported"))
            if row.mode:
                mode.add_metric([row.name], {"mode": row.mode})
        yield from (enabled, states, supported, mode)
        knobs = GaugeMetricFamily("livemm_policy_knob", "Knobs that are numbers, in their units.",
                                  labels=["policy", "knob"])
        for policy, values in control.settings().items():
            for key, value in values.items():
                if key != "enabled" and _NUMBER.match(value):
                    knobs.add_metric([policy, key], float(value))
        yield knobs
        yield GaugeMetricFamily("livemm_lease_remaining_seconds",
                                "Seconds until every policy goes off; 0 without a lease.",
                                control.lease())
        waits = livepatch_state(self.host) is LivepatchState.TRANSITION
        yield GaugeMetricFamily("livemm_livepatch_transition",
                                "Whether a livepatch of livemm waits for tasks.", int(waits))

    @staticmethod
    def _counters(control: ModuleControl) -> Iterator[Metric]:
        for policy in control.settings():
            try:
                counts = control.counters(policy)
            except CtlError:
                continue
            for name, value in counts.items():
                if _NAME.match(policy) and _NAME.match(name):
                    words = name.replace("_", " ")
                    yield CounterMetricFamily(
                        f"livemm_{policy}_{name}",
                        f"Counter {name} of the policy {policy}: {words}, since livemm was loaded.",
                        value=value)

    @staticmethod
    def _held(control: ModuleControl) -> Iterator[Metric]:
        """To be added to what node_exporter says is free or available."""
        held = GaugeMetricFamily("livemm_held_bytes",
                                 "Free memory that a policy holds, which is not in MemFree.",
                                 labels=["policy", "node", "zone"])
        try:
            rows = control.held()
        except CtlError:
            return
        for labels, pages in rows.items():
            held.add_metric(labels, pages * PAGE)
        yield held

    @staticmethod
    def _hooks(control: ModuleControl) -> Iterator[Metric]:
        try:
            rows = control.hooks()
        except CtlError:
            return
        states = GaugeMetricFamily("livemm_hook_state", "1 for the state that a hook is in.",
                                   labels=["hook", "mechanism", "state"])
        hits = CounterMetricFamily("livemm_hook_hits", "Times that a hook was called.",
                                   labels=["hook"])
        missed = CounterMetricFamily("livemm_hook_missed", "Times that a kprobe was missed.",
                                     labels=["hook"])
        # A file that names a hook twice is none of ours: no sample may come twice.
        for row in {row.name: row for row in rows}.values():
            states.add_metric([row.name, row.mechanism, row.state], 1)
            if row.mechanism in ("livepatch", "kprobe", "direct", "tracepoint"):
                hits.add_metric([row.name], row.hits)
                missed.add_metric([row.name], row.missed)
        yield from (states, hits, missed)


def registry(host: Host) -> CollectorRegistry:
    made = CollectorRegistry()
    made.register(LivemmCollector(host))
    return made
