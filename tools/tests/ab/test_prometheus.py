# SPDX-License-Identifier: GPL-2.0-only
"""Reports from a real Prometheus on loopback, which holds a fleet that we made."""

import io
import json
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from wsgiref.simple_server import make_server
from wsgiref.types import StartResponse

import daemons
import pytest
from ab.doubles import START_S, experiment, toml
from ab.fleet import FakeMachine, fleet_experiment, machines, write_open_metrics
from conftest import Ctl, fails
from fake_tree import FakeHost
from knob_tables import TOOLS
from livemmctl.ab.analyse import BETTER, analyse
from livemmctl.ab.decision import verified
from livemmctl.ab.experiment import load_experiment
from livemmctl.ab.from_prometheus import (
    ARM_METRIC,
    Ask,
    Prometheus,
    names_of,
    query_for,
    seen_by,
    spans,
)
from livemmctl.ab.model import Experiment, Source
from livemmctl.ab.place import Place
from livemmctl.errors import CtlError, Exit
from livemmctl.host import Host

STEP_S = 600.0
HOSTS = 2000


def planned() -> Experiment:
    return fleet_experiment(start=datetime.fromtimestamp(START_S, UTC))


@pytest.fixture(scope="module")
def fleet() -> list[FakeMachine]:
    return machines(planned(), HOSTS, -0.02, 1)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory,
               fleet: list[FakeMachine]) -> Iterator[str]:
    """The address of Debian's server, with the fleet's history behind it."""
    folder = tmp_path_factory.mktemp("prometheus")
    text = folder / "fleet.om"
    with text.open("w", encoding="utf-8") as out:
        write_open_metrics(planned(), fleet, STEP_S, out, ARM_METRIC)
    done = daemons.promtool("tsdb", "create-blocks-from", "openmetrics", "--quiet",
                            "--max-block-duration=24h", str(text), str(folder / "data"))
    assert done.returncode == 0, done.stderr
    text.unlink()
    with daemons.prometheus(folder, "scrape_configs: []\n",
                            "--storage.tsdb.retention.time=100y") as server:
        yield server.url


def test_a_planted_effect_is_found(prometheus: str, fleet: list[FakeMachine]) -> None:
    made = planned()
    ask = Ask(stratum_label="kind", step_s=STEP_S)
    seen = seen_by(Prometheus(prometheus), made, ask, START_S + made.duration_s)
    assert len(seen.hosts) == HOSTS
    arms = [seen.hosts[f"h{number}:9100"].arm for number in range(HOSTS)]
    assert arms == [machine.arm for machine in fleet]
    report = analyse(made, seen)
    assert not report.failed
    for item in report.comparisons:
        found = item.effect.estimate
        assert found is not None
        assert item.verdict == BETTER
        assert found.relative_low <= -0.02 <= found.relative_high
    assert report.comparisons[0].effect.estimate is not None
    assert "CUPED" in report.comparisons[0].effect.estimate.method


def test_levels_are_what_the_fleet_had(prometheus: str, fleet: list[FakeMachine]) -> None:
    made = planned()
    seen = seen_by(Prometheus(prometheus), made, Ask(step_s=STEP_S), START_S + made.duration_s)
    (item, _) = analyse(made, seen).comparisons
    assert item.effect.estimate is not None
    rates = [machine.rate for machine in fleet if machine.arm == "off"]
    # Not nearer, as Prometheus reads increases out of the samples between two points.
    assert item.effect.control_values.mean() == pytest.approx(sum(rates) / len(rates), rel=0.01)


@pytest.mark.parametrize(("since_s", "now_s", "points"), [
    # A step that began a minute ago, an hour ago, and a week ago; and a grid that is near already.
    (86400 * 3, 86400 * 3 + 60, 1), (86400 * 3, 86400 * 3 + 3600, 100),
    (86400 * 3, 86400 * 10, 200), (500, 1000, 3),
])
def test_a_step_of_a_rollout_is_seen_near(since_s: float, now_s: float, points: int) -> None:
    """Windows cover the time without a gap, the last ends now, and none is short."""
    found = spans((0, now_s, 24192.0), since_s, 30.0)
    ends = [(at, width) for first, last, width in found
            for at in [first + width * n for n in range(round((last - first) / width) + 1)]]
    assert [at - width for at, width in ends[1:]] == [at for at, _ in ends[:-1]]
    assert ends[-1][0] == now_s
    assert all(width >= 60 for _, width in ends)
    assert len([at for at, _ in ends if at > since_s]) <= points
    assert spans((0, now_s, 24192.0), 0.0, 30.0) == [(0, now_s, 24192.0)]


