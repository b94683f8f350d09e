"""The columns from which the text of a block is built: fields of headers, and fields of bodies by type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.kernels.arrays import Ints, Unsigned, view_of
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.line_arrays import Field, LineProgram, Pool, TextColumn
from binlog_kaitai.log.payloads import PayloadHeaders, payload_headers
from binlog_kaitai.log.text_kernels import BYTES, HexdumpStyle, find_clean
from binlog_kaitai.render.dump.client_values import second_of, timestamp
from binlog_kaitai.render.dump.opened_payloads import InsidePayloads
from binlog_kaitai.render.dump.printed_event import FIELDS, InLines, renamed, with_checksum

#: Offset of the length of the database name, by type of event; in statements only checksums change.
_LENGTHS: dict[int, str] = {
    EventType.table_map_event: "len_schema_name.first",
    EventType.query_event: "len_schema_name",
}


class RenamedBytes:
    """The bytes of a block's events, as they appear in BINLOG statements.

    `block`: whole events.
    `names`: new names by old names.
    `rewrites_all`: see `Printer.rewrites_all`.
    `keeps_all`: also keep the bytes of statements, not only their checksums.
    `data` (uint8 array): bytes of the block, followed by those of rewritten events.
    `starts`, `sizes` (int64 arrays): position and size of each event in `data`.
    `checksums`: recomputed checksums, by event index.
    """

    def __init__(
        self, block: Block, names: Mapping[bytes, bytes], *, rewrites_all: bool, keeps_all: bool = False
    ) -> None:
        self.data, self.starts, self.sizes = block.data, block.starts, block.sizes
        self.checksums: dict[int, int] = {}
        if not names:
            return
        self.starts, self.sizes = block.starts.copy(), block.sizes.copy()
        self._after: list[bytes] = []
        self._at, self._keeps_all = len(block.data), keeps_all
        makes_checksums = rewrites_all and block.layout.is_checksummed
        is_of_all = makes_checksums or (rewrites_all and keeps_all)
        for kind in _LENGTHS if is_of_all else (EventType.table_map_event,):
            self._rename(block, kind, names, makes_checksums=makes_checksums)
        added = np.frombuffer(b"".join(self._after), dtype=np.uint8)
        self.data = np.concatenate((block.data, added)) if len(added) else block.data

    def _rename(
        self, block: Block, kind: int, names: Mapping[bytes, bytes], *, makes_checksums: bool
    ) -> None:
        events, body = block.rows_of(kind), block.body(kind)
        if not len(events) or "schema_name" not in body:
            return
        starts, lengths = body.ranges("schema_name")
        lengths_at = body.positions(_LENGTHS[kind])
        columns = (
            events,
            block.starts[events],
            block.sizes[events],
            lengths_at,
            starts,
            lengths,
            body.matches,
        )
        view, is_kept = view_of(block.data), kind == EventType.table_map_event or self._keeps_all
        for event, begin, size, length_offset, start, length, matches in zip(
            *(values.tolist() for values in columns), strict=True
        ):
            new = names.get(bytes(view[start : start + length])) if matches else None
            if new is None:
                continue
            raw = bytes(view[begin : begin + size])
            raw = renamed(raw, length_offset - begin, start - begin, start + length - begin, new)
            if makes_checksums:
                raw, self.checksums[event] = with_checksum(raw)
            if is_kept:
                self.starts[event], self.sizes[event] = self._at, len(raw)
                self._after.append(raw)
                self._at += len(raw)


_MILLION = 10**6


class BlockColumns:
    """The columns of a block, and the programs that turn them into lines.

    `as_printed`: the bytes of the events for BINLOG statements.
    `inside`: which events are inside payloads, if these were opened.
    `header`: the fields of all events.
    `hexdumps`: hexdumps of the events, if they are shown.
    `programs`: line programs.
    `status`: numeric status variables of statements.
    """

    def __init__(
        self,
        block: Block,
        as_printed: RenamedBytes,
        inside: InsidePayloads | None = None,
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
        positions, ends = block.positions, header.numbers("next_position")
        if inside is not None:
            positions, ends = (
                np.where(inside.is_inside, inside.payload_offsets, reported) for reported in (positions, ends)
            )
        self.header: dict[str, Field] = {
            "position": self.pool.numbers(positions, by_event=True),
            "time": _seconds(self.pool, timestamps, timestamp, by_event=True),
            "seconds": self.pool.numbers(timestamps, by_event=True),
            "server_id": self.pool.numbers(header.numbers("server_id"), by_event=True),
            "end_position": self.pool.numbers(ends, by_event=True),
        }
        if block.layout.is_checksummed:
            sums = np.zeros(count, dtype=np.int64)
            is_there = np.flatnonzero(block.sizes >= block.header_length + CHECKSUM_SIZE)
            payload_offsets = block.sizes[is_there] - CHECKSUM_SIZE
            sums[is_there] = block.numbers_at(is_there, payload_offsets, CHECKSUM_SIZE).view(np.int64)
            if as_printed.checksums:
                sums[list(as_printed.checksums)] = list(as_printed.checksums.values())
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

    def is_inside(self, event: int) -> bool:
        """Whether an event is inside a payload."""
        return self.inside is not None and bool(self.inside.is_inside[event])

    def opens_payload(self, event: int) -> bool:
        """Whether the events inside follow an event."""
        return self.inside is not None and bool(self.inside.opens[event])

    def number(self, program: LineProgram) -> int:
        """The number of a new program."""
        self.programs.append(program)
        return len(self.programs) - 1

    def show_bytes_at(self, events: Ints, others: Ints) -> None:
        """Show the bytes of some events as if they were at the positions of others."""
        if self.hexdumps is not None:
            positions = self.hexdumps.first[1::2]
            positions[events] = positions[others]


class BodyColumns:
    """The fields of the events of one type, each computed on first use.

    It does not refer to its `BlockColumns`: such a cycle would keep the memory of block after block.
    """

    def __init__(
        self, kind: int, block: Block, pool: Pool, header: dict[str, Field], status: dict[str, Ints]
    ) -> None:
        self.pool, self.status = pool, status
        self.body = block.body(kind)
        self._kind, self._block, self._header = kind, block, header
        self._fields: dict[str, Field] = {}

    def __getitem__(self, name: str) -> Field:
        if name in self._header:
            return self._header[name]
        if name not in self._fields:
            self._fields[name] = FIELDS[self._kind][name].column(self)
        return self._fields[name]

    def payload_headers(self) -> PayloadHeaders:
        """The header fields of transaction payloads."""
        return payload_headers(self._block, self._block.rows_of(self._kind))

    def moments(self, micros: Unsigned) -> Field:
        """Microseconds since 1970-01-01 UTC as `text.microseconds` writes them."""
        moments = micros.astype(np.int64)
        seconds = moments // _MILLION
        second = _seconds(self.pool, seconds, lambda one: second_of(one)[0])
        zone = _seconds(self.pool, seconds, lambda one: second_of(one)[1])
        return second, b".", self.pool.fractions(moments - seconds * _MILLION), b" ", zone

    def lines(self, starts: Ints, lengths: Ints, field: InLines) -> Field:
        """Bytes split over lines: unchanged from the block, or converted if some need escaping."""
        data = self._block.data
        starts, lengths = np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64)
        is_plain = np.array([byte not in field.special for byte in range(256)], dtype=np.bool_)
        clean = np.empty(len(starts), dtype=np.bool_)
        find_clean.run(data, starts, lengths, is_plain, clean)
        clean &= lengths > 0
        for row in np.flatnonzero(~clean).tolist():
            text = field.make(bytes(data[starts[row] : starts[row] + lengths[row]]))
            offset, lengths[row] = self.pool.add(text)
            starts[row] = -offset - 1
        codes = clean.astype(np.int64)
        front, end = (self.pool.choice(codes, [b"", text]) for text in (field.front, b"\n"))
        return front, TextColumn(BYTES, starts, lengths), end


def _seconds(
    pool: Pool, seconds: Ints, text: Callable[[int], bytes], *, by_event: bool = False
) -> TextColumn:
    """Apply a function of seconds; consecutive values are often the same."""
    changes = np.flatnonzero(np.diff(seconds, prepend=seconds[:1] - 1))
    texts = [text(second) for second in seconds[changes].tolist()]
    codes = np.repeat(np.arange(len(changes)), np.diff(changes, append=len(seconds)))
    return pool.choice(codes, texts, by_event=by_event)
