"""Table definitions as a log's statements create and change them, in log order."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from binlog_kaitai.ddl.definition_match import DefinitionMismatch, fitted, with_unplaced
from binlog_kaitai.ddl.lexer import may_matter_bytes
from binlog_kaitai.ddl.store import WITHHELD, Session, Store, TableKey
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.sources.source import log_number, series_of
from binlog_kaitai.values.table_definition import (
    Charset,
    ColumnDefinition,
    Columns,
    ForeignKey,
    HiddenColumn,
    TableDefinition,
)

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody
    from binlog_kaitai.core.grammar import TableMapEvent


#: Begins a file of definitions that hold where reading begins, so that partitions can be followed from there.
FOLLOWED = "-- Partitions are followed from here on.\n"

#: What changes at a statement, by file and position.
Timelines = dict[tuple[str, int], list[tuple[TableKey, TableDefinition | str | None]]]


class DatedText(str):
    """The text of a file of definitions, with the places in logs from which they hold."""

    timelines: Timelines

    @classmethod
    def of(cls, text: str, timelines: Timelines) -> DatedText:
        """A text that is equal only to one with the same places."""
        dated = cls(f"-- {sha256(repr(timelines).encode()).hexdigest()}\n{text}")
        dated.timelines = timelines
        return dated


class Definitions:
    """Follows table definitions statement by statement.

    A statement defines a table from that point on. A statement that cannot be parsed makes the tables it
    names unknown until they are created again: column names are never guessed.

    Definitions from a file (:meth:`load`) apply to tables that no statement of the log has created; the log's
    statements change them, too. If such a change does not apply, the file is newer than the statement.

    Whether table names are case-sensitive depends on the server, and the log does not say. Statements are
    therefore followed both ways, case-sensitive and case-insensitive. The case-sensitive result takes
    precedence; if the two contradict each other, nothing is known. Two tables whose names differ only in
    case, or a table map with capital letters (servers that fold names log lower case), prove that names are
    case-sensitive.
    """

    def __init__(self, origin: str = "log") -> None:
        self._store = Store(origin)
        self._folded = Store(origin, is_folded=True)
        self._has_case = False
        self._timelines: Timelines = {}

    @property
    def state(self) -> tuple[Store, Store, bool]:
        """The complete state: both stores, and whether names are known to be case-sensitive."""
        return self._store, self._folded, self._has_case

    def copy(self) -> Definitions:
        """An independent copy."""
        other = Definitions()
        other._store, other._folded, other._has_case = self._store.copy(), self._folded.copy(), self._has_case
        other._timelines = self._timelines
        return other

    def observe(self, schema_name: str, sql: str, session: Session | None = None) -> bool:
        """Follow one statement; returns whether it may have changed a definition.

        `schema_name`: default database.
        """
        if not may_matter_bytes(sql.encode(errors="replace")):
            return False
        # The parser is imported on first use: most logs have no DDL that matters.
        from binlog_kaitai.ddl.apply import DefinitionUpdate
        from binlog_kaitai.ddl.lexer import UnreadableError
        from binlog_kaitai.ddl.statements import CreateTable, TruncateTable, qualified, read_statement

        session = session or Session()
        try:
            statement = read_statement(sql, session)
        except (UnreadableError, RecursionError) as error:
            self._lose_named(sql, str(error), schema_name, session)
            return True
        if statement is None or isinstance(statement, TruncateTable):
            return False
        if isinstance(statement, CreateTable):
            name = qualified(statement.name, schema_name)
            is_new = not (statement.is_temporary or statement.only_if_new or statement.replaces)
            # Creating a table that exists in another spelling proves that names are case-sensitive.
            is_other = self._folded.key(*name) in self._folded.tables and name not in self._store.tables
            self._has_case |= is_new and is_other
        results: dict[object, Any] = {}
        for store in (self._store, self._folded):
            DefinitionUpdate(store, schema_name, session, results).apply(statement)
        return True

    def observe_query(self, body: QueryBody | BinlogError) -> bool:
        """Follow the body of a QUERY_EVENT or QUERY_COMPRESSED_EVENT; otherwise like `observe`.

        For an event that cannot be parsed, pass the error instead: all tables are unknown from there on.
        """
        if isinstance(body, BinlogError):
            self.forget(f"a statement cannot be read: {body}")
            return True
        try:
            query = body.query
        except zlib.error as error:
            self._store.note(f"a compressed statement: {error}")
            return False
        if not may_matter_bytes(query):
            return False
        from binlog_kaitai.ddl.statements import is_half_done, session_of, text_of

        if is_half_done(body):
            return False
        sql = text_of(body)
        if sql is None or body.error_code:
            # Servers log a failed statement if it has changed something.
            reason = f"it ended with error {body.error_code}" if sql else "its character set is not known"
            text, session = sql or query.decode("latin-1"), session_of(body)
            self._lose_named(text, reason, body.schema_name, session, is_decoded=sql is not None)
            return True
        return self.observe(body.schema_name, sql, session_of(body))

    def load(self, text: str, schema_name: str = "") -> None:
        """Load a file of definitions, such as mysqldump writes.

        `schema_name`: database of tables defined before any USE.
        """
        from binlog_kaitai.ddl.lexer import statements_of

        if isinstance(text, DatedText):
            self._timelines = text.timelines
        loaded = Definitions("file")
        for default, statement in statements_of(text, schema_name):
            loaded.observe(default, statement)
        tables = {key: with_unplaced(table) for key, table in loaded._store.tables.items()}
        if FOLLOWED not in text[:200]:
            tables = {key: replace(table, partitioning="") for key, table in tables.items()}
        self._store.from_file.update(tables)
        # A file describes a single point in time: tables whose names differ only in case exist together.
        self._has_case |= len({self._folded.key(*key) for key in tables}) < len(tables)
        self._folded.from_file.update({self._folded.key(*key): table for key, table in tables.items()})
        self._store.referring |= loaded._store.referring
        self._folded.referring |= loaded._folded.referring
        for note in loaded._store.notes:
            self._store.note(note)

    @property
    def from_file(self) -> dict[TableKey, TableDefinition]:
        """The tables of a file."""
        return self._store.from_file

    def of(
        self, schema_name: str, table_name: str, table_map: TableMapEvent | None = None
    ) -> TableDefinition | None:
        """The definition of a table; given the body of a table map event, only if it matches."""
        definition = self.match(schema_name, table_name, table_map)
        return definition if isinstance(definition, TableDefinition) else None

    def match(
        self, schema_name: str, table_name: str, table_map: TableMapEvent | None = None
    ) -> TableDefinition | DefinitionMismatch | None:
        """The definition of a table, or the mismatch that rules it out, or None if nothing is known."""
        if table_map is not None and table_name != self._folded.name(table_name):
            self._has_case = True
        key = (schema_name, table_name)
        exact = _match(self._store, key, table_map)
        if self._has_case:
            return exact
        folded = _match(self._folded, self._folded.key(*key), table_map)
        if not isinstance(folded, TableDefinition):
            return exact or folded
        if isinstance(exact, TableDefinition) and exact.columns != folded.columns:
            return DefinitionMismatch(*key, "statements spell it in several ways, and differ in what it is")
        if isinstance(exact, TableDefinition) and exact.partitioning != folded.partitioning:
            return replace(exact, partitioning="")
        return exact if isinstance(exact, TableDefinition) else folded

    def is_temporary(self, session: Session, schema_name: str, table_name: str) -> bool:
        """Whether a name means a temporary table in a session."""
        return (session.thread_id, (schema_name, table_name)) in self._store.temporary

    def take_over(self, other: Definitions) -> None:
        """Take over another object's definitions, replacing these; the other must not be used afterwards."""
        self._store, self._folded, self._has_case = other._store, other._folded, other._has_case
        self._timelines = other._timelines

    def hold(self, timelines: Timelines) -> None:
        """Set from where to where the definitions of a file hold."""
        self._timelines = timelines
        changed = {key for changes in timelines.values() for key, _ in changes}
        for store in (self._store, self._folded):
            for key in [key for key, reason in store.lost.items() if reason.startswith(WITHHELD)]:
                if key in store.from_file and key not in changed:
                    del store.lost[key]

    def skip_to(self, file: str, position: int) -> None:
        """Take over what the definitions of a file are at an offset of a log, unless a table is known."""
        place = log_number(file), position
        latest = dict[TableKey, TableDefinition | str | None]()
        for (name, changed), changes in self._timelines.items():
            if series_of(name) == series_of(file) and (log_number(name), changed) < place:
                latest.update(changes)
        self._take(change for change in latest.items() if change[0] not in self._store.tables)

    def reach(self, file: str, position: int) -> bool:
        """Take over what the definitions of a file are after a statement, or from the start of a log on.

        Returns whether they change there.
        """
        changes = self._timelines.get((file, position), ())
        self._take(changes)
        return bool(changes)

    def _take(self, changes: Iterable[tuple[TableKey, TableDefinition | str | None]]) -> None:
        for key, change in changes:
            for store in (self._store, self._folded):
                name = store.key(*key)
                if isinstance(change, str):
                    store.lose(name, change)
                elif change is None:
                    store.from_file.pop(name, None)
                    if name not in store.tables and name not in store.lost and name not in store.absent:
                        store.lose(name, f"{WITHHELD} is of another table of this name")
                elif store.lost.get(name, WITHHELD).startswith(WITHHELD):
                    store.put(name, change)

    def __iter__(self) -> Iterator[TableDefinition]:
        """The tables that the log has defined so far and not dropped."""
        return iter(list(self._store.tables.values()))

    def foreign_keys(self) -> list[tuple[TableDefinition, ForeignKey]]:
        """All foreign keys that are known, with their tables."""
        store = self._store
        tables = filter(None, map(store.find, {**store.from_file, **store.tables}))
        return [(table, foreign_key) for table in tables for foreign_key in table.foreign_keys]

    @property
    def notes(self) -> list[str]:
        """Statements that could not be parsed, and the tables that are unknown since; the newest 100."""
        return self._store.notes

    def forget(self, reason: str) -> None:
        """All tables are unknown from here on, because a part of the log, or a whole one, is missing."""
        self._store.note(reason)
        for store in (self._store, self._folded):
            store.absent.clear()
            store.databases.clear()
            store.temporary.clear()
            for key in {*store.tables, *store.from_file}:
                store.lose(key, reason)

    def _lose_named(
        self, sql: str, reason: str, schema_name: str, session: Session, *, is_decoded: bool = True
    ) -> None:
        """Mark the tables that a statement which cannot be parsed may concern as unknown."""
        from binlog_kaitai.ddl.unreadable import concerned

        self._store.note(f"{reason}: {sql[:200]}")
        own, others, is_certain = concerned(sql, schema_name, session, is_decoded=is_decoded)
        for store in (self._store, self._folded):
            if others is not None:
                store.absent.clear()  # it may have created a table that is not known yet
            keys = {store.key(*key) for key in others or ()}
            if not is_certain:
                keys.update(store.special, store.from_file)
            lost = {key for key in keys if store.find(key) is not None}
            for key in sorted(lost if own is None else lost | {store.key(*own)}):
                store.lose(key, f"a statement could not be parsed: {reason}")


