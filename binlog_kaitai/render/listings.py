"""Listings of events and transactions as lines of JSON, as a table, or as CSV."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, BinaryIO

from binlog_kaitai.core.adapter import utc
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.render.output_text import (
    ENCODING_ERRORS,
    csv_line,
    printable,
    shown_bytes,
    shown_seconds,
    to_json,
)

_GTID_TYPES = frozenset(type_name(kind) for kind in GTID_TYPES)

_COLUMNS = (
    ("file", 20),
    ("position", 10),
    ("time (UTC)", 19),
    ("type", 26),
    ("server", 8),
    ("size", 9),
    ("crc", 4),
)


def event_writer(output: str, stream: BinaryIO) -> Callable[[Any], object]:
    """A function that takes lines of JSON, as bytes, and writes them in the format `output`."""
    if output == "json":
        return stream.write
    write_objects = _Csv(stream).write if output == "csv" else _Table(stream).write
    # Not splitlines: texts may contain other characters that it treats as line ends.
    return lambda lines: write_objects([json.loads(line) for line in bytes(lines).split(b"\n") if line])


class _Csv:
    """CSV with a header line; `info` is JSON text."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._has_headings = False

    def write(self, objects: list[dict[str, Any]]) -> None:
        for one in objects:
            if not self._has_headings:
                self._stream.write(csv_line(one))
                self._has_headings = True
            self._stream.write(csv_line(one.values()))


class _Table:
    """A table of fixed widths: the file's name without its folders, the main fields at the end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._has_headings = False

    def write(self, objects: list[dict[str, Any]]) -> None:
        lines = [] if self._has_headings else [_line([name for name, _ in _COLUMNS], "info")]
        self._has_headings = True
        lines += [_line(_cells(one), _info(one)) for one in objects]
        self._stream.write("".join(lines).encode("utf-8", ENCODING_ERRORS))


def _cells(one: dict[str, Any]) -> list[str]:
    time = f"{utc(one['timestamp']):%Y-%m-%d %H:%M:%S}" if one["timestamp"] else ""
    name = os.path.basename(one["file"])
    values = name, one["position"], time, one["type"], one["server_id"], one["size"], one["checksum"]
    return [str(value) for value in values]


def _line(cells: list[str], info: str) -> str:
    padded = (f"{cell:<{width}}" for cell, (_, width) in zip(cells, _COLUMNS, strict=True))
    return printable(f"{'  '.join(padded)}  {info}".rstrip()) + "\n"


def _info(one: dict[str, Any]) -> str:
    fields = dict(one["info"] or {})
    if one["type"] in _GTID_TYPES:
        fields = {"gtid": one["gtid"], **fields}
    return " ".join(f"{name}={_shown(value)}" for name, value in fields.items() if value is not None)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else to_json(value)
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


#: The columns of a table with their widths; the tables, or the text of a DDL statement, follow them.
_TRANSACTION_COLUMNS = {
    "file": 20,
    "position": 10,
    "time (UTC)": 19,
    "gtid": 41,
    "kind": 10,
    "took": 9,
    "size": 9,
    "events": 7,
    "rows": 8,
    "thread": 7,
}
_CHANGES = ("rows_inserted", "rows_updated", "rows_deleted")

#: Longer texts are truncated in a table.
_MAX_LENGTH = 80


def transaction_writer(output: str, stream: BinaryIO) -> Callable[[bytes], object]:
    """A function that takes lines of JSON and writes them in the format `output`."""
    if output == "json":
        return stream.write
    make = _csv if output == "csv" else _table
    has_headings = [False]

    def write(lines: bytes) -> None:
        # Times stay text, with their original digits.
        objects = [json.loads(line, parse_float=str) for line in lines.split(b"\n") if line]
        stream.write(make(objects, has_headings[0]))
        has_headings[0] = True

    return write


def _csv(objects: list[dict[str, Any]], has_headings: bool) -> bytes:
    headings = [] if has_headings else [csv_line(objects[0])]
    return b"".join([*headings, *(csv_line(one.values()) for one in objects)])


def _table(objects: list[dict[str, Any]], has_headings: bool) -> bytes:
    lines = [] if has_headings else [_transaction_line(_TRANSACTION_COLUMNS, "tables")]
    for one in objects:
        text = one["statement"] if one["statement"] and not one["tables"] else ", ".join(one["tables"])
        text = " ".join(text.split())
        cut = text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
        lines.append(_transaction_line(_transaction_cells(one), cut))
    return "".join(lines).encode("utf-8", ENCODING_ERRORS)


def _transaction_cells(one: dict[str, Any]) -> list[str]:
    committed = one["original_commit_timestamp"]
    if committed is None and one["start"] is not None:
        committed = one["start"] + one["duration"]
    counts = [one[name] for name in _CHANGES]
    return [
        os.path.basename(one["file"]),
        str(one["position"]),
        f"{utc(int(float(committed))):%Y-%m-%d %H:%M:%S}" if committed is not None else "",
        one["gtid"] or "",
        one["kind"],
        "" if one["duration"] is None else shown_seconds(one["duration"]),
        shown_bytes(one["bytes"]),
        str(one["events"]),
        "" if None in counts else str(sum(counts)),
        "" if one["thread_id"] is None else str(one["thread_id"]),
    ]


def _transaction_line(cells: Any, rest: str) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, _TRANSACTION_COLUMNS.values(), strict=True))
    return printable(f"{'  '.join(padded)}  {rest}".rstrip()) + "\n"
