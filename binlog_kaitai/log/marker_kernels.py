"""Kernels for values that events inherit from preceding events."""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.text_kernels import copy, put_number

#: Maximum number of digits, including spare room that `copy` needs.
NUMBER_ROOM = 40


@kernel
def number_markers(types: Bytes, is_marker: Bools, found: Ints, latest: Ints) -> int:
    """Find the events of some types, and for each event the last of them up to it.

    Parameters
    ----------
    types, is_marker
        Type of each event (uint8), and 256 flags.
    found, latest
        Output: indexes of the events found, and for each event the index of the latest one up to it, or -1.

    Returns
    -------
    Number of events found.
    """
    count = 0
    for event in range(types.shape[0]):
        if is_marker[types[event]] and count < found.shape[0]:
            found[count] = event
            count += 1
        latest[event] = count - 1
    return count


@kernel
def write_numbered(
    texts: Bytes, starts: Ints, lengths: Ints, codes: Ints, numbers: Ints, after: int, out: Bytes, ends: Ints
) -> int:
    """For each code, write its text, a number and a byte; returns the total length, or -1 if full."""
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