def _match(
    store: Store, key: TableKey, table_map: TableMapEvent | None
) -> TableDefinition | DefinitionMismatch | None:
    if (lost := store.lost.get(key)) is not None:
        return DefinitionMismatch(*key, lost)
    reason = ""
    for table in (store.tables.get(key), store.from_file.get(key)):
        if table is not None:
            fit = table if table_map is None else fitted(table, table_map)
            if isinstance(fit, TableDefinition):
                return fit
            reason = reason or fit
    return DefinitionMismatch(*key, reason) if reason else None


def save(definitions: Definitions) -> str:
    """Serialize the definitions made by a log's statements; deterministic, and ``""`` for none.

    Definitions from a file (`Definitions.load`) are excluded unless a statement has changed them.
    """
    store, folded, has_case = definitions.state
    parts = [_of_store(store), _of_store(folded)]
    if not any(any(part) for part in parts):
        return ""
    state = json.dumps([*parts, has_case], separators=(",", ":"))
    return base64.b64encode(zlib.compress(state.encode(), 9)).decode()


def _of_store(store: Store) -> list[list[object]]:
    return [
        [_plain(table) for _, table in sorted(store.tables.items())],
        [[*key, reason] for key, reason in sorted(store.lost.items())],
        [[name, charset.charset, charset.collation] for name, charset in sorted(store.databases.items())],
        [[thread, *key] for thread, key in sorted(store.temporary)],
        [list(key) for key in store.absent],
    ]


