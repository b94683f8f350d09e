"""Given a table with columns a, b, c and an ALTER TABLE, these are its columns."""

from __future__ import annotations

import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl import Definitions, TableDefinition
from tests.ddl.calls import count_calls
from tests.log_maker import log_of_statements


def altered(*clauses: str, table: str = "t") -> TableDefinition | None:
    found = Definitions()
    found.observe("s", "CREATE TABLE t (a INT PRIMARY KEY, b INT UNSIGNED, c VARCHAR(9)) CHARSET=latin1")
    for clause in clauses:
        found.observe("s", f"ALTER TABLE t {clause}")
    return found.of("s", table)


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("ADD d INT", "a b c d"),
        ("ADD COLUMN d INT FIRST", "d a b c"),
        ("ADD d INT AFTER a", "a d b c"),
        ("ADD COLUMN (d INT, e DECIMAL(5,2), KEY (d))", "a b c d e"),
        ("ADD d INT AFTER a, ADD e INT AFTER a", "a e d b c"),
        ("ADD d INT AFTER a, ADD e INT AFTER d", "a d e b c"),
        ("ADD d INT, ALGORITHM=INSTANT, LOCK=NONE", "a b c d"),
        ("ADD COLUMN IF NOT EXISTS b INT, ADD COLUMN IF NOT EXISTS d INT", "a b c d"),
        ("ADD INDEX (b), ADD UNIQUE KEY k (c), ADD CONSTRAINT x CHECK (a > 1), ADD FULLTEXT (c)", "a b c"),
        ("DROP b", "a c"),
        ("DROP COLUMN b, DROP COLUMN IF EXISTS nothing, DROP INDEX k, DROP FOREIGN KEY f", "a c"),
        ("DROP b, ADD b INT", "a c b"),
        ("CHANGE b d INT", "a d c"),
        ("CHANGE COLUMN b b2 INT FIRST", "b2 a c"),
        ("CHANGE a b INT, CHANGE b a INT", "b a c"),
        ("CHANGE a d INT AFTER b", "b d c"),
        ("MODIFY c INT FIRST", "c a b"),
        ("MODIFY COLUMN a INT AFTER c, MODIFY b INT AFTER a", "c a b"),
        ("MODIFY a INT AFTER b, ADD d INT AFTER b", "b d a c"),
        ("RENAME COLUMN a TO b, RENAME COLUMN b TO a", "b a c"),
        ("RENAME INDEX x TO y, RENAME KEY z TO a", "a b c"),
        ("ALTER b SET DEFAULT 5, ALTER COLUMN c DROP DEFAULT", "a b c"),
        ("ENGINE=InnoDB ROW_FORMAT=DYNAMIC COMMENT='ADD d INT', FORCE", "a b c"),
        ("ORDER BY c DESC, a", "a b c"),
        ("PARTITION BY HASH (a) PARTITIONS 4", "a b c"),
        ("ADD PARTITION (PARTITION p VALUES LESS THAN (9))", "a b c"),
        ("DROP PARTITION p0, p1", "a b c"),
        ("TRUNCATE PARTITION p0, p1", "a b c"),
        (
            "REORGANIZE PARTITION p INTO (PARTITION q VALUES LESS THAN (1), PARTITION r)",
            "a b c",
        ),
        ("CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "a b c"),
        ("DISABLE KEYS", "a b c"),
        ("DISCARD TABLESPACE", "a b c"),
        ("ADD d INT, WITH VALIDATION", "a b c d"),
        ("ADD SYSTEM VERSIONING", "a b c row_start row_end"),
        # A column is in its old place until it moves, under its new name.
        ("ADD d INT AFTER c, MODIFY c INT FIRST", "c a b d"),
        ("MODIFY c INT FIRST, ADD d INT AFTER c", "c d a b"),
        ("ADD d INT AFTER z, CHANGE c z INT FIRST", "z a b d"),
        ("MODIFY a INT AFTER c, MODIFY c INT FIRST", "c b a"),
        ("MODIFY a INT AFTER c, MODIFY b INT AFTER a, MODIFY c INT AFTER b", "a b c"),
        ("CHANGE a b INT AFTER c, CHANGE b a INT", "a c b"),
        ("ADD d INT AFTER z, RENAME COLUMN a TO z", "z d b c"),
        ("CHANGE a z INT, DROP b, ADD b BIGINT AFTER z", "z b c"),
        ("DROP a, CHANGE b a INT FIRST", "a c"),
        ("ADD COLUMN IF NOT EXISTS d INT, ADD COLUMN IF NOT EXISTS d BIGINT FIRST", "a b c d"),
        ("DROP a, ADD COLUMN IF NOT EXISTS a BIGINT", "b c"),
        ("ADD d INT FIRST, MODIFY d BIGINT", "a b c d"),
        ("ADD d INT, MODIFY d BIGINT FIRST, ADD e INT", "d a b c e"),
        ("CONVERT TABLE u TO PARTITION p VALUES LESS THAN (5)", "a b c"),
    ],
)
def test_columns(clause: str, expected: str | None) -> None:
    found = altered(clause)
    assert (found and " ".join(column.name for column in found.columns)) == expected


