"""`sql` on real servers: its script recreates the tables, or restores the earlier ones with --undo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.values.sql_text import identifier
from tests.corpus_files import case
from tests.servers.conftest import StartServer
from tests.servers.random_tables import changes
from tests.servers.replay import NAMES, checksums, contents, last_log, play, played, rows_of, run
from tools.corpus.recorder import reset_statement
from tools.corpus.snapshot import snapshot
from tools.servers import Server

pytestmark = pytest.mark.server


def script(*arguments: str | Path, code: int = 0) -> bytes:
    command = [sys.executable, "-m", "binlog_kaitai", "sql", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "TZ": "UTC"})
    assert done.returncode == code, done.stderr.decode()
    return done.stdout


#: Keys of all kinds, generated columns, names that need quotes, rows that differ in case only, values that
#: differ though their text is the same, bytes that are no character.
KEYS = [
    "CREATE TABLE r.two (a INT, b VARCHAR(9) CHARACTER SET latin1, v INT, PRIMARY KEY (b, a))",
    "CREATE TABLE r.words (w VARCHAR(20) PRIMARY KEY, n INT)",
    "CREATE TABLE r.lone (w VARCHAR(20) CHARACTER SET utf8, f FLOAT, d DOUBLE, t TEXT, e ENUM('a','b'))",
    "CREATE TABLE r.`odd ``name` (`sel ect` INT PRIMARY KEY, `a'b` BLOB)",
    "CREATE TABLE r.auto (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "CREATE TABLE r.choices (id INT PRIMARY KEY, e ENUM('','a'), s SET('','b','c'))",
    "CREATE TABLE r.arabic (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET cp1256)",
    "CREATE TABLE r.parent (id INT PRIMARY KEY)",
    "CREATE TABLE r.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES r.parent (id))",
]
GENERATED = "CREATE TABLE r.made (id INT PRIMARY KEY, a INT, v INT AS (a + 1) VIRTUAL, s INT AS (a * 2) {})"
KEYS_BEFORE = [
    "INSERT INTO r.two VALUES (1, 'é', 1), (2, 'é', 2), (1, 'x', 3)",
    "INSERT INTO r.words VALUES ('a', 1), ('B', 2), ('it''s \\\\ \n', 3)",
    "INSERT INTO r.lone VALUES ('a', 0.1, 0.1, 'x', 'a'), ('A', 0.1, 0.1, 'x', 'a')",
    "INSERT INTO r.lone VALUES ('a ', 1e10, NULL, '', NULL)",
    "INSERT INTO r.`odd ``name` VALUES (1, X'00FF27'), (2, NULL)",
    "INSERT INTO r.auto VALUES (NULL, 1), (NULL, 2)",
    "INSERT IGNORE INTO r.choices VALUES (1, '', 0), (2, 0, 1), (3, 'a', 'b,c')",
    "INSERT INTO r.arabic VALUES (1, X'C8'), (2, X'C88A')",
    "INSERT INTO r.parent VALUES (1), (2)",
    "INSERT INTO r.child VALUES (1, 1), (2, 2)",
]
KEYS_AFTER = [
    "UPDATE r.two SET a = a + 10 WHERE v < 3",
    "UPDATE r.words SET w = 'A' WHERE n = 1",
    "DELETE FROM r.words WHERE n = 3",
    "DELETE FROM r.lone WHERE BINARY w = 'A'",
    "UPDATE r.lone SET f = 0.3, e = 'b' WHERE BINARY w = 'a'",
    "UPDATE r.`odd ``name` SET `a'b` = X'0A0D1A00' WHERE `sel ect` = 2",
    "DELETE FROM r.auto WHERE id = 1",
    "INSERT INTO r.auto VALUES (NULL, 3)",
    "UPDATE IGNORE r.choices SET e = 0, s = 3 WHERE id = 1",
    "DELETE FROM r.choices WHERE id = 2",
    "DELETE FROM r.arabic WHERE id = 2",
    "BEGIN",
    "INSERT INTO r.parent VALUES (3)",
    "UPDATE r.child SET p = 3 WHERE id = 2",
    "DELETE FROM r.parent WHERE id = 2",
    "COMMIT",
]


@pytest.mark.parametrize("name", NAMES)
def test_keys_and_names(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    more = (
        []
        if name == "mysql-5.6"
        else [GENERATED.format("STORED"), "INSERT INTO r.made (id, a) VALUES (1, 5)"]
    )
    changed = [] if name == "mysql-5.6" else ["UPDATE r.made SET a = 7", "INSERT INTO r.made (id) VALUES (2)"]
    run(server, ["CREATE DATABASE r", *KEYS, *KEYS_BEFORE, *more])
    first, before = last_log(server), (contents(server), checksums(server))
    run(server, [*KEYS_AFTER, *changed])
    second, end = last_log(server), (contents(server), checksums(server))
    ddl = "--ddl", definitions(server, tmp_path / "r.sql")
    play(server, script("--undo", "--extended-insert", *ddl, second))
    assert (contents(server), checksums(server)) == before
    server.execute("DROP DATABASE r")
    play(server, script("--extended-insert", first, second))
    assert (contents(server), checksums(server)) == end


ALTERED = [
    "CREATE TABLE r.orders (id INT PRIMARY KEY, note VARCHAR(20) CHARACTER SET latin1, n INT, old INT)",
    "CREATE TABLE r.lone (a VARCHAR(9) CHARACTER SET latin1, b INT, c INT)",
    "INSERT INTO r.orders VALUES (1, 'é', 1, 1), (2, 'b', 2, 2), (3, 'c', 3, 3)",
    "INSERT INTO r.lone VALUES ('é', 1, 1), ('É', 2, 2), ('x', 3, 3)",
]
ALTERED_AFTER = [
    "UPDATE r.orders SET note = 'changed', old = 9 WHERE id = 1",
    "UPDATE r.orders SET old = 8 WHERE id = 2",
    "DELETE FROM r.orders WHERE id = 3",
    "INSERT INTO r.orders VALUES (4, 'new', 4, 4)",
    "UPDATE r.lone SET b = 10 WHERE b = 1",
    "DELETE FROM r.lone WHERE b = 2",
]
TO_TODAY = [
    "ALTER TABLE r.orders CHANGE note remark VARCHAR(60) CHARACTER SET utf8, DROP COLUMN old, "
    "ADD COLUMN added INT NOT NULL DEFAULT 7, MODIFY n BIGINT",
    "ALTER TABLE r.lone MODIFY a VARCHAR(30) CHARACTER SET utf8, DROP COLUMN c",
]


@pytest.mark.parametrize("name", NAMES)
def test_taken_back_in_tables_as_they_are_today(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    run(server, ["CREATE DATABASE r", *ALTERED])
    ddl = definitions(server, tmp_path / "then.sql")
    last_log(server)
    run(server, ALTERED_AFTER)
    log = last_log(server)
    run(server, TO_TODAY)
    today = definitions(server, tmp_path / "today.sql")
    play(
        server,
        script(
            "--undo", "--extended-insert", "--ddl", ddl, "--for-table", today, "--renamed", "note=remark", log
        ),
    )
    found = server.execute("SELECT id, remark, n, added FROM r.orders ORDER BY id")
    assert [tuple(row) for row in found] == [(1, "é", 1, 7), (2, "b", 2, 7), (3, "c", 3, 7)]
    rows = server.execute("SELECT a, b FROM r.lone ORDER BY b")
    assert [tuple(row) for row in rows] == [("é", 1), ("É", 2), ("x", 3)]


def definitions(server: Server, path: Path) -> Path:
    names = [row[0] for row in server.execute("SHOW TABLES FROM r")]
    found = [server.execute(f"SHOW CREATE TABLE r.{identifier(name)}")[0][1] for name in names]
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
    first, before = last_log(server), (contents(server), checksums(server))
    run(server, after)
    second, end = last_log(server), (contents(server), checksums(server))
    assert before != end
    ddl = definitions(server, tmp_path / "r.sql")

    play(server, script("--undo", "--ddl", ddl, second))
    assert (contents(server), checksums(server)) == before
    server.execute("DROP DATABASE r")
    play(server, script(first, second))
    assert (contents(server), checksums(server)) == end


#: Documents that JSON text does not hold exactly, or that a server's JSON parser does not read exactly.
DOCUMENTS = [
    "JSON_ARRAY(6.663522088036566e-143, 1.2345678901234567e300, 5e-324, -1.7976931348623157e308)",
    "JSON_OBJECT('sum', 0.1e0 + 0.2e0, 'round', 2000e0, 'decimal', 1.50, 'a\"b', 1234567.1234567891e0)",
    "CAST(1e23 AS JSON)",
    "JSON_OBJECT('bytes', CAST(X'00FF27' AS BINARY), 'empty', CAST('' AS BINARY), 'time', TIME'-01:00:00')",
]


@pytest.mark.parametrize("name", ["mysql-5.7", "mysql-8.0", "mysql-9.7"])
def test_documents_are_exact(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Without a key, so that `--undo` has to find them."""
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    run(server, ["CREATE DATABASE r", "CREATE TABLE r.a (id INT, j JSON)"])
    ddl = "--ddl", definitions(server, tmp_path / "r.sql")
    last_log(server)
    run(server, [f"INSERT INTO r.a VALUES ({at}, {text})" for at, text in enumerate(DOCUMENTS)])
    log, end = last_log(server), contents(server)
    assert end["r.a"].total() == len(DOCUMENTS)
    play(server, script("--undo", *ddl, log))
    assert contents(server) == {"r.a": Counter()}
    play(server, script(*ddl, log))
    assert contents(server) == end


