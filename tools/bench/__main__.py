"""`python -m tools.bench`: make logs of one gigabyte, measure, and print tables or write them to a document.

Each measurement is a new process, including its start. Of several runs, the one with the least processor time
is reported, so that neither a cold disk cache nor the first compilation of kernels, which happens once per
machine, affects the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tools.bench.make_log import shape_of, write
from tools.bench.measure import TASKS
from tools.bench.report import SPARK_JOBS, Figure, machine, of_cores, put_between, spark_name, table
from tools.bench.sealed import SHAPES as SEALED_SHAPES
from tools.bench.sealed import sealed_table
from tools.servers.catalog import ServerError, find
from tools.servers.programs import program

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus"


class Recipe(NamedTuple):
    """A log of the corpus, the event to repeat, by its size in bytes, and how often per transaction."""

    log: Path
    size: int
    repeat: int
    about: str


_MYSQL, _MARIADB = CORPUS / "mysql-9.7", CORPUS / "mariadb-11.8"

_ONE_ROW = "a few short rows in each transaction, events of 70 bytes"
_BULK = "rows of 50 bytes, events of 8 KB, 100 events in a transaction"
_WIDE = "rows with two JSON documents of a kilobyte in all"
_PACKED = "440 KB of events in 8 KB of log; sizes are those of the events inside"
_STRINGS = "rows of 8 KB in 26 columns of strings"
_ORDERS = "rows of 180 bytes in 14 columns, each of another type"
_DOCUMENTS = "rows of 250 bytes with a JSON document, which contains DECIMAL, dates and times"

SHAPES = {
    "one-row transactions": Recipe(_MYSQL / "types_metadata/binlog.000001", 60, 1, _ONE_ROW),
    "bulk rows": Recipe(_MYSQL / "mixed/binlog.000001", 8192, 100, _BULK),
    "wide rows": Recipe(_MYSQL / "json_partial/binlog.000001", 600, 50, _WIDE),
    "orders": Recipe(_MYSQL / "orders/binlog.000001", 8192, 50, _ORDERS),
    "documents": Recipe(_MYSQL / "json_values/binlog.000001", 8192, 50, _DOCUMENTS),
    "compressed transactions": Recipe(_MYSQL / "payloads/binlog.000001", 8192, 1, _PACKED),
    "one-row transactions, MariaDB": Recipe(_MARIADB / "types_metadata/binlog.000001", 60, 1, _ONE_ROW),
    "bulk rows, MariaDB": Recipe(_MARIADB / "mixed/binlog.000001", 8192, 100, _BULK),
    "wide rows, MariaDB": Recipe(_MARIADB / "types_metadata/binlog.000001", 8192, 100, _STRINGS),
}


_DECODED = "--base64-output=decode-rows"

#: Server, program and options of each client.
CLIENTS = {
    "mysqlbinlog -vv": ("mysql-9.7", "mysqlbinlog", ("-vv", _DECODED)),
    "mariadb-binlog -vv": ("mariadb-10.11", "mariadb-binlog", ("-vv", _DECODED)),
    "mariadb-binlog -v": ("mariadb-10.11", "mariadb-binlog", ("-v", _DECODED)),
}

#: The only shape for which Spark jobs run by default, because they take longer than everything else together.
SPARK_SHAPE = "bulk rows"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument(
        "--size", type=int, default=1000, metavar="MB", help="size of each log's events (default 1000)"
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each task (default 3)")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="only this shape; may be repeated")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the document to write the tables to")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="folder in which to keep the logs")
    parser.add_argument("--spark", action="store_true", help="only Spark's jobs and their reference figures")
    options = parser.parse_args()
    text = [f"{machine()}. Logs of {options.size} MB.\n"]
    print(text[0])
    for name in options.shape or SHAPES:
        size = options.size * 1_000_000
        text.append(measure_shape(name, size, options.runs, options.logs, only_spark=options.spark))
        if options.write is not None:
            put_between(options.write, "\n".join(text))


def measure_shape(name: str, size: int, runs: int, logs: Path | None, *, only_spark: bool) -> str:
    """The table of one shape of log, which is also printed."""
    recipe = SHAPES[name]
    shape = shape_of(name, recipe.log, event_size=recipe.size, repeat=recipe.repeat)
    with folder_of(logs) as folder:
        path = folder / f"{name.replace(' ', '-').replace(',', '')}.000001"
        if not path.exists():
            write(shape, path, int(size * shape.packed_ratio))
        small = path.with_suffix(".small")
        write(shape, small, 1, chunk=1)
        events = int(path.stat().st_size / shape.packed_ratio)
        tasks = ("crc32", "export") if only_spark else tuple(TASKS)
        has_spark = only_spark or name == SPARK_SHAPE
        figures = list(figures_of(path, small, runs, tasks, has_spark=has_spark))
        is_sealed = name in SEALED_SHAPES and not only_spark
        sealed = (
            f"\nThe same log encrypted, and packed:\n\n{sealed_table(path, runs, run)}" if is_sealed else ""
        )
    heading, about = (text[:1].upper() + text[1:] for text in (name, recipe.about))
    text = f"### {heading}\n\n{about}.\n\n{table(figures, events)}{of_cores(figures)}{sealed}"
    print(text, flush=True)
    return text


@contextmanager
def folder_of(logs: Path | None) -> Iterator[Path]:
    """A given folder, or a temporary one."""
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
        yield logs
        return
    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        yield Path(folder)


def figures_of(
    path: Path, small: Path, runs: int, tasks: tuple[str, ...], *, has_spark: bool
) -> Iterator[Figure]:
    """Everything that is measured on one log, this project's tasks first.

    Parameters
    ----------
    small
        A log of the same kind with one transaction, which separates the cost of starting from the rest.
    """
    rows: int | None = None
    sizes = small.stat().st_size, path.stat().st_size
    for task in tasks:
        least, best = (
            min((run(task, log) for _ in range(runs)), key=lambda figure: figure.cpu) for log in (small, path)
        )
        rows = best.rows or rows
        slope = (best.cpu - least.cpu) / (sizes[1] - sizes[0])
        yield best._replace(start=max(least.cpu - slope * sizes[0], 0.0))
    for peer, arguments in clients(path).items():
        if figure := run_client(peer, arguments):
            yield figure._replace(rows=rows)
    for job, cores in ((job, cores) for job in SPARK_JOBS for cores in (1, 2) if has_spark):
        if figure := run_spark(job, path, cores):
            yield figure


def clients(path: Path) -> dict[str, list[str]]:
    """The available clients of servers, and their command lines for a log."""
    commands = {}
    for name, (server, client, options) in CLIENTS.items():
        with suppress(ServerError, OSError, subprocess.SubprocessError):
            commands[name] = [str(program(find(server), client)), *options, str(path)]
    return commands


def run_client(name: str, arguments: list[str]) -> Figure | None:
    """One run of a server's client with its output discarded; None if it fails."""
    begun = time.perf_counter()
    client = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(client.pid, 0)
    client.returncode = os.waitstatus_to_exitcode(status)
    if client.returncode:
        return None
    # `maxrss` includes little of the process that started the client.
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    return Figure(name, time.perf_counter() - begun, cpu, peak, None)


def run_spark(job: str, path: Path, cores: int) -> Figure | None:
    """A job of a local Spark, excluding the start of its session except for `process`; None without Spark.

    The peak is that of the largest Python worker.
    """
    if find_spec("pyspark") is None or shutil.which("java") is None:
        return None
    command = [sys.executable, "-m", "tools.bench.spark", job, str(path), str(cores)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(), cwd=ROOT)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Figure(spark_name(job, cores), result["seconds"], result["cpu"], result["peak"], result["rows"])


def environment() -> dict[str, str]:
    """Environment of a process that imports this checkout and caches bytecode, like an installed package."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "generated")])}


def run(task: str, path: Path) -> Figure:
    """One measurement. `seconds` is the time from the start of the process to its end."""
    command = [sys.executable, "-m", "tools.bench.measure", task, str(path)]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(), cwd=ROOT)
    result: dict[str, Any] = json.loads(done.stdout)
    return Figure(task, time.perf_counter() - begun, result["cpu"], result["peak"], result["rows"])


if __name__ == "__main__":
    main()
