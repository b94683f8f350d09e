"""The checksums of all events of a block."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.kernels import BAD, OK, PENDING, crc_table
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
    found = block.checksums
    view = memoryview(block.data)
    for row in np.flatnonzero(found == PENDING).tolist():
        end = int(block.starts[row]) + int(block.sizes[row])
        stated = int.from_bytes(view[end - CHECKSUM_SIZE : end], "little")
        fits = zlib.crc32(view[block.starts[row] : end - CHECKSUM_SIZE]) == stated
        found[row] = OK if fits else BAD
    return found


@cache
def table() -> Any:
    """The tables of the kernel."""
    return crc_table()
