"""Lines of text from columns, one or more per event, without a Python step per event.

A *program* is the list of pieces of one kind of line: constant bytes, numbers, and text. Strings that need
escaping, and all text that is computed rather than copied, are stored in a *pool* of bytes, each distinct one
once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints, Number, OutBytes, OutInts, view_of
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.kernels.groups import are_same
from binlog_kaitai.text.text_kernels import (
    BYTES,
    CONSTANT,
    FRACTION,
    HEX_DIGITS,
    HEXADECIMAL,
    HEXDUMP,
    NUMBER,
    TEXT,
    HexdumpStyle,
    LinePieces,
    Lines,
    assemble,
    find_clean,
    put_hex,
    room_for,
)

_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}

#: For each byte, the letter after the backslash; 0 for a byte copied unchanged, 1 for \\u00XX.
ESCAPES = np.array(
    [ord(_SHORT.get(chr(byte), "\0")) or int(byte < 32) for byte in range(256)], dtype=np.uint8
)

#: For each letter after a backslash, the byte; for each hexadecimal digit, its value.
_ESCAPED, _HEX_VALUES = np.zeros((2, 256), dtype=np.uint8)
for _byte, _letter in _SHORT.items():
    _ESCAPED[ord(_letter)] = ord(_byte)
np.put(_HEX_VALUES, HEX_DIGITS, range(16))

#: Length of a UTF-8 character by its first byte, 0 if invalid; and the range of its second byte, which
#: excludes overlong forms, surrogates, and code points above U+10FFFF.
_SIZES = np.zeros(256, dtype=np.uint8)
_SECOND_FROM, _SECOND_TO = np.full(256, 0x80, dtype=np.uint8), np.full(256, 0xBF, dtype=np.uint8)
_SIZES[:0x80], _SIZES[0xC2:0xE0], _SIZES[0xE0:0xF0], _SIZES[0xF0:0xF5] = 1, 2, 3, 4
_SECOND_FROM[0xE0], _SECOND_TO[0xED], _SECOND_FROM[0xF0], _SECOND_TO[0xF4] = (
    0xA0,
    0x9F,
    0x90,
    0x8F,
)


def put_escape(byte: int, out: Bytes, offset: int) -> Number:
    """Write a byte that has an entry in `ESCAPES` as a JSON escape; returns the end."""
    escape = ESCAPES[byte]
    out[offset] = 92
    if escape > 1:
        out[offset + 1] = escape
        return offset + 2
    out[offset + 1], out[offset + 2], out[offset + 3] = 117, 48, 48
    return put_hex(byte, out, offset + 4)


@inlined
def copy_marked(data: Bytes, start: int, length: int, out: Bytes, offset: int) -> Any:
    """Copy bytes; whether one of them has an entry in `ESCAPES`, and whether one is above 127."""
    # Numba compiles slices, whose indexes cannot be negative, to vector instructions.
    source, target = data[start : start + length], out[offset : offset + length]
    special, high = np.uint8(0), np.uint8(0)
    for index in range(source.shape[0]):
        byte = source[index]
        special = np.uint8(special | np.uint8(byte < 32) | np.uint8(byte == 34) | np.uint8(byte == 92))
        high = np.uint8(high | byte)
        target[index] = byte
    return special != 0, high > 127


def unquote(text: Bytes, begin: int, end: int) -> Number:
    """Replace the JSON string `text[begin:end]`, escaped as by `put_escape`, by its characters."""
    target = begin
    offset = begin + 1
    while offset < end - 1:
        byte = text[offset]
        offset += 1
        if byte == 92:
            letter = text[offset]
            offset += 1
            byte = _ESCAPED[letter]
            if letter == 117:
                byte = _HEX_VALUES[text[offset + 2]] << 4 | _HEX_VALUES[text[offset + 3]]
                offset += 4
        text[target] = byte
        target += 1
    return target


def width_at(data: Bytes, offset: Number, end: Number) -> Number:
    """Length of the UTF-8 character at `offset`, before `end`; 0 if it is invalid."""
    byte = data[offset]
    width = np.int64(_SIZES[byte])
    if width == 1:
        return width
    is_good = width > 0 and offset + width <= end
    if is_good:
        is_good = _SECOND_FROM[byte] <= data[offset + 1] <= _SECOND_TO[byte]
        for step in range(2, width):
            is_good = is_good and data[offset + step] & 0xC0 == 0x80
    return width if is_good else np.int64(0)


@kernel
def json_sizes(data: Bytes, starts: Ints, lengths: Ints, out: OutInts) -> None:
    """Length of the JSON string of each range, quotes included; -1 if it is outside.

    Invalid bytes become escapes, as with `surrogateescape`.
    """
    for index in range(starts.shape[0]):
        offset = starts[index]
        end = offset + lengths[index]
        size: Number = 2
        if offset < 0 or end < offset or end > data.shape[0]:
            size = -1
        while size >= 0 and offset < end:
            width = width_at(data, offset, end)
            escape = ESCAPES[data[offset]]
            if width:
                size += width if escape == 0 else 6 if escape == 1 else 2
                offset += width
            else:
                size += 6
                offset += 1
        out[index] = size


@kernel
def put_json(data: Bytes, starts: Ints, lengths: Ints, positions: Ints, out: OutBytes) -> None:
    """Write the JSON string of each range at its offset; `out` must have room for `json_sizes` bytes."""
    for index in range(starts.shape[0]):
        target = positions[index]
        out[target] = 34
        target += 1
        end = starts[index] + lengths[index]
        after = starts[index]  # the last multi-byte character
        for offset in range(starts[index], end):
            byte = data[offset]
            if byte >= 128 and offset >= after:
                after = offset + width_at(data, offset, end)
            if byte >= 128 and offset >= after:
                out[target], out[target + 1], out[target + 2], out[target + 3] = 92, 117, 100, 99
                target = put_hex(byte, out, target + 4)
            elif ESCAPES[byte]:
                target = put_escape(byte, out, target)
            else:
                out[target] = byte
                target += 1
        out[target] = 34


@kernel
def escape_bytes(data: Bytes, offsets: Ints, out: OutBytes, ends: OutInts) -> int:
    """Write strings with each byte that is part of no character of UTF-8 as ``\\xNN``.

    `offsets` and `ends` have one more element than there are strings; `out` must have room for four bytes per
    byte. Returns the total length, or -1 if a string is outside the data.
    """
    target = 0
    ends[0] = 0
    for index in range(offsets.shape[0] - 1):
        offset, end = np.int64(offsets[index]), np.int64(offsets[index + 1])
        if offset < 0 or end < offset or end > data.shape[0] or target + 4 * (end - offset) > out.shape[0]:
            return -1
        while offset < end:
            width = width_at(data, offset, end)
            if width:
                for step in range(width):
                    out[target + step] = data[offset + step]
                target += width
                offset += width
            else:
                byte = data[offset]
                out[target], out[target + 1] = 92, 120
                target = put_hex(byte, out, target + 2)
                offset += 1
        ends[index + 1] = target
    return target


#: Bytes that need no escape in JSON.
_CLEAN = np.array([32 <= byte < 128 and byte not in b'"\\' for byte in range(256)], dtype=np.bool_)

_MAX_DIGITS = 20

#: Strings longer than this, in bytes, are not deduplicated but copied from the block.
_MAX_SAME = 1 << 16

_FIELD = re.compile(rb"%\((\w+)\)[ds]")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_text(value: object) -> bytes:
    """A value in the command line's format: JSON, UTF-8, with invalid UTF-8 escaped."""
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


