"""Changes and state of a lake are the tables of a server after a random workload."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.lake.changes import TableChanges
from tests.extent import sample
from tests.lake import alters
from tests.lake.lakes import opened
from tests.lake.test_alters import check
from tests.lake.test_state import run
from tests.lake.test_truth import changes_of, content
from tests.rows.truth import OracleTable, as_5_7_shows
from tests.servers.conftest import StartServer
from tests.servers.random_definitions import Workload
from tests.spark.oracle import server_text
from tools.corpus.recorder import reset_statement
from tools.corpus.snapshot import snapshot
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-11.4")


def tables_after(server: Server, statements: Iterable[str]) -> list[OracleTable]:
    """Run statements on a server with new logs; returns the tables that it has then."""
    server.execute("DROP DATABASE IF EXISTS w")
    server.execute(reset_statement(server))
    connection = server.connect()
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    connection.close()
    server.execute("FLUSH BINARY LOGS")
    return [OracleTable.of(json.loads(line)) for line in snapshot(server, ["w"]).splitlines()]


def shown(rows: Iterable[dict[str, Any]], table: OracleTable) -> Counter[tuple[str | None, ...]]:
    """Rows of a lake as the server prints them; a column whose type changes goes on with `_` appended."""
    counts: Counter[tuple[str | None, ...]] = Counter()
    for row in rows:
        values = dict[str, Any]()
        for name, value in row.items():
            if value is not None:
                assert values.setdefault(name.rstrip("_"), value) is value
        texts = (server_text(values.get(column.name), column) for column in table.columns)
        counts[tuple(text and as_5_7_shows(text) for text in texts)] += 1
    return counts


@pytest.mark.parametrize("seed", sample(range(1, 7), 1))
@pytest.mark.parametrize("name", NAMES)
def test_changes_and_state_are_the_tables_of_a_server(
    name: str, seed: int, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(name)
    oracle = tables_after(server, Workload(seed, has_keyless=seed % 2 == 1).statements(300))
    size = random.Random(seed).choice((3_000, 12_000, 1 << 20))
    refused = run(tmp_path, [server.data / "binlog.index"], size, views=["changes"], zero_dates="text")
    lake = opened(tmp_path)
    changes = TableChanges(lake)
    compared = 0
    for table in oracle:
        if (reason := refused.get(".".join(table.name))) is not None:
            assert not changes.lineage.keys[table.name]
            assert "it has no primary key, and changes remove rows that none has added" in reason
            continue
        expected = Counter(tuple(text and as_5_7_shows(text) for text in row) for row in table.rows)
        state = lake.tables.open(f"state/{'.'.join(table.name)}")
        assert state is not None
        kept = [row for batch in state.batches() for row in batch.to_pylist()]
        assert shown(kept, table) == expected, table.name
        dropped = frozenset().union(*(part.gone for part in changes.parts(table.name)))
        rows = content(changes_of(changes, table.name), changes.lineage.keys.get(table.name, []))
        left = [{name: one for name, one in row.items() if name not in dropped} for row in rows]
        assert shown(left, table) == expected, table.name
        compared += len(table.rows)
    assert compared > 100


def test_each_change_counts_by_the_primary_key_of_its_time(start_server: StartServer, tmp_path: Path) -> None:
    """Keys that are replaced, extended, dropped, added and renamed, in one batch and in many."""
    statements = (
        "CREATE DATABASE w",
        "CREATE TABLE w.t (a INT PRIMARY KEY, b INT NOT NULL, c VARCHAR(20))",
        "INSERT INTO w.t VALUES (1, 7, 'x'), (2, 7, 'y'), (3, 8, 'z')",
        "UPDATE w.t SET c = 'yy' WHERE a = 2",
        "DELETE FROM w.t WHERE a = 1",
        "ALTER TABLE w.t DROP PRIMARY KEY, ADD PRIMARY KEY (b)",
        "INSERT INTO w.t VALUES (2, 9, 'v')",
        "UPDATE w.t SET a = 5 WHERE b = 9",
        "ALTER TABLE w.t DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)",
        "INSERT INTO w.t VALUES (5, 7, 'u'), (6, 7, 't')",
        "ALTER TABLE w.t DROP PRIMARY KEY",
        "INSERT INTO w.t VALUES (6, 7, 't'), (6, 7, 't')",
        "DELETE FROM w.t WHERE c = 't' LIMIT 2",
        "ALTER TABLE w.t RENAME COLUMN a TO d, ADD PRIMARY KEY (d, b)",
        "DELETE FROM w.t WHERE d = 6",
        "ALTER TABLE w.t MODIFY c VARCHAR(20) COLLATE utf8mb4_bin NOT NULL",
        "ALTER TABLE w.t DROP PRIMARY KEY, ADD PRIMARY KEY (c)",
        "INSERT INTO w.t VALUES (1, 1, 'U')",
        "UPDATE w.t SET c = 'Z' WHERE c = 'z'",
        "DELETE FROM w.t WHERE c = 'u'",
        "ALTER TABLE w.t MODIFY c VARCHAR(20) COLLATE utf8mb4_0900_ai_ci NOT NULL",
        "UPDATE w.t SET c = 'v ' WHERE c = 'V'",
        "REPLACE INTO w.t VALUES (8, 8, 'z')",
        "CREATE TABLE w.u (a INT, b INT PRIMARY KEY)",
        "INSERT INTO w.u VALUES (1, 1), (1, 2), (1, 3)",
        "RENAME TABLE w.t TO w.s, w.u TO w.t",
        "DELETE FROM w.t WHERE b = 2",
    )
    server = start_server("mysql-9.7")
    oracle = tables_after(server, statements)
    for size in (100, 2_000, 1 << 20):
        assert not run(tmp_path / str(size), [server.data / "binlog.index"], size, views=["changes"])
        lake = opened(tmp_path / str(size))
        for table in oracle:
            state = lake.tables.open(f"state/{'.'.join(table.name)}")
            assert state is not None
            kept = [row for batch in state.batches() for row in batch.to_pylist()]
            assert shown(kept, table) == Counter(map(tuple, table.rows)), (size, table.name)


def test_cascades_between_statements(start_server: StartServer, tmp_path: Path) -> None:
    """In one part of a log, tables with foreign keys get them, lose them, and change their names."""
    foreign_key = "FOREIGN KEY p (p) REFERENCES w.p (id) ON DELETE CASCADE"
    statements = (
        "CREATE DATABASE w",
        "CREATE TABLE w.p (id INT PRIMARY KEY)",
        "INSERT INTO w.p VALUES (1), (2), (3), (4)",
        *(f"CREATE TABLE w.{name} (id INT PRIMARY KEY, p INT)" for name in ("some", "late", "early")),
        *(f"INSERT INTO w.{name} VALUES (1, 1), (2, 2), (3, 3)" for name in ("some", "late", "early")),
        f"ALTER TABLE w.some ADD CONSTRAINT s {foreign_key}",
        "DELETE FROM w.p WHERE id = 1",
        "ALTER TABLE w.some DROP FOREIGN KEY s",
        "UPDATE w.late SET p = 4 WHERE p = 1",
        "UPDATE w.early SET p = 4 WHERE p = 1",
        f"ALTER TABLE w.early ADD CONSTRAINT e {foreign_key}",
        "DELETE FROM w.p WHERE id = 2",
        "RENAME TABLE w.early TO w.former",
        "UPDATE w.late SET p = 4 WHERE p = 2",
        f"CREATE TABLE w.early (id INT PRIMARY KEY, p INT, {foreign_key})",
        "INSERT INTO w.early VALUES (1, 3)",
        "UPDATE w.late SET p = 4 WHERE p = 3",
        f"ALTER TABLE w.late ADD CONSTRAINT l {foreign_key}",
        "RENAME TABLE w.late TO w.later",
        "DELETE FROM w.p WHERE id = 3",
    )
    server = start_server("mariadb-11.8")
    oracle = tables_after(server, statements)
    refused = run(tmp_path, [server.data / "binlog.index"], 1 << 20, views=["changes"])
    assert refused.keys() == {"w.some", "w.former", "w.early", "w.later"}
    lake = opened(tmp_path)
    (parents,) = (table for table in oracle if table.name == ("w", "p"))
    state = lake.tables.open("state/w.p")
    assert state is not None
    kept = [row for batch in state.batches() for row in batch.to_pylist()]
    assert shown(kept, parents) == Counter(map(tuple, parents.rows))


#: Tables whose images lack columns that their lake has under other names.
_OTHER_NAMES = (
    "CREATE DATABASE w",
    "CREATE TABLE w.t (k INT PRIMARY KEY, a DOUBLE, b INT)",
    "CREATE TABLE w.u (k INT PRIMARY KEY, a INT, b INT)",
    "CREATE TABLE w.computed (k INT PRIMARY KEY, a INT, s INT AS (a + 1) STORED, b INT)",
    "INSERT INTO w.t VALUES (1, 0.5, 1), (2, 0.75, 2), (3, NULL, 3)",
    "INSERT INTO w.u VALUES (1, 5, 1), (2, 7, 2), (3, NULL, 3)",
    "INSERT INTO w.computed (k, a, b) VALUES (1, 5, 1), (2, 7, 2)",
    "RENAME TABLE w.t TO w.x, w.u TO w.t, w.x TO w.u",
    "INSERT INTO w.t VALUES (4, 5, 4)",
    "INSERT INTO w.u VALUES (4, 0.25, 4)",
    "ALTER TABLE w.computed CHANGE b c INT",
    "SET SESSION binlog_row_image = 'MINIMAL'",
    "UPDATE w.t SET b = 9 WHERE k IN (3, 4)",
    "UPDATE w.u SET b = 9 WHERE k IN (3, 4)",
    "UPDATE w.computed SET c = 9 WHERE k = 1",
    # What had a value under the former name.
    "UPDATE w.{} SET b = 9 WHERE k = 1",
)


@pytest.mark.parametrize(
    ("name", "size", "changed"), [("mysql-9.7", 2_000, "t"), ("mariadb-11.8", 1 << 20, "u")]
)
def test_images_lack_a_column_that_has_another_name_in_the_lake(
    name: str, size: int, changed: str, start_server: StartServer, tmp_path: Path
) -> None:
    """A value is known, or the table has no state: it is never NULL instead."""
    server = start_server(name)
    oracle = tables_after(server, (one.format(changed) for one in _OTHER_NAMES))
    refused = run(tmp_path, [server.data / "binlog.index"], size, views=["changes"])
    assert refused.keys() == {f"w.{changed}"}
    lake = opened(tmp_path)
    for table in oracle:
        if (full_name := ".".join(table.name)) in refused:
            continue
        state = lake.tables.open(f"state/{full_name}")
        assert state is not None
        kept = [row for batch in state.batches() for row in batch.to_pylist()]
        left = [at for at, one in enumerate(table.columns) if one.name in {*state.columns, "a"}]
        expected = Counter(tuple(row[at] for at in left) for row in table.rows)
        assert Counter(tuple(row[at] for at in left) for row in shown(kept, table).elements()) == expected


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_a_key_is_renamed_before_a_table_has_rows(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    statements = (
        "CREATE DATABASE w",
        *(f"CREATE TABLE w.{table} (k INT PRIMARY KEY, v INT)" for table in "tuv"),
        *(f"INSERT INTO w.{table} VALUES (1, 1)" for table in "tuv"),
        "ALTER TABLE w.t CHANGE k r INT",
        "TRUNCATE TABLE w.t",
        "ALTER TABLE w.u CHANGE k r INT",
        "RENAME TABLE w.u TO w.x",
        "ALTER TABLE w.v CHANGE k r INT",
        "DELETE FROM w.v",
    )
    server = start_server(name)
    oracle = tables_after(server, statements)
    for size in (500, 1 << 20):
        assert run(tmp_path / str(size), [server.data / "binlog.index"], size, views=["changes"]) == {}
        lake = opened(tmp_path / str(size))
        for table in oracle:
            state = lake.tables.open(f"state/{'.'.join(table.name)}")
            kept = [row for batch in (() if state is None else state.batches()) for row in batch.to_pylist()]
            assert shown(kept, table) == Counter(map(tuple, table.rows)), (size, table.name)


#: Columns that an ALTER changes: the type before, values, the type after, and whether the state then has the
#: values of rows that have not changed since.
_CONVERSIONS = (
    ("DATETIME(6)", ("2026-01-01 00:00:00.4", "2026-01-01 00:00:01.6"), "DATETIME", False),
    ("DATETIME", ("2026-01-01 00:00:00", "2026-01-01 00:00:01"), "DATETIME(3)", False),
    ("DECIMAL(9,2)", ("1.26", "2.34"), "DECIMAL(9,1)", False),
    ("DECIMAL(9,2)", ("1.26", "2.34"), "DECIMAL(12,2)", True),
    ("DECIMAL(9,2)", ("1.26", "2.34"), "DECIMAL(12,4)", True),
    ("DATE", ("2026-01-01", "2026-01-02"), "DATETIME", False),  # in a lake with times as text
    ("VARCHAR(9)", ("a", "b"), "VARCHAR(2)", False),
    ("VARCHAR(9)", ("a ", "b"), "CHAR(9)", False),
    ("VARCHAR(9) CHARACTER SET latin1", ("ä", "b "), "VARCHAR(10) CHARACTER SET utf8mb4", True),
    ("VARCHAR(9) CHARACTER SET utf8mb4", ("ä", "b "), "TEXT CHARACTER SET latin1", True),
    ("BINARY(2)", ("a", "bb"), "BINARY(3)", False),
    ("INT", ("-7", "300"), "SMALLINT", True),
    ("INT UNSIGNED ZEROFILL", ("7", "300"), "VARCHAR(20)", False),
    ("FLOAT", ("0.1", "0.7"), "DOUBLE", True),
    ("ENUM('a','b')", ("a", "b"), "ENUM('c','b','a')", True),
    ("SET('a','b')", ("a,b", "b"), "SET('b','a')", False),
    ("INT AS (0) STORED", ("DEFAULT", "DEFAULT"), "INT AS (1) STORED", False),
)


@pytest.mark.parametrize(("name", "size"), [("mysql-9.7", 2_000), *((name, 1 << 20) for name in NAMES)])
def test_values_that_an_alter_converts(
    name: str, size: int, start_server: StartServer, tmp_path: Path
) -> None:
    """Keys and other columns, in tables that have no rows, some unchanged rows, or only rows that changed."""
    statements, kept = ["CREATE DATABASE w"], set[str]()
    for number, (old, values, new, stays) in enumerate(_CONVERSIONS):
        for kind in ("empty", "changed", "some", "key"):
            target = f"w.{kind}{number}"
            if kind == "key" and ("TEXT" in new or "AS" in new):
                continue
            literals = [value if value == "DEFAULT" else f"'{value}'" for value in values]
            key = "c" if kind == "key" else "k"
            rows = f"INSERT INTO {target} VALUES (1, 0, {literals[0]}), (2, 0, {literals[1]})"
            statements.append(f"CREATE TABLE {target} (k INT NOT NULL, n INT, c {old}, PRIMARY KEY ({key}))")
            if kind != "empty":
                statements.append(rows)
            statements.append(f"ALTER TABLE {target} MODIFY c {new}")
            if kind == "empty":
                statements.append(rows)
            statements.append(f"UPDATE {target} SET n = 1" + (" WHERE k = 1" * (kind in ("some", "key"))))
            if stays or kind in ("empty", "changed"):
                kept.add(target)
    server = start_server(name)
    oracle = tables_after(server, statements)
    refused = run(tmp_path, [server.data / "binlog.index"], size, views=["changes"], zero_dates="text")
    lake = opened(tmp_path)
    for table in oracle:
        full_name = ".".join(table.name)
        reason = refused.get(full_name)
        assert (reason is None) == (full_name in kept), (full_name, reason)
        if reason is not None:
            is_other = table.name[1].startswith("key") and "no value in its key" in reason  # in `c_` only
            assert is_other or "an ALTER TABLE converts values of c" in reason
            continue
        state = lake.tables.open(f"state/{full_name}")
        assert state is not None
        rows_kept = [row for batch in state.batches() for row in batch.to_pylist()]
        assert shown(rows_kept, table) == Counter(map(tuple, table.rows)), full_name


@pytest.mark.parametrize("name", NAMES)
def test_what_an_alter_does_to_older_rows(name: str, start_server: StartServer, tmp_path: Path) -> None:
    without = {"mysql-5.7": {"instant", "expression"}, "mysql-8.0": {"instant", "expression"}}.get(
        name, set()
    )
    statements = alters.statements(is_mariadb=name.startswith("mariadb"), without=without)
    server = start_server(name)
    oracle = tables_after(server, statements)
    refused = run(tmp_path, [server.data / "binlog.index"], 1 << 20, views=["changes"])
    check(tmp_path, {table: reason for table, reason in refused.items() if table.startswith("w.")}, oracle)
