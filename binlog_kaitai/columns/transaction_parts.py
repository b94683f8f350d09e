"""What a block says of each transaction in it, and the parts of one transaction put together.

Most transactions lie in one block and are one part: a row of the columns that `columns_of` makes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.boundaries import Outcome, Role, Roles, Segments
from binlog_kaitai.columns.lines import Column, Pool
from binlog_kaitai.columns.row_counts import UNKNOWN
from binlog_kaitai.columns.rows.images import Images
from binlog_kaitai.columns.rows.tables import Table
from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.transactions import GTID_TYPES

#: Schema and table.
Name = tuple[str, str]

#: Kinds of row changes, and the types of rows events that make them.
_CHANGES = ("write_", "update_", "delete_")
CHANGES: tuple[frozenset[int], ...] = tuple(
    frozenset(kind for kind in ROWS_TYPES if change in EventType(kind).name) for change in _CHANGES
)

_COMPRESSED_TYPES = frozenset(kind.value for kind in EventType if "compressed" in kind.name) | {
    EventType.transaction_payload_event
}
_QUERIES = (EventType.query_event, EventType.query_compressed_event, EventType.execute_load_query_event)
_TIMES = ("original_commit_timestamp", "immediate_commit_timestamp")
_CLOCK = ("last_committed", "sequence_number")
#: Of MariaDB's GTID events: column and field.
_OF_MARIADB = {
    "gtid_thread": "thread_id",
    "is_standalone": "is_standalone",
    "is_rollback_alter": "is_rollback_alter",
}


class Parts:
    """The transactions of one block, a row each, as arrays; None for what is unknown is `missing`."""

    def __init__(self, block: Block, found: Roles, segments: Segments) -> None:
        self._block, self._found = block, found
        self._rows, self._starts = segments.rows, segments.starts
        self._count = len(segments.starts)
        #: For each event the number of its transaction, -1 outside of all.
        self.number_of = np.full(len(block), -1, dtype=np.int64)
        lengths = np.diff(np.append(self._starts, len(self._rows)))
        self.number_of[self._rows] = np.repeat(np.arange(self._count), lengths)
        self._lengths = lengths

    def __len__(self) -> int:
        return self._count

    @property
    def first(self) -> Any:
        """The first event of each."""
        return self._rows[self._starts]

    @property
    def last(self) -> Any:
        """The last event of each."""
        return self._rows[self._starts + self._lengths - 1]

    def sums(self, rows: Any, values: Any) -> Any:
        """The sum over the events of each, of values that some events have."""
        numbers = self.number_of[rows]
        inside = numbers >= 0
        out = np.zeros(self._count, dtype=np.int64)
        np.add.at(out, numbers[inside], values[inside])
        return out

    def any(self, mask: Any) -> Any:
        """Whether any event of each is one of those that the mask marks."""
        out = np.zeros(self._count, dtype=np.bool_)
        numbers = self.number_of[mask]
        out[numbers[numbers >= 0]] = True
        return out

    def first_of(self, rows: Any) -> Any:
        """Index in `rows`, which are in order, of the first event of each; -1 where it has none."""
        out = np.full(self._count, -1, dtype=np.int64)
        numbers = self.number_of[rows]
        inside = np.flatnonzero(numbers >= 0)[::-1]
        out[numbers[inside]] = inside
        return out

    def last_of(self, rows: Any) -> Any:
        """The same of the last one."""
        out = np.full(self._count, -1, dtype=np.int64)
        numbers = self.number_of[rows]
        inside = np.flatnonzero(numbers >= 0)
        out[numbers[inside]] = inside
        return out


def columns_of(
    block: Block,
    found: Roles,
    parts: Parts,
    gtids: Column,
    pool: Pool,
    images: Images,
    counts: Any,
    *,
    types: list[int],
    with_schemas: bool,
) -> dict[str, list[Any]]:
    """The columns of all parts of a block, as lists.

    Parameters
    ----------
    images, counts
        The rows events, and how many rows each has.
    types
        Event types that are asked for: `has_type` tells which transactions have one.
    with_schemas
        Whether default databases are asked for.
    """
    first, last = parts.first, parts.last
    stamps = block.header["timestamp"]
    columns: dict[str, list[Any]] = {
        "position": block.positions[first].tolist(),
        "end_position": block.end_positions[last].tolist(),
        "gtid": _gtids(gtids, pool, first),
        "server_id": block.header.numbers("server_id")[first].tolist(),
        "start": _earliest(stamps, parts),
        "end": stamps[last].tolist(),
        "events": parts.sums(np.arange(len(block)), np.ones(len(block), np.int64)).tolist(),
        "is_begun": parts.any(found.roles == Role.BEGIN).tolist(),
        "is_compressed": parts.any(np.isin(block.types, list(_COMPRESSED_TYPES))).tolist(),
        **_of_gtid_events(block, parts),
        "xid": _xids(block, parts),
        "thread_id": _threads(block, parts),
        **_outcomes(block, found, parts, with_schemas=with_schemas),
        "has_type": parts.any(np.isin(block.types, types)).tolist(),
        "tables": _tables(parts, images),
    }
    for name, kinds in zip(("rows_inserted", "rows_updated", "rows_deleted"), CHANGES, strict=True):
        columns[name] = _sums_of_counts(block, parts, kinds, images, counts)
    return columns


def _gtids(gtids: Column, pool: Pool, first: Any) -> list[str | None]:
    places, lengths = (-gtids.first[first] - 1).tolist(), gtids.second[first].tolist()
    texts = (pool.read(place, length) for place, length in zip(places, lengths, strict=True))
    return [None if text == b"null" else text[1:-1].decode() for text in texts]


def _earliest(stamps: Any, parts: Parts) -> list[int]:
    """When each began: a GTID event is made at the end, the first statement's events before it."""
    out = np.full(len(parts), np.iinfo(np.int64).max, dtype=np.int64)
    numbers = parts.number_of
    inside = (numbers >= 0) & (stamps > 0)
    np.minimum.at(out, numbers[inside], stamps[inside])
    return np.where(out == np.iinfo(np.int64).max, 0, out).tolist()  # type: ignore[no-any-return]


