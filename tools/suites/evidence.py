"""What a server reports about its tables: columns after each statement that defines, and rows."""

from __future__ import annotations

import codecs
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pymysql

from tools.corpus.recorder import reset_statement
from tools.corpus.snapshot import table_contents
from tools.servers import Server
from tools.suites.player import DATABASE, KEPT

#: An encoding for PyMySQL: UTF-8, with surrogates for bytes that are not, as servers send some values.
_UTF8_OR_BYTES = codecs.CodecInfo(
    lambda text, _="": codecs.utf_8_encode(text, "surrogateescape"),
    lambda data, _="": codecs.utf_8_decode(data, "surrogateescape", True),
    name="utf8_or_bytes",
)
codecs.register(lambda name: _UTF8_OR_BYTES if name == _UTF8_OR_BYTES.name else None)

SYSTEM = ("mysql", "sys", "information_schema", "performance_schema")
#: So often the columns, and the rows, of all tables are asked for in a test.
_MOST_POINTS, _MOST_ROWS_POINTS = 150, 60
_DEFINES = re.compile(r"(?:/\*.*?\*/\s*)?(?:create|alter|rename|drop|truncate|show\s+create\s+table)\b", re.I)
_ALTERS = re.compile(r"(?:alter|create\s+\w*\s*\w*\s*index|drop\s+index)\b", re.I)
#: Engines that keep no rows, or whose rows are those of other tables.
_NO_ROWS = ("BLACKHOLE", "MRG_MYISAM", "MRG_MyISAM", "FEDERATED", "EXAMPLE", "SEQUENCE")
_TABLES = (
    "SELECT table_schema, table_name, engine, table_type FROM information_schema.tables "
    "WHERE table_schema {} AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1, 2"
)  # fmt: skip
_COLUMNS = (
    "SELECT table_schema, table_name, column_name, column_type, character_set_name, collation_name, "
    "is_nullable, extra FROM information_schema.columns WHERE table_schema {} ORDER BY 1, 2, ordinal_position"
)  # fmt: skip

_KEYS = (
    "SELECT table_schema, table_name, column_name FROM information_schema.statistics "
    "WHERE index_name = 'PRIMARY' AND table_schema {}"
)  # fmt: skip

TableName = tuple[str, str]
#: Of each column: name, type, character set, collation, is_nullable, extra, and whether a key has it.
Columns = dict[TableName, list[tuple[Any, ...]]]


class Table(NamedTuple):
    """A table by the server: see `tools.corpus.snapshot`. `rows` is what its SELECT shows."""

    columns: list[dict[str, Any]]
    rows: list[list[Any]]

    def counted(self) -> Counter[str]:
        return Counter(map(json.dumps, self.rows))


class Point(NamedTuple):
    """The server's tables after a statement: their columns, and the contents of those that it has altered.

    `log`, `position`: the end of what was in the log by then.
    """

    log: str
    position: int
    statement: str
    columns: Columns
    tables: dict[TableName, Table]


