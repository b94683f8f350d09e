"""CRC32s of many ranges of bytes, and CRC32s shifted as if other bytes followed.

Short ranges are read eight bytes at a time with tables; a call of zlib would cost more per range.

Shifting is linear in the bits of the CRC. If A has the CRC32 `a` and B has `b`, then A followed by B has
`b ^ moved_by(a, len(B))`. zlib's `crc32_combine` does the same for one pair at a time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.grammar import CHECKSUM_SIZE
from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import read_u8
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.mapped_memory import crc32_in_pieces

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


#: The CRC32 polynomial, with its lowest term in the highest bit.
_POLYNOMIAL = np.uint32(0xEDB88320)

#: For ranges that are longer on average, calls of zlib are faster.
_SHORT = 1 << 10

_BYTE = np.uint64(255)
_8, _16, _24, _32, _40, _48, _56 = (np.uint64(8 * count) for count in range(1, 8))


def crc32_of(data: Bytes, starts: Ints, ends: Ints) -> Any:
    """CRC32 of each range, as a uint32 array; the ranges must be within the array."""
    put = _put_crc32s.run
    if put is _put_crc32s.plain or int((ends - starts).sum()) > _SHORT * len(starts):
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([crc32_in_pieces(data, *pair) for pair in pairs], dtype=np.uint32)
    out = np.empty(len(starts), dtype=np.uint32)
    put(data, starts, ends, _tables(), out)
    return out


@kernel
def _put_crc32s(data: Bytes, starts: Ints, ends: Ints, tables: Array, out: Array) -> None:
    """Write the CRC32 of each range; 0 for ranges outside `data`."""
    for index in range(starts.shape[0]):
        at, end = starts[index], ends[index]
        out[index] = 0
        if at < 0 or end < at or end > data.shape[0]:
            continue
        crc = np.uint64(0xFFFFFFFF)
        while at + 8 <= end:
            word = read_u8(data, np.uint64(at)) ^ crc
            crc = np.uint64(
                tables[7, word & _BYTE]
                ^ tables[6, (word >> _8) & _BYTE]
                ^ tables[5, (word >> _16) & _BYTE]
                ^ tables[4, (word >> _24) & _BYTE]
                ^ tables[3, (word >> _32) & _BYTE]
                ^ tables[2, (word >> _40) & _BYTE]
                ^ tables[1, (word >> _48) & _BYTE]
                ^ tables[0, word >> _56]
            )
            at += 8
        while at < end:
            crc = np.uint64(tables[0, (crc ^ np.uint64(data[at])) & _BYTE]) ^ (crc >> _8)
            at += 1
        out[index] = crc ^ np.uint64(0xFFFFFFFF)


@cache
def _tables() -> Any:
    """Each byte value shifted by 1 to 8 bytes, uint32 of shape (8, 256)."""
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, _POLYNOMIAL, 0).astype(np.uint32) ^ (values >> np.uint32(1))
    tables = [values]
    for _ in range(7):
        last = tables[-1]
        tables.append(values[last & np.uint32(255)] ^ (last >> np.uint32(8)))
    return np.array(tables)