def test_a_rollout_sees_what_a_report_does(prometheus: str, fleet: list[FakeMachine]) -> None:
    """The same hosts and rates, whether points are far or near; the last point is of now."""
    # As if a tick were two scrapes.
    made = replace(planned(), tick_s=2 * STEP_S)
    now_s = START_S + 3.5 * 3600 + 130
    whole = seen_by(Prometheus(prometheus), made, Ask(step_s=3600), now_s)
    near = seen_by(Prometheus(prometheus), made, Ask(step_s=3600, since_s=START_S + 3700), now_s)
    assert near.hosts.keys() == whole.hosts.keys()
    assert max(point.at_s for point in near.points["faults"]) == now_s
    for one, other in zip(analyse(made, whole).comparisons, analyse(made, near).comparisons,
                          strict=True):
        assert one.effect.estimate is not None and other.effect.estimate is not None
        assert other.effect.estimate.treatment == pytest.approx(
            one.effect.estimate.treatment, rel=0.02)
        assert other.effect.estimate.relative == pytest.approx(
            one.effect.estimate.relative, abs=0.003)


def test_a_rollout_halts_by_what_prometheus_says(
    prometheus: str, ctl: Ctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 hosts with 2 % fewer faults, where more is better; a look every 20 minutes."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"],
                   check=True)
    public = (tmp_path / "key.pub").read_text(encoding="utf-8")
    (tmp_path / "signers").write_text(f"livemm-rollout {public}", encoding="utf-8")
    file = tmp_path / "trial.toml"
    file.write_text(toml("""\
mode = "host"
start = 2027-01-15T08:00:00Z
duration = "4h"
baseline = "1h"
tick = "20m"
lease = "1h"
""", f"""\
[ramp]
percent = [50, 100]
every = "1h"
[gate]
decision = "{tmp_path}/decision"
signers = "{tmp_path}/signers"
""", metric='better = "more"\nmargin_pct = 1\ndetect_pct = 1'), encoding="utf-8")
    said = []
    for tick in range(-1, 6):
        monkeypatch.setattr(time, "time", lambda tick=tick: START_S + 1200 * tick + 30)
        done = ctl("rollout", "advance", str(file), "--prometheus", prometheus, "--json",
                   "--publish", str(tmp_path / "decision"), "--key", str(tmp_path / "key"))
        assert done.status == Exit.OK, done.err
        said.append(done.data()["what"])
        if said[-1] == "halt":
            break
    assert said[-1] == "halt"
    assert verified((tmp_path / "decision").read_bytes(), tmp_path / "signers").halt


def test_the_command_reads_it_too(
    prometheus: str, ctl: Ctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "time", lambda: START_S + 5 * 3600)
    file = tmp_path / "trial.toml"
    text = toml('mode = "host"\nduration = "4h"\nbaseline = "1h"\nstart = 2027-01-15T08:00:00Z')
    file.write_text(text, encoding="utf-8")
    done = ctl("ab", "report", str(file), "--prometheus", prometheus, "--step", "600",
               "--json")
    assert done.status == 0, done.err
    data = done.data()
    assert sum(data["units"].values()) == HOSTS
    assert data["comparisons"][0]["verdict"] == "better"
    done = ctl("ab", "report", str(file), "--prometheus", prometheus, "--arm-metric", "other")
    done.failed(Exit.FAILED, "no host has other")


def test_a_query_that_is_refused_is_told(prometheus: str) -> None:
    with pytest.raises(CtlError, match="parse error"):
        Prometheus(prometheus).range("sum by (", 0, 1, 1)


def test_long_ranges_are_asked_for_in_parts(prometheus: str) -> None:
    # At one point a second more than Prometheus gives at once.
    found = Prometheus(prometheus).range("vector(1)", START_S, START_S + 12345, 1)
    ((_, values),) = found
    assert len(values) == 12346
    assert [at for at, _ in values] == sorted({at for at, _ in values})


@pytest.mark.parametrize("url", ["", "metrics:9090", "ftp://x", "http://", "file:///etc/passwd",
                                 "http://[::1", "http://x:port", "http://x:99999"])
def test_addresses_that_are_none(url: str) -> None:
    with fails(Exit.USAGE):
        Prometheus(url)


def test_nobody_answers() -> None:
    port = daemons.free_port()
    with pytest.raises(CtlError, match="refused"):
        Prometheus(f"http://127.0.0.1:{port}").range("up", 0, 1, 1)


