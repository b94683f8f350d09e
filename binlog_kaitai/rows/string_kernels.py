"""Kernels that read strings from row images."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Array, Bytes, ByteTable, Indexes, Ints, OutBytes, OutInts
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.text.text_kernels import copy
from binlog_kaitai.values.decoders import length_at


@kernel
def measure(data: Bytes, starts: Ints, prefix: int, least: int, total: int, ends: OutInts) -> int:
    """Compute the ends of concatenated values, starting at `total`; returns the last end.

    Values shorter than `least` count as `least` bytes.
    """
    for index in range(starts.shape[0]):
        length = length_at(data, starts[index], prefix)
        if length >= 0:
            total += max(length, least)
        ends[index] = total
    return total


def copy_values(data: Bytes, starts: Array, prefix: int, offsets: Array, out: Bytes) -> None:
    """Copy the values to their offsets; `out` needs 16 spare bytes."""
    for index in range(starts.shape[0]):
        length = length_at(data, starts[index], prefix)
        offset = np.int64(offsets[index])
        if length > 0 and offset >= 0 and offset + length + 16 <= out.shape[0]:
            copy(data, starts[index] + prefix, length, out, offset)


@kernel
def copy_members(texts: Bytes, limits: Ints, numbers: Indexes, offsets: Indexes, out: OutBytes) -> None:
    """Copy texts by their numbers to their offsets; `out` must be 16 bytes longer than they are.

    Text `n` is `texts[limits[n] : limits[n + 1]]`; a negative number selects nothing.
    """
    for index in range(numbers.shape[0]):
        number = np.int64(numbers[index])
        if 0 <= number < limits.shape[0] - 1:
            start = limits[number]
            length = limits[number + 1] - start
            offset = np.int64(offsets[index])
            is_inside = start >= 0 and start + length <= texts.shape[0]
            if is_inside and offset >= 0 and offset + length + 16 <= out.shape[0]:
                copy(texts, start, length, out, offset)


@kernel
def pad_values(data: Bytes, starts: Ints, prefix: int, offsets: Ints, out: OutBytes) -> None:
    """Copy the values to their offsets, padded with zero bytes."""
    for index in range(starts.shape[0]):
        length = length_at(data, starts[index], prefix)
        offset = offsets[index]
        stop = offsets[index + 1]
        if offset < 0 or stop > out.shape[0]:
            continue
        start = starts[index] + prefix
        for step in range(stop - offset):
            out[offset + step] = data[start + step] if step < length else 0


@kernel
def measure_recoded(data: Bytes, offsets: Indexes, sizes: Ints, out: OutInts) -> None:
    """Compute offsets of strings whose bytes become `sizes[byte]` bytes each."""
    total = 0
    out[0] = 0
    for index in range(offsets.shape[0] - 1):
        start = offsets[index]
        stop = offsets[index + 1]
        if start >= 0 and stop <= data.shape[0]:
            for offset in range(start, stop):
                total += sizes[data[np.uint64(offset)]]
        out[index + 1] = total


@kernel
def recode(data: Bytes, sizes: Ints, texts: ByteTable, out: OutBytes) -> None:
    """Translate each byte into the first `sizes[byte]` (at most four) bytes of `texts[byte]`."""
    offset = np.uint64(0)
    room = out.shape[0]
    for end in range(data.shape[0]):
        byte = data[end]
        size = sizes[byte]
        if np.int64(offset) + 4 <= room:
            # Write all four without a branch; the next byte overwrites the excess.
            out[offset] = texts[byte, 0]
            out[offset + np.uint64(1)] = texts[byte, 1]
            out[offset + np.uint64(2)] = texts[byte, 2]
            out[offset + np.uint64(3)] = texts[byte, 3]
        elif np.int64(offset) + size <= room:
            for step in range(size):
                out[offset + np.uint64(step)] = texts[byte, step]
        else:
            return
        offset += np.uint64(size)
