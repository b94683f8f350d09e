"""Random access to the bytes of a stream, and their CRC32s, for searches that go back and forth."""

from __future__ import annotations

import io
import mmap
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.log.crc32 import crc32_of, moved_by
from binlog_kaitai.log.mapped_memory import PIECE, give_back
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


#: Distance between stored CRCs, in bytes.
_STRIDE = 256


class RangeCrc32s:
    """CRC32s of ranges of a file, which reads each byte about once however the ranges overlap.

    The CRCs of the bytes up to evenly spaced offsets are stored, up to the highest offset requested so far.
    The CRC of a range is the CRC up to its end XOR the CRC up to its start, shifted by the length of the
    range. Each of the two continues from the nearest stored CRC before it.

    Attributes
    ----------
    summed : int
        Number of bytes that CRCs were computed over in total.
    """

    def __init__(self, offsets: RandomAccess) -> None:
        self._offsets = offsets
        self._base = 0  # offset of the first stored CRC, which covers no bytes
        self._notes: list[int] = [0]
        self.summed = 0

    def of(self, starts: Any, ends: Any) -> Any:
        """CRC32 of each range (uint32); the offsets (int64) must be within the file."""
        if len(starts) == 0:
            return np.zeros(0, dtype=np.uint32)
        first, last = int(starts.min()), int(ends.max())
        if not self._base <= first <= self._base + len(self._notes) * _STRIDE:
            self._base, self._notes = first, [0]
        self._note_up_to(last)
        before = self._up_to(starts)
        return self._up_to(ends) ^ moved_by(before, ends - starts)

    def _note_up_to(self, end: int) -> None:
        notes = self._notes
        crc, at = notes[-1], self._base + (len(notes) - 1) * _STRIDE
        while at + _STRIDE <= end:
            view = memoryview(self._offsets.part(at, min(at + PIECE, at + (end - at) // _STRIDE * _STRIDE)))
            for offset in range(0, len(view), _STRIDE):
                crc = crc32(view[offset : offset + _STRIDE], crc)
                notes.append(crc)
            at += len(view)
            self.summed += len(view)

    def _up_to(self, offsets: Any) -> Any:
        """CRCs from the base up to each offset."""
        distinct, numbers = np.unique(offsets, return_inverse=True)
        notes = (distinct - self._base) // _STRIDE
        begins = self._base + notes * _STRIDE
        noted = np.array([self._notes[note] for note in notes.tolist()], dtype=np.uint32)
        self.summed += int((distinct - begins).sum())
        found = moved_by(noted, distinct - begins) ^ self._offsets.crc32_of(begins, distinct)
        return found[numbers]
