# SPDX-License-Identifier: GPL-2.0-only
"""A small fleet end to end: real node_exporters, a real Prometheus that scrapes them, a report.

Each host is a fake tree whose counters grow with time.  `livemmctl export` writes what a
textfile collector of its own node_exporter reads, which also reads the host's /proc, and
one Prometheus scrapes all of them, as a fleet's would.
"""

import contextlib
import io
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import daemons
import numpy as np
import pytest
from conftest import Ctl, Done
from fake_tree import FakeHost
from knob_tables import ROOT
from livemmctl.ab.analyse import BETTER, NOTHING_SEEN, WORSE
from livemmctl.ab.assign import app_specific_id, arm_of, host_id
from livemmctl.ab.experiment import load_experiment
from livemmctl.ab.from_prometheus import ARM_METRIC, Ask, Prometheus, seen_by
from livemmctl.ab.model import Experiment
from livemmctl.ab.place import Place
from livemmctl.app import App
from livemmctl.cli import run
from livemmctl.control import DEBUGFS
from livemmctl.errors import Exit
from livemmctl.files import replace

ALERTS = ROOT / "tools/prometheus/livemm-alerts.yml"
#: Ten with numbers an arm are the least that a report takes.
HOSTS = 26
DURATION_S, STEP_S = 24, 6
#: A host's numbers are this far from its arm's at most: wider than what lateness adds.
SPREAD = 0.4
#: Growth a second, by arm; a host that could not be switched is as control's are.
REFILLS = {"event": 1000.0, "depth": 400.0}
FAULTS = {"event": 5000.0, "depth": 5000.0}
WAITING_US = {"event": 40_000.0, "depth": 70_000.0}

TOML = """
name = "fleet"
salt = "a"
mode = "host"
start = {start}
duration = "{duration}s"
tick = "1s"
looks = "end"
control = "event"
[arms.event.policy.pcp]
enabled = true
mode = "event"
[arms.depth.policy.pcp]
enabled = true
mode = "depth"
[[metrics]]
name = "refills"
source = "counter:pcp/refills"
[[metrics]]
name = "faults"
source = "vmstat:pgfault"
[[metrics]]
name = "memory_wait"
source = "psi:memory/some"
"""


@dataclass
class Machine:
    """A host, and how fast its numbers grow for one of its arm."""

    fake: FakeHost
    textfiles: Path
    arm: str
    factor: float
    daemon: daemons.Daemon
    #: The exporter's timer has died: what it wrote last stays.
    is_stale: bool = False

    @property
    def instance(self) -> str:
        return self.daemon.address

    @property
    def is_loaded(self) -> bool:
        return bool(self.fake.kernel.values)

    def grow(self, seconds: float) -> None:
        """Have the numbers of that moment, and export them."""
        own = self.arm if self.is_loaded else "event"
        text = f"pgfault {self._count(FAULTS[own], seconds)}\n"
        # In one step: half a number would look like a counter that began anew.
        replace(self.fake.path("/proc/vmstat"), text)
        waited = self._count(WAITING_US[own], seconds)
        line = f"avg10=0.00 avg60=0.00 avg300=0.00 total={waited}"
        replace(self.fake.path("/proc/pressure/memory"), f"some {line}\nfull {line}\n")
        if self.is_loaded:
            self.fake.kernel.counts["pcp"]["refills"] = self._count(REFILLS[own], seconds)
            counts = self.fake.kernel.counts["pcp"].items()
            self.fake.kernel.put(f"{DEBUGFS}/pcp/counters",
                                 "".join(f"{name} {count}\n" for name, count in counts))
        if not self.is_stale:
            done(self.fake, "export", "--textfile", str(self.textfiles))

    def _count(self, rate: float, seconds: float) -> int:
        return 1_000_000 + round(rate * self.factor * seconds)


