"""Binary logs into a Parquet table of events with a local Spark, and a look at it.

python examples/spark_events.py OUTPUT LOG...
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from binlog_kaitai.spark import register

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def local_spark() -> SparkSession:
    """A Spark inside this process, quiet and reachable from this machine only."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName("binlog-kaitai")
    settings = {
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def show(console: Console, title: str, frame: DataFrame) -> None:
    """Print the rows of a small frame; numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE)
    for name, kind in frame.dtypes:
        table.add_column(name, justify="right" if kind == "bigint" else "left", no_wrap=True)
    for row in frame.collect():
        table.add_row(*(f"{value:,}" if isinstance(value, int) else str(value or "") for value in row))
    console.print(table)


def main(output: str, logs: list[str]) -> None:
    console = Console()
    spark = local_spark()
    register(spark)
    spark.read.format("binlog").load(logs).write.mode("overwrite").parquet(output)

    events = spark.read.parquet(output)
    events.cache()
    console.print(f"\n[bold]{events.count():,} events[/] of {len(logs)} logs are now in {output}\n")
    per_log = events.groupBy("file").agg(
        f.count("*").alias("events"),
        f.countDistinct("gtid").alias("transactions"),
        f.max("end_position").alias("bytes"),
    )
    show(console, "Logs", per_log.withColumn("file", short_name("file")).orderBy("file"))
    per_type = events.groupBy("type").agg(f.count("*").alias("events"), f.sum("size").alias("bytes"))
    show(console, "Types", per_type.orderBy(f.desc("events"), "type"))
    show(console, "Some statements", statements(events))
    spark.stop()


def statements(events: DataFrame) -> DataFrame:
    """A few statements that the logs hold, with the transaction that each belongs to."""
    query = f.get_json_object("info", "$.query_text")
    return (
        events.where(f.col("type") == "QUERY_EVENT")
        .where(~query.isin("BEGIN", "COMMIT"))
        .select("gtid", query.alias("statement"))
        .orderBy("file", "position")
        .limit(8)
    )


def short_name(column: str) -> Column:
    """The last three parts of a path."""
    return f.regexp_extract(column, r"([^/]*/[^/]*/[^/]*)$", 1)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
