"""Events inside compressed transactions, in the form the client sees.

Rules
-----
1. In a log with checksums, the client appends the missing checksum to each of them.
2. Their start and end position is the end of the enclosing payload event.
3. A line of its own follows the last of them, before the next event.
"""

from __future__ import annotations

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.kernels.byte_kernels import OK, put_u4
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.checksum_runs import crc32_of
from binlog_kaitai.log.payloads import BlockChange
from binlog_kaitai.log.text_kernels import join_ranges


class TablesInside:
    """The table maps inside one payload, invisible to other payloads and to the log."""

    def __init__(self, outer: Context) -> None:
        self._outer = outer
        self._context = outer.for_payload()
        self.payload = -1

    def of(self, payload: int) -> Context:
        """The context of the events inside the payload at an offset of the log."""
        if payload != self.payload:
            # The events were given checksums.
            self._context, self.payload = Context.of(self._outer.layout), payload
        return self._context


class InsidePayloads:
    """Which events of a block are inside payloads.

    `piece`: a block with opened payloads.
    `outer`: the original block.
    `first`: index in it of the first event of the log itself.
    `is_inside` (bool array): which events are inside.
    `is_after` (bool array): which events of the log itself directly follow a payload's events, or would if it
    had any.
    `rows` (int64 array): index in `outer` of each event, or of its enclosing payload event.
    `payload_offsets` (int64 array): positions of inner events as printed; -1 for others.
    """

    def __init__(self, piece: Block, outer: Block, first: int) -> None:
        holders = np.full(len(piece), -1) if piece.holders is None else piece.holders
        self.is_inside = holders >= 0
        self.rows = np.where(self.is_inside, holders, first - 1 + np.cumsum(~self.is_inside))
        ends = outer.header.numbers("next_position").astype(np.int64)
        self.payload_offsets = np.where(self.is_inside, ends[self.rows], -1)
        self.opens = piece.types == EventType.transaction_payload_event
        before = self.is_inside | self.opens
        self.is_after = ~self.is_inside
        self.is_after[1:] &= before[:-1]
        self.is_after[:1] = False

    def part(self, begin: int, end: int) -> InsidePayloads:
        """The same for a range of the events."""
        part = object.__new__(InsidePayloads)
        for name, values in vars(self).items():
            setattr(part, name, values[begin:end])
        return part


def change_of(outer: Block) -> BlockChange:
    """A function that converts the inner events of a block to the form the client sees."""

    def change(inner: Block, _: object) -> Block:
        if not outer.layout.is_checksummed:
            return inner
        sizes = inner.sizes + CHECKSUM_SIZE
        count = len(sizes)
        # Layout: the bytes of each event, followed by space for its checksum.
        ranges = np.empty((2, 2 * count), dtype=np.int64)
        ranges[0] = np.repeat(inner.starts, 2)
        ranges[1, ::2], ranges[1, 1::2] = inner.sizes, CHECKSUM_SIZE
        data = np.empty(int(sizes.sum()), dtype=np.uint8)
        offsets = np.empty(2 * count + 1, dtype=np.int64)
        join_ranges.run(inner.data, *ranges, offsets, data)
        starts, ends = offsets[:-1:2].copy(), offsets[1::2].copy()
        put_u4(data, starts + header_offset("len_event"), sizes)
        put_u4(data, ends, crc32_of(data, starts, ends))
        states = np.full(count, OK, dtype=np.uint8)
        frames = inner.frames._replace(starts=starts, sizes=sizes, checksums=states)
        return Block(inner.file, data, 0, frames, outer.layout)

    return change
