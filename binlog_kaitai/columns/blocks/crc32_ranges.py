"""CRC32 of any ranges of one file, for which each byte is summed about once, however the ranges overlap.

Strategy
--------
1. The CRCs of all bytes up to places at small distances are noted once, as far as somebody asks.
2. The CRC of a range is that up to its end plus (exclusive or) that up to its start, moved on by the range's
   length (`shifts.moved_by`). Each of the two takes the bytes from the note before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.columns.blocks.crc32_shift import moved_by
from binlog_kaitai.columns.blocks.mapped import PIECE
from binlog_kaitai.columns.blocks.random_access import RandomAccess

#: A sum is noted for so many bytes.
_STRIDE = 256


class RangeCrc32s:
    """CRC32s of ranges of a file.

    Attributes
    ----------
    summed : int
        How many bytes CRCs were computed over, in all.
    """

    def __init__(self, offsets: RandomAccess) -> None:
        self._offsets = offsets
        self._base = 0  # the first noted sum is that of no bytes, here
        self._notes: list[int] = [0]
        self.summed = 0

    def of(self, starts: Any, ends: Any) -> Any:
        """The CRC32 of each range (uint32), for places (int64) of which none is behind the file's end."""
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
            for place in range(0, len(view), _STRIDE):
                crc = crc32(view[place : place + _STRIDE], crc)
                notes.append(crc)
            at += len(view)
            self.summed += len(view)

    def _up_to(self, offsets: Any) -> Any:
        """The CRCs from the base up to each place."""
        distinct, numbers = np.unique(offsets, return_inverse=True)
        notes = (distinct - self._base) // _STRIDE
        begins = self._base + notes * _STRIDE
        noted = np.array([self._notes[note] for note in notes.tolist()], dtype=np.uint32)
        self.summed += int((distinct - begins).sum())
        found = moved_by(noted, distinct - begins) ^ self._offsets.crc32_of(begins, distinct)
        return found[numbers]
