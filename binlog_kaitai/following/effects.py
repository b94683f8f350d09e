"""Effects of statements on whole tables: rows that appear, disappear or move without a rows event.

A reader that maintains table contents from row changes must know about them.
"""

from __future__ import annotations

import zlib
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl.changed_tables import changed_tables
from binlog_kaitai.ddl.conversions import Conversions, conversions_by
from binlog_kaitai.ddl.definition_changes import column_clauses
from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.ddl.lexer import TokenCursor, UnreadableError, may_affect_tables, may_truncate
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    CreateTable,
    DropTables,
    Name,
    RenameTables,
    Statement,
    TruncateTable,
    qualified,
    read_statement,
    session_of,
    statement_of,
    text_of,
)
from binlog_kaitai.ddl.store import Session, TableKey
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block import Block
from binlog_kaitai.rows import rolled_back_rows, table_maps

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody

#: Clauses of ALTER TABLE that remove or add rows.
_MOVES_ROWS = frozenset({"TRUNCATE", "EXCHANGE", "DISCARD", "IMPORT"})

#: Types of statements whose text only the event reader can provide: it is compressed, or names a file.
_BY_READER = (EventType.query_compressed_event, EventType.execute_load_query_event)

#: The reason if rows have changed without rows events.
LOGGED_AS_TEXT = "statements that change rows are logged as text (binlog_format)"


class EffectKind(StrEnum):
    """Kinds of effects on a table, or on a transaction, whose `table_name` is the XA identifier.

    `CONVERTED`: values of rows are others or new, or rows are gone; `MORE_DIGITS`: only the text of times is
    another.
    `KEYED` is no effect, but what a lake notes in their order: the primary key of a table.
    """

    EMPTIED = "emptied"
    RENAMED = "renamed"
    COLUMNS_MOVED = "columns_moved"
    CONVERTED = "converted"
    MORE_DIGITS = "more_digits"
    UNCLEAR = "unclear"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled_back"
    KEYED = "keyed"


@dataclass(frozen=True)
class Effect:
    """The effect of a statement on one table, or an XA transaction.

    `position`: position of the statement's event.
    `start`: start of a prepared transaction.
    `reason`: why the content of a table is no longer determined, or not until its rows change.
    `schema_name`, `table_name`: the table; an empty table name means all tables of the database.
    `new_schema_name`, `new_table_name`: new name of a renamed table.
    `columns`: old and new name of each renamed column; a new one has no old name, a dropped one no new name.
    """

    position: int
    kind: EffectKind
    schema_name: str
    table_name: str
    new_schema_name: str = ""
    new_table_name: str = ""
    start: int = 0
    reason: str = ""
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Prepared:
    """The end of a transaction prepared by XA: its start, and its identifier."""

    start: int
    xid: str


@dataclass(frozen=True)
class TextChange:
    """A statement that changes rows of a table and is logged as text."""

    schema_name: str
    table_name: str


#: What a statement, or the end of a transaction, may be.
TableStatement = Union["QueryBody", Prepared, TextChange, BinlogError]


class Statements:
    """Finds relevant statements, block by block."""

    def __init__(self) -> None:
        self._known: set[TextChange] = set()

    def of(self, block: Block, quiescent: NDArray[np.int64]) -> list[tuple[int, TableStatement]]:
        """Positions of their events, with the arguments of `take_statement`.

        `quiescent`: offsets at which no transaction is open, ascending; one of them precedes every event of
        the block.
        """
        rows = table_maps.statements_in(block, _may_matter)
        statements = [(int(block.positions[row]), table_maps.statement_body(block, row)) for row in rows]
        statements += list(self._text_changes(block, rows))
        for row in block.rows_of(EventType.xa_prepare_log_event).tolist():
            body, position = table_maps.statement_body(block, row), int(block.positions[row])
            if not isinstance(body, BinlogError) and not body.is_one_phase:
                start = int(quiescent[np.searchsorted(quiescent, position, "right") - 1])
                statements.append((position, Prepared(start, rolled_back_rows.xid_text(body))))
        return sorted(statements, key=lambda positioned: positioned[0])

    def _text_changes(self, block: Block, others: list[int]) -> Iterator[tuple[int, TextChange]]:
        """The first one for each table after each of the other statements, which may determine its content
        again.
        """
        epoch = 0
        for row, query, schema in texts_in(block):
            if epoch < (epoch := bisect(others, row)):
                self._known.clear()
            for name in changed_tables(query, partial(_sql_mode, block, row)):
                if (change := TextChange(*qualified(name, schema))) not in self._known:
                    self._known.add(change)
                    yield int(block.positions[row]), change


def texts_in(block: Block) -> Iterator[tuple[int, bytes, str]]:
    """The statements of a block that may change rows, with their default databases."""
    return merge(_plain_texts(block), _other_texts(block), key=itemgetter(0))


def _plain_texts(block: Block) -> Iterator[tuple[int, bytes, str]]:
    rows = block.statements
    if not len(rows):
        return
    body = block.statement_bodies
    ranges = (*body.ranges("query"), *body.ranges("schema_name"))
    for row, start, length, name_at, name_length in zip(
        rows.tolist(), *(values.tolist() for values in ranges), strict=True
    ):
        schema = bytes(block.data[name_at : name_at + name_length])
        yield row, bytes(block.data[start : start + length]), schema.decode("utf-8", "surrogateescape")


