"""The shapes of a block's events: everything that affects an event's text, besides the fields of templates.

Events of the same shape print the same from the same state, except for the fields in `fields`, and lead to
the same state. This module therefore lists, for each type, what `printer` and its variants read other than
through a field. Types that are not listed are rare and are printed one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log.event_gtids import Stated
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.log.payload_headers import payload_headers
from binlog_kaitai.render.dump.blocks.columns import Lines
from binlog_kaitai.render.dump.blocks.row_events import RowsEvents
from binlog_kaitai.render.dump.blocks.statement_groups import Templates, meanings

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Bools, Ints
    from binlog_kaitai.log.gather import Gathered


_VERSIONS = ("original_server_version", "immediate_server_version")
_GTID_FLAGS = ("has_commit_id", "is_ddl", "is_transactional", "has_waited", "is_start_alter",
               "is_commit_alter", "is_rollback_alter", "has_thread_id", "is_standalone",
               "is_parallel_allowed")  # fmt: skip


class Found(NamedTuple):
    """Which events of a type have a shape, and the numbers that make up the shape."""

    matches: Any
    keys: tuple[Any, ...] = ()


class Shapes:
    """The shapes of the events of a block.

    Attributes
    ----------
    numbers : int64 array
        The shape of each event, -1 for none.
    alone : int64 array
        The same, as if no event followed the events inside a payload.
    count : int
        Number of shapes.
    """

    def __init__(
        self,
        lines: Lines,
        rows: RowsEvents,
        maps: tuple[Any, Any, Any],
        templates: Templates,
        is_passed: Bools,
    ) -> None:
        self._lines, self._rows, self._maps, self._templates = lines, rows, maps, templates
        block = lines.block
        self._flags = block.header.numbers("flags").astype(np.int64)
        self.numbers = np.full(len(block), -1, dtype=np.int64)
        self.count = 1
        self.numbers[is_passed] = 0
        for kind in block.kinds:
            events = block.rows_of(kind)
            found = self._of_kind(kind, events)
            if found is None:
                continue
            matches = np.flatnonzero(found.matches & ~is_passed[events])
            if len(matches):
                keys = (key[matches] for key in (self._flags[events], *found.keys))
                first, which = distinct(_joined(keys))
                self.numbers[events[matches]] = self.count + which
                self.count += len(first)
        self.numbers[block.checksums == BAD] = -1
        self.alone = self.numbers
        if lines.inside is not None:
            is_after = lines.inside.is_after & (self.numbers >= 0)
            self.numbers = np.where(is_after, self.numbers + self.count, self.numbers)
            self.count *= 2

    def _of_kind(self, kind: int, events: Ints) -> Found | None:
        if kind in ROWS_TYPES:
            number_of = np.full(len(self._lines.block), -1, dtype=np.int64)
            number_of[self._rows.events] = np.arange(len(self._rows.events))
            number = number_of[events]
            keys = self._rows.rows_header_of, self._rows.program_of
            rows_header, program = (np.append(key, -1)[number] for key in keys)
            return Found(program >= 0, (rows_header, program))
        body, shape = self._lines.block.body(kind), _SHAPES.get(kind)
        return None if shape is None else shape(self, events, body)

    def _plain(self, events: Ints, body: Gathered) -> Found:
        return Found(_reached(events, body))

    def _gtid(self, events: Ints, body: Gathered) -> Found | None:
        if not body.layout.complete:
            return None
        has_statements = _spread(body["may_have_statements"], len(events))
        keys = [body.mask("immediate_commit_timestamp"), has_statements]
        for name in _VERSIONS:
            keys += [body.mask(name), np.where(body.mask(name), body.numbers(name).astype(np.int64), 0)]
        return Found(_reached(events, body), tuple(keys))

    def _gtid_of_source(self, events: Ints, body: Gathered) -> Found | None:
        found = self._gtid(events, body)
        if found is None:
            return None
        starts, lengths = body.ranges("uuid")
        source = group_ranges(self._lines.block.data, starts, starts + lengths)
        return Found(found.matches, (*found.keys, source))

    def _tagged_gtid(self, events: Any, body: Any) -> Found | None:
        found = self._gtid(events, body)
        if found is None:
            return None
        tagged = Stated.of(self._lines.block, EventType.gtid_tagged_log_event)
        return Found(found.matches & tagged.matches, (*found.keys, tagged.codes))

    def _mariadb_gtid(self, events: Ints, body: Gathered) -> Found:
        count = len(events)
        is_of_xa = _spread(body["is_prepared_xa"], count) | _spread(body["is_completed_xa"], count)
        keys = [_spread(body[name], count) for name in _GTID_FLAGS]
        servers = self._lines.block.header_of(events).numbers("server_id").astype(np.int64)
        keys += [body.numbers("domain_id").astype(np.int64), servers]
        return Found(_reached(events, body) & ~is_of_xa, tuple(keys))

    def _query(self, events: Ints, body: Gathered) -> Found | None:
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
        return Found(matches, (templates, micros > 0, schema, thread, meaning))

    def _table_map(self, events: Ints, body: Gathered) -> Found:
        which = np.full(len(self._lines.block), -1, dtype=np.int64)
        which[self._maps[0]] = self._maps[2]
        return Found(which[events] >= 0, (which[events],))

    def _payload(self, events: Ints, body: Gathered) -> Found | None:
        """Payloads whose events follow in the block."""
        if self._lines.inside is None:
            return None
        return Found(payload_headers(self._lines.block, events).matches)


_SHAPES: dict[int, Callable[[Shapes, Any, Any], Found | None]] = {
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


def _reached(events: Ints, body: Gathered) -> Any:
    """Which events their record layout covers to the end."""
    return np.broadcast_to(body.matches & (body.pos == body.size), len(events))


def _spread(values: Any, count: int) -> Any:
    return np.broadcast_to(np.asarray(values, dtype=np.bool_), count)


def _joined(keys: Any) -> Any:
    """A number for each combination of numbers, equal for equal combinations."""
    joined, span = None, 1
    for key in keys:
        low, high = int(key.min()), int(key.max())
        if low == high:
            joined = np.zeros(len(key), dtype=np.int64) if joined is None else joined
            continue
        if span * (high - low + 1) >= 1 << 62:
            (_, key), low = distinct(key), 0
            high = int(key.max())
        if span * (high - low + 1) >= 1 << 62:
            _, joined = distinct(joined)
            span = int(joined.max()) + 1
        joined = key - low if joined is None else joined * (high - low + 1) + (key - low)
        span *= high - low + 1
    return joined