def _of_gtid_events(block: Block, parts: Parts) -> dict[str, list[Any]]:
    """What the GTID event of each says, by the layouts, or by the reader where they do not reach."""
    out: dict[str, list[Any]] = {name: [None] * len(parts) for name in (*_TIMES, *_CLOCK, *_OF_MARIADB)}
    for kind in GTID_TYPES:
        rows = block.rows_of(kind)
        if not len(rows):
            continue
        body = block.body(kind)
        is_reached = kind == EventType.gtid_event or "last_committed" in body
        numbers = parts.number_of[rows].tolist()
        for index in np.flatnonzero(~body.fits).tolist() if is_reached else range(len(rows)):
            _take_from(block.event(int(rows[index])).body, out, numbers[index])
        if is_reached:
            _take_all(body, kind, out, numbers)
    return out


def _take_all(body: Any, kind: int, out: dict[str, list[Any]], numbers: list[int]) -> None:
    names = _OF_MARIADB if kind == EventType.gtid_event else {}
    for name, values in out.items():
        path = names.get(name, name)
        # What MariaDB calls a sequence number is the GTID's.
        if path not in body or (kind == EventType.gtid_event) != (name in _OF_MARIADB):
            continue
        condition = "has_commit_timestamps" if name in _TIMES else path
        mask = body.mask(path) & body.fits
        if condition in body and condition != path:
            mask = mask & body.numbers(condition).astype(np.bool_)
        found = body.numbers(path).tolist()
        for index in np.flatnonzero(mask).tolist():
            values[numbers[index]] = found[index]


def _take_from(body: Any, out: dict[str, list[Any]], number: int) -> None:
    is_mariadb = hasattr(body, "domain_id")
    for name, values in out.items():
        if is_mariadb == (name in _OF_MARIADB):
            values[number] = getattr(body, _OF_MARIADB.get(name, name), None)


def _xids(block: Block, parts: Parts) -> list[int | None]:
    rows = block.rows_of(EventType.xid_event)
    if not len(rows):
        return [None] * len(parts)
    values = block.body(EventType.xid_event).numbers("xid")
    index = parts.last_of(rows)
    return [int(values[at]) if at >= 0 else None for at in index.tolist()]


