"""What events take over from the ones before them. All functions are kernels, see `compile`."""

from __future__ import annotations

from binlog_kaitai.columns.kernel.arrays import Bools, Bytes, Ints
from binlog_kaitai.columns.kernel.compile import kernel
from binlog_kaitai.columns.kernel.text_kernels import copy, put_number

#: A number has at most as many digits, and `copy` needs room behind what it writes.
NUMBER_ROOM = 40


@kernel
def number_markers(types: Bytes, is_marker: Bools, offsets: Ints, latest: Ints) -> int:
    """Find the events of some types, and for each event the last of them up to it.

    Parameters
    ----------
    types, is_marker
        Type of each event (uint8), and 256 truth values.
    places, latest
        Get the events found, and for each event which of them is the last one up to it, or -1.

    Returns
    -------
    How many there are.
    """
    count = 0
    for event in range(types.shape[0]):
        if is_marker[types[event]] and count < offsets.shape[0]:
            offsets[count] = event
            count += 1
        latest[event] = count - 1
    return count


@kernel
def write_numbered(
    texts: Bytes, starts: Ints, lengths: Ints, codes: Ints, numbers: Ints, after: int, out: Bytes, ends: Ints
) -> int:
    """For each code its text, a number in decimal and a byte; gives the length of all, or -1 without room."""
    at = 0
    for index in range(codes.shape[0]):
        code = codes[index]
        if code < 0 or code >= starts.shape[0]:
            return -1
        start = starts[code]
        length = lengths[code]
        if start < 0 or length < 0 or start + length > texts.shape[0]:
            return -1
        if at + length + NUMBER_ROOM > out.shape[0]:
            return -1
        copy(texts, start, length, out, at)
        at = put_number(numbers[index], out, at + length)
        out[at] = after
        at += 1
        ends[index] = at
    return at
