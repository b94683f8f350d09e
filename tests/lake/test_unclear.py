"""State tables are refused after statements whose effect on the rows is not in the log, or cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_length, header_offset
from binlog_kaitai.errors import DataLossWarning
from tests.lake.lakes import fill, opened, table
from tests.lake.table_log import TableLog
from tests.lake.test_state import run

#: Status variables of a statement: the client's character set is gbk.
_GBK = b"\x04" + 3 * (28).to_bytes(2, "little")

ANY = "may have changed any table"
TEXT = "logged as text"
MOVED = "rows of whole partitions"


def log_of(*statements: bytes | str, name: str = "t", variables: bytes = b"") -> TableLog:
    """A row of `s.t`, statements, and another row of a table."""
    log = TableLog("ab", "a")
    log.insert(1, 1)
    for statement in statements:
        log.run(statement, variables)
    log.table = name
    log.insert(2, 2)
    return log


def refused(log: TableLog, folder: Path) -> dict[str, str]:
    """The tables that have no state, and why; the same by one batch and by one for each transaction."""
    path = log.write(folder)
    found = run(folder / "whole", [path], 1 << 20, views=["changes"])
    assert run(folder / "transactions", [path], 3, views=["changes"]).keys() == found.keys()
    return found


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (b"ALTER TABLE s.t ADD c INT COMMENT '\xff'", "ALTER TABLE cannot be read"),
        (b"ALTER TABLE s.t ADD c INT COMMENT 'a", "ALTER TABLE cannot be read"),
        (b"ALTER TABLE s.`\xff` ADD c INT", ANY),
        (b"ALTER TABLE s.u RENAME s.`\xff`", ANY),
        (b"RENAME TABLE s.`\xff` TO s.u", ANY),
        (b"RENAME TABLE s.u TO s.`t", ANY),
        (b"DROP TABLE s.u, s.`\xff`", ANY),
        (b"TRUNCATE TABLE s.`\xff`", ANY),
        (b"DROP DATABASE `\xff`", ANY),
        (b"DROP DATABASE `\xc4\xe3`", ANY),
        (b"INSERT INTO s.`\xff` VALUES (1, 1)", ANY),
        (b"SELECT `s`.`f`(1)", ANY),
        (b"MERGE INTO s.t USING s.u", ANY),
        (b"INSERT INTO s.t VALUES (5, 5)", TEXT),
        (b"INSERT INTO s.t SELECT * FROM s.u", TEXT),
        (b"REPLACE s.t SET a = 1", TEXT),
        (b"UPDATE s.u, s.t SET s.t.b = 2", TEXT),
        (b"DELETE s.t FROM s.t JOIN s.u USING (a)", TEXT),
        (b"LOAD DATA INFILE 'a' INTO TABLE s.t", TEXT),
        (b"WITH u AS (SELECT 1) DELETE FROM s.t", TEXT),
        (b"REPAIR TABLE s.u, s.t", TEXT),
        (b"CREATE TABLE IF NOT EXISTS s.t SELECT 1 AS a, 2 AS b", TEXT),
        (b"CREATE TABLE IF NOT EXISTS s.t TABLE s.u", TEXT),
        (b"CREATE TABLE s.t (c INT COMMENT '\xff') SELECT 1", TEXT),
        (b"ALTER TABLE s.t TRUNCATE PARTITION p, q", MOVED),
        (b"ALTER TABLE s.t DROP PARTITION p", MOVED),
        (b"ALTER TABLE s.t EXCHANGE PARTITION p WITH TABLE s.u", MOVED),
        (b"ALTER TABLE s.u EXCHANGE PARTITION p WITH TABLE s.t WITHOUT VALIDATION", MOVED),
        (b"ALTER TABLE s.u CONVERT PARTITION p TO TABLE s.t", MOVED),
        (b"ALTER TABLE s.u CONVERT TABLE s.t TO PARTITION p VALUES LESS THAN (5)", MOVED),
        (b"ALTER TABLE s.t IMPORT TABLESPACE", MOVED),
        (b"ALTER TABLE s.t DISCARD PARTITION p TABLESPACE", MOVED),
        (b"ALTER TABLE s.t FROBNICATE b", "cannot be followed: unknown clause FROBNICATE"),
        (b"ALTER TABLE s.t CHANGE b", "cannot be followed"),
        (b"/*" + 5000 * b"-" + b"*/ ALTER TABLE s.t MODIFY b BIGINT", "converts values"),
        (b"RENAME DATABASE s TO r", "RENAME DATABASE"),
        (b"TRUNCATE TABLE S.T", "calls it S.T"),
        (b"DROP DATABASE S", "calls it S;"),
        (b"UPDATE s.T SET b = 3", "calls it s.T"),
    ],
)
def test_a_statement_that_may_change_rows(statement: bytes, reason: str, tmp_path: Path) -> None:
    assert reason in refused(log_of(statement, variables=_GBK), tmp_path)["s.t"]


@pytest.mark.parametrize(
    "statement",
    [
        b"ALTER TABLE s.u ADD c INT COMMENT '\xff'",
        b"ALTER TABLE s.u FROBNICATE b",
        b"CREATE TABLE s.u (c INT COMMENT '\xff')",
        b"CREATE TABLE s.u (c INT COMMENT 'a",
        b"CREATE VIEW s.v AS SELECT '\xff'",
        b"ALTER EVENT e COMMENT '\xff'",
        b"CREATE DATABASE `\xff`",
        b"CREATE TEMPORARY TABLE u (a INT COMMENT '\xff')",
        b"DROP TEMPORARY TABLE `\xff`",
        b"DROP DATABASE S_OTHER",
        b"SET PASSWORD FOR a = 'b'",
        b"# Dum",
        b"",
    ],
)
def test_a_statement_that_changes_no_row_of_the_table(statement: bytes, tmp_path: Path) -> None:
    assert "s.t" not in refused(log_of(statement, variables=_GBK), tmp_path)
    rows = table(opened(tmp_path / "whole"), "state/s.t").to_pylist()
    assert sorted((row["a"], row["b"]) for row in rows) == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (b"ALTER TABLE s.t FROBNICATE b, RENAME s.u", "u"),
        (b"ALTER TABLE s.t RENAME u COMMENT '\xff'", "u"),
        (b"RENAME TABLE s.t TO s.U", "u"),
    ],
)
def test_a_table_that_is_renamed_by_it(statement: bytes, name: str, tmp_path: Path) -> None:
    assert f"s.{name}" in refused(log_of(statement, name=name, variables=_GBK), tmp_path)


@pytest.mark.parametrize(
    "statement", [b"TRUNCATE s.t", b"DROP TABLE s.u, s.t", b"DROP DATABASE s", b"CREATE TABLE s.t (a INT)"]
)
def test_it_is_over_once_the_table_is_empty(statement: bytes, tmp_path: Path) -> None:
    log = log_of(b"RENAME TABLE s.`\xff` TO s.u", b"UPDATE S.T SET b = 3", statement, variables=_GBK)
    assert "s.t" not in refused(log, tmp_path)
    assert [row["a"] for row in table(opened(tmp_path / "whole"), "state/s.t").to_pylist()] == [2]


def test_a_table_that_is_created_later_is_not_concerned(tmp_path: Path) -> None:
    statements = b"SELECT f()", b"CREATE TABLE s.u (a TINYINT PRIMARY KEY, b TINYINT)"
    assert refused(log_of(*statements, name="u"), tmp_path).keys() == {"s.t"}


def test_names_with_capitals_are_told_apart_if_a_table_has_some(tmp_path: Path) -> None:
    assert refused(log_of(b"TRUNCATE TABLE s.T", name="T"), tmp_path) == {}
    rows = {name: table(opened(tmp_path / "whole"), f"state/s.{name}").to_pylist() for name in ("t", "T")}
    assert {name: [row["a"] for row in found] for name, found in rows.items()} == {"t": [1], "T": [2]}


def test_an_incident(tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 1)
    size = CHECKSUM_SIZE * log.layout.is_checksummed
    log.log.add(bytes(4) + bytes([EventType.incident_event]) + bytes(14) + b"\1\0\0" + bytes(size))
    log.insert(2, 2)
    assert "incident" in refused(log, tmp_path)["s.t"]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (b"UPDATE s.t SET b = 3", TEXT),
        (b"TRUNCATE s.t", "inside a compressed transaction"),
        (b"RENAME TABLE s.u TO s.t", "inside a compressed transaction"),
        (b"ALTER TABLE s.t MODIFY b BIGINT", "converts values"),
        (b"SELECT f()", ANY),
        (b"SAVEPOINT a", ""),
        (b"CREATE TABLE s.u (a INT)", ""),
    ],
)
def test_a_statement_inside_a_compressed_transaction(statement: bytes, reason: str, tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 1)
    size = header_length(4) + 14 + len(statement)
    inner = bytearray(bytes(4) + bytes([EventType.query_event]) + bytes(14) + bytes(13) + b"\0" + statement)
    inner[header_offset("len_event") : header_offset("len_event") + 4] = size.to_bytes(4, "little")
    packed = zstandard.compress(bytes(inner))
    fields = b"".join(
        bytes((kind, 9, 254)) + value.to_bytes(8, "little") for kind, value in ((3, size), (1, len(packed)))
    )
    log.event(EventType.transaction_payload_event, b"\2\1\0" + fields + b"\0" + packed)
    log.insert(2, 2)
    found = refused(log, tmp_path)
    assert (reason in found["s.t"]) if reason else not found


@pytest.mark.parametrize("is_known_first", [True, False])
def test_columns_that_have_names_in_some_of_the_changes(is_known_first: bool, tmp_path: Path) -> None:
    log = TableLog("ab", "a", has_names=False)
    definition = "CREATE TABLE s.t (a TINYINT PRIMARY KEY, b TINYINT)"
    unknown = "CREATE TABLE s.t (a TINYINT PRIMARY KEY, b VECTOR FROBNICATE(2))"
    log.run(definition if is_known_first else unknown)
    log.insert(1, 1)
    # The definition of each table that the statement names is unknown from there on.
    log.run("DROP VIEW v, s.t '" if is_known_first else definition)
    log.insert(2, 2)
    assert "only some of its changes have column names" in refused(log, tmp_path)["s.t"]
    log.run("TRUNCATE s.t")
    log.insert(3, 3)
    assert refused(log, tmp_path) == {}


def test_a_statement_that_empties_all_partitions(tmp_path: Path) -> None:
    log = log_of("ALTER TABLE s.t TRUNCATE PARTITION ALL")
    assert refused(log, tmp_path) == {}
    (row,) = table(opened(tmp_path / "whole"), "state/s.t").to_pylist()
    assert row["a"] == 2


@pytest.mark.parametrize(
    ("loaded", "listed"), [([1], [1, 3]), ([1], [3]), ([], [1, 3])], ids=["next", "both", "in one run"]
)
def test_where_logs_are_missing(loaded: list[int], listed: list[int], tmp_path: Path) -> None:
    """A lake goes on after them if it may; all that came before is unknown."""
    for number in (1, 3):
        log = TableLog("ab", "a")
        if number == 3:
            log.run("CREATE TABLE s.n (a TINYINT PRIMARY KEY, b TINYINT)")
            log.table = "n"
        log.insert(number, number)
        log.write(tmp_path).rename(tmp_path / f"log.{number:06}")
    lake = tmp_path / "lake"
    if loaded:
        before = fill(lake, [tmp_path / f"log.{number:06}" for number in loaded], keeps_state=True)
        assert before[-1].state_refused == {}
    with pytest.warns(DataLossWarning):
        batches = fill(
            lake, [tmp_path / f"log.{number:06}" for number in listed], keeps_state=True, loses=True
        )
    assert batches[-1].state_refused.keys() == {"s.t"}
    assert any("logs are missing: " in text for batch in batches for text in batch.warnings)
    (gap,) = table(opened(lake), "gaps").to_pylist()
    assert (gap["file"], gap["to"]) == (str(tmp_path / "log.000003"), 4)
    assert gap["reason"] in batches[-1].state_refused["s.t"]


@pytest.mark.filterwarnings("ignore::binlog_kaitai.errors.DataLossWarning")
@pytest.mark.parametrize("more", [-100, 2, 100], ids="the batch ends {} bytes from the gap".format)
def test_missing_logs_where_a_batch_ends(more: int, tmp_path: Path) -> None:
    """They are reported wherever a batch ends: at the end of a log, or just after the next one begins."""
    logs = []
    for number, name in ((1, "t"), (3, "n")):
        log = TableLog("ab", "a")
        log.table = name
        log.insert(number, number)
        logs.append(log.write(tmp_path).rename(tmp_path / f"log.{number:06}"))
    size = logs[0].stat().st_size + more
    batches = fill(tmp_path / "lake", logs, size, keeps_state=True, loses=True)
    assert "s.t" in batches[-1].state_refused
    (gap,) = table(opened(tmp_path / "lake"), "gaps").to_pylist()
    assert (gap["file"], gap["to"]) == (str(logs[1]), 4)
