"""The columns from which the text of a block is built, and events inside payloads as the client sees them.

Rules for events inside compressed transactions
-----------------------------------------------
1. In a log with checksums, the client appends the missing checksum to each of them.
2. Their start and end position is the end of the enclosing payload event.
3. A line of its own follows the last of them, before the next event.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.dump.client_values import timestamp
from binlog_kaitai.dump.printed_event import BodyColumns, renamed, text_of_seconds, with_checksum
from binlog_kaitai.kernels.arrays import Ints, view_of
from binlog_kaitai.kernels.byte_kernels import OK, put_u4, read_numbers
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.crc32 import crc32_of
from binlog_kaitai.log.payloads import BlockChange
from binlog_kaitai.text.line_arrays import Field, LineProgram, Pool
from binlog_kaitai.text.text_kernels import HexdumpStyle, join_ranges


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
    `outer`: the original block; without it, no payloads were opened.
    `first`: index in it of the first event of the log itself.
    `is_inside`, `opens` (bool arrays): which events are inside, and which are opened payloads.
    `is_after` (bool array): which events of the log itself directly follow a payload's events, or would if it
    had any.
    `rows` (int64 array): index in `outer` of each event, or of its enclosing payload event.
    `payload_offsets` (int64 array): positions of inner events as printed; -1 for others.
    """

    def __init__(self, piece: Block, outer: Block | None = None, first: int = 0) -> None:
        holders = np.full(len(piece), -1) if piece.holders is None else piece.holders
        if outer is None:
            self.rows, self.payload_offsets = np.arange(len(piece)), holders
            self.is_inside = self.opens = self.is_after = np.zeros(len(piece), dtype=np.bool_)
            return
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
        """The attributes of a range of the events."""
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


#: Offset of the length of the database name, by type of event.
_LENGTHS: dict[int, str] = {
    EventType.table_map_event: "len_schema_name.first",
    EventType.query_event: "len_schema_name",
    EventType.query_compressed_event: "len_schema_name",
    EventType.execute_load_query_event: "len_schema_name",
}


def renamed_events(block: Block, names: Mapping[bytes, bytes], *, rewrites_all: bool) -> dict[int, bytes]:
    """The bytes of the events whose database has a new name, by event number.

    `names`: new names by old names.
    `rewrites_all`: rename in all events, which get new checksums, as `mysqlbinlog` does; `mariadb-binlog`
    renames only in table maps, which keep their checksums.
    """
    events_renamed: dict[int, bytes] = {}
    view = view_of(block.data)
    for kind in _LENGTHS if rewrites_all else (EventType.table_map_event,):
        events, body = block.rows_of(kind), block.body(kind)
        if not len(events) or "schema_name" not in body:
            continue
        bounds = block.starts[events], block.sizes[events], body.positions(_LENGTHS[kind])
        columns = events, *bounds, *body.ranges("schema_name"), body.matches
        for event, begin, size, length_at, start, length, matches in zip(
            *(values.tolist() for values in columns), strict=True
        ):
            new = names.get(bytes(view[start : start + length])) if matches else None
            if new is None:
                continue
            raw = bytes(view[begin : begin + size])
            raw = renamed(raw, length_at - begin, start - begin, start + length - begin, new)
            is_changed = rewrites_all and block.layout.is_checksummed
            events_renamed[event] = with_checksum(raw) if is_changed else raw
    return events_renamed


class EventBytes:
    """The bytes of a block's events, as they appear in BINLOG statements.

    `block`: whole events.
    `replaced`: the bytes of some events, by event number.
    `data` (uint8 array): bytes of the block, followed by those of replaced events.
    `starts`, `sizes` (int64 arrays): position and size of each event in `data`.
    """

    def __init__(self, block: Block, replaced: Mapping[int, bytes]) -> None:
        self.data, self.starts, self.sizes = block.data, block.starts, block.sizes
        if replaced:
            events = list(replaced)
            sizes = np.array([len(raw) for raw in replaced.values()], dtype=np.int64)
            self.starts, self.sizes = block.starts.copy(), block.sizes.copy()
            self.starts[events] = len(block.data) + np.cumsum(sizes) - sizes
            self.sizes[events] = sizes
            added = np.frombuffer(b"".join(replaced.values()), dtype=np.uint8)
            self.data = np.concatenate((block.data, added))


class BlockColumns:
    """The columns of a block, and the programs that turn them into lines.

    `as_printed`: the bytes of the events for BINLOG statements.
    `inside`: which events are inside payloads.
    `header`: the fields of all events.
    `hexdumps`: hexdumps of the events, if they are shown.
    `programs`: line programs.
    `status`: numeric status variables of statements.
    """

    def __init__(
        self,
        block: Block,
        as_printed: EventBytes,
        inside: InsidePayloads,
        hexdump_style: HexdumpStyle | None = None,
    ) -> None:
        self.block = block
        self.as_printed = as_printed
        self.inside = inside
        self.pool = Pool()
        self.programs: list[LineProgram] = []
        self.status: dict[str, Ints] = {}
        self._columns: dict[int, BodyColumns] = {}
        header, count = block.header, len(block)
        timestamps = header.numbers("timestamp").astype(np.int64)
        positions, ends = (
            np.where(inside.is_inside, inside.payload_offsets, stated)
            for stated in (block.positions, header.numbers("next_position"))
        )
        self.header: dict[str, Field] = {
            "position": self.pool.numbers(positions, by_event=True),
            "time": text_of_seconds(self.pool, timestamps, timestamp, by_event=True),
            "seconds": self.pool.numbers(timestamps, by_event=True),
            "server_id": self.pool.numbers(header.numbers("server_id"), by_event=True),
            "end_position": self.pool.numbers(ends, by_event=True),
        }
        if block.layout.is_checksummed:
            sums = np.zeros(count, dtype=np.int64)
            is_there = np.flatnonzero(block.sizes >= block.header_length + CHECKSUM_SIZE)
            ends_there = (as_printed.starts + as_printed.sizes)[is_there]
            stored = np.empty(len(is_there), dtype=np.uint64)
            read_numbers.run(as_printed.data, ends_there - CHECKSUM_SIZE, 0, CHECKSUM_SIZE, False, stored)
            sums[is_there] = stored.view(np.int64)
            self.header["checksum"] = self.pool.hexadecimal(sums, by_event=True)
        self.hexdumps = None
        if hexdump_style is not None:
            bytes_of = as_printed.starts, as_printed.sizes
            self.hexdumps = self.pool.hexdumps(*bytes_of, positions, hexdump_style)

    def columns(self, kind: int) -> BodyColumns:
        """The fields of the events of a type."""
        if kind not in self._columns:
            self._columns[kind] = BodyColumns(kind, self.block, self.pool, self.header, self.status)
        return self._columns[kind]

    def number(self, program: LineProgram) -> int:
        """The number of a new program."""
        self.programs.append(program)
        return len(self.programs) - 1

    def show_bytes_at(self, events: Ints, others: Ints) -> None:
        """Show the bytes of some events as if they were at the positions of others."""
        if self.hexdumps is not None:
            positions = self.hexdumps.first[1::2]
            positions[events] = positions[others]
