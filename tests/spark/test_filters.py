"""Filters as options select the same as the filters of `read_events`."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.reader_options import FILTERS, ReadOptions
from tests.corpus_files import CORPUS
from tests.extent import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = CORPUS / "mysql-9.7" / "rotate"
LOGS = sorted(FOLDER.glob("binlog.*"))


def expected(**filters: Any) -> list[tuple[str, int]]:
    table = bk.read_events([str(path) for path in LOGS], **filters).read_all()
    return list(zip(table["file"].to_pylist(), table["position"].to_pylist(), strict=True))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "filters"),
    sample(
        [
            ({"eventType": "query, XID_EVENT"}, {"event_type": ["query", "xid"]}),
            ({"serverId": "1,2"}, {"server_id": [1, 2]}),
            ({"startPosition": "200", "stopPosition": "400"}, {"start_position": 200, "stop_position": 400}),
            ({"stopDatetime": "2001-01-01 00:00:00"}, {"stop_datetime": "2001-01-01 00:00:00"}),
            ({"startDatetime": "2001-01-01T00:00:00Z"}, {"start_datetime": "2001-01-01T00:00:00Z"}),
        ],
        1,
    ),
)
def test_options_filter_like_read_events(
    spark: SparkSession, options: dict[str, str], filters: dict[str, Any]
) -> None:
    rows = spark.read.format("binlog").options(**options).load(str(FOLDER)).collect()
    assert sorted((row.file, row.position) for row in rows) == sorted(expected(**filters))


@pytest.mark.thorough
@pytest.mark.spark
def test_a_table_is_a_filter_where_a_view_is_chosen(spark: SparkSession) -> None:
    reader = spark.read.format("binlog").option("table", "t.a, t.b")
    for view, read in (("changes", bk.read_changes), ("transactions", bk.read_transactions)):
        found = reader.option("view", view).load(str(FOLDER)).count()
        expected = read([str(path) for path in LOGS]).read_all()
        if view == "transactions":
            rows = expected.to_pylist()  # all definitions in these logs are of t and t.a
            assert found == sum("t.a" in row["tables"] or row["kind"] == "ddl" for row in rows)
        else:
            assert found == expected.num_rows


@pytest.mark.spark
def test_tables_are_chosen_by_patterns(spark: SparkSession) -> None:
    reader = spark.read.format("binlog").option("view", "changes")
    for text in ("t.*, !t.b", r'["/t\\.[ac]/"]', "!t.b"):
        rows = reader.option("tables", text).load(str(FOLDER)).select("table").distinct().collect()
        assert [row.table for row in rows] == ["a"], text


def test_what_tables_may_be() -> None:
    for text in ('["a.b", 1]', "[", "orders", "/(/"):
        with pytest.raises(UsageError):
            ReadOptions.parse({"path": "x", "tables": text})
    with pytest.raises(UsageError, match="either table or tables"):
        ReadOptions.parse({"path": "x", "tables": "a.b", "table": "a.b"})
    with pytest.raises(UsageError, match="several tables have no common schema"):
        ReadOptions.parse({"path": "x", "table": "a.*"})
    assert ReadOptions.parse({"path": "x", "tables": "a.b"}).table is None


def test_there_is_an_option_for_every_filter() -> None:
    assert {python for python, _ in FILTERS.values()} == set(signature(Filters.of).parameters)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("startPosition", "four"),
        ("startPosition", "\u0661"),
        ("stopPosition", "1" * 5000),
        ("splitSize", "\u0661m"),
        ("startingOffsets", '{"file": "a", "position": "\u0661"}'),
        ("startingOffsets", '{"file": "a", "position": 1e999}'),
        ("serverId", "\u00b9"),
        ("startDatetime", "yesterday noon"),
        ("includeGtids", "1-2-3-4"),
        ("table", "orders"),
        ("eventType", "nothing"),
        ("serverId", "a"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_the_driver(option: str, text: str) -> None:
    with pytest.raises(UsageError):
        ReadOptions.parse({"path": "x", option: text})


def test_option_names_come_in_any_case() -> None:
    options = ReadOptions.parse({"PATH": "file:/logs/a%20b", "startposition": "4", "Mode": "failfast"})
    assert options.paths == ("/logs/a b",)
    assert options.filters == {"start_position": 4}
    assert options.mode == "FAILFAST"
