# SPDX-License-Identifier: GPL-2.0-only
"""What is in the image of a kernel, without a guest: symbols, and who calls whom."""

import re
import struct
import subprocess
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from guests.report import ToolError

# How kernels are packed, by the first bytes.
PACKERS = {b"\xfd7zXZ": "xz", b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd",
           b"\x02\x21\x4c\x18": "lz4"}
# The tokens that stand for digits, in the table that names are spelt with.
_DIGITS = b"".join(b"%d\0" % digit for digit in range(10))
# Where the kernel is linked to run.
_TEXT = 0xFFFFFFFF80000000


def unpacked(vmlinuz: Path) -> bytes:
    """The vmlinux in a bzImage (Documentation/arch/x86/boot.rst)."""
    data = vmlinuz.read_bytes()
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = ((data[0x1F1] or 4) + 1) * 512 + offset
    packed = data[start:start + length]
    for magic, program in PACKERS.items():
        if packed.startswith(magic):
            # They complain of the size behind the data, when they have done all else.
            return subprocess.run([program, "-dcq"], input=packed, capture_output=True,
                                  check=False).stdout
    raise ToolError(f"{vmlinuz}: packed in an unknown way")


def aligned(place: int, size: int = 8) -> int:
    """The next multiple of a size."""
    return (place + size - 1) & -size


class Vmlinux:
    """A kernel image: its symbols, and its code by addresses."""

    def __init__(self, vmlinuz: Path) -> None:
        self.data = unpacked(vmlinuz)
        if not self.data.startswith(b"\x7fELF"):
            raise ToolError(f"{vmlinuz}: no ELF inside")
        (headers,) = struct.unpack_from("<Q", self.data, 32)
        size, number = struct.unpack_from("<HH", self.data, 54)
        rows = (struct.unpack_from("<IIQQQQ", self.data, headers + size * row)
                for row in range(number))
        # Address, place in the file and length of what is loaded.
        self.loads = [(row[3], row[2], row[5]) for row in rows if row[0] == 1]

    def code(self, address: int, length: int) -> bytes:
        """The bytes at an address."""
        for start, offset, size in self.loads:
            if start <= address < start + size:
                return self.data[offset + address - start:][:length]
        return b""

    def _tokens(self) -> tuple[list[bytes], int, int]:
        """The table of tokens, where it begins, and where the index behind it ends."""
        for match in re.finditer(re.escape(_DIGITS), self.data):
            start = match.start()
            for _ in range(ord("0")):
                start = self.data.rindex(b"\0", 0, start - 1) + 1
            tokens = self.data[start:start + 4096].split(b"\0")[:256]
            places = list(accumulate((len(token) + 1 for token in tokens), initial=0))
            # Where each token begins; tables are aligned to 8 bytes, on later kernels to 4.
            for index in {aligned(start + places[-1], size) for size in (4, 8)}:
                if list(struct.unpack_from("<256H", self.data, index)) == places[:-1]:
                    return tokens, start, index + 512
        raise ToolError("no kallsyms in this kernel")

    def _markers(self, words: Sequence[int], last: int) -> tuple[int, list[int]]:
        """Where the table of every 256th name is, and the table."""
        for word in range(last, 0, -1):
            if words[word] == 0 and 256 < words[word + 1] < 1 << 14:
                markers = [0]
                while 256 < words[word + len(markers)] - markers[-1] < 1 << 14:
                    markers.append(words[word + len(markers)])
                if len(markers) > 64:
                    return word * 4, markers
        raise ToolError("no table of every 256th name in this kernel")

    def _names(self, tokens: list[bytes], at: int, number: int) -> tuple[list[str], int]:
        """Names from a place on, each behind the letter of its type, and where they end."""
        names = []
        for _ in range(number):
            length = self.data[at]
            at += 1
            if length & 0x80:
                length = length & 0x7F | self.data[at] << 7
                at += 1
            names.append(b"".join(tokens[byte] for byte in self.data[at:at + length])
                         .decode("latin-1"))
            at += length
        return names, at

    @cached_property
    def symbols(self) -> dict[str, list[int]]:
        """The addresses of each name, by the kernel's own table (scripts/kallsyms.c)."""
        tokens, table, behind = self._tokens()
        words = memoryview(self.data)[:behind & ~3].cast("I")
        end, markers = self._markers(words, table // 4)
        # The names end there, and their number is before the first.
        last = (end - markers[-1]) // 4
        for word in range(last, last - (1 << 12), -1):
            if 256 * (len(markers) - 1) < (number := words[word]) <= 256 * len(markers):
                for gap in (4, 8):
                    names, at = self._names(tokens, word * 4 + gap, number)
                    if end - 8 < at <= end:
                        return self._addresses(names, word * 4, behind)
        raise ToolError("no names in this kernel")

    def _addresses(self, names: list[str], number: int, behind: int) -> dict[str, list[int]]:
        """Addresses by name: relative to a base, or to their own place in a table."""
        size = 4 * len(names)
        # Before 6.4 the table comes first.
        bases = {number - 8: number - 8 - aligned(size), behind + aligned(size): behind}
        table, base = behind, 0
        for place, offsets in bases.items():
            (word,) = struct.unpack_from("<Q", self.data, place)
            if word >= _TEXT:
                table, base = offsets, word
                break
        values = struct.unpack_from(f"<{len(names)}i", self.data, table)
        found: dict[str, list[int]] = {}
        own = next(start + table - offset for start, offset, size in self.loads
                   if offset <= table < offset + size)
        for row, (name, value) in enumerate(zip(names, values, strict=True)):
            if not base:
                value += own + 4 * row
            elif value < 0:
                value = base - 1 - value
            found.setdefault(name[1:], []).append(value)
        return found

    def size(self, name: str) -> int:
        """The bytes from a function to the next symbol."""
        address = self.symbols[name][0]
        return self._sorted[bisect_right(self._sorted, address)] - address

    @cached_property
    def _sorted(self) -> list[int]:
        return sorted({address for places in self.symbols.values() for address in places})

    def calls(self, caller: str, callee: str) -> int:
        """How often a function calls another, or jumps there, as lmm_symbol_calls() counts."""
        start, target = self.symbols[caller][0], self.symbols[callee][0]
        code = self.code(start, self.size(caller))
        return sum(code[at] in (0xE8, 0xE9) and
                   start + at + 5 + struct.unpack_from("<i", code, at + 1)[0] == target
                   for at in range(len(code) - 4))

    def alone(self, name: str) -> bool:
        """Whether one symbol bears the name, as lmm_symbol_find() wants."""
        return len(self.symbols.get(name, [])) == 1
