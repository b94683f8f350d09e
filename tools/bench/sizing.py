"""Measures what logs, tables, columns and state cost in large numbers: `python -m tools.bench.sizing DIR`.

Logs have their first events only, and are sparse files of their full size. Tables have one row each per
transaction. Prints processor seconds and memory; docs/spark-sizing.md has the results.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import shutil
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.lake.batches import Lake, Piece
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.lineage import Place
from binlog_kaitai.lake.rules import NO_RULES
from binlog_kaitai.lake.state_tables import State, Update
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, StepWriter
from binlog_kaitai.rows.change_schemas import TIME
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.spark.batch import Files, NumberedPartition
from binlog_kaitai.spark.skipping import logs_with_rows
from binlog_kaitai.views.parquet_folder import write_changes
from binlog_kaitai.views.splits import divide, list_files

_SOURCE = Path(__file__).parents[2] / "tests/corpus/mysql-9.7/rotate/binlog.000002"
_HEADER = struct.Struct("<IBIIIH")
_QUERY, _XID, _TABLE_MAP, _WRITE_ROWS = 2, 16, 19, 30
_INT = 3

#: Rows written at a time.
_PART = 1 << 20


def first_events() -> bytes:
    """The start of a log: the magic, the format description, and the GTIDs before it."""
    data, offset = _SOURCE.read_bytes(), 4
    while data[offset + 4] in (15, 35):
        offset += _HEADER.unpack_from(data, offset)[3]
    return data[:offset]


def make_logs(folder: Path, count: int, size: int) -> None:
    """Sparse logs with their first events, and an index of them."""
    folder.mkdir(parents=True)
    head = first_events()
    names = [f"binlog.{number:06}" for number in range(1, count + 1)]
    for name in names:
        with (folder / name).open("wb") as file:
            file.write(head)
            file.truncate(size)
    (folder / "binlog.index").write_text("".join(f"./{name}\n" for name in names))


def make_tables(path: Path, tables: int, columns: int, rounds: int) -> None:
    """A log in which each transaction inserts a row of INT columns into another table, in turns."""
    with path.open("wb") as file:
        file.write(first_events())
        position = file.tell()
        for number in range(tables * rounds):
            table = number % tables
            for kind, body in _transaction(table, columns):
                event = _event(kind, body, position)
                file.write(event)
                position += len(event)


def _transaction(table: int, columns: int) -> Iterator[tuple[int, bytes]]:
    name, bits = b"t%05d" % table, -(-columns // 8)
    yield _QUERY, struct.pack("<IIBHH", 1, 0, 1, 0, 0) + b"s\0BEGIN"
    number = struct.pack("<Q", 100 + table)[:6]
    body = number + b"\1\0\1s\0" + bytes([len(name)]) + name + b"\0" + _length(columns)
    yield _TABLE_MAP, body + bytes([_INT]) * columns + b"\0" + b"\xff" * bits
    body = number + struct.pack("<HH", 1, 2) + _length(columns) + b"\xff" * bits + b"\0" * bits
    yield _WRITE_ROWS, body + struct.pack(f"<{columns}i", *range(table, table + columns))
    yield _XID, struct.pack("<Q", table)


def _length(number: int) -> bytes:
    return bytes([number]) if number < 251 else b"\xfc" + struct.pack("<H", number)


def _event(kind: int, body: bytes, position: int) -> bytes:
    size = _HEADER.size + len(body) + 4
    event = _HEADER.pack(1_790_000_000, kind, 1, size, position + size, 0) + body
    return event + struct.pack("<I", zlib.crc32(event))


@contextmanager
def timed(what: str) -> Iterator[None]:
    begun = time.process_time()
    yield
    # The peak of `getrusage` would be that of the process that started this one, if it is higher.
    status = Path("/proc/self/status").read_text()
    memory = int(status.partition("VmHWM:")[2].split()[0]) >> 10
    print(f"{what}: {time.process_time() - begun:.2f} s, at most {memory} MB so far", flush=True)


def measure_logs(folder: Path) -> None:
    """Planning a batch."""
    with timed("list"):
        files = list_files(str(folder))
    with timed(f"divide {len(files)} logs"):
        partitions = [
            NumberedPartition(number, split)
            for number, splits in enumerate(divide(files))
            for split in splits
        ]
    with timed(f"pickle {len(partitions)} tasks"):
        size = sum(len(pickle.dumps(partition)) for partition in partitions)
        print(f"tasks: {size >> 20} MB; list of logs: {len(pickle.dumps(Files(files))) >> 10} KB in each")
    few = files[:5000]
    with timed(f"skip by time, {len(few)} logs"):
        logs_with_rows(few, {"start_datetime": datetime(2026, 11, 20, tzinfo=UTC)})


def measure_tables(folder: Path, tables: int, columns: int, rounds: int) -> None:
    """Planning and writing a batch."""
    log = folder / "binlog.000001"
    make_tables(log, tables, columns, rounds)
    follower = Follower([str(log)], follows_definitions=True)
    start = follower.earliest()
    what = f"{tables} tables, {columns} columns, {rounds} rows each, {log.stat().st_size >> 10} KB"
    with timed(f"plan {what}"):
        steps = follower.steps(start, follower.advance(start))
    lake = folder / "lake"
    with timed("write changes"):
        for step in steps:
            written = TableFiles(Storage(str(lake)))
            write_lake(step.source, written, views=["changes"])
            written.close()
    files = [path.stat().st_size for path in lake.rglob("*.parquet")]
    print(f"{len(files)} files, {sum(files) >> 10} KB")
    shutil.rmtree(folder)


def measure_commits(folder: Path, tables: int, batches: int) -> None:
    """Commits of batches that change all of some tables, without writing the files."""
    lake = Lake(str(folder))
    plan = lake.open(NO_RULES)
    for number in range(batches):
        plan = plan.next({"file": "binlog.000001", "position": number}, {"file": "b", "position": number + 1})
        files = TableFiles(lake.storage)
        times = pa.array([datetime(2026, 11, 20, tzinfo=UTC)], TIME)
        row = pa.RecordBatch.from_arrays([pa.array([number]), times], ["id", "_commit_timestamp"])
        for table in range(tables):
            files.write(f"changes/s.t{table}", row)
        files.close()
        lake.begin(plan)
        begun = time.monotonic()
        with timed(f"commit batch {number} of {tables} tables"):
            lake.commit([Piece("binlog.000001", number, number + 1, files=files.files)])
        print(f"    {time.monotonic() - begun:.2f} s of clock")
    shutil.rmtree(folder)


def measure_throughput(folder: Path, log: str, *, runs: int = 4) -> None:
    """Tasks of a pipeline and `export`, of the changes of a log, in turns; the fastest of some runs each."""
    follower = Follower([log], follows_definitions=True)
    start = follower.earliest()
    steps = [zlib.compress(pickle.dumps(step)) for step in follower.steps(start, follower.advance(start))]
    write = StepWriter(Job(Following((log,)), str(folder / "lake"), views=("changes",)), {})
    tasks, exports = [], []
    for _ in range(runs):
        begun = time.process_time()
        for step in steps:
            write(step)
        tasks.append(time.process_time() - begun)
        begun = time.process_time()
        write_changes(RowsPages(log, Filters()), folder / "export")
        exports.append(time.process_time() - begun)
        shutil.rmtree(folder)
    print(f"{len(steps)} tasks: {min(tasks):.2f} s; export: {min(exports):.2f} s")


def measure_merge(folder: Path, kind: str, rows: int, changes: int, *, newest: bool) -> None:
    """A merge of changes into a state table, as a task of `pipeline --state` makes it."""
    lake = Lake(str(folder), kind)
    plan = lake.open(NO_RULES)
    place: dict[str, int] = {"era": 0, "log": 1, "position": 4}
    tables: Any = lake.tables
    folder.mkdir()
    with timed(f"write a state table of {rows} rows"):
        own = _orders(np.zeros(1, np.int64)).schema
        parts = (_orders(np.arange(start, min(start + _PART, rows))) for start in range(0, rows, _PART))
        reader = pa.RecordBatchReader.from_batches(own, parts)
        tables.replace("state/s.orders", None, reader, 0, place, ["id"])
    size = sum(path.stat().st_size for path in (folder / "state").rglob("*.parquet"))
    print(f"{size >> 20} MB")
    files, random = TableFiles(lake.storage), np.random.default_rng(1)
    ids = np.arange(rows - changes, rows) if newest else random.choice(rows, changes, replace=False)
    for start in range(0, changes, _PART):
        files.write("changes/s.orders", _changes(_orders(ids[start : start + _PART])))
    files.close()
    facts = [Effect(4, EffectKind.KEYED, "s", "orders", key=("id",))]
    lake.begin(plan.next({"file": "binlog.000001", "position": 4}, {"file": "binlog.000002", "position": 4}))
    piece = Piece("binlog.000001", 4, 5, files=files.files, effects=facts)
    lake.commit([piece])
    assert lake.plan is not None
    (update,), _ = State(lake).updates(lake.plan, [piece])
    assert update.since is not None
    process = multiprocessing.get_context("spawn").Process(target=_merge, args=(update,))
    process.start()
    process.join()
    shutil.rmtree(folder)


def _merge(update: Update) -> None:
    begun = time.monotonic()
    with timed(f"merge into {update.name}"):
        print(update())
    print(f"    {time.monotonic() - begun:.2f} s of clock")


def _orders(ids: NDArray[np.int64]) -> pa.RecordBatch:
    """Rows of a table: two integers, a DECIMAL, and a text of 30 characters."""
    numbers = pa.array(ids)
    total = pc.multiply(pa.array(ids % 100_000).cast(pa.decimal128(19, 0)), Decimal("0.01"))
    note = pc.binary_join_element_wise("a note on the order", pc.cast(numbers, pa.string()), " number ")
    columns = [numbers, pa.array(ids % 99_991), total.cast(pa.decimal128(18, 2)), note]
    return pa.RecordBatch.from_arrays(columns, ["id", "customer", "total", "note"])


def _changes(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The images after updates of rows."""
    count = rows.num_rows
    after = Place(0, 1, 4).as_sequence()
    metadata = {
        "_change_type": pa.repeat("update_postimage", count),
        "_commit_timestamp": pa.repeat(pa.scalar(datetime(2026, 11, 20, tzinfo=UTC), TIME), count),
        "_sequence": pa.array([f"{after}{number:08}" for number in range(count)]),
    }
    return pa.RecordBatch.from_arrays([*metadata.values(), *rows.columns], [*metadata, *rows.schema.names])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--logs", type=int, default=0)
    parser.add_argument("--log-size", type=int, default=100 << 20)
    parser.add_argument("--tables", type=int, default=0)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--commits", type=int, default=0, help="tables that each batch changes")
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--state", type=int, default=0, help="rows of a table")
    parser.add_argument("--format", default="delta", help="of that table")
    parser.add_argument("--changes", type=int, default=1_000_000)
    parser.add_argument("--throughput", metavar="LOG", help="compare tasks of a pipeline with export")
    parser.add_argument("--newest", action="store_true", help="change the last rows, not some of all")
    chosen = parser.parse_args()
    if chosen.logs:
        make_logs(chosen.folder, chosen.logs, chosen.log_size)
        measure_logs(chosen.folder)
    if chosen.tables:
        measure_tables(chosen.folder, chosen.tables, chosen.columns, chosen.rounds)
    if chosen.commits:
        measure_commits(chosen.folder, chosen.commits, chosen.batches)
    if chosen.throughput:
        measure_throughput(chosen.folder, chosen.throughput)
    if chosen.state:
        measure_merge(chosen.folder, chosen.format, chosen.state, chosen.changes, newest=chosen.newest)


if __name__ == "__main__":
    main()
