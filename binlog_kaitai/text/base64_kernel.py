"""A kernel that writes base64 in lines."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Halves, OutBytes
from binlog_kaitai.kernels.compile import kernel

#: Input bytes per line.
LINE = 57

_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8)
#: The characters of each 12-bit value, see `put_base64`.
PAIRS = (_LETTERS[:, None] | _LETTERS.astype(np.uint16) << 8).ravel()


@kernel
def put_base64(data: Bytes, start: int, end: int, letters: Halves, out: OutBytes, offset: int) -> int:
    """Write base64 in lines of 76 characters, each ended, at `out[offset]`; gives the end.

    `letters` has the two characters of each 12-bit value, the first in the lower byte, uint16. `out` must
    have room for 77 bytes per 57 input bytes or part thereof, and 8 more.
    """
    while start + LINE <= end:
        line = data[start : start + LINE]
        text = out[offset : offset + 77]
        for step in range(19):
            number = (
                np.uint32(line[3 * step]) << np.uint32(16)
                | np.uint32(line[3 * step + 1]) << np.uint32(8)
                | np.uint32(line[3 * step + 2])
            )
            high = letters[number >> np.uint32(12)]
            low = letters[number & np.uint32(4095)]
            text[4 * step] = high & np.uint16(255)
            text[4 * step + 1] = high >> np.uint16(8)
            text[4 * step + 2] = low & np.uint16(255)
            text[4 * step + 3] = low >> np.uint16(8)
        text[76] = 10
        start += LINE
        offset += 77
    if start == end:
        return offset
    while start < end:
        number = np.uint32(data[start]) << np.uint32(16)
        if start + 1 < end:
            number |= np.uint32(data[start + 1]) << np.uint32(8)
        if start + 2 < end:
            number |= np.uint32(data[start + 2])
        high = letters[number >> np.uint32(12)]
        low = letters[number & np.uint32(4095)]
        out[offset] = high & np.uint16(255)
        out[offset + 1] = high >> np.uint16(8)
        out[offset + 2] = low & np.uint16(255) if start + 1 < end else 61
        out[offset + 3] = low >> np.uint16(8) if start + 2 < end else 61
        start += 3
        offset += 4
    out[offset] = 10
    return offset + 1