def plain(text: str) -> str:
    """Text that Arrow accepts: surrogates from invalid UTF-8 become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


class TextColumn(NamedTuple):
    """One value per row.

    `kind`, `first`, `second`: see `text_kernels.LinePieces`.
    `by_event`: the column has a row for each event of the block.
    `constant`: the JSON text of all rows if it is the same, as often for a server id or thread id.
    """

    kind: int
    first: Ints
    second: Ints
    by_event: bool = False
    constant: bytes | None = None

    def select(self, rows: Ints | Bools | slice) -> TextColumn:
        """The given rows."""
        return TextColumn(self.kind, self.first[rows], self.second[rows])


#: Value of a template field: a value of each row, text, or several of these.
Field = TextColumn | bytes | tuple[TextColumn | bytes, ...]


class Pool:
    """Bytes used in lines, in addition to those of the block."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._offsets: dict[bytes, tuple[int, int]] = {}
        self.null = self.add(b"null")

    def add(self, text: bytes) -> tuple[int, int]:
        """Offset and length of the given bytes, which are added if they are new."""
        place = self._offsets.get(text)
        if place is None:
            place = self._offsets[text] = len(self._bytes), len(text)
            self._bytes += text
        return place

    def append(self, data: Bytes) -> int:
        """Append many bytes at once; returns their offset."""
        offset = len(self._bytes)
        self._bytes += view_of(data)
        return offset

    def read(self, offset: int, length: int) -> bytes:
        """A range of the bytes."""
        return bytes(self._bytes[offset : offset + length])

    def array(self) -> Bytes:
        """All bytes, as a uint8 array; nothing can be added while it exists."""
        array = np.frombuffer(self._bytes, dtype=np.uint8)
        array.flags.writeable = False
        return array

    def __len__(self) -> int:
        return len(self._bytes)

    # Columns ------------------------------------------------------------------------------------------

    def numbers(self, values: Array, mask: Bools | None = None, *, by_event: bool = False) -> TextColumn:
        """A column of integers or truth values; null where `mask` is false."""
        values = np.asarray(values)
        if values.dtype == np.bool_:
            return self.choice(values.astype(np.int64), [b"false", b"true"], mask, by_event=by_event)
        if values.dtype.kind == "f":
            return self.verbatim([json_text(value) for value in values.tolist()])
        if _is_constant(values) and (mask is None or mask.all()):
            return self.same(b"%d" % int(values[0]), len(values), by_event=by_event)
        first = values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64)
        second = np.zeros(len(first), dtype=np.int64)
        if values.dtype == np.uint64 or (first == np.iinfo(np.int64).min).any():
            # Numbers outside the range of int64 are rare and formatted here.
            rare = np.flatnonzero(first < 0 if values.dtype == np.uint64 else first == np.iinfo(np.int64).min)
            if len(rare):
                first = first.copy()
                for index in rare.tolist():
                    first[index], second[index] = self.add(b"%d" % int(values[index]))
        return TextColumn(NUMBER, *self._masked(first, second, mask, self.null[0]), by_event)

    def _masked(self, first: Ints, second: Ints, mask: Bools | None, null: int) -> tuple[Ints, Ints]:
        """The parts of a column, with those of null where `mask` is false."""
        if mask is None or mask.all():
            return first, second
        return np.where(mask, first, null), np.where(mask, second, self.null[1])

    def choice(
        self, codes: Array, texts: Sequence[bytes], mask: Bools | None = None, *, by_event: bool = False
    ) -> TextColumn:
        """A column of JSON values `texts[code]`; null where `mask` is false."""
        if _is_constant(codes) and (mask is None or mask.all()):
            return self.same(texts[int(codes[0])], len(codes), by_event=by_event)
        offsets = np.array([self.add(text) for text in texts], dtype=np.int64).reshape(-1, 2)
        # NumPy indexes slowly with integers that are not 64 bits wide.
        codes = codes.astype(np.int64, copy=False)
        first, second = -offsets[:, 0].take(codes) - 1, offsets[:, 1].take(codes)
        return TextColumn(TEXT, *self._masked(first, second, mask, -self.null[0] - 1), by_event)

    def verbatim(self, texts: Sequence[bytes], *, by_event: bool = False) -> TextColumn:
        """A column of JSON values given as text."""
        offsets = np.array([self.add(text) for text in texts], dtype=np.int64).reshape(-1, 2)
        return TextColumn(TEXT, -offsets[:, 0] - 1, offsets[:, 1], by_event)

    def placed(self, first: Ints, second: Ints) -> TextColumn:
        """A column of JSON values in the block or the pool, see `text_kernels.LinePieces`."""
        if len(first) and first[0] < 0 and _is_constant(first) and _is_constant(second):
            return self.same(self.read(-int(first[0]) - 1, int(second[0])), len(first))
        return TextColumn(TEXT, first, second)

    def unquoted(self, column: TextColumn) -> TextColumn:
        """A column of JSON strings in the pool without their quotes, and nothing for null."""
        lengths = np.where(column.first == -self.null[0] - 1, 0, column.second - 2)
        return TextColumn(TEXT, column.first - 1, lengths)

    def ranges(self, starts: Ints, lengths: Ints) -> TextColumn:
        """A column of byte ranges of the block, copied unchanged."""
        return TextColumn(BYTES, np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64))

    def fractions(self, values: Ints) -> TextColumn:
        """A column of microseconds below a second, with six digits."""
        return TextColumn(FRACTION, values, np.zeros(len(values), dtype=np.int64))

    def hexadecimal(self, values: Ints, *, by_event: bool = False) -> TextColumn:
        """A column of 32-bit numbers with eight hexadecimal digits."""
        return TextColumn(HEXADECIMAL, values, np.zeros(len(values), dtype=np.int64), by_event)

    def hexdumps(self, starts: Ints, sizes: Ints, positions: Ints, style: HexdumpStyle) -> TextColumn:
        """A column of hex dumps, one per event; empty for events with position 0."""
        offset, _ = self.add(style.packed())
        first = np.stack((starts, positions), axis=1)
        second = np.stack((sizes, np.full(len(sizes), offset)), axis=1)
        return TextColumn(HEXDUMP, first.reshape(-1), second.reshape(-1), by_event=True)

    def same(self, text: bytes, count: int, *, by_event: bool = False) -> TextColumn:
        """A column with the same JSON value in `count` rows."""
        offset, length = self.add(text)
        return TextColumn(TEXT, _repeated(-offset - 1, count), _repeated(length, count), by_event, text)

    def strings(
        self,
        data: Bytes,
        starts: Ints,
        lengths: Ints,
        convert: Callable[[bytes], object],
        mask: Bools | None = None,
    ) -> TextColumn:
        """A column of strings in the block; strings that are not plain ASCII are passed to `convert`."""
        is_whole = mask is None or mask.all()
        if is_whole and _is_constant(lengths) and lengths[0] <= _MAX_SAME:
            length = int(lengths[0])
            if are_same(data, starts, length):
                raw = bytes(data[int(starts[0]) : int(starts[0]) + length])
                return self.same(json_text(convert(raw)), len(starts))
        first, second = np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64)
        clean = np.empty(len(first), dtype=np.bool_)
        find_clean.run(data, first, second, _CLEAN, clean)
        if mask is not None:
            clean |= ~mask
        view = view_of(data)
        known: dict[bytes, tuple[int, int]] = {}
        for index in self._escape(data, first, second, np.flatnonzero(~clean)).tolist():
            raw = bytes(view[first[index] : first[index] + second[index]])
            if raw not in known:
                known[raw] = self.add(json_text(convert(raw)))
            first[index], second[index] = -known[raw][0] - 1, known[raw][1]
        return TextColumn(TEXT, *self._masked(first, second, mask, -self.null[0] - 1))

    def _escape(self, data: Bytes, first: Ints, second: Ints, rows: Ints) -> Ints:
        """Add the JSON text of many strings at once; returns the strings that are left."""
        sizes = np.empty(len(rows), dtype=np.int64)
        measure = json_sizes.run
        if measure is json_sizes.plain:
            return rows
        measure(data, first[rows], second[rows], sizes)
        chosen, sizes, left = rows[sizes >= 0], sizes[sizes >= 0], rows[sizes < 0]
        ends = np.cumsum(sizes)
        out = np.empty(int(sizes.sum()), dtype=np.uint8)
        put_json.compiled(data, first[chosen], second[chosen], ends - sizes, out)
        first[chosen] = -(self.append(out) + ends - sizes) - 1
        second[chosen] = sizes
        return left


