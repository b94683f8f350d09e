"""The checksums of all events of a block, by few calls of `crc32`.

Strategy
--------
1. The CRC32 over bytes and their own CRC32 is the same for whatever bytes: `RESIDUE`. So behind an event
   whose checksum fits, the CRC of all events up to there is `RESIDUE` plus (exclusive or) what the CRC
   before becomes over that event's length; what the event holds does not matter.
2. CRC32 is linear. So over a run of events that all fit, the CRC is the sum of `RESIDUE` moved on by as many
   bytes as stand behind each event. `_moved` is the table of these; one call of `crc32` for the whole run is
   compared with the sum.
3. A run that differs is looked at event by event.

A damaged event is found exactly as surely as by itself. Two and more damaged events of one run could cancel
each other with the probability of one in 2^32, the same as that of any damage that a CRC32 overlooks.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block, Frames
from binlog_kaitai.columns.blocks.crc32_shift import RESIDUE, moves
from binlog_kaitai.columns.blocks.crc32_short import crc32_of
from binlog_kaitai.columns.blocks.mapped import crc32_in_pieces
from binlog_kaitai.columns.kernel.arrays import Bytes, Ints
from binlog_kaitai.columns.kernel.byte_kernels import BAD, OK, PENDING, crc32s_of_runs
from binlog_kaitai.core.adapter import checksum_status
from binlog_kaitai.errors import BAD_CHECKSUM, BinlogError, ChecksumError

#: The reader's words for NONE, OK and BAD.
STATUSES = ("none", "ok", "bad")

#: Events that end within so many bytes are one run; also the length of the table, in numbers of 4 bytes.
_RUN = 1 << 18

#: Of fewer events in a process the table is not worth its making.
_FEW = 20_000

_checked = 0  # events, one by one


def check(block: Block) -> Any:
    """For each event NONE, OK or BAD, as a uint8 array."""
    if block.is_special:
        status = checksum_status(block.raw(0), block.fixed_header(0), block.layout)
        return np.array([STATUSES.index(status)], dtype=np.uint8)
    settle(block.data, block.frames)
    return block.checksums


def error_at(block: Block, row: int) -> BinlogError:
    """What is wrong with an event whose checksum is BAD."""
    return block.event(row).locate(ChecksumError(BAD_CHECKSUM, field="checksum"))


def settle(data: Bytes, frames: Frames) -> None:
    """Check what the framing has left PENDING."""
    is_pending = frames.checksums == PENDING
    if not is_pending.any():
        return
    rows: Any = slice(None) if is_pending.all() else np.flatnonzero(is_pending)
    starts = frames.starts[rows]
    ends = starts + frames.sizes[rows]
    few = len(starts) + _checked < _FEW
    fits = _each_fits(data, starts, ends) if few else _fit_in_runs(data, starts, ends)
    frames.checksums[rows] = OK if fits.all() else np.where(fits, OK, BAD)


def _fit_in_runs(data: Bytes, starts: Ints, ends: Ints) -> Any:
    """Which checksums are right, as a bool array."""
    limits, crc32s = np.empty(len(starts) + 1, dtype=np.int64), np.empty(len(starts), dtype=np.uint32)
    count = crc32s_of_runs.run(_moved(), starts, ends, limits, crc32s)
    fits = np.ones(len(starts), dtype=np.bool_)
    for (begin, end), expected in zip(pairwise(limits[: count + 1].tolist()), crc32s.tolist(), strict=False):
        if crc32_in_pieces(data, int(starts[begin]), int(ends[end - 1])) != expected:
            fits[begin:end] = _each_fits(data, starts[begin:end], ends[begin:end])
    return fits


def _each_fits(data: Bytes, starts: Ints, ends: Ints) -> Any:
    global _checked
    _checked += len(starts)
    return crc32_of(data, starts, ends) == RESIDUE


@cache
def _moved() -> Any:
    """`RESIDUE` moved on by 0, 1, 2, ... bytes, a uint32 array of `_RUN` numbers."""
    return moves(RESIDUE, _RUN)
