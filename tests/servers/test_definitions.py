"""Definitions by the statements of a log are those of the server: of all types, attributes and clauses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import groupby
from operator import itemgetter
from typing import Any

import pymysql
import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl import ColumnDefinition, Definitions
from binlog_kaitai.values.charsets import BINARY, canonical_name
from tests.extent import rounds, sample
from tests.servers.conftest import StartServer
from tests.servers.random_definitions import TypedTables
from tests.servers.replay import last_log
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ("mysql-9.7", "mysql-5.7", "mariadb-11.8", "mariadb-10.11")
#: Loose, so that the server declares what does not fit as something else; Oracle's has types of its own.
MODES = ("", "REAL_AS_FLOAT,ANSI_QUOTES", "ORACLE", "MAXDB")

_COLUMNS = """
    SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' ORDER BY TABLE_NAME, ORDINAL_POSITION"""
_KEYS = """
    SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = 'd' AND INDEX_NAME = 'PRIMARY'"""
_TYPE = re.compile(r"(\w+)(?:\((.*?)\))?((?: unsigned)?).*", re.DOTALL)
_DEFAULTS = {"char": "1", "binary": "1", "bit": "1", "decimal": "10,0", "vector": "2048"}


def canonical(type_name: str) -> tuple[str, str, str]:
    """A type, its arguments as the newest server shows them, and its sign."""
    shown = _TYPE.fullmatch(type_name)
    assert shown is not None, type_name
    base, arguments, sign = shown[1], shown[2] or _DEFAULTS.get(shown[1], ""), shown[3]
    if base.endswith("int") or base == "year":
        arguments = ""
    if base == "decimal" and "," not in arguments:
        arguments += ",0"
    return {"geomcollection": "geometrycollection", "json": "longtext"}.get(base, base), arguments, sign


def of_server(row: tuple[Any, ...], *, is_key: bool, is_mysql: bool) -> dict[str, object]:
    """A column by `information_schema`."""
    _, name, type_name, is_nullable, charset, collation, extra = row
    is_text = charset is not None and not (is_mysql and type_name == "json")
    collation = collation and re.sub("^utf8_", "utf8mb3_", collation)
    return {
        "name": name,
        "type": canonical(type_name),
        "is_nullable": is_nullable == "YES",
        "charset": canonical_name(charset)
        if is_text
        else BINARY
        if type_name[:4] in ("enum", "set(")
        else None,
        "collation": collation if is_text and collation.endswith("_bin") else None,
        "is_primary_key": is_key,
        "is_visible": "INVISIBLE" not in extra,
        "is_generated": "GENERATED" in extra.replace("DEFAULT_GENERATED", ""),
    }


def of_log(column: ColumnDefinition, row: dict[str, object]) -> dict[str, object]:
    """A column by the statements; what they do not say is taken from the server: the collation of a character
    set whose default it is, members that a conversion leaves unknown, and that JSON is a text in MariaDB.
    """
    collation = None if column.collation is None else re.sub("^utf8_", "utf8mb3_", column.collation)
    is_said = column.type_name != "json" and collation is not None
    return {
        "name": column.name,
        "type": row["type"] if column.type_name in ("enum", "set", "json") else canonical(column.type_name),
        "is_nullable": column.is_nullable,
        "charset": row["charset"] if column.type_name == "json" else column.charset,
        "collation": (collation if str(collation).endswith("_bin") else None)
        if is_said
        else row["collation"],
        "is_primary_key": column.is_primary_key,
        "is_visible": column.is_visible,
        "is_generated": column.is_generated,
    }


def execute(server: Server, seed: int, count: int) -> None:
    """Run statements, many of which the server refuses."""
    tables, connection = TypedTables(seed), server.connect()
    cursor = connection.cursor()
    cursor.execute("DROP DATABASE IF EXISTS d")
    cursor.execute("CREATE DATABASE d CHARACTER SET utf8mb4")
    cursor.execute(f"SET sql_mode = '{MODES[seed % (4 if server.spec.flavour == 'mariadb' else 2)]}'")
    for number in range(count):
        for statement in (tables.create(f"t{number}"), *(tables.alter(f"t{number}") for _ in range(6))):
            try:
                cursor.execute(statement)
            except pymysql.err.MySQLError:
                if statement.startswith("CREATE"):
                    break
    connection.close()


def followed(server: Server) -> Definitions:
    """The definitions by the statements of the log that is being written."""
    definitions = Definitions()
    with bk.open(last_log(server)) as log:
        for event in log:
            if event.type in ("QUERY_EVENT", "QUERY_COMPRESSED_EVENT"):
                definitions.observe_query(event.body)
    return definitions


@pytest.mark.parametrize("name", ["mysql-5.6", "mariadb-11.8"])
def test_a_running_server_names_columns(name: str, start_server: StartServer) -> None:
    """Its table maps have no names."""
    server = start_server(name)
    for statement in (
        "DROP DATABASE IF EXISTS d",
        "CREATE DATABASE d",
        "CREATE TABLE d.`a ``b` (`first` INT, `zweite Spälte` VARCHAR(9))",
        "FLUSH LOGS",
        "INSERT INTO d.`a ``b` VALUES (1, 'x')",
    ):
        server.execute(statement)
    command = [sys.executable, "-m", "binlog_kaitai", "rows", "--format", "json", str(last_log(server))]
    given = ["--ddl", f"mysql://root@127.0.0.1:{server.port}/"]
    images = []
    for options in ([], given):
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
        images += [json.loads(line)["after"] for line in done.stdout.splitlines()]
    assert images == [{"c1": 1, "c2": "x"}, {"first": 1, "zweite Spälte": "x"}]
    done = subprocess.run([*command, "--ddl", "mysql://root@127.0.0.1:1/"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "127.0.0.1:1" in done.stderr


@pytest.mark.parametrize("seed", sample(range(8), 1))
@pytest.mark.parametrize("name", NAMES)
def test_columns_are_those_of_the_server(name: str, seed: int, start_server: StartServer) -> None:
    server = start_server(name)
    server.execute("FLUSH LOGS")
    execute(server, seed, rounds(600, 250))
    rows, keys, found = server.execute(_COLUMNS), set(server.execute(_KEYS)), followed(server)
    is_mysql = server.spec.flavour == "mysql"
    tables = {table: list(group) for table, group in groupby(rows, itemgetter(0))}
    unknown, wrong = [], []
    for table, columns in tables.items():
        definition = found.of("d", table)
        if definition is None:
            unknown.append(table)
            continue
        expected = [of_server(row, is_key=row[:2] in keys, is_mysql=is_mysql) for row in columns]
        followed_columns = [
            column for column in definition.columns if column.name not in ("row_start", "row_end")
        ]
        assert [column.name for column in followed_columns] == [one["name"] for one in expected], table
        for column, one in zip(followed_columns, expected, strict=True):
            if (defined := of_log(column, one)) != one:
                wrong.append(
                    (table, {key: (defined[key], one[key]) for key in one if one[key] != defined[key]})
                )
    assert not wrong
    assert len(unknown) <= len(tables) // 40, found.notes  # such as ADD IF NOT EXISTS of a new name
    assert len(tables) > 40
