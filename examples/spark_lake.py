"""Binary logs into a lake of Delta tables with a local Spark, and a look at what is in it.

python examples/spark_lake.py FOLDER LOG...

A second time, only what is new in the logs goes into the lake.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from deltalake import DeltaTable
from pyspark.sql import functions as f
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.spark_session import session, stop
from binlog_kaitai.pipeline.spark_tasks import SparkTasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NUMBERS = ("bigint", "int", "decimal")
_WIDEST = 44


def show(console: Console, title: str, frame: DataFrame) -> None:
    """Print the rows of a small frame; numbers to the right, long values cut."""
    console.print(f"[bold]{title}[/]")
    table = Table(box=SIMPLE)
    for name, kind in frame.dtypes:
        is_number = kind.startswith(_NUMBERS)
        table.add_column(name, justify="right" if is_number else "left", no_wrap=True, max_width=_WIDEST)
    for row in frame.collect():
        table.add_row(*map(_text, row))
    console.print(table)


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def main(folder: Path, logs: list[str]) -> None:
    console = Console(width=150 if not sys.stdout.isatty() else None)
    spark = session("local[2]", has_rows=False)
    batches: list[object] = []
    job = Job(Following(tuple(map(os.path.abspath, logs))), str(folder.absolute()), keeps_state=True)
    Pipeline(job, on_progress=batches.append).run(SparkTasks(spark))
    console.print(f"\n[bold]{len(logs)} logs[/] are in the lake {folder}; new batches: {len(batches)}\n")

    # Without Delta's jars in Spark, deltalake lists the files.
    transactions = spark.read.parquet(*DeltaTable(folder / "transactions").file_uris())
    transactions.cache()
    show(console, "Transactions by what they are", by_kind(transactions))
    show(console, "The largest transactions", largest(transactions))
    show(console, "Tables by changed rows", by_table(transactions))
    # A table without rows, or whose changes do not determine them, has no files.
    files = {path.name: DeltaTable(path).file_uris() for path in sorted((folder / "state").glob("*"))}
    names = [name for name in files if files[name]]
    if names:
        name = "t.gen" if "t.gen" in names else names[0]
        current = spark.read.parquet(*files[name])
        show(console, f"{name} now, from its changes", current.orderBy(current.columns[0]).limit(8))
    else:
        console.print("No table has rows, from its changes.")
    stop(spark)


def by_kind(transactions: DataFrame) -> DataFrame:
    return (
        transactions.groupBy("kind")
        .agg(
            f.count("*").alias("transactions"),
            f.sum("events").alias("events"),
            f.sum(f.col("rows_inserted") + f.col("rows_updated") + f.col("rows_deleted")).alias("rows"),
            f.sum("bytes").alias("bytes"),
        )
        .orderBy(f.desc("transactions"))
    )


def largest(transactions: DataFrame) -> DataFrame:
    return (
        transactions.where("size(tables) > 0")
        .orderBy(f.desc("bytes"))
        .limit(5)
        .select(
            f.date_format("start", "yyyy-MM-dd HH:mm:ss").alias("start (UTC)"),
            "gtid",
            f.array_join("tables", " ").alias("tables"),
            *(f.col(f"rows_{name}").alias(name) for name in ("inserted", "updated", "deleted")),
            "bytes",
        )
    )


def by_table(transactions: DataFrame) -> DataFrame:
    return (
        transactions.where("size(tables) = 1")
        .groupBy(f.col("tables")[0].alias("table"))
        .agg(
            f.count("*").alias("transactions"),
            *(f.sum(f"rows_{name}").alias(name) for name in ("inserted", "updated", "deleted")),
        )
        .orderBy(f.desc("transactions"), "table")
        .limit(8)
    )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
