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
    for row, event in zip(formats, events.NAMES, strict=True):
        row.id = -1
        if event not in texts:
            continue
        found = events.parse_format(texts[event])
        row.id = found.id
        row.fields = len(events.fields(event))
        for i, name in enumerate(events.fields(event)):
            row.offset[i], row.size[i], row.is_signed[i] = found.fields.get(name, (0, 0, False))
    return formats


def read(path: Path) -> Events:
    """All events of a recording; a Parquet file made of one will do."""
    if path.suffix == ".parquet":
        return _from_parquet(path)
    made = recording.read(path)
    formats = formats_of(made.formats)
    parts = [library.pages(raw, made.meta.page_size, cpu, formats)[0] for cpu, raw in made.pages()]
    rows = np.concatenate(parts) if parts else np.empty((0, library.COLUMNS), dtype=np.int64)
    return Events(made.meta, np.ascontiguousarray(rows[np.argsort(rows[:, 0], kind="stable")]))


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

    table = pyarrow.parquet.read_table(path)
    meta = (table.schema.metadata or {}).get(b"livemm")
    if meta is None:
        raise CtlError(f"{path}: not made of a recording of livemmctl", Exit.FAILED)
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
            # An earlier recorder had fewer fields.
            if column in table.column_names:
                rows[here, 3 + i] = table[column].fill_null(0).to_numpy()[here]
    return Events(recording.Meta(**json.loads(meta)), rows)
