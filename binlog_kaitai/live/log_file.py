"""What an archive does with the file of a log, by its descriptor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.grammar import EventType, header_offset, masks
from binlog_kaitai.errors import reading
from binlog_kaitai.following.quiescent_points import QuiescentPoints
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.live.state import context_of
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.checksum_runs import check
from binlog_kaitai.sources.source import MAGIC

_FLAGS_AT = len(MAGIC) + header_offset("flags")
_IN_USE = masks.EventHeader.IS_IN_USE

#: Events that end a log.
ENDS = (EventType.rotate_event, EventType.stop_event)


def set_in_use(file: int, *, is_set: bool) -> None:
    """Set or clear the in-use flag of a log."""
    flags = os.pread(file, 1, _FLAGS_AT)[0]
    flags = flags | _IN_USE if is_set else flags & ~_IN_USE
    os.pwrite(file, bytes([flags]), _FLAGS_AT)


def is_same(file: int, data: memoryview, begin: int) -> bool:
    """Whether a log has some bytes at an offset, except for the in-use flag, which servers clear."""
    mine = bytearray(os.pread(file, len(data), begin))
    if begin <= _FLAGS_AT < begin + len(mine):
        mine[_FLAGS_AT - begin] &= ~_IN_USE
    return mine == bytes(data)


def whole_transactions(
    path: Path, position: int, quiescent: QuiescentPoints
) -> Iterator[tuple[list[int], bool]]:
    """The offsets between transactions in a log from a position on, as far as its checksums are correct.

    Each with whether the log is closed at the last of them. Ends without an error where the bytes end.

    Raises
    ------
    BinlogError
        They end within an event, or the rest is not one.
    """
    with reading(str(path)), path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return
        context = context_of(path) if position else Context(4)
        begin = max(position, len(MAGIC))
        stream.seek(begin)
        for block in BlockReader(stream, context, begin, name=str(path)):
            if not block.is_special and not block.layout.is_checksummed:
                return
            if (check(block) == BAD).any():
                return
            offsets = np.append(block.positions, block.end_positions[-1])[quiescent.of(block)].tolist()
            is_over = bool(offsets) and offsets[-1] == int(block.end_positions[-1])
            yield offsets, is_over and int(block.types[-1]) in ENDS
