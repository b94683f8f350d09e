"""Numbers that lie at the same place in many events, such as those of a header, read in one pass.

Each pass over the events of a block brings all their bytes into the processor's cache again, so what counts
is the number of passes, not that of the numbers. Which numbers will be asked for is told by the block before:
all that were asked of the last events of a layout are read with the first one that is asked now.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.kernel.arrays import Array, Bools, Bytes, Ints, Unsigned
from binlog_kaitai.columns.kernel.byte_kernels import byte_swapped, read_numbers, read_u8
from binlog_kaitai.columns.kernel.compile import kernel

#: Events of which all numbers are read before those of the next: their bytes stay in the cache.
_STEP = 256

#: A number's place in the events, its width in bytes, and whether it is big-endian.
_Field = tuple[int, int, bool]

#: What was asked of the last events of each layout.
_asked: dict[str, dict[_Field, None]] = {}


@kernel
def read_fixed(data: Bytes, starts: Ints, fields: Ints, out: Unsigned, is_same: Bools) -> None:
    """Read several numbers of each event.

    Parameters
    ----------
    fields : int64 array of shape (n, 3)
        Place behind `starts`, width in bytes (at most 8), and 1 for a big-endian number.
    out : uint64 array of shape (n, events)
        The numbers; 0 where not inside `data`.
    is_same : bool array
        Whether a number is the same in all events.
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
            place, width, is_big_endian = fields[field, 0], fields[field, 1], fields[field, 2] != 0
            if lowest >= -place and highest <= data.shape[0] - 8 - place:
                read_inside(data, part, place, width, is_big_endian, row)
            else:
                read_numbers(data, part, place, width, is_big_endian, row)
            is_same[field] = is_same[field] and is_all(row, out[field, 0])


@kernel
def read_inside(data: Bytes, starts: Array, offset: int, width: int, is_big_endian: bool, out: Array) -> None:
    """As `read_numbers`, where there are eight bytes at all places."""
    unused = np.uint64(64 - 8 * width)
    if is_big_endian:
        for index in range(starts.shape[0]):
            out[index] = byte_swapped(read_u8(data, np.uint64(starts[index] + offset))) >> unused
    else:
        for index in range(starts.shape[0]):
            out[index] = (read_u8(data, np.uint64(starts[index] + offset)) << unused) >> unused


@kernel
def is_all(values: Array, value: Any) -> Any:
    """Whether all numbers are the same as another."""
    differences = np.uint64(0)
    for index in range(values.shape[0]):
        differences |= values[index] ^ value
    return differences == 0


class FixedNumbers:
    """The numbers of the events of one layout that have a place of their own.

    Parameters
    ----------
    name
        That of the layout.
    data, starts
        The block (uint8), and where each event begins (int64).
    """

    def __init__(self, name: str, data: Bytes, starts: Ints) -> None:
        self._name, self._data, self._starts = name, data, starts
        self._known: dict[_Field, Any] = {}
        self._wanted: dict[_Field, None] = {}

    def read(self, place: int, width: int, *, is_big_endian: bool) -> Any:
        """A number of every event, as a uint64 array: with one item where all events have the same."""
        field = place, width, is_big_endian
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
