"""The view `events`: the same rows as without Spark, for every way to name files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from tests.corpus_files import CORPUS, case, logs
from tests.extent import sample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

CASE = CORPUS / "mysql-9.7" / "rotate"


def load(spark: SparkSession, *paths: object, **options: object) -> DataFrame:
    reader = spark.read.format("binlog").options(**{name: str(value) for name, value in options.items()})
    return reader.load([str(path) for path in paths])


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    """The rows from Arrow, in log order."""
    found: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return sorted(found, key=lambda row: (row["file"], row["position"]))


def expected(*paths: object, **filters: Any) -> list[dict[str, Any]]:
    found = [row for path in paths for row in bk.read_events(str(path), **filters).read_all().to_pylist()]
    return sorted(found, key=lambda row: (row["file"], row["position"]))


def test_every_log_gives_the_rows_of_read_events(spark: SparkSession) -> None:
    paths = [log.path for log in sample(logs(), 6)]
    frame = load(spark, *paths)
    assert frame.rdd.getNumPartitions() == len(paths)
    assert rows(frame) == expected(*paths)


@pytest.mark.thorough
def test_columns_and_types(spark: SparkSession) -> None:
    assert [(field.name, field.dataType.simpleString()) for field in load(spark, CASE).schema] == [
        ("file", "string"),
        ("position", "bigint"),
        ("end_position", "bigint"),
        ("timestamp", "timestamp"),
        ("type", "string"),
        ("type_code", "int"),
        ("server_id", "bigint"),
        ("size", "bigint"),
        ("flags", "int"),
        ("checksum", "string"),
        ("gtid", "string"),
        ("info", "string"),
    ]


@pytest.mark.thorough
def test_headers_are_those_that_the_server_prints(spark: SparkSession) -> None:
    rotated = case("mysql-9.7", "rotate")
    frame = load(spark, CASE / "binlog.*").select("position", "type_code", "server_id", "size", "flags")
    oracle = [
        (event.position, event.type_code, event.server_id, event.size, event.flags)
        for log in rotated.logs
        for event in rotated.oracle(log)
    ]
    assert sorted(tuple(row) for row in frame.collect()) == sorted(oracle)


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", ["", "binlog.*", "binlog.00000[1-5]"])
def test_a_directory_and_a_glob(spark: SparkSession, pattern: str) -> None:
    frame = spark.read.format("binlog").load(str(CASE / pattern))
    assert rows(frame) == expected(*sorted(CASE.glob("binlog.*")))


@pytest.mark.thorough
def test_an_index_file(spark: SparkSession, tmp_path: Path) -> None:
    shutil.copy(CASE / "binlog.000002", tmp_path)
    (tmp_path / "binlog.index").write_text("./binlog.000002\n")
    frame = spark.read.format("binlog").load(str(tmp_path / "binlog.index"))
    assert frame.count() == len(expected(tmp_path / "binlog.000002"))


@pytest.mark.thorough
def test_a_path_as_uri(spark: SparkSession) -> None:
    frame = spark.read.format("binlog").load((CASE / "binlog.000001").as_uri())
    assert rows(frame) == expected(CASE / "binlog.000001")


def test_fewer_columns_by_a_schema(spark: SparkSession) -> None:
    reader = spark.read.format("binlog").schema("type string, position bigint")
    frame = reader.load(str(CASE / "binlog.000001"))
    assert frame.columns == ["type", "position"]
    assert [row.position for row in frame.orderBy("position").collect()] == [
        row["position"] for row in expected(CASE / "binlog.000001")
    ]


@pytest.mark.thorough
def test_a_table_in_sql(spark: SparkSession) -> None:
    load(spark, CASE).createOrReplaceTempView("events")
    counted = spark.sql("SELECT count(*) AS n FROM events WHERE type = 'FORMAT_DESCRIPTION_EVENT'").first()
    assert counted is not None
    assert counted.n == 5


@pytest.mark.thorough
def test_written_as_parquet_and_read_back(spark: SparkSession, tmp_path: Path) -> None:
    load(spark, CASE).write.parquet(str(tmp_path / "events"))
    assert rows(spark.read.parquet(str(tmp_path / "events"))) == expected(*CASE.glob("binlog.*"))
