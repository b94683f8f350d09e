"""Effects of statements on whole tables: rows that appear, disappear or move without a rows event.

A reader that maintains table contents from row changes must know about them.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from heapq import merge
from itertools import chain, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl.changed_tables import changed_tables
from binlog_kaitai.ddl.conversions import Conversions, conversions_by
from binlog_kaitai.ddl.definition_changes import DdlKind, DefinitionChange, changes_of, column_clauses
from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.ddl.lexer import Token, TokenCursor, UnreadableError, may_affect_tables, tokens_of
from binlog_kaitai.ddl.partitions import rows_of
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    CreateTable,
    qualified,
    session_of,
    skip_variables,
    text_of,
)
from binlog_kaitai.ddl.store import Session, TableKey
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.following.known_values import of_column, packed
from binlog_kaitai.log import statements as log_statements
from binlog_kaitai.log.block import Block
from binlog_kaitai.rows import rolled_back_rows

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody

#: First words of clauses of ALTER TABLE that remove or add rows, also of another table that they name.
_MOVES_ROWS = ("TRUNCATE", "EXCHANGE", "DISCARD", "IMPORT")
_MOVE_ROWS = (["CONVERT", "PARTITION"], ["CONVERT", "TABLE"])

#: Types of events whose text only the event reader can provide: it is compressed, or names a file.
_BY_READER = (EventType.query_compressed_event, EventType.execute_load_query_event)

#: LOAD DATA as MySQL logged it before 5.0.3.
_OLD_LOADS = (EventType.load_event, EventType.new_load_event, EventType.create_file_event)

#: Stands for a statement that cannot be read.
_NO_TEXT = b"\0"

#: In an ALTER TABLE: it may concern other tables. In a CREATE TABLE: it may have a query.
_MAY_NAME_OTHERS = re.compile(rb"(?i)RENAME|EXCHANGE|CONVERT")
_MAY_HAVE_QUERY = re.compile(rb"(?is)\bSELECT\b|\bVALUES\s*(?:ROW\s*)?\(|\bTABLE\b.*\bTABLE\b")

#: Reasons why contents are not determined: of a table, and of any.
LOGGED_AS_TEXT = "statements that change rows are logged as text (binlog_format)"
_MAY_CHANGE_ANY = "a statement cannot be read, or calls a function: it may have changed any table"
_MOVED = "a statement moved rows of whole partitions"
ERRANT = "another server has executed {}, before transactions that were read earlier from the former one"
_MAY_DROP = "DROP SEQUENCE IF EXISTS drops it only if it is a sequence; its kind is unknown"
_INCIDENT = "the log has an incident: changes of any table may be missing"


class EffectKind(StrEnum):
    """Kinds of effects on a table, or on a transaction, whose `table_name` is the XA identifier.

    `CREATED`: a new table has no rows.
    `CONVERTED`: values of rows are others or new, or rows are gone; `MORE_DIGITS`: only the text of times is
    another; `REDEFINED`: columns are new or have another type, and their values are known.
    `REMOVED`: the rows of some partitions are gone.
    `KEYED`, `UNNAMED`, `COMPUTED` and `RESTORED` are not effects, but facts that a lake records among them,
    in log order: the primary key and the columns of a table, why its columns have no names, which ones the
    server computes, but leaves out of images although their values change, and that a snapshot has all rows
    of a table.
    """

    CREATED = "created"
    EMPTIED = "emptied"
    RENAMED = "renamed"
    COLUMNS_MOVED = "columns_moved"
    CONVERTED = "converted"
    MORE_DIGITS = "more_digits"
    REDEFINED = "redefined"
    REMOVED = "removed"
    UNCLEAR = "unclear"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled_back"
    KEYED = "keyed"
    UNNAMED = "unnamed"
    COMPUTED = "computed"
    RESTORED = "restored"


@dataclass(frozen=True)
class Effect:
    """The effect of a statement on one table, or an XA transaction.

    `position`: position of the statement's event.
    `start`: start of a prepared transaction.
    `reason`: why the content of a table is no longer determined, or not until its rows change.
    `schema_name`, `table_name`: the table; an empty table name means all tables of the database, two empty
    names mean all tables.
    `new_schema_name`, `new_table_name`: new name of a renamed table.
    `columns`: old and new name of each renamed column; a new one has no old name, a dropped one no new name.
    Those of kind `COMPUTED` have the same one twice, as do those of `REDEFINED` whose text is another one.
    Those of kind `KEYED` are all columns, each with its type in a lake.
    `values`: of kind `REDEFINED`: see `known_values`; of kind `KEYED`: see `lake.described`.
    `key`: of kind `KEYED`: the columns of the primary key.
    `key`, `values`: of kind `REMOVED`: see `ddl.partitions.rows_of`.
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
    values: str = ""
    key: tuple[str, ...] = ()

    @property
    def table(self) -> TableKey:
        """The table by its names."""
        return self.schema_name, self.table_name


