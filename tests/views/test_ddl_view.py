"""The view `ddl`: effects of statements on definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.views.ddl_view import DDL_SCHEMA
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.log_maker import log_of_statements

CASES = [case("mysql-9.7", "ddl"), case("mariadb-11.8", "ddl"), case("mysql-9.7", "rotate")]


def ddl_of(source: Any, **options: Any) -> list[dict[str, Any]]:
    return list(bk.read_ddl(source, **options).read_all().to_pylist())


def log(tmp_path: Path, *statements: str) -> Path:
    path = tmp_path / "binlog.000001"
    path.write_bytes(log_of_statements(*(statement.encode() for statement in statements)))
    return path


def names(columns: list[dict[str, Any]] | None) -> list[str] | None:
    return None if columns is None else [column["name"] for column in columns]


def test_a_row_for_each_table_of_a_statement() -> None:
    reader = bk.read_ddl(CASES[0].logs)
    assert reader.schema == DDL_SCHEMA
    rows = reader.read_all().to_pylist()
    kinds = [(row["kind"], row["table"], row["new_table"]) for row in rows]
    assert ("rename_table", "b", "c") in kinds
    assert ("rename_table", "we`ird t", "d") in kinds
    assert ("alter_table", "a", "b") in kinds
    assert ("truncate_table", "f", None) in kinds
    assert ("drop_database", None, None) in kinds
    first = next(row for row in rows if row["kind"] == "create_table")
    assert first["columns_before"] is None
    assert first["columns_after"] == [
        {"name": "id", "type": "int", "is_nullable": False, "is_primary_key": True},
        {"name": "v", "type": "varchar(20)", "is_nullable": True, "is_primary_key": False},
    ]
    assert first["statement"].startswith("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20)")
    assert (
        first["_gtid"]
        == bk.read_transactions(
            CASES[0].logs, start_position=first["_position"] - 100, stop_position=first["_position"]
        )
        .read_all()
        .to_pylist()[-1]["gtid"]
    )
    sequences = [row["_sequence"] for row in rows]
    assert sequences == sorted(set(sequences))


@pytest.mark.parametrize("number", range(len(CASES)))
def test_columns_are_those_that_the_reader_knows(number: int) -> None:
    logs = CASES[number].logs
    rows = ddl_of(logs)
    definitions, number = Definitions(), 0
    with bk.open(logs) as events:
        for event in events:
            if event.type not in ("QUERY_EVENT", "QUERY_COMPRESSED_EVENT"):
                continue
            definitions.observe_query(event.body)
            while number < len(rows) and (rows[number]["_file"], rows[number]["_position"]) == (
                event.file,
                event.position,
            ):
                row = rows[number]
                number += 1
                if row["table"] is None or row["kind"] == "drop_table":
                    assert row["columns_after"] is None
                    continue
                key = row["new_schema"] or row["schema"], row["new_table"] or row["table"]
                known = definitions.of(*key)
                assert names(row["columns_after"]) == (
                    None if known is None else [column.name for column in known.columns]
                )
    assert number == len(rows) > 1


def test_renames(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        "CREATE TABLE a (id INT PRIMARY KEY, x INT, y INT)",
        "ALTER TABLE a RENAME COLUMN x TO z, CHANGE COLUMN y `y 2` BIGINT, ADD w INT, RENAME TO b",
        "ALTER TABLE b CHANGE id id INT",
        "CREATE TABLE c (k INT)",
        "RENAME TABLE b TO tmp, c TO b, tmp TO c",
        "ALTER TABLE unknown_one RENAME COLUMN p TO q",
    )
    _, alter, change, _, *swap, unknown = ddl_of(path)
    assert alter["renamed_columns"] == [{"old": "x", "new": "z"}, {"old": "y", "new": "y 2"}]
    assert (names(alter["columns_before"]), names(alter["columns_after"])) == (
        ["id", "x", "y"],
        ["id", "z", "y 2", "w"],
    )
    assert alter["new_table"] == "b"
    assert change["renamed_columns"] is None
    assert [(one["table"], one["new_table"], names(one["columns_after"])) for one in swap] == [
        ("b", "tmp", ["id", "z", "y 2", "w"]),
        ("c", "b", ["k"]),
        ("tmp", "c", ["id", "z", "y 2", "w"]),
    ]
    assert [one["_row"] for one in swap] == [0, 1, 2]
    # The names are in the statement, whether or not anything is known of the table.
    assert unknown["renamed_columns"] == [{"old": "p", "new": "q"}]
    assert unknown["columns_before"] is unknown["columns_after"] is None


def test_what_changes_nothing_has_no_row(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        "CREATE TABLE a (id INT)",
        "CREATE TABLE IF NOT EXISTS a (other INT)",
        "CREATE TEMPORARY TABLE t1 (id INT)",
        "ALTER TABLE t1 ADD c INT",
        "DROP TEMPORARY TABLE t1",
        "CREATE TABLE x SELECT 1+1",
        "ALTER TABLE a ADD (b INT",
        "CREATE TABLE `y",
    )
    rows = ddl_of(path)
    assert [(row["kind"], row["table"]) for row in rows] == [
        ("create_table", "a"),
        ("create_table", "x"),
        ("alter_table", "a"),
        ("unreadable", None),
    ]
    # Of what cannot be followed the columns are not guessed.
    assert rows[1]["columns_after"] is rows[2]["columns_after"] is None
    assert rows[3]["statement"] == "CREATE TABLE `y"


def test_an_index_alters_its_table(tmp_path: Path) -> None:
    path = log(tmp_path, "CREATE TABLE s.a (id INT)", "CREATE INDEX i ON s.a (id)", "DROP INDEX i ON s.a")
    assert [(row["kind"], row["table"]) for row in ddl_of(path)[1:]] == [("alter_table", "a")] * 2


def test_filters(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        "CREATE TABLE s.a (id INT)",
        "RENAME TABLE s.a TO s.b, s.c TO s.d",
        "CREATE TABLE r.a (i INT)",
    )
    assert [row["new_table"] for row in ddl_of(path, table="s.a")] == [None, "b"]
    assert [row["new_table"] for row in ddl_of(path, table="s.b")] == ["b"]
    assert {row["schema"] for row in ddl_of(path, database="r")} == {"r"}
    (moved,) = ddl_of(path, table="s.d", ddl="CREATE DATABASE s; USE s; CREATE TABLE c (z INT)")
    assert names(moved["columns_after"]) == ["z"]
    (second,) = ddl_of(path, table="s.a", start_position=ddl_of(path)[1]["_position"])
    assert names(second["columns_before"]) == ["id"]


@pytest.mark.parametrize("number", range(len(CASES)))
@pytest.mark.parametrize("size", sample([400, 3000], 1))
def test_splits_have_the_same_rows(number: int, size: int) -> None:
    logs = CASES[number].logs
    splits = plan([str(path) for path in logs], size)
    batches = [
        batch for split in splits for batch in read_split(split, "ddl", earlier=files_before(splits, split))
    ]
    assert [row for batch in batches for row in batch.to_pylist()] == ddl_of(logs)


def test_damage_comes_after_the_statements_before_it(tmp_path: Path) -> None:
    data = bytearray(CASES[0].logs[0].read_bytes())
    rows = ddl_of(CASES[0].logs[0])
    data[rows[4]["_position"] + 40] ^= 1
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    found: list[Any] = []
    with pytest.raises(bk.ChecksumError):
        found.extend(row for batch in bk.read_ddl(path) for row in batch.to_pylist())
    assert [row["statement"] for row in found] == [row["statement"] for row in rows[:4]]


@pytest.mark.parametrize("kind", ["ENUM('caf\udce9')", "SET('\udce9') CHARACTER SET binary"])
def test_a_type_with_members_that_are_not_utf8_is_escaped(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(log_of_statements(f"CREATE TABLE s.t (a {kind})".encode("utf-8", "surrogateescape")))
    ((column,),) = (row["columns_after"] for row in ddl_of(path))
    assert column["type"] == kind.partition(" ")[0].lower().replace("\udce9", r"\udce9")
