"""The shapes of a block's events: everything that affects an event's text, besides the fields of templates.

Events of the same shape print the same from the same state, except for the fields of templates, and lead to
the same state. This module therefore lists, for each type, what `printer` and its variants read other than
through a field. Types that are not listed are rare and are printed one by one.

The status variables of most statements differ only in a fractional second or a transaction number. The
grammar parses each such :class:`_Template` once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.rows_events import Pieces
from binlog_kaitai.core.tree import extents
from binlog_kaitai.dump.block_columns import BlockColumns
from binlog_kaitai.dump.block_rows import BlockTableMaps, RowsEvents, combined
from binlog_kaitai.dump.printed_event import MICROSECONDS, XIDS
from binlog_kaitai.dump.selection import HiddenEvents
from binlog_kaitai.dump.statement_settings import (
    ends_group,
    is_transaction_keyword,
    is_two_phase,
    starts_group,
)
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import BAD, read_numbers
from binlog_kaitai.kernels.groups import distinct, group_ranges
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Stated
from binlog_kaitai.log.gather import Gathered, take_ranges
from binlog_kaitai.log.payloads import payload_headers

#: Number of templates that are cached.
_MOST_TEMPLATES = 1 << 10
#: Maximum number of new templates in a block; statements beyond it are printed one by one.
_NEW = 64
#: Longer status variables are not matched, in bytes.
_LONGEST = 1 << 10
_MILLION = 10**6
_ALTER = "mariadb_gtid_flags3"
#: Beginnings of statements that may affect transactions.
_WORDS = [np.frombuffer(word, dtype=np.uint8) for word in (b"BEG", b"COM", b"SAV", b"ROL", b"XA ")]


class _Template(NamedTuple):
    """Status variables, with the offsets of the parts that vary: -1 for none."""

    number: int
    content: Bytes
    is_fixed: Bools
    fraction_at: int
    xid_at: int
    is_usual: bool


class StatusTemplates:
    """The status variables seen so far."""

    def __init__(self) -> None:
        self._known: dict[int, list[_Template]] = {}

    def match(self, block: Block, events: Ints, body: Gathered) -> tuple[Ints, Ints, Ints]:
        """For each statement, the template (-1 for none), the microseconds, and the transaction number."""
        if sum(map(len, self._known.values())) >= _MOST_TEMPLATES:
            self._known.clear()
        data, matches, (starts, lengths) = block.data, body.matches, body.ranges("status_vars")
        template_of, fractions, xids = (np.full(len(matches), -1, dtype=np.int64) for _ in range(3))
        new = 0
        for length in np.flatnonzero(np.bincount(lengths[matches])).tolist():
            rows = np.flatnonzero(matches & (lengths == length))
            if length > _LONGEST:
                continue
            known = self._known.setdefault(length, [])
            contents = take_ranges(data, starts[rows], lengths[rows])[0].reshape(len(rows), length)
            tried = 0
            while len(rows):
                if tried == len(known):
                    new += 1
                    template = self._read(block, int(events[rows[0]]), contents[0]) if new < _NEW else None
                    if template is None:
                        break
                    known.append(template)
                template = known[tried]
                tried += 1
                is_same = ((contents == template.content) | ~template.is_fixed).all(axis=1)
                if not is_same.any():
                    continue
                same = rows[is_same]
                if template.is_usual:
                    template_of[same] = template.number
                    parts = (template.fraction_at, 3, fractions), (template.xid_at, 8, xids)
                    for offset, size, out in parts:
                        if offset >= 0:
                            out[same] = values = _numbers(data, starts[same] + offset, size)
                            # Forms that servers do not write are printed one by one.
                            template_of[same[(values < 0) | (out is fractions) & (values >= _MILLION)]] = -1
                rows, contents = rows[~is_same], contents[~is_same]
        return template_of, fractions, xids

    def _read(self, block: Block, event: int, content: Bytes) -> _Template | None:
        try:
            variables = block.event(event).body.status_vars
        except BinlogError:
            return None
        offsets = {"fraction": -1, "xid": -1}
        is_fixed = np.ones(len(content), dtype=np.bool_)
        is_usual = variables is not None
        for variable in variables.variables if variables is not None else ():
            name = getattr(variable.key, "name", "")
            field = "microseconds" if name in MICROSECONDS else "xid" if name in XIDS else None
            if name == _ALTER and is_two_phase(variable.value):
                is_usual = False
            if field is None:
                continue
            which = "xid" if name in XIDS else "fraction"
            start, end, _ = extents(variable.value)[field]
            assert end is not None
            (stated,) = _numbers(content, np.array([start]), end - start)
            is_usual &= offsets[which] < 0 and stated == getattr(variable.value, field)
            offsets[which] = start
            is_fixed[start:end] = False
        number = sum(map(len, self._known.values()))
        return _Template(number, content.copy(), is_fixed, offsets["fraction"], offsets["xid"], is_usual)


def _numbers(data: Bytes, offsets: Ints, size: int) -> Ints:
    numbers = np.zeros(len(offsets), dtype=np.uint64)
    read_numbers.run(data, offsets, 0, size, False, numbers)
    return numbers.view(np.int64)


def meanings(data: Bytes, starts: Ints, lengths: Ints) -> Ints:
    """A number for each statement, equal for statements with the same effect on their transaction."""
    numbers = np.zeros(len(starts), dtype=np.int64)
    long = np.flatnonzero(lengths >= 3)
    first = take_ranges(data, starts[long], np.full(len(long), 3))[0].reshape(-1, 3)
    upper = np.where((first >= ord("a")) & (first <= ord("z")), first - 32, first)
    long = long[np.any([(upper == word).all(axis=1) for word in _WORDS], axis=0)]
    if not len(long):
        return numbers
    firsts, which = distinct(group_ranges(data, starts[long], starts[long] + lengths[long]))
    texts = [bytes(data[starts[row] : starts[row] + lengths[row]]) for row in long[firsts].tolist()]
    bits = [is_transaction_keyword(text) | starts_group(text) << 1 | ends_group(text) << 2 for text in texts]
    numbers[long] = np.array(bits, dtype=np.int64)[which]
    return numbers


_VERSIONS = ("original_server_version", "immediate_server_version")
_GTID_FLAGS = ("has_commit_id", "is_ddl", "is_transactional", "has_waited", "is_start_alter",
               "is_commit_alter", "is_rollback_alter", "has_thread_id", "is_standalone",
               "is_parallel_allowed")  # fmt: skip


class ShapeKeys(NamedTuple):
    """Which events of a type have a shape, and the numbers that make up the shape."""

    matches: Bools
    keys: tuple[Array, ...] = ()


class Shapes:
    """The shapes of the events of a block.

    `left_out`: which events are hidden, and of which only the position is printed (`selection`).
    `pieces`: the pieces of a split rows event before the block.
    `numbers` (int64 array): the shape of each event, -1 for none.
    `alone` (int64 array): the same, as if no event followed the events inside a payload.
    `count`: number of shapes.
    """

    def __init__(
        self,
        lines: BlockColumns,
        rows: RowsEvents,
        maps: BlockTableMaps,
        templates: StatusTemplates,
        left_out: HiddenEvents,
        pieces: Pieces,
    ) -> None:
        self._lines, self._rows, self._maps, self._templates = lines, rows, maps, templates
        block = lines.block
        self._flags = block.header.numbers("flags").astype(np.int64)
        self.numbers = np.full(len(block), -1, dtype=np.int64)
        is_left_out = left_out.is_hidden | left_out.is_passed
        self.count = 2
        self.numbers[left_out.is_passed] = 0
        self.numbers[left_out.is_hidden] = 1
        for kind in block.kinds:
            events = block.rows_of(kind)
            is_shown = ~is_left_out[events]
            shape = self._of_kind(kind, events) if is_shown.any() else None
            if shape is None:
                continue
            matches = np.flatnonzero(shape.matches & is_shown)
            if len(matches):
                keys = (key[matches] for key in (self._flags[events], *shape.keys))
                first, which = distinct(combined(*keys))
                self.numbers[events[matches]] = self.count + which
                self.count += len(first)
        self.numbers[to_be_read(block, maps, pieces)] = -1
        self.alone = self.numbers
        if lines.inside.is_after.any():
            is_after = lines.inside.is_after & (self.numbers >= 0)
            self.numbers = np.where(is_after, self.numbers + self.count, self.numbers)
            self.count *= 2

    def _of_kind(self, kind: int, events: Ints) -> ShapeKeys | None:
        if kind in ROWS_TYPES:
            number_of = np.full(len(self._lines.block), -1, dtype=np.int64)
            number_of[self._rows.events] = np.arange(len(self._rows.events))
            number = number_of[events]
            program = np.append(self._rows.program_of, -1)[number]
            return ShapeKeys(program >= 0, (program,))
        body, shape = self._lines.block.body(kind), _SHAPES.get(kind)
        return None if shape is None else shape(self, events, body)

    def _plain(self, events: Ints, body: Gathered) -> ShapeKeys:
        return ShapeKeys(_reached(events, body))

    def _gtid(self, events: Ints, body: Gathered) -> ShapeKeys | None:
        if not body.layout.complete:
            return None
        has_statements = _spread(body["may_have_statements"], len(events))
        keys = [body.mask("immediate_commit_timestamp"), has_statements]
        for name in _VERSIONS:
            keys += [body.mask(name), np.where(body.mask(name), body.numbers(name).astype(np.int64), 0)]
        return ShapeKeys(_reached(events, body), tuple(keys))

    def _gtid_of_source(self, events: Ints, body: Gathered) -> ShapeKeys | None:
        shape = self._gtid(events, body)
        if shape is None:
            return None
        starts, lengths = body.ranges("uuid")
        source = group_ranges(self._lines.block.data, starts, starts + lengths)
        return ShapeKeys(shape.matches, (*shape.keys, source))

    def _tagged_gtid(self, events: Ints, body: Gathered) -> ShapeKeys | None:
        shape = self._gtid(events, body)
        if shape is None:
            return None
        tagged = Stated.of(self._lines.block, EventType.gtid_tagged_log_event)
        return ShapeKeys(shape.matches & tagged.matches, (*shape.keys, tagged.codes))

    def _mariadb_gtid(self, events: Ints, body: Gathered) -> ShapeKeys:
        count = len(events)
        is_of_xa = _spread(body["is_prepared_xa"], count) | _spread(body["is_completed_xa"], count)
        keys: list[Array] = [_spread(body[name], count) for name in _GTID_FLAGS]
        servers = self._lines.block.header_of(events).numbers("server_id").astype(np.int64)
        keys += [body.numbers("domain_id").astype(np.int64), servers]
        return ShapeKeys(_reached(events, body) & ~is_of_xa, tuple(keys))

    def _query(self, events: Ints, body: Gathered) -> ShapeKeys | None:
        block = self._lines.block
        if not body.layout.complete or "status_vars" not in body:
            return None
        templates, micros, xids = self._templates.match(block, events, body)
        self._lines.status |= {"microseconds": np.maximum(micros, 0), "xid": np.maximum(xids, 0)}
        schemas, lengths = body.ranges("schema_name")
        schema = group_ranges(block.data, schemas, schemas + lengths)
        is_specific = _spread(block.header_of(events)["is_thread_specific"], len(events))
        thread = np.where(is_specific, body.numbers("thread_id").astype(np.int64), 0)
        meaning = meanings(block.data, *body.ranges("query"))
        matches = _reached(events, body) & (templates >= 0)
        return ShapeKeys(matches, (templates, micros > 0, schema, thread, meaning))

    def _table_map(self, events: Ints, body: Gathered) -> ShapeKeys:
        which = np.full(len(self._lines.block), -1, dtype=np.int64)
        which[self._maps.events] = self._maps.numbers
        return ShapeKeys(which[events] >= 0, (which[events],))

    def _payload(self, events: Ints, body: Gathered) -> ShapeKeys | None:
        """Payloads whose events follow in the block."""
        return ShapeKeys(payload_headers(self._lines.block, events).matches)


_SHAPES: dict[int, Callable[[Shapes, Ints, Gathered], ShapeKeys | None]] = {
    EventType.xid_event: Shapes._plain,
    EventType.rows_query_log_event: Shapes._plain,
    EventType.annotate_rows_event: Shapes._plain,
    EventType.query_event: Shapes._query,
    EventType.gtid_log_event: Shapes._gtid_of_source,
    EventType.anonymous_gtid_log_event: Shapes._gtid,
    EventType.gtid_tagged_log_event: Shapes._tagged_gtid,
    EventType.gtid_event: Shapes._mariadb_gtid,
    EventType.table_map_event: Shapes._table_map,
    EventType.transaction_payload_event: Shapes._payload,
}


def to_be_read(block: Block, maps: BlockTableMaps, pieces: Pieces) -> Bools:
    """The events that the event reader must see, printed or not: they are damaged, or may be pieces."""
    is_read: Bools = block.checksums == BAD
    is_map = block.types == EventType.table_map_event
    is_map[maps.events] = False
    is_piece = block.types == EventType.partial_row_data_event
    is_read |= is_map | is_piece | np.append(pieces.is_open, is_piece[:-1])
    return is_read


def _reached(events: Ints, body: Gathered) -> Bools:
    """Which events their record layout covers to the end."""
    return np.broadcast_to(body.matches & (body.pos == body.size), len(events))


def _spread(values: Array | bool, count: int) -> Bools:
    return np.broadcast_to(np.asarray(values, dtype=np.bool_), count)
