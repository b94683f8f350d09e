"""Spark's own Delta reads the tables of a pipeline, which deltalake has written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import binlog_kaitai as bk
from tests.lake.lakes import fill
from tests.lakes.recipes import WORKLOAD, of_lake, of_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes


def test_spark_reads_the_tables_of_a_lake(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path, [WORKLOAD], 9_000, keeps_state=True)
    events = spark.read.format("delta").load(str(tmp_path / "events"))
    expected = bk.read_events(WORKLOAD).read_all()
    assert events.count() == expected.num_rows
    (day,) = {str(one)[:10] for one in expected["timestamp"].to_pylist()[:1]}
    assert events.where(f"log_date = '{day}'").count() == sum(
        str(time)[:10] == day for time in expected["timestamp"].to_pylist()
    )
    changes = spark.read.format("delta").load(str(tmp_path / "changes" / "t.orders"))
    assert changes.count() == bk.read_changes(WORKLOAD, table="t.orders").read_all().num_rows
    state = spark.read.format("delta").load(str(tmp_path / "state" / "t.orders"))
    columns = ["id", "customer"]
    assert of_lake(state.select(*columns), "orders", columns=columns) == of_server("orders", columns=columns)
