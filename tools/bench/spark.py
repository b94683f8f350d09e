"""Jobs of a local Spark: the typed changes of a log, written as Parquet.

python -m tools.bench.spark table|pipeline LOG CORES

`table` is a DataFrame that Spark writes; in `pipeline` the tasks write by
Arrow themselves.

Prints JSON: seconds, processor seconds of all processes, rows, tasks, and the most memory of a Python worker,
of the second of two equal jobs; by then the session has compiled what it runs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tools.bench.measure import first_table

_TICKS = os.sysconf("SC_CLK_TCK")


def measure(job: str, log: str, cores: int) -> dict[str, Any]:
    """Run the job twice in a session of its own; the figures of the second."""
    from pyspark.sql import SparkSession

    from binlog_kaitai.spark import register

    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        spark = (
            SparkSession.builder.master(f"local[{cores}]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.parquet.compression.codec", "zstd")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        register(spark)
        run = _JOBS[job]
        for number in range(2):
            begun, used = time.perf_counter(), _processor_seconds()
            target = run(spark, log, f"{folder}/{number}")
            seconds, cpu = time.perf_counter() - begun, _processor_seconds() - used
        rows = sum(pq.read_metadata(path).num_rows for path in Path(target).rglob("*.parquet"))
        peak = max(_peaks(), default=0)
        spark.stop()
    return {"seconds": seconds, "cpu": cpu, "peak": peak, "rows": rows}


def _write_table(spark: Any, log: str, folder: str) -> str:
    reader = spark.read.format("binlog").schema(_columns(log)).option("table", first_table(log))
    reader.option("splitSize", "64m").load(log).write.parquet(folder)
    return folder


def _run_pipeline(spark: Any, log: str, folder: str) -> str:
    from binlog_kaitai.spark.pipeline import Job, Pipeline
    from binlog_kaitai.spark.stream import Following

    pipeline = Pipeline(Job(Following((log,)), folder, views=("changes",)))
    pipeline.start(spark).awaitTermination()
    pipeline.close()
    return f"{folder}/changes"


_JOBS = {"table": _write_table, "pipeline": _run_pipeline}


def _columns(log: str) -> Any:
    """The columns of the first rows; the logs are made of one definition of their table."""
    from binlog_kaitai.columns.change_schemas import merged_schema
    from binlog_kaitai.columns.rows.pages import RowsPages
    from binlog_kaitai.columns.rows.tables import Table
    from binlog_kaitai.options import Filters
    from binlog_kaitai.spark.schemas import spark_schema

    page = next(iter(RowsPages(log, Filters())))
    return spark_schema(merged_schema((one for one, _ in page.runs() if isinstance(one, Table)), "null"))


def _processes() -> Iterator[Path]:
    """This process and all that it has started, directly or not."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(_stat(path)[1])
        except OSError:
            continue  # it has ended
    wanted = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    return (Path(f"/proc/{one}") for one in wanted)


def _stat(path: Path) -> list[str]:
    """The fields of /proc/PID/stat behind the name: state, parent ..."""
    return path.read_text().rpartition(")")[2].split()


def _processor_seconds() -> float:
    total = 0
    for process in _processes():
        try:
            total += sum(map(int, _stat(process / "stat")[11:15]))  # own time and that of ended children
        except OSError:
            continue
    return total / _TICKS


def _peaks() -> Iterator[int]:
    """The most memory that each Python worker has had, in bytes."""
    for process in _processes():
        try:
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        except OSError:
            continue
        if status["Name"].strip().startswith("python") and process.name != str(os.getpid()):
            yield int(status["VmHWM"].split()[0]) * 1024


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