def _repeated(value: int, count: int) -> Ints:
    """Like `np.broadcast_to`, which is ten times slower."""
    return np.ndarray(count, dtype=np.int64, buffer=np.int64(value), strides=(0,))


def _is_constant(values: Array) -> bool:
    """Whether there are values and all are the same."""
    return len(values) > 0 and bool((values == values[0]).all())


def text_of(data: Bytes, pool: Pool, column: TextColumn, row: int) -> str | None:
    """A cell of a text column; None for null."""
    start, length = int(column.first[row]), int(column.second[row])
    if start >= 0:
        return bytes(data[start : start + length]).decode()
    value: str | None = json.loads(pool.read(-start - 1, length))
    return value


class LineProgram:
    """The pieces of one kind of line."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._pending = b""
        self.pieces: list[tuple[int, bytes | TextColumn]] = []

    def text(self, text: str | bytes) -> LineProgram:
        """Add constant bytes."""
        self._pending += text.encode() if isinstance(text, str) else text
        return self

    def fill(self, template: bytes, fields: Mapping[str, Field]) -> LineProgram:
        """Add a template: bytes in the format of ``%``, with named fields."""
        start = 0
        for match in _FIELD.finditer(template):
            self.text(template[start : match.start()])
            value = fields[match[1].decode()]
            for piece in (value,) if isinstance(value, (bytes, TextColumn)) else value:
                if isinstance(piece, bytes):
                    self.text(piece)
                else:
                    self.column(piece)
            start = match.end()
        return self.text(template[start:])

    def column(self, column: TextColumn) -> LineProgram:
        """Add a value of each row."""
        if column.constant is not None:
            self._pending += column.constant
            return self
        self.finish()
        self.pieces.append((column.kind, column))
        return self

    def finish(self) -> LineProgram:
        """Close the last run of constant bytes."""
        if self._pending:
            self.pieces.append((CONSTANT, self._pending))
            self._pending = b""
        return self


def write_lines(
    data: Bytes,
    pool: Pool,
    programs: Sequence[LineProgram],
    events: NDArray[np.int64],
    program_of: NDArray[np.int64],
    row_of: NDArray[np.int64],
) -> tuple[Bytes, Ints]:
    """The lines of all events, concatenated (uint8), and the end of each (int64).

    `programs`: the programs used.
    `events`, `program_of`, `row_of`: for each line, its event, its program, and the row in that program's
    columns.
    """
    pieces: list[tuple[int, int, int]] = []
    limits = [0]
    columns: list[TextColumn] = []
    offsets: dict[int, int] = {}  # by identity of the column's array: several programs may share a column
    room, base = 0, 0
    counts = np.bincount(program_of, minlength=len(programs))
    for program, count in zip(programs, counts.tolist(), strict=True):
        for kind, piece in program.finish().pieces:
            if isinstance(piece, bytes):
                offset, length = pool.add(piece)
                pieces.append((CONSTANT, offset, length))
                room += count * length
                continue
            if id(piece.first) not in offsets:
                offsets[id(piece.first)] = base
                columns.append(piece)
                base += len(piece.first)
                # A value of an event appears in each of its lines.
                if kind == HEXDUMP:
                    room += room_for(piece.second[2 * events])
                else:
                    lengths = piece.second[events] if piece.by_event else piece.second
                    room += int(lengths.sum()) + _MAX_DIGITS * len(lengths)
            pieces.append((kind, offsets[id(piece.first)], int(piece.by_event)))
        limits.append(len(pieces))
    first = np.concatenate([column.first for column in columns]) if columns else np.zeros(0, np.int64)
    second = np.concatenate([column.second for column in columns]) if columns else np.zeros(0, np.int64)
    out = np.empty(room + 64, dtype=np.uint8)
    ends = np.empty(len(program_of), dtype=np.int64)
    table = np.array(pieces, dtype=np.int64).reshape(-1, 3)
    parts = LinePieces(np.array(limits, dtype=np.int64), table, first, second)
    size = assemble.run(data, pool.array(), Lines(events, program_of, row_of), parts, out, ends)
    if size < 0:
        raise AssertionError(f"lines exceed their buffer: {size}")
    return out[:size], ends
