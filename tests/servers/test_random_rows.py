"""Random tables of random types, written by every server: their rows read back as the server shows them."""

from __future__ import annotations

import json
import random
import struct

import pytest

from binlog_kaitai.values.charsets import charset_names
from binlog_kaitai.values.numbers import double_text, float_text
from tests.rows.truth import OracleTable, Store, differences
from tests.servers.conftest import StartServer
from tests.servers.random_tables import statements
from tests.servers.replay import run
from tools import charsets
from tools.corpus.recorder import reset_statement
from tools.corpus.snapshot import snapshot
from tools.servers import SERVERS

pytestmark = pytest.mark.server


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("seed", [1, 2])
def test_random_tables(name: str, seed: int, start_server: StartServer) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    run(
        server,
        ["SET SESSION binlog_format = 'ROW'", "CREATE DATABASE r", *statements(name, seed), "FLUSH LOGS"],
    )
    oracle = [OracleTable.of(json.loads(line)) for line in snapshot(server, ["r"]).splitlines()]
    logs = [server.data / str(row[0]) for row in server.execute("SHOW BINARY LOGS")]
    store = Store(oracle).read(logs[:-1])
    assert not list(differences(oracle, store))
    assert not store.incomplete
    assert sum(len(table.rows) for table in oracle) > 20


@pytest.mark.parametrize("name", SERVERS)
def test_numbers_are_printed_as_the_server_does(name: str, start_server: StartServer) -> None:
    choose = random.Random(7)
    values = [10.0**power for power in range(-20, 20)]
    values += [choose.uniform(-1, 1) * 10 ** choose.randint(-30, 30) for _ in range(300)]
    values += [choose.randint(-(10**17), 10**17) / choose.choice((1, 2, 10)) for _ in range(100)]
    connection = start_server(name).connect(conv={})
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS r")
    cursor.execute("CREATE TEMPORARY TABLE r.numbers (i INT PRIMARY KEY, d DOUBLE, f FLOAT)")
    for index, value in enumerate(values):
        cursor.execute(
            f"INSERT INTO r.numbers VALUES ({index}, {_literal(value)}, {_literal(_as_float(value))})"
        )
    cursor.execute("SELECT d, f FROM r.numbers ORDER BY i")
    shown = list(cursor.fetchall())
    connection.close()
    assert [(double_text(value), float_text(_as_float(value))) for value in values] == shown


def _as_float(value: float) -> float:
    found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return found


def _literal(value: float) -> str:
    text = repr(value)
    return text if "e" in text else text + "e0"


def test_character_sets_are_those_of_the_servers(start_server: StartServer) -> None:
    learned = charsets.learn([start_server(name) for name in charsets.SERVERS])
    assert learned == charsets.TARGET.read_text()
    assert set(json.loads(learned)) == set(charset_names())
