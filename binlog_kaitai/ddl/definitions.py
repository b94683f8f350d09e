"""Table definitions as a log's statements create and change them, in log order."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from binlog_kaitai.ddl.first_words import may_matter, may_matter_bytes
from binlog_kaitai.ddl.match import DefinitionMismatch, fitted, with_unplaced
from binlog_kaitai.ddl.store import Key, Session, Store
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.values.definition import TableDefinition

# The statement parser is imported on first use: most logs have no DDL that matters.
if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import TableMapEvent
    from binlog_kaitai.ddl.statements import CreateTable


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

    @property
    def state(self) -> tuple[Store, Store, bool]:
        """The complete state: both stores, and whether names are known to be case-sensitive."""
        return self._store, self._folded, self._has_case

    @classmethod
    def of_state(cls, store: Store, folded: Store, has_case: bool) -> Definitions:
        """Restore definitions from their state."""
        found = cls()
        found._store, found._folded, found._has_case = store, folded, has_case
        return found

    def copy(self) -> Definitions:
        """An independent copy."""
        return self.of_state(self._store.copy(), self._folded.copy(), self._has_case)

    def observe(self, schema_name: str, sql: str, session: Session | None = None) -> bool:
        """Follow one statement; returns whether it may have changed a definition.

        Parameters
        ----------
        schema_name
            Default database.
        """
        if not may_matter(sql):
            return False
        from binlog_kaitai.ddl.apply import Step
        from binlog_kaitai.ddl.lexer import UnreadableError
        from binlog_kaitai.ddl.statements import CreateTable, TruncateTable, read_statement

        session = session or Session()
        try:
            statement = read_statement(sql, session)
        except (UnreadableError, RecursionError) as error:
            self._lose_named(sql, str(error))
            return True
        if statement is None or isinstance(statement, TruncateTable):
            return False
        if isinstance(statement, CreateTable):
            self._look_for_case(schema_name, statement)
        for store in (self._store, self._folded):
            Step(store, schema_name, session).take(statement)
        return True

    def _look_for_case(self, schema_name: str, statement: CreateTable) -> None:
        """Creating a table that exists in another spelling proves that names are case-sensitive."""
        name = statement.name[-2] if len(statement.name) > 1 else schema_name, statement.name[-1]
        is_new = not (statement.is_temporary or statement.only_if_new or statement.replaces)
        if is_new and self._folded.key(*name) in self._folded.tables and name not in self._store.tables:
            self._has_case = True

    def observe_query(self, body: Any) -> bool:
        """Follow the body of a QUERY_EVENT or QUERY_COMPRESSED_EVENT; otherwise like `observe`.

        For an event that cannot be parsed, pass the error instead: all tables are unknown from there on.
        """
        if isinstance(body, BinlogError):
            self._lose_all(f"a statement cannot be read: {body}")
            return True
        try:
            query: bytes = body.query
        except zlib.error as error:
            self._store.note(f"a compressed statement: {error}")
            return False
        if not may_matter_bytes(query):
            return False
        from binlog_kaitai.ddl.queries import is_half_done, session_of, text_of

        if is_half_done(body):
            return False
        sql = text_of(body)
        schema_name: str = body.schema_name
        if sql is None:
            self._lose_named(query.decode("latin-1"), "its character set is not known")
            return True
        return self.observe(schema_name, sql, session_of(body))

    def load(self, text: str, schema_name: str = "") -> None:
        """Load a file of definitions, such as mysqldump writes.

        Parameters
        ----------
        schema_name
            Database of tables defined before any USE.
        """
        from binlog_kaitai.ddl.dump import statements_of

        loaded = Definitions("file")
        for default, statement in statements_of(text, schema_name):
            loaded.observe(default, statement)
        tables = {key: with_unplaced(table) for key, table in loaded._store.tables.items()}
        self._store.given.update(tables)
        # A file describes a single point in time: tables whose names differ only in case exist together.
        self._has_case |= len({self._folded.key(*key) for key in tables}) < len(tables)
        self._folded.given.update({self._folded.key(*key): table for key, table in tables.items()})
        for note in loaded._store.notes:
            self._store.note(note)

    def of(self, schema_name: str, table_name: str, table_map: Any = None) -> TableDefinition | None:
        """The definition of a table; given the body of a table map event, only if it matches."""
        found = self.match(schema_name, table_name, table_map)
        return found if isinstance(found, TableDefinition) else None

    def match(
        self, schema_name: str, table_name: str, table_map: Any = None
    ) -> TableDefinition | DefinitionMismatch | None:
        """The definition of a table, or the mismatch that rules it out, or None if nothing is known."""
        if table_map is not None and table_name != self._folded.name(table_name):
            self._has_case = True
        key = (schema_name, table_name)
        found = _match(self._store, key, table_map)
        if self._has_case:
            return found
        folded = _match(self._folded, self._folded.key(*key), table_map)
        if not isinstance(folded, TableDefinition):
            return found or folded
        if isinstance(found, TableDefinition) and found.columns != folded.columns:
            return DefinitionMismatch(*key, "statements spell it in several ways, and differ in what it is")
        return found if isinstance(found, TableDefinition) else folded

    def is_temporary(self, session: Session, schema_name: str, table_name: str) -> bool:
        """Whether a name means a temporary table in a session."""
        return (session.thread_id, (schema_name, table_name)) in self._store.temporary

    def take_over(self, other: Definitions) -> None:
        """Take over another object's definitions, replacing these; the other must not be used afterwards."""
        self._store, self._folded, self._has_case = other._store, other._folded, other._has_case

    def __iter__(self) -> Iterator[TableDefinition]:
        """The tables that the log has defined so far and not dropped."""
        return iter(list(self._store.tables.values()))

    @property
    def notes(self) -> list[str]:
        """Statements that could not be parsed, and the tables that are unknown since; the newest 100."""
        return self._store.notes

    def _lose_all(self, reason: str) -> None:
        self._store.note(reason)
        for store in (self._store, self._folded):
            store.absent.clear()
            for key in {*store.tables, *store.given}:
                store.lose(key, reason)

    def _lose_named(self, sql: str, reason: str) -> None:
        """Mark every table named in a statement that cannot be parsed as unknown."""
        self._store.note(f"{reason}: {sql[:200]}")
        folded = sql.casefold()
        for store in (self._store, self._folded):
            store.absent.clear()  # it may have created a table that is not known yet
            for key in {*store.tables, *store.given}:
                if key[1].casefold().replace("`", "``") in folded or not key[1].isascii():
                    store.lose(key, f"a statement could not be parsed: {reason}")


def _match(store: Store, key: Key, table_map: TableMapEvent) -> TableDefinition | DefinitionMismatch | None:
    if (lost := store.lost.get(key)) is not None:
        return DefinitionMismatch(*key, lost)
    reason = ""
    for table in (store.tables.get(key), store.given.get(key)):
        if table is not None:
            found = table if table_map is None else fitted(table, table_map)
            if isinstance(found, TableDefinition):
                return found
            reason = reason or found
    return DefinitionMismatch(*key, reason) if reason else None
