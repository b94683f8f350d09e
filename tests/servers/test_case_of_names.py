"""A server that folds the case of table names: its log spells them differently from the statements in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from binlog_kaitai.lines.row_texts import write_rows
from tools.servers import Server

pytestmark = pytest.mark.server

STATEMENTS = """\
SET SESSION binlog_format = 'ROW'
CREATE DATABASE Shop
USE Shop
CREATE TABLE Orders (Id INT)
INSERT INTO ORDERS VALUES (1)
ALTER TABLE SHOP.orders ADD Note INT
INSERT INTO Orders VALUES (2, 3)
RENAME TABLE ORDERS TO ToDo
INSERT INTO TODO VALUES (4, 5)
FLUSH LOGS"""


def test_columns_have_their_names(tmp_path: Path) -> None:
    server = Server("mariadb-10.11", folder=tmp_path)
    server.start("--lower-case-table-names=1")
    try:
        connection = server.connect()
        cursor = connection.cursor()
        for statement in STATEMENTS.splitlines():
            cursor.execute(statement)
        connection.close()
        logs = [server.data / str(row[0]) for row in server.execute("SHOW BINARY LOGS")]
    finally:
        server.stop()
    rows = [json.loads(line) for part in write_rows(logs[:-1]) for line in bytes(part).splitlines()]
    assert [(row["schema"], row["table"], row["after"]) for row in rows] == [
        ("shop", "orders", {"Id": 1}),
        ("shop", "orders", {"Id": 2, "Note": 3}),
        ("shop", "todo", {"Id": 4, "Note": 5}),
    ]
