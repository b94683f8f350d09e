"""The column `_sequence`: a text for each row image, whose text order is the order of the changes.

It has five numbers: era, log number, position, row, and 1 for an image that adds a row or 0 for one that
removes it. Each except the last is preceded by the count of its digits, as one character (1 to 9, A to J):
``3150`` is 150. Numbers of any length therefore compare correctly in every system that compares text by
bytes.

The era separates logs whose numbers and positions are unrelated. Logs with the same folder and stem are
numbered by one server, so this numbering is sufficient. Logs of different servers can only be ordered by
commit time. It is not used for logs of one server, because a clock may be set back, and before MySQL 8.0 and
in MariaDB the time is that of a statement's start.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints, OutBytes, OutIndexes
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.sources.source import log_number, series_of
from binlog_kaitai.text.text_kernels import copy, put_number

#: Used instead of an era: the commit time of each change, in microseconds since 1970.
BY_COMMIT = -1

#: Maximum size of a number with its digit count and a point; and of the bytes that `copy` may overwrite after
#: a text.
_LONGEST_NUMBER, _OVERWRITTEN_AFTER = 22, 16

_POINT, _ZERO, _TEN_DIGITS = 46, 48, 65


def era_of(names: Iterable[str]) -> int:
    """The era of logs that are read together, by their paths or URLs."""
    return 0 if len(set(map(series_of, names))) < 2 else BY_COMMIT


def sequences(eras: Ints, file: str, positions: Ints, numbers: Ints, is_given: Bools) -> pa.Array:
    """The column for some row images of one log.

    `eras`: int64 array, the era of each image, or of all.
    `positions`, `numbers`: int64 arrays, position and row of each image.
    `is_given`: bool array, whether the image adds a row.
    """
    log = log_number(file)
    # As long as the longest text, so that there is little to spare, and nothing to copy.
    longest = [max(int(array.max(initial=0)), 0) for array in (eras, positions, numbers)]
    length = sum(len(str(number)) + 2 for number in (log, *longest)) + 1
    out = np.empty(len(numbers) * length + 4 * _LONGEST_NUMBER + 1 + _OVERWRITTEN_AFTER, dtype=np.uint8)
    offsets = np.zeros(len(numbers) + 1, dtype=np.int32)
    put_sequences.run(eras, log, positions, numbers, is_given, out, offsets)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(out).slice(0, int(offsets[-1]))]
    return pa.Array.from_buffers(pa.string(), len(numbers), buffers, 0)


def beginning(numbers: Iterable[int]) -> str:
    """The text for the first of the five numbers: what all texts with these numbers begin with."""
    out, end = np.empty(5 * _LONGEST_NUMBER + _OVERWRITTEN_AFTER, dtype=np.uint8), 0
    for number in numbers:
        end = _put_counted(max(number, 0), out, end)
    return out[:end].tobytes().decode()


@kernel
def put_sequences(
    eras: Ints,
    log: int,
    positions: Ints,
    numbers: Ints,
    is_given: Bools,
    out: OutBytes,
    offsets: OutIndexes,
) -> None:
    """Write the texts consecutively; stops where `out` may have too little room for the next one."""
    offset = 0
    offsets[0] = 0
    # An earlier text, of which only the row and the image are written anew: the last one would have to be
    # read before it is in the cache. What it begins with, by the era and the log, and by the position.
    start, common, length = 0, 0, 0
    era = position = np.int64(-1)
    for row in range(min(positions.shape[0], numbers.shape[0], is_given.shape[0])):
        if offset + 4 * _LONGEST_NUMBER + 1 + _OVERWRITTEN_AFTER > out.shape[0]:
            return
        # With a signed index, Numba would generate code for negative indexes.
        here, begin = np.uint64(row), offset
        of_row = max(eras[here if eras.shape[0] > 1 else np.uint64(0)], 0)
        if of_row == era and positions[here] == position:
            offset = copy(out, start, length, out, offset)
        else:
            if of_row == era:
                offset = copy(out, start, common, out, offset)
            else:
                era = of_row
                offset = _put_counted(era, out, offset)
                offset = _put_counted(log, out, offset)
                common = offset - begin
            position = positions[here]
            offset = _put_counted(max(position, 0), out, offset)
            start, length = begin, offset - begin
        offset = _put_counted(max(numbers[here], 0), out, offset)
        out[np.uint64(offset)] = _ZERO + is_given[here]
        offset += 1
        offsets[np.uint64(row + 1)] = offset


@inlined
def _put_counted(number: int, out: Bytes, offset: int) -> int:
    """Write a number, preceded by its digit count and followed by a point; returns the end."""
    if number < 10:
        out[offset], out[offset + 1], out[offset + 2] = _ZERO + 1, _ZERO + number, _POINT
        return offset + 3
    end: int = put_number(number, out, offset + 1)
    digits = end - offset - 1
    out[offset] = _ZERO + digits if digits < 10 else _TEN_DIGITS + digits - 10
    out[end] = _POINT
    return end + 1
