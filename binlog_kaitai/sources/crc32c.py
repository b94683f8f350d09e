"""CRC-32C (Castagnoli) of pages, all of one length, computed by NumPy for many at a time.

The checksum is linear: each byte contributes a value that depends on the byte and its distance from the end
alone. Data are cut into blocks; contributions are summed up (XOR) in each block, then over the blocks.
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
    # Zeros at the start do not change the sum, so that they fill up the first block.
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
    """What each value of each byte of a block contributes to the sum at the block's end, a row per byte."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ _POLYNOMIAL, table >> 1)
    rows = [table]
    while len(rows) < _BLOCK:
        rows.append(rows[-1] >> 8 ^ table[rows[-1] & 0xFF])
    return np.stack(rows[::-1])


@cache
def _far(blocks: int) -> Any:
    """What each value of each byte of the sum of each block contributes to the sum at the end of the data."""
    near = _near()[:_WIDTH]
    tables = [np.arange(256, dtype=np.uint32) << 8 * place for place in range(_WIDTH)]
    rows = [np.concatenate(tables)]
    while len(rows) < blocks:
        moved = [near[place][rows[-1] >> 8 * place & 0xFF] for place in range(_WIDTH)]
        rows.append(np.bitwise_xor.reduce(moved, axis=0))
    return np.concatenate(rows[::-1])