ANSWERS = [
    (200, b"<html>"), (200, b"[]"), (200, b'{"status":"success"}'), (200, b"\xff\xfe"),
    (200, b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":1}]}}'),
    (502, b"<html>bad gateway</html>"), (400, b'{"error": "too many samples"}'),
]


@pytest.mark.parametrize("status,body", ANSWERS)
def test_something_else_answers(status: int, body: bytes) -> None:
    def answer(_: object, start_response: StartResponse) -> list[bytes]:
        start_response(f"{status} Words", [("Content-Length", str(len(body)))])
        return [body]

    with make_server("127.0.0.1", 0, answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(CtlError) as caught:
                Prometheus(f"http://127.0.0.1:{server.server_port}").range("up", 0, 1, 1)
        finally:
            server.shutdown()
    if status == 400:
        assert "too many samples" in caught.value.message
    assert "\n" not in caught.value.message


def test_numbers_that_are_none_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": {"instance": "a"}, "values": [[1, "NaN"], [2, "+Inf"], [3, "4.5"]]}]}})
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(body.encode()))
    assert Prometheus("http://x").range("up", 0, 1, 1) == [({"instance": "a"}, [(3.0, 4.5)])]


@pytest.mark.parametrize("source,own,grows,query", [
    (Source("counter", "pcp/refills"), "", True,
     "sum by (host) (increase(livemm_pcp_refills_total[60s]))"),
    (Source("psi", "memory/full"), "", True,
     "sum by (host) (increase(node_pressure_memory_stalled_seconds_total[60s]))"),
    (Source("vmstat", "nr_free_pages"), "", False,
     "sum by (host) (avg_over_time(node_vmstat_nr_free_pages[60s]))"),
    (Source("vmstat", "a+b"), "", True,
     "sum by (host) (increase(node_vmstat_a[60s]))"
     " + sum by (host) (increase(node_vmstat_b[60s]))"),
    (Source("command", "/bin/x"), 'own{a="b"}', True,
     'sum by (host) (increase(own{a="b"}[60s]))'),
    (Source("command", "/bin/x"), "max by (host) (rate(own[$window]))", True,
     "max by (host) (rate(own[60s]))"),
])
def test_queries(source: Source, own: str, grows: bool, query: str) -> None:
    assert query_for(source, own, grows, "host", 60.0) == query


def test_prometheus_answers_the_queries_of_every_example(tmp_path: Path) -> None:
    """All metrics of the experiments that come with livemm; each series grows by 1 a second."""
    asked = set()
    for file in sorted((TOOLS / "experiments").glob("*.toml")):
        for metric in load_experiment(file, Host()).metrics:
            asked |= {(source, metric.grows) for source in (metric.source, metric.per)
                      if source is not None and names_of(source)}
    assert any(len(names_of(source)) > 1 for source, _ in asked)
    names = {name: grows for source, grows in asked for name in names_of(source)}
    test = {
        "interval": "1m",
        "input_series": [{"series": f'{name}{{instance="h"}}',
                          "values": "0+60x60" if grows else "600x60"}
                         for name, grows in names.items()],
        "promql_expr_test": [
            {"expr": query_for(source, "", grows, "instance", 600.0), "eval_time": "20m",
             "exp_samples": [{"labels": '{instance="h"}',
                              "value": 600 * len(names_of(source))}]}
            for source, grows in sorted(asked, key=str)],
    }
    file = tmp_path / "test.yml"
    # JSON is YAML.
    file.write_text(json.dumps({"tests": [test]}), encoding="utf-8")
    done = daemons.promtool("test", "rules", str(file))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_exporter_calls_it_the_same(ctl: Ctl, host: FakeHost) -> None:
    Place(host).show_arm("trial", "on")
    out = ctl("export").out
    assert f'{ARM_METRIC}{{arm="on",experiment="trial"}} 1' in out
    (name,) = names_of(Source("counter", "pcp/refills"))
    assert re.search(rf"^{name} \d", out, re.M)


def test_a_command_has_no_name_there() -> None:
    with pytest.raises(CtlError, match="not known"):
        query_for(Source("command", "/bin/x"), "", True, "instance", 60.0)


def test_what_it_cannot_tell() -> None:
    server = Prometheus("http://127.0.0.1:9")
    with pytest.raises(CtlError, match="only in its journals"):
        seen_by(server, experiment(), Ask(), 0)
    with pytest.raises(CtlError, match="no start"):
        seen_by(server, experiment("host"), Ask(), 0)
    with pytest.raises(CtlError, match="not begun"):
        seen_by(server, planned(), Ask(), START_S - 1)


def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(CtlError, match="password") as raised:
        Prometheus("http://user:secret@127.0.0.1:9090")
    assert "secret" not in raised.value.message


@pytest.mark.parametrize("text", [
    '{"status":"success","data":{"resultType":"matrix","result":[{"metric":[],"values":[]}]}}',
    '{"status":"success","data":{"resultType":"matrix","result":'
    '[{"metric":{},"values":[[1' + "0" * 400 + ',"1"]]}]}}',
])
def test_an_answer_of_the_wrong_kind_is_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: io.BytesIO(text.encode()))
    with pytest.raises(CtlError, match="no Prometheus"):
        Prometheus("http://127.0.0.1:9090").range("up", 0.0, 60.0, 30.0)
