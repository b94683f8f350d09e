"""State tables in Iceberg: merges by PyIceberg replace the files that have one of the keys, and no others.

Needs PyIceberg
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake import iceberg_rows
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.iceberg import IcebergTable, IcebergTables
from binlog_kaitai.lake.storage import ConflictError, Storage
from binlog_kaitai.lake.upkeep import compact
from tests.lake.lakes import fill
from tests.lake.table_log import TableLog

pytestmark = pytest.mark.iceberg

#: Types of keys with the value for a number; limits of texts in a table's metadata are cut off.
KEYS: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "int": (pa.int64(), lambda number: number * 10**15 - 3),
    "unsigned": (pa.decimal128(20, 0), lambda number: Decimal(2**64 - 1 - number)),
    "decimal": (pa.decimal128(38, 10), lambda number: Decimal(number - 20) / 10**10),
    "text": (pa.string(), lambda number: "a" * 16 + chr(0x10FFF0 + number % 8) + str(number)),
    "binary": (pa.binary(), lambda number: b"\xff" * 17 + bytes([number])),
    "date": (pa.date32(), lambda number: date(1960, 1, 1) + timedelta(300 * number)),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        lambda number: datetime(1960, 1, 1, tzinfo=UTC) + timedelta(days=300 * number, microseconds=number),
    ),
    "double": (pa.float64(), lambda number: (number - 20) / 3),
}

THERE = "there "


def tables(folder: Path, source: str = "") -> IcebergTables:
    return IcebergTables(Storage(str(folder)), "application", source)


def opened(lake: IcebergTables) -> IcebergTable:
    table = lake.open("state/s.t")
    assert table is not None
    return table


def rows_of(table: IcebergTable) -> list[dict[str, Any]]:
    return [row for batch in table.batches() for row in batch.to_pylist()]


def values(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.values())


def begin(lake: IcebergTables, rows: pa.Table, batch: int = 0, source: str = "") -> None:
    table = lake.open("state/s.t")
    lake.replace("state/s.t", table, rows.to_reader(), batch, {"position": batch}, source=source)


def files_of(table: IcebergTable) -> set[str]:
    return {task.file.file_path for task in table.handle.scan().plan_files()}


@pytest.mark.parametrize("kind", [*KEYS, "two"])
@pytest.mark.parametrize("joins", [False, True])
def test_merges_are_those_of_a_dictionary(
    joins: bool, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iceberg_rows, "_FILE_BYTES", 200)
    monkeypatch.setattr(iceberg_rows, "_MAX_SMALL", 3 if joins else 1000)
    types, value = KEYS["int" if kind == "two" else kind]
    fields = [pa.field("k", types), *([pa.field("l", pa.string())] if kind == "two" else [])]
    own, choose = pa.schema([*fields, pa.field("v", pa.int64())]), random.Random(kind)

    def row(number: int, v: int) -> dict[str, Any]:
        if kind == "two":
            return {"k": value(number // 8), "l": str(number % 8), "v": v}
        return {"k": value(number), "v": v}

    known = {number: row(number, 0) for number in range(40)}
    lake = tables(tmp_path)
    begin(lake, pa.Table.from_pylist([*known.values()], own))
    for batch in range(1, 7):
        first = choose.randrange(40)
        images = []
        for number in choose.sample(range(first, first + 12), 6):
            images.append({**row(number, batch), THERE: choose.random() < 0.6})
            known.pop(number, None)
            if images[-1][THERE]:
                known[number] = row(number, batch)
        changed = pa.Table.from_pylist(images, own.append(pa.field(THERE, pa.bool_())))
        keys = [field.name for field in fields]
        opened(lake).merge(own, keys, changed, THERE, batch, {"position": batch * 10})
        table = opened(lake)
        assert sorted(map(values, rows_of(table))) == sorted(map(values, known.values()))
        assert (table.batch, table.number("position")) == (batch, batch * 10)
        assert not joins or len(files_of(table)) < 12


def test_a_merge_leaves_files_without_its_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads the keys of a file whose limits have one of its keys; the file stays if it has none."""
    monkeypatch.setattr(iceberg_rows, "_FILE_BYTES", 1000)
    monkeypatch.setattr(iceberg_rows, "_SMALL", 0)
    lake = tables(tmp_path)
    numbers = pa.table({"k": range(0, 2000, 2), "v": ["a"] * 1000})
    lake.replace(
        "state/s.t", None, pa.RecordBatchReader.from_batches(numbers.schema, numbers.to_batches(100)), 0, {}
    )
    before = files_of(opened(lake))
    assert len(before) == 10
    read: list[str] = []
    real = iceberg_rows.read

    def noted(scan: Any, tasks: Any, columns: pa.Schema) -> Any:
        tasks = list(tasks)
        read.extend(f"{task.file.file_path} {columns.names}" for task in tasks)
        return real(scan, tasks, columns)

    monkeypatch.setattr(iceberg_rows, "read", noted)
    changed = pa.table({"k": [201, 401, 600, 2001], "v": ["b"] * 4, THERE: [True] * 4})
    opened(lake).merge(numbers.schema, ["k"], changed, THERE, 1, {})
    assert len(read) == 4  # three for their keys, one of them whole
    after = files_of(opened(lake))
    assert len(before - after) == 1
    assert len(after - before) == 2  # the replaced one, and the new rows


