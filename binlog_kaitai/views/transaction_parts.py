"""The summary of each transaction within a block, and the merging of its parts.

Most transactions lie in one block and form one part: a row of the batch that `parts_of` builds.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Codes, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Outcome, Role, Roles, Segments
from binlog_kaitai.log.event_gtids import Gtids
from binlog_kaitai.rows.row_counts import UNKNOWN
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table

if TYPE_CHECKING:
    from binlog_kaitai.log.event_reader import ParsedEvent
    from binlog_kaitai.log.gather import Gathered


class Parts:
    """The transactions of a block, numbered, with aggregations of event values.

    `number_of`: for each event, the number of its transaction, -1 outside of transactions.
    """

    def __init__(self, block: Block, segments: Segments) -> None:
        self._rows, self._starts = segments.rows, segments.starts
        self._count = len(segments.starts)
        self.number_of = np.full(len(block), -1, dtype=np.int64)
        lengths = np.diff(np.append(self._starts, len(self._rows)))
        self.number_of[self._rows] = np.repeat(np.arange(self._count), lengths)
        self._lengths = lengths

    def __len__(self) -> int:
        return self._count

    @property
    def first(self) -> Ints:
        """First event of each transaction."""
        return self._rows[self._starts]

    @property
    def last(self) -> Ints:
        """Last event of each transaction."""
        return self._rows[self._starts + self._lengths - 1]

    def part(self, begin: int, end: int) -> Segments:
        """A range of the transactions, for a block that begins at the first event of the first of them."""
        rows = self._rows[self._starts[begin] : self._starts[end - 1] + self._lengths[end - 1]]
        return Segments(rows - rows[0], self._starts[begin:end] - self._starts[begin], False, False)

    @property
    def lengths(self) -> Ints:
        """Number of events of each transaction."""
        return self._lengths

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
_CHANGES = {
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


@cache
def part_schema() -> pa.Schema:
    """The columns of a part of a transaction.

    A part: `start` and `end` are the least and the last timestamp, in seconds; `outcome` is that of the last
    event that ends a transaction, `meant` that of the first statement; `schema` and `has_type` are for
    filters; `table_bytes` has the size of the rows events of each of `tables`.
    """
    return pa.schema(
        {
            "position": pa.int64(),
            "end_position": pa.int64(),
            "gtid": pa.string(),
            "server_id": pa.int64(),
            "start": pa.int64(),
            "end": pa.int64(),
            "events": pa.int64(),
            "is_begun": pa.bool_(),
            "is_compressed": pa.bool_(),
            **{name: pa.int64() for name in (*_TIMES, *_CLOCK, *_OF_MARIADB)},
            "xid": pa.uint64(),
            "thread_id": pa.int64(),
            "outcome": pa.int8(),
            "meant": pa.int8(),
            "statement": pa.string(),
            "schema": pa.string(),
            "has_type": pa.bool_(),
            "tables": pa.list_(pa.string()),
            "table_bytes": pa.list_(pa.int64()),
            **{name: pa.int64() for name in _CHANGES},
        }
    )


class Changes(NamedTuple):
    """The rows events of a block: event numbers, tables, the table index of each, and row counts."""

    rows: Ints
    tables: Sequence[Table | BinlogError]
    table_of: Ints
    counts: Ints

    @classmethod
    def of(cls, images: Images, counts: Ints) -> Changes:
        return cls(images.rows, images.tables, images.table_of, counts)

    def part(self, begin: int, end: int) -> Changes:
        """The changes between two events of the block, numbered relative to the first of the two."""
        some = slice(*np.searchsorted(self.rows, (begin, end)).tolist())
        return Changes(self.rows[some] - begin, self.tables, self.table_of[some], self.counts[some])


def parts_of(
    block: Block,
    roles: Roles,
    parts: Parts,
    gtids: Gtids,
    changes: Changes,
    *,
    types: list[int],
    with_schemas: bool,
) -> pa.RecordBatch:
    """All parts in a block; see :func:`part_schema`.

    `types`: requested event types: `has_type` flags the transactions that have one.
    `with_schemas`: whether default databases are requested.
    """
    first, last = parts.first, parts.last
    stamps = block.header.numbers("timestamp")
    ends = outcomes_of(roles, parts)
    tables, table_bytes = _tables(block, parts, changes)
    columns: dict[str, Array | pa.Array | list[str | None]] = {
        "position": block.positions[first],
        "end_position": block.end_positions[last],
        "gtid": gtids.array(gtids.which.take(first)),
        "server_id": block.header.numbers("server_id")[first],
        "start": earliest(stamps, parts),
        "end": stamps[last],
        "events": parts.lengths,
        "is_begun": ends.is_begun,
        "is_compressed": compressed(block, parts),
        **{
            name: pa.array(values, mask=~known) for name, (values, known) in gtid_fields(block, parts).items()
        },
        "xid": _xids(block, parts),
        "thread_id": statement_threads(block, parts),
        "outcome": ends.outcome,
        "meant": ends.meant,
        "statement": definitions(block, ends),
        "schema": _schemas(block, parts) if with_schemas else [None] * len(parts),
        "has_type": parts.any(np.isin(block.types, types)),
        "tables": tables,
        "table_bytes": table_bytes,
        **{
            name: pa.array(sums, mask=is_unknown)
            for name, (sums, is_unknown) in changed_rows(block, parts, changes).items()
        },
    }
    arrays = [
        pa.array(values).cast(field.type, safe=False)
        if isinstance(values, np.ndarray)
        else pa.array(values, field.type)
        if isinstance(values, list)
        else values.cast(field.type)
        for field, values in ((field, columns[field.name]) for field in part_schema())
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=part_schema())


def earliest(stamps: Ints, parts: Parts) -> Ints:
    """Start time of each transaction. The GTID event is written at the commit, after the first events."""
    never = np.iinfo(np.int64).max
    least = parts.least(stamps if (stamps > 0).all() else np.where(stamps > 0, stamps, never))
    return np.where(least == never, 0, least)


def gtid_fields(block: Block, parts: Parts) -> dict[str, tuple[Ints, Bools]]:
    """Fields of the GTID event of each transaction, int64, and which have one; the reader is the fallback."""
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
    return {name: (values[name], known[name]) for name in names}


def _is_there(body: Gathered, path: str) -> Bools:
    condition = "has_commit_timestamps"
    if path in _TIMES and condition in body:
        return body.numbers(condition).astype(np.bool_)
    return body.mask(path)


def _xids(block: Block, parts: Parts) -> pa.Array:
    rows = block.rows_of(EventType.xid_event)
    values = block.body(EventType.xid_event).numbers("xid") if len(rows) else np.zeros(0, dtype=np.uint64)
    return _picked(values.astype(np.uint64), parts.last_of(rows))


def statement_threads(block: Block, parts: Parts) -> pa.Array:
    """The thread id of the first statement of each transaction."""
    kinds = [kind for kind in (*QUERY_TYPES, EventType.execute_load_query_event) if len(block.rows_of(kind))]
    values = np.zeros(len(block), dtype=np.int64)
    has_one = np.zeros(len(block), dtype=np.bool_)
    for kind in kinds:
        values[block.rows_of(kind)] = block.body(kind).numbers("thread_id")
        has_one[block.rows_of(kind)] = True
    rows = np.flatnonzero(has_one)
    return _picked(values[rows], parts.first_of(rows))


def _picked(values: Array, index: Ints) -> pa.Array:
    """Select values by index; null for index -1."""
    padded = np.append(values, values.dtype.type(0))
    return pa.array(padded[index], mask=index < 0)


class Ends(NamedTuple):
    """How each transaction ended and the kind of its first statement (`Outcome`, int8), with its event."""

    outcome: Codes
    meant: Codes
    statement: Ints  # event number
    is_begun: Bools


def outcomes_of(roles: Roles, parts: Parts) -> Ends:
    """How each transaction ended, and the kind of its first statement."""
    ends = np.flatnonzero(roles.roles == Role.END)
    outcome = np.append(roles.outcomes[ends], np.int8(Outcome.OPEN))[parts.last_of(ends)]
    statements = np.flatnonzero(roles.roles == Role.STATEMENT)
    at = parts.first_of(statements)
    meant = np.append(roles.outcomes[statements], np.int8(Outcome.OPEN))[at]
    return Ends(outcome, meant, np.append(statements, -1)[at], parts.any(roles.roles == Role.BEGIN))


def definitions(block: Block, ends: Ends) -> list[str | None]:
    """Text of the first statement of each transaction, if it is a definition."""
    texts: list[str | None] = [None] * len(ends.meant)
    for number in np.flatnonzero(ends.meant == Outcome.DDL).tolist():
        texts[number] = _text(block.event(int(ends.statement[number])))
    return texts


def compressed(block: Block, parts: Parts) -> Bools:
    """Which transactions have a compressed event."""
    if not any(kind in _COMPRESSED_TYPES for kind in block.kinds):
        return np.zeros(len(parts), dtype=np.bool_)
    return parts.any(np.isin(block.types, _COMPRESSED_TYPES))


def _schemas(block: Block, parts: Parts) -> list[str | None]:
    """Default database of the last statement of each transaction."""
    schemas: list[str | None] = [None] * len(parts)
    for kind in QUERY_TYPES:
        rows = block.rows_of(kind)
        if len(rows):
            starts, lengths = block.body(kind).ranges("schema_name")
            for number, at in enumerate(parts.last_of(rows).tolist()):
                if at >= 0:
                    byte_range = slice(int(starts[at]), int(starts[at] + lengths[at]))
                    schemas[number] = bytes(block.data[byte_range]).decode("utf-8", "backslashreplace")
    return schemas


def _text(event: ParsedEvent) -> str | None:
    try:
        query: bytes | None = getattr(event.body, "query", None)
    except zlib.error:
        query = None
    return None if query is None else query.decode("utf-8", "backslashreplace")


class TableBytes(NamedTuple):
    """The tables whose rows each transaction changes, in order of their first change.

    `names`: all tables.
    `owners`, `tables`: transaction number, and index of the table in `names`.
    `bytes`: size of the rows events of that transaction for that table.
    """

    names: list[str]
    owners: Ints
    tables: Ints
    bytes: Ints

    @classmethod
    def of(cls, block: Block, parts: Parts, changes: Changes) -> TableBytes:
        """The table bytes of all transactions in a block."""
        known: dict[str, int] = {}
        names = [_name(table) if isinstance(table, Table) else "" for table in changes.tables]
        # A redefined table has several table maps.
        codes = np.array([*(known.setdefault(name, len(known)) for name in names), -1], dtype=np.int64)
        of_event, numbers = codes[changes.table_of], parts.number_of[changes.rows]
        is_named = np.array([name != "" for name in known] + [False])[of_event]
        chosen = np.flatnonzero((numbers >= 0) & is_named)
        keys = numbers[chosen] * (len(known) + 1) + of_event[chosen]
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        sizes = np.bincount(
            which.reshape(-1), weights=block.sizes[changes.rows[chosen]], minlength=len(first)
        )
        order = np.argsort(first)
        firsts = chosen[first[order]]
        return cls(list(known), numbers[firsts], of_event[firsts], sizes[order].astype(np.int64))


def _tables(block: Block, parts: Parts, changes: Changes) -> tuple[pa.Array, pa.Array]:
    """The tables whose rows each transaction changes, in order of their first change, and their bytes."""
    found = TableBytes.of(block, parts, changes)
    counts = np.bincount(found.owners, minlength=len(parts))
    offsets = pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
    texts = pa.DictionaryArray.from_arrays(
        pa.array(found.tables.astype(np.int32)), pa.array(found.names, pa.string())
    )
    names = pa.ListArray.from_arrays(offsets, texts.cast(pa.string()))
    return names, pa.ListArray.from_arrays(offsets, pa.array(found.bytes))


def _name(table: Table) -> str:
    text = ".".join(table.key)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def changed_rows(block: Block, parts: Parts, changes: Changes) -> dict[str, tuple[Ints, Bools]]:
    """Number of rows that each transaction changes, by kind of change, int64, and where it is unknown."""
    types, found = block.types[changes.rows], {}
    for name, kinds in _CHANGES.items():
        chosen = np.flatnonzero(np.isin(types, kinds))
        rows, values = changes.rows[chosen], changes.counts[chosen]
        found[name] = parts.sums(rows, np.maximum(values, 0)), parts.any(rows[values == UNKNOWN])
    return found


#: A row of `part_schema` as Python values.
PartRow = dict[str, Any]


def join(parts: Sequence[PartRow]) -> PartRow:
    """Merge the parts of a transaction, in order."""
    whole = dict(parts[0])
    for part in parts[1:]:
        for name in ("events", *_CHANGES):
            is_known = None not in (whole[name], part[name])
            whole[name] = whole[name] + part[name] if is_known else None
        sums = dict(zip(whole["tables"], whole["table_bytes"], strict=True))
        for name, count in zip(part["tables"], part["table_bytes"], strict=True):
            sums[name] = sums.get(name, 0) + count
        whole["tables"], whole["table_bytes"] = list(sums), list(sums.values())
        for name in ("is_compressed", "is_begun", "has_type"):
            whole[name] = whole[name] or part[name]
        whole["start"] = min(filter(None, (whole["start"], part["start"])), default=0)
        for name in ("end_position", "end"):
            whole[name] = part[name]
        for name in ("outcome", "xid", "schema"):
            whole[name] = part[name] or whole[name]
        for name in ("meant", "statement", "thread_id"):
            whole[name] = whole[name] if whole[name] else part[name]
    return whole
