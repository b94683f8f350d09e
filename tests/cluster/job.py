"""A job as its user would submit it, `spark-submit job.py LOGS TABLE FOLDER`; it writes Parquet files."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from binlog_kaitai.spark import register


def main(logs: str, table: str, folder: Path) -> None:
    spark = SparkSession.builder.getOrCreate()
    register(spark)
    threading.Thread(target=note_first_task, args=(spark, folder / "first-task"), daemon=True).start()
    options = {"table": table, "splitSize": "512k"}
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
