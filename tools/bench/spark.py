"""Jobs of a local Spark on the typed changes of a log.

python -m tools.bench.spark pipeline|table|count|ready LOG CORES

In `pipeline` the tasks write Parquet by Arrow themselves; `table` is a DataFrame that Spark writes; `count`
groups its rows. `ready` writes as many rows as `table`, of batches that are there already: what is left when
reading logs costs nothing.

Prints JSON: seconds, processor seconds of all processes, rows, tasks, and the most memory of a Python worker,
of the second of two equal jobs; by then the session has compiled what it runs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from tools.bench.measure import first_table

#: Bytes of a task, as in the pipeline.
_SPLIT = 64 << 20

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
            found = run(spark, log, f"{folder}/{number}")
            seconds, cpu = time.perf_counter() - begun, _processor_seconds() - used
        rows = found if isinstance(found, int) else _rows_in(Path(found))
        peak = max(_peaks(), default=0)
        spark.stop()
    return {"seconds": seconds, "cpu": cpu, "peak": peak, "rows": rows}


def _rows_in(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.rglob("*.parquet"))


def _table(spark: Any, log: str) -> Any:
    reader = spark.read.format("binlog").schema(_columns(log)).option("table", first_table(log))
    return reader.option("splitSize", str(_SPLIT)).load(log)


def _write_table(spark: Any, log: str, folder: str) -> str:
    _table(spark, log).write.parquet(folder)
    return folder


def _count(spark: Any, log: str, folder: str) -> int:
    counted = _table(spark, log).groupBy("_change_type").count().collect()
    return sum(row["count"] for row in counted)


class Ready(DataSource):
    """One batch of the log again and again, as often as the log has such a block."""

    @classmethod
    def name(cls) -> str:
        return "ready"

    def reader(self, schema: StructType) -> DataSourceReader:
        return _ReadyReader(self.options["log"], schema)


class _ReadyReader(DataSourceReader):
    def __init__(self, log: str, schema: StructType) -> None:
        self._log = log
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(-(-os.path.getsize(self._log) // _SPLIT))]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from binlog_kaitai.columns.blocks import BLOCK_SIZE
        from binlog_kaitai.columns.changes import typed_batches
        from binlog_kaitai.columns.rows.pages import RowsPages
        from binlog_kaitai.options import Filters
        from binlog_kaitai.spark.rows import columns_of_table
        from binlog_kaitai.spark.schemas import arrow_schema, conform

        target = arrow_schema(self._schema)
        filters = Filters.of(table=first_table(self._log), stop_position=4 * BLOCK_SIZE)
        pages = RowsPages(self._log, filters, block_size=BLOCK_SIZE)
        batches = typed_batches(pages, columns_of_table(target, "_corrupt_record"), "null")
        batch = conform(max(islice(batches, 3), key=len), target)
        for _ in range(_SPLIT // BLOCK_SIZE):
            yield batch


def _write_ready(spark: Any, log: str, folder: str) -> str:
    from binlog_kaitai.spark import register_source

    register_source(spark, Ready)
    spark.read.format("ready").schema(_columns(log)).option("log", log).load().write.parquet(folder)
    return folder


def _run_pipeline(spark: Any, log: str, folder: str) -> str:
    from binlog_kaitai.spark.pipeline import Job, Pipeline
    from binlog_kaitai.spark.stream import Following

    pipeline = Pipeline(Job(Following((log,)), folder, views=("changes",)))
    pipeline.start(spark).awaitTermination()
    pipeline.close()
    return f"{folder}/changes"


_JOBS: dict[str, Callable[[Any, str, str], str | int]] = {
    "pipeline": _run_pipeline,
    "table": _write_table,
    "count": _count,
    "ready": _write_ready,
}


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
