"""The summary of each transaction within a block, and the merging of its parts.

Most transactions lie in one block and form one part: a row of the batch that `parts_of` builds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Codes, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Roles, Segments
from binlog_kaitai.log.event_gtids import Gtids
from binlog_kaitai.log.statements import statement_of
from binlog_kaitai.log.transaction_roles import Outcome, Role
from binlog_kaitai.rows.row_counts import UNKNOWN
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.line_arrays import plain

if TYPE_CHECKING:
    from binlog_kaitai.log.gather import Gathered


class Parts:
    """The transactions of a block, numbered, with aggregations of event values.

    `number_of`: for each event, the number of its transaction, -1 outside of transactions.
    `lengths`: number of events of each transaction.
    """

    def __init__(self, block: Block, segments: Segments) -> None:
        self._rows, self._starts = segments.rows, segments.starts
        self._count = len(segments.starts)
        self.number_of = np.full(len(block), -1, dtype=np.int64)
        self.lengths = np.diff(np.append(self._starts, len(self._rows)))
        self.number_of[self._rows] = np.repeat(np.arange(self._count), self.lengths)

    def __len__(self) -> int:
        return self._count

    @property
    def first(self) -> Ints:
        """First event of each transaction."""
        return self._rows[self._starts]

    @property
    def last(self) -> Ints:
        """Last event of each transaction."""
        return self._rows[self._starts + self.lengths - 1]

    def part(self, begin: int, end: int) -> Segments:
        """A range of the transactions, for a block that begins at the first event of the first of them."""
        rows = self._rows[self._starts[begin] : self._starts[end - 1] + self.lengths[end - 1]]
        return Segments(rows - rows[0], self._starts[begin:end] - self._starts[begin], False, False)

    def sums(self, rows: Ints, values: Ints) -> Ints:
        """Sum over the events of each transaction, of values that only the events `rows` have."""
        numbers = self.number_of[rows]
        inside = numbers >= 0
        sums = np.bincount(numbers[inside], weights=values[inside], minlength=self._count)
        return sums.astype(np.int64)

    def least(self, values: Ints) -> Ints:
        """Minimum of a value that all events have."""
        if not self._count:
            return self._starts
        rows = self._rows
        begin, end = int(rows[0]), int(rows[-1]) + 1
        # Usually all events belong to transactions, so no selection is needed.
        chosen = values[begin:end] if end - begin == len(rows) else values[rows]
        return np.minimum.reduceat(chosen, self._starts)

    def any(self, mask: Bools | Ints) -> Bools:
        """Whether any event of each transaction is in the mask, or in the list of event numbers."""
        out = np.zeros(self._count, dtype=np.bool_)
        numbers = self.number_of[mask]
        out[numbers[numbers >= 0]] = True
        return out

    def first_of(self, rows: Ints) -> Ints:
        """Index in `rows` (ascending) of the first event of each transaction; -1 if it has none."""
        out = np.full(self._count, -1, dtype=np.int64)
        numbers = self.number_of[rows]
        inside = np.flatnonzero(numbers >= 0)[::-1]
        out[numbers[inside]] = inside
        return out

    def last_of(self, rows: Ints) -> Ints:
        """Index in `rows` (ascending) of the last event of each transaction; -1 if it has none."""
        out = np.full(self._count, -1, dtype=np.int64)
        numbers = self.number_of[rows]
        inside = np.flatnonzero(numbers >= 0)
        out[numbers[inside]] = inside
        return out


#: Kinds of row changes, and the rows event types of each.
CHANGES = {
    f"rows_{name}": [kind for kind in ROWS_TYPES if change in EventType(kind).name]
    for name, change in (("inserted", "write_"), ("updated", "update_"), ("deleted", "delete_"))
}
_COMPRESSED_TYPES = [
    kind.value
    for kind in EventType
    if "compressed" in kind.name or kind == EventType.transaction_payload_event
]
_TIMES = ("original_commit_timestamp", "immediate_commit_timestamp")
_CLOCK = ("last_committed", "sequence_number")
#: Fields of MariaDB's GTID events: column and field.
_OF_MARIADB = {
    "gtid_thread": "thread_id",
    "is_standalone": "is_standalone",
    "is_rollback_alter": "is_rollback_alter",
}


class Changes(NamedTuple):
    """The rows events of a block: event numbers, tables, the table index of each, and row counts."""

    rows: Ints
    tables: Sequence[Table | BinlogError]
    table_of: Ints
    counts: Ints

    def part(self, begin: int, end: int) -> Changes:
        """The changes between two events of the block, numbered relative to the first of the two."""
        some = slice(*np.searchsorted(self.rows, (begin, end)).tolist())
        return Changes(self.rows[some] - begin, self.tables, self.table_of[some], self.counts[some])


def parts_of(
    block: Block,
    roles: Roles,
    parts: Parts,
    gtids: Gtids | None,
    changes: Changes,
    *,
    types: Iterable[int] = (),
    defines: Bools | None = None,
) -> pa.RecordBatch:
    """All parts in a block.

    `start` and `end` are the least and the last timestamp, in seconds; `begun_after` is the age of the first
    statement at its BEGIN, in seconds, null without one; `outcome` is that of the last event that ends a
    transaction, `meant` that of the first statement; `schema`, `defines` and `has_type` are for filters;
    `table_bytes` has the size of the rows events of each of `tables`.

    `gtids`: the GTIDs in force; None omits the columns `gtid` and `xid`.
    `types`: requested event types: `has_type` flags the transactions that have one.
    `defines`: which events change the definition of a requested table; None if no names are requested.
    """
    first, last = parts.first, parts.last
    stamps = block.header.numbers("timestamp")
    outcome, meant, statements = _outcomes_of(roles, parts)
    names, table_bytes = _tables(block, parts, changes)
    schemas = pa.nulls(len(parts), pa.string()) if defines is None else _schemas(block, parts)
    columns: dict[str, Array | pa.Array] = {
        "position": block.positions[first],
        "end_position": block.end_positions[last],
        "server_id": block.header_of(first).numbers("server_id"),
        "start": _earliest(stamps, parts),
        "end": stamps[last],
        "events": parts.lengths,
        "is_begun": parts.any(roles.roles == Role.BEGIN),
        "is_compressed": _compressed(block, parts),
        **_gtid_fields(block, parts),
        **_of_statements(block, parts, roles),
        "outcome": outcome,
        "meant": meant,
        "statement": _definitions(block, meant, statements),
        "schema": schemas,
        "defines": np.zeros(len(parts), dtype=np.bool_) if defines is None else parts.any(defines),
        "has_type": parts.any(np.isin(block.types, list(types))),
        "tables": names,
        "table_bytes": table_bytes,
        **_changed_rows(block, parts, changes),
    }
    if gtids is not None:
        columns |= {"gtid": gtids.array(gtids.which.take(first)), "xid": _xids(block, parts)}
    arrays = [values if isinstance(values, pa.Array) else pa.array(values) for values in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _earliest(stamps: Ints, parts: Parts) -> Ints:
    """Start time of each transaction. The GTID event is written at the commit, after the first events."""
    never = np.iinfo(np.int64).max
    least = parts.least(stamps if (stamps > 0).all() else np.where(stamps > 0, stamps, never))
    return np.where(least == never, 0, least)


def _gtid_fields(block: Block, parts: Parts) -> dict[str, pa.Array]:
    """Fields of the GTID event of each transaction, null without one; the reader is the fallback."""
    names = (*_TIMES, *_CLOCK, *_OF_MARIADB)
    values = {name: np.zeros(len(parts), dtype=np.int64) for name in names}
    known = {name: np.zeros(len(parts), dtype=np.bool_) for name in names}
    for kind in GTID_TYPES:
        rows = block.rows_of(kind)
        if not len(rows):
            continue
        body, numbers = block.body(kind), parts.number_of[rows]
        fields = _OF_MARIADB if kind == EventType.gtid_event else {name: name for name in (*_TIMES, *_CLOCK)}
        is_reached = "flags" in body and body.layout.complete
        for name, path in fields.items() if is_reached else ():
            if path in body:
                values[name][numbers] = body.numbers(path)
                known[name][numbers] = _is_there(body, path)
        for index in np.flatnonzero(~body.matches).tolist() if is_reached else range(len(rows)):
            content = block.event(int(rows[index])).body
            for name, path in fields.items():
                value = getattr(content, path, None)
                known[name][numbers[index]] = value is not None
                values[name][numbers[index]] = value or 0
    return {name: pa.array(values[name], mask=~known[name]) for name in names}


def _is_there(body: Gathered, path: str) -> Bools:
    condition = "has_commit_timestamps"
    if path in _TIMES and condition in body:
        return body.numbers(condition).astype(np.bool_)
    return body.mask(path)


def _xids(block: Block, parts: Parts) -> pa.Array:
    rows = block.rows_of(EventType.xid_event)
    values = block.body(EventType.xid_event).numbers("xid") if len(rows) else np.zeros(0, dtype=np.uint64)
    return _picked(values.astype(np.uint64), parts.last_of(rows))


def _of_statements(block: Block, parts: Parts, roles: Roles) -> dict[str, pa.Array]:
    """The thread id of the first statement of each transaction, and the age of that at its BEGIN."""
    kinds = [kind for kind in (*QUERY_TYPES, EventType.execute_load_query_event) if len(block.rows_of(kind))]
    threads, ages = np.zeros((2, len(block)), dtype=np.int64)
    has_one = np.zeros(len(block), dtype=np.bool_)
    for kind in kinds:
        rows, body = block.rows_of(kind), block.body(kind)
        threads[rows], ages[rows] = body.numbers("thread_id"), body.numbers("execution_time")
        has_one[rows] = True
    statements = np.flatnonzero(has_one)
    begins = statements[roles.roles[statements] == Role.BEGIN]
    return {
        "thread_id": _picked(threads[statements], parts.first_of(statements)),
        "begun_after": _picked(ages[begins], parts.first_of(begins)),
    }


def _picked(values: Array, index: Ints) -> pa.Array:
    """Select values by index; null for index -1."""
    padded = np.append(values, values.dtype.type(0))
    return pa.array(padded[index], mask=index < 0)


def _outcomes_of(roles: Roles, parts: Parts) -> tuple[Codes, Codes, Ints]:
    """How each transaction ended and the kind of its first statement (`Outcome`, int8), with its event."""
    ends = np.flatnonzero(roles.roles == Role.END)
    outcome = np.append(roles.outcomes[ends], np.int8(Outcome.OPEN))[parts.last_of(ends)]
    statements = np.flatnonzero(roles.roles == Role.STATEMENT)
    first = parts.first_of(statements)
    meant = np.append(roles.outcomes[statements], np.int8(Outcome.OPEN))[first]
    return outcome, meant, np.append(statements, -1)[first]


def _definitions(block: Block, meant: Codes, statements: Ints) -> pa.Array:
    """Text of the first statement of each transaction, if it is a definition."""
    texts: list[str | None] = [None] * len(meant)
    for number in np.flatnonzero(meant == Outcome.DDL).tolist():
        texts[number] = statement_of(block.event(int(statements[number])).body)
    return pa.array(texts, pa.string())


def _compressed(block: Block, parts: Parts) -> Bools:
    """Which transactions have a compressed event."""
    if not any(kind in _COMPRESSED_TYPES for kind in block.kinds):
        return np.zeros(len(parts), dtype=np.bool_)
    return parts.any(np.isin(block.types, _COMPRESSED_TYPES))


def _schemas(block: Block, parts: Parts) -> pa.Array:
    """Default database of the last statement of each transaction."""
    schemas: list[str | None] = [None] * len(parts)
    for kind in QUERY_TYPES:
        rows = block.rows_of(kind)
        if len(rows):
            starts, lengths = block.body(kind).ranges("schema_name")
            for number, index in enumerate(parts.last_of(rows).tolist()):
                if index >= 0:
                    byte_range = slice(int(starts[index]), int(starts[index] + lengths[index]))
                    name = bytes(block.data[byte_range]).decode("utf-8", "surrogateescape")
                    schemas[number] = plain(name)
    return pa.array(schemas, pa.string())


def _tables(block: Block, parts: Parts, changes: Changes) -> tuple[pa.Array, pa.Array]:
    """The tables whose rows each transaction changes, in order of their first change, and their bytes."""
    known: dict[str, int] = {}
    names = [plain(".".join(table.key)) if isinstance(table, Table) else "" for table in changes.tables]
    # A redefined table has several table maps.
    codes = np.array([*(known.setdefault(name, len(known)) for name in names), -1], dtype=np.int64)
    of_event, numbers = codes[changes.table_of], parts.number_of[changes.rows]
    is_named = np.array([name != "" for name in known] + [False])[of_event]
    chosen = np.flatnonzero((numbers >= 0) & is_named)
    keys = numbers[chosen] * (len(known) + 1) + of_event[chosen]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    sizes = np.bincount(which.reshape(-1), weights=block.sizes[changes.rows[chosen]], minlength=len(first))
    order = np.argsort(first)
    firsts = chosen[first[order]]
    counts = np.bincount(numbers[firsts], minlength=len(parts))
    offsets = pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
    texts = pa.DictionaryArray.from_arrays(
        pa.array(of_event[firsts].astype(np.int32)), pa.array(list(known), pa.string())
    )
    lists = (texts, pa.array(sizes[order].astype(np.int64)))
    of_tables, of_bytes = (pa.ListArray.from_arrays(offsets, values) for values in lists)
    return of_tables, of_bytes


def _changed_rows(block: Block, parts: Parts, changes: Changes) -> dict[str, pa.Array]:
    """Number of rows that each transaction changes, by kind of change; null where it is unknown."""
    types, counts = block.types[changes.rows], {}
    for name, kinds in CHANGES.items():
        chosen = np.flatnonzero(np.isin(types, kinds))
        rows, values = changes.rows[chosen], changes.counts[chosen]
        is_unknown = parts.any(rows[values == UNKNOWN])
        counts[name] = pa.array(parts.sums(rows, np.maximum(values, 0)), mask=is_unknown)
    return counts


#: A row of `parts_of` as Python values.
PartRow = dict[str, Any]


def join(whole: PartRow, part: PartRow) -> None:
    """Add the next part of a transaction."""
    for name in ("events", *CHANGES):
        is_known = None not in (whole[name], part[name])
        whole[name] = whole[name] + part[name] if is_known else None
    sums = dict(zip(whole["tables"], whole["table_bytes"], strict=True))
    for name, count in zip(part["tables"], part["table_bytes"], strict=True):
        sums[name] = sums.get(name, 0) + count
    whole["tables"], whole["table_bytes"] = list(sums), list(sums.values())
    for name in ("is_compressed", "is_begun", "has_type", "defines"):
        whole[name] = whole[name] or part[name]
    whole["start"] = min(filter(None, (whole["start"], part["start"])), default=0)
    for name in ("end_position", "end"):
        whole[name] = part[name]
    for name in ("outcome", "xid", "schema"):
        whole[name] = part[name] or whole[name]
    for name in ("meant", "statement", "thread_id", "begun_after"):
        whole[name] = whole[name] if whole[name] else part[name]
