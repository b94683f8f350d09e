"""State tables of tables whose primary key changes: each change counts by the key of its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.state_tables import Contents, Update
from tests.lake.lakes import fill, opened, table
from tests.lake.table_log import Row, TableLog
from tests.lake.test_state import run


def state(log: TableLog, folder: Path, size: int) -> list[dict[str, Any]] | str:
    """The rows of the state table, or why there is none; by one batch, or by one for each transaction."""
    refused = run(folder / "lake", [log.write(folder)], size)
    if refused:
        return refused["s.t"]
    rows = table(opened(folder / "lake"), "state/s.t").to_pylist()
    return sorted(rows, key=lambda row: repr(sorted(row.items())))


def dicts(names: str, *rows: Row) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture(params=[3, 1 << 20], ids=["transactions", "whole"])
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize("without", ["", "b"], ids=["full", "noblob"])
def test_a_key_replaced_by_one_without_its_columns(without: str, size: int, tmp_path: Path) -> None:
    log = TableLog("abc", "a", without=without)
    log.insert(1, 7, 0)
    log.insert(2, 7, 0)
    log.update((2, 7, 0), (2, 7, 1))
    log.insert(3, 8, 0)
    log.delete(1, 7, 0)  # another row still has the 7
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", "abc", "b")
    assert state(log, tmp_path, size) == dicts("abc", (2, 7, 1), (3, 8, 0))
    log.update((2, 7, 1), (2, 7, 2))
    log.insert(2, 9, 0)
    assert state(log, tmp_path, size) == dicts("abc", (2, 7, 2), (2, 9, 0), (3, 8, 0))
    log.delete(2, 7, 2)
    log.insert(2, 5, 0)
    assert state(log, tmp_path, size) == dicts("abc", (2, 5, 0), (2, 9, 0), (3, 8, 0))
    log.alter("DROP PRIMARY KEY", "abc", "")
    log.insert(2, 5, 0)
    if without:  # rows without a key need complete images
        assert "no primary key" in str(state(log, tmp_path, size))
        return
    assert state(log, tmp_path, size) == dicts("abc", (2, 5, 0), (2, 5, 0), (2, 9, 0), (3, 8, 0))
    log.delete(2, 5, 0)
    log.delete(2, 9, 0)
    log.alter("ADD PRIMARY KEY (a)", "abc", "a")
    log.delete(2, 5, 0)
    assert state(log, tmp_path, size) == dicts("abc", (3, 8, 0))


def test_a_key_of_more_or_fewer_columns(size: int, tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    log.update((1, 7), (1, 8))
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", "ab", "ab")
    log.insert(1, 7)
    log.insert(2, 7)
    assert state(log, tmp_path, size) == dicts("ab", (1, 7), (1, 8), (2, 7))
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b, a)", "ab", "ba")
    log.delete(1, 7)
    assert state(log, tmp_path, size) == dicts("ab", (1, 8), (2, 7))
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", "ab", "b")
    log.update((2, 7), (1, 7))
    assert state(log, tmp_path, size) == dicts("ab", (1, 7), (1, 8))


def test_a_key_added_to_rows_that_were_counted(size: int, tmp_path: Path) -> None:
    log = TableLog("ab", "")
    log.insert(1, 7)
    log.insert(1, 7)
    log.insert(1, 8)
    log.delete(1, 8)
    log.delete(1, 7)
    log.alter("ADD PRIMARY KEY (a)", "ab", "a")
    log.insert(2, 7)
    assert state(log, tmp_path, size) == dicts("ab", (1, 7), (2, 7))


def test_key_columns_that_are_renamed_and_dropped(size: int, tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 2)
    log.insert(2, 1)
    log.alter("RENAME COLUMN a TO b, RENAME COLUMN b TO a", "ba", "b")
    log.update((1, 2), (1, 3))
    assert state(log, tmp_path, size) == dicts("ab", (1, 2), (3, 1))
    log.alter("DROP PRIMARY KEY, DROP COLUMN b, ADD PRIMARY KEY (a)", "a", "a")
    log.delete(3)
    log.insert(4)
    assert state(log, tmp_path, size) == dicts("a", (1,), (4,))
    log.alter("RENAME COLUMN a TO b", "b", "b")
    assert state(log, tmp_path, size) == dicts("b", (1,), (4,))


def test_a_key_with_a_column_that_earlier_rows_lack(size: int, tmp_path: Path) -> None:
    log = TableLog("a", "a")
    log.insert(1)
    log.alter("ADD COLUMN b TINYINT NOT NULL, DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", "ab", "ab")
    assert "adds a value other than NULL as b" in state(log, tmp_path, size)
    log.update((1, 0), (1, 1))
    assert "no value in its key" in str(state(log, tmp_path, size))


def test_tables_that_are_renamed_have_their_own_key(tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    log.insert(2, 7)
    log.run("RENAME TABLE s.t TO s.old, s.new TO s.t")
    log.alter("", "ab", "b")
    log.insert(1, 8)
    log.insert(1, 9)
    fill(tmp_path / "lake", [log.write(tmp_path)], 1 << 20)
    keys = TableChanges(opened(tmp_path / "lake")).lineage.keys
    assert keys == {("s", "t"): ["b"], ("s", "old"): ["a"]}
    assert state(log, tmp_path, 1 << 20) == dicts("ab", (1, 8), (1, 9))
    old = table(opened(tmp_path / "lake"), "state/s.old").to_pylist()
    assert old == dicts("ab", (1, 7), (2, 7))


def test_a_key_whose_values_an_alter_converts(size: int, tmp_path: Path) -> None:
    """In the log's mode, which is not strict, a negative number becomes 0."""
    log = TableLog("ab", "a")
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b SMALLINT)")
    log.alter("MODIFY b TINYINT", "ab", "a")  # the table is still empty
    log.insert(1, 7)
    log.insert(2, 8)
    assert state(log, tmp_path, size) == dicts("ab", (1, 7), (2, 8))
    log.alter("MODIFY a TINYINT UNSIGNED", "ab", "a")
    log.update((0, 7), (0, 9))  # what was -1, say
    reason = "an ALTER TABLE converts values of a, or may do so, in rows that have not changed since"
    assert state(log, tmp_path, size) == reason
    log.delete(1, 7)
    assert state(log, tmp_path, size) == reason
    log.update((2, 8), (2, 9))
    assert state(log, tmp_path, size) == dicts("ab", (0, 9), (2, 9))
    log.insert(3, 9)
    assert state(log, tmp_path, size) == dicts("ab", (0, 9), (2, 9), (3, 9))