#: A statement, or the effect of what has no statement or one that is only known as text.
TableStatement = Union["QueryBody", Effect, BinlogError]


def unclear(
    position: int, schema_name: str = "", table_name: str = "", reason: str = _MAY_CHANGE_ANY
) -> Effect:
    """A table has changed without its rows being logged; without names, any table may have."""
    return Effect(position, EffectKind.UNCLEAR, schema_name, table_name, reason=reason)


class Statements:
    """Finds relevant statements, block by block."""

    def __init__(self) -> None:
        self._known: set[TableKey] = set()

    def of(self, block: Block, quiescent: NDArray[np.int64]) -> list[tuple[int, TableStatement]]:
        """Positions of their events, with the arguments of `take_statement`.

        `quiescent`: offsets at which no transaction is open, ascending; one of them precedes every event of
        the block.
        """
        rows = log_statements.statements_in(block, _may_matter)
        statements = [(int(block.positions[row]), log_statements.statement_body(block, row)) for row in rows]
        effects = [*self._of_texts(block, rows)]
        for position in block.positions[block.rows_of(EventType.incident_event)].tolist():
            effects.append(unclear(position, reason=_INCIDENT))
        for row in block.rows_of(EventType.xa_prepare_log_event).tolist():
            body, position = log_statements.statement_body(block, row), int(block.positions[row])
            if isinstance(body, BinlogError):
                effects.append(unclear(position))
            elif not body.is_one_phase:
                start = int(quiescent[np.searchsorted(quiescent, position, "right") - 1])
                xid = rolled_back_rows.xid_text(body)
                effects.append(Effect(position, EffectKind.PREPARED, "", xid, start=start))
        statements += [(effect.position, effect) for effect in effects]
        return sorted(statements, key=itemgetter(0))

    def _of_texts(self, block: Block, others: list[int]) -> Iterator[Effect]:
        """The first effect on each table after each of the other statements, which may determine its content
        again.
        """
        epoch = 0
        for row, query, schema in texts_in(block):
            if epoch < (epoch := bisect(others, row)):
                self._known.clear()
            names = changed_tables(query, partial(_read, block, row))
            tables = [("", "")] if names is None else [qualified(name, schema) for name in names]
            for table in tables:
                if table not in self._known:
                    self._known.add(table)
                    reason = _MAY_CHANGE_ANY if names is None else LOGGED_AS_TEXT
                    yield unclear(int(block.positions[row]), *table, reason)


def texts_in(block: Block) -> Iterator[tuple[int, bytes, str]]:
    """The statements of a block, with their default databases; `_NO_TEXT` for one that cannot be read."""
    return merge(_plain_texts(block), _other_texts(block), key=itemgetter(0))


def _plain_texts(block: Block) -> Iterator[tuple[int, bytes, str]]:
    rows = block.statements
    if not len(rows):
        return
    body = block.statement_bodies
    ranges = (*body.ranges("query"), *body.ranges("schema_name"))
    values = (values[body.matches].tolist() for values in (rows, *ranges))
    for row, start, length, name_at, name_length in zip(*values, strict=True):
        schema = bytes(block.data[name_at : name_at + name_length])
        yield row, bytes(block.data[start : start + length]), schema.decode("utf-8", "surrogateescape")


def _other_texts(block: Block) -> Iterator[tuple[int, bytes, str]]:
    """Compressed statements, LOAD DATA, and events with another layout."""
    rows = [block.rows_of(kind) for kind in (*_BY_READER, *_OLD_LOADS)]
    if len(block.statements):
        rows.append(block.statements[~block.statement_bodies.matches])
    for row in np.sort(np.concatenate(rows)).tolist():
        body = log_statements.statement_body(block, row)
        query, schema = _NO_TEXT, ""
        if block.types[row] not in _OLD_LOADS and not isinstance(body, BinlogError):
            with suppress(zlib.error):
                query, schema = bytes(body.query), body.schema_name
        yield row, query, schema


def _read(block: Block, row: int) -> tuple[str | None, Session]:
    """The text of a statement, None if it cannot be decoded, and its session."""
    body = log_statements.statement_body(block, row)
    return (None, Session()) if isinstance(body, BinlogError) else (text_of(body), session_of(body))


def _may_matter(query: bytes | memoryview) -> bool:
    return may_affect_tables(query) or rolled_back_rows.END.match(query) is not None


