"""SQL scripts from logs of the corpus."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.errors import UsageError
from binlog_kaitai.log.event_rows import rows_of
from binlog_kaitai.render.disk_stack import Stack
from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_sql
from binlog_kaitai.render.sql.sql_script import SqlScript
from binlog_kaitai.rows.log_pages import RowsPages
from tests.corpus_files import case
from tests.extent import rounds, sample
from tests.log_maker import LogMaker, events_of, statement
from tests.support import all_files, use_plain_kernels

FILES = all_files()
MIXED = case("mysql-9.7", "mixed").logs[0]


def sql(
    source: Any, said: list[str] | None = None, ddl: str | None = None, filters: Any = None, **options: Any
) -> str:
    """The script of a log; warnings are put into `said`."""
    report = OmissionReport((said if said is not None else []).append)
    wanted = SqlOptions(**{"allow_unnamed": True, **options})
    parts = write_sql(source, Filters.of(**(filters or {})), wanted, report, ddl=ddl)
    return b"".join(map(bytes, parts)).decode("utf-8", "surrogateescape")


#: What comes before a statement that is prepared from a string.
PREPARED = r"SET @binlog_kaitai_statement = CONCAT\(_binary '"


def statements(text: str) -> list[str]:
    """The lines that make changes, and those around them."""
    words = ("INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "--")
    lines = [line for line in text.split("\n") if line.startswith(words)]
    return [line.replace(str(Path(MIXED)), "LOG") for line in lines]


def test_changes_are_made_again_in_order() -> None:
    text = sql(MIXED, filters={"include_gtids": "a40b4242-e518-11f1-9090-02fc00000001:7"})
    assert text.split("\n")[5:] == [
        f"-- {MIXED}:2295, 2026-11-20 19:31:47, GTID a40b4242-e518-11f1-9090-02fc00000001:7",
        "BEGIN;",
        "SET foreign_key_checks = 0;",
        "INSERT INTO `t`.`s` (`id`, `v`, `d`) VALUES (11, '0.8364498501983004', 0.40613597483014313);",
        "INSERT INTO `t`.`s` (`id`, `v`, `d`) VALUES (12, '0.1175766290329179', 0.07853362530333327);",
        "SET foreign_key_checks = 1;",
        "COMMIT;",
        text.split("\n")[-2],
        "",
    ]


def test_changes_are_taken_back_from_the_last_one_on() -> None:
    text = sql(MIXED, undo=True, filters={"include_gtids": "a40b4242-e518-11f1-9090-02fc00000001:7-8"})
    assert statements(text)[1:] == [
        "-- LOG:2723, 2026-11-20 19:31:47, GTID a40b4242-e518-11f1-9090-02fc00000001:8",
        "BEGIN;",
        "DELETE FROM `t`.`s` WHERE `id` = 14;",
        "DELETE FROM `t`.`s` WHERE `id` = 13;",
        "COMMIT;",
        "-- LOG:2295, 2026-11-20 19:31:47, GTID a40b4242-e518-11f1-9090-02fc00000001:7",
        "BEGIN;",
        "DELETE FROM `t`.`s` WHERE `id` = 12;",
        "DELETE FROM `t`.`s` WHERE `id` = 11;",
        "COMMIT;",
    ]


def test_values_with_the_same_text_are_distinguished_by_number() -> None:
    text = sql(case("mysql-9.7", "odd_values").logs[0])
    assert [line for line in statements(text) if "`choices`" in line] == [
        "INSERT INTO `t`.`choices` (`id`, `e`, `s`, `t`) VALUES (1, 1, 0, 'a');",
        "INSERT INTO `t`.`choices` (`id`, `e`, `s`, `t`) VALUES (2, 0, 1, 0);",
        "INSERT INTO `t`.`choices` (`id`, `e`, `s`, `t`) VALUES (3, 2, 6, 'b');",
        "INSERT INTO `t`.`choices` (`id`, `e`, `s`, `t`) VALUES (4, 2, 3, 'a');",
        "UPDATE `t`.`choices` SET `e`=0 WHERE `id` = 1;",
        "UPDATE `t`.`choices` SET `s`=1 WHERE `id` = 4;",
    ]


def test_a_row_without_any_column_has_all_defaults() -> None:
    text = sql(case("mysql-9.7", "odd_values").logs[0])
    assert "INSERT INTO `t`.`defaults` () VALUES ();" in statements(text)


def test_statements_of_the_log_come_with_their_settings() -> None:
    gtid = "a40b4242-e518-11f1-9090-02fc00000001:12"
    text = sql(MIXED, filters={"include_gtids": gtid})
    assert "SET INSERT_ID = 5002;\nUSE `t`;\nSET sql_mode = 1073741824, @binlog_kaitai_mode = 1;\n" in text
    assert "\nSET timestamp = 1795203107, " in text
    assert "time_zone = '+05:30'" in text
    assert (
        "INSERT INTO s (v) VALUES (NOW()),(FROM_UNIXTIME(0));\nSET NAMES utf8mb4;\nSET timestamp = DEFAULT"
        in text
    )


def test_statements_of_the_log_are_comments_where_changes_are_taken_back() -> None:
    said: list[str] = []
    text = sql(MIXED, said, undo=True)
    assert "-- CREATE TABLE s (id BIGINT PRIMARY KEY" in text
    assert "\nCREATE" not in text
    assert any("logged statements cannot be reverted" in one for one in said)


@pytest.mark.parametrize("undo", [False, True], ids=["redo", "undo"])
@pytest.mark.parametrize(
    "path", FILES[::5], ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_every_change_has_its_line_in_a_transaction(path: Path, undo: bool) -> None:
    try:
        expected = sum(1 for event in bk.open(path) for _ in rows_of(event))
        text = sql(path, undo=undo)
    except bk.BinlogError:
        return
    refused = sum(int(found) for found in re.findall(r"^-- cannot be .*?: (\d+) row", text, re.M))
    lines = re.findall(rf"^(?:{PREPARED})?(?:INSERT INTO|UPDATE|DELETE FROM) `[^\n]*;$", text, re.M)
    if (
        "system_versions" not in str(path)
        and "an incomplete transaction" not in text
        and "rolled back" not in text
    ):
        assert len(lines) + refused == expected
    # With statements of the log, a transaction is committed only if all their settings were taken.
    ends = re.findall(
        r"^(?:COMMIT;|ROLLBACK;|SET .* IF\(@binlog_kaitai_ok, 'COMMIT', 'ROLLBACK'\);)$", text, re.M
    )
    assert text.count("\nBEGIN;\n") == len(ends)


@pytest.mark.parametrize("undo", [False, True], ids=["redo", "undo"])
def test_small_blocks_give_the_same_script(undo: bool) -> None:
    for path in sample(FILES[::9], 6):
        try:
            whole = sql(path, undo=undo)
        except bk.BinlogError:
            continue
        pages = RowsPages(path, Filters(), block_size=1, every_block=True)
        options = SqlOptions(undo=undo, allow_unnamed=True)
        script = SqlScript(pages, Filters(), options, OmissionReport(lambda _: None))
        found = b"".join(map(bytes, script)).decode("utf-8", "surrogateescape")
        assert at_once(found) == at_once(whole)


@pytest.mark.parametrize("undo", [False, True], ids=["redo", "undo"])
def test_small_portions_give_the_same_script(undo: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {path: sql(path, undo=undo) for path in sample(FILES[3::20], 4) if "damaged" not in str(path)}
    monkeypatch.setattr("binlog_kaitai.render.sql.row_statements._TEXT_OF_EVENTS", 1)
    for path, text in whole.items():
        assert at_once(sql(path, undo=undo)) == at_once(text)


def at_once(text: str) -> str:
    """A script in which checks are not switched on and off again between portions of a transaction."""
    switched = "SET foreign_key_checks = 1;\nSET foreign_key_checks = 0;\n"
    while switched in text:  # they may be nested
        text = text.replace(switched, "")
    return text


def test_plain_kernels_give_the_same_script(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for path in FILES if "types" in str(path)][::4]
    paths = list(sample(paths, 1))
    compiled = [sql(path, undo=True) for path in paths]
    use_plain_kernels(monkeypatch)
    assert [sql(path, undo=True) for path in paths] == compiled


def lines_of(change: str, **options: Any) -> list[str]:
    log = case("mysql-9.7", "types_full").logs[0]
    return [line for line in sql(log, **options).split("\n") if line.startswith(change)]


def test_operations() -> None:
    every = lines_of(("INSERT", "UPDATE", "DELETE"))  # type: ignore[arg-type]
    some = lines_of(("INSERT", "UPDATE", "DELETE"), operation=["delete"])  # type: ignore[arg-type]
    assert some == [line for line in every if line.startswith("DELETE")]
    assert 0 < len(some) < len(every)
    with pytest.raises(UsageError, match="not an operation"):
        sql(MIXED, operation=["truncate"])


def test_changes_by_their_values() -> None:
    every = lines_of("INSERT")
    some = lines_of("INSERT", where="id = 1")
    assert some == [line for line in every if "(`id`, " in line and ") VALUES (1, " in line]
    assert 0 < len(some) < len(every)
    found = sql(MIXED, where="id = 12 AND d < 1")
    assert [line[:28] for line in statements(found) if line.startswith("INSERT")] == [
        "INSERT INTO `t`.`s` (`id`, `"
    ]
    assert lines_of("INSERT", where="ID = 1") == some
    with pytest.raises(UsageError, match="no table in the log has a column named nowhere"):
        sql(MIXED, where="nowhere = 1")


def test_columns_that_differ_in_case_only() -> None:
    layout, [[head, *others]] = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    is_map = [
        b"nokey" in raw and raw[header_offset("type_code")] == EventType.table_map_event for raw in others
    ]
    inserts = others[is_map.index(True) : is_map.index(True) + 2]
    log, ddl = LogMaker(layout), "CREATE TABLE t.nokey (`no` INT, Name VARCHAR(20), naMe BLOB);"
    log.add_all([head, statement(b"BEGIN", layout), *inserts, statement(None, layout)])
    assert "VALUES (2, 0x62, NULL)" in sql(bytes(log.data), ddl=ddl, where="NO = 2 AND Name = 'b'")
    with pytest.raises(UsageError, match=r"^name is ambiguous: t.nokey has columns Name and naMe$"):
        sql(bytes(log.data), ddl=ddl, where="name = 'b'")


def test_updates_by_the_column_that_they_change() -> None:
    log = case("mysql-9.7", "json_partial").logs[0]
    every = [line for line in sql(log).split("\n") if line.startswith("UPDATE `t`.`jfull`")]
    of_b = [line for line in sql(log, column=["b"]).split("\n") if line.startswith("UPDATE `t`.`jfull`")]
    assert of_b
    assert of_b == [line for line in every if "`b`=" in line]


def test_missing_parts_of_images_are_rejected_with_a_reason() -> None:
    said: list[str] = []
    text = sql(case("mysql-9.7", "types_minimal").logs[0], said, undo=True)
    assert re.search(r"-- cannot be reverted: 1 row of delete t\.\w+ at .*: the image lacks `", text)
    assert re.search(r"-- cannot be reverted: 1 row of update t\.\w+ at .*: the before image lacks `", text)
    assert any("cannot be reverted" in one for one in said)
    assert "DELETE FROM" in text  # an insert has all that it takes


def test_a_change_of_a_document_without_the_document_is_an_expression() -> None:
    text = sql(case("mysql-9.7", "json_partial").logs[0])
    assert "UPDATE `t`.`jminimal` SET `j`=JSON_REMOVE(`j`, '$.arr') WHERE `id` = 3;" in text
    assert "SET `j`=JSON_REPLACE(`j`, '$.name', CAST('\"short\"' AS JSON)) WHERE `id` = 1;" in text
    # The text of a date does not differ from that of a string.
    assert "JSON_INSERT(`j`, '$.newkey', CAST(CAST(CAST('2024-01-01' AS DATE) AS JSON) AS JSON))" in text


def test_a_path_that_is_no_text_stays_bytes(tmp_path: Path) -> None:
    layout, groups = events_of(case("mysql-9.7", "json_partial").logs[0])
    maker = LogMaker(layout)
    raws = (raw for group in groups for raw in group)
    maker.add_all(raw.replace(b"name", b"nam\xff") if raw[4] in (30, 31, 32, 39) else raw for raw in raws)
    assert "JSON_REPLACE(`j`, 0x242E6E616DFF, " in sql(maker.write(tmp_path / "binlog.000001"))


DDL = """CREATE TABLE t.s (id BIGINT, v VARCHAR(200), d DOUBLE, PRIMARY KEY (id)) CHARSET utf8mb4;
CREATE TABLE t.my (id BIGINT PRIMARY KEY, v VARCHAR(200)) CHARSET utf8mb4;
CREATE TABLE t2.x (id BIGINT PRIMARY KEY, v VARCHAR(200)) CHARSET utf8mb4"""


def after_definitions(path: Path, folder: Path) -> Path:
    """The log without its statements: column names are unknown."""
    target = folder / "binlog.000001"
    events = [event for event in bk.open(path) if not event.type.startswith("QUERY") or b"BEGIN" in event.raw]
    target.write_bytes(path.read_bytes()[:4] + b"".join(event.raw for event in events))
    return target


def test_unknown_names_are_rejected_with_suggestions(tmp_path: Path) -> None:
    log = after_definitions(MIXED, tmp_path)
    reason = r"the column names of t\.s; pass its CREATE TABLE with --ddl FILE .*, or use --allow-unnamed"
    with pytest.raises(UsageError, match=reason):
        sql(log, allow_unnamed=False)
    assert "(`c1`, `c2`, `c3`) VALUES (11, '0.83" in sql(log)
    assert "(`id`, `v`, `d`) VALUES (11, '0.83" in sql(log, ddl=DDL, allow_unnamed=False)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("id BIGINT", "the log has 3 columns, the definition has 1 (was the table altered since?)"),
        ("id BIGINT, v INT, d DOUBLE", "column 2, v, is int in the definition, in the log it is varchar"),
    ],
)
@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
def test_a_definition_that_does_not_match_is_named(columns: str, reason: str, tmp_path: Path) -> None:
    log = after_definitions(MIXED, tmp_path)
    with pytest.raises(UsageError) as error:
        sql(log, ddl=f"CREATE TABLE t.s ({columns})", allow_unnamed=False)
    assert (
        f"the definition of t.s does not match these rows: {reason}; pass its CREATE TABLE"
        in error.value.reason
    )


def test_rows_without_a_key_are_found_by_all_columns(tmp_path: Path) -> None:
    log = after_definitions(MIXED, tmp_path)
    text = sql(log, ddl=DDL.replace(", PRIMARY KEY (id)", ""), undo=True)
    assert (
        "DELETE FROM `t`.`s` WHERE `id` <=> 11 AND CAST(`v` AS BINARY) <=> '0.8364498501983004'"
        " AND `d` <=> 0.40613597483014313 LIMIT 1;" in text
    )


def test_generated_columns_are_left_out(tmp_path: Path) -> None:
    log = after_definitions(MIXED, tmp_path)
    text = sql(log, ddl=DDL.replace("d DOUBLE", "d DOUBLE AS (id + 1) STORED"))
    assert "INSERT INTO `t`.`s` (`id`, `v`) VALUES (11, '0.8364498501983004');" in text


def test_nothing_is_taken_back_of_a_damaged_log(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(MIXED.read_bytes()[:-100] + b"\xff" * 60)
    parts = write_sql(log, Filters(), SqlOptions(undo=True), OmissionReport(lambda _: None))
    with pytest.raises(bk.BinlogError):
        next(parts)


def cut_before_commit(path: Path, folder: Path) -> Path:
    target = folder / "binlog.000001"
    position = next(event.position for event in bk.open(path) if event.type == "XID_EVENT")
    target.write_bytes(path.read_bytes()[:position])
    return target


def test_a_transaction_without_an_end(tmp_path: Path) -> None:
    log, said = cut_before_commit(MIXED, tmp_path), list[str]()
    assert statements(sql(log, said))[-2:] == [
        "-- an incomplete transaction is not committed",
        "ROLLBACK;",
    ]
    text = sql(log, said, undo=True)
    assert "BEGIN;" not in text
    assert "-- an incomplete transaction is not reverted: " in text
    assert len([one for one in said if "an incomplete transaction" in one]) == 2


def test_a_stop_inside_a_transaction_truncates_it() -> None:
    position = next(event.position for event in bk.open(MIXED) if event.type == "XID_EVENT")
    assert "COMMIT;" not in sql(MIXED, filters={"stop_position": position})


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-10.11"])
def test_prepared_transactions_of_xa(name: str) -> None:
    text = sql(case(name, "xa").logs[0])
    of_xa = [line for line in text.split("\n") if re.match("XA (?!ROLLBACK)", line)][:4]
    assert of_xa == [f"XA {word} X'6731',X'',1;" for word in ("START", "END", "PREPARE", "COMMIT")]


def test_history_of_system_versioning_is_left_to_the_server() -> None:
    text = sql(case("mariadb-10.11", "system_versions").logs[0], filters={"table": "t.a"})
    changes = [line for line in text.split("\n") if line.startswith(("INSERT", "UPDATE", "DELETE"))]
    assert changes[:4] == [
        "INSERT INTO `t`.`a` (`id`, `v`) VALUES (1, 'a');",
        "INSERT INTO `t`.`a` (`id`, `v`) VALUES (2, 'b');",
        "UPDATE `t`.`a` SET `v`='z' WHERE `id` = 1;",
        "DELETE FROM `t`.`a` WHERE `id` = 2;",
    ]


def test_a_name_of_a_file_cannot_end_a_comment(tmp_path: Path) -> None:
    log = tmp_path / "a\nDROP TABLE t"
    log.write_bytes(MIXED.read_bytes())
    assert "\nDROP" not in sql(log, undo=True)


def test_spool_gives_chunks_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binlog_kaitai.render.disk_stack._LARGEST_CHUNK", 4)
    spool = Stack()
    for text in (b"first", b"", b"second, which is long", b"third"):
        spool.append(text)
    mark = len(spool)
    spool.append(b"gone")
    spool.cut(mark)
    spool.append(b"last")
    assert b"|".join(spool.backwards()).replace(b"|", b"") == b"lastthirdsecond, which is longfirst"
    spool.close()


@pytest.mark.parametrize("name", ["types_full", "json_partial", "mixed"])
def test_hostile_bytes_are_an_error_or_a_script(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    data = case("mysql-9.7", name).logs[0].read_bytes()
    log = tmp_path / "binlog.000001"
    for _ in range(rounds(12, 3)):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 5))):
            broken[chance.randrange(130, len(broken))] = chance.randrange(256)
        log.write_bytes(broken)
        attempt(lambda: list(write_unchecked(log)))


def write_unchecked(path: Path) -> Any:
    pages = RowsPages(path, Filters(), every_block=True, verify_checksums=False)
    options = SqlOptions(undo=True, allow_unnamed=True)
    return SqlScript(pages, Filters(), options, OmissionReport(lambda _: None))


def attempt(call: Callable[[], object]) -> None:
    with suppress(bk.BinlogError):
        call()
