"""Transactions as lines of JSON, as a table, or as CSV."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, BinaryIO

from binlog_kaitai.core.adapter import utc
from binlog_kaitai.render.amounts import shown_bytes, shown_seconds
from binlog_kaitai.render.csv_text import csv_line
from binlog_kaitai.render.json_text import ENCODING_ERRORS
from binlog_kaitai.render.terminal import printable

#: The columns of a table with their widths; the tables, or the text of a DDL statement, follow them.
_COLUMNS = {
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


def writer(output: str, stream: BinaryIO) -> Callable[[bytes], object]:
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
    lines = [] if has_headings else [_line(_COLUMNS, "tables")]
    for one in objects:
        text = one["statement"] if one["statement"] and not one["tables"] else ", ".join(one["tables"])
        text = " ".join(text.split())
        cut = text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
        lines.append(_line(_cells(one), cut))
    return "".join(lines).encode("utf-8", ENCODING_ERRORS)


def _cells(one: dict[str, Any]) -> list[str]:
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


def _line(cells: Any, rest: str) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, _COLUMNS.values(), strict=True))
    return printable(f"{'  '.join(padded)}  {rest}".rstrip()) + "\n"
