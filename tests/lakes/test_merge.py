"""MERGE into Delta and Iceberg: the tables have the rows of the server that wrote the logs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.lakes import make_lake

from tests.lakes.recipes import COLUMNS, RENAMED, WORKLOAD, Emptied, of_lake, of_server, recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def test_across_truncate_and_rename(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is updated while a pipeline loads the logs, one batch of which has the TRUNCATE."""
    from binlog_kaitai.spark.tables import LakeTables

    whole = make_lake(tmp_path / "whole", sorted(WORKLOAD.glob("binlog.0*")), 33_000)
    # The columns that the table always had; others would have to be altered as on the server.
    spark.sql("CREATE TABLE orders_pipeline (id BIGINT, customer INT, total DECIMAL(12, 2)) USING delta")
    names = {"MERGE INTO orders": "MERGE INTO orders_pipeline AS orders"}
    space: dict[str, Any] = {"spark": spark}
    exec(recipe("row_number()", names).partition("def merge")[0], space)
    names |= {"shop.orders": "t.orders", "/mnt/pipeline": str(tmp_path / "lake")}
    exec(recipe("changes_since", names), space)
    steps, changes_since = list[bool](), LakeTables.changes_since

    def recorded(self: LakeTables, name: str, batch: int) -> DataFrame | None:
        found = changes_since(self, name, batch)
        steps.append(found is not None)
        return found

    monkeypatch.setattr(LakeTables, "changes_since", recorded)
    done: int | None = None
    for record in whole.records():
        paths = [file["to"] for file in record["files"]]
        for path in (*paths, f"_pipeline/batches/{record['batch']:08}.json"):
            (tmp_path / "lake" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(whole.folder / path, tmp_path / "lake" / path)
        if record["batch"] != 2:
            done = space["update"](done)
    assert steps == [False, True]  # the second batch has the TRUNCATE
    found = spark.table("orders_pipeline")
    assert of_lake(found, "orders", columns=found.columns) == of_server("orders", columns=found.columns)