@pytest.mark.parametrize(
    "clause",
    [
        "ADD b INT",
        "DROP x",
        "CHANGE x y INT",
        "MODIFY x INT",
        "ADD d INT AFTER x",
        "MODIFY a INT AFTER a",
        "ADD d INT AFTER a, CHANGE a z INT",
        "ADD d INT AFTER a, DROP a",
        "ADD d INT AFTER e, ADD e INT",
    ],
)
def test_a_mismatch_makes_the_table_unknown(clause: str) -> None:
    assert altered(clause) is None


PERIOD = """ADD s TIMESTAMP(6) AS ROW START{0}, ADD e TIMESTAMP(6) AS ROW END{0},
    ADD PERIOD FOR SYSTEM_TIME (s, e)"""


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ([PERIOD.format("") + ", ADD SYSTEM VERSIONING"], "a b c s e"),
        (["ADD SYSTEM VERSIONING, " + PERIOD.format(" FIRST")], "e s a b c"),
        (["ADD COLUMN (s TIMESTAMP(6) AS ROW START, e TIMESTAMP(6) AS ROW END), ADD SYSTEM VERSIONING"],
         "a b c s e"),
        (["ADD SYSTEM VERSIONING", PERIOD.format("")], "a b c s e"),
        (["ADD SYSTEM VERSIONING", "DROP SYSTEM VERSIONING, ADD d INT"], "a b c d"),
        ([PERIOD.format("") + ", ADD SYSTEM VERSIONING", "DROP s, DROP e"], "a b c row_start row_end"),
        ([PERIOD.format("") + ", ADD SYSTEM VERSIONING", "DROP s, DROP e, ADD d INT, "
         "DROP PERIOD FOR SYSTEM_TIME"],
         "a b c d row_start row_end"),
        ([PERIOD.format("") + ", ADD SYSTEM VERSIONING", "DROP s, DROP e, DROP SYSTEM VERSIONING"], "a b c"),
        ([PERIOD.format("") + ", ADD SYSTEM VERSIONING", "RENAME COLUMN s TO t, ADD d INT"], "a b c t e d"),
    ],
)  # fmt: skip
def test_the_columns_of_a_period_replace_those_that_mariadb_adds(clauses: list[str], expected: str) -> None:
    found = altered(*clauses)
    assert (found and " ".join(column.name for column in found.columns)) == expected


@pytest.mark.parametrize(
    "clause",
    [
        "ADD d INT", "DROP c5", "ADD d INT FIRST", "MODIFY c5 BIGINT AFTER c7", "CHANGE c5 d INT",
        "RENAME COLUMN c5 TO d", "ALTER c5 SET DEFAULT 5", "ADD INDEX (c5)", "ENGINE = InnoDB",
    ],
)  # fmt: skip
def test_the_cost_of_an_alter_does_not_grow_with_the_columns(clause: str) -> None:
    def calls(columns: int) -> int:
        found = Definitions()
        found.observe("s", f"CREATE TABLE t ({', '.join(f'c{number} INT' for number in range(columns))})")
        return count_calls(lambda: found.observe("s", f"ALTER TABLE t {clause}"))

    assert calls(4000) == calls(40)


def test_a_table_that_becomes_a_partition_is_gone() -> None:
    definitions = Definitions()
    for statement in ("CREATE TABLE t (a INT)", "CREATE TABLE u (a INT)"):
        definitions.observe("s", statement)
    definitions.observe("s", "ALTER TABLE t CONVERT TABLE u TO PARTITION p VALUES LESS THAN (5)")
    assert (definitions.of("s", "t") is not None, definitions.of("s", "u")) == (True, None)


