"""Given these logs of real servers, these are the rows and statements. The logs are in `logs`:

- `without_overlaps`, MariaDB 10.11.19: PRIMARY KEY (id, p WITHOUT OVERLAPS); four rows with the id 1
- `temporary_then_real`, MySQL 5.7.22: a temporary table and, once it is dropped, a real one of its
  name, on one connection
- `create_index`, MySQL 8.0.15: CREATE INDEX and DROP INDEX with expressions
- `hidden_columns`, MySQL 8.0.15: ALTER TABLE of a table with keys on expressions; a table LIKE it
- `long_unique_keys`, MariaDB 10.11.19: CREATE TABLE IF NOT EXISTS u (id, b TEXT), unique keys on b and c
- `implicit_key`, written by hand, as Aliyun RDS does: CREATE TABLE t (a INT, b INT), rows of INT, INT, BIGINT
- `members_in_digits`, MySQL 9.7.4: ENUM(0x61, 0x62, 'c'), SET(x'41', 'B')
- `binary_members`, MariaDB 10.11.19: ENUM('a ', 'b') CHARACTER SET binary
- `wide_space`, MySQL 9.7.4: an unquoted column name that begins with an ideographic space
- `sessions_mysql`, MySQL 8.0.15, and `sessions_mariadb`, MariaDB 10.11.19: CREATE TABLE IF NOT EXISTS of new
  and known tables; RENAME TABLE of a name that means a temporary table
- `engines_*`, MySQL 8.0.15 and 9.7.4, MariaDB 11.8.9: CREATE TABLE IF NOT EXISTS of a new table, of one that
  exists, and of one that was dropped, in each of several engines; each value is the name of its column
- `failed_replace`, MariaDB 11.8.9: CREATE OR REPLACE TABLE f.t, which fails after it has dropped the table
- `vector`, MariaDB 11.8.9: rows of vv.t (a INT, v VECTOR(3), w VECTOR(300)), without a key
- `if_not_exists`, MySQL 5.7.22: CREATE TABLE IF NOT EXISTS n (id, a), where n (id, b) exists
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.arrow import pa
from binlog_kaitai.ddl import Definitions

LOGS = Path(__file__).parent / "logs"


def log(name: str) -> Path:
    return LOGS / f"{name}.000001"


def rows(name: str, **options: Any) -> list[dict[str, Any]]:
    """The rows after each change."""
    changes = bk.read_changes(log(name), **options).read_all().to_pylist()
    return [json.loads(change["after"]) for change in changes]


def undone(name: str, **options: Any) -> list[str]:
    """The statements that undo a log's changes."""
    script = b"".join(bk.sql_script(log(name), undo=True, **options)).decode()
    return [line for line in script.split("\n") if line.startswith(("UPDATE", "DELETE"))]


def test_a_key_with_a_period_is_not_taken_for_the_rest_of_it() -> None:
    """`WHERE id = 1` would change all four rows."""
    assert undone("without_overlaps", operation=["update"]) == [
        "UPDATE `s`.`wp` SET `v`=20 WHERE `id` <=> 1 AND `s` <=> '2024-02-01' AND `e` <=> '2024-03-01' "
        "AND `v` <=> 99 LIMIT 1;"
    ]
    assert undone("without_overlaps", operation=["insert"])[0] == (
        "DELETE FROM `s`.`wp` WHERE `id` <=> 1 AND `s` <=> '2024-04-01' AND `e` <=> '2024-05-01' "
        "AND `v` <=> 40 LIMIT 1;"
    )


def test_a_dropped_temporary_table_no_longer_hides_the_table_of_its_name() -> None:
    assert rows("temporary_then_real") == [{"id": 1, "b0": 2, "z": 3}]


def test_hidden_columns_come_and_go_with_their_indexes() -> None:
    """The table map has them; the row images do not."""
    assert rows("create_index") == [
        {"id": 1, "phone": "5551234"},
        {"id": 1, "phone": "5559999"},
        {"id": 1, "v": "aB"},
        {"id": 2, "v": "cD"},
        {"id": 3, "v": "eF", "w": 4},
    ]


def test_hidden_columns_stay_between_the_others() -> None:
    assert rows("hidden_columns") == [
        {"id": 1, "v": "x", "w": 1},
        {"id": 2, "v": "x", "x": "2020-01-01", "w": 1, "y": "2020-01-02"},
        {"id": 1, "v": "x", "x": "2020-01-01", "w": 1, "y": "2020-01-02"},
        {"id": 3, "v": "x", "x": "2020-01-01", "y": "2020-01-02", "w": 1},
    ]
    typed = bk.read_changes(log("hidden_columns"), table="x.l").read_all().schema.names
    assert typed[-8:] == [
        "id",
        "v",
        "x",
        "!hidden!a!0!0",
        "w",
        "y",
        *(f"!hidden!functional_index{number}!0!0" for number in ("", "_2")),
    ]


