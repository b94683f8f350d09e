"""Writes events to a new log, with correct positions and checksums."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.adapter import closed
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, POSITION_MASK, EventType, header_offset, header_width
from binlog_kaitai.errors import UsageError, writing_to
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import copy_ranges, put_u4
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.crc32 import crc32_of
from binlog_kaitai.log.mapped_memory import LONG, pieces
from binlog_kaitai.sources.disk import refuse_inputs, replacing

_POSITION_SIZE = header_width("next_position")


class LogWriter:
    """Writes events one after another, as a closed log.

    `position`: file offset of the next event.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._has_own_positions = True
        self._has_format = False
        self.position = stream.write(MAGIC)

    def write(self, block: Block, rows: Ints, *, are_new: bool = False) -> None:
        """Write selected events of a block (int64 indexes, ascending).

        `are_new`: they are not as in a log; their sizes and checksums are still to be set.
        """
        if not len(rows):
            return
        if block.is_special and block.types[0] == EventType.format_description_event:
            self._write_format(block)
            return
        sizes = block.sizes[rows]
        if len(rows) == 1 and sizes[0] > LONG and not are_new:
            self._write_long(block, int(rows[0]))
            return
        ends = np.cumsum(sizes)
        data = np.empty(int(ends[-1]), dtype=np.uint8)
        starts = ends - sizes
        copy_ranges.run(block.data, block.starts[rows], sizes, starts, data)
        wrong = np.arange(0)
        if are_new:
            put_u4(data, starts + header_offset("len_event"), sizes.astype("<u4"))
        if self._has_own_positions and block.layout.binlog_version > 1:
            wrong = self._put_positions(data, starts, ends, block)
        if block.layout.is_checksummed:
            wrong = np.arange(len(rows)) if are_new else wrong
            after = ends[wrong] - CHECKSUM_SIZE
            put_u4(data, after, crc32_of(data, starts[wrong], after))
        self._put(data.data)

    def _write_long(self, block: Block, row: int) -> None:
        """Write an event without copying it: everything but its header and checksum is copied in pieces."""
        start, end = int(block.starts[row]), int(block.starts[row] + block.sizes[row])
        body = start + block.header_length
        head = block.data[start:body].copy()
        is_moved = self._has_own_positions and block.layout.binlog_version > 1
        if is_moved:
            place, size = np.zeros(1, dtype=np.int64), np.array([end - start])
            is_moved = len(self._put_positions(head, place, size, block)) > 0
        has_new_sum = is_moved and block.layout.is_checksummed
        self._put(head.data)
        crc = crc32(head)
        for piece in pieces(block.data, body, end - CHECKSUM_SIZE * has_new_sum):
            crc = crc32(piece, crc) if has_new_sum else crc
            self._put(piece)
        if has_new_sum:
            self._put(crc.to_bytes(CHECKSUM_SIZE, "little"))

    def truncate(self, position: int) -> None:
        """Discard everything written from an offset on."""
        self._stream.flush()
        self._stream.seek(position)
        self._stream.truncate()
        self.position = position

    def _put(self, data: bytes | memoryview) -> None:
        self._stream.write(data)
        self.position += len(data)

    def _write_format(self, block: Block) -> None:
        # Events after a second format description, or in a relay log, contain positions in another server's
        # log.
        is_relay_log = bool(np.asarray(block.header["is_relay_log"]).any())
        self._has_own_positions = not (self._has_format or is_relay_log)
        self._has_format = True
        data = np.frombuffer(bytearray(block.raw(0)), dtype=np.uint8)
        if self._has_own_positions:
            # It may have moved. Its checksum is recomputed below.
            self._put_positions(data, np.zeros(1, dtype=np.int64), np.array([len(data)]), block)
        self._put(closed(block.event(0).parsed, data.tobytes()))

    def _put_positions(self, data: Bytes, starts: Ints, ends: Ints, block: Block) -> Ints:
        """Set the positions in the headers of some events to those in the file; returns which of them
        changed.

        A position of 0 means that the event is in no file; before version 4 the position is that of the
        event's start.
        """
        offset = header_offset("next_position")
        offsets = starts + offset
        stated = data[offsets[:, None] + np.arange(_POSITION_SIZE)].view("<u4")[:, 0]
        positions = self.position + (ends if block.layout.binlog_version > 3 else starts)
        positions = (positions & POSITION_MASK).astype("<u4")
        wrong = np.flatnonzero((stated != 0) & (stated != positions))
        put_u4(data, offsets[wrong], positions[wrong])
        return wrong


@contextmanager
def writing(target: str, inputs: Iterable[str | None], *, overwrite: bool = False) -> Iterator[LogWriter]:
    """A writer for a new log, which gets its final name only once it is complete.

    `inputs`: the files that are read.
    Raises `UsageError`: the file exists and must not be overwritten, or it is read.
    Raises `SourceError`: the file cannot be written.
    """
    refuse_inputs(target, inputs)
    if os.path.exists(target) and not overwrite:
        raise UsageError("already exists; choose another file or use --overwrite", file=target)
    with writing_to(target), replacing(Path(target)) as stream:
        yield LogWriter(stream)
