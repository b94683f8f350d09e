"""The view `ddl` in Spark."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from tests.corpus_files import CORPUS, case
from tests.extent import sample
from tests.spark.test_stream import stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = case("mysql-9.7", "ddl")


def rows(table: Any) -> list[Any]:
    return sorted(table.to_pylist(), key=lambda row: row["_sequence"] or "")


@pytest.mark.spark
@pytest.mark.parametrize("mode", sample(["FAILFAST", "PERMISSIVE"], 1))
def test_statements_of_a_batch(spark: SparkSession, mode: str) -> None:
    reader = spark.read.format("binlog").options(view="ddl", splitSize=2000, mode=mode)
    found = reader.load([str(path) for path in DDL.logs]).toArrow()
    expected = bk.read_ddl(DDL.logs).read_all()
    if mode == "PERMISSIVE":
        found = found.drop_columns("_corrupt_record")
    assert found.column_names == expected.column_names
    assert rows(found) == rows(expected)


@pytest.mark.spark
def test_statements_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    source = CORPUS / "mysql-9.7" / "ddl"
    logs = tmp_path / "logs"
    shutil.copytree(source, logs, ignore=shutil.ignore_patterns("[!b]*"))
    found = stream(spark, logs, tmp_path / "checkpoint", view="ddl", maxBytesPerTrigger=8000, splitSize=2000)
    assert len(found) > 1
    expected = bk.read_ddl(str(logs / "binlog.0*")).read_all()
    assert rows(pa.concat_tables(found)) == rows(expected)


@pytest.mark.spark
def test_renames_are_found_by_sql(spark: SparkSession) -> None:
    frame = spark.read.format("binlog").options(view="ddl", table="t.b").load(str(DDL.logs[0]))
    collected = (
        frame.where("table IS NOT NULL")
        .selectExpr("kind", "table", "new_table", "size(columns_after) AS columns")
        .collect()
    )
    assert [tuple(row) for row in collected] == [("alter_table", "a", "b", 3), ("rename_table", "b", "c", 3)]
