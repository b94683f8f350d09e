"""Kernels that find the events of a block, and those whose stated position is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.core.framing import FIRST_TYPES
from binlog_kaitai.core.grammar import POSITION_MASK, header_offset
from binlog_kaitai.core.grammar import header_length as length_of_header
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.sources.source import MAGIC

#: Why `frame` stopped: the next event is incomplete; its header is impossible; its type is one to stop at;
#: the output arrays are full.
MORE, IMPOSSIBLE, SPECIAL, FULL = 0, 1, 2, 3

# The start of another log in the same file: its magic as a number, type and position of its first event.
_MAGIC, _MAGIC_SIZE = int.from_bytes(MAGIC, "little"), len(MAGIC)
_FIRST_TYPES = tuple(int(kind) for kind in FIRST_TYPES)
_POSITION_AT, _WHOLE_HEADER = header_offset("next_position"), length_of_header(4)
# With a signed index, Numba would generate code for negative indexes.
_ONE = np.uint64(1)


@kernel
def _is_start(data: Bytes, at: Any, header_length: Any, size_at: Any, type_at: Any) -> Any:
    """`framing.is_start` for a header that is completely in the buffer."""
    if read_u4(data, np.uint64(at)) != _MAGIC:
        return False
    if data[np.uint64(at + _MAGIC_SIZE + type_at)] not in _FIRST_TYPES:
        return False
    if header_length < _WHOLE_HEADER:
        return True
    position_at = np.uint64(at + _MAGIC_SIZE + _POSITION_AT)
    position = np.int64(data[position_at]) | np.int64(data[position_at + _ONE]) << 8
    size = np.int64(read_u4(data, np.uint64(at + _MAGIC_SIZE + size_at)))
    return position == _MAGIC_SIZE or position == (_MAGIC_SIZE + size) & 0xFFFF


@kernel
@inlined
def size_of_event(
    data: Bytes, at: int, end: int, header_length: int, size_at: int, type_at: int, max_size: int
) -> int:
    """Length of the event at `at`; `~MORE` or `~IMPOSSIBLE` if it is incomplete or impossible."""
    if at < 0 or end > data.shape[0] or at + header_length > end:
        return ~MORE
    size = read_u4(data, np.uint64(at + size_at))
    if size < header_length or size > max_size or _is_start(data, at, header_length, size_at, type_at):
        return ~IMPOSSIBLE
    return size if at + size <= end else ~MORE


@kernel
def frame(
    data: Bytes,
    at: int,
    end: int,
    header_length: int,
    size_at: int,
    type_at: int,
    special: Bools,
    max_size: int,
    starts: Ints,
    sizes: Ints,
    codes: Bytes,
) -> Any:
    """Find the events in `data[at:end]`.

    Parameters
    ----------
    header_length, size_at, type_at
        Length of a header, and the offsets in it of the event size (4 bytes) and the type code (1 byte).
    special
        256 flags: the type codes to stop at.
    max_size
        A header with a larger event size is impossible.
    starts, sizes, codes
        Output: offset, length and type code of the events found.

    Returns
    -------
    (number of events found, offset after the last one, why it stopped)
    """
    count = 0
    while True:
        size = size_of_event(data, at, end, header_length, size_at, type_at, max_size)
        if size < 0:
            return count, at, ~size
        code = data[np.uint64(at + type_at)]
        if special[code]:
            return count, at, SPECIAL
        if count == starts.shape[0]:
            return count, at, FULL
        starts[count] = at
        sizes[count] = size
        codes[count] = code
        at += size
        count += 1


@kernel
def find_drifts(
    data: Bytes, starts: Ints, sizes: Ints, stated_at: int, position: int, drift: int, out: Ints
) -> Any:
    """Find the events whose position is off by another distance than that of the event before.

    Parameters
    ----------
    stated_at
        Offset within an event of its stated end position (4 bytes, 0 for none).
    position, drift
        Offset of `data[0]` in the file, and the distance of the last event before.
    out
        Output: event numbers.

    Returns
    -------
    (number of events found, distance of the last event)
    """
    count = 0
    for event in range(starts.shape[0]):
        at = starts[event] + stated_at
        if at < 0 or at + 4 > data.shape[0]:
            continue
        stated = read_u4(data, np.uint64(at))
        if stated != 0:
            distance = (stated - position - starts[event] - sizes[event]) & POSITION_MASK
            if distance not in (0, drift) and count < out.shape[0]:
                out[count] = event
                count += 1
            drift = distance
    return count, drift
