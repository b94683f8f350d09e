"""Columns that row images leave out: unchanged, computed by the server, or the default of an INSERT.

The truth is the server's SELECT: for the state of a lake, after a replay of `sql`, and after `sql --undo`.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.lake.lakes import opened
from tests.lake.test_state import run as load
from tests.rows.truth import OracleTable
from tests.servers.conftest import StartServer
from tests.servers.replay import checksums, contents, last_log, play, run
from tests.servers.test_sql import definitions, script
from tests.spark.oracle import server_text
from tools.corpus.recorder import reset_statement
from tools.corpus.snapshot import snapshot
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ("mariadb-11.8", "mariadb-10.11", "mysql-9.7", "mysql-5.7")

#: Columns by what they are if an image lacks them, besides `a`, which is in each INSERT.
COLUMNS = (
    "v INT GENERATED ALWAYS AS (a + 1) VIRTUAL",
    "s INT GENERATED ALWAYS AS (a * 2) STORED",
    "w VARCHAR(20) AS (CONCAT(a, '-', COALESCE(t, ''))) VIRTUAL",
    "none_ INT",
    "null_ VARCHAR(5) DEFAULT NULL",
    "int_ INT UNSIGNED NOT NULL DEFAULT '5'",
    "negative BIGINT DEFAULT -7",
    "bool_ BOOL DEFAULT TRUE",
    "decimal_ DECIMAL(5,3) DEFAULT 1.5",
    "float_ FLOAT DEFAULT 0.1",
    "double_ DOUBLE DEFAULT .25",
    "text_ VARCHAR(20) CHARACTER SET latin1 DEFAULT 'it''s \\\\ é'",
    "char_ CHAR(5) DEFAULT 'c'",
    "bytes_ VARBINARY(5) DEFAULT 'b'",
    "enum_ ENUM('x', 'y') DEFAULT 'y'",
    "set_ SET('x', 'y') DEFAULT 'x,y'",
    "date_ DATE DEFAULT '2026-02-03'",
    "datetime_ DATETIME(3) DEFAULT '2026-02-03 04:05:06'",
    "stamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP",
    "updated DATETIME NULL ON UPDATE CURRENT_TIMESTAMP",
    "t TEXT",
    "b BLOB",
)
NEWER = ("expression INT DEFAULT (1 + 2)", "hidden INT {}")
#: Their values are not known: `sql_mode` is '', so the server chooses them; the others depend on the session.
UNKNOWN = ("must INT NOT NULL", "local TIMESTAMP NOT NULL DEFAULT '2026-02-03 04:05:06'")

INSERTS = [
    "INSERT INTO r.t (a) VALUES (1), (2), (3), (4)",
    "INSERT INTO r.t (a, t, int_, text_) VALUES (5, 'x', 9, NULL), (6, 'y', 0, 'z')",
    "INSERT INTO r.t (a, null_, none_, negative) VALUES (7, 'n', 7, NULL)",
]
CHANGES = [
    "UPDATE r.t SET a = 50 WHERE a = 5",
    "UPDATE r.t SET t = 'new' WHERE a = 50",
    "UPDATE r.t SET int_ = int_ + 1, b = 'blob' WHERE a IN (1, 6)",
    "UPDATE r.t SET a = a WHERE a = 2",
    "UPDATE r.t SET a = a + 100, none_ = 1 WHERE v = 3",
    "DELETE FROM r.t WHERE s = 8",
    "INSERT INTO r.t (a) VALUES (8)",
]
KEYED = [
    "UPDATE r.t SET id = id + 100 WHERE a = 3",
    "INSERT INTO r.t (id, a) VALUES (1, 9) ON DUPLICATE KEY UPDATE a = 90",
]
#: MariaDB logs it as an update, without columns that get their default.
REPLACED = ["REPLACE INTO r.t (id, a) VALUES (6, 60)"]


def table(server: Server, *, is_keyed: bool, more: tuple[str, ...] = ()) -> str:
    is_mariadb = server.spec.name.startswith("mariadb")
    hidden = "INVISIBLE DEFAULT 6" if is_mariadb else "DEFAULT 6 INVISIBLE"
    newer = () if server.spec.name == "mysql-5.7" else (one.format(hidden) for one in NEWER)
    key = "id INT AUTO_INCREMENT PRIMARY KEY" if is_keyed else "id INT"
    return f"CREATE TABLE r.t ({', '.join([key, 'a INT', *COLUMNS, *newer, *more])})"


def changed(server: Server, image: str, statements: list[str]) -> None:
    run(server, [f"SET SESSION binlog_row_image = {image}", "SET sql_mode = '', NAMES utf8mb4", *statements])


def begun(start_server: StartServer, name: str) -> Server:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    return server


def oracles(server: Server) -> list[OracleTable]:
    return [OracleTable.of(json.loads(line)) for line in snapshot(server, ["r"]).splitlines()]


def differences(lake: Path, server: Server) -> dict[str, set[str]]:
    """The columns of each table that its state lacks; its rows are those of the server otherwise."""
    found = {}
    for oracle in oracles(server):
        state = opened(lake).tables.open(f"state/{'.'.join(oracle.name)}")
        assert state is not None, oracle.name
        columns = [column for column in oracle.columns if column.name in state.columns]
        places = [oracle.columns.index(column) for column in columns]
        rows = [row for batch in state.batches() for row in batch.to_pylist()]
        shown = Counter(tuple(server_text(row[column.name], column) for column in columns) for row in rows)
        assert shown == Counter(tuple(row[place] for place in places) for row in oracle.rows), oracle.name
        found[oracle.name[-1]] = {column.name for column in oracle.columns} - {*state.columns}
    return found


IMAGES = ("FULL", "NOBLOB", "MINIMAL")


@pytest.mark.parametrize("is_keyed", [True, False], ids=["key", "no key"])
@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("name", NAMES)
def test_contents_of_tables(
    name: str, image: str, is_keyed: bool, start_server: StartServer, tmp_path: Path
) -> None:
    server = begun(start_server, name)
    run(server, ["CREATE DATABASE r", table(server, is_keyed=is_keyed)])
    replaced = REPLACED if name.startswith("mysql") or image == "FULL" else []
    changed(server, image, [*INSERTS, *CHANGES, *(*KEYED, *replaced) * is_keyed])
    end = contents(server), checksums(server)
    log = last_log(server)
    # MariaDB's images leave out generated columns: 11.8 always, earlier versions virtual ones (MINIMAL).
    left_out = {"mariadb-11.8": {"v", "s", "w"}}
    if image == "MINIMAL" and is_keyed:
        left_out["mariadb-10.11"] = {"v", "w"}
    for size in (800, 1 << 20):
        refused = load(tmp_path / str(size), [log], size, views=["changes"], zero_dates="text")
        if refused:  # images without a key do not identify their rows
            assert (name, image, is_keyed) in [
                (one, kind, False) for one in ("mysql-9.7", "mysql-5.7") for kind in IMAGES[1:]
            ]
            assert "and no primary key is known" in refused["r.t"]
        else:
            assert differences(tmp_path / str(size), server) == {"t": left_out.get(name, set())}
    text = script(log)
    server.execute("DROP DATABASE r")
    play(server, text)
    assert (contents(server), checksums(server)) == end


@pytest.mark.parametrize("is_keyed", [True, False], ids=["key", "no key"])
@pytest.mark.parametrize("name", NAMES)
def test_undo_restores_generated_columns(
    name: str, is_keyed: bool, start_server: StartServer, tmp_path: Path
) -> None:
    server = begun(start_server, name)
    run(server, ["CREATE DATABASE r", table(server, is_keyed=is_keyed)])
    changed(server, "FULL", INSERTS)
    before = contents(server), checksums(server)
    last_log(server)
    changed(server, "FULL", [*CHANGES, *(*KEYED, *REPLACED) * is_keyed])
    log, ddl = last_log(server), definitions(server, tmp_path / "r.sql")
    play(server, script("--undo", "--ddl", ddl, log))
    assert (contents(server), checksums(server)) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_default_that_is_not_known(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = begun(start_server, name)
    run(server, ["CREATE DATABASE r", table(server, is_keyed=True, more=UNKNOWN)])
    changed(server, "MINIMAL", INSERTS)
    assert (
        "values of must, local are not known"
        in load(tmp_path, [last_log(server)], 1 << 20, zero_dates="text")["r.t"]
    )
    changed(server, "MINIMAL", ["UPDATE r.t SET must = 1, local = CURRENT_TIMESTAMP WHERE id > 2", *CHANGES])
    changed(server, "MINIMAL", ["DELETE FROM r.t WHERE must <> 1", "DELETE FROM r.t WHERE a = 8"])
    last_log(server)
    assert not load(tmp_path, [server.data / "binlog.index"], 1 << 20, zero_dates="text")
    assert not {*differences(tmp_path, server)["t"]} & {"must", "local"}


def test_without_a_definition(start_server: StartServer, tmp_path: Path) -> None:
    """Only MySQL's images show by themselves that a column is unchanged."""
    for name in ("mysql-9.7", "mariadb-11.8"):
        server = begun(start_server, name)
        server.execute("SET GLOBAL binlog_row_metadata = FULL")
        statements = [
            "CREATE DATABASE r",
            "CREATE TABLE r.t (id INT PRIMARY KEY, a INT, v INT AS (a + 1) VIRTUAL)",
        ]
        run(server, statements)
        last_log(server)
        run(server, ["INSERT INTO r.t (id, a) VALUES (1, 1), (2, 2)", "UPDATE r.t SET a = 5 WHERE id = 1"])
        log = last_log(server)
        server.execute("SET GLOBAL binlog_row_metadata = DEFAULT")
        refused = load(tmp_path / name, [log], 1 << 20, views=["changes"])
        if name == "mysql-9.7":
            assert not refused
            assert differences(tmp_path / name, server) == {"t": set()}
        else:
            assert "images of updates lack v; whether the server computes" in refused["r.t"]
