"""A statement that cannot be parsed makes the tables unknown that it may concern, and no others."""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import DefinitionMismatch, Definitions, Session
from binlog_kaitai.ddl.definitions import restore, save
from binlog_kaitai.ddl.unreadable import concerned
from tests.ddl.calls import count_calls

TABLES = ("s.a", "s.ear", "s.y", "s.T", "s.`we ird`", "s.ж", "z.a", "z.y")


def lost_by(statement: str, *, schema: str = "s", undecoded: bool = False, sql_mode: int = 0) -> str:
    """The tables that a statement makes unknown, in the order of `TABLES`, also after they were saved."""
    definitions = Definitions()
    for table in TABLES:
        definitions.observe("", f"CREATE TABLE {table} (x INT)")
    lost = _lost_of(restore(save(definitions)), statement, schema, undecoded=undecoded, sql_mode=sql_mode)
    assert lost == _lost_of(definitions, statement, schema, undecoded=undecoded, sql_mode=sql_mode)
    return lost


def _lost_of(found: Definitions, statement: str, schema: str, *, undecoded: bool, sql_mode: int) -> str:
    if undecoded:
        found._lose_named(statement, "why", schema, Session(), is_decoded=False)
    else:
        found.observe(schema, statement, Session(sql_mode=sql_mode))
    names = [table.replace("`", "").partition(".") for table in TABLES]
    return " ".join(f"{name}.{table}" for name, _, table in names if found.of(name, table) is None)


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("CREATE TABLE ty (y FROBNICATED, id INT)", ""),
        ("CREATE TABLE IF NOT EXISTS a (y FROBNICATED)", "s.a"),
        ("CREATE OR REPLACE TABLE z.y (a FROBNICATED)", "z.y"),
        ("CREATE TABLE `we ird` (a FROBNICATED)", "s.we ird"),
        ("CREATE TABLE ty (a INT COMMENT 'y", ""),
        ("ALTER TABLE a FROBNICATE y, ADD ear INT", "s.a"),
        ("ALTER ONLINE TABLE IF EXISTS `a` FROBNICATE", "s.a"),
        ("ALTER TABLE a FROBNICATE, RENAME TO y", "s.a s.y"),
        ("ALTER TABLE z.a FROBNICATE, RENAME = s.ear", "s.ear z.a"),
        # Its end cannot be told: any word may be a name.
        ("ALTER TABLE a ADD d INT COMMENT 'y", "s.a s.y s.we ird s.ж"),
        ("RENAME TABLE a FROBNICATED y", "s.a s.y"),
        ("RENAME TABLE `a` FROBNICATED `z`.`y`", "s.a s.y z.y"),
        ("RENAME TABLE `we ird` OR t", "s.we ird"),
        ("RENAME TABLE x OR `ж`", "s.ж"),
    ],
)
def test_the_tables_that_are_concerned(statement: str, lost: str) -> None:
    assert lost_by(statement) == lost


def test_names_of_another_database_are_meant_only_with_it() -> None:
    assert lost_by("RENAME TABLE a OR y", schema="z") == "z.a z.y"
    assert lost_by("RENAME TABLE a OR y", schema="q") == ""


def test_quotes_follow_the_sql_mode() -> None:
    statement = 'RENAME TABLE "a" OR x'
    assert lost_by(statement) == ""
    assert lost_by(statement, sql_mode=4) == "s.a"


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("CREATE TABLE ear (y INT COMMENT '\xe9')", "s.ear"),
        ("ALTER TABLE ear ADD a INT COMMENT '\xe9' -- z.y", "s.a s.ear s.y s.we ird s.ж z.y"),
        ("CREATE TABLE ear\xe9 (y INT)", "s.y s.we ird s.ж"),
    ],
)
def test_text_of_an_unknown_character_set_is_certain_up_to_its_first_other_character(
    statement: str, lost: str
) -> None:
    assert lost_by(statement, undecoded=True) == lost


def test_the_new_table_has_the_reason() -> None:
    definitions = Definitions()
    definitions.observe("s", "CREATE TABLE ty (y FROBNICATED, id INT)")
    assert definitions.match("s", "ty") == DefinitionMismatch(
        "s", "ty", "a statement could not be parsed: unknown type FROBNICATED"
    )
    assert restore(save(definitions)).match("s", "ty") == definitions.match("s", "ty")


def test_the_cost_of_unreadable_statements_does_not_grow_with_the_tables() -> None:
    def calls(tables: int) -> int:
        found = Definitions()
        for number in range(tables):
            found.observe("s", f"CREATE TABLE t{number} (x INT)")
        return count_calls(lambda: [found.observe("s", f"ALTER TABLE t{n} FROBNICATE") for n in range(20)])

    assert calls(400) == calls(40)


def test_the_cost_of_renames_does_not_grow_with_the_tables() -> None:
    def calls(tables: int) -> int:
        found = Definitions()
        for number in range(tables):
            found.observe("s", f"CREATE TABLE t{number} (x INT)")
        return count_calls(lambda: [found.observe("s", f"RENAME TABLE t{n} TO u{n}") for n in range(20)])

    assert calls(400) == calls(40)


def test_a_statement_that_failed_concerns_its_own_table_and_the_new_name() -> None:
    for clauses, others in (("ADD y INT", set()), ("ADD y INT, RENAME TO z.ear", {("z", "ear")})):
        found = concerned(f"ALTER TABLE a {clauses}", "s", Session(), is_decoded=True)
        assert found == (("s", "a"), others, True)
