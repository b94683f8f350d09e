"""Applies the filters to all events of a block, and warns about filters that match nothing.

A misspelled table must not look like a table without changes. Each filter is tested only until it has
matched, block by block, so valid filters cost nothing after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from binlog_kaitai.core.adapter import utc
from binlog_kaitai.core.event_types import CHANGE_TYPES, type_name
from binlog_kaitai.core.filters import Filters, matches
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import split_gtid
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import DefinitionChange, changes_of
from binlog_kaitai.ddl.lexer import may_affect_tables
from binlog_kaitai.errors import FilterWarning, warn
from binlog_kaitai.kernels.arrays import Bools
from binlog_kaitai.kernels.groups import distinct_values, group_ranges
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Gtids
from binlog_kaitai.log.statements import statement_body, statements_in
from binlog_kaitai.rows.table_maps import decode
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.line_arrays import plain


class EventSelection:
    """The filters, for the blocks of one file.

    `is_over`: a stop position or time has been reached; no later event can match.
    `limit`: in the last block, the number of the first event at or after a stop; otherwise the number of its
    events.
    `has_names`: the filters include schema or table names, see `takes_names`, which requires the bodies.
    """

    def __init__(self, filters: Filters, *, is_first: bool, is_last: bool, is_part: bool = False) -> None:
        self.is_over = False
        self.limit = 0
        # In a part, it is unknown whether an earlier event was past the stop time, so each event is tested
        # alone.
        self._is_part = is_part
        self.has_names = bool(filters.databases or filters.tables)
        self.takes_names = filters.takes_names
        self._filters = filters
        self._start = filters.start_position if is_first else None
        self._stop = filters.stop_position if is_last else None

    def of(self, block: Block, gtids: Gtids | None) -> Bools:
        """Which events match the filters on header and GTID, as a bool array."""
        filters, header = self._filters, block.header
        wanted = np.ones(len(block), dtype=np.bool_)
        self.limit = 0 if self.is_over else len(block)
        if self.is_over or not filters:
            return wanted & (not self.is_over)
        stop = np.zeros(len(block), dtype=np.bool_)
        if self._stop is not None:
            stop |= block.positions >= self._stop
        if filters.stop_timestamp is not None:
            late = header.numbers("timestamp") >= filters.stop_timestamp
            if self._is_part:
                wanted &= ~late
            else:
                stop |= late
        if stop.any():
            self.is_over = True
            self.limit = int(np.argmax(stop))
            wanted[self.limit :] = False
        if self._start is not None:
            wanted &= block.positions >= self._start
        if filters.start_timestamp is not None:
            wanted &= header.numbers("timestamp") >= filters.start_timestamp
        if filters.server_ids:
            wanted &= np.isin(header.numbers("server_id"), list(filters.server_ids))
        if filters.event_types:
            takes = np.array([type_name(kind) in filters.event_types for kind in range(256)])
            wanted &= takes[block.types]
        if filters.has_gtids:
            assert gtids is not None
            wanted &= np.array([filters.takes_gtid(gtid) for gtid in gtids.texts])[gtids.which]
        return wanted

    def definition_changes(self, block: Block) -> list[tuple[int, DefinitionChange]]:
        """What the statements of a block do to definitions, as far as their texts tell, with their events.

        Without filters for names, nothing.
        """
        rows = statements_in(block, may_affect_tables) if self.has_names else []
        bodies = ((row, statement_body(block, row)) for row in rows)
        return [(row, change) for row, body in bodies for change in changes_of(body, Definitions())]

    def defines(self, block: Block, changes: Iterable[tuple[int, DefinitionChange]]) -> Bools:
        """Which events change the definition of a requested table, as a bool array.

        `changes`: those of the block, see `definition_changes`.
        """
        defines = np.zeros(len(block), dtype=np.bool_)
        for row, change in changes:
            defines[row] |= change.is_taken_by(self._filters)
        return defines


#: Maximum number of existing names to remember, and to list in a warning.
_MOST_KNOWN, _MOST_SHOWN = 10_000, 3

#: Event types of statements with a default database.
_WITH_SCHEMA = (
    EventType.query_event,
    EventType.query_compressed_event,
    EventType.execute_load_query_event,
)


class Unmatched:
    """The filters that have not matched yet, in one pass over logs.

    `sources`: the logs. Parts of logs are excluded, because they prove nothing.
    """

    def __init__(self, filters: Filters, sources: list[Source]) -> None:
        is_whole = all(source.span is None for source in sources)
        self._filters = filters if is_whole else Filters()
        filters = self._filters
        self._left: dict[str, set[Any]] = {
            "table": set(filters.tables),  # its items
            "database": set(filters.databases),
            "event type": set(filters.event_types),
            "server id": set(filters.server_ids),
        }
        types = self._left["event type"]
        for change, names in CHANGE_TYPES.items():
            if types.issuperset(names):
                types -= {*names}
                types.add(change)
        self._known: dict[str, set[Any]] = {name: set() for name in self._left}
        single = (
            "start_position", "stop_position", "start_timestamp", "stop_timestamp", "include_gtids",
            "exclude_gtids",
        )  # fmt: skip
        self._single = {name for name in single if getattr(filters, name) is not None}
        self._ranges: dict[str, tuple[int, int]] = {}  # numbers of the GTIDs found, by source
        self._latest = self._end = 0
        self._file = ""
        self._is_first = self._is_last = self._is_stopped = False

    @property
    def is_done(self) -> bool:
        """Whether every filter has matched."""
        return not self._single and not any(self._left.values())

    def begin(self, source: Source, *, is_first: bool, is_last: bool) -> None:
        """Start the next log."""
        self._is_first, self._is_last = is_first, is_last
        if is_first:
            self._file = source.name

    def look(
        self,
        block: Block,
        limit: int,
        gtids: Gtids | None,
        changes: Iterable[tuple[int, DefinitionChange]] = (),
    ) -> None:
        """Test the remaining filters on the next block, up to the event `limit`, where a stop is.

        `changes`: a table is also found by these, see `EventSelection.definition_changes`.
        """
        if self.is_done:
            return
        self._is_stopped |= limit < len(block)
        self._look_at_offsets(block)
        header = block.header
        if self._left["event type"]:
            types = {type_name(kind) for kind in distinct_values(block.types[:limit]).tolist()}
            self._found("event type", types)
            self._left["event type"] -= {
                change for change, names in CHANGE_TYPES.items() if types.intersection(names)
            }
        if self._left["server id"]:
            self._found("server id", distinct_values(header.numbers("server_id")[:limit]).tolist())
        if self._left["table"] or self._left["database"]:
            self._look_at_names(block, limit)
        if self._left["table"]:
            defined = (change for row, change in changes if row < limit)
            self._match({".".join(key) for change in defined for key in (change.key, change.new_key)})
        if gtids is not None and self._single & {"include_gtids", "exclude_gtids"}:
            self._look_at_gtids(gtids.texts[which] for which in distinct_values(gtids.which[:limit]).tolist())

    def _look_at_offsets(self, block: Block) -> None:
        filters, single = self._filters, self._single
        if not len(block):
            return
        if "start_position" in single and self._is_first:
            self._end = int(block.end_positions.max())
            if self._end >= (filters.start_position or 0):
                single.discard("start_position")
        if self._is_last and (block.positions < (filters.stop_position or 0)).any():
            single.discard("stop_position")
        if single & {"start_timestamp", "stop_timestamp"}:
            times = block.header.numbers("timestamp")
            self._latest = max(self._latest, int(times.max()))
            if self._latest >= (filters.start_timestamp or 0):
                single.discard("start_timestamp")
            # Artificial events have no timestamp.
            if ((times > 0) & (times < (filters.stop_timestamp or 0))).any():
                single.discard("stop_timestamp")

    def _look_at_names(self, block: Block, limit: int) -> None:
        for schema, table in _names(block, EventType.table_map_event, limit, "schema_name", "table_name"):
            name = f"{schema}.{table}"
            self._found("table", [name])
            self._match([name])
            self._found("database", [schema])
        for kind in _WITH_SCHEMA if self._left["database"] else ():
            self._found(
                "database", [schema for (schema,) in _names(block, kind, limit, "schema_name") if schema]
            )

    def _match(self, names: Iterable[str]) -> None:
        left = self._left["table"]
        left -= {item for item in left for name in names if matches(item, name)}

    def _look_at_gtids(self, gtids: Iterable[str | None]) -> None:
        included, excluded = self._filters.include_gtids, self._filters.exclude_gtids
        for gtid in filter(None, gtids):
            source, number = split_gtid(gtid)
            if source in self._ranges or len(self._ranges) < _MOST_KNOWN:
                low, high = self._ranges.get(source, (number, number))
                self._ranges[source] = min(low, number), max(high, number)
            for name, wanted in (("include_gtids", included), ("exclude_gtids", excluded)):
                if wanted is not None and gtid in wanted:
                    self._single.discard(name)

    def _found(self, name: str, values: Iterable[Any]) -> None:
        known = self._known[name]
        for value in values:
            self._left[name].discard(value)
            if len(known) < _MOST_KNOWN:
                known.add(value)

    def warn(self) -> None:
        """Warn about the filters that matched nothing in any of the logs."""
        for text in self._texts():
            warn(plain(text), FilterWarning)

    def _texts(self) -> Iterator[str]:
        where = "in these logs before the stop" if self._is_stopped else "in these logs"
        for name, values in self._left.items():
            for value in sorted(values):
                known = _near(value, self._known[name])
                is_there = f"; found: {', '.join(known)}" if known else ""
                if name == "table" and not known:
                    is_there = ", which contain no tables"
                yield f"{name} {value}: not found {where}{is_there}"
        filters = self._filters
        for name in sorted(self._single):
            match name:
                case "start_position":
                    verb = "is read up to" if self._is_stopped else "ends at"
                    before = f"before the start position {filters.start_position}"
                    yield f"{self._file} {verb} {self._end}, {before}"
                case "stop_position":
                    yield f"no event begins before the stop position {filters.stop_position}"
                case "start_timestamp":
                    latest = f"{utc(self._latest):%Y-%m-%d %H:%M:%S} UTC"
                    yield f"no event at or after the start time; the last event is from {latest}"
                case "stop_timestamp":
                    yield "no event before the stop time"
                case _:
                    yield f"{name}: none of these GTIDs found {where}{self._gtids_there()}"

    def _gtids_there(self) -> str:
        if not self._ranges:
            return "; the logs have no GTIDs"
        shown = []
        for source, (low, high) in sorted(self._ranges.items())[:_MOST_SHOWN]:
            dots = "-" if ":" in source or source.count("-") > 1 else ".."
            sign = ":" if dots == "-" else "-"
            shown.append(f"{source}{sign}{low}" + (f"{dots}{high}" if high > low else ""))
        more = len(self._ranges) - len(shown)
        return f"; the logs have {', '.join(shown)}" + (f" and those of {more} other sources" if more else "")


def _near(value: Any, known: set[Any]) -> list[str]:
    """Existing names similar to a value; then tables of the same database; then any."""
    from difflib import get_close_matches

    if not isinstance(value, str):
        return [str(name) for name in sorted(known)[:_MOST_SHOWN]]
    by_folded = {name.casefold(): name for name in sorted(known)}
    near = [by_folded[name] for name in get_close_matches(value.casefold(), by_folded, _MOST_SHOWN)]
    schema, dot, _ = value.rpartition(".")
    near += [name for name in sorted(known) if dot and name.startswith(schema + dot)]
    return sorted(list(dict.fromkeys(near or sorted(known)))[:_MOST_SHOWN])


def _names(block: Block, kind: EventType, limit: int, *fields: str) -> Iterator[list[str]]:
    """The distinct values of names that follow each other in the events of a type."""
    if kind not in block.counts or block.is_special or fields[0] not in (body := block.body(kind)):
        return
    chosen = np.flatnonzero(body.matches & (block.rows_of(kind) < limit))
    ranges = [(starts[chosen], lengths[chosen]) for starts, lengths in map(body.ranges, fields)]
    ends = np.add(*ranges[-1])
    for index in distinct_values(group_ranges(block.data, ranges[0][0], ends)).tolist():
        yield [decode(bytes(block.data[begins[index] :][: sizes[index]])) for begins, sizes in ranges]