def test_the_columns_of_system_versioning_stay_last() -> None:
    found = altered("ADD SYSTEM VERSIONING", "ADD d INT", "ADD e INT FIRST")
    assert found is not None
    assert [column.name for column in found.columns] == ["e", "a", "b", "c", "d", "row_start", "row_end"]
    found = altered("ADD SYSTEM VERSIONING", "DROP SYSTEM VERSIONING")
    assert found is not None
    assert [column.name for column in found.columns] == ["a", "b", "c"]


def test_rename() -> None:
    assert altered("RENAME TO u") is None
    for clause in ("RENAME TO u", "RENAME AS s.u", "RENAME u", "ADD d INT, RENAME = u"):
        assert altered(clause, table="u") is not None, clause


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("RENAME KEY a TO b", None),
        ("RENAME INDEX IF EXISTS a TO b", None),
        ("RENAME KEY `TO` TO `KEY`", None),
        ("RENAME COLUMN a TO `KEY`", None),
        ("RENAME `KEY`", "KEY"),
        ("RENAME TO `key`", "key"),
        ("RENAME `INDEX`, RENAME KEY a TO b", "INDEX"),
        ("RENAME = `COLUMN`", "COLUMN"),
        ("RENAME s.key", "key"),
        ("RENAME COLUMN zz TO y, RENAME TO u", "u"),
        ("UNHEARD OF, RENAME TO u", "u"),
        ("RENAME TO u, RENAME AS v", "v"),
    ],
)
def test_the_new_name_of_a_table(clauses: str, expected: str | None) -> None:
    statement = f"ALTER TABLE t {clauses}"
    (change,) = bk.read_ddl(log_of_statements(statement.encode())).read_all().to_pylist()
    assert change["new_table"] == expected
    known, unknown = Definitions(), Definitions()
    for found in (known, unknown):
        found.observe("s", f"CREATE TABLE `{expected}` (old INT)")
    known.observe("s", "CREATE TABLE t (a INT, b INT)")
    for found in (known, unknown):
        found.observe("s", statement)
        assert (found.of("s", "t") is None) == (found is unknown or expected is not None)
        # The table that had the name before is gone.
        before = found.of("s", str(expected))
        assert (before is not None and before.columns[0].name == "old") == (expected is None)


def test_a_hidden_column_of_a_renamed_index_goes_with_it() -> None:
    table = altered("ADD INDEX x ((b + 1))", "RENAME INDEX x TO y")
    assert table is not None
    assert [column.name for column in table.hidden_columns] == ["!hidden!y!0!0"]
    table = altered("ADD INDEX x ((b + 1))", "RENAME INDEX x TO y", "DROP INDEX y")
    assert table is not None
    assert table.hidden_columns == ()


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["CREATE INDEX x ON t ((b + 1), c, (b + 2))"], "a b c !hidden!x!0!0 !hidden!x!2!0"),
        (["CREATE UNIQUE INDEX x USING BTREE ON s.t ((b + 1)) COMMENT 'x' ALGORITHM=INPLACE"],
         "a b c !hidden!x!0!0"),
        (["CREATE INDEX x ON t (b)", "CREATE FULLTEXT INDEX y ON t (c) WITH PARSER ngram"], "a b c"),
        (["CREATE INDEX `ON` ON t ((b + 1))", "ALTER TABLE t ADD d INT"], "a b c !hidden!ON!0!0 d"),
        (["CREATE INDEX x ON t ((b + 1))", "ALTER TABLE t MODIFY a INT AFTER c"], "b c a !hidden!x!0!0"),
        (["CREATE INDEX x ON t ((b + 1))", "ALTER TABLE t ADD d INT AFTER b, DROP INDEX `X`"], "a b d c"),
        (["ALTER TABLE t ADD INDEX ((b + 1)), ADD INDEX ((b + 2))", "ALTER TABLE t DROP KEY functional_index",
          "ALTER TABLE t ADD d INT, ADD KEY ((b + 3))"],
         "a b c !hidden!functional_index_2!0!0 d !hidden!functional_index!0!0"),
        (["CREATE INDEX x ON t ((b + 1))", "DROP INDEX x ON t ALGORITHM=COPY"], "a b c"),
        (["CREATE INDEX x ON t ((b + 1))", "ALTER TABLE t DROP INDEX x, ADD INDEX x (b, (c))"],
         "a b c !hidden!x!1!0"),
    ],
)  # fmt: skip
def test_hidden_columns(statements: list[str], expected: str) -> None:
    definitions = Definitions()
    definitions.observe("s", "CREATE TABLE t (a INT, b INT UNSIGNED, c VARCHAR(9))")
    for statement in statements:
        assert definitions.observe("s", statement)
    table = definitions.of("s", "t")
    assert table is not None
    assert " ".join(column.name for column in table.all_columns) == expected