#: Changes of rows that are no longer there once they were made: as they are, and taken back.
KEYLESS = {
    "UPDATE r.a SET v = 5": (),
    "DELETE FROM r.a": (),
    "INSERT INTO r.a VALUES (3, 3)": ("--undo",),
    "DELETE FROM r.`表`": (),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_script_stops_where_it_does_not_find_a_row(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    """Without a primary key. What follows in the script is not run."""
    server = start_server(name)
    for change, options in KEYLESS.items():
        server.execute("DROP DATABASE IF EXISTS r")
        server.execute(reset_statement(server))
        run(server, ["CREATE DATABASE r", "CREATE TABLE r.a (n INT, v INT)", "CREATE TABLE r.`表` (n INT)"])
        run(server, ["INSERT INTO r.a VALUES (1, 1)", "INSERT INTO r.`表` VALUES (1)"])
        ddl = "--ddl", definitions(server, tmp_path / "r.sql")
        last_log(server)
        run(server, [change])
        text = script(*options, *ddl, last_log(server))
        if options:
            play(server, text)
        before = contents(server)
        text += b"INSERT INTO r.a VALUES (9, 9);\n"
        done = played(server, text)
        assert done.returncode == 1, change
        assert b"can't be set to the value of 'the statement before found no row'" in done.stderr
        assert contents(server) == before, change


@pytest.mark.parametrize("image", ["MINIMAL", "FULL"])
@pytest.mark.parametrize("table", ["a", "`表`"])
@pytest.mark.parametrize("name", NAMES)
def test_an_update_with_equal_values_needs_its_row(
    name: str, table: str, image: str, start_server: StartServer, tmp_path: Path
) -> None:
    """MyISAM logs a REPLACE of a row by itself as an update."""
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    columns = "n INT NOT NULL UNIQUE, v INT"
    run(server, ["CREATE DATABASE r", f"CREATE TABLE r.{table} ({columns}) ENGINE=MyISAM"])
    run(server, [f"INSERT INTO r.{table} VALUES (1, 1), (2, 2)"])
    ddl = "--ddl", definitions(server, tmp_path / "r.sql")
    last_log(server)
    run(
        server,
        [f"SET SESSION binlog_row_image = '{image}'", f"REPLACE INTO r.{table} VALUES (1, 1)"],
    )
    text, before = script(*ddl, last_log(server)), contents(server)
    play(server, text)
    assert contents(server) == before
    run(server, [f"DELETE FROM r.{table} WHERE n = 1"])
    done = played(server, text)
    assert done.returncode == 1
    assert b"the statement before found no row" in done.stderr


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name.startswith("mariadb") and name[-3:] != "0.2"]
)
def test_values_that_were_only_compressed_anew(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    made = (
        "CREATE TABLE r.a (n INT, v VARCHAR(500) COMPRESSED)",
        "INSERT INTO r.a VALUES (1, REPEAT('v', 400))",
    )
    run(server, ["CREATE DATABASE r", *made])
    ddl = "--ddl", definitions(server, tmp_path / "r.sql")
    last_log(server)
    again = "SET SESSION column_compression_threshold = 500", "UPDATE r.a SET v = CONCAT(v)"
    run(server, [*again, "UPDATE r.a SET n = 2"])
    log, before = last_log(server), contents(server)
    play(server, script("--undo", *ddl, log))
    assert contents(server) != before
    play(server, script(*ddl, log))
    play(server, script("--undo", "--check", *ddl, log))
    play(server, script(*ddl, log))
    assert contents(server) == before


#: Cases whose logs have all that made their tables.
CASES = {
    "mysql-5.6": ("many_databases", "types_full", "types_minimal", "types_v1_rows"),
    "mysql-5.7": ("types_full",),
    "mysql-8.0": ("json_partial", "types_metadata"),
    "mysql-9.7": ("charsets", "invisible_key", "json_partial", "metadata", "partitions", "types_full", "xa"),
    "mariadb-10.2": ("types_compressed", "types_full"),
    "mariadb-10.11": ("alter_two_phase", "metadata", "types_compressed", "types_old_temporal"),
    "mariadb-11.4": ("alter_two_phase", "metadata", "types_compressed"),
    "mariadb-11.8": ("many_databases", "partitions", "types_full_nodup"),
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


#: Everything is in the database that the session uses, as it is where --rewrite-db renames all of it.
ELSEWHERE = [
    "CREATE TABLE things (id INT PRIMARY KEY, v VARCHAR(20))",
    "INSERT INTO things VALUES (1, 'a'), (2, 'é'), (3, 'c')",
    "UPDATE things SET v = 'b' WHERE id = 1",
    "DELETE FROM things WHERE id = 3",
    "ALTER TABLE things ADD n INT",
    "INSERT INTO things VALUES (4, 'd', 4)",
]


@pytest.mark.parametrize("name", NAMES)
def test_changes_are_made_in_another_database_and_over_existing_rows(
    name: str, start_server: StartServer
) -> None:
    server = start_server(name)
    for statement in ("DROP DATABASE IF EXISTS r", "DROP DATABASE IF EXISTS one", "CREATE DATABASE one"):
        server.execute(statement)
    server.execute(reset_statement(server))
    run(server, ["USE one", *ELSEWHERE])
    log = last_log(server)
    expected = [json.loads(line)["rows"] for line in snapshot(server, ["one"]).splitlines()]

    def found() -> list[object]:
        return [json.loads(line)["rows"] for line in snapshot(server, ["r"]).splitlines()]

    server.execute("CREATE DATABASE r")
    play(server, script("--rewrite-db", "one->r", log))
    assert found() == expected
    again = "--rewrite-db", "one->r", "--operation", "insert", "--start-position", _of_last_insert(log), log
    server.execute("UPDATE r.things SET v = 'other' WHERE id = 4")
    play(server, script("--insert-ignore", *again))
    assert found() != expected
    play(server, script("--replace", *again))
    assert found() == expected
    server.execute("DELETE FROM r.things WHERE id = 4")
    # The ALTER after the DELETE is named.
    undo = "--undo", "--replace", "--rewrite-db", "one->r", "--operation", "delete"
    play(server, script(*undo, log, code=3))
    assert [row[0] for row in server.execute("SELECT id FROM r.things ORDER BY id")] == [1, 2, 3]


def _of_last_insert(log: Path) -> str:
    return str([row.position for row in bk.read_rows(log) if row.change.value == "insert"][-1])