def restore(text: str, ddl: str | None = None) -> Definitions:
    """Restore definitions from `save`, on top of those of a file (the argument of `Definitions.load`).

    Raises `UsageError`: the text was not written by `save`.
    """
    definitions = Definitions()
    if ddl is not None:
        definitions.load(ddl)
    if not text:
        return definitions
    try:
        *parts, has_case = json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
        for store, part in zip((definitions._store, definitions._folded), parts, strict=True):
            _fill(store, *part)
    except (ValueError, zlib.error, KeyError, TypeError) as error:
        raise UsageError(f"not valid saved definitions: {error}") from error
    definitions._has_case = definitions._has_case or has_case
    return definitions


def _fill(
    store: Store,
    tables: list[dict[str, object]],
    lost: list[tuple[str, str, str]],
    databases: list[tuple[str, str | None, str | None]],
    temporary: list[tuple[int, str, str]],
    absent: Sequence[tuple[str, str]] = (),  # not in states of earlier versions
) -> None:
    for saved in tables:
        table = _table(saved)
        store.tables[table.schema_name, table.table_name] = table
    store.lost.update({(schema, name): reason for schema, name, reason in lost})
    for key in (*store.tables, *store.lost):
        store.enter(key, store.tables.get(key))
    store.databases.update({name: Charset(*rest) for name, *rest in databases})
    store.absent.update(dict.fromkeys((schema, name) for schema, name in absent))
    store.temporary.update((thread, (schema, name)) for thread, schema, name in temporary)


