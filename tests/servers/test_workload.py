"""A random workload on every server: its log must agree with the server and its client."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.servers.conftest import StartServer
from tools.corpus.oracle import event_lines
from tools.corpus.recorder import reset_statement
from tools.servers import SERVERS, Server

pytestmark = pytest.mark.server

STATEMENTS = 150


def _workload(seed: int) -> Iterator[str]:
    """Statements on one table: rows in and out, in transactions or not, as rows or as statements."""
    choose = random.Random(seed)
    yield "CREATE DATABASE w"
    yield "CREATE TABLE w.a (id INT PRIMARY KEY AUTO_INCREMENT, n BIGINT, v VARCHAR(500), d DATETIME(3))"
    for _ in range(STATEMENTS):
        number, text = choose.randrange(-(2**63), 2**63), "x" * choose.randrange(500)
        yield choose.choice(
            (
                f"INSERT INTO w.a (n, v, d) VALUES ({number}, '{text}', '2024-02-29 12:34:56.789')",
                f"INSERT INTO w.a (n, v) VALUES ({number}, NULL), (NULL, '{text}')",
                f"UPDATE w.a SET v = '{text}' WHERE id % 7 = {choose.randrange(7)}",
                f"DELETE FROM w.a WHERE id % 11 = {choose.randrange(11)}",
                "START TRANSACTION",
                "COMMIT",
                "ROLLBACK",
                "SET @u = RAND(), @s = 'text', @n = NULL",
                "INSERT INTO w.a (v) VALUES (@u), (@s), (@n)",
                "FLUSH BINARY LOGS",
            )
        )
        if choose.random() < 0.2:
            yield f"SET SESSION binlog_format = {choose.choice(('ROW', 'STATEMENT', 'MIXED'))}"
    yield "COMMIT"
    yield "DROP DATABASE w"
    yield "FLUSH BINARY LOGS"


def _run_workload(server: Server, seed: int) -> list[Path]:
    """Runs it on a server without logs; returns the closed logs that it made."""
    server.execute("DROP DATABASE IF EXISTS w")
    server.execute(reset_statement(server))
    connection = server.connect()
    cursor = connection.cursor()
    in_transaction = False
    for statement in _workload(seed):
        # MySQL refuses to change the format in the middle of a transaction.
        if in_transaction and statement.startswith("SET SESSION"):
            continue
        in_transaction = statement == "START TRANSACTION" or (
            in_transaction and statement not in ("COMMIT", "ROLLBACK")
        )
        cursor.execute(statement)
    connection.close()
    names = [str(row[0]) for row in server.execute("SHOW BINARY LOGS")]
    return [server.data / name for name in names[:-1]]


@pytest.fixture(scope="module", params=SERVERS)
def logs(request: pytest.FixtureRequest, start_server: StartServer) -> tuple[Server, list[Path]]:
    server = start_server(request.param)
    return server, _run_workload(server, seed=20)


def test_events_are_those_of_show_binlog_events(logs: tuple[Server, list[Path]]) -> None:
    server, paths = logs
    for path in paths:
        shown = [(row[1], row[3], row[4]) for row in server.execute(f"SHOW BINLOG EVENTS IN '{path.name}'")]
        with bk.open(path) as log:
            read = [(event.position, event.header.server_id, event.end_position) for event in log]
        # MariaDB since 11.4 does not fill in the end of an event that went through a transaction's cache.
        assert [row[:2] for row in read] == [row[:2] for row in shown]
        assert all(ends == end for (_, _, ends), (_, _, end) in zip(read, shown, strict=True) if end)


def test_headers_are_those_of_the_servers_own_client(logs: tuple[Server, list[Path]]) -> None:
    server, paths = logs
    options = ["-vv"] if server.spec.flavour == "mysql" else []
    for path in paths:
        with bk.open(path) as log:
            read = [_header(event) for event in log]
        assert read == [line[1:9] for line in event_lines(server.client(), path, *options)]


def _header(event: bk.Event) -> tuple[object, ...]:
    header = event.header
    return (
        event.position, header.timestamp, event.type_code, header.server_id, header.len_event,
        header.next_position, header.flags, f"0x{event.checksum:08x}",
    )  # fmt: skip
