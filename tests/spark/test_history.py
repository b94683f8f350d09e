"""Effects of statements on a table: `latest` handles them like the state of a lake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.spark.reader_options import ReadOptions
from binlog_kaitai.spark.state import latest, lineage_of
from tests.corpus_files import case
from tests.extent import sample
from tests.lake.lakes import fill, opened
from tests.lake.test_truth import changes_of, content

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")

TABLES = {
    "mysql-9.7/ddl": ("t.a", "t.c", "t.p"),
    "mysql-9.7/mixed": ("t.my", "t.s"),
    "mysql-9.7/json_partial": ("t.jminimal",),
    "mysql-9.7/payloads": ("t.a",),
    "mariadb-11.8/system_versions": ("t.a", "t.b"),
    "mariadb-11.8/xa": ("t.a",),
}

#: Tables whose changes do not say what they contain, and why.
REFUSED = [
    ("mysql-9.7/mixed", "t.s", "logged as text"),
    ("mariadb-11.8/system_versions", "t.b", "SYSTEM VERSIONING"),
    ("mysql-9.7/json_partial", "t.jminimal", "JSON documents"),
    ("mysql-9.7/ddl", "t.c", "renamed"),
]


def logs_of(name: str) -> list[str]:
    return [str(path) for path in case(*name.split("/")).logs]


def load(spark: SparkSession, name: str, table: str, **options: str) -> DataFrame:
    reader = spark.read.format("binlog").options(table=table, zeroDates="text", **options)
    return reader.load(logs_of(name))


@pytest.mark.parametrize("name", sample(list(TABLES), 3))
def test_logs_say_what_a_lake_does(name: str, tmp_path: Path) -> None:
    fill(tmp_path, logs_of(name), 1 << 30, views=["changes"])
    expected = TableChanges(opened(tmp_path)).lineage
    for table in TABLES[name]:
        given = {"paths": json.dumps(logs_of(name)), "table": table, "absentColumns": "true"}
        found = lineage_of(ReadOptions.parse(given))
        schema, _, plain = table.partition(".")
        key = schema, plain
        if key in expected.removed:  # which `latest` does not follow
            follows = "the changes in a lake of binlog-kaitai pipeline follow such statements"
            assert found.unclear[key] == f"a statement moved rows of whole partitions; {follows}"
        else:
            assert found.unclear.get(key) == expected.unclear.get(key)
        offsets = [
            [(one.table, one.after and one.after.position, one.before and one.before.position) for one in own]
            for own in (found.segments(key), expected.segments(key))
        ]
        assert offsets[0] == offsets[1]
        undone = [[(a.position, b.position) for a, b in own.undone] for own in (found, expected)]
        assert undone[0] == undone[1]


@pytest.mark.thorough
@pytest.mark.spark
def test_latest_refuses_what_the_state_of_a_lake_refuses(spark: SparkSession) -> None:
    for name, table, reason in REFUSED:
        with pytest.raises(UsageError, match=f"{table}: .*{reason}"):
            latest(load(spark, name, table, absentColumns="true").where("_position > 0"))


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "table", "count"),
    [("mysql-9.7/ddl", "t.a", 0), ("mysql-9.7/ddl", "t.hp", 3), ("mariadb-11.8/xa", "t.a", 4)],
)
def test_latest_takes_in_statements_and_what_was_rolled_back(
    spark: SparkSession, name: str, table: str, count: int, tmp_path: Path
) -> None:
    fill(tmp_path, logs_of(name), 1 << 30, views=["changes"], zero_dates="text")
    tables = TableChanges(opened(tmp_path))
    schema, _, plain = table.partition(".")
    keys = tables.lineage.keys[schema, plain]
    expected = content(changes_of(tables, (schema, plain)), keys)
    found = [row.asDict() for row in latest(load(spark, name, table), keys).collect()]
    own = sorted({name for row in found for name in row} & {name for row in expected for name in row})
    assert len(found) == count
    assert sorted(str([row[name] for name in own]) for row in found) == sorted(
        str([row[name] for name in own]) for row in expected
    )
