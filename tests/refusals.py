"""Logs built from events, and every way to read one to its end, for tests of damage."""

from __future__ import annotations

import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import header_offset, read_header
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.event_rows import has_rows
from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_sql
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.views.parquet_folder import write_changes
from tests.row_objects import row_objects

_MAGIC = 4
_NEXT_AT = header_offset("next_position")


def events_in(data: bytes) -> list[bytes]:
    """The events of an undamaged log of version 4."""
    found, at = [], _MAGIC
    while at + 19 <= len(data):
        size = read_header(data[at : at + 19], 4).len_event
        found.append(data[at : at + size])
        at += size
    return found


def log_of(events: Iterable[bytes], *, is_checksummed: bool) -> bytes:
    """A log of some events, with right positions and checksums."""
    log = bytearray(b"\xfebin")
    for raw in events:
        event = bytearray(raw)
        if event[_NEXT_AT : _NEXT_AT + 4] != bytes(4):
            event[_NEXT_AT : _NEXT_AT + 4] = (len(log) + len(event)).to_bytes(4, "little")
        if is_checksummed:
            event[-4:] = zlib.crc32(event[:-4]).to_bytes(4, "little")
        log += event
    return bytes(log)


def _events(path: SourceLike) -> None:
    for event in bk.open(path):
        _ = event.parsed


def _rows_of(path: SourceLike) -> None:
    for event in bk.open(path):
        if has_rows(event):
            for _ in row_objects(event):
                pass


def _rows(path: SourceLike) -> None:
    for _ in write_rows(path):
        pass


def _dump(path: SourceLike) -> None:
    dump(path, lambda text: None, DumpOptions(verbose=2))


def _sql(path: SourceLike) -> None:
    options = SqlOptions(undo=False, operation=(), where=None, column=(), allow_unnamed=True)
    for _ in write_sql(path, Filters.of(), options, OmissionReport(lambda warning: None)):
        pass


def _stats(path: SourceLike) -> None:
    if (error := bk.stats(path).error) is not None:
        raise error


def _export(path: SourceLike) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_changes(RowsPages(path, Filters.of()), Path(folder), zero_dates="null", counts={})


def _drained(read: Callable[..., Any]) -> Callable[[SourceLike], None]:
    def run(path: SourceLike) -> None:
        for _ in read(path):
            pass

    return run


def _typed(path: SourceLike) -> None:
    for name in _tables(path):
        for _ in bk.read_changes(path, table=name):
            pass


def _tables(path: SourceLike) -> list[str]:
    names = set()
    with suppress(bk.BinlogError):
        for event in bk.open(path):
            if event.type == "TABLE_MAP_EVENT":
                names.add(f"{event.body.schema_name}.{event.body.table_name}")
    return sorted(names)


#: Every way to read a log to its end; each raises what is wrong with it.
ENTRIES: dict[str, Callable[[SourceLike], None]] = {
    "open": _events,
    "rows_of": _rows_of,
    "rows": _rows,
    "dump -v": _dump,
    "sql": _sql,
    "stats": _stats,
    "export": _export,
    "read_events": _drained(bk.read_events),
    "read_changes": _drained(bk.read_changes),
    "read_changes(table)": _typed,
    "read_transactions": _drained(bk.read_transactions),
}


def refusal(entry: str, source: SourceLike) -> bk.BinlogError | None:
    """What an entry says is wrong with a log."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ENTRIES[entry](source)
        except bk.UsageError:
            return None
        except bk.BinlogError as error:
            return error
    return None


def refusals(source: SourceLike) -> dict[str, bk.BinlogError]:
    """What each entry says that refuses a log."""
    return {name: error for name in ENTRIES if (error := refusal(name, source)) is not None}
