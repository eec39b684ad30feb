# SPDX-License-Identifier: GPL-2.0-only
"""livemmctl export"""

import signal
from pathlib import Path
from types import FrameType

import click
from prometheus_client import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from livemmctl.app import App, command
from livemmctl.errors import UsageError
from livemmctl.files import replace
from livemmctl.metrics.collect import registry
from livemmctl.metrics.serve import open_server, parse_address

FILE_NAME = "livemm.prom"


def write_textfile(app: App, target: Path) -> None:
    """The file for node_exporter's textfile collector, which reads Prometheus's own text.

    Written beside its place under a name that the collector does not look at, then renamed.
    Without timestamps: its mtime, node_textfile_mtime_seconds, tells how old it is.
    """
    path = target / FILE_NAME if target.is_dir() else target
    if path.suffix != ".prom":
        raise UsageError(f"{path}: the textfile collector reads only *.prom")
    text = generate_latest(registry(app.host)).decode()
    replace(path, text, 0o644)
    app.show({"path": str(path), "bytes": len(text.encode())}, lambda: f"written to {path}")


def serve(app: App, text: str) -> None:
    """Answer scrapes until told to end."""
    address, port = parse_address(text)

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with open_server(address, port, registry(app.host)) as server:
        app.show({"address": address, "port": server.server_port},
                 lambda: f"serving metrics on {address} port {server.server_port}")
        # systemd's way to end it is no failure, nor is Ctrl-C.
        signal.signal(signal.SIGTERM, end)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


@command(
    ("livemmctl export", "print the metrics"),
    ("livemmctl export --textfile /var/lib/prometheus/node-exporter",
     "for node_exporter; livemm-export.timer runs this every 15 s"),
    ("livemmctl export --listen 127.0.0.1:9815", "answer scrapes, in either format"),
    ("livemmctl export --openmetrics", "print OpenMetrics"),
)
@click.option("--textfile", "target", type=click.Path(path_type=Path), metavar="PATH",
              help="Write livemm.prom into the folder PATH, or the file PATH, in one step.")
@click.option("--listen", metavar="ADDRESS:PORT", help="Serve scrapes until ended.")
@click.option("--openmetrics", is_flag=True, help="Print OpenMetrics, not Prometheus's text.")
def export(app: App, target: Path | None, listen: str | None, openmetrics: bool) -> None:
    """Write or serve metrics. A host without livemm has livemm_up 0.

    To compare the arms of an experiment join with livemm_arm_info:
    rate(livemm_pcp_drains_total[5m]) * on(instance) group_left(arm) livemm_arm_info
    """
    if sum((target is not None, listen is not None, openmetrics)) > 1:
        raise click.UsageError("only one of --textfile, --listen and --openmetrics",
                               click.get_current_context())
    if target is not None:
        write_textfile(app, target)
        return
    if listen is not None:
        serve(app, listen)
        return
    found = registry(app.host)
    samples = [{"name": sample.name, "labels": sample.labels, "value": sample.value}
               for family in found.collect() for sample in family.samples] if app.json else []
    generate = generate_openmetrics if openmetrics else generate_latest
    app.show({"samples": samples}, lambda: generate(found).decode())
