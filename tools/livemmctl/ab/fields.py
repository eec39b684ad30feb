# SPDX-License-Identifier: GPL-2.0-only
"""Reading a TOML table strictly: every complaint names the key that is wrong."""

import difflib
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from livemmctl.errors import CtlError, UsageError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,9})([smhdw])\Z")
#: Names of experiments, arms, metrics: they end up in labels and in file names.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}\Z")
#: The last second of the year 9999, the last that a date can be written for.
LAST_TIME_S = 253402300799


def seconds_of(text: str) -> float:
    """`90s`, `5m`, `2h`, `7d` or `1w` in seconds.  Raises ValueError."""
    found = _DURATION.match(text)
    if found is None:
        raise ValueError(f"{text!r}: not a number and one of s, m, h, d, w")
    return float(int(found[1]) * _SECONDS[found[2]])


def duration_text(seconds: float) -> str:
    """Seconds as people write them: `90s`, `5m`, `1h30m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.3g}s"
    text = ""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, whole = divmod(whole, size)
        text += f"{count}{unit}" if count else ""
    return text


class Fields:
    """A table whose keys are taken one by one; `end` refuses what is left."""

    def __init__(self, table: object, where: str, source: str) -> None:
        """`where` is the table's place in `source`, empty for the top."""
        self.where = where
        self.source = source
        if not isinstance(table, dict):
            raise self.error("", f"a table is wanted here, not {_kind(table)}")
        self._left: dict[str, Any] = dict(table)
        self._known: list[str] = []

    def error(self, key: str, words: str, hint: str | None = None) -> CtlError:
        place = self.place(key)
        text = f"{self.source}: {place}: {words}" if place else f"{self.source}: {words}"
        return UsageError(text, hint)

    def place(self, key: str) -> str:
        return ".".join(part for part in (self.where, key) if part)

    def _take(self, key: str, default: object = None) -> Any:
        self._known.append(key)
        return self._left.pop(key, default)

    def has(self, key: str) -> bool:
        return key in self._left

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not empty; required without a default."""
        value = self._take(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, self._wanted(value, "a text"))
        if not value.replace("\n", " ").isprintable():
            raise self.error(key, "characters in it that cannot be printed")
        return value

    def name(self, key: str, default: str | None = None) -> str:
        """A text that is fit for a label."""
        value = self.text(key, default)
        self.check_name(key, value)
        return value

    def check_name(self, key: str, value: str) -> None:
        """Refuse what is not fit for a label."""
        if not NAME.match(value):
            raise self.error(
                key, f"{value!r}: letters, digits and . _ - only, at most 63, none of them first"
            )

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise self.error(key, f"{value!r}: not one of {', '.join(choices)}")
        return value

    def number(self, key: str, least: float, most: float, default: float | None = None) -> float:
        """A number within bounds, both included."""
        return self.check_number(key, self._take(key, default), least, most)

    def check_number(self, key: str, value: object, least: float, most: float) -> float:
        """`value` if it is a number within bounds, both included."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(key, self._wanted(value, "a number"))
        # Compared before it becomes a float: a TOML integer may be too large for one.
        if not least <= value <= most or not math.isfinite(value):
            raise self.error(key, f"{_short(value)}: not in {least:g}..{most:g}")
        return float(value)

    def limit(self, key: str, most: float, default: float | None) -> float | None:
        """A bound from 0 to `most`, or `false` for none."""
        if self._left.get(key) is False:
            self._take(key)
            return None
        if key not in self._left:
            self._known.append(key)
            return default
        return self.number(key, 0, most)

    def flag(self, key: str, default: bool) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.error(key, self._wanted(value, "true or false"))
        return value

    def seconds(self, key: str, least: float, most: float, default: float | None = None) -> float:
        """A duration such as `5m`, in seconds."""
        value = self._take(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.error(key, self._wanted(value, 'a duration such as "5m"'))
        try:
            seconds = seconds_of(value)
        except ValueError as error:
            raise self.error(key, str(error)) from None
        if not least <= seconds <= most:
            raise self.error(
                key, f"{value}: not in {duration_text(least)}..{duration_text(most)}"
            )
        return seconds

    def moment(self, key: str) -> float | None:
        """A date and time with its offset from UTC, in seconds since 1970."""
        value = self._take(key)
        if value is None:
            return None
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self.error(
                key, "a date and time with an offset is wanted: 2026-11-30T08:00:00Z, no quotes"
            )
        try:
            return value.astimezone(UTC).timestamp()
        except (OverflowError, ValueError):
            raise self.error(key, f"{value}: too far off") from None

    def items(self, key: str) -> list[Any]:
        """An array; empty where there is none."""
        value = self._take(key, [])
        if not isinstance(value, list):
            raise self.error(key, self._wanted(value, "an array"))
        return value

    def words(self, key: str, choices: Sequence[str]) -> tuple[str, ...]:
        """An array of some of the words of `choices`, none twice."""
        values = self.items(key)
        for value in values:
            if value not in choices:
                raise self.error(key, f"{_short(value)}: not one of {', '.join(choices)}")
        if len(set(values)) != len(values):
            raise self.error(key, "a word twice")
        return tuple(values)

    def table(self, key: str) -> "Fields":
        """A table; an empty one where there is none."""
        return Fields(self._take(key, {}), self.place(key), self.source)

    def tables(self, key: str) -> list["Fields"]:
        """An array of tables; the places count from 1, as people do."""
        return [
            Fields(item, f"{self.place(key)}[{number}]", self.source)
            for number, item in enumerate(self.items(key), 1)
        ]

    def rest(self) -> dict[str, Any]:
        """Everything not taken yet, taken now."""
        left, self._left = self._left, {}
        return left

    def end(self) -> None:
        """Refuse keys that nobody has asked for."""
        for key in self._left:
            near = difflib.get_close_matches(key, self._known, 1)
            meant = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(self._known)}"
            raise self.error(key, "unknown key", meant)

    @staticmethod
    def _wanted(value: object, what: str) -> str:
        return f"missing: {what} is wanted" if value is None else f"{what} is wanted"


def _kind(value: object) -> str:
    return {list: "an array", str: "a text", bool: "true or false"}.get(type(value), "a value")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
