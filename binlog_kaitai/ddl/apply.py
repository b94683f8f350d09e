"""Applies statements to the known definitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from binlog_kaitai.ddl.alter import Alteration, ContradictionError
from binlog_kaitai.ddl.column_charsets import CharsetChange, agreed, finish, with_options
from binlog_kaitai.ddl.elements import with_period
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.select_columns import columns_of
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    CreateTable,
    DropTables,
    Name,
    RenameTables,
    Statement,
    qualified,
)
from binlog_kaitai.ddl.store import WITHHELD, Session, Store, TableKey
from binlog_kaitai.values.table_definition import UNKNOWN_CHARSET, Charset, Columns, TableDefinition


class DefinitionUpdate:
    """Applies one statement in its session.

    `results`: definitions that the statement makes; stores in which it starts from the same ones share them.
    """

    def __init__(
        self, store: Store, schema_name: str, session: Session, results: dict[object, Any] | None = None
    ) -> None:
        self._store, self._results = store, {} if results is None else results
        self._schema_name = store.name(schema_name)
        self._session = session

    def apply(self, statement: Statement) -> None:
        """Update the store with the effect of the statement on the server."""
        match statement:
            case CreateTable():
                self._create(statement)
            case AlterTable():
                self._alter(statement)
            case RenameTables():
                for old, new in statement.pairs:
                    self._rename(self._key(old), self._key(new))
            case DropTables():
                for key in map(self._key, statement.names):
                    is_temporary = self._temporary(key) in self._store.temporary
                    if statement.drops_real(is_temporary, self._store.find(key)):
                        self._store.drop(key)
                    elif not statement.may_be_others:
                        self._store.temporary.discard(self._temporary(key))
            case ChangeDatabase():
                self._database(statement)

    def _key(self, name: Name) -> TableKey:
        return self._store.key(*qualified(name, self._schema_name))

    def _temporary(self, key: TableKey) -> tuple[int, TableKey]:
        return (self._session.thread_id, key)

    def _create(self, statement: CreateTable) -> None:
        key, store = self._key(statement.name), self._store
        if statement.is_temporary:
            store.temporary.add(self._temporary(key))
            return
        if statement.only_if_new and not statement.is_certain and not self._is_new(key, statement):
            return
        try:
            table = self._new_table(key, statement)
        except UnreadableError as error:
            store.lose(key, str(error))
            return
        if (former := store.find(key)) is not None and not statement.replaces:
            # The server shows it again, but not whether rows are in wrong partitions.
            table = replace(table, partitioning=former.partitioning)
        if table.columns:
            store.put(key, table)
        else:
            store.lose(key, "created without columns")

    def _is_new(self, key: TableKey, statement: CreateTable) -> bool:
        """Whether CREATE TABLE IF NOT EXISTS has created the table; if that is unclear, the table is lost."""
        store, has_created = self._store, statement.has_created(self._session)
        if key in store.tables or key in store.lost:
            return False
        if has_created is None and store.is_absent(key):
            return True
        if has_created is None and key not in store.from_file:
            store.lose(key, "it may have existed before CREATE TABLE IF NOT EXISTS, with other columns")
        return bool(has_created)

    def _new_table(self, key: TableKey, statement: CreateTable) -> TableDefinition:
        if statement.source is not None:
            source = self._known(statement.source)
            if source is None:
                raise UnreadableError("CREATE TABLE … LIKE an unknown table")
            return replace(source, foreign_keys=())
        default = self._charset_of_database(key[0])
        charset = with_options(default, statement.charset_options, default)
        known = (key[0], charset)
        if statement.query is not None or known not in self._results:
            self._results[known] = self._defined(key, statement, charset)
        table: TableDefinition = self._results[known]
        return table

    def _defined(self, key: TableKey, statement: CreateTable, charset: Charset) -> TableDefinition:
        elements = statement.elements
        columns = [finish(column, charset) for column in elements.columns]
        if statement.query is not None:
            selected = columns_of(statement.query, self._known)
            names = {column.key for column in selected}
            own = {column.key: column for column in columns}
            columns = [column for column in columns if column.key not in names]
            columns += [own.get(column.key, replace(column, default=None)) for column in selected]
        table = TableDefinition(
            *key,
            Columns(columns),
            charset,
            hidden_columns=elements.hidden_columns(len(columns)),
            unique_keys=elements.unique_keys,
            foreign_keys=tuple(foreign_key.of_schema(key[0]) for foreign_key in elements.foreign_keys),
            partitioning=statement.partitioning,
        ).with_primary_key(elements.primary_key)
        is_implicit = elements.is_versioned and not any(column.is_row_period for column in columns)
        return with_period(table) if is_implicit else table

    def _charset_of_database(self, name: str) -> Charset:
        return self._store.databases.get(name, UNKNOWN_CHARSET)

    def _known(self, name: Name) -> TableDefinition | None:
        key = self._key(name)
        return None if self._temporary(key) in self._store.temporary else self._store.find(key)

    def _alter(self, statement: AlterTable) -> None:
        key, store = self._key(statement.name), self._store
        new_key = None if statement.new_name is None else self._key(statement.new_name)
        if self._temporary(key) in store.temporary:
            if new_key is not None:
                self._rename_temporary(key, new_key)
            return
        table = store.find(key)
        if table is not None:
            self._change(key, table, statement)
        # The new name matters even if the table, or the change of it, is unknown.
        if new_key is not None:
            self._move(key, new_key)

    def _change(self, key: TableKey, table: TableDefinition, statement: AlterTable) -> None:
        database = self._charset_of_database(key[0])
        session = self._session.database_charset or self._charset_of_database(self._schema_name)
        # CONVERT TO CHARACTER SET DEFAULT is the database's in MariaDB 10.11, the session's in other servers.
        conversion = agreed(database, session)
        start = replace(table, table_name="", origin="", columns=Columns())
        known = (id(table.columns), start, database, conversion)
        try:
            if known not in self._results:
                charsets = CharsetChange(table.default_charset, database, conversion)
                change = Alteration(table, statement.clauses, self._session.sql_mode, charsets)
                self._results[known] = change, change.result()
            change, result = self._results[known]
        except (UnreadableError, ContradictionError) as error:
            is_file_newer = table.origin == "file" and key not in self._store.tables
            if not (isinstance(error, ContradictionError) and is_file_newer):  # which has the change already
                self._store.lose(key, f"a change of it cannot be followed: {error}")
            return
        for name in change.partition_tables:
            self._store.put(self._key(name), replace(result, partitioning=""))
        for name in change.absorbed_tables:
            self._store.drop(self._key(name))
        if result != table:
            self._store.put(key, result)

    def _rename(self, old: TableKey, new: TableKey) -> None:
        if not self._session.is_mysql and self._temporary(old) in self._store.temporary:
            self._rename_temporary(old, new)
        else:
            self._move(old, new)

    def _rename_temporary(self, old: TableKey, new: TableKey) -> None:
        self._store.temporary.discard(self._temporary(old))
        self._store.temporary.add(self._temporary(new))

    def _move(self, old: TableKey, new: TableKey) -> None:
        store = self._store
        for key in [*store.referring]:
            keys = () if (other := store.find(key)) is None else other.foreign_keys
            if other is not None and any(store.key(*key.parent) == old for key in keys):
                moved = (key._replace(parent=new) if store.key(*key.parent) == old else key for key in keys)
                store.put(key, replace(other, foreign_keys=tuple(moved)))
        table = store.find(old)
        reason = store.lost.get(old)
        store.drop(old)
        store.from_file.pop(old, None)
        if table is not None:
            store.put(new, table)
        elif reason is not None:
            store.lose(new, reason)
        elif (new[0], "") in store.absent:
            store.lose(new, "a table that is unknown was renamed to it")
        else:
            store.forget(new)
            store.absent.pop(new, None)
            if store.from_file.pop(new, None) is not None:
                store.lose(new, f"{WITHHELD} may be of another table: one that is unknown was renamed to it")

    def _database(self, statement: ChangeDatabase) -> None:
        store = self._store
        name = store.name(statement.name or self._schema_name)
        new_name = None if statement.new_name is None else store.name(statement.new_name)
        if statement.is_dropped:
            for key in store.keys_of(name):
                if new_name is not None:
                    self._move(key, (new_name, key[1]))
                else:
                    store.forget(key)
            if new_name is None:
                store.databases.pop(name, None)
        has_changed = not statement.only_if_new or self._session.has_changed
        if (statement.is_created and has_changed) or (statement.is_dropped and new_name is None):
            store.note_absent((name, ""))
        server, options = self._session.server_charset, statement.charset_options
        if statement.is_created:
            if statement.only_if_new and (name in store.databases or has_changed is False):
                return
            store.databases[name] = with_options(server, options, server)
        elif options:
            store.databases[name] = with_options(self._charset_of_database(name), options, server)
        elif new_name is not None and name in store.databases:
            store.databases[new_name] = store.databases.pop(name)