def test_dropping_the_index_of_a_primary_key_drops_the_key() -> None:
    definitions = Definitions()
    definitions.observe("s", "CREATE TABLE t (a INT PRIMARY KEY)")
    definitions.observe("s", "DROP INDEX `PRIMARY` ON t")
    table = definitions.of("s", "t")
    assert table is not None
    assert table.primary_key == ()


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("DROP PRIMARY KEY", ()),
        ("DROP PRIMARY KEY, ADD PRIMARY KEY (b, c(3))", (1, 2)),
        ("MODIFY a BIGINT", (0,)),
        ("CHANGE a id BIGINT AFTER b", (1,)),
        ("ADD d INT", (0,)),
        ("DROP a, ADD id INT PRIMARY KEY FIRST", (0,)),
        ("DROP a, ADD a BIGINT", (2,)),
        ("ADD a BIGINT FIRST, DROP a", (0,)),
        ("CHANGE a d INT, ADD a INT", (0,)),
        ("ADD PRIMARY KEY (b), DROP PRIMARY KEY", (1,)),
        ("DROP PRIMARY KEY, CHANGE a d INT", ()),
        ("DROP INDEX `PRIMARY`", ()),
        ("DROP CONSTRAINT `PRIMARY`, ADD PRIMARY KEY (c)", (2,)),
        ("ADD PRIMARY KEY IF NOT EXISTS (b)", (0,)),
        ("ADD COLUMN IF NOT EXISTS b INT PRIMARY KEY", (0,)),
        ("RENAME COLUMN a TO d", (0,)),
    ],
)
def test_primary_key(clause: str, expected: tuple[int, ...]) -> None:
    found = altered(clause)
    assert found is not None
    assert found.primary_key == expected
    assert [column.is_primary_key for column in found.columns].count(None) == 0


def test_columns_that_are_known_to_be_in_a_key_are_not_null() -> None:
    key = "DROP PRIMARY KEY, ADD PRIMARY KEY (b, p WITHOUT OVERLAPS)"
    found = altered(key, "ADD PRIMARY KEY IF NOT EXISTS (c)")
    assert found is not None
    assert [column.is_nullable for column in found.columns] == [False, False, True]


@pytest.mark.parametrize(
    ("clause", "columns"),
    [
        ("ADD d INT", [None, None, None, False]),
        ("MODIFY a BIGINT, CHANGE b d INT, MODIFY c TEXT", [None, None, None]),
        ("DROP PRIMARY KEY", [False, False, False]),
        ("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", [False, True, False]),
        ("DROP PERIOD FOR p", [None, None, None]),
        ("ADD PRIMARY KEY IF NOT EXISTS (b)", [None, None, None]),
    ],
)
def test_an_unknown_primary_key_stays_unknown(clause: str, columns: list[bool | None]) -> None:
    found = altered("DROP PRIMARY KEY, ADD PRIMARY KEY (a, p WITHOUT OVERLAPS)", clause)
    assert found is not None
    assert [column.is_primary_key for column in found.columns] == columns


@pytest.mark.parametrize(
    ("clause", "charset"),
    [
        ("CHARSET=utf8mb4", "latin1"),
        ("CONVERT TO CHARACTER SET greek", "greek"),
        ("MODIFY c TEXT", "latin1"),
        ("MODIFY c TEXT CHARACTER SET cp1251", "cp1251"),
    ],
)
def test_charset(clause: str, charset: str) -> None:
    found = altered(clause)
    assert found is not None
    assert found.columns[2].charset == charset


def test_types_and_visibility_follow() -> None:
    found = altered("MODIFY b BIGINT", "ALTER COLUMN c SET INVISIBLE")
    assert found is not None
    assert (found.columns[1].type_name, found.columns[1].is_unsigned) == ("bigint", False)
    assert [column.is_visible for column in found.columns] == [True, True, False]
