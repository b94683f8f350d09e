"""CRC32 of many short ranges, eight bytes at a time with tables; a call of zlib would cost more per range."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.mapped import crc32_in_pieces
from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import read_u8
from binlog_kaitai.kernels.compile import kernel

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
