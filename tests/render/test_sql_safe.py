"""Safety of `sql` scripts, and their output if the log is damaged or lacks names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import DamagedError, UsageError
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of
from tests.render.test_sql import DDL, MIXED, PREPARED, after_definitions, sql
from tests.support import all_files


def test_a_script_is_ascii_and_has_no_backslash_but_in_statements_of_the_log() -> None:
    for path in all_files()[::7]:
        try:
            text = sql(path, operation=["insert", "update", "delete"])
        except bk.BinlogError:
            continue
        lines = [line for line in text.split("\n") if not line.startswith("--")]
        assert "".join(lines).isascii()
        assert [line for line in lines if "\\" in line] == ["/*!\\C utf8mb4 */;"]


def test_names_that_a_client_could_misread_are_prepared() -> None:
    text = sql(case("mysql-9.7", "ddl").logs[0])
    name = "', 0xD182D0B0D0B1D0BBD0B8D186D0B0, '_', 0xE8A1A8, '"
    assert re.search(rf"\n{PREPARED}INSERT INTO `t`.`{name}` \(", text)
    assert "\nPREPARE binlog_kaitai_statement FROM @binlog_kaitai_statement;\nEXECUTE " in text


def changed_events(types: frozenset[int], change: Callable[[bytearray], object], target: Path) -> Path:
    """The log `mixed` with some events changed."""
    layout, groups = events_of(MIXED)
    maker = LogMaker(layout)
    for raw in (bytearray(raw) for group in groups for raw in group):
        if raw[4] in types:
            change(raw)
        maker.add(bytes(raw))
    return maker.write(target)


def test_an_impossible_variable_is_an_error_with_a_position(tmp_path: Path) -> None:
    def change(raw: bytearray) -> None:
        raw[19] = 254

    log = changed_events(frozenset((5,)), change, tmp_path / "binlog.000001")
    with pytest.raises(DamagedError, match=r"INTVAR_EVENT, field body.variable: .* got 254") as caught:
        sql(log)
    (report,) = bk.verify(log)
    assert report.damages[0].position == caught.value.position


def test_a_value_of_an_impossible_type_is_an_error_with_a_position(tmp_path: Path) -> None:
    def change(raw: bytearray) -> None:
        raw[19 + 4 + int.from_bytes(raw[19:23], "little") + 1] = 77

    path = case("mysql-9.7", "statement").logs[0]
    layout, groups = events_of(path)
    maker = LogMaker(layout)
    for raw in (bytearray(raw) for group in groups for raw in group):
        if raw[4] == 14:
            change(raw)
        maker.add(bytes(raw))
    with pytest.raises(bk.BinlogError, match=r"USER_VAR_EVENT, field body.value_type: .* got 77"):
        sql(maker.write(tmp_path / "binlog.000001"))


def test_conditions_on_columns_that_the_log_does_not_name(tmp_path: Path) -> None:
    log = after_definitions(MIXED, tmp_path)
    with pytest.raises(UsageError, match=r"named id, but .* not name .* t\.s.*--ddl .*row_metadata=FULL"):
        sql(log, where="id = 12")
    assert "DELETE" not in sql(log, where="c1 = 12")
    assert "VALUES (12, " in sql(log, where="id = 12", ddl=DDL)


def test_a_table_that_is_altered_after_its_changes_is_named() -> None:
    said: list[str] = []
    log = case("mysql-9.7", "ddl").logs[0]
    text = sql(log, said, undo=True, operation=["insert"])
    warning = "t.a has changes in the script from before this statement"
    assert [one for one in said if warning in one and "ALTER TABLE a ADD COLUMN n INT" in one]
    head = text[: text.index("\nBEGIN")]
    assert warning in head
    assert not [one for one in said if "ALTER TABLE" in one and "t.zz" in one]
    said.clear()
    sql(log, said, operation=["insert"])
    assert not [one for one in said if "ALTER" in one]
