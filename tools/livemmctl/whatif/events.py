# SPDX-License-Identifier: GPL-2.0-only
"""The events of a recording: where they are in tracefs, and their fields in the order of a row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Fields of each event of livemm, as replay.c reads them; the order of events is that of replay.h.
OURS: dict[str, tuple[str, ...]] = {
    "list_refill": ("slot", "order", "migratetype", "pages", "count", "high", "batch", "net",
                    "allocated", "free"),
    "list_drain": ("slot", "cpu", "pindex", "pages", "count", "high", "batch", "net", "allocated",
                   "free"),
    "list_state": ("slot", "cpu", "count", "high", "batch", "net", "allocated"),
    "zone_state": ("slot", "cpus", "reclaim", "low", "high", "managed", "free", "high_mark",
                   "mark", "gap"),
    "cpu_state": ("cpu", "faults", "freed"),
}
#: Events of the kernel's own, which are rare; a kernel may lack one.
KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "mm_vmscan_wakeup_kswapd": ("vmscan", ("nid", "zid", "order")),
}
NAMES = (*OURS, *KERNELS)
#: Bytes of a field, and of all fields of an event.
SIZES = (1, 2, 4, 8)
EVENT_MOST = 4096

_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)
_FIELD = re.compile(r"\bfield:([^;]*?)(\w+)(?:\[[^;]*\])?;\s*offset:(\d+);\s*size:(\d+);\s*"
                    r"signed:([01]);")


def group(event: str) -> str:
    """The folder of an event in tracefs."""
    return "livemm" if event in OURS else KERNELS[event][0]


def fields(event: str) -> tuple[str, ...]:
    return OURS[event] if event in OURS else KERNELS[event][1]


@dataclass(frozen=True)
class Format:
    """Where an event's fields are, by the event's file `format`."""

    id: int
    #: name -> offset, size, signed
    fields: dict[str, tuple[int, int, bool]]


def parse_format(text: str) -> Format:
    found = _ID.search(text)
    if found is None:
        raise ValueError("a format without an ID")
    return Format(int(found[1]), {name: (int(offset), int(size), signed == "1")
                                  for _, name, offset, size, signed in _FIELD.findall(text)})


def check(formats: Mapping[str, Format]) -> None:
    """Raise ValueError unless the events are those that the replay reads.

    A livemm that is newer may have more events and fields.
    """
    for event in OURS:
        if event not in formats:
            raise ValueError(f"no event {event}: of another livemm")
    for event, found in formats.items():
        if found.id not in range(1 << 16):
            raise ValueError(f"{event} has ID {found.id}")
        for name in fields(event):
            if name in found.fields:
                offset, size, _ = found.fields[name]
                if size not in SIZES or offset + size > EVENT_MOST:
                    raise ValueError(f"{event}/{name}: {size} bytes at {offset}")
            elif event in OURS:
                raise ValueError(f"{event} has no field {name}: of another livemm")
