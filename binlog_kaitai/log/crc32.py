"""CRC32 of ranges of bytes, and of what follows from others by a shift."""

from __future__ import annotations

from functools import cache

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.grammar import CHECKSUM_SIZE
from binlog_kaitai.kernels.arrays import Bytes, Crc32s, Crc32Table, Ints, OutCrc32s
from binlog_kaitai.kernels.byte_kernels import read_u8
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.mapped_memory import crc32_in_pieces

#: CRC32 of any bytes followed by their own CRC32.
RESIDUE = crc32(bytes(CHECKSUM_SIZE))


def moved_by(values: Crc32s, distances: Ints) -> Crc32s:
    """Each CRC32 (uint32) shifted by a number of bytes (int64)."""
    moved = np.array(values, dtype=np.uint32)
    for bit in range(int(distances.max(initial=0)).bit_length()):
        rows = np.flatnonzero(distances >> bit & 1)
        moved[rows] = _apply(_move(bit), moved[rows])
    return moved


def moves(value: int, count: int) -> Crc32s:
    """A CRC32 shifted by 0, 1, 2, ... bytes: an array (uint32) of `count` values, a power of two."""
    table = np.empty(count, dtype=np.uint32)
    table[0] = value
    for bit in range(count.bit_length() - 1):
        table[1 << bit : 2 << bit] = _apply(_move(bit), table[: 1 << bit])
    return table


@cache
def _move(bit: int) -> Crc32s:
    """A shift by 2 ** bit bytes: the image (uint32) of each value of each of the four bytes, (4, 256)."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    if bit:
        basis = _apply(_move(bit - 1), _apply(_move(bit - 1), bits))
    else:
        # CRC32 starts with all bits set and inverts the result; differences from the CRC of zeros are linear.
        basis = np.array([crc32(b"\0", int(value)) ^ crc32(b"\0") for value in bits], dtype=np.uint32)
    images = np.zeros((4, 256), dtype=np.uint32)
    for low in range(8):
        images[:, 1 << low : 2 << low] = images[:, : 1 << low] ^ basis[low::8, None]
    return images


def _apply(move: Crc32s, values: Crc32s) -> Crc32s:
    """Apply a linear map, given by the images of each byte, to each value."""
    moved = np.zeros(len(values), dtype=np.uint32)
    for byte in range(4):
        moved ^= move[byte, values >> np.uint32(8 * byte) & np.uint32(255)]
    return moved


#: The CRC32 polynomial, with its lowest term in the highest bit.
_POLYNOMIAL = np.uint32(0xEDB88320)

#: For ranges that are longer on average, calls of zlib are faster.
_SHORT = 1 << 10

_BYTE = np.uint64(255)
_8, _16, _24, _32, _40, _48, _56 = (np.uint64(8 * count) for count in range(1, 8))


def crc32_of(data: Bytes, starts: Ints, ends: Ints) -> Crc32s:
    """CRC32 of each range, as a uint32 array; the ranges must be within the array."""
    put = _put_crc32s.run
    if put is _put_crc32s.plain or int((ends - starts).sum()) > _SHORT * len(starts):
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([crc32_in_pieces(data, *pair) for pair in pairs], dtype=np.uint32)
    out = np.empty(len(starts), dtype=np.uint32)
    put(data, starts, ends, _tables(), out)
    return out


@kernel
def _put_crc32s(data: Bytes, starts: Ints, ends: Ints, tables: Crc32Table, out: OutCrc32s) -> None:
    """Write the CRC32 of each range; 0 for ranges outside `data`."""
    for index in range(starts.shape[0]):
        offset, end = starts[index], ends[index]
        out[index] = 0
        if offset < 0 or end < offset or end > data.shape[0]:
            continue
        crc = np.uint64(0xFFFFFFFF)
        while offset + 8 <= end:
            word = read_u8(data, np.uint64(offset)) ^ crc
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
            offset += 8
        while offset < end:
            crc = np.uint64(tables[0, (crc ^ np.uint64(data[offset])) & _BYTE]) ^ (crc >> _8)
            offset += 1
        out[index] = crc ^ np.uint64(0xFFFFFFFF)


@cache
def _tables() -> Crc32s:
    """Each byte value shifted by 1 to 8 bytes, uint32 of shape (8, 256)."""
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, _POLYNOMIAL, 0).astype(np.uint32) ^ (values >> np.uint32(1))
    tables = [values]
    for _ in range(7):
        last = tables[-1]
        tables.append(values[last & np.uint32(255)] ^ (last >> np.uint32(8)))
    return np.array(tables)
