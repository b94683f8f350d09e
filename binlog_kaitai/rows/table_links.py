"""Links each rows event of a block to its table map, and equal table maps to the first of them.

One pass over the events of a block, by a kernel: table ids and the contents of table maps are compared where
they are in the block. Some events close all tables: after them, earlier table maps no longer apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from binlog_kaitai.core.context import MAX_TABLE_MAPS
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, ROWS_TYPES, EventType, Format
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints, Number, OutInts
from binlog_kaitai.kernels.byte_kernels import NONE, are_equal, hash_of, read_u8
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.log.block import Block, offset_of

#: Roles of event types in `link_events`.
_MAP, _ROWS, _PAYLOAD = 1, 2, 3

#: What the hash table has instead of an event: earlier than all of them, see `Links.of_events`.
_EMPTY, _NEVER = -(1 << 62), -(1 << 61)

#: Number of entries of the hash table at first; more than half are never used.
_FIRST_ENTRIES = 1 << 10

#: Spreads table ids, which a hostile writer may have chosen, over the hash table.
_PRIME = (1 << 20) - 3

#: Number of different hashes of contents.
_KEYS = np.uint64(1 << 62)

#: Length of what is read for a table id; every whole event has as much after its header.
_READ = 8


class LinkedEvents(NamedTuple):
    """The events of a block, as its attributes; `holders` is empty if the block has none."""

    data: Bytes
    starts: Ints
    sizes: Ints
    checksums: Bytes
    types: Bytes
    closes: Bools
    holders: Ints


class IdFields(NamedTuple):
    """For each event type: its role, and the offsets in an event of its table id and after it."""

    roles: Bytes
    starts: Ints
    ends: Ints


class TableIds(NamedTuple):
    """A hash table of table ids, or others: the newest table map of each, its event and number (`Links`)."""

    ids: OutInts
    events: OutInts
    numbers: OutInts

    @classmethod
    def of_size(cls, size: int) -> TableIds:
        """An undefined one; `size` is a power of two."""
        return cls(*np.empty((3, size), dtype=np.int64))


class Links(NamedTuple):
    """The table maps of a block, and which table map each rows event refers to.

    `firsts`: numbers of the table maps that differ from most before them in what follows the id, ascending.
    `of_events`: for each table map, the index in `firsts` of the first equal one; for each rows event, that
    of its table map, or a negative number: -1 if it has none, as for all other events; -2 for the newest
    table map of earlier blocks, -3 for the one before.
    """

    firsts: OutInts
    of_events: OutInts


@inlined
def _find(ids: TableIds, table_id: Number) -> Number:
    """Index of the entry of a table id, or of the free one for it."""
    last = ids.ids.shape[0] - 1
    index = table_id % _PRIME & last
    while ids.events[np.uint64(index)] != _EMPTY and ids.ids[np.uint64(index)] != table_id:
        index = (index + 1) & last
    return np.uint64(index)


@inlined
def _table_id(events: LinkedEvents, fields: IdFields, event: Number) -> Number:
    """The table id of a table map or rows event; -1 if it is too short."""
    kind = events.types[event]
    before, width = fields.starts[kind], fields.ends[kind] - fields.starts[kind]
    id_at = events.starts[event] + before
    if width > events.sizes[event] - before or not 0 <= id_at <= events.data.shape[0] - _READ:
        return np.int64(-1)
    unused = np.uint64(8 * (_READ - width))
    return np.int64(read_u8(events.data, np.uint64(id_at)) << unused >> unused)


@inlined
def _end(events: LinkedEvents, event: Number) -> Number:
    """Where an event ends, without its checksum."""
    size = events.sizes[event] - (CHECKSUM_SIZE if events.checksums[event] != NONE else 0)
    return events.starts[event] + size


def _are_equal_maps(events: LinkedEvents, content_at: Number, first: Number, second: Number) -> bool:
    """Whether two table maps are equal from an offset on."""
    start, other = events.starts[first] + content_at, events.starts[second] + content_at
    size = _end(events, first) - start
    return size == _end(events, second) - other and are_equal(events.data, start, events.data, other, size)


@kernel
def link_events(
    events: LinkedEvents,
    fields: IdFields,
    resets: Ints,
    known: Ints,
    is_after: bool,
    ids: TableIds,
    contents: TableIds,
    out: Links,
) -> Number:
    """Fill `Links` for a block.

    `resets`: events after which a table map is not the same as an equal one before, ascending.
    `known`: the ids of table maps of earlier blocks, the newest last.
    `is_after`: the last event of the log before the block is a payload.
    `ids`, `contents`: output: the newest table map of each id, and by a hash of its content. If `contents`
    has no entries, table maps with different ids are never equal.
    Returns (the number of `firsts`, or -1 if the hash tables are too small; the event from which on table
    maps are in force at the end of the block, with -1 for the last before the block; `is_after` for the next
    block).
    """
    ids.events[:] = _EMPTY
    contents.events[:] = _EMPTY
    used = known.shape[0]
    count = base = reset = 0
    since: Number = np.int64(_NEVER)
    if 2 * used > ids.ids.shape[0]:
        return -1, since, is_after
    for index in range(known.shape[0]):
        entry: Number = _find(ids, known[index])
        ids.ids[entry] = known[index]
        ids.events[entry] = ids.numbers[entry] = index - known.shape[0] - 1
    for event in range(events.starts.shape[0]):
        # With a signed index, Numba would generate code for negative indexes.
        here = np.uint64(event)
        kind = events.types[here]
        role = fields.roles[kind]
        is_of_log = events.holders.shape[0] == 0 or events.holders[here] < 0
        if events.closes[here] or (is_after and is_of_log):
            since = np.int64(event)
        if is_of_log:
            is_after = role == _PAYLOAD
        if reset < resets.shape[0] and resets[reset] <= event:
            reset += 1
            base = count
        out.of_events[here] = -1
        if role != _MAP and role != _ROWS:
            continue
        table_id = _table_id(events, fields, here)
        entry = _find(ids, table_id)
        newest: Number = ids.events[entry]
        number: Number = np.int64(-1) if newest == _EMPTY else ids.numbers[entry]
        if role == _ROWS:
            out.of_events[here] = number if newest >= since else -1
            continue
        content_at, same = fields.ends[kind], np.uint64(0)
        if number >= base:
            first = np.uint64(out.firsts[np.uint64(number)])
            number = number if _are_equal_maps(events, content_at, first, here) else np.int64(-1)
        is_sought = number < base and contents.ids.shape[0] > 0
        if is_sought:
            key = np.int64(hash_of(events.data, events.starts[here] + content_at, _end(events, here)) % _KEYS)
            same = _find(contents, key)
            if contents.events[same] != _EMPTY and contents.numbers[same] >= base:
                number = contents.numbers[same]
                first = np.uint64(out.firsts[np.uint64(number)])
                number = number if _are_equal_maps(events, content_at, first, here) else np.int64(-1)
            contents.ids[same], contents.events[same] = key, event
        if number < base:
            number = np.int64(count)
            out.firsts[np.uint64(count)] = event
            count += 1
        if is_sought:
            contents.numbers[same] = number
        used += newest == _EMPTY
        if 2 * max(used, count) > ids.ids.shape[0]:
            return -1, since, is_after
        ids.ids[entry], ids.events[entry], ids.numbers[entry] = table_id, event, number
        out.of_events[here] = number
    return count, since, is_after


_Map = TypeVar("_Map")


class MapsInForce(Generic[_Map]):
    """What the table ids of a log stand for, block by block.

    `known`: by id, those of the table maps of earlier blocks that are still in force, the newest last.
    `is_after_payload`: the last event of the log before the next block is a payload.
    `by_id`: table maps with different ids are never equal.
    """

    def __init__(
        self, known: dict[int, _Map] | None = None, *, is_after_payload: bool = False, by_id: bool = False
    ) -> None:
        self.known = {} if known is None else known
        self._is_after_payload, self._by_id = is_after_payload, by_id
        self._set_size(_FIRST_ENTRIES)

    def _set_size(self, size: int) -> None:
        self._ids, self._contents = TableIds.of_size(size), TableIds.of_size(0 if self._by_id else size)

    def link(self, block: Block, statements: Sequence[int] = ()) -> Links:
        """The links of the next block; `statements` may change what a table map stands for, ascending."""
        holders = np.zeros(0, dtype=np.int64) if block.holders is None else block.holders
        events = LinkedEvents(
            block.data, block.starts, block.sizes, block.checksums, block.types, block.closes, holders
        )
        resets, known = np.array(statements, dtype=np.int64), np.array(list(self.known), dtype=np.int64)
        links = Links(*np.empty((2, len(block)), dtype=np.int64))
        own = events, _id_fields(block.layout), resets, known, self._is_after_payload
        while (result := link_events.run(*own, self._ids, self._contents, links))[0] < 0:
            self._set_size(4 * len(self._ids.ids))
        count, self._since, self._is_after_payload = result
        return links._replace(firsts=links.firsts[:count])

    def end(self, value: Callable[[int], _Map]) -> None:
        """End a block after `link`; `value`: what to keep of a table map, by its index in `firsts`."""
        in_force = np.flatnonzero(self._ids.events >= self._since)
        newest = in_force[np.argsort(self._ids.events[in_force])][-MAX_TABLE_MAPS:]
        earlier = [*self.known.values()]
        entries = zip(self._ids.ids[newest].tolist(), self._ids.numbers[newest].tolist(), strict=True)
        self.known = {
            table_id: earlier[number + 1] if number < 0 else value(number) for table_id, number in entries
        }


@lru_cache
def _id_fields(layout: Format) -> IdFields:
    fields = IdFields(np.zeros(256, dtype=np.uint8), *np.zeros((2, 256), dtype=np.int64))
    fields.roles[EventType.transaction_payload_event] = _PAYLOAD
    for code in range(256):
        kind = layout.effective_type(code)
        if kind == EventType.table_map_event or kind in ROWS_TYPES:
            start, end = (offset_of(layout, kind, code, path) for path in ("table_id.low", "flags"))
            if start is not None and end is not None:
                fields.roles[kind] = _ROWS if kind in ROWS_TYPES else _MAP
                fields.starts[kind], fields.ends[kind] = np.array((start, end)) + layout.header_length
    return fields
