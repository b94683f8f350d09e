"""Modes: damage ends the job, is kept as a row, or is dropped and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from binlog_kaitai.rows.change_schemas import CHANGES_SCHEMA
from binlog_kaitai.spark.batch import rows_of
from binlog_kaitai.spark.reader_options import ReadOptions
from binlog_kaitai.views.splits import plan
from tests.corpus_files import case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

LOG = case("mysql-9.7", "types_metadata").logs[0]


@pytest.fixture
def hit(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A log with one bit of a rows event flipped, and a row of that event."""
    changes = bk.read_changes(str(LOG)).read_all().to_pylist()
    row = changes[len(changes) // 2]
    data = bytearray(LOG.read_bytes())
    data[row["_position"] + 30] ^= 4
    path = tmp_path / LOG.name
    path.write_bytes(data)
    return path, row


def load(spark: SparkSession, path: Path, mode: str, **options: str) -> DataFrame:
    reader = spark.read.format("binlog").option("view", "changes").option("mode", mode)
    return reader.option("splitSize", "64k").options(**options).load(str(path))


def rest(path: Path, row: dict[str, Any]) -> list[int]:
    changes = bk.read_changes(str(LOG)).read_all().to_pylist()
    return sorted(change["_position"] for change in changes if change["_position"] != row["_position"])


def test_failfast_names_file_and_position(spark: SparkSession, hit: Any) -> None:
    path, row = hit
    with pytest.raises(PySparkException, match=f"{path}, position {row['_position']}"):
        load(spark, path, "FAILFAST").collect()


def test_permissive_keeps_the_range_and_all_other_rows(spark: SparkSession, hit: Any) -> None:
    path, row = hit
    rows = load(spark, path, "PERMISSIVE").collect()
    (damaged,) = [row for row in rows if row._corrupt_record is not None]
    record = json.loads(damaged._corrupt_record)
    assert record["file"] == damaged._file == str(path)
    assert record["from"] == damaged._position == row["_position"]
    assert record["to"] > record["from"]
    assert "checksum" in record["reason"]
    assert sorted(row._position for row in rows if row is not damaged) == rest(path, row)


@pytest.mark.thorough
def test_dropmalformed_drops_it(spark: SparkSession, hit: Any) -> None:
    path, row = hit
    rows = load(spark, path, "DROPMALFORMED").collect()
    assert sorted(row._position for row in rows) == rest(path, row)


def test_dropmalformed_counts_what_it_drops(hit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """On the stderr of the worker that has the split."""
    path, row = hit
    options = ReadOptions.parse({"path": str(path), "view": "changes", "mode": "DROPMALFORMED"})
    (split,) = plan(str(path), 0)
    rows = [row for batch in rows_of(split, options, CHANGES_SCHEMA) for row in batch.to_pylist()]
    assert sorted(row["_position"] for row in rows) == rest(path, row)
    reported = capsys.readouterr().err
    size = bk.read_events(LOG).read_all().to_pylist()
    (lost,) = [one["size"] for one in size if one["position"] == row["_position"]]
    place = f"at {row['_position']} (checksum mismatch)"
    assert reported == f"binlog-kaitai: {path}: dropped 1 damaged ranges, {lost} bytes, {place}\n"


@pytest.mark.thorough
def test_the_column_can_be_called_otherwise(spark: SparkSession, hit: Any) -> None:
    path, _ = hit
    frame = load(spark, path, "PERMISSIVE", columnNameOfCorruptRecord="damage")
    assert frame.where("damage IS NOT NULL").count() == 1
