# SPDX-License-Identifier: GPL-2.0-only
"""The rows of a recording, sorted by time; and the same as Parquet."""

import ctypes
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from livemmctl.errors import CtlError, Exit
from livemmctl.whatif import events, library, recording


@dataclass
class Events:
    meta: recording.Meta
    rows: library.Rows


def formats_of(texts: dict[str, str]) -> "ctypes.Array[library.Format]":
    """Where each event's fields are, in the order of events.NAMES; id -1: not recorded."""
    formats = (library.Format * len(events.NAMES))()
    parsed = {event: events.parse_format(text) for event, text in texts.items()
              if event in events.NAMES}
    events.check(parsed)
    for row, event in zip(formats, events.NAMES, strict=True):
        row.id = -1
        if event not in parsed:
            continue
        found = parsed[event]
        row.id = found.id
        row.fields = len(events.fields(event))
        for i, name in enumerate(events.fields(event)):
            row.offset[i], row.size[i], row.is_signed[i] = found.fields.get(name, (0, 0, False))
    return formats


def read(path: Path) -> Events:
    """All events of a recording; a Parquet file made of one will do."""
    if path.suffix == ".parquet":
        return _checked(path, _from_parquet(path))
    made = recording.read(path)
    try:
        formats = formats_of(made.formats)
    except ValueError as error:
        raise recording.broken(path, error) from None
    parts = []
    for cpu, raw in made.pages():
        if cpu not in range(library.CPUS):
            raise recording.broken(path, f"it has a CPU {cpu}; at most {library.CPUS} are read")
        parts.append(library.pages(raw, made.meta.page_size, cpu, formats)[0])
    return _checked(path, Events(made.meta, _by_time(parts)))


def _by_time(parts: list[library.Rows]) -> library.Rows:
    """All rows in one array; a part is let go of once its rows are there."""
    if not parts:
        return np.empty((0, library.COLUMNS), dtype=np.int64)
    order = np.argsort(np.concatenate([part[:, 0] for part in parts]), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    del order
    made = np.empty((len(place), library.COLUMNS), dtype=np.int64)
    end = len(place)
    while parts:
        part = parts.pop()
        made[place[end - len(part):end]] = part
        end -= len(part)
    return made


_PAGES = (0, 1 << 28)
_OF_ZONE = (-(1 << 36), 1 << 36)
#: Between what fields of lists and zones lie: a list has at most 1 TiB, a zone 256 TiB.
SANE = {**dict.fromkeys(("count", "pages"), _PAGES), "batch": (1, 1 << 20),
        "slot": (0, library.SLOTS - 1), "cpu": (0, library.CPUS - 1), "cpus": (0, library.CPUS),
        "low": _PAGES, "high": _PAGES,
        **dict.fromkeys(("managed", "free", "high_mark", "mark", "gap"), _OF_ZONE)}
#: A recording is no longer than a day, and its looks at lists and zones are 50 ms apart.
LONGEST_NS = 2 * 86400 * 10**9


def _checked(path: Path, found: Events) -> Events:
    """The events, if they can be those of a recording.  Raises CtlError."""
    rows = found.rows
    if not len(rows):
        raise CtlError(f"{path}: holds no events", Exit.FAILED)
    if int(rows[-1, 0]) - int(rows[0, 0]) > LONGEST_NS:
        raise recording.broken(path, "its events are more than two days apart")
    for kind, event in enumerate(("list_refill", "list_drain", "list_state", "zone_state")):
        of_kind = np.flatnonzero(rows[:, 2] == kind)
        for i, name in enumerate(events.fields(event)):
            if name not in SANE:
                continue
            low, high = SANE[name]
            values = rows[of_kind, 3 + i]
            wrong = values[(values < low) | (values > high)]
            if len(wrong):
                raise recording.broken(path, f"{event}/{name} is {wrong[0]}")
    return found


#: Columns of the Parquet file that every event has.
COMMON = ("host", "began", "time_ns", "cpu", "event")


def _columns() -> list[str]:
    """One column for each name of a field; an event leaves the others empty."""
    names = dict.fromkeys(name for event in events.NAMES for name in events.fields(event))
    return [name if name != "cpu" else "list_cpu" for name in names]


def write_parquet(found: Events, path: Path) -> None:
    """The rows as Parquet, with the meta data under the key `livemm`.

    Each row names its host, and when its recording began, in seconds since 1970: a query reads
    the files of many hosts as one table, on whatever engine.
    """
    import pyarrow
    import pyarrow.parquet

    kinds = found.rows[:, 2]
    nothing = pyarrow.array(np.zeros(len(kinds), dtype=np.int8))
    arrays = [pyarrow.DictionaryArray.from_arrays(nothing, pyarrow.array([found.meta.host])),
              pyarrow.array(np.full(len(kinds), found.meta.began, dtype=np.float64)),
              pyarrow.array(found.rows[:, 0]), pyarrow.array(found.rows[:, 1].astype(np.int32)),
              pyarrow.DictionaryArray.from_arrays(pyarrow.array(kinds.astype(np.int8)),
                                                  pyarrow.array(events.NAMES))]
    for column in _columns():
        name = "cpu" if column == "list_cpu" else column
        values = np.zeros(len(kinds), dtype=np.int64)
        empty = np.ones(len(kinds), dtype=bool)
        for kind, event in enumerate(events.NAMES):
            if name in events.fields(event):
                here = kinds == kind
                values[here] = found.rows[here, 3 + events.fields(event).index(name)]
                empty[here] = False
        arrays.append(pyarrow.array(values, mask=empty))
    table = pyarrow.table(dict(zip((*COMMON, *_columns()), arrays, strict=True)))
    table = table.replace_schema_metadata({"livemm": json.dumps(asdict(found.meta))})
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _from_parquet(path: Path) -> Events:
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
        meta = recording.meta_of(json.loads((table.schema.metadata or {})[b"livemm"]), path)
        missing = {"time_ns", "cpu", "event"}.difference(table.column_names)
    except (pyarrow.ArrowException, KeyError, ValueError) as error:
        raise CtlError(f"{path}: not made of a recording of livemmctl: {error}",
                       Exit.FAILED) from None
    if missing:
        raise recording.broken(path, f"no column {', '.join(sorted(missing))}")
    rows = np.zeros((table.num_rows, library.COLUMNS), dtype=np.int64)
    rows[:, 0] = table["time_ns"].to_numpy()
    rows[:, 1] = table["cpu"].to_numpy()
    words = np.asarray(table["event"].to_pylist(), dtype=object)
    for kind, event in enumerate(events.NAMES):
        here = words == event
        rows[here, 2] = kind
        if not here.any():
            continue
        for i, name in enumerate(events.fields(event)):
            column = "list_cpu" if name == "cpu" else name
            if column in table.column_names:
                rows[here, 3 + i] = table[column].fill_null(0).to_numpy()[here]
    return Events(meta, rows)