def _other_texts(block: Block) -> Iterator[tuple[int, bytes, str]]:
    """Compressed statements, and LOAD DATA."""
    for row in np.sort(np.concatenate([block.rows_of(kind) for kind in _BY_READER])).tolist():
        body = table_maps.statement_body(block, row)
        try:
            if not isinstance(body, BinlogError):
                yield row, bytes(body.query), body.schema_name
        except zlib.error:
            pass  # the definitions have dropped the tables it names


def _sql_mode(block: Block, row: int) -> int:
    body = table_maps.statement_body(block, row)
    return 0 if isinstance(body, BinlogError) else session_of(body).sql_mode


def _may_matter(query: bytes) -> bool:
    return may_affect_tables(query) or rolled_back_rows.END.match(query) is not None


def take_statement(position: int, body: TableStatement, definitions: Definitions) -> list[Effect]:
    """Apply a statement to the definitions; returns its effects on whole tables."""
    if isinstance(body, Prepared):
        return [Effect(position, EffectKind.PREPARED, "", body.xid, start=body.start)]
    if isinstance(body, TextChange):
        return [
            Effect(position, EffectKind.UNCLEAR, body.schema_name, body.table_name, reason=LOGGED_AS_TEXT)
        ]
    if isinstance(body, BinlogError):
        definitions.observe_query(body)
        return []
    effect, schema = partial(Effect, position), body.schema_name
    try:
        if end := rolled_back_rows.END.match(body.query):
            kind = EffectKind.COMMITTED if end[1].upper() == b"COMMIT" else EffectKind.ROLLED_BACK
            return [effect(kind, "", end[2].decode())]
        session = session_of(body)
        statement = _statement(body, session)
    except (UnreadableError, RecursionError, zlib.error):
        definitions.observe_query(body)  # drops the tables it names
        return []
    if not isinstance(statement, AlterTable):
        effects = _effects(statement, session, schema, definitions, effect)
        definitions.observe_query(body)
        return effects
    key = qualified(statement.name, schema)
    new_key = key if statement.new_name is None else qualified(statement.new_name, schema)
    is_temporary, before = definitions.is_temporary(session, *key), definitions.of(*key)
    definitions.observe_query(body)
    if is_temporary:
        return []
    try:
        conversions = conversions_by(statement, before, definitions.of(*new_key), session.sql_mode)
        return _of_alter(statement, key, new_key, conversions, effect)
    except UnreadableError:
        return [effect(EffectKind.UNCLEAR, *key, reason="an ALTER TABLE cannot be parsed")]


def _statement(body: QueryBody, session: Session) -> Statement | None:
    if text_of(body) is None and may_truncate(body.query):  # the name needs no character set
        return read_statement(body.query.decode("utf-8", "surrogateescape"), session)
    return statement_of(body)


def _effects(
    statement: Statement | None,
    session: Session,
    schema: str,
    definitions: Definitions,
    effect: Callable[..., Effect],
) -> list[Effect]:
    def is_temporary(name: Name) -> bool:
        return definitions.is_temporary(session, *qualified(name, schema))

    match statement:
        case CreateTable(replaces=True, is_temporary=False):
            return [effect(EffectKind.EMPTIED, *qualified(statement.name, schema))]
        case TruncateTable() if not is_temporary(statement.name):
            return [effect(EffectKind.EMPTIED, *qualified(statement.name, schema))]
        case DropTables():
            names = [name for name in statement.names if statement.drops_real(is_temporary(name))]
            return [effect(EffectKind.EMPTIED, *qualified(name, schema)) for name in names]
        case ChangeDatabase(is_dropped=True, new_name=None):
            return [effect(EffectKind.EMPTIED, statement.name or schema, "")]
        case RenameTables():
            return [
                effect(EffectKind.RENAMED, *qualified(old, schema), *qualified(new, schema))
                for old, new in statement.pairs
                if session.is_mysql or not is_temporary(old)
            ]
    return []


def _of_alter(
    statement: AlterTable,
    key: TableKey,
    new_key: TableKey,
    conversions: Conversions,
    effect: Callable[..., Effect],
) -> list[Effect]:
    effects: list[Effect] = []
    pairs = ((one.old, one.new) for one in column_clauses(statement.clauses))
    if columns := tuple((old, new) for old, new in pairs if old != new):
        effects.append(effect(EffectKind.COLUMNS_MOVED, *key, columns=columns))
    for clause in statement.clauses:
        cursor = TokenCursor(clause)
        first, second = cursor.keyword(), cursor.keyword(1)
        if first in _MOVES_ROWS or (first == "DROP" and second == "PARTITION"):
            effects.append(
                effect(EffectKind.UNCLEAR, *key, reason="a statement moved rows of whole partitions")
            )
    for kind, names, what in (
        (EffectKind.MORE_DIGITS, conversions.fractions, "converts values of"),
        (EffectKind.CONVERTED, conversions.filled, "adds a value other than NULL as"),
        (EffectKind.CONVERTED, conversions.values, "converts values of"),
    ):
        if names:
            listed = "all columns" if names == ("*",) else ", ".join(names)
            reason = f"an ALTER TABLE {what} {listed}, or may do so, in rows that have not changed since"
            effects.append(effect(kind, *key, reason=reason))
    if statement.new_name is not None:
        effects.append(effect(EffectKind.RENAMED, *key, *new_key))
    return effects
