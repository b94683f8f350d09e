"""Helpers for tests of replay: run statements, run scripts in a client, compare tables."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from binlog_kaitai.values.sql_text import identifier
from tools.corpus.snapshot import snapshot
from tools.servers import SERVERS, Server

#: All servers but MariaDB 10.5, which is much like 10.11.
NAMES = [name for name in SERVERS if name != "mariadb-10.5"]


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
    done = played(server, text)
    assert done.returncode == 0, done.stderr.decode()


def played(server: Server, text: bytes) -> subprocess.CompletedProcess[bytes]:
    """What the client says to a script."""
    options = ["--no-defaults", "--binary-mode", "-h127.0.0.1", f"-P{server.port}", "-uroot"]
    return subprocess.run([*_client(server), *options], input=text, capture_output=True)


def _client(server: Server) -> list[str]:
    # The client of MySQL 9.7 cannot log in to 5.6 and 5.7.
    if server.spec.name in ("mysql-8.0", "mysql-9.7"):
        return server.client("mysql")
    return Server("mariadb-10.11").client("mariadb")


def contents(server: Server) -> dict[str, Counter[str]]:
    return rows_of([json.loads(line) for line in snapshot(server, ["r"]).splitlines()])


def checksums(server: Server) -> dict[str, int]:
    """CHECKSUM TABLE of each table, which does not depend on the order of rows.

    MySQL 5.7 includes addresses in memory where a table has documents; those tables are left out.
    """
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'r'"
    if server.spec.name == "mysql-5.7":
        documents = "SELECT table_name FROM information_schema.columns WHERE data_type = 'json'"
        query += f" AND table_name NOT IN ({documents})"
    names = [f"r.{identifier(row[0])}" for row in server.execute(query)]
    return dict(server.execute(f"CHECKSUM TABLE {', '.join(names)}"))


def rows_of(tables: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """The rows of each table, with their numbers of occurrences."""
    return {f"{one['db']}.{one['table']}": Counter(map(json.dumps, one["rows"])) for one in tables}
