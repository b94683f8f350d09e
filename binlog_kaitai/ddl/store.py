"""The tables that are known, and those of which it is known that they are not."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

from binlog_kaitai.ddl.model import UNKNOWN_CHARSET, Charset, TableDefinition

Key = tuple[str, str]  # schema and table


@dataclass(frozen=True, slots=True)
class Session:
    """What a statement depends on besides its text.

    Attributes
    ----------
    thread_id : int
        Connection that ran it: temporary tables are its own.
    sql_mode : int
        How quotes and backslashes read.
    server_charset : Charset
        Of databases that name none.
    has_changed : bool
        False if the log tells that an IF NOT EXISTS found its table there.
    """

    thread_id: int = 0
    sql_mode: int = 0
    server_charset: Charset = UNKNOWN_CHARSET
    has_changed: bool = True


class Store:
    """Definitions by name.

    Parameters
    ----------
    origin
        What they come from, ``"log"`` or ``"file"``.
    is_folded
        Names that differ in case only are one, as for servers with `lower_case_table_names` other than 0.

    Attributes
    ----------
    tables : dict
        Definitions by the log, or by a file as the log changed it.
    given : dict
        Definitions by a file.
    lost : dict
        Why a table is unknown, though there was or is a definition.
    databases : dict
        Charset of each database that was created.
    temporary : set
        Thread and name of each temporary table.
    notes : list of str
        What was lost, and why; the newest 100.
    """

    def __init__(self, origin: str = "log", *, is_folded: bool = False) -> None:
        self.tables: dict[Key, TableDefinition] = {}
        self.given: dict[Key, TableDefinition] = {}
        self.lost: dict[Key, str] = {}
        self.databases: dict[str, Charset] = {}
        self.temporary: set[tuple[int, Key]] = set()
        self.notes: list[str] = []
        self._origin = origin
        self._is_folded = is_folded

    def copy(self) -> Store:
        """The same, which goes its own way from here on."""
        other = copy(self)
        other.tables, other.given, other.lost = dict(self.tables), dict(self.given), dict(self.lost)
        other.databases, other.temporary = dict(self.databases), set(self.temporary)
        return other

    def name(self, text: str) -> str:
        """A name of a database or table as it is compared."""
        return text.lower() if self._is_folded else text

    def key(self, schema_name: str, table_name: str) -> Key:
        """What a table is found by."""
        return self.name(schema_name), self.name(table_name)

    def find(self, key: Key) -> TableDefinition | None:
        """What is known of a table; the log goes before the file."""
        return None if key in self.lost else self.tables.get(key) or self.given.get(key)

    def put(self, key: Key, table: TableDefinition) -> None:
        """A table is known from now on."""
        self.lost.pop(key, None)
        self.tables[key] = replace(table, schema_name=key[0], table_name=key[1], origin=self._origin)

    def drop(self, key: Key) -> None:
        """A table is gone."""
        self.lost.pop(key, None)
        self.tables.pop(key, None)

    def lose(self, key: Key, reason: str) -> None:
        """A table is unknown from now on."""
        self.tables.pop(key, None)
        self.lost[key] = reason
        self.note(f"{'.'.join(key)}: {reason}")

    def note(self, text: str) -> None:
        """Keep what a person may want to know."""
        self.notes = [*self.notes, text][-100:]

    def keys_of(self, schema_name: str) -> list[Key]:
        """The tables of a database that are known, or lost."""
        return [key for key in {*self.tables, *self.lost} if key[0] == schema_name]