def _threads(block: Block, parts: Parts) -> list[int | None]:
    """The connection, by the first statement of each."""
    rows = np.sort(np.concatenate([block.rows_of(kind) for kind in _QUERIES]))
    values = np.zeros(len(block), dtype=np.int64)
    for kind in _QUERIES:
        if len(block.rows_of(kind)):
            values[block.rows_of(kind)] = block.body(kind).numbers("thread_id")
    index = parts.first_of(rows)
    return [int(values[rows[at]]) if at >= 0 else None for at in index.tolist()]


def _outcomes(block: Block, found: Roles, parts: Parts, *, with_schemas: bool) -> dict[str, list[Any]]:
    """How each ended, what its first statement is, and that statement's text if it is a definition."""
    ends = np.flatnonzero(found.roles == Role.END)
    at = parts.last_of(ends)
    outcome = np.where(at >= 0, found.outcomes[ends][at], Outcome.OPEN) if len(ends) else np.zeros(len(parts))
    statements = np.flatnonzero(found.roles == Role.STATEMENT)
    at = parts.first_of(statements)
    meant = (
        np.where(at >= 0, found.outcomes[statements][at], Outcome.OPEN)
        if len(statements)
        else np.zeros(len(parts))
    )
    texts: list[str | None] = [None] * len(parts)
    for number in np.flatnonzero(meant == Outcome.DDL).tolist():
        texts[number] = _text(block.event(int(statements[at[number]])))
    schemas: list[str | None] = [None] * len(parts)
    for kind in (EventType.query_event, EventType.query_compressed_event) if with_schemas else ():
        _take_schemas(block, kind, parts, schemas)
    return {"outcome": outcome.tolist(), "meant": meant.tolist(), "statement": texts, "schema": schemas}


def _take_schemas(block: Block, kind: int, parts: Parts, out: list[str | None]) -> None:
    """The default database of the last statement of each."""
    rows = block.rows_of(kind)
    if len(rows):
        starts, lengths = block.body(kind).ranges("schema_name")
        for number, at in enumerate(parts.last_of(rows).tolist()):
            if at >= 0:
                out[number] = _decode(bytes(block.data[int(starts[at]) : int(starts[at] + lengths[at])]))


def _text(event: Any) -> str | None:
    try:
        query: bytes | None = getattr(event.body, "query", None)
    except zlib.error:
        query = None
    return None if query is None else query.decode("utf-8", "backslashreplace")


def _tables(parts: Parts, images: Images) -> list[list[Name]]:
    """The tables whose rows each changes, in the order in which it first does."""
    out: list[list[Name]] = [[] for _ in range(len(parts))]
    if not len(images):
        return out
    numbers = parts.number_of[images.rows]
    span = len(images.tables) + 1
    _, first = np.unique(numbers * span + images.table_of + 1, return_index=True)
    for index in np.sort(first).tolist():
        table = images.table(index)
        if numbers[index] >= 0 and isinstance(table, Table):
            schema, name = table.key
            _add(out[numbers[index]], (_plain(schema), _plain(name)))
    return out


def _add(names: list[Name], name: Name) -> None:
    # A table that was redefined has several table maps.
    if name not in names:
        names.append(name)


def _plain(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _sums_of_counts(
    block: Block, parts: Parts, kinds: frozenset[int], images: Images, counts: Any
) -> list[int | None]:
    chosen = np.flatnonzero(np.isin(block.types[images.rows], list(kinds)))
    rows, values = images.rows[chosen], counts[chosen]
    total = parts.sums(rows, np.maximum(values, 0)).tolist()
    numbers = parts.number_of[rows[values == UNKNOWN]]
    for number in set(numbers[numbers >= 0].tolist()):
        total[number] = None
    return total  # type: ignore[no-any-return]


def join(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Parts of one transaction, in order, as one."""
    whole = dict(parts[0])
    for part in parts[1:]:
        for name in ("events", "rows_inserted", "rows_updated", "rows_deleted"):
            is_known = None not in (whole[name], part[name])
            whole[name] = whole[name] + part[name] if is_known else None
        whole["tables"] = list(dict.fromkeys((*whole["tables"], *part["tables"])))
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
