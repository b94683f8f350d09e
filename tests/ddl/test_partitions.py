"""The rows of partitions, as conditions on their values."""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import Definitions, Session
from binlog_kaitai.ddl.definitions import FOLLOWED, DatedText, restore, save
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.partitions import rows_of
from binlog_kaitai.ddl.statements import AlterTable, read_statement

COLUMNS = (
    "(a INT, b INT, d DATE, m DATETIME(3), t TIMESTAMP, f TIMESTAMP(3), v VARCHAR(9), g INT AS (a) STORED)"
)
RANGES = "RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION P1 VALUES LESS THAN (20)"
WITH_MOST = f"{RANGES}, PARTITION p2 VALUES LESS THAN MAXVALUE)"
DAYS = "(PARTITION p0 VALUES LESS THAN ({}), PARTITION p1 VALUES LESS THAN MAXVALUE)"
BELOW_10, BELOW_20 = "`a` IS NULL OR `a` < 10", "`a` IS NULL OR `a` < 20"
UNKNOWN, UNSUPPORTED = "its partitions are not known", "is not supported"


def condition(by: str, *statements: str, definitions: Definitions | None = None) -> str:
    """The condition for the last of some ALTER TABLE; definitions are saved and restored between them."""
    found = definitions or Definitions()
    if by:
        found.observe("s", f"CREATE TABLE t {COLUMNS} ENGINE=InnoDB PARTITION BY {by}")
    for statement in statements[:-1]:
        found.observe("s", f"ALTER TABLE t {statement}")
        found = restore(save(found))
    last = read_statement(f"ALTER TABLE t {statements[-1]}", Session())
    assert isinstance(last, AlterTable)
    return rows_of(found.of("s", "t"), last.clauses)[1]


@pytest.mark.parametrize(
    ("by", "statement", "wanted"),
    [
        (WITH_MOST, "DROP PARTITION p0", f"({BELOW_10})"),
        (WITH_MOST, "TRUNCATE PARTITION `p1`", f"({BELOW_20}) AND NOT ({BELOW_10})"),
        (WITH_MOST, "DROP PARTITION IF EXISTS p2", f"(`a` IS NULL OR `a` IS NOT NULL) AND NOT ({BELOW_20})"),
        (f"{RANGES})", "DROP PARTITION P0, p1", f"({BELOW_10}) OR ({BELOW_20}) AND NOT ({BELOW_10})"),
        (
            "RANGE COLUMNS (a, b) (PARTITION p VALUES LESS THAN (5, -1))",
            "DROP PARTITION p",
            "(`a` IS NULL OR `a` < 5 OR `a` = 5 AND (`b` IS NULL OR `b` < -1))",
        ),
        (f"RANGE (YEAR(d)) {DAYS.format(2026)}", "DROP PARTITION p0", "(`d` IS NULL OR `d` < '2026-01-01')"),
        (f"RANGE (to_days(m)) {DAYS.format(719529)}", "DROP PARTITION p0",
         "(`m` IS NULL OR `m` < '1970-01-02')"),
        (
            f"RANGE (TO_DAYS(d)) SUBPARTITION BY HASH (a) {DAYS.format('''TO_DAYS('2026-02-03')''')}",
            "TRUNCATE PARTITION p0",
            "(`d` IS NULL OR `d` < '2026-02-03')",
        ),
        (
            f"RANGE (UNIX_TIMESTAMP(t)) {DAYS.format(86400)}",
            "DROP PARTITION p0",
            "(`t` IS NULL OR `t` < '1970-01-02 00:00:00')",
        ),
        (
            "LIST (a) (PARTITION p VALUES IN (1, NULL) COMMENT = 'x', PARTITION q VALUES IN (-2))",
            "TRUNCATE PARTITION p, q",
            "`a` <=> 1 OR `a` <=> NULL OR `a` <=> -2",
        ),
        (
            "LIST COLUMNS (a, d) (PARTITION p VALUES IN ((1, '2026-01-01'), (NULL, NULL)))",
            "DROP PARTITION p",
            "`a` <=> 1 AND `d` <=> '2026-01-01' OR `a` <=> NULL AND `d` <=> NULL",
        ),
    ],
)  # fmt: skip
def test_a_condition(by: str, statement: str, wanted: str) -> None:
    assert condition(by, statement) == wanted


