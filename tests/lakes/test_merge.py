"""MERGE into Delta and Iceberg: the tables have the rows of the server that wrote the logs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes.recipes import COLUMNS, RENAMED, WORKLOAD, Emptied, of_lake, of_server, recipe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes

FORMATS = {"delta": "orders_{}", "iceberg": "lake.t.orders_{}"}


@pytest.mark.parametrize("table_format", FORMATS)
def test_the_whole_table(spark: SparkSession, table_format: str) -> None:
    from pyspark.sql.functions import coalesce

    from binlog_kaitai.spark import latest

    table = FORMATS[table_format].format("whole")
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING {table_format}")
    # What the server does not have has to go, and what it has otherwise to change.
    spark.sql(f"INSERT INTO {table} (id, remark) VALUES (-1, 'gone'), (20, 'old')")
    names = {
        "orders USING": f"{table} AS orders USING",
        "shop.orders": "t.orders",
        "/mnt/logs/binlog.index": str(WORKLOAD),
        "latest(changes,": f"latest(changes{RENAMED},",
    }
    space = {"spark": spark, "latest": latest, "coalesce": coalesce}
    for _ in range(2):
        exec(recipe('latest(changes, ["id"])', names), space)
        assert of_lake(spark.table(table), "orders") == of_server("orders")


@pytest.mark.parametrize("table_format", FORMATS)
def test_what_is_new(spark: SparkSession, table_format: str, tmp_path: Path) -> None:
    """A stream that begins after the TRUNCATE, and is started again when there is another log."""
    from pyspark.sql.functions import coalesce

    table = FORMATS[table_format].format("new")
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING {table_format}")
    logs = tmp_path / "logs"
    logs.mkdir()
    emptied = Emptied.of_workload()
    given = f".options(**{emptied.options}).schema({emptied.schema!r})"
    names = {
        "MERGE INTO orders": f"MERGE INTO {table} AS orders",
        "shop.orders": "t.orders",
        ".load(": f"{given}.load(",
        '"/mnt/logs/binlog.index")': f"{str(logs)!r}){RENAMED}",
        "/mnt/checkpoints/orders": str(tmp_path / "checkpoint"),
    }
    text = recipe("row_number()", names)
    for paths in (("binlog.000001", "binlog.000002"), ("binlog.000003",)):
        for path in paths:
            shutil.copy(WORKLOAD / path, logs)
        exec(text, {"spark": spark, "coalesce": coalesce})
    spark.sql(f"REFRESH TABLE {table}")  # as the document says
    assert of_lake(spark.table(table), "orders") == of_server("orders")
