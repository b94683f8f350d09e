"""The checksums of all events of a block."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block, Frames
from binlog_kaitai.columns.kernels import BAD, OK, PENDING, check_pending, crc_table, read_numbers
from binlog_kaitai.grammar import CHECKSUM_SIZE
from binlog_kaitai.reader import checksum_status

#: The reader's words for NONE, OK and BAD.
STATUSES = ("none", "ok", "bad")

#: From this size on zlib is faster than the kernel, the call included; measured.
LARGE = 1000


def check(block: Block) -> Any:
    """For each event NONE, OK or BAD, as a uint8 array."""
    if block.is_special:
        status = checksum_status(block.raw(0), block.fixed_header(0), block.layout)
        return np.array([STATUSES.index(status)], dtype=np.uint8)
    settle(block.data, block.frames)
    return block.checksums


def settle(data: Any, frames: Frames) -> None:
    """Check what the framing has left PENDING."""
    if PENDING not in frames.checksums:
        return
    check_small = check_pending.for_work(0)
    if check_small is not check_pending.plain:
        check_small(data, frames.starts, frames.sizes, table(), CHECKSUM_SIZE, LARGE, frames.checksums)
    rows = np.flatnonzero(frames.checksums == PENDING)
    if not len(rows):
        return
    starts = frames.starts[rows]
    behind = starts + frames.sizes[rows] - CHECKSUM_SIZE
    stated = np.empty(len(rows), dtype=np.uint64)
    read_numbers.for_work(len(rows))(data, behind, CHECKSUM_SIZE, False, stated)
    view, crc32 = memoryview(data), zlib.crc32
    pairs = zip(starts.tolist(), behind.tolist(), strict=True)
    computed = np.array([crc32(view[start:end]) for start, end in pairs], dtype=np.uint64)
    frames.checksums[rows] = np.where(computed == stated, OK, BAD)


@cache
def table() -> Any:
    """The tables of the kernel."""
    return crc_table()