class Witness:
    """Reports about a server's tables, on a connection of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._is_mariadb = server.spec.flavour == "mariadb"
        self._connection = self._connected()
        self._variables = dict(self._ask("SHOW GLOBAL VARIABLES"))
        self._is_plain = self._variables["log_bin"] == "OFF"  # without a log
        self.points: list[Point] = []
        self._with_rows = 0

    def _connected(self, **options: Any) -> Any:
        connection = self.server.connect(**options)
        connection.encoding = _UTF8_OR_BYTES.name
        return connection

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.cursor()
        cursor.execute(query)
        return list(cursor.fetchall())

    def reset(self, settings: dict[str, str]) -> None:
        """Leave no databases, sessions and variables of earlier tests, and begin a log."""
        self._connect()
        (own,) = self._ask("SELECT CONNECTION_ID()")[0]
        for number, *rest in self._ask("SHOW PROCESSLIST"):
            if number != own and rest[0] == "root":
                self._try(f"KILL {number}")
        for _, length, _, data in self._ask("XA RECOVER"):
            self._try(f"XA ROLLBACK '{data[:length]}', '{data[length:]}'")
        now = dict(self._ask("SHOW GLOBAL VARIABLES"))
        for name, value in self._variables.items():
            if now.get(name) != value and not name.startswith("gtid"):
                self._try(f"SET GLOBAL {name} = {value if re.fullmatch('[0-9.]+', value) else repr(value)}")
        for (name,) in self._ask("SHOW DATABASES"):
            if name not in SYSTEM and not self._try(drop := f"DROP DATABASE `{name}`"):
                shutil.rmtree(self.server.data / name, ignore_errors=True)  # files of the test
                self._try(drop)
        for user, host in self._ask("SELECT user, host FROM mysql.user"):
            if user not in ("root", "mariadb.sys", "PUBLIC") and not user.startswith("mysql."):
                self._try(f"DROP USER '{user}'@'{host}'")
        for name, value in settings.items():
            self._ask(f"SET GLOBAL {name} = {value}")
        self._connect()  # with these settings
        if not self._is_plain:
            self._ask(reset_statement(self.server))
        var = self.server.folder / "var"
        shutil.rmtree(var, ignore_errors=True)
        (var / "tmp").mkdir(parents=True)
        self.points, self._with_rows = [], 0

    def _connect(self) -> None:
        self._connection = self._connected(read_timeout=30)
        for variable in ("lock_wait_timeout", "foreign_key_checks"):
            self._ask(f"SET SESSION {variable} = {2 if 'wait' in variable else 0}")

    def begin(self, root: Path) -> None:
        """Make the databases of a test, and the folder of its files."""
        (self.server.folder / "var" / "std_data").symlink_to(root / "std_data")
        for name in (DATABASE, KEPT):
            self._ask(f"CREATE DATABASE {name}")

    def _try(self, statement: str) -> bool:
        try:
            self._ask(statement)
        except pymysql.Error:
            return False
        return True

    def position(self) -> tuple[str, int]:
        statement = "SHOW MASTER STATUS" if self._is_mariadb else "SHOW BINARY LOG STATUS"
        return self._ask(statement)[0][:2]

    def after(self, statement: str) -> None:
        """Keep what the server reports, if the statement may have defined a table."""
        if not _DEFINES.match(statement) or len(self.points) >= _MOST_POINTS:
            return
        elsewhere = f"NOT IN {(*SYSTEM, KEPT)}"
        columns = self.columns(elsewhere)
        tables: dict[TableName, Table] = {}
        if _ALTERS.match(statement) and self._with_rows < _MOST_ROWS_POINTS:
            tables = self.tables(elsewhere)
            self._with_rows += 1
        self.points.append(Point(*self.position(), statement, columns, tables))

    def columns(self, where: str = f"NOT IN {SYSTEM}") -> Columns:
        """The columns of all tables, as information_schema has them."""
        columns: Columns = {(schema, table): [] for schema, table, *_ in self._ask(_TABLES.format(where))}
        keys = {*self._ask(_KEYS.format(where))}
        for schema, table, *column in self._ask(_COLUMNS.format(where)):
            if (schema, table) in columns:
                columns[schema, table].append((*column, (schema, table, column[0]) in keys))
        return columns

    def tables(self, where: str = f"NOT IN {SYSTEM}") -> dict[TableName, Table]:
        """The contents of all tables whose engines keep their rows, and which have no history."""
        tables = {}
        plain = self._connected(conv={}, read_timeout=30)
        try:
            cursor = plain.cursor()
            cursor.execute("SET time_zone = '+00:00', lock_wait_timeout = 1")
            for schema, table, engine, kind in self._ask(_TABLES.format(where)):
                if kind != "BASE TABLE" or engine in _NO_ROWS or engine is None:
                    continue
                try:
                    contents = table_contents(cursor, schema, table)
                except pymysql.Error:
                    continue  # locked, or without one of its parts
                tables[schema, table] = Table(contents["columns"], contents["rows"])
        finally:
            plain.close()
        return tables

    def change_rows(self) -> None:
        """Delete, change and replace some rows of each table, for the script that undoes changes."""
        for (schema, table), contents in self.tables().items():
            name = f"`{schema}`.`{table.replace('`', '``')}`"
            self._try(f"DELETE FROM {name} LIMIT {len(contents.rows) // 2}")
            for column in contents.columns[:6]:
                quoted = f"`{column['name'].replace('`', '``')}`"
                self._try(f"UPDATE IGNORE {name} SET {quoted} = DEFAULT({quoted}) LIMIT 3")
            self._try(f"REPLACE INTO {name} SELECT * FROM {name} LIMIT 2")
            self._try(f"INSERT INTO {name} VALUES ()")

    def logs(self) -> list[Path]:
        """The logs of the test, which are closed first."""
        self._ask("FLUSH BINARY LOGS")
        return [self.server.data / str(row[0]) for row in self._ask("SHOW BINARY LOGS")][:-1]