def test_each_long_unique_key_has_a_hidden_column() -> None:
    assert [[*row] for row in rows("long_unique_keys")] == [
        ["id", "b", "DB_ROW_HASH_1"],
        ["id", "b", "c", "DB_ROW_HASH_1", "DB_ROW_HASH_2"],
        ["id", "b", "c", "DB_ROW_HASH_1"],
        ["id", "b", "c", "row_start", "row_end", "DB_ROW_HASH_1"],
    ]


def test_members_written_as_digits() -> None:
    assert rows("members_in_digits") == [
        {"id": 1, "e": "a", "f": "A"},
        {"id": 3, "e": "c", "f": "A,B"},
        {"id": 2, "e": "b", "f": "B"},
    ]


def test_a_binary_member_ends_with_a_blank() -> None:
    assert [row["e"] for row in rows("binary_members")] == ["a "]


def test_an_ideographic_space_begins_a_name() -> None:
    assert rows("wide_space") == [{"id": 1, "\u3000name": 2}]


def test_the_hidden_key_of_aliyun_is_named_and_not_written() -> None:
    with pytest.warns(bk.DefinitionWarning, match=r"s\.t: the log has one BIGINT more than the definition"):
        assert rows("implicit_key") == [{"a": 1, "b": 2, "__#alibaba_rds_row_id#__": 1001}]
    with pytest.warns((bk.DefinitionWarning, bk.IncompleteScriptWarning)):
        assert undone("implicit_key") == ["DELETE FROM `s`.`t` WHERE `a` <=> 1 AND `b` <=> 2 LIMIT 1;"]


def test_if_not_exists_is_certain_where_servers_log_what_they_changed() -> None:
    """And RENAME TABLE renames the temporary table in MariaDB, the other one in MySQL."""
    assert rows("sessions_mysql") == [{"id": 1, "a": 2}, {"id": 3, "d": 4}, {"id": 5, "c": 6}]
    assert rows("sessions_mariadb") == [{"id": 1, "a": 2}, {"id": 3, "c": 4}]


def test_a_table_that_may_have_existed_has_no_names() -> None:
    with pytest.warns(bk.DefinitionWarning, match="may have existed before CREATE TABLE IF NOT EXISTS"):
        assert rows("if_not_exists") == [{"c1": 1, "c2": 2}]


def test_a_statement_that_failed_defines_nothing() -> None:
    found, known = Definitions(), []
    for event in bk.open(log("failed_replace")):
        if event.type == "QUERY_EVENT":
            found.observe_query(event.body)
            known.append(found.of("f", "t") is not None)
    assert known == [False, True, False]


def test_a_file_of_definitions_decides_about_a_table_that_may_have_existed() -> None:
    assert rows("if_not_exists", ddl="CREATE TABLE s.n (id INT, b INT)") == [{"id": 1, "b": 2}]


@pytest.mark.parametrize("server", ["mysql8.0", "mysql9.7", "mariadb11.8"])
def test_if_not_exists_in_every_engine(server: str) -> None:
    """Only for InnoDB does MySQL log a transaction that shows that such a statement created the table."""
    found = rows(f"engines_{server}")
    assert len(found) == 18
    assert [row for row in found if any(name != value for name, value in row.items())] == []


def test_vectors_of_mariadb_are_lists_in_every_output() -> None:
    """Its logs have a VARBINARY; only the definition shows that it is a VECTOR."""
    first, zeros, ones = [1.0, 2.5, -3.0], [0.0, 0.0, 0.0], [1.0] * 300
    inserted: list[dict[str, Any]] = [{"a": 1, "v": first, "w": None}, {"a": 2, "v": None, "w": ones}]
    assert [row.after for row in bk.read_rows(log("vector"))][:2] == inserted
    changes = bk.read_changes(log("vector")).read_all().to_pylist()
    assert [json.loads(change["after"]) for change in changes[:2]] == inserted
    typed = bk.read_changes(log("vector"), table="vv.t").read_all().select(["a", "v", "w"])
    assert [typed.schema.field(name).type for name in "vw"] == [pa.list_(pa.field("item", pa.float32()))] * 2
    updated = {**inserted[0], "v": zeros}
    assert typed.to_pylist() == [*inserted, inserted[0], updated, inserted[1]]
    with bk.open(log("vector")) as events:
        read = [row for event in events if event.type.startswith("WRITE_ROWS") for row in event.rows()]
    assert [row.after for row in read] == inserted
    with pytest.warns(bk.IncompleteScriptWarning):
        script = "\n".join(undone("vector"))
    assert "SET `v`=0x0000803F00002040000040C0 WHERE `a` <=> 1 AND CAST(`v` AS BINARY) <=> 0x" in script


def test_a_vector_of_another_length_is_not_one() -> None:
    table = "CREATE TABLE vv.t (a INT, v VECTOR(4), w VECTOR(300))"
    definitions = Definitions()
    definitions.load(table)
    with bk.open(log("vector")) as events:
        table_map = next(event.body for event in events if event.type == "TABLE_MAP_EVENT")
    mismatch = str(definitions.match("vv", "t", table_map))
    assert mismatch.endswith("column 2, v, is vector(4) in the definition, in the log it has up to 12 bytes")
