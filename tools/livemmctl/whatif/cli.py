# SPDX-License-Identifier: GPL-2.0-only
"""Commands: record, whatif"""

import os
import time
from pathlib import Path

import click

from livemmctl.app import App, Seconds, command
from livemmctl.commands.settings import parse_assignments
from livemmctl.control import DEBUGFS
from livemmctl.errors import CtlError, Exit, UsageError, os_words
from livemmctl.files import check_replaceable
from livemmctl.modules import load_recorder

TRACEFS = "/sys/kernel/tracing"


@command(
    ("livemmctl record -o host.rec --seconds 60", "record the host as it is, every policy off"),
    ("livemmctl record -o load.rec -- ./load", "while a command runs"),
    ("livemmctl whatif host.rec", "what pcp would have done"),
    name="record",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="Write the recording to FILE.")
@click.option("--seconds", type=Seconds(0.1, 86400), default=60.0, show_default=True,
              metavar="SECONDS", help="How long to record.")
@click.option("--buffer-kb", type=click.IntRange(64, 1 << 20), default=4096, show_default=True,
              metavar="KIB", help="Memory of the kernel's ring buffer for each CPU.")
@click.argument("load", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
def record(app: App, output: Path, seconds: float, buffer_kb: int, load: tuple[str, ...]) -> None:
    """Record what the per-CPU lists do, for livemmctl whatif.

    With a COMMAND, the recording ends when the command does, and the exit code is that of the
    command: 128 and the number of the signal where a signal has ended the command. When SECONDS
    are over first, the command runs on.

    A recording changes nothing. The hooks that it takes are let go at the end, also when
    livemmctl is killed. What the buffer had no room for is counted, and the file says so.
    """
    from livemmctl.whatif import recorder, recording

    # Before a recording that could not be kept.
    if not 1980 <= time.localtime().tm_year <= 2107:
        raise CtlError("the clock of this host is not set", Exit.FAILED, "set the date")
    check_replaceable(output)
    if output.is_dir():
        raise UsageError(f"{output} is a folder; a file is wanted")
    control = app.control()
    tracefs = app.host.path(TRACEFS)
    if not (tracefs / "instances").is_dir():
        raise CtlError(f"{TRACEFS}: no tracefs there", Exit.UNSUPPORTED,
                       "mount -t tracefs tracefs /sys/kernel/tracing")
    on = {row.name: control.get(row.name) for row in control.policies() if row.state == "on"}
    meta = recording.Meta(
        livemm=control.version(), host=os.uname().nodename, kernel=os.uname().release,
        cpus=os.cpu_count() or 1, seconds=seconds, began=time.time(), page_size=0,
        buffer_kb=buffer_kb,
        policies={name: " ".join(f"{key}={value}" for key, value in knobs.items())
                  for name, knobs in on.items()})
    load_recorder(app.host)
    try:
        meta, status = recorder.record(app.host.path(DEBUGFS), tracefs, seconds, buffer_kb, output,
                                       meta, load, 2 if app.json else None)
    except PermissionError as error:
        # The load, or the folder of the recording, may be what is closed.
        where = f"{error.filename}: " if error.filename else ""
        closed = where.startswith((str(tracefs), str(app.host.path(DEBUGFS))))
        hint = "record needs root, and no lockdown (of debugfs or tracefs)" if closed else None
        raise CtlError(f"{where}{os_words(error)}", Exit.DENIED, hint) from None
    size = output.stat().st_size
    app.show({"file": str(output), "bytes": size, "lost": meta.lost,
              "policies": list(meta.policies), "command_status": status},
             lambda: f"{output}: {size >> 10} KiB, {meta.lost} events lost")
    if status:
        click.get_current_context().exit(status)


@command(
    ("livemmctl whatif host.rec", "pcp with its defaults"),
    ("livemmctl whatif host.rec --policy pcp --policy zonelock --set zonelock/max_pages_pct=2",
     "both policies"),
    ("livemmctl whatif host.rec --set high_max_pct=5 --set decay_ms=1000", "with other settings"),
    ("livemmctl whatif host.rec --sweep high_max_pct --sweep decay_ms --plot frontier.svg",
     "pages over zone->lock against pages kept"),
    ("livemmctl whatif recordings/*.rec --html fleet.html", "rank policies and hosts"),
    ("livemmctl whatif host.rec --parquet host.parquet", "for DuckDB, Polars, ClickHouse, Spark"),
    name="whatif",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path),
                metavar="FILE...")
@click.option("--policy", "policies", multiple=True, metavar="POLICY",
              help="A policy that is to be on: pcp or zonelock; twice: both. Default: pcp; "
                   "of several recordings pcp, zonelock, and both.")
@click.option("--set", "assignments", multiple=True, metavar="KNOB=VALUE",
              help="A setting; the others have their defaults. Of several policies: "
                   "POLICY/KNOB=VALUE.")
@click.option("--sweep", "sweeps", multiple=True, metavar="KNOB[=V,V...]",
              help="Try values of a knob; more than one knob: all combinations.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="SVG",
              help="Draw the frontier of a sweep.")
@click.option("--profile", type=click.Path(path_type=Path), metavar="TOML",
              help="Write the profile that a sweep chooses.")
@click.option("--html", type=click.Path(path_type=Path), metavar="HTML",
              help="Write a page that ranks policies and hosts.")
@click.option("--parquet", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the events of the one recording as Parquet (needs pyarrow).")
def whatif(app: App, files: tuple[Path, ...], policies: tuple[str, ...],
           assignments: tuple[str, ...], sweeps: tuple[str, ...], plot: Path | None,
           profile: Path | None, html: Path | None, parquet: Path | None) -> None:
    """Replay recordings through the policies' own arithmetic, and predict.

    Predicts the pages that cross zone->lock, how often the lock is taken for lists, and the pages
    that lists and depots keep. docs/whatif.md has the error of predictions, and what is not
    predicted: then the status is 5.
    """
    from livemmctl.whatif import predict, rows

    if not sweeps and (plot or profile):
        raise UsageError("--plot and --profile are of a sweep: say --sweep KNOB")
    if sweeps and (html or len(files) > 1):
        raise UsageError("--sweep is for one recording")
    if parquet is not None and len(files) != 1:
        raise UsageError("--parquet is for one recording")
    found = rows.read(files[0]) if len(files) == 1 and html is None else None
    plan = predict.plan_of(policies or ("pcp",), parse_assignments("whatif", assignments))
    if found is None:
        from livemmctl.whatif import fleet

        if parquet is not None:
            rows.write_parquet(rows.read(files[0]), parquet)
        fleet.run(app, files, [plan] if policies or assignments else fleet.PLANS, html)
        return
    if parquet is not None:
        rows.write_parquet(found, parquet)
    if sweeps:
        from livemmctl.whatif import sweep

        sweep.run(app, found, plan, sweeps, plot, profile)
        return
    outcome = predict.predict(found, plan)
    app.show(outcome.document(), outcome.text)