def _plain(value: TableDefinition | ColumnDefinition) -> dict[str, object]:
    """The fields of a definition that differ from their defaults."""
    values = {field: getattr(value, field.name) for field in fields(value)}
    own_fields: dict[str, object] = {field.name: own for field, own in values.items() if own != field.default}
    if isinstance(value, TableDefinition):
        own_fields["columns"] = [_plain(column) for column in value.columns]
        if value.default_charset:
            own_fields["default_charset"] = [value.default_charset.charset, value.default_charset.collation]
    return own_fields


def _table(saved: dict[str, object]) -> TableDefinition:
    own_fields = _tuples(saved)
    own_fields["columns"] = Columns(ColumnDefinition(**_tuples(column)) for column in own_fields["columns"])
    if "hidden_columns" in own_fields:
        own_fields["hidden_columns"] = tuple(HiddenColumn(*hidden) for hidden in own_fields["hidden_columns"])
    if "foreign_keys" in own_fields:
        own_fields["foreign_keys"] = tuple(
            ForeignKey(name, tuple(parent), tuple(columns), *actions)
            for name, parent, columns, *actions in own_fields["foreign_keys"]
        )
    if "default_charset" in own_fields:
        own_fields["default_charset"] = Charset(*own_fields["default_charset"])
    return TableDefinition(**own_fields)


def _tuples(saved: dict[str, object]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in saved.items()}
