"""Replaying a slice has exactly the effect of its transactions: `mysqlbinlog slice | mysql`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.sources.source import Source, resolve
from binlog_kaitai.views.transactions_view import read_transactions
from tests.servers.conftest import StartServer
from tests.servers.replay import last_log, play, run
from tools.corpus.recorder import reset_statement
from tools.servers import Server

pytestmark = pytest.mark.server

SETUP = [
    "CREATE DATABASE r",
    "CREATE TABLE r.a (id INT PRIMARY KEY, v VARCHAR(50), d DECIMAL(10,2))",
    "CREATE TABLE r.b (id INT PRIMARY KEY, v TEXT)",
]
Rows = list[tuple[object, ...]]


def workload() -> list[str]:
    """Transactions on either table, and some on both."""
    lines = []
    for number in range(40):
        target = "ab"[number % 2]
        columns = f"({number}, 'value {number}', {number}.5)" if target == "a" else f"({number}, 'text')"
        lines += ["BEGIN", f"INSERT INTO r.{target} VALUES {columns}"]
        if number % 7 == 3:
            lines.append(f"UPDATE r.{target} SET v = 'later' WHERE id % 3 = 0")
        lines.append("COMMIT")
    return [*lines, "DELETE FROM r.a WHERE id = 4", "DELETE FROM r.b WHERE id = 5"]


def rows(server: Server, table: str) -> Rows:
    return server.execute(f"SELECT * FROM r.{table} ORDER BY id")


def replay(server: Server, log: Path) -> None:
    """Give a log to the server by its own clients; GTIDs come anew, for it has seen those."""
    options = ["--no-defaults", *(["--skip-gtids"] if server.spec.name.startswith("mysql") else [])]
    done = subprocess.run([*server.client(), *options, str(log)], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    play(server, done.stdout)


@pytest.fixture(params=["mysql-9.7", "mariadb-10.11"])
def played(request: pytest.FixtureRequest, start_server: StartServer) -> tuple[Server, Path]:
    """A server with empty tables, and the log of what was in them."""
    server = start_server(request.param)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    run(server, SETUP)
    last_log(server)
    run(server, workload())
    log = last_log(server)
    return server, log


def empty(server: Server) -> None:
    server.execute("TRUNCATE r.a")
    server.execute("TRUNCATE r.b")


def test_a_slice_of_one_table_replays(played: tuple[Server, Path], tmp_path: Path) -> None:
    server, log = played
    wanted = rows(server, "a")
    assert wanted
    assert rows(server, "b")
    slice_log(resolve(str(log)), str(tmp_path / "slice"), table="r.a")
    empty(server)
    replay(server, tmp_path / "slice")
    assert rows(server, "a") == wanted
    assert rows(server, "b") == []


def test_slices_by_position_replay_one_after_the_other(played: tuple[Server, Path], tmp_path: Path) -> None:
    server, log = played
    wanted = rows(server, "a"), rows(server, "b")
    middle = read_transactions(str(log)).read_all()["position"].to_pylist()[20]
    slice_log(resolve(str(log)), str(tmp_path / "first"), stop_position=middle)
    slice_log(resolve(str(log)), str(tmp_path / "second"), start_position=middle)
    empty(server)
    replay(server, tmp_path / "first")
    assert (rows(server, "a"), rows(server, "b")) != wanted
    replay(server, tmp_path / "second")
    assert (rows(server, "a"), rows(server, "b")) == wanted


def test_a_repaired_log_replays_without_the_damaged_transaction(
    played: tuple[Server, Path], tmp_path: Path
) -> None:
    server, log = played
    table = read_transactions(str(log)).read_all()
    inserts = (row for row in table.to_pylist() if row["tables"] == ["r.a"] and row["rows_inserted"] == 1)
    _, damaged, *_ = inserts  # the row with id 2, which nothing changes later
    data = bytearray(log.read_bytes())
    data[damaged["end_position"] - 40] ^= 0xFF
    (tmp_path / "damaged").write_bytes(data)
    repair(Source.of_path(str(tmp_path / "damaged")), str(tmp_path / "repaired"))
    assert scan(Source.of_path(str(tmp_path / "repaired"))).transactions == len(table) - 1
    wanted = [row for row in rows(server, "a") if row[0] != 2]
    others = rows(server, "b")
    empty(server)
    replay(server, tmp_path / "repaired")
    assert rows(server, "a") == wanted
    assert rows(server, "b") == others
