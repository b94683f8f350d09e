"""Tables of a server in parts: the queries that read them for a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from binlog_kaitai.live.session import Session
from binlog_kaitai.live.snapshot_values import quoted, selected
from binlog_kaitai.values.schema import Schema
from binlog_kaitai.values.types import INTEGER_TYPES

#: About how many rows are in a range of the primary key.
_RANGE_ROWS = 1 << 18


@dataclass(frozen=True)
class Range:
    """A part of a table: all rows, or those that a condition selects."""

    schema: Schema
    condition: str = ""
    withheld: frozenset[str] = frozenset()  # columns that the server does not send

    @property
    def query(self) -> str:
        columns = ", ".join(
            "NULL" if one.name in self.withheld else selected(one) for one in self.schema.columns
        )
        table = quoted(self.schema.schema_name, self.schema.table_name)
        return f"SELECT {columns} FROM {table}{self.condition}"


@dataclass(frozen=True)
class Table:
    """A table of the server, and roughly how many rows it has."""

    schema: Schema
    is_transactional: bool
    rows: int
    withheld: frozenset[str] = frozenset()


def ranges(session: Session, table: Table) -> Iterator[Range]:
    """A large table with an integer as its primary key in ranges of it; another one as a whole."""
    schema, key = table.schema, [table.schema.columns[at] for at in table.schema.primary_key]
    parts = table.rows // _RANGE_ROWS
    if parts < 2 or len(key) != 1 or key[0].type not in INTEGER_TYPES:
        yield Range(schema, withheld=table.withheld)
        return
    name = quoted(key[0].name)
    query = f"SELECT MIN({name}), MAX({name}) FROM {quoted(schema.schema_name, schema.table_name)}"
    ((least, most),) = session.ask(query)
    if least is None:
        return
    bounds = [least + (most + 1 - least) * at // parts for at in range(parts + 1)]
    for begin, end in pairwise(bounds):
        if begin < end:
            yield Range(schema, f" WHERE {name} >= {begin} AND {name} < {end}", table.withheld)
