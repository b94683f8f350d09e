"""`sql --undo` on real servers: it reverts the selected changes of rows, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.servers.conftest import StartServer
from tests.servers.random_tables import changes
from tests.servers.replay import (
    NAMES,
    WAYS,
    checksums,
    client_of,
    contents,
    last_log,
    play,
    run,
    run_script,
)
from tests.servers.test_sql import definitions, script
from tools.corpus.recorder import reset_statement
from tools.servers import Server

pytestmark = pytest.mark.server


def begun(server: Server, *statements: str) -> None:
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    run(server, ["CREATE DATABASE r", *statements])


#: Columns that the server sets by itself, by an implicit default where that is configured, or not at all.
MOMENTS = {
    "t": "TIMESTAMP NOT NULL",
    "u": "TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP",
    "d": "DATETIME ON UPDATE CURRENT_TIMESTAMP",
    "due": "DATETIME",
}


@pytest.mark.parametrize("is_known", [True, False], ids=["by the log", "by --ddl"])
@pytest.mark.parametrize("name", NAMES)
def test_only_the_changed_columns_are_reverted(
    name: str, is_known: bool, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(name)
    columns = ", ".join(f"{column} {kind}" for column, kind in MOMENTS.items())
    moments = "'2026-01-01 00:00:00', '2026-01-02 00:00:00', '2026-01-03 00:00:00', '2026-01-04 00:00:00'"
    begun(
        server,
        f"CREATE TABLE r.orders (id INT PRIMARY KEY, total INT, {columns})",
        f"INSERT INTO r.orders VALUES (1, 100, {moments})",
    )
    ddl = definitions(server, tmp_path / "r.sql")
    if not is_known:
        last_log(server)
    run(server, ["UPDATE r.orders SET total = 0, t = t, u = u, d = d"])
    later = {"t": "2027-01-01", "u": "2027-01-02", "d": "2027-01-03", "due": "2027-01-04"}
    sets = ", ".join(f"{column} = '{day}'" for column, day in later.items())
    run(server, [f"UPDATE r.orders SET {sets}"])
    log = last_log(server)
    _, second = [row.position for row in bk.read_rows(log) if row.change.value == "update"]
    chosen = "--operation", "update", "--stop-position", str(second)
    play(server, script("--undo", "--ddl", ddl, *chosen, log))  # the later change is one of other columns
    found = server.execute("SELECT total, DATE(t), DATE(u), DATE(d), DATE(due) FROM r.orders")
    assert [str(one) for one in found[0]] == ["100", *later.values()]


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_a_column_that_was_added_since_is_not_changed(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(name)
    begun(
        server,
        "CREATE TABLE r.orders (id INT PRIMARY KEY, total INT)",
        "INSERT INTO r.orders VALUES (1, 100)",
    )
    ddl = definitions(server, tmp_path / "then.sql")
    last_log(server)
    run(server, ["UPDATE r.orders SET total = 0"])
    log = last_log(server)
    added = "ADD updated DATETIME DEFAULT '2026-01-01' ON UPDATE CURRENT_TIMESTAMP"
    run(server, [f"ALTER TABLE r.orders {added}"])
    today = definitions(server, tmp_path / "today.sql")
    play(server, script("--undo", "--ddl", ddl, "--for-table", today, log))
    assert [str(one) for one in server.execute("SELECT total, DATE(updated) FROM r.orders")[0]] == [
        "100", "2026-01-01"
    ]  # fmt: skip


#: What happens after the total of a row was set to 0; the row once that is reverted; whether it is doubtful.
LATER = {
    "UPDATE r.orders SET note = 'later' WHERE id = 1": (["1", "5", "later"], False),
    "UPDATE r.orders SET total = 7 WHERE id = 1": (["1", "5", "a"], True),  # the later change is lost
    "UPDATE r.orders SET id = 9 WHERE id = 1": (["9", "0", "a"], True),  # the row is not found
    "DELETE FROM r.orders WHERE id = 1": (None, True),
    "REPLACE INTO r.orders VALUES (1, 7, 'new')": (["1", "5", "new"], True),
    "UPDATE r.orders SET total = 7 WHERE id = 2": (["1", "5", "a"], False),
}


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_a_row_was_changed_again_if_the_script_overwrites_the_change_or_does_not_find_the_row(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(name)
    for later, (expected, is_again) in LATER.items():
        begun(
            server,
            "CREATE TABLE r.orders (id INT PRIMARY KEY, total INT, note VARCHAR(9))",
            "INSERT INTO r.orders VALUES (1, 5, 'a'), (2, 6, 'b')",
        )
        ddl = definitions(server, tmp_path / "r.sql")
        last_log(server)
        run(server, ["UPDATE r.orders SET total = 0 WHERE id = 1", later])
        log = last_log(server)
        _, second, *_ = (row.position for row in bk.read_rows(log))
        chosen = "--stop-position", str(second)
        play(server, script("--undo", "--ddl", ddl, *chosen, log, code=3 if is_again else 0))
        rows = [
            [str(value) for value in row] for row in server.execute("SELECT * FROM r.orders WHERE id <> 2")
        ]
        assert rows == ([] if expected is None else [expected]), later


#: Changes that are reverted, and what stands in the way of the second one.
STALE = {
    "UPDATE r.orders SET total = 0 WHERE id = 1": "UPDATE r.orders SET note = 'later' WHERE id = 1",
    "DELETE FROM r.orders WHERE id = 1": "INSERT INTO r.orders VALUES (1, 5, 'new')",
    "INSERT INTO r.orders VALUES (9, 9, 'i')": "UPDATE r.orders SET total = 8 WHERE id = 9",
    "UPDATE r.notes SET v = 'changed'": "DELETE FROM r.notes WHERE n = 1",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_checked_script_reverts_nothing_where_a_row_is_not_as_it_was(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    server, folder = start_server(name), tmp_path / "client"
    folder.mkdir()
    for change, later in STALE.items():
        begun(
            server,
            "CREATE TABLE r.orders (id INT PRIMARY KEY, total INT, note VARCHAR(9))",
            "CREATE TABLE r.notes (n INT, v VARCHAR(9))",
            "INSERT INTO r.orders VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')",
            "INSERT INTO r.notes VALUES (1, 'a'), (2, 'b')",
        )
        ddl = definitions(server, tmp_path / "r.sql")
        last_log(server)
        # The transactions in the script are, in this order: the last one, the stale one, the first one.
        run(server, ["UPDATE r.orders SET total = 7 WHERE id = 3"])
        run(server, ["BEGIN", "UPDATE r.orders SET note = 'x' WHERE id = 2", change, "COMMIT"])
        run(server, ["UPDATE r.orders SET note = 'y' WHERE id = 3"])
        log = last_log(server)
        run(server, [later])
        text = script("--undo", "--check", "--ddl", ddl, log)
        expected = contents(server)["r.orders"].copy()
        expected['["3", "7", "y"]'] -= 1
        expected['["3", "7", "c"]'] += 1
        for way in WAYS:
            said = run_script(client_of(server), text, way, folder)
            assert "the statement before found no row" in said or "Duplicate entry" in said, (change, way)
            assert contents(server)["r.orders"] == +expected, (change, way)
            server.execute("UPDATE r.orders SET note = 'y' WHERE id = 3")
    run(server, ["DELETE FROM r.notes", "INSERT INTO r.notes VALUES (1, 'changed'), (2, 'changed')"])
    play(server, text)
    assert sorted(contents(server)["r.notes"]) == ['["1", "a"]', '["2", "b"]']


@pytest.mark.parametrize("name", NAMES)
def test_a_checked_script_reverts_all_types_of_values(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(name)
    setup, after = changes(name, 2)
    begun(server, *setup)
    last_log(server)
    before = contents(server), checksums(server)
    run(server, after)
    log = last_log(server)
    play(server, script("--undo", "--check", "--ddl", definitions(server, tmp_path / "r.sql"), log))
    assert (contents(server), checksums(server)) == before
