"""Listings of events, transactions and logs as lines of JSON, as a table, or as CSV."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.log.log_end import EndKind
from binlog_kaitai.text.output_text import (
    ENCODING_ERRORS,
    TableWriter,
    csv_line,
    iso_time,
    printable,
    shown_bytes,
    shown_seconds,
    shown_time,
    to_json,
    zone_name,
)

#: A line of JSON.
_Object = dict[str, Any]

_GTID_TYPES = frozenset(type_name(kind) for kind in GTID_TYPES)

#: The columns of the tables with their widths; the text named last follows them.
_EVENT_COLUMNS = {
    "file": 18,
    "position": 10,
    "time": 19,
    "type": 26,
    "server": 8,
    "size": 9,
    "crc": 4,
    "info": 0,
}
_TRANSACTION_COLUMNS = {
    "file": 18,
    "position": 10,
    "time": 19,
    "gtid": 41,
    "kind": 10,
    "duration": 9,
    "size": 9,
    "events": 7,
    "inserted": 8,
    "updated": 8,
    "deleted": 8,
    "thread": 7,
    "tables": 0,
}

_LOG_COLUMNS = {
    "file": 18,
    "server": 8,
    "version": 14,
    "from": 19,
    "to": 19,
    "size": 9,
    "transactions": 12,
    "state": 10,
    "gtids": 0,
}

#: What the report on a log says in its line, as JSON and as CSV.
_LOG_FIELDS = (
    *("file", "server_id", "server_version", "first_time", "last_time", "bytes", "transactions"),
    *("end", "gtids", "gap_before", "missing_logs", "half_copy", "damage_count", "not_checked"),
)

#: The columns that are shown side by side on a narrow terminal, with the other values in a line below; and
#: which of these are shown without their names.
_MAIN = {"file", "position", "time", "type", "kind", "from", "state"}
_WITHOUT_NAMES = {"gtid", "gtids", "info", "tables"}

#: Columns whose headings name the time zone.
_ZONED = {"time", "from"}

#: Times, which CSV has in ISO 8601.
_TIMES = {
    *("timestamp", "start", "original_commit_timestamp", "immediate_commit_timestamp"),
    *("first_time", "last_time"),
}

_CHANGES = ("rows_inserted", "rows_updated", "rows_deleted")

#: The part of a version that a table shows: builds and packages make it long.
_VERSION = r"[\d.]+(-MariaDB)?"

_STATES = {EndKind.CLEAN: "closed", EndKind.IN_USE: "active", EndKind.TRUNCATED: "truncated"}

#: Longer texts are truncated in a table.
_MAX_LENGTH = 80

#: Width that the last column of a table needs, at least.
_LEAST_TEXT = 16


def event_writer(output: str, stream: BinaryIO) -> Callable[[bytes | memoryview], object]:
    """A function that takes lines of JSON and writes them in the format `output`."""
    return _writer(output, stream, _EVENT_COLUMNS, _event_cells, float)


def transaction_writer(output: str, stream: BinaryIO) -> Callable[[bytes | memoryview], object]:
    """A function that takes lines of JSON and writes them in the format `output`."""
    # Times stay text, with their original digits.
    return _writer(output, stream, _TRANSACTION_COLUMNS, _transaction_cells, str)


def log_writer(output: str, stream: BinaryIO, *, has_folders: bool) -> Callable[[_Object], object]:
    """A function that takes the reports on logs as objects, and writes them in the format `output`.

    `has_folders`: a table says in which folder the following logs are.
    """
    write_line = _writer(output, stream, _LOG_COLUMNS, _log_cells, float)
    folder: str | None = None

    def note(text: str) -> None:
        if output == "table":
            stream.write(f"-- {printable(text)}\n".encode("utf-8", ENCODING_ERRORS))

    def write(report: _Object) -> None:
        nonlocal folder
        before, (folder, name) = folder, os.path.split(report["file"])
        if has_folders and folder != before:
            note(folder)
        if report["gap_before"] is not None:
            note(f"{name} {report['gap_before']}")
        line = to_json({field: report[field] for field in _LOG_FIELDS})
        write_line(f"{line}\n".encode("utf-8", ENCODING_ERRORS))

    return write


def _writer(
    output: str,
    stream: BinaryIO,
    columns: dict[str, int],
    cells: Callable[[_Object], Iterable[str]],
    parse_float: Callable[[str], object],
) -> Callable[[bytes | memoryview], object]:
    if output == "json":
        return stream.write
    has_headings = False
    headings = [f"time ({zone_name()})" if name in _ZONED else name for name in columns]

    width = stream.width if isinstance(stream, TableWriter) else None
    is_narrow = width is not None and sum(columns.values()) + 2 * len(columns) + _LEAST_TEXT > width

    def line(values: Iterable[str]) -> bytes:
        padded, beside = [], ["  "]
        for (name, size), text in zip(columns.items(), values, strict=True):
            if not is_narrow or name in _MAIN:
                padded.append(f"{text:<{size}}")
            elif text not in ("", "0", "0 s", name):
                beside.append(text if name in _WITHOUT_NAMES else f"{name} {text}")
        lines = ["  ".join(padded).rstrip(), *(["  ".join(beside)] if len(beside) > 1 else [])]
        return "".join(f"{printable(text)}\n" for text in lines).encode("utf-8", ENCODING_ERRORS)

    def write(lines: bytes | memoryview) -> None:
        nonlocal has_headings
        # Not splitlines: texts may contain other characters that it treats as line ends.
        objects = [json.loads(text, parse_float=parse_float) for text in bytes(lines).split(b"\n") if text]
        for fields in objects:
            if not has_headings:
                stream.write(csv_line(fields) if output == "csv" else line(headings))
                has_headings = True
            stream.write(csv_line(_csv_values(fields)) if output == "csv" else line(cells(fields)))

    return write


def _csv_values(fields: _Object) -> Iterable[object]:
    for name, value in fields.items():
        seconds, _, micros = str(value).partition(".")
        yield iso_time(int(seconds), int(micros or 0)) if name in _TIMES and value else value


def _event_cells(event: _Object) -> list[str]:
    time = shown_time(event["timestamp"]) if event["timestamp"] else ""
    values = event["position"], time, event["type"], event["server_id"], event["size"], event["checksum"]
    fields = dict(event["info"] or {})
    if event["type"] in _GTID_TYPES:
        fields = {"gtid": event["gtid"], **fields}
    info = (f"{name}={_shown(value)}" for name, value in fields.items() if value is not None)
    return [os.path.basename(event["file"]), *map(str, values), " ".join(info)]


def _log_cells(log: _Object) -> list[str]:
    times = (log[name] for name in ("first_time", "last_time"))
    return [
        os.path.basename(log["file"]),
        "" if log["server_id"] is None else str(log["server_id"]),
        "" if (version := re.match(_VERSION, log["server_version"] or "")) is None else version[0],
        *(shown_time(time) if time else "" for time in times),
        shown_bytes(log["bytes"]),
        str(log["transactions"]),
        _log_state(log),
        _shown(log["gtids"]),
    ]


def _log_state(log: _Object) -> str:
    if log["damage_count"]:
        return "DAMAGED"
    if log["not_checked"] is not None:
        kind: str = log["not_checked"]["kind"]
        return {"EncryptedError": "encrypted", "NotABinlogError": "not a log"}.get(kind, "unreadable")
    return "half copy" if log["half_copy"] else _STATES[EndKind(log["end"])]


def _transaction_cells(transaction: _Object) -> list[str]:
    committed = transaction["original_commit_timestamp"]
    if committed is None and transaction["start"] is not None:
        committed = transaction["start"] + (transaction["duration"] or 0)
    counts = [transaction[name] for name in _CHANGES]
    is_statement = transaction["statement"] and not transaction["tables"]
    return [
        os.path.basename(transaction["file"]),
        str(transaction["position"]),
        shown_time(int(float(committed))) if committed is not None else "",
        transaction["gtid"] or "",
        transaction["kind"],
        "" if transaction["duration"] is None else shown_seconds(transaction["duration"]),
        shown_bytes(transaction["bytes"]),
        str(transaction["events"]),
        *("" if count is None else str(count) for count in counts),
        "" if transaction["thread_id"] is None else str(transaction["thread_id"]),
        _shown(transaction["statement"] if is_statement else ", ".join(transaction["tables"])),
    ]


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    text = " ".join(text.split())
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
