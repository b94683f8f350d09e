"""Filters of queries: the same rows as without, and less to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import datasource as ds
from pyspark.sql.types import StructType

from binlog_kaitai.spark.batch import PushingReader
from binlog_kaitai.spark.options import ReadOptions
from binlog_kaitai.spark.source import view_schema
from tests.corpus_files import CORPUS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = CORPUS / "mysql-9.7" / "rotate"
LAST = str(FOLDER / "binlog.000005")


def reader(view: str, **options: str) -> PushingReader:
    read = ReadOptions.parse({"path": str(FOLDER), "view": view, **options})
    schema: StructType = view_schema(read)
    return PushingReader(read, schema)


def test_files_and_splits_that_cannot_have_rows_are_not_read() -> None:
    one = reader("events", splitSize="300")
    everything = len(one.partitions())
    left = list(one.pushFilters([ds.EqualTo(("file",), LAST), ds.LessThan(("position",), 400)]))
    splits: list[Any] = list(one.partitions())
    assert not left
    assert {partition.split.file.path for partition in splits} == {LAST}
    assert len(splits) == 2 < everything


def test_what_is_not_understood_is_left_to_spark() -> None:
    filters = [ds.StringContains(("info",), "x"), ds.IsNotNull(("gtid",)), ds.EqualTo(("type",), "XID_EVENT")]
    assert list(reader("events").pushFilters(filters)) == filters[:2]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("view", "condition"),
    [
        ("events", "type = 'XID_EVENT'"),
        ("events", "type IN ('XID_EVENT', 'NO_EVENT') AND position > 300"),
        ("events", "timestamp > timestamp'2001-01-01 00:00:00' AND server_id = 97"),
        ("events", "gtid <> 'nothing'"),
        ("transactions", "kind = 'commit' AND position < 900"),
        ("changes", "schema = 't' AND `table` = 'a' AND change = 'insert'"),
        ("changes", "change IN ('delete', 'update')"),
        ("changes", "_position >= 500 AND _row = 0"),
    ],
)
def test_pushed_filters_take_the_rows_that_spark_would(
    spark: SparkSession, view: str, condition: str
) -> None:
    reader = spark.read.format("binlog").option("view", view).option("splitSize", "1k")
    frame = reader.option("pushFilters", "true").load(str(FOLDER))
    place = "_position" if view == "changes" else "position"
    # Behind a cache Spark has to filter by itself.
    expected = frame.cache().where(condition).count()
    frame.unpersist()
    assert frame.where(condition).count() == expected
    assert place in frame.columns


@pytest.mark.spark
def test_a_gtid_takes_one_transaction(spark: SparkSession) -> None:
    frame = spark.read.format("binlog").load(str(FOLDER))
    gtid = frame.where("type = 'XID_EVENT'").first()
    assert gtid is not None
    types = [row.type for row in frame.where(f"gtid = '{gtid.gtid}'").orderBy("position").collect()]
    assert types[0] == "GTID_LOG_EVENT"
    assert types[-1] == "XID_EVENT"


@pytest.mark.spark
def test_queries_of_one_frame_do_not_depend_on_each_other(spark: SparkSession) -> None:
    frame = spark.read.format("binlog").load(str(FOLDER))
    commits = frame.where("type = 'XID_EVENT'")
    count = commits.count()
    assert frame.count() == frame.where("length(type) > 0").count() > count
    assert frame.unionAll(commits).count() == frame.count() + count


@pytest.mark.spark
def test_explain_shows_what_was_pushed(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    frame = spark.read.format("binlog").option("pushFilters", "true").load(str(FOLDER))
    frame.where("type = 'XID_EVENT' AND position > 300 AND info LIKE '%x'").explain("formatted")
    shown = capsys.readouterr().out
    assert "PushedFilters: [EqualTo(type,XID_EVENT), GreaterThan(position,300)]" in shown
