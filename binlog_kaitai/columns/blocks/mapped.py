"""Events too long to be held: seen in their file, through the system's memory of it.

An array over a mapped file reads like any other, and takes memory for the pages that are in use. The system
takes them back when it needs them; who goes through all of them gives them back piece by piece.
"""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.columns.kernel.arrays import Bytes, view_of
from binlog_kaitai.sources.layer import is_regular_file

#: Longer events are looked at in their file, in bytes.
LONG = 32 << 20

#: As much of an event is in use at a time, in bytes.
PIECE = 4 << 20


class Mapped(NamedTuple):
    """Bytes of a file as an array (uint8), which begin `start` bytes into it."""

    data: Any
    start: int


def bytes_remaining(stream: Any) -> int | None:
    """How many bytes of a file lie behind what was read of it; None of other streams.

    Of a part of a file (`Limited`) those of the part count.
    """
    with suppress(OSError, ValueError):
        file = _file(stream)
        if file is not None and is_regular_file(file):
            remaining: int = os.fstat(file.fileno()).st_size - stream.tell()
            return max(min(remaining, getattr(stream, "left", remaining)), 0)
    return None


def map_next(stream: Any, have: int, size: int) -> Mapped | None:
    """The next `size` bytes of a file, of which `have` have been read already; it goes on behind them.

    The caller knows that they are there. None where the system does not map them.
    """
    with suppress(OSError, ValueError, OverflowError):
        begin = stream.tell() - have
        start = begin % mmap.ALLOCATIONGRANULARITY
        # Copied on writing: kernels are compiled for arrays that can be written.
        view = mmap.mmap(stream.fileno(), start + size, access=mmap.ACCESS_COPY, offset=begin - start)
        stream.seek(begin + size)
        return Mapped(np.frombuffer(view, dtype=np.uint8), start)
    return None


def _file(stream: Any) -> io.FileIO | None:
    while stream is not None and not isinstance(stream, io.FileIO):
        stream = getattr(stream, "raw", None)
    return stream


def pieces(data: Any, start: int, end: int) -> Iterator[memoryview]:
    """A range of an array, piece by piece: of a mapped one little is in memory at a time."""
    view = memoryview(data)
    for at in range(start, end, PIECE):
        after = min(at + PIECE, end)
        yield view[at:after]
        give_back(data, at, after)


def crc32_in_pieces(data: Bytes, start: int, end: int) -> int:
    """The CRC32 of a range of an array, by pieces."""
    if end - start <= PIECE:
        return crc32(view_of(data)[start:end])
    crc = 0
    for piece in pieces(data, start, end):
        crc = crc32(piece, crc)
    return crc


def give_back(data: Any, start: int, end: int) -> None:
    """Let go the memory of a range of an array, if it is mapped; the bytes stay what they are."""
    if end - start < mmap.PAGESIZE or not hasattr(mmap, "MADV_DONTNEED"):
        return
    owner = data
    while isinstance(owner, np.ndarray):
        owner = owner.base
    view = owner.obj if isinstance(owner, memoryview) else owner
    if not isinstance(view, mmap.mmap):
        return
    place = data.__array_interface__["data"][0] - np.frombuffer(view, dtype=np.uint8).ctypes.data
    first = (place + start) // mmap.PAGESIZE * mmap.PAGESIZE
    view.madvise(mmap.MADV_DONTNEED, first, place + end - first)
