# SPDX-License-Identifier: GPL-2.0-only
"""What is shipped for Grafana and Prometheus: the dashboard and the alerts."""

import json
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import daemons
import pytest
from conftest import Ctl
from daemons import promtool
from fake_tree import FakeHost
from knob_tables import TOOLS
from livemmctl.ab.decision import Decision
from livemmctl.host import Host
from livemmctl.metrics.collect import registry
from livemmctl.rollout.decide import HOLD, OK, Guarded, Verdict
from livemmctl.rollout.show import metrics_of

DASHBOARD = TOOLS / "grafana/livemm.json"
ALERTS = TOOLS / "prometheus/livemm-alerts.yml"
#: Seconds between two scrapes; Grafana then has rates over four of them.
SCRAPE_S = 1


def queries() -> list[tuple[str, str, str]]:
    """Title, expression and legend of all that the dashboard asks for."""
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    found = [(panel["title"], target["expr"], target["legendFormat"])
             for panel in dashboard["panels"] for target in panel["targets"]]
    found += [(row["name"], row["expr"], row["titleFormat"])
              for row in dashboard["annotations"]["list"]]
    assert len(found) > 10
    return found


def rollout() -> str:
    """What a rollout that is held exports."""
    decision = Decision("x", 1, 5.0, False, "", 0.0, 0.0)
    guard = Guarded("stalls", "on", OK, "", "", -1.0, 0.5, 2.0, 20.0)
    return metrics_of(decision, Verdict(HOLD, "", [guard], decision))


def exported(host: Host) -> set[str]:
    """Names of all that the host and a rollout export, and of node_exporter's own."""
    names = {sample.name for family in registry(host).collect() for sample in family.samples}
    return names | {"node_textfile_mtime_seconds"} | set(re.findall(r"^(\w+)\{", rollout(), re.M))


def test_the_dashboard_asks_for_what_there_is(busy: FakeHost) -> None:
    names = exported(busy)
    for _, text, _ in queries():
        asked = set(re.findall(r"\b(?:livemm|node)_\w+", text))
        assert asked and asked <= names, text


def test_the_dashboards_queries_are_promql(tmp_path: Path) -> None:
    rules = [
        {"record": f"livemm:check{number}", "expr": text.replace("$__rate_interval", "5m")
         .replace("$instance", ".*")}
        for number, (_, text, _) in enumerate(queries())
    ]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "x", "rules": rules}]}), encoding="utf-8")
    done = promtool("check", "rules", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dashboards_panels_do_not_overlap() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        box = panel["gridPos"]
        cells = {(x, y) for x in range(box["x"], box["x"] + box["w"])
                 for y in range(box["y"], box["y"] + box["h"])}
        assert not cells & taken and max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_the_alerts(busy: FakeHost) -> None:
    done = promtool("check", "rules", str(ALERTS))
    assert done.returncode == 0, done.stdout + done.stderr
    asked = re.findall(r"expr: (.*)", ALERTS.read_text(encoding="utf-8"))
    assert len(asked) > 3
    names = exported(busy)
    for text in asked:
        assert set(re.findall(r"\b(?:livemm|node)_\w+", text)) <= names


@dataclass
class Asker:
    """Asks Prometheus as Grafana does."""

    url: str
    #: What the dashboard's variable $instance is replaced by.
    instance: str = ".*"

    def get(self, path: str, **words: str) -> Any:
        """The data of an answer; one that is an error ends the test."""
        with urllib.request.urlopen(
            f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(words)}", timeout=30
        ) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def series(self, text: str) -> list[dict[str, str]]:
        """Labels of what a query of the dashboard gives for the last minute."""
        query = text.replace("$__rate_interval", f"{4 * SCRAPE_S}s").replace(
            "$instance", self.instance)
        now = time.time()
        found = self.get("query_range", query=query, start=str(now - 60), end=str(now),
                         step=str(SCRAPE_S))
        return [row["metric"] for row in found["result"]]


@pytest.fixture
def scraped(tmp_path: Path) -> Iterator[tuple[Path, Asker]]:
    """A folder of textfiles, and Debian's own servers behind it."""
    folder = tmp_path / "textfiles"
    folder.mkdir()
    (tmp_path / "prometheus").mkdir()
    with daemons.node_exporter(folder, tmp_path / "log") as exporter:
        config = (f"global: {{scrape_interval: {SCRAPE_S}s, scrape_timeout: {SCRAPE_S}s}}\n"
                  "scrape_configs:\n- job_name: node\n  static_configs:\n"
                  f"  - targets: ['{exporter.address}']\n")
        with daemons.prometheus(tmp_path / "prometheus", config) as server:
            yield folder, Asker(server.url)


def test_every_panel_has_data(busy: FakeHost, ctl: Ctl, scraped: tuple[Path, Asker]) -> None:
    folder, asker = scraped
    (folder / "livemm-rollout.prom").write_text(rollout(), encoding="utf-8")
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = queries()
    silent = list(asked)

    def live_on() -> None:
        # All that a busy host counts, and a policy that is switched now and then.
        for policy, counts in busy.kernel.counts.items():
            busy.kernel.bump(policy, **dict.fromkeys(counts, 5))
        name = f"{busy.root}/sys/kernel/debug/livemm/hooks"
        rows = Path(name).read_text(encoding="utf-8")
        busy.kernel.put("/sys/kernel/debug/livemm/hooks", re.sub(
            r"(armed +)(\d+)", lambda row: f"{row[1]}{int(row[2]) + 9}", rows), 0o400)
        on = busy.kernel.values["numa"]["enabled"] == "1"
        assert ctl("disable" if on else "enable", "numa").status == 0
        assert ctl("export", "--textfile", str(folder)).status == 0
        time.sleep(SCRAPE_S)

    def all_speak() -> bool:
        silent[:] = [row for row in silent if not asker.series(row[1])]
        return not silent

    daemons.wait_for("data for every panel", all_speak, live_on)
    # The variable's values, as the data source has them for label_values(), and one of them
    # as it is put into a query.
    (variable,) = (row for row in dashboard["templating"]["list"] if row["type"] == "query")
    found = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
    assert found is not None
    (value,) = asker.get(f"label/{found[2]}/values", **{"match[]": found[1]})
    asker.instance = f"({re.escape(value)})".replace("\\", "\\\\")
    for title, text, legend in asked:
        rows = asker.series(text)
        assert rows, f"{title}: {text}"
        # Only rollouts whose kernels come one after the other have this label.
        labels = set(re.findall(r"{{(\w+)}}", legend)) - {"kernel"}
        assert all(labels <= set(row) for row in rows), f"{title}: {legend}: {rows[0]}"
        # No two curves of a panel have one name.
        names = [tuple(row.get(label) for label in sorted(labels)) for row in rows]
        assert len(set(names)) == len(names), f"{title}: {legend}: {names}"
