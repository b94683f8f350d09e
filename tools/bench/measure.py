"""One measurement in its own process; prints processor seconds and peak memory as JSON.

python -m tools.bench.measure crc32|verify|events|batches|changes|rows|export|dump|sql|undo|stats LOG
"""

from __future__ import annotations

import json
import os
import resource
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress


def crc32(path: str) -> None:
    """Read the file and compute its CRC32 with zlib; the reference for all other figures."""
    crc, buffer = 0, bytearray(1 << 20)
    view = memoryview(buffer)
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            crc = zlib.crc32(view[:count], crc)


def verify(path: str) -> None:
    """`binlog-kaitai verify`."""
    from binlog_kaitai.check.damage_scan import scan
    from binlog_kaitai.sources.source import Source

    report = scan(Source.of_path(path))
    assert not report.damage_count, report.damages


def events(path: str) -> None:
    """`binlog-kaitai events --format json`, written to /dev/null."""
    from binlog_kaitai.lines.event_lines import write_json

    with open(os.devnull, "wb") as sink:
        for lines in write_json(path):
            sink.write(lines)


def batches(path: str) -> None:
    """`read_events`: Arrow batches, `info` included."""
    from binlog_kaitai.views.events_view import read_events

    for _ in read_events(path):
        pass


def changes(path: str) -> int:
    """`read_changes` of the log's only table: typed columns."""
    from binlog_kaitai.views.changes_view import read_changes

    return sum(batch.num_rows for batch in read_changes(path, table=first_table(path), threads=1))


def rows(path: str) -> None:
    """`binlog-kaitai rows --format json`, written to /dev/null."""
    from binlog_kaitai.lines.row_texts import write_rows

    with open(os.devnull, "wb") as sink:
        for lines in write_rows(path, threads=1):
            sink.write(lines)


def export(path: str) -> None:
    """The changes of `binlog-kaitai export`, including the compressed files."""
    import tempfile
    from pathlib import Path

    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.rows.log_pages import RowsPages
    from binlog_kaitai.views.parquet_folder import write_changes

    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        write_changes(RowsPages(path, Filters()), Path(folder))


def dump(path: str) -> None:
    """`binlog-kaitai dump -vv --base64-output=decode-rows`, written to /dev/null."""
    from binlog_kaitai.dump.dump_logs import dump as write_dump
    from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
    from binlog_kaitai.sources.source import resolve

    options = DumpOptions(verbose=2, base64_output=Base64Output.DECODE_ROWS)
    with open(os.devnull, "wb") as sink:
        write_dump(resolve((path,)), sink.write, options)


def sql(path: str) -> None:
    """`binlog-kaitai sql --allow-unnamed`, written to /dev/null."""
    _write_sql(path, undo=False)


def undo(path: str) -> None:
    """`binlog-kaitai sql --undo --allow-unnamed`, written to /dev/null."""
    _write_sql(path, undo=True)


def _write_sql(path: str, *, undo: bool) -> None:
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_sql

    options = SqlOptions(undo=undo, allow_unnamed=True)
    with open(os.devnull, "wb") as sink:
        for part in write_sql(path, Filters(), options, OmissionReport(lambda _: None)):
            sink.write(part)


def stats(path: str) -> None:
    """`binlog-kaitai stats --format json`, without the text."""
    from binlog_kaitai.statistics.counting import stats

    result = stats(path)
    assert result.error is None, result.error


def first_table(path: str) -> str:
    import binlog_kaitai as bk

    with bk.open(path) as log:
        for event in log:
            if event.table_map is not None:
                return f"{event.table_map.schema_name}.{event.table_map.table_name}"
    raise SystemExit(f"{path} has no rows")


TASKS: dict[str, Callable[[str], int | None]] = {
    task.__name__: task
    for task in (crc32, verify, events, batches, changes, rows, export, dump, sql, undo, stats)
}


def main() -> None:
    name, path = sys.argv[1:]
    count = TASKS[name](path)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": usage.ru_utime + usage.ru_stime, "peak": _peak(usage.ru_maxrss), "rows": count}))


def _peak(max_rss: int) -> int:
    """Peak memory in bytes; on Linux, `max_rss` includes the process before it became this program."""
    with suppress(OSError), open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return max_rss * 1024


if __name__ == "__main__":
    main()