def take_statement(position: int, body: TableStatement, definitions: Definitions) -> list[Effect]:
    """Apply a statement to the definitions; returns its effects on whole tables.

    A statement that cannot be read makes the tables unclear that it may have changed.
    """
    if isinstance(body, Effect):
        return [body]
    if isinstance(body, BinlogError):
        definitions.observe_query(body)
        return [unclear(position)]
    try:
        if end := rolled_back_rows.END.match(body.query):
            kind = EffectKind.COMMITTED if end[1].upper() == b"COMMIT" else EffectKind.ROLLED_BACK
            return [Effect(position, kind, "", end[2].decode())]
        changes = changes_of(body, definitions)
        effects = list(_Effects(position, body, definitions).of(changes))
    except zlib.error:
        return [unclear(position)]
    return effects if all(map(_has_text, effects)) else [unclear(position)]


class _Effects:
    """The effects of one statement, which has been applied to the definitions."""

    def __init__(self, position: int, body: QueryBody, definitions: Definitions) -> None:
        self._effect, self._unclear = partial(Effect, position), partial(unclear, position)
        self._body, self._definitions = body, definitions

    def of(self, changes: list[DefinitionChange]) -> Iterator[Effect]:
        """The effects of what it does; if it cannot be read, or has failed, those that it may have."""
        if changes and changes[0].statement is None:
            yield from self._of_unreadable()
            return
        may_be_others = any(ddl.is_done is None and ddl.kind is DdlKind.DROP_TABLE for ddl in changes)
        for change in changes:
            match change.kind, change.statement:
                case DdlKind.CREATE_TABLE, CreateTable() as statement:
                    kind = EffectKind.EMPTIED if statement.replaces else EffectKind.CREATED
                    if change.is_done:
                        yield self._effect(kind, *change.key)
                    if statement.query is not None:
                        yield self._unclear(*change.key, reason=LOGGED_AS_TEXT)
                case DdlKind.ALTER_TABLE, AlterTable() as statement:
                    yield from self._of_alter(change, statement)
                case DdlKind.RENAME_TABLE, _:
                    yield self._effect(EffectKind.RENAMED, *change.key, *change.new_key)
                case DdlKind.DROP_TABLE, _ if may_be_others:
                    yield self._unclear(*change.key, reason=_MAY_DROP)
                case ((DdlKind.DROP_TABLE | DdlKind.TRUNCATE_TABLE), _) if change.is_done:
                    yield self._effect(EffectKind.EMPTIED, *change.key)
                case _, ChangeDatabase(is_dropped=True):
                    yield from self._of_database(change)

    def _of_database(self, change: DefinitionChange) -> Iterator[Effect]:
        name, new_name = change.schema_name, change.new_schema_name
        if not name.isascii() and name.encode("utf-8", "replace") not in self._body.query:
            yield self._unclear()  # MySQL writes such a name in UTF-8, whatever the character set
        elif new_name is None:
            yield self._effect(EffectKind.EMPTIED, name, "")
        else:
            reason = "RENAME DATABASE moved tables to it or from it"
            yield from (self._unclear(schema, "", reason=reason) for schema in (name, new_name))

    def _of_alter(self, change: DefinitionChange, statement: AlterTable) -> Iterator[Effect]:
        is_renamed = statement.new_name is not None
        try:
            mode = change.session.sql_mode
            conversions = conversions_by(statement, change.before, change.after, mode)
            yield from self._of_clauses(statement, change, conversions)
        except UnreadableError as error:
            if not is_renamed and any(map(_names_table, statement.clauses)):
                yield self._unclear()
                return
            yield self._unclear(*change.key, reason=f"an ALTER TABLE cannot be followed: {error}")
        if is_renamed:
            yield self._effect(EffectKind.RENAMED, *change.key, *change.new_key)

    def _of_clauses(
        self, statement: AlterTable, change: DefinitionChange, conversions: Conversions
    ) -> list[Effect]:
        effects: list[Effect] = []
        key = change.key
        pairs = ((clause.old, clause.new) for clause in column_clauses(statement.clauses))
        if columns := tuple((old, new) for old, new in pairs if old != new):
            effects.append(self._effect(EffectKind.COLUMNS_MOVED, *key, columns=columns))
        for number, clause in enumerate(statement.clauses):
            words = [token.keyword for token in clause]
            if words == ["TRUNCATE", "PARTITION", "ALL"]:
                effects.append(self._effect(EffectKind.EMPTIED, *key))
            elif words[:2] in (["DROP", "PARTITION"], ["TRUNCATE", "PARTITION"]):
                effects.append(self._of_partitions(change, statement.clauses[number:]))
            elif words[0] in _MOVES_ROWS or words[:2] in _MOVE_ROWS:
                tables = [key]
                if "TABLE" in words:
                    name = TokenCursor(clause[words.index("TABLE") + 1 :]).dotted_name()
                    tables.append(qualified(name, self._body.schema_name))
                effects += [self._unclear(*table, reason=_MOVED) for table in tables]
        adds, converts = "adds a value other than NULL as", "converts values of"
        for kind, names, what in (
            (EffectKind.MORE_DIGITS, conversions.fractions, converts),
            (EffectKind.CONVERTED, conversions.filled, adds),
            (EffectKind.CONVERTED, conversions.values, converts),
        ):
            if names:
                effects.append(self._effect(kind, *key, reason=_of_rows(what, names)))
        for is_new, what in ((True, adds), (False, converts)):
            if known := [column for column in conversions.known if (column.old is None) is is_new]:
                names = tuple(col.new.name for col in known if not col.has_same_text or col.value is not None)
                values = packed([*map(of_column, known)])
                effect = self._effect(EffectKind.REDEFINED, *key, reason=_of_rows(what, names), values=values)
                effects.append(replace(effect, columns=tuple(zip(names, names, strict=True))))
        return effects

    def _of_partitions(self, change: DefinitionChange, clauses: Sequence[Sequence[Token]]) -> Effect:
        """The effect of clauses that drop or truncate partitions, to the end of the statement."""
        try:
            key, values = rows_of(change.before, clauses)
        except (UnreadableError, ValueError, OverflowError) as error:
            return self._unclear(*change.key, reason=f"{_MOVED}: {error}")
        return self._effect(EffectKind.REMOVED, *change.key, reason=_MOVED, key=key, values=values)

    def _of_unreadable(self) -> list[Effect]:
        """What a statement may have done, by what can be read of its beginning."""
        query: bytes = self._body.query
        session, flags = session_of(self._body), set[str]()
        cursor = TokenCursor([*_beginning(query, session)])
        with suppress(UnreadableError):
            skip_variables(cursor)
            verb = cursor.skip_one("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE")
            while word := cursor.skip_one("OR", "REPLACE", "TEMPORARY", "ONLINE", "OFFLINE", "IGNORE"):
                flags.add(word)
            kind = cursor.skip_one("TABLE", "TABLES", "SEQUENCE", "DATABASE", "SCHEMA")
            is_other = not kind and verb not in ("", "TRUNCATE") and cursor.keyword() != ""
            if is_other or "TEMPORARY" in flags:
                return []  # such as a view, a routine or an index
            if kind in ("DATABASE", "SCHEMA"):
                has_kept = verb == "ALTER" or (verb == "CREATE" and "REPLACE" not in flags)
                return [] if has_kept else [self._unclear()]
            while cursor.skip_one("IF", "NOT", "EXISTS"):
                pass
            name = cursor.dotted_name()
            table = qualified(name, self._body.schema_name)
            is_temporary = self._definitions.is_temporary(session, *table)
            emptied = [self._effect(EffectKind.EMPTIED, *table)]
            if verb == "CREATE":
                unclear = [self._unclear(*table, reason=LOGGED_AS_TEXT)]
                return emptied * ("REPLACE" in flags) + unclear * bool(_MAY_HAVE_QUERY.search(query))
            if verb == "TRUNCATE":
                return [] if is_temporary else emptied
            if verb == "ALTER" and not _MAY_NAME_OTHERS.search(query):
                return [] if is_temporary else [self._unclear(*table, reason="an ALTER TABLE cannot be read")]
        return [self._unclear()]


def _beginning(query: bytes, session: Session) -> Iterator[Token]:
    """The tokens up to the first one that cannot be read, or has characters other than ASCII."""
    tokens = tokens_of(query.decode("latin-1"), session.sql_mode, is_mysql=session.is_mysql)
    with suppress(UnreadableError):
        yield from takewhile(lambda token: token.text.isascii(), tokens)


def _of_rows(what: str, names: Sequence[str]) -> str:
    """The reason why rows have other values, or may have."""
    listed = "all columns" if names == ("*",) else ", ".join(names)
    return f"an ALTER TABLE {what} {listed}, or may do so, in rows that have not changed since"


def _names_table(clause: Sequence[Token]) -> bool:
    words = [token.keyword for token in clause]
    is_rename = words[0] == "RENAME" and words[1:2] not in (["COLUMN"], ["INDEX"], ["KEY"])
    return is_rename or "TABLE" in words


def _has_text(own: Effect) -> bool:
    """Whether all names are text: one in an unknown character set may be that of any table."""
    names = own.schema_name, own.table_name, own.new_schema_name, own.new_table_name, *chain(*own.columns)
    return not any("\ud800" <= character <= "\udfff" for character in "".join(names))
