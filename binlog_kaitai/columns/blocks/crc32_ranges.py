"""CRC32 of arbitrary ranges of a file, which reads each byte about once however the ranges overlap.

Strategy
--------
1. The CRCs of the bytes up to evenly spaced offsets are stored, up to the highest offset requested so far.
2. The CRC of a range is the CRC up to its end XOR the CRC up to its start, shifted by the length of the range
   (`crc32_shift.moved_by`). Each of the two continues from the nearest stored CRC before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.columns.blocks.crc32_shift import moved_by
from binlog_kaitai.columns.blocks.mapped import PIECE
from binlog_kaitai.columns.blocks.random_access import RandomAccess

#: Distance between stored CRCs, in bytes.
_STRIDE = 256


class RangeCrc32s:
    """CRC32s of ranges of a file.

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
