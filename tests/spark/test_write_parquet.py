"""Parquet files of a table, written in the tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from binlog_kaitai.spark import write_parquet
from tests.corpus_files import case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = case("mysql-9.7", "types_metadata")
TABLE = "t.ints"


def written(path: Path, **partitioning: Any) -> list[dict[str, Any]]:
    rows = ds.dataset(path, **partitioning).to_table().to_pylist()
    return sorted(rows, key=lambda row: row["_sequence"])


@pytest.mark.spark
def test_the_rows_are_those_of_the_view(spark: SparkSession, tmp_path: Path) -> None:
    target = tmp_path / "out"
    expected = bk.read_changes(TYPES.logs, table=TABLE).read_all().to_pylist()
    count = write_parquet(spark, TYPES.logs, target, table=TABLE, splitSize=3000)
    assert count == len(expected)
    assert written(target) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    # Spark has the same rows of the files and of the logs.
    frame = spark.read.parquet(str(target))
    reader = spark.read.format("binlog").option("table", TABLE)
    logs = reader.load([str(path) for path in TYPES.logs])
    assert frame.columns == logs.columns
    assert frame.exceptAll(logs.select(*frame.columns)).isEmpty()
    with pytest.raises(bk.UsageError, match="not a new or empty folder"):
        write_parquet(spark, TYPES.logs, target, table=TABLE)


@pytest.mark.spark
@pytest.mark.thorough
def test_columns_and_partitions(spark: SparkSession, tmp_path: Path) -> None:
    target, columns = tmp_path / "out", ["id", "_sequence", "_change_type"]
    by = ["log_date", "id"]
    count = write_parquet(spark, TYPES.logs, target, table=TABLE, columns=columns, partition_by=by)
    found = written(target, partitioning="hive")
    expected = bk.read_changes(TYPES.logs, table=TABLE, columns=[*columns, "_commit_timestamp"]).read_all()
    assert count == expected.num_rows
    assert [(row["id"], row["_change_type"], str(row["log_date"])) for row in found] == [
        (row["id"], row["_change_type"], f"{row['_commit_timestamp']:%Y-%m-%d}")
        for row in expected.to_pylist()
    ]
    names = ds.dataset(next(target.rglob("*.parquet"))).schema.names
    assert names == ["_sequence", "_change_type"]


@pytest.mark.spark
def test_nothing_is_left_of_a_job_that_failed(spark: SparkSession, tmp_path: Path) -> None:
    data = bytearray(TYPES.logs[0].read_bytes())
    data[len(data) // 2] ^= 1
    log = tmp_path / "binlog.000001"
    log.write_bytes(data)
    with pytest.raises(PySparkException, match=r"does not match|checksum"):
        write_parquet(spark, log, tmp_path / "out", table=TABLE)
    assert [path.name for path in tmp_path.iterdir()] == [log.name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "PERMISSIVE"}, "no mode PERMISSIVE"),
        ({"view": "changes"}, "leave out the option view"),
        ({"partition_by": "_change_type"}, "readers skip folders"),
        ({"splitsize": "x"}, "not a valid size"),
    ],
)
def test_what_it_refuses(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(bk.UsageError, match=message):
        write_parquet(None, TYPES.logs, tmp_path / "out", table=TABLE, **options)  # type: ignore[arg-type]
    with pytest.raises(bk.UsageError, match="is a URL"):
        write_parquet(None, TYPES.logs, "s3://lake/out", table=TABLE)  # type: ignore[arg-type]
