# SPDX-License-Identifier: GPL-2.0-only
"""From a rollout's textfile to somebody's pager, through Debian's own servers."""

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import daemons
import pytest
from daemons import promtool
from knob_tables import TOOLS
from livemmctl.ab.decision import Decision
from livemmctl.rollout.decide import HOLD, OK, Guarded, Verdict
from livemmctl.rollout.show import metrics_of

ALERTS = TOOLS / "prometheus/livemm-alerts.yml"
ROUTES = TOOLS / "prometheus/livemm-alertmanager.yml"
# Where the package livemm-tools has the page that alerts name.
PAGE = "/usr/share/doc/livemm-tools/docs/fleet.md, At 3 a.m."
RECEIVER = "127.0.0.1:9095"
#: What the example waits for, and a test does not.
SCRAPE_S = 1


def amtool(*words: str) -> str:
    """Alertmanager's own judgement; that it is not installed is a failure."""
    assert shutil.which("amtool"), "amtool is not installed: apt install prometheus-alertmanager"
    done = subprocess.run(["amtool", *words], text=True, capture_output=True, check=False,
                          timeout=daemons.PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_routes() -> None:
    assert "SUCCESS" in amtool("check-config", str(ROUTES))
    for labels, receiver in (
        (["alertname=LivemmRolloutHalted", "severity=page"], "on-call"),
        (["alertname=LivemmRolloutNotDecided", "severity=page"], "on-call"),
        (["alertname=LivemmRolloutHeld", "severity=ticket"], "tickets"),
        (["alertname=LivemmMetricsStale"], "tickets"), (["alertname=Other"], "tickets"),
    ):
        found = amtool("config", "routes", "test", f"--config.file={ROUTES}", *labels)
        assert found.split() == [receiver], labels


def test_the_alerts_of_a_rollout(tmp_path: Path) -> None:
    """promtool's own simulation: a rollout that is held for 7 hours, then nobody decides."""
    label = '{experiment="x"}'
    series = [("held", "1+0x420"), ("halted", "0+0x420"),
              ("decided_timestamp_seconds", "0+60x360 21600+0x60")]
    rules = {
        "rule_files": [str(ALERTS)], "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": [{"series": f"livemm_rollout_{name}{label}", "values": values}
                             for name, values in series],
            "alert_rule_test": [
                {"eval_time": at, "alertname": name, "exp_alerts": [
                    {"exp_labels": {"experiment": "x", "severity": severity},
                     "exp_annotations": {"summary": words, "action": action}}] if words else []}
                for at, name, severity, words, action in (
                    ("5h", "LivemmRolloutHeld", "ticket", "", ""),
                    ("6h10m", "LivemmRolloutHeld", "ticket",
                     "x: a guard has held the rollout up for six hours",
                     f"livemmctl rollout status has the reason: {PAGE}"),
                    ("6h5m", "LivemmRolloutNotDecided", "page", "", ""),
                    ("6h30m", "LivemmRolloutNotDecided", "page",
                     "x: nothing was decided for ten minutes",
                     f"look why livemmctl rollout advance fails: {PAGE}"),
                    ("6h30m", "LivemmRolloutHalted", "page", "", ""))],
        }],
    }
    file = tmp_path / "test.yml"
    file.write_text(json.dumps(rules), encoding="utf-8")
    done = promtool("test", "rules", str(file))
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def pager() -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """A receiver's address, and what it is sent: path and message."""
    got: list[tuple[str, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            got.append((self.path, json.loads(self.rfile.read(length))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_halt_pages_somebody(tmp_path: Path) -> None:
    """The rules and routes that are shipped, but for the receiver's address."""
    textfiles = tmp_path / "textfiles"
    textfiles.mkdir()
    decided = Decision("lists", 3, 5.0, False, "", time.time(), time.time() - 9e4)
    routes = ROUTES.read_text(encoding="utf-8")
    assert routes.count(RECEIVER) == 2

    def publish(decision: Decision) -> None:
        part = textfiles / "part"
        part.write_text(metrics_of(decision), encoding="utf-8")
        part.rename(textfiles / "livemm-rollout.prom")

    publish(decided)
    with (
        pager() as (address, got),
        daemons.alertmanager(tmp_path, routes.replace(RECEIVER, address)) as alerts,
        daemons.node_exporter(textfiles, tmp_path / "log.node") as exporter,
        daemons.prometheus(tmp_path, f"""\
global: {{scrape_interval: {SCRAPE_S}s, scrape_timeout: {SCRAPE_S}s, evaluation_interval: 1s}}
rule_files: ['{ALERTS}']
alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{alerts.address}']}}]}}]}}
scrape_configs: [{{job_name: node, static_configs: [{{targets: ['{exporter.address}']}}]}}]
"""),
    ):
        time.sleep(3 * SCRAPE_S)
        assert not got
        publish(replace(decided, serial=4, halt=True, at_s=time.time()))
        daemons.wait_for("a page", lambda: bool(got))
    path, message = got[0]
    assert path == "/page"
    (alert,) = message["alerts"]
    assert (alert["status"], alert["labels"]["alertname"], alert["labels"]["experiment"]) == (
        "firing", "LivemmRolloutHalted", "lists")
    assert alert["annotations"]["summary"] == (
        "lists: the rollout is halted; every host goes to stock")


@pytest.mark.parametrize("kernel", ["", "6.12"])
def test_what_a_textfile_says(kernel: str) -> None:
    guard = Guarded("stalls", "on", OK, "", kernel, -1.0, 0.5, 2.0, 20.0)
    blind = Guarded("faults", "on", OK, "", kernel)
    decision = Decision("x", 1, 5.0, False, "", 0.0, 0.0, kernel)
    text = metrics_of(decision, Verdict(HOLD, "", [guard, blind], decision))
    done = promtool("check", "metrics", text=text)
    assert done.returncode == 0, done.stdout + done.stderr
    label = f',kernel="{kernel}"' if kernel else ""
    lines = text.splitlines()
    assert f'livemm_rollout_percent{{experiment="x"{label}}} 5' in lines
    assert 'livemm_rollout_held{experiment="x"} 1' in lines
    assert (f'livemm_rollout_guard_high_percent{{experiment="x",metric="stalls",arm="on"{label}}}'
            " 2") in lines
    # What cannot be told is left out.
    assert "faults" not in text
