"""Columns of a lake that come, go, change their type or their name."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from binlog_kaitai.lake.batches import Lake, Piece
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.rules import NO_RULES
from binlog_kaitai.lake.types import merge_columns, stored_type, type_in_lake
from tests.extent import sample
from tests.lake.lakes import fill, opened, table
from tests.lake.table_log import TableLog

DAY = pa.scalar(1_790_000_000_000_000, pa.timestamp("us", tz="UTC"))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.int8(), pa.int64()),
        (pa.uint32(), pa.int64()),
        (pa.uint64(), pa.decimal128(20, 0)),
        (pa.decimal128(10, 2), pa.decimal128(18, 2)),
        (pa.decimal128(19, 0), pa.decimal128(38, 0)),
        (pa.decimal256(65, 30), pa.string()),
        (pa.duration("us"), pa.int64()),
        (pa.float32(), pa.float32()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string()),
        (pa.timestamp("us"), pa.timestamp("us")),
        (pa.list_(pa.float32()), pa.list_(pa.float32())),
    ],
)
def test_types_are_wide_enough_for_common_alters(kind: pa.DataType, expected: pa.DataType) -> None:
    assert type_in_lake(kind) == expected
    assert stored_type(expected) == expected


def test_a_column_of_another_type_goes_on_under_another_name() -> None:
    known = {"id": pa.int64(), "A": pa.int64()}
    schema = pa.schema([("ID", pa.int64()), ("a", pa.string()), ("b", pa.string())])
    assert merge_columns(known, schema) == {"ID": "id", "a": "a_", "b": "b"}
    assert known == {"id": pa.int64(), "A": pa.int64(), "a_": pa.string(), "b": pa.string()}
    # A column that has this name on the server keeps it.
    schema = pa.schema([("a", pa.string()), ("a_", pa.int64())])
    assert merge_columns(known, schema) == {"a": "a__", "a_": "a___"}


def commit(lake: Lake, *contents: dict[str, Any]) -> None:
    """A batch with a piece for each of the contents of `changes/s.t`."""
    assert lake.plan is not None
    lake.begin(lake.plan.next({}, {"file": str(lake.plan.batch)}))
    pieces = []
    for columns in contents:
        files = TableFiles(lake.storage, lake.plan.format, columns=lake.columns)
        count = len(next(iter(columns.values())))
        times = {"_commit_timestamp": pa.array([DAY.as_py()] * count, DAY.type)}
        files.write("changes/s.t", pa.record_batch({**times, **columns}))
        files.close()
        pieces.append(Piece("binlog.000001", 4, 5, files=files.files))
    lake.commit(pieces)


@pytest.mark.parametrize("kind", ["delta", pytest.param("iceberg", marks=pytest.mark.iceberg)])
def test_tables_get_columns_and_other_types(kind: str, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path), kind)
    lake.open(NO_RULES)
    absent = pa.array([["a", "d"]])
    commit(lake, {"a": pa.array([1], pa.int32()), "d": pa.array([Decimal("1.5")])})
    commit(lake, {"a": pa.array([1 << 40]), "d": pa.array([Decimal("1000.5")]), "new": pa.array(["x"])})
    commit(lake, {"a": pa.array(["x"]), "d": pa.array([Decimal("1.25")]), "_absent": absent})
    # Two pieces of the same batch, neither of which knows what the other one has.
    commit(lake, {"A": pa.array([2])}, {"a": pa.array(["y"]), "time": pa.array([3], pa.timestamp("us"))})
    commit(lake, {"a": pa.array(["z"])})
    assert lake.columns["changes/s.t"]["a_"] == pa.string()
    found = table(opened(tmp_path, kind), "changes/s.t").drop_columns("_commit_timestamp").to_pylist()
    reported = [{name: value for name, value in row.items() if value is not None} for row in found]
    expected = [
        {"a": 1, "d": Decimal("1.5")},
        {"a": 1 << 40, "d": Decimal("1000.5"), "new": "x"},
        {"a_": "x", "d_": Decimal("1.25"), "_absent": ["a_", "d_"]},
        {"a": 2},
        {"a_": "y", "time": pa.scalar(3, pa.timestamp("us")).as_py()},
        {"a_": "z"},
    ]
    assert sorted(reported, key=repr) == sorted(expected, key=repr)


@pytest.mark.iceberg
def test_types_that_iceberg_widens(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path), "iceberg")
    lake.open(NO_RULES)
    few, many = pa.decimal128(10, 2), pa.decimal128(30, 2)
    commit(lake, {"f": pa.array([0.5], pa.float32()), "d": pa.array([Decimal("1.25")], few)})
    wide = {"f": pa.array([0.1]), "d": pa.array([Decimal("1e20")], many)}
    narrow = {"f": pa.array([0.25], pa.float32()), "d": pa.array([Decimal("-2.5")], few)}
    commit(lake, narrow, wide)
    commit(lake, narrow)
    commit(lake, {"d": pa.array([Decimal("1.125")])})
    found = table(opened(tmp_path, "iceberg"), "changes/s.t").drop_columns("_commit_timestamp")
    assert found.schema == pa.schema(
        [("f", pa.float64()), ("d", pa.decimal128(38, 2)), ("d_", pa.decimal128(18, 3))]
    )
    values = sorted((row["f"] or 9, row["d"] or row["d_"]) for row in found.to_pylist())
    twice = (0.25, Decimal("-2.5"))
    assert values == [(0.1, Decimal("1e20")), twice, twice, (0.5, Decimal("1.25")), (9, Decimal("1.125"))]


@pytest.mark.parametrize("size", sample([250, 30000], 2))
def test_renamed_columns_are_one(size: int, tmp_path: Path) -> None:
    log = TableLog(["id", "x", "y"], ["id"])
    log.insert(1, 10, 11)
    log.alter("RENAME COLUMN x TO y, RENAME COLUMN y TO x", ["id", "y", "x"], ["id"])
    log.insert(2, 20, 21)
    log.alter("CHANGE id `key` TINYINT, RENAME COLUMN x TO z", ["key", "y", "z"], ["key"])
    log.insert(3, 30, 31)
    log.alter("DROP COLUMN y", ["key", "z"], ["key"])
    log.alter("RENAME COLUMN z TO y", ["key", "y"], ["key"])
    log.insert(4, 41)
    fill(tmp_path / "lake", [log.write(tmp_path)], size)
    tables = TableChanges(opened(tmp_path / "lake"))
    assert tables.lineage.tables() == [("s", "t")]
    assert tables.lineage.keys == {("s", "t"): ["key"]}
    found = {row["key"]: row for row in tables.changes(("s", "t")).read_all().to_pylist()}
    # `y_` was dropped; another column has its name now.
    assert {key: (row["y"], row["y_"]) for key, row in found.items()} == {
        1: (11, 10),
        2: (21, 20),
        3: (31, 30),
        4: (41, None),
    }
    # The name of the table on the server changes, too.
    names = opened(tmp_path / "lake").storage.names("changes")
    assert names == ["s.t"]