@pytest.mark.parametrize(
    ("statements", "wanted"),
    [
        (["DROP PARTITION p0", "DROP PARTITION p1"], f"({BELOW_20})"),
        (["REORGANIZE PARTITION p0, p1 INTO (PARTITION n VALUES LESS THAN (20))", "DROP PARTITION n"],
         f"({BELOW_20})"),
        (["DROP PARTITION p2", "ADD PARTITION (PARTITION n VALUES LESS THAN (20))", "TRUNCATE PARTITION p1"],
         f"({BELOW_20}) AND NOT ({BELOW_10})"),
        (["ALGORITHM = INPLACE, LOCK = NONE, DROP PARTITION p0", "DROP PARTITION p1"], f"({BELOW_20})"),
        (["CONVERT PARTITION p0 TO TABLE u", "DROP PARTITION p1"], f"({BELOW_20})"),
        (["EXCHANGE PARTITION p1 WITH TABLE u", "TRUNCATE PARTITION p0", "OPTIMIZE PARTITION p1",
          "ADD x INT, DROP b", "MODIFY a BIGINT", "DROP PARTITION p0"], f"({BELOW_10})"),
        ([f"ENGINE = InnoDB PARTITION BY {RANGES})", "DROP PARTITION p0"], f"({BELOW_10})"),
    ],
)  # fmt: skip
def test_statements_that_are_followed(statements: list[str], wanted: str) -> None:
    assert condition(WITH_MOST, *statements) == wanted


@pytest.mark.parametrize(
    ("by", "statements", "reason"),
    [
        ("HASH (a) PARTITIONS 3", ["TRUNCATE PARTITION p0"], UNKNOWN),
        ("KEY (a)", ["TRUNCATE PARTITION p0"], UNKNOWN),
        (f"RANGE (a + b) {DAYS.format(5)}", ["DROP PARTITION p0"], UNKNOWN),
        (f"RANGE (MONTH(d)) {DAYS.format(5)}", ["DROP PARTITION p0"], UNSUPPORTED),
        (f"RANGE (UNIX_TIMESTAMP(f)) {DAYS.format(5)}", ["DROP PARTITION p0"], UNSUPPORTED),
        (f"RANGE COLUMNS (v) {DAYS.format(chr(39) * 2)}", ["DROP PARTITION p0"], UNSUPPORTED),
        (f"RANGE (g) {DAYS.format(5)}", ["DROP PARTITION p0"], UNSUPPORTED),
        ("LIST (YEAR(d)) (PARTITION p0 VALUES IN (2026))", ["DROP PARTITION p0"], UNSUPPORTED),
        ("LIST (a) (PARTITION p0 VALUES IN (1), PARTITION p1 DEFAULT)", ["DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["DROP PARTITION p3"], "a partition is not known"),
        (WITH_MOST, ["REMOVE PARTITIONING", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["ENGINE = InnoDB REMOVE PARTITIONING", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["EXCHANGE PARTITION p0 WITH TABLE u WITHOUT VALIDATION", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["CONVERT TABLE u TO PARTITION p3 VALUES LESS THAN (30)", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["IMPORT PARTITION p0 TABLESPACE", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["CHANGE a c INT", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["RENAME COLUMN a TO c, RENAME COLUMN b TO a", "DROP PARTITION p0"], UNKNOWN),
        (WITH_MOST, ["ADD PARTITION (PARTITION n VALUES ODD)", "DROP PARTITION p0"], UNKNOWN),
    ],
)  # fmt: skip
def test_what_is_not_known(by: str, statements: list[str], reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        condition(by, *statements)


@pytest.mark.parametrize("bound", ["UNIX_TIMESTAMP('2026-01-01 00:00:00')", "99999999999999999999", "5 + 1"])
def test_a_bound_that_is_not_known(bound: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        condition(f"RANGE (UNIX_TIMESTAMP(t)) {DAYS.format(bound)}", "DROP PARTITION p0")


def test_rows_in_wrong_partitions_stay_there_when_the_server_shows_the_definition_again() -> None:
    definitions = Definitions()
    create = f"CREATE TABLE t {COLUMNS} PARTITION BY {WITH_MOST}"
    for statement in (create, "ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE u WITHOUT VALIDATION", create):
        definitions.observe("s", statement)
    with pytest.raises(UnreadableError, match=UNKNOWN):
        condition("", "DROP PARTITION p0", definitions=definitions)
    definitions.observe("s", create.replace("CREATE", "CREATE OR REPLACE"))
    assert condition("", "DROP PARTITION p0", definitions=definitions) == f"({BELOW_10})"


def test_a_file_of_definitions_has_partitions_if_it_is_of_the_beginning() -> None:
    create = f"CREATE TABLE s.t {COLUMNS} /*!50100 PARTITION BY {WITH_MOST} */;"
    assert condition("", "DROP PARTITION p0", definitions=restore("", DatedText.of(FOLLOWED + create, {})))
    with pytest.raises(UnreadableError, match=UNKNOWN):
        condition("", "DROP PARTITION p0", definitions=restore("", create))


def test_spellings_that_differ_in_partitions() -> None:
    definitions = Definitions()
    definitions.observe("s", f"CREATE TABLE t {COLUMNS} PARTITION BY {WITH_MOST}")
    definitions.observe("s", "ALTER TABLE T DROP PARTITION p0")
    with pytest.raises(UnreadableError, match=UNKNOWN):
        condition("", "DROP PARTITION p1", definitions=definitions)
