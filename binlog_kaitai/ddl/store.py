"""The store of table definitions, including tables known to be unknown."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from binlog_kaitai.values.table_definition import UNKNOWN_CHARSET, Charset, TableDefinition

TableKey = tuple[str, str]  # schema and table

#: Begins the reason why a table is unknown although a file defines it.
WITHHELD = "the given definition"

#: Maximum number of tables and databases known to be absent.
_MOST_ABSENT = 1000


#: Names that need no quotes, and are the same in all character sets.
_PLAIN = re.compile(r"[\w$]+", re.ASCII)


class Session(NamedTuple):
    """The session state that a statement's meaning depends on.

    `thread_id`: connection that ran it; temporary tables belong to a connection.
    `sql_mode`: determines the meaning of quotes, backslashes and some types.
    `server_charset`: for databases that do not name one.
    `database_charset`: the variable `collation_database`, if it differs from the default database's.
    `has_changed`: whether an IF NOT EXISTS created something; None if the log does not show it.
    `is_single_byte`: whether the client's character set has one byte for each character.
    `is_mysql`: whether the server is MySQL, since 5.6: RENAME TABLE does not rename temporary tables, and
    MariaDB's conditional comments are plain ones.
    """

    thread_id: int = 0
    sql_mode: int = 0
    server_charset: Charset = UNKNOWN_CHARSET
    database_charset: Charset = UNKNOWN_CHARSET
    has_changed: bool | None = True
    is_single_byte: bool = False
    is_mysql: bool = False


class Store:
    """Definitions by name.

    `origin`: the origin of the definitions, ``"log"`` or ``"file"``.
    `is_folded`: names are case-insensitive, as for servers with `lower_case_table_names` other than 0.

    `tables`: definitions from the log, or from a file and changed by the log.
    `from_file`: definitions from a file.
    `lost`: the reason why a table is unknown although a definition exists or existed.
    `absent`: tables that do not exist, the latest last; with an empty table name: no table of the database
    exists, other than the known and the lost ones.
    `databases`: charset of each created database.
    `temporary`: thread and name of each temporary table.
    `special`: tables whose names must be quoted, including former ones; `referring`: with foreign keys.
    `notes`: lost definitions, with reasons; the newest 100.
    """

    def __init__(self, origin: str = "log", *, is_folded: bool = False) -> None:
        self.tables: dict[TableKey, TableDefinition] = {}
        self.from_file: dict[TableKey, TableDefinition] = {}
        self.lost: dict[TableKey, str] = {}
        self.absent: dict[TableKey, None] = {}
        self.databases: dict[str, Charset] = {}
        self.temporary: set[tuple[int, TableKey]] = set()
        self.special: set[TableKey] = set()
        self.referring: set[TableKey] = set()
        self.notes: list[str] = []
        self._of_database: dict[str, set[TableKey]] = {}
        self._origin = origin
        self._is_folded = is_folded

    def copy(self) -> Store:
        """An independent copy."""
        other = copy(self)
        vars(other).update({name: copy(value) for name, value in vars(self).items()})
        other._of_database = {name: set(keys) for name, keys in self._of_database.items()}
        return other

    def name(self, text: str) -> str:
        """A database or table name in the form used for comparison."""
        return text.lower() if self._is_folded else text

    def key(self, schema_name: str, table_name: str) -> TableKey:
        """The lookup key of a table."""
        return self.name(schema_name), self.name(table_name)

    def find(self, key: TableKey) -> TableDefinition | None:
        """The definition of a table; the log takes precedence over the file."""
        return None if key in self.lost else self.tables.get(key) or self.from_file.get(key)

    def put(self, key: TableKey, table: TableDefinition) -> None:
        """Define a table."""
        self.lost.pop(key, None)
        self.absent.pop(key, None)
        self.tables[key] = replace(table, schema_name=key[0], table_name=key[1], origin=self._origin)
        self.enter(key, table)

    def forget(self, key: TableKey) -> None:
        """Remove what is known of a table."""
        self.lost.pop(key, None)
        self.tables.pop(key, None)
        if keys := self._of_database.get(key[0]):
            keys.discard(key)
            if not keys:
                del self._of_database[key[0]]

    def drop(self, key: TableKey) -> None:
        """Remove a table."""
        self.forget(key)
        self.note_absent(key)

    def note_absent(self, key: TableKey) -> None:
        """Record that a table does not exist or, with an empty name, that a database has no other tables."""
        self.absent.pop(key, None)
        self.absent[key] = None
        if len(self.absent) > _MOST_ABSENT:
            del self.absent[next(iter(self.absent))]

    def is_absent(self, key: TableKey) -> bool:
        """Whether a table is known not to exist."""
        is_known = key in self.tables or key in self.from_file or key in self.lost
        return key in self.absent or ((key[0], "") in self.absent and not is_known)

    def lose(self, key: TableKey, reason: str) -> None:
        """Mark a table as unknown."""
        self.tables.pop(key, None)
        self.absent.pop(key, None)
        self.lost[key] = reason
        self.enter(key)
        self.note(f"{'.'.join(key)}: {reason}")

    def note(self, text: str) -> None:
        """Record a note for the user."""
        self.notes = [*self.notes, text][-100:]

    def enter(self, key: TableKey, table: TableDefinition | None = None) -> None:
        """Record a key of `tables` or `lost` where it is looked up other than by its name."""
        if not _PLAIN.fullmatch(key[1]):
            self.special.add(key)
        if table is not None and table.foreign_keys:
            self.referring.add(key)
        self._of_database.setdefault(key[0], set()).add(key)

    def keys_of(self, schema_name: str) -> list[TableKey]:
        """The tables of a database that are known or lost."""
        keys = self._of_database.get(schema_name, ())
        return [key for key in keys if key in self.tables or key in self.lost]
