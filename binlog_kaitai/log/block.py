"""A block: many events in one array, with the columns of their headers and bodies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Annotated, NamedTuple

import numpy as np

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Frame, resized
from binlog_kaitai.core.grammar import (
    BODIES,
    CHECKSUM_SIZE,
    EVENT_BODY,
    EVENT_HEADER,
    UNKNOWN_BODY,
    EventType,
    Format,
    Header,
    TableMapEvent,
    header_length,
    layouts,
    read_header,
)
from binlog_kaitai.core.rows_events import Pieces
from binlog_kaitai.errors import BinlogError, out_of_memory
from binlog_kaitai.kernels.arrays import WRITTEN, Bools, Bytes, Ints, OutInts
from binlog_kaitai.kernels.byte_kernels import NONE
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.gather import Gathered, LayoutField
from binlog_kaitai.log.mapped_memory import copied


@kernel
def divide(
    events: Frames,
    types: Bytes,
    before: int,
    after: int,
    counts: OutInts,
    order: OutInts,
    offsets: OutInts,
    lengths: OutInts,
) -> None:
    """Divide events by their type, and locate the bytes between their headers and checksums.

    `types`: the type of each event.
    `before`, `after`: length of a header, and of the checksum of an event that has one.
    `counts`, `order`: output: number of events of each type (256 entries), and event numbers grouped by type.
    `offsets`, `lengths`: output, in the same order: start of each body, and its length, which is negative if
    the event is too short.
    """
    starts, sizes, _, checksums, _ = events
    counts[:] = 0
    for event in range(types.shape[0]):
        counts[types[np.uint64(event)]] += 1
    # During the loop, `counts` holds the next output index of each type.
    offset = 0
    for kind in range(256):
        count = counts[kind]
        counts[kind] = offset
        offset += count
    for event in range(types.shape[0]):
        # With a signed index, Numba would generate code for negative indexes.
        here = np.uint64(event)
        kind = types[here]
        slot = np.uint64(counts[kind])
        counts[kind] += 1
        order[slot] = event
        offsets[slot] = starts[here] + before
        lengths[slot] = sizes[here] - before - (after if checksums[here] != NONE else 0)
    for kind in range(255, 0, -1):
        counts[kind] -= counts[kind - 1]


class Frames(NamedTuple):
    """Offset, length, type code and checksum state of many events, and which close tables, as arrays."""

    starts: Ints
    sizes: Ints
    codes: Bytes
    checksums: Bytes
    closes: Bools

    def part(self, begin: int, end: int) -> Frames:
        """A range of the frames."""
        return Frames._make(values[begin:end] for values in self)


OutFrames = Annotated[Frames, WRITTEN]


class Block:
    """Complete events of one format.

    `data`: the bytes; valid until the next block is requested, unless the reader shares its blocks.
    `starts`: offset of each event in `data`.
    `positions`, `end_positions`: start and end of each event in the file; for an event inside a payload,
    those of the payload.
    `sizes`: length of each event.
    `checksums`: checksum state of each event, see `byte_kernels.PENDING`.
    `closes`: whether an event closes all tables, see `context.TABLES_CLOSE`, whatever types a caller has
    replaced.
    `is_special`: the block consists of one event, which changes the format of the following events.
    `pieces`: pieces of a split rows event seen so far, for callers that process the blocks in order.
    `is_before_gtid`: the next event of the log is known to be a GTID event.
    `holders`: for blocks with expanded payloads (`payloads.expand`): the number of the event that contains
    each event, counted in the original block; -1 for events of the log itself.
    `rolled_back`: which events were rolled back, if any; see `rolled_back`.
    """

    def __init__(
        self,
        file: str,
        data: Bytes,
        position: int,
        frames: Frames,
        layout: Format,
        *,
        is_special: bool = False,
    ) -> None:
        self.file = file
        self.data = data
        self.frames = frames
        self.starts, self.sizes, self.codes, self.checksums, self.closes = frames
        self.layout = layout
        self.is_special = is_special
        self.pieces: Pieces | None = None
        self.is_before_gtid = False
        self.holders: Ints | None = None
        self.rolled_back: Bools | None = None
        self.positions = position + frames.starts
        self._bodies: dict[int, Gathered] = {}

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def header_length(self) -> int:
        """Length of the event headers, in bytes."""
        return header_length(self.layout.binlog_version) if self.is_special else self.layout.header_length

    @cached_property
    def header(self) -> Gathered:
        """Columns of the event headers."""
        return self._headers(self.starts)

    def header_of(self, rows: Ints) -> Gathered:
        """Columns of the headers of the given events (event numbers)."""
        return self._headers(self.starts[rows])

    def _headers(self, starts: Ints) -> Gathered:
        parameters = {"binlog_version": self.layout.binlog_version, "len_header": self.header_length}
        return Gathered(EVENT_HEADER, self.data, starts, self.header_length, parameters)

    @cached_property
    def end_positions(self) -> Ints:
        return self.positions + self.sizes

    @cached_property
    def types(self) -> Bytes:
        """Type code of each event, uint8, translated where the log uses other type numbers."""
        return _types(self.layout)[self.codes] if self.layout.has_permuted_types else self.codes

    @cached_property
    def counts(self) -> dict[int, int]:
        """Number of events of each type that occurs, ordered by type number."""
        counts, *_ = self._divided
        return {kind: int(counts[kind]) for kind in np.flatnonzero(counts).tolist()}

    @cached_property
    def _divided(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The result of `divide`, and the end of each type's range in it."""
        counts, (order, offsets, lengths) = np.empty(256, dtype=np.int64), np.empty((3, len(self)), np.int64)
        lengths_around = self.header_length, CHECKSUM_SIZE
        divide.run(self.frames, self.types, *lengths_around, counts, order, offsets, lengths)
        return counts, order, offsets, lengths, np.cumsum(counts)

    def _range_of(self, kind: int) -> slice:
        counts, *_, ends = self._divided
        return slice(ends[kind] - counts[kind], ends[kind])

    @cached_property
    def ranks(self) -> Ints:
        """For each event, the number of preceding events of its type, int64: its index in `rows_of`."""
        counts, order, *_, ends = self._divided
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[order] = np.arange(len(self)) - np.repeat(ends - counts, counts)
        return ranks

    @property
    def kinds(self) -> list[int]:
        """The types that occur, ordered by number."""
        return list(self.counts)

    def rows_of(self, kind: int) -> Ints:
        """Numbers of the events of a type, int64, in block order."""
        return self._divided[1][self._range_of(kind)]

    @cached_property
    def statements(self) -> Ints:
        """Numbers of the query events that are not just BEGIN or COMMIT, the most frequent statements."""
        rows = self.rows_of(EventType.query_event)
        return rows[~self.closes.take(rows)]

    @cached_property
    def statement_bodies(self) -> Gathered:
        """Columns of the bodies of `statements`."""
        return self.gather(EventType.query_event, self.statements)

    def body(self, kind: int) -> Gathered:
        """Columns of the bodies of all events of a type, up to the end of its record layout."""
        if kind not in self._bodies:
            self._bodies[kind] = self._gather(kind, self.rows_of(kind), *self._all_body_ranges(kind))
        return self._bodies[kind]

    def gather(self, kind: int, rows: Ints) -> Gathered:
        """Columns of the bodies of the given events of a type (event numbers)."""
        return self._gather(kind, rows, *self._body_ranges(rows))

    def _gather(self, kind: int, rows: Ints, starts: Ints, sizes: Ints) -> Gathered:
        parameters = _parameters(self.layout, kind, self._code(kind, rows))
        return Gathered(BODIES.get(kind, UNKNOWN_BODY), self.data, starts, sizes, parameters)

    def _code(self, kind: int, rows: Ints) -> int:
        """The type code of the given events of a type."""
        return int(self.codes[rows[0]]) if len(rows) else kind

    def all_body_ends(self, kind: int) -> Ints:
        """End offsets in `data` of the bodies of all events of a type, excluding checksums, int64."""
        starts, sizes = self._all_body_ranges(kind)
        return starts + sizes

    def body_ends(self, rows: Ints) -> Ints:
        """End offsets in `data` of the bodies of the given events, excluding checksums, int64."""
        starts, sizes = self._body_ranges(rows)
        return starts + sizes

    def _all_body_ranges(self, kind: int) -> tuple[Ints, Ints]:
        """Start offsets in `data` and lengths of the bodies of all events of a type, int64."""
        _, _, offsets, lengths, _ = self._divided
        return offsets[self._range_of(kind)], lengths[self._range_of(kind)]

    def _body_ranges(self, rows: Ints) -> tuple[Ints, Ints]:
        """Start offsets in `data` and lengths of the bodies of the given events, int64."""
        around = self.header_length + CHECKSUM_SIZE * (self.checksums[rows] != NONE)
        return self.starts[rows] + self.header_length, self.sizes[rows] - around

    def offset(self, kind: int, path: str) -> int | None:
        """Offset of a body field within every event of a type; None if it varies."""
        code = self._code(kind, self.rows_of(kind))
        offset = offset_of(self.layout, kind, code, path)
        return None if offset is None else self.header_length + offset

    def part(self, begin: int, end: int) -> Block:
        """A range of the events, sharing the array."""
        return self.chosen(slice(begin, end))

    def chosen(self, rows: Ints | Bools | slice) -> Block:
        """The given events (event numbers, or a slice), sharing the array."""
        frames = Frames._make(values[rows] for values in self.frames)
        part = Block(self.file, self.data, 0, frames, self.layout, is_special=self.is_special)
        part.pieces = self.pieces
        part.positions = self.positions[rows]
        if "end_positions" in vars(self):
            part.end_positions = self.end_positions[rows]
        if "types" in vars(self):
            part.types = self.types[rows]  # a caller may have replaced them
        part.holders = None if self.holders is None else self.holders[rows]
        part.rolled_back = None if self.rolled_back is None else self.rolled_back[rows]
        return part

    def moved_to(self, outer: Block, holders: Ints) -> Block:
        """The events with the positions of those that contain them."""
        moved = self.part(0, len(self))
        moved.holders = holders
        moved.positions, moved.end_positions = outer.positions[holders], outer.end_positions[holders]
        return moved

    def raw(self, row: int) -> bytes:
        """All bytes of one event."""
        start = int(self.starts[row])
        return copied(self.data, start, start + int(self.sizes[row]))

    def fixed_header(self, row: int) -> Header:
        """Header of one event."""
        start, version = int(self.starts[row]), self.layout.binlog_version
        return read_header(bytes(self.data[start : start + header_length(version)]), version)

    def locate(self, row: int, error: BinlogError) -> BinlogError:
        """Add the position and type of an event to an error, without the event's bytes."""
        kind = type_name(int(self.types[row]))
        return error.at(file=self.file, position=int(self.positions[row]), event_type=kind)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Turn a MemoryError from processing the block into an error that names its longest event."""
        try:
            yield
        except MemoryError as error:
            raise self.locate(int(np.argmax(self.sizes)), out_of_memory(error)) from error

    def head(self, row: int) -> ParsedEvent:
        """An event that matches its layout, without the bytes of a trailing variable-length field."""
        kind = int(self.types[row])
        body = self.body(kind)
        fields: tuple[LayoutField, ...] = body.layout.fields
        runs = [field for field in fields if isinstance(field, layouts.Run) and field.size is None]
        paths = [field.path for field in runs if not field.is_structure]
        start, end, index = int(self.starts[row]), int(self.starts[row] + self.sizes[row]), self.ranks[row]
        offset, after = end, end
        if paths:
            offset, length = (int(values[index]) for values in body.ranges(paths[-1]))
            after = offset + length
        raw = bytes(self.data[start:offset]) + bytes(self.data[after:end])
        return self._event(row, resized(raw, len(raw)))

    def event(self, row: int, table_map: TableMapEvent | None = None, checksum: str = "none") -> ParsedEvent:
        """An event as the event reader returns it."""
        return self._event(row, self.raw(row), table_map, checksum)

    def _event(
        self, row: int, raw: bytes, table_map: TableMapEvent | None = None, checksum: str = "none"
    ) -> ParsedEvent:
        frame = Frame(int(self.positions[row]), read_header(raw, self.layout.binlog_version), raw)
        layout = (
            self.layout if self.checksums[row] != NONE or self.is_special else self.layout.without_checksums()
        )
        return ParsedEvent(self.file, frame, layout, table_map, checksum)


@lru_cache
def _types(layout: Format) -> Bytes:
    """The type that each type code stands for."""
    return np.array([layout.effective_type(code) for code in range(256)], dtype=np.uint8)


@lru_cache
def _parameters(layout: Format, kind: int, code: int) -> dict[str, int | bool]:
    """The parameters of a body, including those derived by the router; the same for all events of a type."""
    parameters: dict[str, int | bool] = {
        "type_code": kind,
        "binlog_version": layout.binlog_version,
        "len_post_header": layout.post_header_length_of(code),
    }
    nothing = np.zeros(1, dtype=np.int64)
    router = Gathered(EVENT_BODY, nothing.view(np.uint8), nothing, nothing, parameters)
    return parameters | {field.path: router[field.path] for field in EVENT_BODY.fields}


@lru_cache
def offset_of(layout: Format, kind: int, code: int, path: str) -> int | None:
    """Offset of a field within a body, if it does not depend on the content of the body."""
    nothing = np.zeros(1, dtype=np.int64)
    parameters = _parameters(layout, kind, code)
    body = Gathered(BODIES.get(kind, UNKNOWN_BODY), nothing.view(np.uint8), nothing, nothing, parameters)
    return body.offset(path)