def done(fake: FakeHost, *words: str) -> str:
    """What a command line that succeeds prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(list(words), App(fake)) == Exit.OK
    return out.getvalue()


@dataclass
class Fleet:
    server: Prometheus
    file: Path
    machines: list[Machine] = field(default_factory=list)
    not_loaded: list[Machine] = field(default_factory=list)
    dead: list[Machine] = field(default_factory=list)

    def of(self, arm: str) -> list[Machine]:
        return [machine for machine in self.machines if machine.arm == arm]

    def ask(self, query: str) -> dict[str, float]:
        """What a query is now, by instance."""
        now = time.time()
        return {labels.get("instance", ""): values[-1][1]
                for labels, values in self.server.range(query, now, now, 1) if values}


def write_experiment(path: Path, start_s: int) -> Experiment:
    start = datetime.fromtimestamp(start_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    path.write_text(TOML.format(start=start, duration=DURATION_S), encoding="utf-8")
    return load_experiment(path, FakeHost(path.parent))


def made_machines(folder: Path, made: Experiment, ends: contextlib.ExitStack) -> list[Machine]:
    """Hosts in the arms that they draw; those of an arm are spread evenly around its rate."""
    ids = [f"{number:032x}" for number in range(1, HOSTS + 1)]
    arms = [arm_of(made, app_specific_id(text), {}) for text in ids]
    factors = {arm: iter(np.linspace(1 - SPREAD, 1 + SPREAD, arms.count(arm)))
               for arm in set(arms)}
    found = []
    for number, text in enumerate(ids):
        top = folder / f"h{number}"
        textfiles = top / "textfiles"
        textfiles.mkdir(parents=True)
        fake = FakeHost.make(top / "root")
        fake.kernel.put("/etc/machine-id", text + "\n")
        for name in ("cpu", "io"):
            # node_exporter wants them too.
            fake.kernel.put(f"/proc/pressure/{name}", fake.fetch("/proc/pressure/memory"))
        # As a runner would have it; which arm, the host works out by itself.
        arm = arm_of(made, host_id(fake), {})
        assert arm == arms[number]
        done(fake, "set", "pcp", "enabled=1", f"mode={arm}")
        Place(fake).show_arm(made.name, arm)
        daemon = ends.enter_context(daemons.node_exporter(
            textfiles, top / "log", f"--path.procfs={fake.root}/proc", "--collector.vmstat",
            "--collector.vmstat.fields=^pgfault$", "--collector.pressure"))
        found.append(Machine(fake, textfiles, arm, float(next(factors[arm])), daemon))
    return found


def config(machines: list[Machine]) -> str:
    """JSON is YAML too."""
    return json.dumps({
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ALERTS)],
        "scrape_configs": [{"job_name": "node", "static_configs": [
            {"targets": [machine.instance for machine in machines]}]}],
    })


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The fleet, whose experiment has passed; its Prometheus still answers.

    One host of treatment never had the module, the exporter of one of control is killed
    half way, and the timer of another dies there.
    """
    folder = tmp_path_factory.mktemp("fleet")
    with contextlib.ExitStack() as ends:
        # The disk is not what is tested, and is slow.
        patch = ends.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("os.fsync", lambda descriptor: None)
        file = folder / "fleet.toml"
        machines = made_machines(folder, write_experiment(file, 1_800_000_000), ends)
        begun_s = time.monotonic()

        def grow() -> None:
            for machine in machines:
                machine.grow(time.monotonic() - begun_s)
            time.sleep(0.5)

        def middle(arm: str) -> list[Machine]:
            mine = [machine for machine in machines if machine.arm == arm]
            return mine[len(mine) // 2 - 1:]

        not_loaded = middle("depth")[0]
        not_loaded.fake.kernel.unload()
        not_loaded.fake.kernel.values.clear()
        grow()
        server = ends.enter_context(daemons.prometheus(folder, config(machines)))
        made = Fleet(Prometheus(server.url), file, machines, [not_loaded])
        daemons.wait_for("every host is scraped", lambda: len(made.ask(ARM_METRIC)) == HOSTS, grow)
        start_s = int(time.time()) + 1
        write_experiment(file, start_s)
        daemons.wait_for("half of the time", lambda: time.time() > start_s + DURATION_S / 2, grow)
        dead, stale = middle("event")[:2]
        dead.daemon.end()
        made.dead.append(dead)
        stale.is_stale = True
        # As if it had stood still for long enough to worry.
        old_s = time.time() - 3600
        os.utime(stale.textfiles / "livemm.prom", (old_s, old_s))
        # Scraped after the end: what Prometheus has of the experiment is all there.
        daemons.wait_for(
            "the end is scraped",
            lambda: min(made.ask("timestamp(up)").values()) > start_s + DURATION_S, grow)
        yield made


def reported(ctl: Ctl, fleet: Fleet) -> dict[str, Any]:
    return report(ctl, fleet, "--json").data()


def report(ctl: Ctl, fleet: Fleet, *more: str) -> Done:
    made = ctl("ab", "report", str(fleet.file), "--prometheus", fleet.server.url,
               "--step", str(STEP_S), *more)
    assert made.status == Exit.OK, made.err
    return made


def of_metric(data: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in data["comparisons"] if row["metric"] == name]
    assert isinstance(found, dict)
    return found


def test_every_host_is_in_the_arm_that_it_drew(fleet: Fleet, ctl: Ctl) -> None:
    data = reported(ctl, fleet)
    counts = {arm: len(fleet.of(arm)) for arm in ("event", "depth")}
    assert min(counts.values()) > 10 and sum(counts.values()) == HOSTS
    # That host too which never had the module, and that which is gone.
    assert data["units"] == counts
    assert data["conclusive"], data["checks"]
    assert {row["name"] for row in data["checks"]} == {"sample ratio", "planned time"}


@pytest.mark.parametrize("name,verdict,planted", [
    ("refills", BETTER, REFILLS["depth"] / REFILLS["event"] - 1),
    ("memory_wait", WORSE, WAITING_US["depth"] / WAITING_US["event"] - 1),
])
def test_a_planted_effect_is_found(
    fleet: Fleet, ctl: Ctl, name: str, verdict: str, planted: float
) -> None:
    row = of_metric(reported(ctl, fleet), name)
    assert (row["verdict"], row["refused"]) == (verdict, [])
    found = row["estimate"]
    assert found["relative_low"] < planted < found["relative_high"]
    assert np.sign(found["relative_low"]) == np.sign(found["relative_high"]) == np.sign(planted)


def test_where_nothing_was_planted_nothing_is_found(fleet: Fleet, ctl: Ctl) -> None:
    row = of_metric(reported(ctl, fleet), "faults")
    assert (row["verdict"], row["refused"]) == (NOTHING_SEEN, [])
    assert row["estimate"]["relative_low"] < 0 < row["estimate"]["relative_high"]
    assert row["p_corrected"] > 0.05


def test_hosts_count_as_far_as_they_have_numbers(fleet: Fleet, ctl: Ctl) -> None:
    data = reported(ctl, fleet)
    depth, event = len(fleet.of("depth")), len(fleet.of("event"))
    kernel, ours = of_metric(data, "memory_wait"), of_metric(data, "refills")
    # The kernel's own numbers there are of every host, without the module as well.
    assert kernel["notes"] == []
    assert (kernel["estimate"]["n_control"], kernel["estimate"]["n_treatment"]) == (event, depth)
    assert [note for note in data["notes"] if "on 1 hosts livemm.prom stood still" in note]
    # A module that is not there counts nothing.
    assert ours["notes"] == [f"1 of {depth + event} hosts have no data"]
    assert (ours["estimate"]["n_control"], ours["estimate"]["n_treatment"]) == (event, depth - 1)


def test_a_textfile_that_stands_still_is_not_taken_for_a_host_that_does(fleet: Fleet) -> None:
    (stale,) = [machine for machine in fleet.machines if machine.is_stale]
    made = load_experiment(fleet.file, stale.fake)
    seen = seen_by(fleet.server, made, Ask(step_s=STEP_S), time.time())

    def mine(name: str) -> list[float]:
        return [point.num / point.den for point in seen.points[name]
                if point.host == stale.instance]

    assert 0 < len(mine("refills")) < len(mine("faults"))
    # With the time in which it stood still it would be half, and less.
    assert np.mean(mine("refills")) > 0.75 * REFILLS[stale.arm] * stale.factor


def test_what_is_wrong_is_to_be_seen(fleet: Fleet) -> None:
    (not_loaded,), (dead,) = fleet.not_loaded, fleet.dead
    (stale,) = [machine for machine in fleet.machines if machine.is_stale]
    alerts = 'max by (instance) (ALERTS{alertname="%s"})'

    def alert(name: str, instances: set[str]) -> None:
        daemons.wait_for(f"{name} is raised for {instances}",
                         lambda: set(fleet.ask(alerts % name)) == instances)

    daemons.wait_for("the dead one is missed",
                     lambda: fleet.ask("up == 0").keys() == {dead.instance})
    assert fleet.ask("livemm_up == 0").keys() == {not_loaded.instance}
    alert("LivemmNotLoaded", {not_loaded.instance})
    alert("LivemmMetricsStale", {stale.instance})


def test_people_are_told_the_same(fleet: Fleet, ctl: Ctl) -> None:
    text = report(ctl, fleet).out
    assert "refills better; faults no difference seen; memory_wait worse." in text
