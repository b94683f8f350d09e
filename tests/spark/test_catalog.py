"""Tables and views of Spark's catalog over logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from tests.corpus_files import CORPUS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LOG = CORPUS / "mysql-9.7/mixed/binlog.000001"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that a test may lose."""
    return Path(shutil.copy(LOG, tmp_path))


@pytest.fixture(autouse=True)
def _no_tables_left(spark: SparkSession) -> Iterator[None]:
    yield
    for table in spark.catalog.listTables():
        spark.sql(f"DROP {'VIEW' if table.tableType in ('VIEW', 'TEMPORARY') else 'TABLE'} {table.name}")


def changes() -> int:
    return bk.read_changes(LOG, table="t.s").read_all().num_rows


def test_a_table_keeps_its_options(spark: SparkSession, log: Path) -> None:
    spark.sql(f"CREATE TABLE s USING binlog OPTIONS (path '{log}', table 't.s', splitSize '8k')")
    frame = spark.read.format("binlog").option("table", "t.s").load(str(log))
    assert spark.table("s").columns == frame.columns
    assert sorted(spark.sql("SELECT * FROM s").collect()) == sorted(frame.collect())
    assert spark.table("s").rdd.getNumPartitions() > 4
    assert spark.sql("SELECT * FROM s WITH (splitSize = '1g')").rdd.getNumPartitions() == 1
    assert spark.catalog.tableExists("s")


@pytest.mark.thorough
def test_views_over_a_table(spark: SparkSession, log: Path) -> None:
    spark.sql(f"CREATE TABLE s USING binlog OPTIONS (path '{log}', table 't.s')")
    spark.sql("CREATE VIEW per_kind AS SELECT _change_type, count(*) AS n FROM s GROUP BY 1")
    assert sum(row.n for row in spark.table("per_kind").collect()) == changes()


@pytest.mark.thorough
def test_a_temporary_view(spark: SparkSession, log: Path) -> None:
    spark.sql(f"CREATE TEMPORARY VIEW s USING binlog OPTIONS (path '{log}', table 't.s')")
    assert spark.table("s").count() == changes()


@pytest.mark.thorough
def test_location_comment_and_properties(spark: SparkSession, log: Path) -> None:
    spark.sql(
        f"CREATE TABLE e USING binlog COMMENT 'all events' LOCATION '{log.parent}/binlog.0*' "
        "TBLPROPERTIES ('table' = 'not an option', 'team' = 'data')"
    )
    assert spark.table("e").count() == bk.read_events(LOG).read_all().num_rows


@pytest.mark.thorough
def test_several_paths(spark: SparkSession, log: Path) -> None:
    spark.sql(f"""CREATE TABLE e USING binlog OPTIONS (paths '["{log}"]', view 'transactions')""")
    assert spark.table("e").count() == bk.read_transactions(LOG).read_all().num_rows


@pytest.mark.thorough
def test_a_table_as_a_stream(spark: SparkSession, log: Path) -> None:
    spark.sql(f"CREATE TABLE s USING binlog OPTIONS (path '{log}', table 't.s')")
    stream = spark.readStream.table("s").writeStream.format("memory").queryName("streamed")
    stream.trigger(availableNow=True).start().awaitTermination()
    assert spark.table("streamed").count() == changes()


@pytest.mark.thorough
def test_dropping_a_table_leaves_the_logs(spark: SparkSession, log: Path) -> None:
    spark.sql(f"CREATE TABLE s USING binlog OPTIONS (path '{log}', table 't.s')")
    spark.sql("DROP TABLE s")
    assert log.read_bytes() == LOG.read_bytes()


@pytest.mark.thorough
def test_a_misspelt_option_of_a_table(spark: SparkSession, log: Path) -> None:
    with pytest.raises(
        PySparkException, match=r"unknown option startpostion \(did you mean startPosition\?\)"
    ):
        spark.sql(f"CREATE TABLE s USING binlog OPTIONS (path '{log}', startPostion '4')")


@pytest.mark.thorough
def test_a_table_with_a_list_of_columns_says_why_it_cannot_be_read(spark: SparkSession, log: Path) -> None:
    spark.sql(f"CREATE TABLE s (id INT) USING binlog OPTIONS (path '{log}', table 't.s')")
    with pytest.raises(PySparkException, match="list of columns"):
        spark.table("s").collect()


def test_what_cannot_be_done(spark: SparkSession, log: Path) -> None:
    with pytest.raises(PySparkException, match="UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"):
        spark.sql(f"SELECT * FROM binlog.`{log}`")
    spark.sql(f"CREATE TABLE s USING binlog OPTIONS (path '{log}', table 't.s')")
    with pytest.raises(PySparkException, match="can be read only"):
        spark.sql("INSERT INTO s SELECT * FROM s")
