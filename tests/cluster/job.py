"""A user's job, `spark-submit job.py LOGS TABLE FOLDER`, which writes Parquet files."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from binlog_kaitai.spark import register


def main(logs: str, table: str, folder: Path) -> None:
    spark = SparkSession.builder.getOrCreate()
    register(spark)
    refused = spark.sparkContext.parallelize(range(4), 4).mapPartitions(tries_to_write).collect()
    assert refused == [True] * 4, "executors can write, so nothing shows that the source does without"
    threading.Thread(target=note_first_task, args=(spark, folder / "first-task"), daemon=True).start()
    options = {"table": table, "splitSize": "256k"}
    # The rows go through a shuffle, so that an executor takes finished tasks' results with it.
    batch = spark.read.format("binlog").options(**options).load(logs).repartition(3)
    pq.write_table(batch.toArrow(), folder / "batch.parquet")
    stream = spark.readStream.format("binlog").options(**options).load(logs)
    query = (
        stream.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "stream"))
    )
    query.awaitTermination()


def tries_to_write(_: Any) -> Iterator[bool]:
    """Whether a task is refused to write a file."""
    try:
        Path("written").touch()
    except PermissionError:
        yield True
    else:
        yield False


def note_first_task(spark: SparkSession, note: Path) -> None:
    """Write a file as soon as a task has ended and others are still to come."""
    tracker = spark.sparkContext.statusTracker()
    while True:
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
            if stage is not None and 0 < stage.numCompletedTasks < stage.numTasks - 4:
                note.touch()
                return
        time.sleep(0.02)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
