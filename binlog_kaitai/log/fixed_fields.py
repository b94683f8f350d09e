"""Reads numbers at fixed offsets in many events, such as those of headers, in one pass.

Each pass over the events of a block loads their bytes into the processor's cache again, so the number of
passes determines the time, not the number of fields. The fields requested for the previous block predict
those of the next one: the first request reads all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints, Unsigned
from binlog_kaitai.kernels.byte_kernels import byte_swapped, read_numbers, read_u8
from binlog_kaitai.kernels.compile import kernel

#: Number of events processed at a time, so that their bytes stay in the cache.
_STEP = 256

#: Offset of a number within the event, its width in bytes, and whether it is big-endian.
_Field = tuple[int, int, bool]

#: The fields requested for the last events of each layout.
_asked: dict[str, dict[_Field, None]] = {}


@kernel
def read_fixed(data: Bytes, starts: Ints, fields: Ints, out: Unsigned, is_same: Bools) -> None:
    """Read several numbers of each event.

    Parameters
    ----------
    fields : int64 array of shape (n, 3)
        Offset relative to `starts`, width in bytes (at most 8), and 1 for a big-endian number.
    out : uint64 array of shape (n, events)
        Output: the numbers; 0 where outside `data`.
    is_same : bool array
        Output: whether a number is the same in all events.
    """
    events = starts.shape[0]
    for field in range(fields.shape[0]):
        is_same[field] = True
    for begin in range(0, events, _STEP):
        end = min(begin + _STEP, events)
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


@kernel
def read_inside(data: Bytes, starts: Array, offset: int, width: int, is_big_endian: bool, out: Array) -> None:
    """Like `read_numbers`, with at least eight bytes available at all offsets."""
    unused = np.uint64(64 - 8 * width)
    if is_big_endian:
        for index in range(starts.shape[0]):
            out[index] = byte_swapped(read_u8(data, np.uint64(starts[index] + offset))) >> unused
    else:
        for index in range(starts.shape[0]):
            out[index] = (read_u8(data, np.uint64(starts[index] + offset)) << unused) >> unused


@kernel
def is_all(values: Array, value: Any) -> Any:
    """Whether all numbers are equal to a given one."""
    differences = np.uint64(0)
    for index in range(values.shape[0]):
        differences |= values[index] ^ value
    return differences == 0


class FixedNumbers:
    """The numbers at fixed offsets in the events of one layout.

    Parameters
    ----------
    name
        Name of the layout.
    data, starts
        The block (uint8), and the start of each event (int64).
    """

    def __init__(self, name: str, data: Bytes, starts: Ints) -> None:
        self._name, self._data, self._starts = name, data, starts
        self._known: dict[_Field, Any] = {}
        self._wanted: dict[_Field, None] = {}

    def read(self, offset: int, width: int, *, is_big_endian: bool) -> Any:
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
