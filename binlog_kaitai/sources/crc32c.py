"""CRC-32C (Castagnoli) of pages of equal length, computed with NumPy for many at a time.

The checksum is linear: the contribution of each byte depends only on the byte and its distance from the end.
The data are divided into blocks; contributions are combined (XOR) within each block, then across the blocks.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_POLYNOMIAL, _ONES = np.uint32(0x82F63B78), np.uint32(0xFFFFFFFF)
_BLOCK, _WIDTH = 128, 4


def crc32c(rows: Any) -> Any:
    """Checksum of each row.

    Parameters
    ----------
    rows : uint8 array of shape (n, length), length at least 4

    Returns
    -------
    uint32 array of shape (n,)
    """
    count, length = rows.shape
    blocks = -(-length // _BLOCK)
    near, far = _near(), _far(blocks)
    # Leading zeros do not change the sum, so they pad the first block.
    padded = np.zeros((count, blocks * _BLOCK), dtype=np.uint8)
    padded[:, -length:] = rows
    first = padded.shape[1] - length
    padded[:, first : first + _WIDTH] ^= 0xFF  # the initial value
    columns = np.ascontiguousarray(padded.reshape(count * blocks, _BLOCK).T)
    sums = np.zeros(count * blocks, dtype="<u4")
    for table, column in zip(near, columns, strict=True):
        sums ^= table[column]
    bytes_ = sums.view(np.uint8).reshape(count, blocks * _WIDTH)
    parts = far.take(bytes_ + np.arange(blocks * _WIDTH) * 256)
    return np.bitwise_xor.reduce(parts, axis=1) ^ _ONES


@cache
def _near() -> Any:
    """Contribution of each value of each byte of a block to the sum at the block's end, one row per byte."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ _POLYNOMIAL, table >> 1)
    rows = [table]
    while len(rows) < _BLOCK:
        rows.append(rows[-1] >> 8 ^ table[rows[-1] & 0xFF])
    return np.stack(rows[::-1])


@cache
def _far(blocks: int) -> Any:
    """Contribution of each value of each byte of a block's sum to the sum at the end of the data."""
    near = _near()[:_WIDTH]
    tables = [np.arange(256, dtype=np.uint32) << 8 * place for place in range(_WIDTH)]
    rows = [np.concatenate(tables)]
    while len(rows) < blocks:
        moved = [near[place][rows[-1] >> 8 * place & 0xFF] for place in range(_WIDTH)]
        rows.append(np.bitwise_xor.reduce(moved, axis=0))
    return np.concatenate(rows[::-1])
