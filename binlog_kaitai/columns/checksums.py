"""The checksums of all events of a block."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.kernels import crc32_of, crc_table, read_numbers
from binlog_kaitai.grammar import CHECKSUM_SIZE
from binlog_kaitai.reader import checksum_status

#: What `check` finds, as places in this tuple.
STATUSES = ("none", "ok", "bad")
NONE, OK, BAD = range(3)

#: From this size on zlib is faster, the call included; measured.
_LARGE = 700


def check(block: Block) -> Any:
    """For each event NONE, OK or BAD, as a uint8 array."""
    if block.is_special:
        status = checksum_status(block.raw(0), block.fixed_header(0), block.layout)
        return np.array([STATUSES.index(status)], dtype=np.uint8)
    if not block.layout.is_checksummed:
        return np.full(len(block), NONE, dtype=np.uint8)
    starts, ends = block.starts, block.starts + block.sizes - CHECKSUM_SIZE
    stated = np.empty(len(block), dtype=np.uint64)
    read_numbers.for_work(len(block.data))(block.data, ends, CHECKSUM_SIZE, False, stated)
    computed = np.empty(len(block), dtype=np.int64)
    kernel = crc32_of.for_work(len(block.data))
    large = np.ones(len(block), dtype=np.bool_) if kernel is crc32_of.plain else block.sizes >= _LARGE
    small = np.flatnonzero(~large)
    if len(small):
        results = np.empty(len(small), dtype=np.int64)
        kernel(block.data, starts[small], ends[small], _table(), results)
        computed[small] = results
    view = memoryview(block.data)
    for index in np.flatnonzero(large).tolist():
        computed[index] = zlib.crc32(view[starts[index] : ends[index]])
    fits = computed.view(np.uint64) == stated
    return np.where(block.has_checksums, np.where(fits, OK, BAD), NONE).astype(np.uint8)


@cache
def _table() -> Any:
    return crc_table()
