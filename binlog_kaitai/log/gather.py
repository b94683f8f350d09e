"""Gathers the fields of many events of one type with a generated record layout.

All offsets are computed first, with one running offset for all events (a number as long as it is the same for
all, an array from then on); values are read on request. An event that does not match the layout (a length
beyond its end, trailing bytes, a value that the grammar forbids) is flagged in `Gathered.matches`; its values
are undefined, and the event reader reports the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.grammar import Layout, layouts, walk_over
from binlog_kaitai.kernels.arrays import (
    Array,
    Bools,
    Bytes,
    Ints,
    IntTable,
    Number,
    OutBools,
    OutUnsignedTable,
    Unsigned,
)
from binlog_kaitai.kernels.byte_kernels import byte_swapped, lengths_to_zero, read_numbers, read_u8
from binlog_kaitai.kernels.compile import Kernel, kernel
from binlog_kaitai.text.text_kernels import join_ranges

#: Number of events processed at a time, so that their bytes stay in the cache.
_EVENTS_AT_ONCE = 256

#: Offset of a number within the event, its width in bytes, and whether it is big-endian.
_Field = tuple[int, int, bool]

#: The fields requested for the last events of each layout.
_asked: dict[str, dict[_Field, None]] = {}


@kernel
def read_fixed(data: Bytes, starts: Ints, fields: IntTable, out: OutUnsignedTable, is_same: OutBools) -> None:
    """Read several numbers of each event.

    `fields`: offset relative to `starts`, width in bytes (at most 8), and 1 for a big-endian number.
    `out`: output: the numbers; 0 where outside `data`.
    `is_same`: output: whether a number is the same in all events.
    """
    events = starts.shape[0]
    for field in range(fields.shape[0]):
        is_same[field] = True
    for begin in range(0, events, _EVENTS_AT_ONCE):
        end = min(begin + _EVENTS_AT_ONCE, events)
        part = starts[begin:end]
        lowest = highest = starts[begin]
        for index in range(part.shape[0]):
            lowest = min(lowest, part[index])
            highest = max(highest, part[index])
        for field in range(fields.shape[0]):
            row = out[field, begin:end]
            offset, width, is_big_endian = fields[field, 0], fields[field, 1], fields[field, 2] != 0
            if lowest >= -offset and highest <= data.shape[0] - 8 - offset:
                read_inside(data, part, offset, width, is_big_endian, row)
            else:
                read_numbers(data, part, offset, width, is_big_endian, row)
            is_same[field] = is_same[field] and is_all(row, out[field, 0])


def read_inside(data: Bytes, starts: Array, offset: int, width: int, is_big_endian: bool, out: Array) -> None:
    """Like `read_numbers`, with at least eight bytes available at all offsets."""
    unused = np.uint64(64 - 8 * width)
    if is_big_endian:
        for index in range(starts.shape[0]):
            out[index] = byte_swapped(read_u8(data, np.uint64(starts[index] + offset))) >> unused
    else:
        for index in range(starts.shape[0]):
            out[index] = (read_u8(data, np.uint64(starts[index] + offset)) << unused) >> unused


def is_all(values: Array, value: Number) -> Number:
    """Whether all numbers are equal to a given one."""
    differences = np.uint64(0)
    for index in range(values.shape[0]):
        differences |= values[index] ^ value
    return differences == 0


class FixedNumbers:
    """The numbers at fixed offsets in the events of one layout.

    `name`: name of the layout.
    `data`, `starts`: the block (uint8), and the start of each event (int64).
    """

    def __init__(self, name: str, data: Bytes, starts: Ints) -> None:
        self._name, self._data, self._starts = name, data, starts
        self._known: dict[_Field, Unsigned] = {}
        self._wanted: dict[_Field, None] = {}

    def read(self, offset: int, width: int, *, is_big_endian: bool) -> Unsigned:
        """A number of each event, as a uint64 array, with one element if it is the same in all events."""
        field = offset, width, is_big_endian
        self._wanted[field] = None
        if field not in self._known:
            before = {} if self._known else _asked.get(self._name, {})
            _asked[self._name] = self._wanted
            self._read({**before, field: None})
        return self._known[field]

    def _read(self, fields: dict[_Field, None]) -> None:
        out = np.empty((len(fields), len(self._starts)), dtype=np.uint64)
        is_same = np.empty(len(fields), dtype=np.bool_)
        read_fixed.run(self._data, self._starts, np.array(list(fields), dtype=np.int64), out, is_same)
        for field, values, is_one in zip(fields, out, is_same.tolist(), strict=True):
            self._known[field] = values[:1] if is_one else values


#: Lengths in events have 32 bits; a length above this limit is equally invalid.
_TOO_LONG = 1 << 33

_SIGN = 1 << 63


def _truth(values: Column) -> Column:
    """Truth values, or one for all events; walks store them as numbers."""
    is_number = isinstance(values, np.ndarray) and values.dtype != np.bool_
    return _one_for_all(values != 0 if is_number else values)


class _Operations:
    """The operations `n` in a layout's expressions: logic and choice, on arrays and single truth values."""

    @staticmethod
    def both(left: Column, right: Column) -> Column:
        if isinstance(left, bool):
            return right if left else False
        if isinstance(right, bool):
            return left if right else False
        return np.logical_and(left, right)

    @staticmethod
    def either(left: Column, right: Column) -> Column:
        if isinstance(left, bool):
            return True if left else right
        if isinstance(right, bool):
            return True if right else left
        return np.logical_or(left, right)

    @staticmethod
    def negate(truth: Column) -> Column:
        return not truth if isinstance(truth, bool) else np.logical_not(truth)

    @staticmethod
    def where(condition: Column, yes: Column, no: Column) -> Column:
        if isinstance(condition, bool):
            return yes if condition else no
        return np.where(condition, yes, no)


