"""Tables of a server in parts: the queries that read them for a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType

from binlog_kaitai.live.session import Session
from binlog_kaitai.snapshot.chunks import Chunk
from binlog_kaitai.snapshot.snapshot_values import quoted, selected
from binlog_kaitai.values.column_kinds import INTEGER_TYPES
from binlog_kaitai.values.schema import Column, Schema

#: About how many rows are in a range of the primary key.
_RANGE_ROWS = 1 << 18

#: Maximum number of keys in a query.
_QUERY_KEYS = 1000


@dataclass(frozen=True)
class Table:
    """A table of the server, and roughly how many rows it has.

    Attributes
    ----------
    withheld : frozenset of str
        Columns that the server does not send.
    statement : str
        Its definition, as the server prints it.
    """

    schema: Schema
    is_transactional: bool
    rows: int
    withheld: frozenset[str] = frozenset()
    statement: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.schema.schema_name, self.schema.table_name

    @property
    def integer_key(self) -> Column | None:
        """The column that alone is the primary key, if it is an integer."""
        key = [self.schema.columns[at] for at in self.schema.primary_key]
        return key[0] if len(key) == 1 and key[0].type in INTEGER_TYPES else None


@dataclass(frozen=True)
class Range:
    """A part of a table: all rows, or a range of its integer key.

    Attributes
    ----------
    bounds : tuple of int
        Where the second and later ranges of the table begin. The first and the last range have no limit, so
        that together they contain every key.
    number : int
        Which of these ranges this is, from 0.
    base : Chunk or None
        The range as an earlier attempt read it.
    keys : tuple of int
        With `base`: the rows to read again.
    """

    table: Table
    bounds: tuple[int, ...] = ()
    number: int = 0
    base: Chunk | None = None
    keys: tuple[int, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def lower(self) -> int | None:
        return self.bounds[self.number - 1] if self.number else None

    @property
    def upper(self) -> int | None:
        return self.bounds[self.number] if self.number < len(self.bounds) else None

    def contains(self, key: int) -> bool:
        """Whether a row with this key is in the range."""
        return (self.lower is None or key >= self.lower) and (self.upper is None or key < self.upper)

    @property
    def queries(self) -> Iterator[str]:
        schema, withheld = self.schema, self.table.withheld
        columns = ", ".join("NULL" if one.name in withheld else selected(one) for one in schema.columns)
        query = f"SELECT {columns} FROM {quoted(*self.table.key)}"
        column = self.table.integer_key
        name = quoted(column.name) if column is not None else ""
        if self.base is None:
            limits = [f"{name} >= {self.lower}"] if self.lower is not None else []
            limits += [f"{name} < {self.upper}"] if self.upper is not None else []
            yield query + (f" WHERE {' AND '.join(limits)}" if limits else "")
        for at in range(0, len(self.keys), _QUERY_KEYS):
            yield f"{query} WHERE {name} IN ({', '.join(map(str, self.keys[at : at + _QUERY_KEYS]))})"


def bounds_of(session: Session, table: Table) -> tuple[int, ...]:
    """The bounds of a large table with an integer as its primary key; another one is read as a whole."""
    key, parts = table.integer_key, table.rows // _RANGE_ROWS
    if parts < 2 or key is None:
        return ()
    name = quoted(key.name)
    statement = f"SELECT MIN({name}), MAX({name}) FROM {quoted(*table.key)}"
    least, most = session.ask_one(statement, (int, NoneType), (int, NoneType))
    if least is None or most is None:
        return ()
    return tuple(sorted({least + (most + 1 - least) * at // parts for at in range(1, parts)} - {least}))
