"""Jobs of a local Spark on the typed changes of a log.

python -m tools.bench.spark process|pipeline|table|count|narrow|ready LOG CORES

In `pipeline`, the tasks write Parquet with Arrow; `process` is the same as a command, from start to end, with
Java, Spark and all workers. `table` is a DataFrame written by Spark; `count` groups its rows, `narrow` those
of one that has the grouped column only. `ready` writes
as many rows as `table` from batches in memory: the remainder if reading logs cost nothing.

Prints JSON: seconds, processor seconds of all processes and of the Python workers among them, rows, and the
peak memory of a worker.
Except for `process`, the first of several equal runs is discarded, because the session compiles its code in
it. Of `pipeline`, which takes seconds, the fastest of three is reported, because other activity of the
machine is visible in so short a time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from tools.bench.measure import first_table

_TICKS = os.sysconf("SC_CLK_TCK")


def family_of(root: int) -> Iterator[Path]:
    """The /proc folders of a process and its descendants."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            parents[int(path.parent.name)] = int(_stat(path)[1])
    wanted = {root}
    while more := {process for process, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    return (Path(f"/proc/{process}") for process in wanted)


def processor_seconds(root: int) -> float:
    """Processor seconds of a process tree, including ended children."""
    return sum(sum(seconds) for seconds in _seconds(root).values())


def worker_seconds(root: int) -> float:
    """Processor seconds of the Python workers below a process; sessions keep their workers."""
    names = {process.name for process in workers_of(root)}
    return sum(own for name, (own, _) in _seconds(root).items() if name in names)


def peaks(root: int) -> Iterator[int]:
    """Peak memory of each Python worker below a process, in bytes."""
    for process in workers_of(root):
        with suppress(OSError):
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            if "VmHWM" in status:  # not a zombie
                yield int(status["VmHWM"].split()[0]) * 1024


def workers_of(root: int) -> Iterator[Path]:
    """The /proc folders of the Python processes below a process."""
    for process in family_of(root):
        with suppress(OSError):
            if process.name != str(root) and (process / "comm").read_text().startswith("python"):
                yield process


class Watched:
    """Processor seconds of a process tree that ends while it is watched, by polling.

    Spark's daemons do not wait for the workers that they end, so no process has the total.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._own: dict[str, float] = {}

    def look(self) -> None:
        for name, (own, _) in _seconds(self._root).items():
            self._own[name] = max(own, self._own.get(name, 0.0))

    @property
    def seconds(self) -> float:
        return sum(self._own.values())


def _seconds(root: int) -> dict[str, tuple[float, float]]:
    """The seconds of each process, and those of its ended children."""
    seconds = {}
    for process in family_of(root):
        with suppress(OSError):
            user, system, ended, in_system = map(int, _stat(process / "stat")[11:15])
            seconds[process.name] = (user + system) / _TICKS, (ended + in_system) / _TICKS
    return seconds


def _stat(path: Path) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent ..."""
    return path.read_text().rpartition(")")[2].split()


#: Bytes per task, as in the pipeline.
_SPLIT = 64 << 20

#: Number of measurements of a job, if not one.
_RUNS = {"pipeline": 3}

#: Interval at which the processes of a command are polled, in seconds.
_PAUSE = 0.2


def measure(job: str, log: str, cores: int) -> dict[str, Any]:
    """Run the job repeatedly in a session; the figures of the fastest run after the first."""
    from binlog_kaitai.pipeline.spark_session import session, stop
    from binlog_kaitai.spark import register

    settings = ["spark.sql.parquet.compression.codec=zstd"]
    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        spark = session(f"local[{cores}]", settings, has_rows=job != "pipeline")
        register(spark)
        run, root = _JOBS[job], os.getpid()
        run(spark, log, f"{folder}/0")
        figures = []
        for number in range(1, 1 + _RUNS.get(job, 1)):
            begun, used, by_workers = time.perf_counter(), processor_seconds(root), worker_seconds(root)
            result = run(spark, log, f"{folder}/{number}")
            seconds, by_workers = time.perf_counter() - begun, worker_seconds(root) - by_workers
            figures.append((seconds, processor_seconds(root) - used, by_workers))
        seconds, cpu, workers = min(figures)
        rows = result if isinstance(result, int) else _rows_in(Path(result))
        peak = max(peaks(root), default=0)
        stop(spark)
    return {"seconds": seconds, "cpu": cpu, "workers": workers, "peak": peak, "rows": rows}


def measure_process(log: str, cores: int) -> dict[str, Any]:
    """The command `pipeline`, from start to end."""
    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        command = [sys.executable, "-m", "binlog_kaitai", "pipeline", "--view", "changes"]
        command += ["--master", f"local[{cores}]", "--to", f"{folder}/lake", log]
        begun, peak = time.perf_counter(), 0
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watched = Watched(process.pid)
        while process.poll() is None:
            watched.look()
            peak = max(peak, *peaks(process.pid), 0)
            time.sleep(_PAUSE)
        seconds = time.perf_counter() - begun
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
        rows = _rows_in(Path(folder) / "lake/changes")
    return {"seconds": seconds, "cpu": watched.seconds, "peak": peak, "rows": rows}


def _rows_in(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.rglob("*.parquet"))


def _table(spark: Any, log: str, columns: Any = None) -> Any:
    reader = spark.read.format("binlog").schema(columns or _columns(log)).option("table", first_table(log))
    return reader.option("splitSize", str(_SPLIT)).load(log)


def _write_table(spark: Any, log: str, folder: str) -> str:
    _table(spark, log).write.parquet(folder)
    return folder


def _count(spark: Any, log: str, folder: str, columns: Any = None) -> int:
    counted = _table(spark, log, columns).groupBy("_change_type").count().collect()
    return sum(row["count"] for row in counted)


class Ready(DataSource):
    """A batch of the log, repeated as often as the log has such a block."""

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
        from binlog_kaitai.core.filters import Filters
        from binlog_kaitai.lake.types import conform
        from binlog_kaitai.log.block_reader import BLOCK_SIZE
        from binlog_kaitai.rows.log_pages import RowsPages
        from binlog_kaitai.spark.batch import columns_of_table
        from binlog_kaitai.spark.schemas import arrow_schema
        from binlog_kaitai.views.changes_view import typed_batches

        target = arrow_schema(self._schema)
        filters = Filters.of(table=first_table(self._log), stop_position=4 * BLOCK_SIZE)
        pages = RowsPages(self._log, filters, block_size=BLOCK_SIZE)
        batches = typed_batches(pages, columns_of_table(target, "_corrupt_record"), "null")
        batch = conform(max(islice(batches, 3), key=len), target)
        for _ in range(_SPLIT // BLOCK_SIZE):
            yield batch


def _write_ready(spark: Any, log: str, folder: str) -> str:
    from binlog_kaitai.pipeline.spark_session import register_source

    register_source(spark, Ready)
    spark.read.format("ready").schema(_columns(log)).option("log", log).load().write.parquet(folder)
    return folder


def _run_pipeline(spark: Any, log: str, folder: str) -> str:
    from binlog_kaitai.pipeline.followed_logs import Following
    from binlog_kaitai.pipeline.pipeline import Job, Pipeline
    from binlog_kaitai.pipeline.spark_tasks import SparkTasks

    Pipeline(Job(Following((log,)), folder, views=("changes",))).run(SparkTasks(spark))
    return f"{folder}/changes"


_JOBS: dict[str, Callable[[Any, str, str], str | int]] = {
    "pipeline": _run_pipeline,
    "table": _write_table,
    "count": _count,
    "narrow": partial(_count, columns="_change_type string"),
    "ready": _write_ready,
}


def _columns(log: str) -> Any:
    """The columns of the first rows; each of these logs has a single definition of its table."""
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.rows.change_schemas import merged_schema
    from binlog_kaitai.rows.log_pages import RowsPages
    from binlog_kaitai.rows.table_maps import Table
    from binlog_kaitai.spark.schemas import spark_schema

    page = next(iter(RowsPages(log, Filters())))
    return spark_schema(merged_schema((one for one, _ in page.runs() if isinstance(one, Table)), "null"))


if __name__ == "__main__":
    name, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print(json.dumps(measure_process(path, count) if name == "process" else measure(name, path, count)))