def test_a_column_whose_default_earlier_rows_have(size: int, tmp_path: Path) -> None:
    log = TableLog("a", "a")
    log.alter("ADD COLUMN b TINYINT DEFAULT 5", "ab", "a")  # the table is still empty
    log.insert(1, 5)
    log.insert(2, 5)
    log.alter("ADD COLUMN c TINYINT NULL DEFAULT NULL", "abc", "a")
    assert state(log, tmp_path, size) == dicts("ab", (1, 5), (2, 5))
    log.alter("ADD (d TINYINT, e TINYINT NOT NULL)", "abcde", "a")
    log.update((1, 5, 0, 0, 0), (1, 6, 0, 0, 0))
    reason = (
        "an ALTER TABLE adds a value other than NULL as e, or may do so, in rows that have not changed since"
    )
    assert state(log, tmp_path, size) == reason
    log.update((2, 5, 0, 0, 0), (2, 6, 0, 0, 0))
    assert state(log, tmp_path, size) == dicts("abcde", (1, 6, 0, 0, 0), (2, 6, 0, 0, 0))


def test_rows_from_before_a_conversion_are_not_looked_for_after_each_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for: list[int] = []
    check = Update._check

    def counted(self: Update, rows: Contents) -> None:
        if self.converted is not None:
            looked_for.append(self.batch)
        check(self, rows)

    monkeypatch.setattr(Update, "_check", counted)
    log = TableLog("ab", "a")
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b SMALLINT)")
    for number in range(16):
        log.insert(number, 7)
    log.alter("MODIFY b TINYINT", "ab", "a")
    for number in range(16):
        log.update((number, 7), (number, 8))
    assert state(log, tmp_path, 3) == dicts("ab", *sorted(((number, 8) for number in range(16)), key=repr))
    assert len(looked_for) <= 6  # 16 rows are left at first, then half as many each time
    assert looked_for[-1] - looked_for[0] >= 15


@pytest.mark.parametrize("end", ["TRUNCATE TABLE s.u", "DROP TABLE s.u"])
def test_a_table_with_converted_values_until_it_is_emptied(end: str, size: int, tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b SMALLINT)")
    log.insert(1, 7)
    log.alter("CHANGE b c TINYINT, RENAME TO s.u", "ab", "a")
    log.run("ALTER TABLE s.u ADD COLUMN d INT")
    assert "converts values of c" in run(tmp_path / "lake", [log.write(tmp_path)], size)["s.u"]
    log.run(end)
    log.run("ALTER TABLE s.u RENAME TO s.t")
    assert run(tmp_path / "lake", [log.write(tmp_path)], size) == {}
    log.insert(2, 7)
    assert state(log, tmp_path, size) == dicts("ab", (2, 7))


@pytest.mark.parametrize("key", ["a", ""], ids=["partial images", "no key"])
def test_rows_with_converted_values_that_cannot_be_told_from_others(
    key: str, size: int, tmp_path: Path
) -> None:
    log = TableLog("ab", key, without="b")
    log.run(f"CREATE TABLE s.t (a TINYINT, b SMALLINT{key and ', PRIMARY KEY (a)'})")
    log.insert(1, 7)
    log.alter("MODIFY b TINYINT", "ab", key)
    if key:
        log.update((1, 7), (1, 7))
    else:
        log.delete(1, 7)
    assert "converts values of b" in state(log, tmp_path, size)


@pytest.mark.parametrize(
    "end", ["TRUNCATE TABLE s.u", "DROP TABLE s.u", "DROP DATABASE s", "RENAME TABLE s.u TO s.v"]
)
def test_a_table_that_is_emptied_without_changes_under_its_name(end: str, tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    log.run("RENAME TABLE s.t TO s.passing")
    log.run("RENAME TABLE s.passing TO s.u")
    for statement, left in (("", [(1, 7)]), (end, [])):
        if statement:
            log.run(statement)
        assert not run(tmp_path / "lake", [log.write(tmp_path)], 1 << 20)
        lake = opened(tmp_path / "lake")
        assert table(lake, "state/s.u").to_pylist() == dicts("ab", *left)
    assert "s.passing" not in lake.storage.names("state")


def test_a_table_without_changes_whose_name_is_another_tables_in_the_lake(tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    log.run("TRUNCATE TABLE s.x")
    rules = Rules(renames=(("s.t", "s.x"),))
    assert not run(tmp_path / "lake", [log.write(tmp_path)], 1 << 20, rules=rules)
    assert table(opened(tmp_path / "lake"), "state/s.x").to_pylist() == dicts("ab", (1, 7))