def test_contents_with_other_columns(tmp_path: Path) -> None:
    """A column is dropped, one gets another type, and one is new."""
    lake = tables(tmp_path)
    begin(lake, pa.table({"k": [1], "gone": ["a"], "v": [7]}))
    begin(lake, pa.table({"k": [1, 2], "v": ["x", "y"], "a.b": [1.5, None]}), 1)
    table = opened(lake)
    assert table.columns == {"k": pa.int64(), "v": pa.string(), "a.b": pa.float64()}
    rows = [{"k": 1, "v": "x", "a.b": 1.5}, {"k": 2, "v": "y", "a.b": None}]
    assert sorted(rows_of(table), key=repr) == rows
    begin(lake, pa.table({"k": pa.array([], pa.int64())}), 2)
    assert (rows_of(opened(lake)), opened(lake).batch) == ([], 2)


def test_rows_of_other_sources_stay(tmp_path: Path) -> None:
    for source, rows in (("a", {"k": [1, 2]}), ("b", {"k": [1, 3], "v": [7, 8]})):
        begin(tables(tmp_path, source), pa.table(rows), source=source)
    changed = pa.table({"k": [1, 3], "v": [9, 9], THERE: [True, False]})
    own = changed.schema.remove(2)
    opened(tables(tmp_path, "b")).merge(own, ["k"], changed, THERE, 1, {"position": 5}, "b")
    begin(tables(tmp_path, "a"), pa.table({"k": [2]}), 4, "a")
    loaded = opened(tables(tmp_path, "a"))
    assert sorted(map(values, rows_of(loaded))) == [("a", 2, None), ("b", 1, 9)]
    assert (loaded.batch, opened(tables(tmp_path, "b")).number("position")) == (4, 5)


def test_of_two_commits_on_one_version_the_second_fails(tmp_path: Path) -> None:
    """PyIceberg would try again: rows would be there twice, and a later place would be set back."""
    lake, others = tables(tmp_path), tables(tmp_path)
    rows = pa.table({"k": [1], THERE: [True]})
    own = rows.schema.remove(1)
    begin(lake, pa.table({"k": [0]}))
    late = opened(others)
    opened(lake).merge(own, ["k"], rows, THERE, 2, {"position": 2})
    with pytest.raises(ConflictError, match=r"state/s\.t: Iceberg: "):
        late.merge(own, ["k"], rows, THERE, 1, {"position": 1})
    with pytest.raises(ConflictError):
        others.replace("state/s.t", late, own.empty_table().to_reader(), 1, {"position": 1})
    assert sorted(row["k"] for row in rows_of(opened(lake))) == [0, 1]
    assert opened(lake).number("position") == 2
    with pytest.raises(ConflictError):
        others.replace("state/s.t", None, rows.to_reader(), 1, {})


def test_files_of_a_batch_are_added_once_by_two_pipelines(tmp_path: Path) -> None:
    files = TableFiles(Storage(str(tmp_path)), "iceberg", has_dates=False)
    files.write("changes/s.t", pa.record_batch({"_sequence": ["1"]}))
    files.close()
    lake, columns = tables(tmp_path), files.files[0].columns
    lake.create("changes/s.t", columns, [], -1, has_dates=False)
    first, second = (lake.open("changes/s.t") for _ in range(2))
    assert first is not None
    assert second is not None
    first.append(columns, files.files, 0)
    with pytest.raises(ConflictError):
        second.append(columns, files.files, 0)
    assert len(rows_of(first)) == 1


def test_engines_maintain_iceberg_tables(tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    fill(tmp_path / "lake", [log.write(tmp_path)], format="iceberg")
    with pytest.raises(UsageError, match="its tables are Iceberg's, which engines maintain"):
        list(compact(str(tmp_path / "lake"), target_size=1))
