"""Random access to the bytes of a stream, for searches that go back and forth."""

from __future__ import annotations

import io
import mmap
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.columns.blocks.crc32_short import crc32_of
from binlog_kaitai.columns.blocks.mapped import give_back
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.sources.layer import is_regular_file

#: Amount of a mapped file to keep in memory before its pages are released, in bytes.
_HELD = 64 << 20


class RandomAccess:
    """A seekable stream as an array; the position of a stream that is not a local file changes.

    Attributes
    ----------
    size : int
        Size when opened; bytes appended later are not visible.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = stream.seek(0, io.SEEK_END)
        self._data = _whole(stream, self.size)
        self._held = 0

    def part(self, start: int, end: int) -> Any:
        """Bytes of a range as an array (uint8), shortened at the end of the stream."""
        if self._data is not None:
            self._note(end - start)
            return self._data[start:end]
        self._stream.seek(start)
        return np.frombuffer(read_up_to(self._stream, max(min(end, self.size) - start, 0)), dtype=np.uint8)

    def at(self, offsets: Any, count: int) -> Any:
        """`count` bytes at each offset, one row (uint8) per offset; all of them must exist."""
        if self._data is not None:
            self._note(len(offsets) * mmap.PAGESIZE)
            return self._data[offsets[:, None] + np.arange(count)]
        rows = np.empty((len(offsets), count), dtype=np.uint8)
        for row, offset in enumerate(offsets.tolist()):
            self._stream.seek(offset)
            data = read_up_to(self._stream, count)
            rows[row, : len(data)] = np.frombuffer(data, dtype=np.uint8)
        return rows

    def crc32_of(self, starts: Any, ends: Any) -> Any:
        """CRC32 of each range, as a uint32 array; the ranges must be within the stream."""
        if self._data is not None:
            self._note(len(starts) * mmap.PAGESIZE)
            return crc32_of(self._data, starts, ends)
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([crc32(self.part(start, end)) for start, end in pairs], dtype=np.uint32)

    def _note(self, count: int) -> None:
        self._held += count
        if self._held > _HELD:
            give_back(self._data, 0, self.size)
            self._held = 0


def _whole(stream: BinaryIO, size: int) -> Any:
    """All bytes as a writable array (as kernels require); writing to it does not change the file.

    Maps local files. Returns None for other streams, whose bytes would have to be fetched.
    """
    with suppress(OSError, ValueError, OverflowError):
        if isinstance(stream, io.BytesIO):
            return np.frombuffer(bytearray(stream.getbuffer()), dtype=np.uint8)
        if is_regular_file(stream):
            return np.frombuffer(mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_COPY), dtype=np.uint8)
    return None
