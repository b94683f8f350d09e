"""How `sql` writes logged statements: what is rewritten in them, and the settings around them."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from binlog_kaitai.core.grammar import EventType
from tests.grammar.row_bytes import table_map_bytes
from tests.render.test_sql import sql
from tests.servers.hostile_log import (
    COLLATIONS,
    ENDS,
    MODES,
    NO_BACKSLASH_ESCAPES,
    PAYLOADS,
    VERBS,
    Logged,
    hostile,
    log_of,
)
from tests.views.test_agreement import log_of_rows

LOGS = Path(__file__).parent / "logs"
WORDS = " START TRANSACTION"


def script(*statements: Logged | str, name: str = "mysql-9.7", said: list[str] | None = None) -> str:
    logged = [one if isinstance(one, Logged) else Logged(one.encode()) for one in statements]
    return sql(log_of(name, logged), said)


@pytest.mark.parametrize(
    "definition",
    [
        "CREATE TABLE `b` (\n  `id` int\n)%s",
        "CREATE TABLE `b` (\n  `id` int\n)%s ENGINE=InnoDB",
        "CREATE TABLE `b` (\n  `id` int\n)%s ENGINE=InnoDB AUTO_INCREMENT=3 COMMENT='it''s )'",
        "CREATE TABLE `b` (\n  `) START TRANSACTION (` int DEFAULT ') START TRANSACTION' COMMENT '(('\n)%s",
        "CREATE TABLE `b` (\n  `v` decimal(5,2) DEFAULT (abs(1)), KEY `k` ((`v` + 1))\n)%s ENGINE=InnoDB\n"
        "/*!50100 PARTITION BY HASH (`v`) */",
    ],
)
def test_a_definition_with_rows_loses_the_words_that_only_replicas_know(definition: str) -> None:
    text = script(definition % WORDS)
    assert f"\n{definition % ''};\nSTART TRANSACTION;\n" in text


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE `b` (\n  `id` int COMMENT ') START TRANSACTION'\n) COMMENT=' START TRANSACTION'",
        "CREATE TABLE `) START TRANSACTION` (id int)",
        "CREATE TABLE b (id int) /* START TRANSACTION */",
    ],
)
def test_these_words_stay_where_they_are_no_words(statement: str) -> None:
    text = script(statement)
    assert f"\n{statement};\n" in text
    assert "\nSTART TRANSACTION;" not in text


@pytest.mark.parametrize(
    "collation", [35, 54, 56, 60, 45], ids=["ucs2", "utf16", "utf16le", "utf32", "utf8mb4"]
)
def test_no_literal_is_in_the_character_set_of_a_connection_of_the_log(
    collation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COLLATIONS, "gbk", collation)
    lines = script(Logged(b"CREATE TABLE t (a INT)", charset="gbk")).split("\n")
    index = next(number for number, line in enumerate(lines) if f"collation_connection = {collation}" in line)
    assert lines[index + 1 : index + 3] == ["CREATE TABLE t (a INT);", "SET NAMES utf8mb4;"]


def test_the_mode_is_set_by_itself_and_the_statement_runs_only_if_all_settings_were_taken() -> None:
    lines = script(Logged(b"CREATE TABLE t (a INT)", NO_BACKSLASH_ESCAPES, schema=b"d")).split("\n")
    index = lines.index("CREATE TABLE t (a INT);")
    guard, use, mode, settings = lines[index - 4 : index]
    assert guard.startswith("SET @binlog_kaitai_before = @binlog_kaitai_ok, @binlog_kaitai_ok = NULL, ")
    assert (
        "/*!50720 , @@session.transaction_read_only = 1 */ /*M!100000 , @@session.tx_read_only = 1 */"
        in guard
    )
    assert use == "USE `d`;"
    assert mode == f"SET sql_mode = {NO_BACKSLASH_ESCAPES}, @binlog_kaitai_mode = 1;"
    condition = "@binlog_kaitai_before AND DATABASE() = 'd' AND @binlog_kaitai_mode"
    assert f"@binlog_kaitai_ok = IF({condition}, 1, NULL)" in settings
    assert f"transaction_read_only = IF({condition}, 0, 1) */" in settings


@pytest.mark.parametrize(
    ("name", "statement", "setting"),
    [
        ("mariadb-11.8", "ALTER TABLE t ADD b INT", "/*M!100304 , system_versioning_alter_history = KEEP */"),
        ("mysql-9.7", "CREATE TABLE t (a INT, FOREIGN KEY (a) references p (b))",
         "/*!80400 , restrict_fk_on_non_standard_key = 0 */"),
        ("mysql-9.7", "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (b)",
         "/*!80400 , restrict_fk_on_non_standard_key = 0 */"),
    ],
)  # fmt: skip
def test_settings_that_no_server_logs(name: str, statement: str, setting: str) -> None:
    text = script(statement, "CREATE TABLE u (a INT)", name=name)
    assert text.count(setting) == 1
    assert text.count(setting.rpartition(" = ")[0] + " = DEFAULT */") == 1


#: The only ends with which all readings of the statement agree where its strings and names end: by bytes and
#: in its character set, with escapes and without.
WHOLE = {b"'\\\\' '%s '", b"'' -- '\n%s", b"'' /* ' */%s"}


@pytest.mark.parametrize("refused", ["none", "time zone"])
def test_of_statements_that_are_not_prepared_only_those_whole_in_every_reading_are_printed(
    refused: str,
) -> None:
    printed = set()
    for payload, charset, mode in product(PAYLOADS[:2], COLLATIONS, MODES):
        statements = {end: VERBS[0] % (end % payload) for end in ENDS}
        said: list[str] = []
        log = log_of("mysql-9.7", [Logged(one, mode, charset, refused) for one in statements.values()])
        text = sql(log, said).encode("utf-8", "surrogateescape")
        assert any("a client might split the statement differently" in one for one in said)
        printed |= {(end, payload, charset) for end, one in statements.items() if b"\n" + one in text}
    # A client in latin1 reads bytes.
    assert {end for end, _, charset in printed if charset != "latin1"} == WHOLE
    assert {end for end, _, _ in printed} == WHOLE | {b"`\x81` `%s `"}
    assert {end for end, payload, _ in printed if b"\\" in payload} == {b"'\\\\' '%s '"}


@pytest.mark.parametrize("charset", COLLATIONS)
@pytest.mark.parametrize("mode", MODES)
def test_ordinary_procedures_are_printed(charset: str, mode: int) -> None:
    said: list[str] = []
    query = (
        b"create procedure r.p() begin set @a = 'it''s; \\\\ -- '; select \"x\", '\xc3\xa9' -- it's\n; end"
    )
    query = query if charset in ("utf8mb4", "latin1") else query.replace(b"\xc3\xa9", b"y")
    text = script(Logged(query, mode, charset), said=said)
    assert said == []
    assert query.decode() in text


def test_payloads_are_in_the_statements_of_hostile_logs() -> None:
    statements = list(hostile("none"))
    for verb in VERBS:
        for end in ENDS:
            assert any(one.text == verb % (end % payload) for one in statements for payload in PAYLOADS)


def test_a_statement_that_failed_is_a_comment() -> None:
    """Of MariaDB 11.8: one of its effects may have remained, but it would stop the script."""
    said: list[str] = []
    text = sql(LOGS / "failed_statements.000001", said)
    for error, statement in (
        (4029, "CREATE OR REPLACE TABLE t (a INT DEFAULT b, b INT DEFAULT a)"),
        (1396, "CREATE USER u1, u2"),
    ):
        assert re.search(
            rf"\n-- the statement ended with error {error}: .*\n-- {re.escape(statement)}\n", text
        )
        assert f"\n{statement}" not in text
    assert len(said) == 2


def test_alter_database_without_a_name_is_about_the_database_in_use() -> None:
    """Servers mark it as a statement that needs no database."""
    text = sql(LOGS / "failed_statements.000001", [])
    before = text.partition("\nALTER DATABASE DEFAULT CHARACTER SET latin2;\n")[0]
    assert re.findall("\nUSE `(.*)`;\n", before)[-1] == "g"


def test_the_row_of_a_sequence_needs_all_columns() -> None:
    """With binlog_row_image=MINIMAL, of MariaDB 11.8; the server refuses an INSERT of two."""
    said: list[str] = []
    text = sql(LOGS / "minimal_sequence.000001", said)
    assert "INSERT INTO `f`.`s`" not in text
    assert "\nINSERT INTO `f`.`t` (`a`) VALUES (41);\n" in text
    assert re.search(
        r"-- cannot be replayed: 1 row of insert f\.s at .*: the image lacks `minimum_value`", text
    )
    assert said


def test_a_table_of_generated_columns_alone(tmp_path: Path) -> None:
    row = bytes.fromhex("070000000000 0100 0200 01 ff 00 05000000 01")
    log = log_of_rows(
        tmp_path,
        "mysql-9.7",
        (EventType.table_map_event, table_map_bytes([3])),
        (EventType.write_rows_event, row),
    )
    assert "INSERT INTO `s`.`t` () VALUES ();" in sql(log, ddl="CREATE TABLE s.t (a INT AS (5) STORED);")


#: The values in the images of an update of three integers, whether it surely changes the row, and what the
#: statement sets and finds.
UPDATES = {
    "all columns": ((1, 2, 3), (1, 2, 4), True, "`c3`=4 WHERE `c1` <=> 1 AND `c2` <=> 2 AND `c3` <=> 3"),
    "fewer columns": ((1, None, 3), (None, 2, 4), True, "`c2`=2, `c3`=4 WHERE `c1` <=> 1 AND `c3` <=> 3"),
    "perhaps equal": ((1, None, 3), (None, 2, 3), False, "`c2`=2 WHERE `c1` <=> 1 AND `c3` <=> 3"),
    "equal": ((1, 2, None), (1, 2, None), False, "`c1`=`c1` WHERE `c1` <=> 1 AND `c2` <=> 2"),
}


@pytest.mark.parametrize(("before", "after", "is_sure", "expected"), UPDATES.values(), ids=UPDATES.keys())
def test_an_update_that_may_set_equal_values_is_followed_by_a_look_at_its_row(
    before: tuple[int | None, ...],
    after: tuple[int | None, ...],
    is_sure: bool,
    expected: str,
    tmp_path: Path,
) -> None:
    images = [
        (sum(1 << at for at, one in enumerate(image) if one is not None), [one for one in image if one])
        for image in (before, after)
    ]
    row = b"".join(b"\0" + b"".join(one.to_bytes(4, "little") for one in values) for _, values in images)
    body = bytes.fromhex("070000000000 0100 0200 03") + bytes(columns for columns, _ in images) + row
    table = EventType.table_map_event, table_map_bytes([3, 3, 3])
    text = sql(log_of_rows(tmp_path, "mysql-9.7", table, (EventType.update_rows_event, body)))
    check = "SET sql_mode = IF({}, @@sql_mode, 'the statement before found no row');"
    if is_sure:
        checks = [check.format("ROW_COUNT() = 1")]
    else:
        look = f"EXISTS (SELECT 1 FROM `s`.`t` WHERE {expected.partition(' WHERE ')[2]} LIMIT 1 FOR UPDATE)"
        checks = [
            "SET @binlog_kaitai_found = ROW_COUNT() = 1;",
            f"SET @binlog_kaitai_found = @binlog_kaitai_found OR {look};",
            check.format("@binlog_kaitai_found"),
        ]
    lines = text.split("\n")
    place = lines.index(f"UPDATE `s`.`t` SET {expected} LIMIT 1;")
    assert lines[place + 1 : place + 1 + len(checks)] == checks
    assert text.count("the statement before") == 1
