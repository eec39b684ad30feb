# SPDX-License-Identifier: GPL-2.0-only
"""Metrics: names and values, both formats, textfile, server."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import daemons
import knob_tables
import pytest
from conftest import Ctl, argv, environment
from fake_tree import FakeHost
from livemmctl.ab.place import ARM
from livemmctl.errors import Exit
from livemmctl.metrics.collect import registry
from livemmctl.metrics.serve import open_server, parse_address
from prometheus_client.core import Metric
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families

# The library's parsers have no types.
Parser = Callable[[str], Iterable[Metric]]
plain: Parser = text_string_to_metric_families
openmetrics: Parser = openmetrics_parser.text_string_to_metric_families


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in plain(text):
        for sample in family.samples:
            assert sample.timestamp is None
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_promtool_finds_nothing(busy: FakeHost, ctl: Ctl) -> None:
    text = ctl("export").out
    done = daemons.promtool("check", "metrics", text=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_promtool_would_find_something() -> None:
    done = daemons.promtool("check", "metrics", text="# TYPE bad counter\nbad 1\n")
    assert done.returncode != 0


def test_names_and_values(busy: FakeHost, ctl: Ctl) -> None:
    found = samples(ctl("export").out)
    assert found["livemm_up"] == [({}, 1)]
    assert found["livemm_pcp_refills_total"] == [({}, 7)]
    assert ({"policy": "pcp"}, 1) in found["livemm_policy_enabled"]
    assert ({"policy": "numa"}, 0) in found["livemm_policy_enabled"]
    assert found["livemm_lease_remaining_seconds"] == [({}, 60)]
    assert found["livemm_arm_info"] == [({"experiment": "lists-1", "arm": "treated"}, 1)]
    assert found["livemm_profile_info"] == [({"profile": "lists"}, 1)]
    assert ({"policy": "pcp", "mode": "event"}, 1) in found["livemm_policy_mode_info"]
    assert ({"policy": "pcp", "knob": "high_max_pct"}, 12.5) in found["livemm_policy_knob"]
    build = {"version": "0.1.0", "abi": "3", "kernel": "6.1.0-56-amd64"}
    assert found["livemm_build_info"] == [(build, 1)]
    for policy, names in knob_tables.counters().items():
        for name in names:
            assert f"livemm_{policy}_{name}_total" in found
    place = {"policy": "pcp", "node": "0", "zone": "DMA32"}
    assert (place, 512 * 4096) in found["livemm_held_bytes"]
    states = [(labels["hook"], labels["state"]) for labels, _ in found["livemm_hook_state"]]
    assert ("drain", "armed") in states
    assert not [name for name in found if name.endswith("_created")]


@pytest.mark.parametrize("state", ["waiting", "leaving", "loading"])
def test_a_policy_that_is_between_is_not_on(host: FakeHost, ctl: Ctl, state: str) -> None:
    ctl("enable", "pcp")
    host.kernel.be("pcp", state, "words")
    found = samples(ctl("export").out)
    assert ({"policy": "pcp"}, 0) in found["livemm_policy_enabled"]
    assert ({"policy": "pcp"}, 1) in found["livemm_policy_supported"]
    assert ({"policy": "pcp", "state": state}, 1) in found["livemm_policy_state"]


def test_direct_calls_have_hits(busy: FakeHost, ctl: Ctl) -> None:
    found = samples(ctl("export").out)
    assert ({"hook": "bpf_link"}, 0) in found["livemm_hook_hits_total"]


def test_openmetrics(busy: FakeHost, ctl: Ctl) -> None:
    text = ctl("export", "--openmetrics").out
    assert text.endswith("# EOF\n")
    families = {family.name: family for family in openmetrics(text)}
    assert families["livemm_pcp_refills"].type == "counter"
    assert families["livemm_arm"].type == "info"


def test_json_has_the_same(busy: FakeHost, ctl: Ctl) -> None:
    rows = ctl("export", "--json").data()["samples"]
    names = {row["name"] for row in rows}
    assert names == set(samples(ctl("export").out))


def test_not_loaded_is_up_0(busy: FakeHost, ctl: Ctl) -> None:
    busy.kernel.unload()
    found = samples(ctl("export").out)
    assert found.pop("livemm_up") == [({}, 0)]
    assert set(found) == {"livemm_arm_info", "livemm_profile_info"}


def test_under_lockdown(closed: FakeHost, ctl: Ctl) -> None:
    found = samples(ctl("export", on=closed).out)
    assert found["livemm_up"] == [({}, 1)]
    assert found["livemm_pcp_refills_total"] == [({}, 0)]


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"experiment": "x"}', '{"experiment": 1, "arm": 2}', "\xff", "3",
             '{"experiment": "", "arm": ""}', "[" * 100000])
def test_a_broken_arm_is_none(host: FakeHost, ctl: Ctl, text: str) -> None:
    host.kernel.put(ARM, text)
    assert "livemm_arm_info" not in samples(ctl("export").out)


def test_labels_are_escaped(host: FakeHost, ctl: Ctl) -> None:
    names = {"experiment": 'a"b\\c\nd', "arm": "{x=\"1\"} 5"}
    host.kernel.put(ARM, json.dumps(names))
    text = ctl("export").out
    assert samples(text)["livemm_arm_info"] == [(names, 1)]
    assert daemons.promtool("check", "metrics", text=text).returncode == 0


def test_garbage_is_left_out(host: FakeHost, ctl: Ctl) -> None:
    host.kernel.put("/sys/kernel/debug/livemm/pcp/counters", "a-b 1\n9x 2\nok 3\nok 4\n\xff 5\n")
    host.kernel.put("/sys/kernel/debug/livemm/hooks", "x livepatch s armed 1 0 -\n" * 3 + "\xff\n")
    text = ctl("export").out
    found = samples(text)
    assert found["livemm_pcp_ok_total"] == [({}, 4)]
    assert len([name for name in found if name.startswith("livemm_pcp_")]) == 1
    assert daemons.promtool("check", "metrics", text=text).returncode == 0


def test_textfile(busy: FakeHost, ctl: Ctl, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert ctl("export", "--textfile", str(tmp_path)).status == 0
    finally:
        os.umask(before)
    path = tmp_path / "livemm.prom"
    assert path.stat().st_mode & 0o777 == 0o644
    assert samples(path.read_text(encoding="utf-8"))["livemm_up"] == [({}, 1)]
    assert [name for name in os.listdir(tmp_path) if name != "host"] == ["livemm.prom"]
    inode = path.stat().st_ino
    data = ctl("export", "--textfile", str(path), "--json").data()
    assert data["bytes"] == path.stat().st_size
    # Renamed over, never written into: a reader has the old or the new one.
    assert path.stat().st_ino != inode


def test_node_exporter_takes_the_textfile(busy: FakeHost, ctl: Ctl, tmp_path: Path) -> None:
    folder = tmp_path / "textfiles"
    folder.mkdir()
    ctl("export", "--textfile", str(folder))
    # What a writer that was killed would leave behind is not looked at.
    (folder / ".livemm.prom.abc.tmp").write_text("not metrics", encoding="utf-8")
    with daemons.node_exporter(folder, tmp_path / "log") as exporter:
        text = fetch(f"{exporter.url}/metrics", "text/plain")[1]
    found = samples(text)
    assert found["node_textfile_scrape_error"] == [({}, 0)]
    (labels, mtime), = found["node_textfile_mtime_seconds"]
    assert labels["file"].endswith("/livemm.prom")
    assert mtime == pytest.approx((folder / "livemm.prom").stat().st_mtime, abs=1)
    assert found["livemm_pcp_refills_total"] == [({}, 7)]
    assert found["livemm_arm_info"] == [({"experiment": "lists-1", "arm": "treated"}, 1)]
    assert "# TYPE livemm_pcp_refills_total counter\n" in text
    ours = {name for name in found if name.startswith("livemm_")}
    assert ours == set(samples(ctl("export").out))


def test_textfile_that_fails_leaves_the_old_one(
    busy: FakeHost, ctl: Ctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctl("export", "--textfile", str(tmp_path))
    old = (tmp_path / "livemm.prom").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ctl("export", "--textfile", str(tmp_path)).failed(Exit.FAILED, "no space left")
    assert (tmp_path / "livemm.prom").read_bytes() == old
    assert [name for name in os.listdir(tmp_path) if name != "host"] == ["livemm.prom"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--textfile", "/nonexistent/x.prom"], Exit.FAILED),
        (["--textfile", "/tmp/x.txt"], Exit.USAGE),
        (["--textfile", "/tmp", "--openmetrics"], Exit.USAGE),
        (["--listen", "x"], Exit.USAGE),
        (["--listen", "127.0.0.1:99999"], Exit.USAGE),
        (["--listen", "127.0.0.1:x"], Exit.USAGE),
        (["--listen", "203.0.113.1:9815"], Exit.FAILED),
        (["--listen", "a..b:9815"], Exit.FAILED),
    ],
)
def test_export_wrong(ctl: Ctl, words: list[str], status: Exit) -> None:
    assert ctl("export", *words).status == status


def test_addresses() -> None:
    assert parse_address("9815") == ("127.0.0.1", 9815)
    assert parse_address(":9815") == ("127.0.0.1", 9815)
    assert parse_address("[::1]:0") == ("::1", 0)


@pytest.fixture
def url(busy: FakeHost) -> Iterator[str]:
    with open_server("127.0.0.1", 0, registry(busy)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/metrics"
        server.shutdown()
        thread.join()


def fetch(url: str, accept: str) -> tuple[str, str]:
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_a_scrape_in_either_format(busy: FakeHost, url: str) -> None:
    kind, text = fetch(url, "text/plain")
    assert kind.startswith("text/plain")
    assert samples(text)["livemm_pcp_refills_total"] == [({}, 7)]
    kind, text = fetch(url, "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")
    # Each scrape looks anew.
    busy.kernel.bump("pcp", refills=1)
    assert samples(fetch(url, "text/plain")[1])["livemm_pcp_refills_total"] == [({}, 8)]
    busy.kernel.unload()
    assert samples(fetch(url, "text/plain")[1])["livemm_up"] == [({}, 0)]


def serving(host: FakeHost) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*argv(host), "export", "--listen", "127.0.0.1:0", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment() | {"PYTHONUNBUFFERED": "1"})


def test_the_server_as_a_process(busy: FakeHost) -> None:
    with serving(busy) as server:
        assert server.stdout is not None and server.stderr is not None
        try:
            port = json.loads(server.stdout.readline())["port"]
            text = fetch(f"http://127.0.0.1:{port}/metrics", "text/plain")[1]
            assert samples(text)["livemm_up"] == [({}, 1)]
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        assert server.stderr.read() == ""


def test_a_peer_that_breaks_off_is_no_news(busy: FakeHost) -> None:
    """A port scan does not fill the journal with tracebacks."""
    with serving(busy) as server:
        assert server.stdout is not None and server.stderr is not None
        try:
            port = json.loads(server.stdout.readline())["port"]
            for said in (b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: x"):
                with socket.create_connection(("127.0.0.1", port)) as peer:
                    peer.sendall(said)
                    # Closed by a reset.
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for _ in range(3):
                assert "livemm_up 1" in fetch(f"http://127.0.0.1:{port}/metrics", "text/plain")[1]
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        assert server.stderr.read() == ""


def test_a_port_that_is_taken(url: str, ctl: Ctl) -> None:
    port = re.search(r":(\d+)/", url)
    assert port is not None
    ctl("export", "--listen", f"127.0.0.1:{port[1]}").failed(Exit.FAILED, "address already in use")
