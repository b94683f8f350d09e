"""Helpers for tests of replay: run statements, run scripts in a client, compare tables."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from binlog_kaitai.values.sql_text import identifier
from tools.corpus.snapshot import snapshot
from tools.servers import Server

NAMES = ["mysql-5.6", "mysql-9.7", "mariadb-10.11"]
#: A client that can log in to each server: that of MySQL 9.7 cannot log in to 5.6.
CLIENTS = {"mysql-5.6": "mariadb-10.11", "mysql-9.7": "mysql-9.7", "mariadb-10.11": "mariadb-10.11"}


def run(server: Server, lines: list[str]) -> None:
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute("SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
    for line in lines:
        cursor.execute(line)
    connection.close()


def last_log(server: Server) -> Path:
    """The log that is being written, before a new one is begun."""
    path = server.data / str(server.execute("SHOW BINARY LOGS")[-1][0])
    server.execute("FLUSH LOGS")
    return path


def play(server: Server, text: bytes) -> None:
    """Run a script in the server's client, as a person would."""
    name = CLIENTS[server.spec.name]
    client = Server(name).client("mysql" if name.startswith("mysql") else "mariadb")
    options = ["--no-defaults", "--binary-mode", "-h127.0.0.1", f"-P{server.port}", "-uroot"]
    done = subprocess.run([*client, *options], input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def contents(server: Server) -> dict[str, Counter[str]]:
    return rows_of([json.loads(line) for line in snapshot(server, ["r"]).splitlines()])


def checksums(server: Server) -> dict[str, int]:
    """CHECKSUM TABLE of each table, which does not depend on the order of rows."""
    names = [f"r.{identifier(row[0])}" for row in server.execute("SHOW TABLES FROM r")]
    return dict(server.execute(f"CHECKSUM TABLE {', '.join(names)}"))


def rows_of(tables: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """The rows of each table, with their numbers of occurrences."""
    return {f"{one['db']}.{one['table']}": Counter(map(json.dumps, one["rows"])) for one in tables}
