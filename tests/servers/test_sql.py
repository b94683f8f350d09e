"""`sql` on real servers: its script makes the same tables again, and taken back those from before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.corpus_files import case
from tests.servers.conftest import StartServer
from tests.servers.random_tables import changes
from tools.corpus.recorder import reset_statement
from tools.corpus.snapshot import snapshot
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ["mysql-5.6", "mysql-9.7", "mariadb-10.11"]
#: A client that can log in: that of MySQL 9.7 cannot at 5.6.
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


def script(*arguments: str | Path, code: int = 0) -> bytes:
    command = [sys.executable, "-m", "binlog_kaitai", "sql", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "TZ": "UTC"})
    assert done.returncode == code, done.stderr.decode()
    return done.stdout


def play(server: Server, text: bytes) -> None:
    """Give a script to the server by its client, as a person would."""
    name = CLIENTS[server.spec.name]
    client = Server(name).client("mysql" if name.startswith("mysql") else "mariadb")
    options = ["--no-defaults", "--binary-mode", "-h127.0.0.1", f"-P{server.port}", "-uroot"]
    done = subprocess.run([*client, *options], input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def contents(server: Server) -> dict[str, Counter[str]]:
    return rows_of([json.loads(line) for line in snapshot(server, ["r"]).splitlines()])


def definitions(server: Server, path: Path) -> Path:
    names = [row[0] for row in server.execute("SHOW TABLES FROM r")]
    found = [server.execute(f"SHOW CREATE TABLE r.`{name}`")[0][1] for name in names]
    path.write_text("USE r;\n" + "".join(f"{text};\n" for text in found))
    return path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [1])
def test_redo_and_undo_of_random_changes(
    name: str, seed: int, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    setup, after = changes(name, seed)
    run(server, ["CREATE DATABASE r", *setup])
    first, before = last_log(server), contents(server)
    run(server, after)
    second, end = last_log(server), contents(server)
    assert before != end
    ddl = definitions(server, tmp_path / "r.sql")

    play(server, script("--undo", "--ddl", ddl, second))
    assert contents(server) == before
    server.execute("DROP DATABASE r")
    play(server, script(first, second))
    assert contents(server) == end


#: Cases whose logs have all that made their tables.
CASES = {
    "mysql-5.6": ("many_databases", "types_full", "types_minimal", "types_v1_rows"),
    "mysql-9.7": ("charsets", "invisible_key", "json_partial", "metadata", "partitions", "types_full", "xa"),
    "mariadb-10.11": ("alter_two_phase", "metadata", "types_compressed", "types_old_temporal"),
}


@pytest.mark.parametrize("name", NAMES)
def test_redo_of_the_corpus(name: str, start_server: StartServer) -> None:
    server = start_server(name)
    for wanted in (case(name, one) for one in CASES[name]):
        tables = wanted.tables()
        databases = sorted({table["db"] for table in tables})
        for database in databases:
            server.execute(f"DROP DATABASE IF EXISTS `{database}`")
        play(server, script(*wanted.logs))
        found = [json.loads(line) for line in snapshot(server, databases).splitlines()]
        assert rows_of(found) == rows_of(tables), wanted.id
        for database in databases:
            server.execute(f"DROP DATABASE `{database}`")


def rows_of(tables: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """The rows of tables, each with how often it is there."""
    return {f"{one['db']}.{one['table']}": Counter(map(json.dumps, one["rows"])) for one in tables}


@pytest.mark.parametrize("name", NAMES)
def test_redo_of_images_with_less_than_all_columns(name: str, start_server: StartServer) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    setup, after = changes(name, 3)
    lines = [line for row in after for line in (f"SET SESSION binlog_row_image = '{image_of(row)}'", row)]
    run(server, ["CREATE DATABASE r", *setup, *lines])
    log, end = last_log(server), contents(server)
    server.execute("DROP DATABASE r")
    play(server, script(log))
    assert contents(server) == end
    script("--undo", log, code=3)


def image_of(row: str) -> str:
    return ("FULL", "MINIMAL", "NOBLOB")[len(row) % 3]
