"""What statements do to whole tables: rows come, go and move without a row event.

Who keeps the content of tables by their row changes has to know of it.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.rows import tables
from binlog_kaitai.ddl.definitions import Definitions, statement_of
from binlog_kaitai.ddl.lexer import Cursor, UnreadableError, tokens_of
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    DropTables,
    Name,
    RenameTables,
    may_matter_bytes,
)
from binlog_kaitai.errors import BinlogError

_TRUNCATE = re.compile(rb"(?:\s+|/\*.*?\*/)*TRUNCATE\b", re.IGNORECASE | re.DOTALL)

#: Clauses of ALTER TABLE that take rows out, or put some in.
_MOVES_ROWS = frozenset({"TRUNCATE", "EXCHANGE", "DISCARD", "IMPORT"})


class Kind(StrEnum):
    """What happened to a table."""

    EMPTIED = "emptied"
    RENAMED = "renamed"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Upheaval:
    """One table, and what a statement did to it.

    Attributes
    ----------
    position : int
        Of the statement's event.
    schema_name, table_name : str
        Where the table's name is ``""``, all tables of the database.
    new_schema_name, new_table_name : str
        Of one that is renamed.
    """

    position: int
    kind: Kind
    schema_name: str
    table_name: str
    new_schema_name: str = ""
    new_table_name: str = ""


def statements_in(block: Block) -> list[tuple[int, Any]]:
    """The statements of a block that may matter: where their events are, and what `Definitions` take."""
    rows = tables.statements_in(block, _may_matter)
    return [(int(block.positions[row]), tables.statement_body(block, row)) for row in rows]


def _may_matter(query: bytes) -> bool:
    return may_matter_bytes(query) or _TRUNCATE.match(query) is not None


def take_statement(position: int, body: Any, definitions: Definitions) -> list[Upheaval]:
    """Let definitions know of a statement; gives what it does to whole tables."""
    definitions.observe_query(body)
    if isinstance(body, BinlogError):
        return []
    return [Upheaval(position, *one) for one in _effects(body)]


def _effects(body: Any) -> list[tuple[Any, ...]]:
    schema: str = body.schema_name
    try:
        query: bytes = body.query
        if _TRUNCATE.match(query):
            return [(Kind.EMPTIED, *_key(_truncated(query), schema))]
        statement = statement_of(body)
    except (UnreadableError, RecursionError, zlib.error):
        return []  # the definitions have lost what it names
    match statement:
        case DropTables():
            return [(Kind.EMPTIED, *_key(name, schema)) for name in statement.names]
        case ChangeDatabase(is_dropped=True, new_name=None):
            return [(Kind.EMPTIED, statement.name or schema, "")]
        case RenameTables():
            return [(Kind.RENAMED, *_key(old, schema), *_key(new, schema)) for old, new in statement.pairs]
        case AlterTable():
            return _of_alter(statement, schema)
    return []


def _of_alter(statement: AlterTable, schema: str) -> list[tuple[Any, ...]]:
    key = _key(statement.name, schema)
    found: list[tuple[Any, ...]] = []
    for clause in statement.clauses:
        cursor = Cursor(clause)
        first, second = cursor.keyword(), cursor.keyword(1)
        if first in _MOVES_ROWS or (first == "DROP" and second == "PARTITION"):
            found.append((Kind.UNCLEAR, *key))
        elif cursor.skip("RENAME") and cursor.keyword() not in ("COLUMN", "INDEX", "KEY"):
            cursor.skip_one("TO", "AS")
            found.append((Kind.RENAMED, *key, *_key(cursor.dotted_name(), schema)))
    return found


def _truncated(query: bytes) -> Name:
    cursor = Cursor(list(tokens_of(query.decode("utf-8", "surrogateescape"))))
    cursor.skip("TRUNCATE")
    cursor.skip("TABLE")
    return cursor.dotted_name()


def _key(name: Name, schema: str) -> tuple[str, str]:
    return (name[-2] if len(name) > 1 else schema, name[-1])
