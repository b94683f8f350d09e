"""Effects of statements on whole tables, and serialized definitions."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.ddl import Definitions, Session
from binlog_kaitai.ddl.changed_tables import changed_tables
from binlog_kaitai.ddl.definitions import restore, save
from binlog_kaitai.ddl.lexer import ANSI_QUOTES
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.effects import EffectKind
from binlog_kaitai.following.follower import Follower
from tests.corpus_files import CORPUS, case, cases
from tests.log_maker import LogMaker, events_of, log_of_statements, statement


def effects(logs: Path) -> list[tuple[str, ...]]:
    follower = Follower([str(logs)], follows_definitions=True)
    start = follower.earliest()
    return [
        (str(one.kind), f"{one.schema_name}.{one.table_name}", f"{one.new_schema_name}.{one.new_table_name}")
        for step in follower.steps(start, follower.advance(start))
        for one in step.effects
    ]


@pytest.mark.parametrize("case", ["mysql-9.7/ddl", "mariadb-11.8/ddl"])
def test_effects_of_a_log(case: str) -> None:
    found = effects(CORPUS / case / "*.0*")
    kinds = {kind for kind, *_ in found}
    assert kinds >= {EffectKind.EMPTIED, EffectKind.RENAMED}
    assert all(new != "." for kind, _, new in found if kind == EffectKind.RENAMED)


def test_statements_on_temporary_tables_have_no_effects(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(
        log_of_statements(
            b"CREATE OR REPLACE TEMPORARY TABLE s.a (x INT)",
            b"TRUNCATE TABLE s.a",
            b"ALTER TABLE s.a RENAME TO s.b",
            b"RENAME TABLE s.b TO s.c",
            b"DROP TEMPORARY TABLE s.c",
            b"TRUNCATE TABLE s.c",
        )
    )
    assert effects(log) == [(EffectKind.EMPTIED, "s.c", ".")]


@pytest.mark.parametrize("case", [case for case in cases() if case.tables()], ids=lambda case: case.id)
def test_saved_definitions_are_the_same_ones(case: object) -> None:
    follower = Follower([str(case.folder / "*.0*")], follows_definitions=True)  # type: ignore[attr-defined]
    text = follower.advance(follower.earliest()).definitions
    again = restore(text)
    assert save(again) == text
    assert len(list(again)) > 0 or not text


def test_definitions_survive_in_all_parts() -> None:
    definitions = Definitions()
    definitions.observe("", "CREATE DATABASE d CHARACTER SET latin1")
    definitions.observe(
        "d",
        "CREATE TABLE t (a INT UNSIGNED PRIMARY KEY, b ENUM('x', 'y') NOT NULL, c DECIMAL(10,2), "
        "g INT GENERATED ALWAYS AS (a + 1) VIRTUAL) CHARSET utf8mb4",
    )
    definitions.observe("d", "CREATE TABLE lost LIKE nowhere")
    definitions.observe("d", "CREATE TABLE u (a INT, PRIMARY KEY (a, p WITHOUT OVERLAPS))")
    definitions.observe("d", "CREATE TEMPORARY TABLE hidden (a INT)")
    definitions.observe("d", "DROP TABLE gone")
    again = restore(save(definitions))
    assert list(again) == list(definitions)
    for mine, theirs in zip(again.state[:2], definitions.state[:2], strict=True):
        assert mine.tables == theirs.tables
        assert mine.lost == theirs.lost
        assert mine.databases == theirs.databases
        assert mine.temporary == theirs.temporary
        assert list(mine.absent) == list(theirs.absent)


def test_no_definitions_are_no_text() -> None:
    assert save(Definitions()) == ""
    with pytest.raises(UsageError, match="not valid saved definitions"):
        restore("what?")


def test_a_file_of_definitions_stays_apart() -> None:
    ddl = "CREATE TABLE d.t (a INT);"
    assert save(restore("", ddl)) == ""
    assert restore("", ddl).of("d", "t") is not None


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("INSERT INTO a VALUES (1)", ["a"]),
        ("/* app */ INSERT LOW_PRIORITY IGNORE INTO `s`.`we ``ird`(id) SELECT 1", ["s.we `ird"]),
        ("REPLACE a SET id = 1", ["a"]),
        ("INSERT INTO a(x) VALUES ('it''s (not', \"the end\\\"", ["a"]),
        ("UPDATE a SET x = (SELECT 1 FROM b)", ["a"]),
        ("UPDATE a, t2 . b SET a.x = 1", ["a", "t2.b"]),
        ("UPDATE IGNORE a JOIN b USING (id) SET a.x = 1", ["a", "b"]),
        ("UPDATE (a JOIN b ON a.x = concat(b.x, c.y)) SET a.x = 1", ["a", "b"]),
        ("UPDATE { OJ a LEFT JOIN b ON a.x = b.x } SET a.x = 1", ["a", "b"]),
        ("UPDATE a JOIN (SELECT id FROM c) d ON a.x = d.x SET a.x = 1", ["a"]),
        ("WITH RECURSIVE c (n) AS (SELECT 1), d AS (SELECT 2) UPDATE a JOIN c SET a.x = 1", ["a", "c"]),
        ("DELETE QUICK FROM a WHERE id = 1", ["a"]),
        ("DELETE a FROM a JOIN b ON a.id = b.id WHERE 1", ["a", "b"]),
        ("DELETE s.a.*, b.* FROM s.a, b", ["s.a", "b"]),
        ("DELETE FROM a RETURNING id, name", ["a"]),
        ("LOAD DATA LOCAL INFILE 'x' IGNORE INTO TABLE `a` FIELDS TERMINATED BY ','", ["a"]),
        ("LOAD DATA INFILE 'set' INTO TABLE a (x) SET y = 1", ["a"]),
        ("SET STATEMENT max_statement_time=1 FOR INSERT INTO a VALUES (1)", ["a"]),
        ("REPAIR LOCAL TABLE a, s.b QUICK", ["a", "s.b"]),
        ("CREATE TABLE a (id INT)", []),
        ("SET STATEMENT max_statement_time=1 FOR DROP TABLE a", []),
        ("SAVEPOINT `a`", []),
        ("SET PASSWORD FOR 'a'@'%' = 'b'", []),
        ("ANALYZE LOCAL TABLE a", []),
        ("# Dum", []),
    ],
)
def test_tables_that_a_logged_statement_may_change(query: str, tables: list[str]) -> None:
    names = changed_tables(query.encode(), lambda: (query, Session()))
    assert names is not None
    assert [".".join(name) for name in names] == tables


@pytest.mark.parametrize(
    "query",
    [
        b"SELECT `t`.`f`()",  # a function that changes rows
        b"WITH a AS (SELECT 1) SELECT `t`.`f`() FROM a",
        b"ANALYZE UPDATE a SET x = 1",
        b"SET /* */ STATEMENT x=1 FOR INSERT INTO a VALUES (1)",
        b"CALL p()",
        b"IMPORT TABLE FROM 'a.sdi'",
        b"UPDATE `a",
        b"INSERT INTO \xe9 VALUES (1)",
        b"\0",
    ],
)
def test_statements_that_may_change_any_table(query: bytes) -> None:
    text = query.decode("utf-8", "surrogateescape")
    assert changed_tables(query, lambda: (text, Session())) is None


@pytest.mark.parametrize(("mode", "tables"), [(0, None), (ANSI_QUOTES, [("s", "a")])])
def test_quotes_read_by_the_mode_of_the_session(mode: int, tables: list[tuple[str, ...]] | None) -> None:
    query = 'INSERT INTO "s"."a" VALUES (1)'
    assert changed_tables(query.encode(), lambda: (query, Session(sql_mode=mode))) == tables


def test_names_read_in_the_character_set_of_the_session() -> None:
    query = "INSERT INTO größe VALUES ('é')"
    assert changed_tables(query.encode("latin-1"), lambda: (query, Session())) == [("größe",)]


def test_the_session_is_asked_for_only_where_it_matters() -> None:
    def never() -> tuple[str | None, Session]:
        raise AssertionError

    assert changed_tables("INSERT INTO a VALUES ('\\'', \"é\")".encode(), never) == [("a",)]


def test_a_load_as_text_makes_its_table_unclear() -> None:
    found = {(kind, table) for kind, table, _ in effects(CORPUS / "mariadb-11.8/statement/*.0*")}
    assert {("unclear", "t.s"), ("unclear", "t.my")} <= found


@pytest.mark.parametrize(
    ("query", "table"),
    [
        (b"INSERT INTO s.t VALUES (1)", ("s", "t")),
        (b"\x81\x1a" + zlib.compress(b"INSERT INTO s.t VALUES (1)"), ("s", "t")),
        (b"\x81\x1a" + zlib.compress(b"INSERT INTO s.t VALUES (1)")[:-9], ("", "")),  # damaged
        (b"\xff", ("", "")),
    ],
)
def test_a_statement_as_text_makes_its_table_unclear(
    query: bytes, table: tuple[str, str], tmp_path: Path
) -> None:
    layout, (head, *_) = events_of(case("mariadb-11.8", "statement").logs[0])
    log = LogMaker(layout)
    log.add(head[0])
    kind = EventType.query_event if query.startswith(b"INSERT") else EventType.query_compressed_event
    log.add(bytes(4) + bytes([kind]) + bytes(14) + bytes(13) + b"\0" + query + bytes(CHECKSUM_SIZE))
    follower = Follower([str(log.write(tmp_path / "binlog.000001"))], follows_definitions=True)
    start = follower.earliest()
    found = [effect for step in follower.steps(start, follower.advance(start)) for effect in step.effects]
    assert {(one.kind, one.schema_name, one.table_name) for one in found} == {(EffectKind.UNCLEAR, *table)}


def test_an_xa_transaction_is_reported_from_its_start_to_its_end() -> None:
    for server in ("mysql-9.7", "mariadb-10.5"):
        logs = [str(path) for path in case(server, "xa").logs]
        follower = Follower(logs, follows_definitions=True)
        start = follower.earliest()
        found = [effect for step in follower.steps(start, follower.advance(start)) for effect in step.effects]
        kinds = Counter(one.kind for one in found)
        assert kinds[EffectKind.PREPARED] == kinds[EffectKind.COMMITTED] + kinds[EffectKind.ROLLED_BACK] > 2
        rows = bk.read_transactions(logs).read_all().to_pylist()
        expected = {row["position"] for row in rows if row["kind"] == "xa_prepare"}
        assert {one.start for one in found if one.kind is EffectKind.PREPARED} == expected


def test_a_statement_read_on_another_server_has_no_effects_again(tmp_path: Path) -> None:
    layout, (head, *transactions) = events_of(case("mysql-9.7", "workload").logs[0])
    gtids = [events[0] for events in transactions]
    orders = {
        "old": [(0, b"TRUNCATE s.a"), (1, b"DELETE FROM s.b"), (3, b"DELETE FROM s.b")],
        "new": [(0, b"TRUNCATE s.a"), (2, b"TRUNCATE s.c"), (1, b"DELETE FROM s.b"), (3, b"DELETE FROM s.b")],
    }
    followers = {}
    for name, order in orders.items():
        log = LogMaker(layout)
        log.add_all(head)
        for number, text in order:
            log.add(gtids[number])
            log.add(statement(text, layout))
        log.write(tmp_path / f"{name}.000001")
        followers[name] = Follower([str(tmp_path / f"{name}.0*")], follows_definitions=True)

    def emptied(name: str, start: Checkpoint, end: Checkpoint) -> list[str]:
        return [effect.table_name for step in followers[name].steps(start, end) for effect in step.effects]

    start, middle = (
        followers["old"].advance(followers["old"].earliest(), max_bytes=size) for size in (300, 500)
    )
    assert emptied("old", start, middle) == ["b"]
    assert emptied("new", start, middle) == ["b"]
    assert emptied("new", middle, followers["new"].advance(middle)) == ["c", "b"]
