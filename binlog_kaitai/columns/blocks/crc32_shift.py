"""CRC32s shifted as if other bytes followed; shifting is linear in the bits of the CRC.

If A has the CRC32 `a` and B has `b`, then A followed by B has `b ^ moved_by(a, len(B))`. zlib's
`crc32_combine` does the same for one pair at a time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.grammar import CHECKSUM_SIZE
from binlog_kaitai.kernels.arrays import Array

#: CRC32 of any bytes followed by their own CRC32.
RESIDUE = crc32(bytes(CHECKSUM_SIZE))


def moved_by(values: Any, distances: Any) -> Any:
    """Each CRC32 (uint32) shifted by a number of bytes (int64)."""
    moved = np.array(values, dtype=np.uint32)
    for bit in range(int(distances.max(initial=0)).bit_length()):
        rows = np.flatnonzero(distances >> bit & 1)
        moved[rows] = _apply(_move(bit), moved[rows])
    return moved


def moves(value: int, count: int) -> Any:
    """A CRC32 shifted by 0, 1, 2, ... bytes: an array (uint32) of `count` values, a power of two."""
    table = np.empty(count, dtype=np.uint32)
    table[0] = value
    for bit in range(count.bit_length() - 1):
        table[1 << bit : 2 << bit] = _apply(_move(bit), table[: 1 << bit])
    return table


@cache
def _move(bit: int) -> Any:
    """Image of each of the 32 bits under a shift by 2 ** bit bytes."""
    if bit:
        return _apply(_move(bit - 1), _move(bit - 1))
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    # CRC32 starts with all bits set and inverts the result; the differences from the CRC of zeros are linear.
    return np.array([crc32(b"\0", int(one)) ^ crc32(b"\0") for one in bits], dtype=np.uint32)


def _apply(move: Array, values: Array) -> Any:
    """Apply a linear map, given by the images of the 32 bits, to each value."""
    moved = np.zeros(len(values), dtype=np.uint32)
    for byte in range(4):
        images = np.zeros(256, dtype=np.uint32)
        for bit in range(8):
            images[1 << bit : 2 << bit] = images[: 1 << bit] ^ move[8 * byte + bit]
        moved ^= images[values >> np.uint32(8 * byte) & np.uint32(255)]
    return moved
