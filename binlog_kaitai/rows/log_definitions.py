"""Finds the definitions of a table in logs before any of its rows is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, Format, header_length, header_offset
from binlog_kaitai.ddl.definitions import SeriesDefinitions
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import NONE, PENDING, read_u8
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.log.block import Frames, offset_of
from binlog_kaitai.log.block_reader import FULL, SPECIAL, BlockReader, find_events, size_of_event
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.rows.closings import LIMITS, WORDS, ends_with
from binlog_kaitai.rows.tables import Table, Tables
from binlog_kaitai.sources.remote import is_url
from binlog_kaitai.sources.source import Source

#: What an event means for definitions, see `find_defining`.
_NOTHING, _MAP, _STATEMENT, _MAY_DEFINE, _PIECE = range(5)
_ROLES: dict[int, int] = {
    EventType.table_map_event: _MAP,
    EventType.query_event: _STATEMENT,
    EventType.query_compressed_event: _MAY_DEFINE,
    EventType.transaction_payload_event: _MAY_DEFINE,
    EventType.partial_row_data_event: _PIECE,
}

#: Number of distinct table maps that are compared with the next one.
_RECENT = 16

#: Length of the longest table map that is compared.
_LONGEST = 1 << 12

#: Why framing stopped, like `frame_kernels.MORE`: the next event is a piece of a rows event.
_PIECES = 4


def tables_of(sources: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    """Every definition of a table, ``schema.table``, in log order, possibly with duplicates.

    Damage ends the search in a log; it is reported when the rows are read.
    """
    definitions = SeriesDefinitions(ddl)
    nothing = np.zeros(0, dtype=np.int64)
    for source in sources:
        tables: Tables | None = None
        seen: set[int] = set()
        try:
            with source.open() as stream:
                # Checksums are verified when the rows are read.
                for block in BlockReader.of_file(
                    stream, source.name, leaves_checks=True, finder=DefiningEvents()
                ):
                    if tables is None:
                        tables = Tables(definitions.of(source.name, block.fixed_header(0).server_id))
                    for part in expand(block):
                        for table in tables.take(part, nothing, nothing)[0]:
                            if isinstance(table, Table) and table.schema.full_name == name:
                                if id(table) not in seen:
                                    yield table
                                seen.add(id(table))
        except (BinlogError, OSError):
            continue


class DefiningEvents:
    """Frames the events of a log that may define a table, or contain events that may.

    From the first piece of a rows event on, all events are framed, so that missing pieces end the search.
    """

    def __init__(self) -> None:
        self._layout: Format | None = None
        self._takes_all = False
        # The latest distinct table maps: their number, lengths and contents.
        self._count = np.zeros(1, dtype=np.int64)
        self._lengths = np.zeros(_RECENT, dtype=np.int64)
        self._contents = np.zeros((_RECENT, _LONGEST), dtype=np.uint8)

    def __call__(
        self,
        data: Bytes,
        at: int,
        end: int,
        layout: Format,
        special: Bools,
        *,
        room: Frames,
        max_event_size: int,
        leaves_checks: bool,
    ) -> tuple[Frames, int, int]:
        """The arguments and result of `find_events`."""
        count = 0
        if not self._takes_all:
            count, at, why = self._find(data, at, end, layout, special, room, max_event_size)
            if why != _PIECES:
                return room.part(0, count), at, why
            self._takes_all = True
        rest, at, why = find_events(
            data,
            at,
            end,
            layout,
            special,
            room=room.part(count, len(room.starts)),
            max_event_size=max_event_size,
            leaves_checks=leaves_checks,
        )
        return room.part(0, count + len(rest.starts)), at, why

    def _find(
        self, data: Bytes, at: int, end: int, layout: Format, special: Bools, room: Frames, max_size: int
    ) -> tuple[int, int, int]:
        if layout is not self._layout:
            self._layout = layout
            self._count[0] = 0
        header = header_length(layout.binlog_version), header_offset("len_event"), header_offset("type_code")
        roles, content = _roles(layout)
        after = CHECKSUM_SIZE if layout.is_checksummed else 0
        maps = self._count, self._lengths, self._contents
        count, at, why = find_defining.run(
            data, at, end, *header, special, max_size, roles, content, after, WORDS, LIMITS, *maps, *room[:3]
        )
        room.checksums[:count] = PENDING if layout.is_checksummed else NONE
        return count, at, why


@lru_cache
def _roles(layout: Format) -> tuple[Any, int]:
    """The role of each type code, and where a table map's content begins after its header and table id."""
    kinds = [layout.effective_type(code) for code in range(256)]
    kind = EventType.table_map_event
    content = offset_of(layout, kind, kinds.index(kind), "flags") if kind in kinds else 0
    roles = np.array([_ROLES.get(kind, _NOTHING) for kind in kinds], dtype=np.uint8)
    return roles, layout.header_length + (content or 0)


