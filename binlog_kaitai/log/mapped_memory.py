"""Memory-mapped events, for events too long to hold in memory.

An event is copied into a temporary file without a name, and this file is mapped: a log may be truncated while
it is read, and access to a mapped page beyond the end of a file kills the process. The array occupies memory
only for the pages in use. The system reclaims them when needed; callers that traverse a whole event release
its pages piece by piece.
"""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.errors import writing_to
from binlog_kaitai.kernels.arrays import Bytes, view_of
from binlog_kaitai.sources.layer import is_regular_file

#: Events longer than this are mapped, in bytes.
LONG = 32 << 20

#: Size of the pieces in which a mapped event is processed, in bytes.
PIECE = 4 << 20


def bytes_remaining(stream: BinaryIO) -> int | None:
    """Number of unread bytes of a file; None for other streams.

    For a part of a file (`Limited`), the bytes of that part count.
    """
    with suppress(OSError, ValueError):
        file = _file(stream)
        if file is not None and is_regular_file(file):
            remaining: int = os.fstat(file.fileno()).st_size - stream.tell()
            return max(min(remaining, getattr(stream, "left", remaining)), 0)
    return None


def map_next(stream: BinaryIO, start: Bytes, size: int) -> tuple[Bytes | None, int]:
    """Map the next `size` bytes of a stream, of which `start` (not empty) has been read.

    Returns (all of them, or None if the stream ends before; the number of bytes that there are).
    Raises `SourceError`: they cannot be copied to the folder of temporary files.
    """
    import tempfile  # whose imports are many

    folder = tempfile.gettempdir()
    with writing_to(folder):
        copy = tempfile.TemporaryFile(prefix="binlog-kaitai-")  # noqa: SIM115 - closed below
    with copy:
        count, piece = 0, bytes(start)
        while piece:
            with writing_to(folder):
                count += copy.write(piece)
            piece = read_up_to(stream, min(PIECE, size - count)) if count < size else b""
        if count < size:
            return None, count
        with writing_to(folder):
            copy.flush()
        # Mapped copy-on-write, because kernels are compiled for writable arrays.
        return np.frombuffer(mmap.mmap(copy.fileno(), size, access=mmap.ACCESS_COPY), dtype=np.uint8), count


def _file(stream: object) -> io.FileIO | None:
    while stream is not None and not isinstance(stream, io.FileIO):
        stream = getattr(stream, "raw", None)
    return stream


def pieces(data: Bytes, start: int, end: int) -> Iterator[memoryview]:
    """A range of an array in pieces, so that only a little of a mapped array is in memory at a time."""
    view = view_of(data)
    for begin in range(start, end, PIECE):
        after = min(begin + PIECE, end)
        yield view[begin:after]
        give_back(data, begin, after)


def copied(data: Bytes, start: int, end: int) -> bytes:
    """The bytes of a range of an array; of a long range, at most a piece is in memory twice."""
    if end - start <= LONG:
        return bytes(data[start:end])
    copy = io.BytesIO()
    for piece in pieces(data, start, end):
        copy.write(piece)
    return copy.getvalue()


def crc32_in_pieces(data: Bytes, start: int, end: int) -> int:
    """CRC32 of a range of an array, computed in pieces."""
    if end - start <= PIECE:
        return crc32(view_of(data)[start:end])
    crc = 0
    for piece in pieces(data, start, end):
        crc = crc32(piece, crc)
    return crc


def give_back(data: Bytes, start: int, end: int) -> None:
    """Release the memory of a range of a mapped array; its content does not change."""
    if end - start < mmap.PAGESIZE or not hasattr(mmap, "MADV_DONTNEED"):
        return
    owner: object = data
    while isinstance(owner, np.ndarray):
        owner = owner.base
    view = owner.obj if isinstance(owner, memoryview) else owner
    if not isinstance(view, mmap.mmap):
        return
    offset = data.__array_interface__["data"][0] - np.frombuffer(view, dtype=np.uint8).ctypes.data
    first = (offset + start) // mmap.PAGESIZE * mmap.PAGESIZE
    view.madvise(mmap.MADV_DONTNEED, first, offset + end - first)
