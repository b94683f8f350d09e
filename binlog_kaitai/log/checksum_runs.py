"""CRC32 of each event, computed over runs of events.

Strategy
--------
1. The CRC32 of any bytes followed by their own CRC32 is the constant `RESIDUE`. After an event with a
   correct checksum, the CRC of all preceding bytes is therefore `RESIDUE` XOR the previous CRC shifted by
   the length of the event, whatever the event contains.
2. CRC32 is linear. The CRC of a run of correct events is therefore the XOR of `RESIDUE` shifted by the
   number of bytes after each event. `_moved` is the table of the shifted values; the result is compared
   with a single call of `crc32` for the whole run.
3. If they differ, the events of the run are checked one at a time.

The check is as reliable as checking each event: several damaged events of one run cancel each other with
probability 2^-32, which is also the probability that a CRC32 misses damage.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from binlog_kaitai.core.adapter import checksum_status
from binlog_kaitai.errors import BAD_CHECKSUM, BinlogError, ChecksumError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Crc32s, Ints
from binlog_kaitai.kernels.byte_kernels import BAD, OK, PENDING, crc32s_of_runs
from binlog_kaitai.log.block import Block, Frames
from binlog_kaitai.log.crc32 import RESIDUE, crc32_of, moves
from binlog_kaitai.log.mapped_memory import crc32_in_pieces

#: The event reader's names for NONE, OK and BAD.
STATUSES = ("none", "ok", "bad")

#: Size of a run in bytes, and length of the table, in 4-byte numbers.
_RUN = 1 << 16

#: With fewer events in a process, building the table costs more than it saves.
_TOO_FEW_EVENTS = 20_000

_checked = 0  # events checked one at a time


def check(block: Block) -> Bytes:
    """Checksum state of each event: NONE, OK or BAD, as a uint8 array."""
    if block.is_special:
        status = checksum_status(block.raw(0), block.fixed_header(0), block.layout)
        return np.array([STATUSES.index(status)], dtype=np.uint8)
    settle(block.data, block.frames)
    return block.checksums


def error_at(block: Block, row: int) -> BinlogError:
    """The error for an event whose checksum is BAD."""
    return block.event(row).locate(ChecksumError(BAD_CHECKSUM, field="checksum"))


def settle(data: Bytes, frames: Frames) -> None:
    """Check the events that framing has left PENDING."""
    is_pending = frames.checksums == PENDING
    if not is_pending.any():
        return
    rows = slice(None) if is_pending.all() else np.flatnonzero(is_pending)
    starts, sizes = frames.starts[rows], frames.sizes[rows]
    few = len(starts) + _checked < _TOO_FEW_EVENTS
    are_ok = _each_ok(data, starts, sizes) if few else _ok_in_runs(data, starts, sizes)
    frames.checksums[rows] = OK if are_ok.all() else np.where(are_ok, OK, BAD)


def _ok_in_runs(data: Bytes, starts: Ints, sizes: Ints) -> Bools:
    """Which checksums are right, as a bool array."""
    limits, crc32s = np.empty(len(starts) + 1, dtype=np.int64), np.empty(len(starts), dtype=np.uint32)
    count = crc32s_of_runs.run(_moved(), starts, sizes, limits, crc32s)
    are_ok = np.ones(len(starts), dtype=np.bool_)
    runs = pairwise(limits[: count + 1].tolist())
    for (begin, end), expected in zip(runs, crc32s[:count].tolist(), strict=True):
        start, stop = int(starts[begin]), int(starts[end - 1] + sizes[end - 1])
        if crc32_in_pieces(data, start, stop) != expected:
            are_ok[begin:end] = _each_ok(data, starts[begin:end], sizes[begin:end])
    return are_ok


def _each_ok(data: Bytes, starts: Ints, sizes: Ints) -> Bools:
    global _checked
    _checked += len(starts)
    return np.equal(crc32_of(data, starts, starts + sizes), RESIDUE)


@cache
def _moved() -> Crc32s:
    """`RESIDUE` shifted by 0, 1, 2, ... bytes, a uint32 array of `_RUN` numbers."""
    return moves(RESIDUE, _RUN)