def _one_for_all(values: Column) -> Column:
    """A single value if all events have the same, so that offsets stay plain numbers, which cost nothing."""
    if isinstance(values, np.ndarray) and len(values):
        first = values[0]
        if values.dtype == np.bool_:
            return bool(first) if (values.all() if first else not values.any()) else values
        return int(first) if values.dtype.kind in "iu" and (values == first).all() else values
    return values


#: A value of each event as an array, or one number or truth value that all events have.
Column = Any

#: A field of a record layout, one of the classes of `layouts`.
LayoutField = Any


@cache
def _walk_over(name: str) -> tuple[Kernel[None], int]:
    function, slots = walk_over(name)
    return kernel(function), slots


class Gathered:
    """Columns of `len(starts)` events of one type.

    `layout`: record layout of the bytes at `starts`.
    `data`: the block with the events.
    `starts`, `sizes`: start of each body (or header) in `data`, and its length; a single number if all have
    the same.
    `parameters`: values of the layout's parameters, the same for all events.
    `matches`: which events match the layout.
    """

    def __init__(
        self,
        layout: Layout,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        sizes: NDArray[np.int64] | int,
        parameters: Mapping[str, int | bool],
    ) -> None:
        self.layout = layout
        self.size = _one_for_all(sizes)
        self.pos: Column = 0
        self.matches = np.ones(len(starts), dtype=np.bool_)
        self._data = data
        self._starts = starts
        self._fixed = FixedNumbers(layout.id, data, starts)
        self._fields: dict[str, LayoutField] = {field.path: field for field in layout.fields}
        self._values: dict[str, Column] = dict(parameters)
        self._positions: dict[str, Column] = {}
        self._lengths: dict[str, Column] = {}
        self._conditions: dict[str, Column] = {}
        self._walks: dict[str, tuple[Bools, Ints]] = {}
        self._is_located = False
        with np.errstate(all="ignore"):
            self._locate()
        self._is_located = True
        for name in parameters:
            # From here on, the name refers to the field instead of the parameter.
            if isinstance(self._fields.get(name), layouts.Number):
                del self._values[name]

    def _locate(self) -> None:
        fields: tuple[LayoutField, ...] = self.layout.fields
        for field in fields:
            condition = True if field.condition is None else _truth(field.condition(_Operations, self))
            self._conditions[field.path] = condition
            match field:
                case layouts.Number():
                    self._positions[field.path] = self.pos
                    self._move(condition, int(field.dtype[-1]))
                    if field.valid is not None:
                        self._require(condition, field.valid(_Operations, self))
                case layouts.Run():
                    self._positions[field.path] = self.pos
                    length = self._length_of(field)
                    self._lengths[field.path] = length
                    self._require(condition, length >= 0)
                    self._move(condition, length)
                case layouts.Inner() | layouts.InnerRun() | layouts.InnerList():
                    self._require(condition, self.follows(field.source))
        reached = self.pos == self.size if self.layout.complete else self.pos <= self.size
        self._require(True, reached)

    def _length_of(self, run: layouts.Run) -> Column:
        """Length of a run that begins at the current position."""
        return self.size - self.pos if run.size is None else _one_for_all(run.size(_Operations, self))

    def follows(self, path: str) -> Bools:
        """Which events match the grammar in a structure with a walk; True if there is none."""
        return self._walk(path)[0]

    def _walk(self, path: str) -> tuple[Bools, Ints]:
        """Like `follows`, with the values that the walk records, int64 array of shape (slots, events)."""
        if path not in self._walks:
            kernel, slots = _walk_over(self._fields[path].walk)
            present = np.logical_and(self.matches, self.mask(path))
            starts, lengths = self.ranges(path)
            follows = np.empty(len(starts), dtype=np.bool_)
            out = np.zeros((len(starts), slots), dtype=np.int64)
            kernel.run(self._data, starts, starts + lengths, out, follows)
            self._walks[path] = follows | ~present, np.ascontiguousarray(out.T)
        return self._walks[path]

    def _move(self, condition: Column, width: Column) -> None:
        if condition is False:
            return
        is_one = isinstance(width, int)
        width = min(max(width, 0), _TOO_LONG) if is_one else np.clip(width, 0, _TOO_LONG)
        self.pos = self.pos + (width if condition is True else np.where(condition, width, 0))

    def _require(self, condition: Column, truth: Column) -> None:
        if condition is False or truth is True:
            return
        self.matches &= truth if condition is True else np.logical_or(np.logical_not(condition), truth)

    def __contains__(self, path: str) -> bool:
        return path in self._fields

    def __getitem__(self, path: str) -> Column:
        """A number or truth value of each event: an int64, float64 or bool array, or one for all."""
        if path not in self._values:
            value = self._read(self._fields[path])
            # Like 64-bit arrays, wrap around.
            self._values[path] = (value + _SIGN) % (2 * _SIGN) - _SIGN if type(value) is int else value
        return self._values[path]

    def _read(self, field: LayoutField) -> Column:
        condition = self._conditions[field.path]
        if condition is False:
            return 0
        match field:
            case layouts.Value():
                with np.errstate(all="ignore"):
                    values = field.expression(_Operations, self)
            case layouts.Inner():
                values = self._walk(field.source)[1][field.slot]
            case layouts.Number():
                values = self._read_number(self._positions[field.path], field.dtype)
            case _:
                raise TypeError(f"{field.path} is not a number")
        return values if condition is True else np.where(condition, values, 0)

    def _read_number(self, offset: Column, dtype: str) -> Column:
        width, kind = int(dtype[-1]), dtype[-2]
        raw = self._read_raw(offset, width, is_big_endian=dtype[0] == ">")
        is_one = len(raw) < len(self._starts)
        if kind == "f":
            values: Array = raw.view(np.float64) if width == 8 else raw.astype(np.uint32).view(np.float32)
        else:
            values = raw.view(np.int64)
            unused = 64 - 8 * width
            values = (values << unused) >> unused if kind == "i" and unused else values
        return values[0].item() if is_one else values

    def _read_raw(self, offset: Column, width: int, *, is_big_endian: bool) -> Unsigned:
        """Numbers at an offset within each event; one element if all are known to be the same."""
        if isinstance(offset, int):
            return self._fixed.read(offset, width, is_big_endian=is_big_endian)
        raw = np.empty(len(self._starts), dtype=np.uint64)
        read_numbers.run(self._data, self._starts + offset, 0, width, is_big_endian, raw)
        return raw

    def halves(self, path: str) -> tuple[Unsigned, Unsigned]:
        """The two big-endian halves of a 16-byte field of each event, uint64; 0 where absent."""
        offset, length = self._positions[path], self._lengths[path]
        is_whole = isinstance(length, int) and length == 16 and self._conditions[path] is True
        if not (is_whole and self._all_match):
            starts, lengths = self.ranges(path)
            offset = np.where(lengths == 16, starts, -16) - self._starts
        high, low = (self._read_raw(offset + half, 8, is_big_endian=True) for half in (0, 8))
        return self._spread(high), self._spread(low)

    def length(self, path: str) -> Column:
        """Length of a byte field of each event."""
        condition, length = self._conditions[path], self._lengths[path]
        return length if condition is True else _Operations.where(condition, length, 0)

    def numbers(self, path: str) -> Array:
        """A number or truth value of each event as an array; uint64 if it may need 64 bits."""
        values = self._spread(self[path])
        return values.astype(np.int64).view(np.uint64) if self._is_wide(path) else values

    def _is_wide(self, path: str) -> bool:
        """Whether a number may need all 64 bits."""
        field = self._fields[path]
        return getattr(field, "is_unsigned", False) or getattr(field, "dtype", "").endswith("u8")

    def only(self, path: str) -> int | bool | None:
        """The number or truth value common to all events; None if they are not known to be the same."""
        value = self[path]
        if self._conditions[path] is not True or not isinstance(value, int):
            return None
        return value % (2 * _SIGN) if self._is_wide(path) else value

    def lists(self, path: str) -> Ints:
        """The numbers of a list inside a structure of each event, int64 array of shape (numbers, events)."""
        field = self._fields[path]
        return self._walk(field.source)[1][field.slot : field.slot + field.items]

    def mask(self, path: str) -> Bools:
        """Which events have the field, as a bool array."""
        condition = self._conditions[path]
        return condition if isinstance(condition, np.ndarray) else self._spread(bool(condition))

    def presence(self, path: str) -> Bools | None:
        """Like `mask`; None if all events have the field."""
        return None if self._conditions[path] is True else self.mask(path)

    def _spread(self, value: Column) -> Array:
        """One value per event."""
        if isinstance(value, np.ndarray) and value.ndim and len(value) == len(self._starts):
            return value
        return np.full(len(self._starts), value)

    @cached_property
    def _all_match(self) -> bool:
        """Whether the layout matches all events; known once all offsets are computed."""
        return bool(self.matches.all())

    def ranges(self, path: str) -> tuple[Ints, Ints]:
        """Offset in the block and length of a byte or text field of each event; (0, 0) where absent."""
        field = self._fields[path]
        if isinstance(field, layouts.Text):
            path, field = field.source, self._fields[field.source]
        if isinstance(field, layouts.InnerRun):
            positions, lengths = self._walk(field.source)[1][field.slot : field.slot + 2]
            return np.where(self.matches, positions, 0), np.where(self.matches, lengths, 0)
        starts, lengths = self._starts + self._positions[path], self._spread(self.length(path))
        if self._is_located and self._all_match and self._conditions[path] is True:
            lengths = lengths.astype(np.int64, copy=False)
        else:
            present = np.logical_and(self.matches, self.mask(path))
            starts, lengths = np.where(present, starts, 0), np.where(present, lengths, 0)
        if field.ends_at_zero:
            truncated = np.empty(len(starts), dtype=np.int64)
            lengths_to_zero.run(self._data, starts, lengths, truncated)
            lengths = truncated
        return starts, lengths

    def positions(self, path: str) -> Ints:
        """Offset in the block of a number of each event, int64."""
        positions: Ints = self._starts + self._positions[path]
        return positions

    def offset(self, path: str) -> int | None:
        """Offset of a field within every body; None if it depends on the event."""
        offset = self._positions.get(path)
        return offset if isinstance(offset, int) else None

    def field(self, path: str) -> LayoutField:
        """The layout's description of a field."""
        return self._fields[path]


def take_ranges(data: Bytes, starts: Ints, lengths: Ints) -> tuple[Bytes, Ints]:
    """The bytes of many ranges, concatenated, and their offsets (one more than ranges)."""
    offsets = np.empty(len(starts) + 1, dtype=np.int64)
    out = np.empty(int(lengths.sum()), dtype=np.uint8)
    join_ranges.run(data, starts, lengths, offsets, out)
    return out, offsets
