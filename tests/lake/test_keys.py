"""State tables of tables whose primary key changes: each change counts by the key of its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.lake.changes import TableChanges
from tests.columns.log_maker import LogMaker, events_of, statement
from tests.columns.test_rows_hostile import row_event
from tests.corpus_files import case
from tests.grammar.row_bytes import field, table_map_bytes
from tests.lake.lakes import fill, opened, table
from tests.lake.test_state import run

#: The number of the list of names, and of the primary key, in a table map.
_COLUMN_NAME, _PRIMARY_KEY = 4, 8

Row = tuple[int | None, ...]


class Server:
    """Writes changes of `s.t`, whose columns are TINYINTs, with their names and the primary key."""

    def __init__(self, names: str, key: str, *, without: str = "") -> None:
        self.layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
        self.log = LogMaker(self.layout)
        self.log.add_all(groups[0])
        self.alter("", names, key)
        self._without = without

    def alter(self, clauses: str, names: str, key: str) -> None:
        """ALTER TABLE s.t; `names` and `key`: columns and primary key after it, one letter each."""
        if clauses:
            self.log.add(statement(f"ALTER TABLE s.t {clauses}".encode(), self.layout))
        self._names, self._key = names, key

    def insert(self, *row: int | None) -> None:
        self._write(EventType.write_rows_event, row)

    def update(self, old: Row, new: Row) -> None:
        self._write(EventType.update_rows_event, old, new)

    def delete(self, *row: int | None) -> None:
        self._write(EventType.delete_rows_event, row)

    def _write(self, kind: EventType, *images: Row) -> None:
        names = b"".join(b"\1" + name.encode() for name in self._names)
        optional = field(_COLUMN_NAME, names)
        if self._key:
            optional += field(_PRIMARY_KEY, bytes(map(self._names.index, self._key)))
        count = len(self._names)
        head = bytes.fromhex("070000000000 0100 0200") + bytes([count])
        masks = [(1 << count) - 1] * len(images)
        if kind == EventType.update_rows_event:  # the image after the change lacks some columns
            masks[1] &= ~sum(1 << at for at, name in enumerate(self._names) if name in self._without)
        self.log.add(statement(b"BEGIN", self.layout))
        self.log.add(row_event(EventType.table_map_event, table_map_bytes([1] * count, optional=optional)))
        data = b""
        for mask, image in zip(masks, images, strict=True):
            values = [value for at, value in enumerate(image) if mask >> at & 1]
            nulls = sum(1 << at for at, value in enumerate(values) if value is None)
            data += bytes([nulls, *(value for value in values if value is not None)])
        self.log.add(row_event(kind, head + bytes(masks) + data))
        self.log.add(statement(None, self.layout))

    def state(self, folder: Path, size: int) -> list[dict[str, Any]] | str:
        """The rows of the state table, or why there is none; by one batch, or by one for each transaction."""
        refused = run(folder / "lake", [self.log.write(folder / "binlog.000001")], size)
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
    server = Server("abc", "a", without=without)
    server.insert(1, 7, 0)
    server.insert(2, 7, 0)
    server.update((2, 7, 0), (2, 7, 1))
    server.insert(3, 8, 0)
    server.delete(1, 7, 0)  # another row still has the 7
    server.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", "abc", "b")
    assert server.state(tmp_path, size) == dicts("abc", (2, 7, 1), (3, 8, 0))
    server.update((2, 7, 1), (2, 7, 2))
    server.insert(2, 9, 0)
    assert server.state(tmp_path, size) == dicts("abc", (2, 7, 2), (2, 9, 0), (3, 8, 0))
    server.delete(2, 7, 2)
    server.insert(2, 5, 0)
    assert server.state(tmp_path, size) == dicts("abc", (2, 5, 0), (2, 9, 0), (3, 8, 0))
    server.alter("DROP PRIMARY KEY", "abc", "")
    server.insert(2, 5, 0)
    if without:  # rows without a key need complete images
        assert "no primary key" in str(server.state(tmp_path, size))
        return
    assert server.state(tmp_path, size) == dicts("abc", (2, 5, 0), (2, 5, 0), (2, 9, 0), (3, 8, 0))
    server.delete(2, 5, 0)
    server.delete(2, 9, 0)
    server.alter("ADD PRIMARY KEY (a)", "abc", "a")
    server.delete(2, 5, 0)
    assert server.state(tmp_path, size) == dicts("abc", (3, 8, 0))


def test_a_key_of_more_or_fewer_columns(size: int, tmp_path: Path) -> None:
    server = Server("ab", "a")
    server.insert(1, 7)
    server.update((1, 7), (1, 8))
    server.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", "ab", "ab")
    server.insert(1, 7)
    server.insert(2, 7)
    assert server.state(tmp_path, size) == dicts("ab", (1, 7), (1, 8), (2, 7))
    server.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b, a)", "ab", "ba")
    server.delete(1, 7)
    assert server.state(tmp_path, size) == dicts("ab", (1, 8), (2, 7))
    server.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", "ab", "b")
    server.update((2, 7), (1, 7))
    assert server.state(tmp_path, size) == dicts("ab", (1, 7), (1, 8))


def test_a_key_added_to_rows_that_were_counted(size: int, tmp_path: Path) -> None:
    server = Server("ab", "")
    server.insert(1, 7)
    server.insert(1, 7)
    server.insert(1, 8)
    server.delete(1, 8)
    server.delete(1, 7)
    server.alter("ADD PRIMARY KEY (a)", "ab", "a")
    server.insert(2, 7)
    assert server.state(tmp_path, size) == dicts("ab", (1, 7), (2, 7))


def test_key_columns_that_are_renamed_and_dropped(size: int, tmp_path: Path) -> None:
    server = Server("ab", "a")
    server.insert(1, 2)
    server.insert(2, 1)
    server.alter("RENAME COLUMN a TO b, RENAME COLUMN b TO a", "ba", "b")
    server.update((1, 2), (1, 3))
    assert server.state(tmp_path, size) == dicts("ab", (1, 2), (3, 1))
    server.alter("DROP PRIMARY KEY, DROP COLUMN b, ADD PRIMARY KEY (a)", "a", "a")
    server.delete(3)
    server.insert(4)
    assert server.state(tmp_path, size) == dicts("a", (1,), (4,))
    server.alter("RENAME COLUMN a TO b", "b", "b")
    assert server.state(tmp_path, size) == dicts("b", (1,), (4,))


def test_a_key_with_a_column_that_earlier_rows_lack(size: int, tmp_path: Path) -> None:
    server = Server("a", "a")
    server.insert(1)
    server.alter("ADD COLUMN b TINYINT NOT NULL, DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", "ab", "ab")
    assert server.state(tmp_path, size) == dicts("a", (1,))
    server.update((1, 0), (1, 1))
    assert "no value in its key" in str(server.state(tmp_path, size))


def test_tables_that_are_renamed_have_their_own_key(tmp_path: Path) -> None:
    server = Server("ab", "a")
    server.insert(1, 7)
    server.insert(2, 7)
    server.log.add(statement(b"RENAME TABLE s.t TO s.old, s.new TO s.t", server.layout))
    server.alter("", "ab", "b")
    server.insert(1, 8)
    server.insert(1, 9)
    fill(tmp_path / "lake", [server.log.write(tmp_path / "binlog.000001")], 1 << 20)
    keys = TableChanges(opened(tmp_path / "lake")).lineage.keys
    assert keys == {("s", "t"): ["b"], ("s", "old"): ["a"]}
    assert server.state(tmp_path, 1 << 20) == dicts("ab", (1, 8), (1, 9))
    old = table(opened(tmp_path / "lake"), "state/s.old").to_pylist()
    assert old == dicts("ab", (1, 7), (2, 7))
