"""Programs in Python, this package's own and others: each decodes a log and prints rows and NULLs as JSON.

Arguments: the program, the log, then the number of threads of `read_changes`, or the folder that contains the
other library. mysql-replication reads only from servers, so its packet reader is given the events; the time
counts from there and is printed too, so the cost of a connection is not included.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeAlias

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.views.changes_view import read_changes
from binlog_kaitai.views.logged_rows import read_rows
from tools.bench.measure import first_table

Image: TypeAlias = Mapping[str, object] | None


def changes(path: str, threads: str) -> dict[str, float]:
    """`read_changes` of the log's only table, as typed Arrow columns."""
    rows = nulls = 0
    for batch in read_changes(path, table=first_table(path), threads=int(threads)):
        rows += batch.num_rows
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if not field.name.startswith("_"):
                nulls += column.null_count
    return {"rows": rows, "nulls": nulls}


def own_rows(path: str) -> dict[str, float]:
    """`read_rows`."""
    return _counts(image for row in read_rows(path) for image in (row.before, row.after))


def event_stream(path: str, folder: str) -> dict[str, float]:
    """mysql-event-stream, whose engine is fed with the file."""
    engine = _library(folder, "mysql_event_stream").CdcEngine()

    def images() -> Iterator[Image]:
        with open(path, "rb") as log:
            log.seek(len(MAGIC))
            data = b""
            while data := data + log.read(1 << 20):
                data = data[engine.feed(data) :]
                while (event := engine.next_event()) is not None:
                    yield event.before
                    yield event.after

    return _counts(images())


def replication(path: str, folder: str) -> dict[str, float]:
    """mysql-replication, which takes the packets of a server."""
    row_event = _library(folder, "pymysqlreplication.row_event")
    wrapper: Any = import_module("pymysqlreplication.packet").BinLogPacketWrapper
    packet_of: Any = import_module("pymysql.protocol").MysqlPacket
    kinds = "TableMapEvent", "WriteRowsEvent", "UpdateRowsEvent", "DeleteRowsEvent"
    wanted = frozenset(getattr(row_event, kind) for kind in kinds)
    with open(path, "rb") as log:
        reader = BlockReader.of_file(log, path)
        packets = [b"\0" + block.raw(number) for block in reader for number in range(len(block))]

    def images() -> Iterator[Image]:
        tables: dict[int, Any] = {}
        no_filters = None, None, None, None
        options = False, False, True, True, False  # checks checksums; the table maps have names of columns
        for packet in packets:
            context = packet_of(packet, "utf8"), tables, _NoConnection(), (8, 0, 0), True, wanted
            event = wrapper(*context, *no_filters, *options).event
            if isinstance(event, row_event.TableMapEvent):
                tables[event.table_id] = event.get_table()
            elif event is not None:
                for row in event.rows:
                    # Beside the values of each image: why some are None, which empty SETs are, too.
                    for name in ("none_sources", "before_none_sources", "after_none_sources"):
                        yield row.get(name)

    begun = time.process_time(), time.perf_counter()
    counts = _counts(images(), null="null")
    return {**counts, "cpu": time.process_time() - begun[0], "seconds": time.perf_counter() - begun[1]}


def _library(folder: str, module: str) -> Any:
    sys.path.append(folder)
    return import_module(module)


def _counts(images: Iterator[Image], null: object = None) -> dict[str, float]:
    rows = nulls = 0
    for image in images:
        if image is not None:
            rows += 1
            nulls += list(image.values()).count(null)
    return {"rows": rows, "nulls": nulls}


class _NoConnection:
    """The part of a connection to a server that mysql-replication uses."""

    charset = "utf8mb4"

    def _get_dbms(self) -> str:
        return "mysql"


PROGRAMS: dict[str, Callable[..., dict[str, float]]] = {
    "read_changes": changes,
    "read_rows": own_rows,
    "mysql-event-stream": event_stream,
    "mysql-replication": replication,
}


def main() -> None:
    name, path, *rest = sys.argv[1:]
    print(json.dumps(PROGRAMS[name](path, *rest)))


if __name__ == "__main__":
    main()
