"""Measures what many logs, tables and columns cost, on logs made for it: `python -m tools.bench.sizing DIR`.

Logs have their first events only, and are sparse files of their full size. Tables have one row each per
transaction. Prints processor seconds and memory; docs/spark-sizing.md has the results.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import shutil
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from binlog_kaitai.following import Follower
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.spark.batch import Files, SplitPartition
from binlog_kaitai.spark.skipping import logs_with_rows
from binlog_kaitai.views.splits import divide, list_files

_SOURCE = Path(__file__).parents[2] / "tests/corpus/mysql-9.7/rotate/binlog.000002"
_HEADER = struct.Struct("<IBIIIH")
_QUERY, _XID, _TABLE_MAP, _WRITE_ROWS = 2, 16, 19, 30
_INT = 3


def first_events() -> bytes:
    """The start of a log: the magic, the format description, and the GTIDs before it."""
    data, at = _SOURCE.read_bytes(), 4
    while data[at + 4] in (15, 35):
        at += _HEADER.unpack_from(data, at)[3]
    return data[:at]


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
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{what}: {time.process_time() - begun:.1f} s, at most {memory} MB so far", flush=True)


def measure_logs(folder: Path) -> None:
    """Planning a batch."""
    with timed("list"):
        files = list_files(str(folder))
    with timed(f"divide {len(files)} logs"):
        partitions = [
            SplitPartition(number, split) for number, splits in enumerate(divide(files)) for split in splits
        ]
    with timed(f"pickle {len(partitions)} tasks"):
        size = sum(len(pickle.dumps(one)) for one in partitions)
        print(f"tasks: {size >> 20} MB; list of logs: {len(pickle.dumps(Files(files))) >> 10} KB in each")
    few = files[:5000]
    with timed(f"skip by time, {len(few)} logs"):
        logs_with_rows(few, {"start_datetime": datetime(2026, 11, 20, tzinfo=UTC)})


def measure_tables(folder: Path, tables: int, columns: int, rounds: int) -> None:
    """Planning and writing a batch."""
    folder.mkdir(exist_ok=True)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--logs", type=int, default=0)
    parser.add_argument("--log-size", type=int, default=100 << 20)
    parser.add_argument("--tables", type=int, default=0)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.logs:
        make_logs(chosen.folder, chosen.logs, chosen.log_size)
        measure_logs(chosen.folder)
    if chosen.tables:
        measure_tables(chosen.folder, chosen.tables, chosen.columns, chosen.rounds)


if __name__ == "__main__":
    main()