@kernel
def find_defining(
    data: Bytes,
    at: int,
    end: int,
    header_length: int,
    size_at: int,
    type_at: int,
    special: Bools,
    max_size: int,
    roles: Bytes,
    content: int,
    after: int,
    words: Bytes,
    limits: Ints,
    known: Ints,
    lengths: Ints,
    contents: Bytes,
    starts: Ints,
    sizes: Ints,
    codes: Bytes,
) -> Any:
    """Like `frame`, for events that may define a table; skips repeated table maps, BEGIN and COMMIT.

    Parameters
    ----------
    roles
        Role of each type code.
    content, after
        Offset in a table map of its content after the table id, and length of a checksum.
    words, limits
        Statements that define nothing, each with the zero byte before it, and the offsets between them.
    known, lengths, contents
        Number (one element), lengths and bytes of the latest distinct table maps, kept from call to call.

    Returns
    -------
    The result of `frame`; _PIECES before a piece of a rows event.
    """
    count = 0
    while True:
        size = size_of_event(data, at, end, header_length, size_at, type_at, max_size)
        if size < 0:
            return count, at, ~size
        code = data[np.uint64(at + type_at)]
        if special[code]:
            return count, at, SPECIAL
        role = roles[code]
        is_new = role != _NOTHING
        if role == _PIECE:
            return count, at, _PIECES
        if role == _STATEMENT:
            is_new = not ends_with(data, at, at + size - after, words, limits)
        elif role == _MAP:
            is_new = not _is_known(data, at + content, at + size - after, known[0], lengths, contents)
        if is_new:
            if count == starts.shape[0]:
                return count, at, FULL
            starts[count] = at
            sizes[count] = size
            codes[count] = code
            count += 1
            if role == _MAP:
                _remember(data, at + content, at + size - after, known, lengths, contents)
            else:
                # After a statement, the same table map may have another definition.
                known[0] = 0
        at += size


@kernel
@inlined
def _is_known(data: Bytes, start: int, end: int, known: int, lengths: Ints, contents: Bytes) -> bool:
    """Whether a table map, which is within `data`, is among the latest ones."""
    length = end - start
    for number in range(min(known, contents.shape[0])):
        if lengths[number] != length:
            continue
        other = contents[number]
        step = 0
        while step + 8 <= length and (
            read_u8(data, np.uint64(start + step)) == read_u8(other, np.uint64(step))
        ):
            step += 8
        while step < length and data[np.uint64(start + step)] == other[np.uint64(step)]:
            step += 1
        if step == length:
            return True
    return False


@kernel
def _remember(data: Bytes, start: int, end: int, known: Ints, lengths: Ints, contents: Bytes) -> None:
    """Add a table map to the latest ones, in place of the oldest, unless it is very long."""
    length = end - start
    if 0 <= length <= contents.shape[1]:
        number = known[0] % contents.shape[0]
        lengths[number] = length
        for step in range(length):
            contents[number, step] = data[start + step]
        known[0] += 1


def is_readable_again(source: Source) -> bool:
    """Whether a log can be opened repeatedly; stdin and pipes cannot."""
    if source.path is None:
        return source.name == "<bytes>"
    return is_url(source.path) or os.path.isfile(source.path)
