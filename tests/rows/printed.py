"""Rows as printed by `mysqlbinlog -vv`: parsed from its text, and formatted from ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.log.event_rows import Change, Row
from binlog_kaitai.values.charsets import decode
from binlog_kaitai.values.json_documents import JsonText
from binlog_kaitai.values.representations import text_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.temporal import ZeroDate, date_text

_HEAD = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `((?:[^`]|``)*)`\.`((?:[^`]|``)*)`( VALUES \(\))?$")
_CELL = re.compile(r"###   @(\d+)=(.*?)(?: /\* (\S.*) meta=(\d+) nullable=\d is_null=\d \*/)?$", re.S)
_NUMBER = re.compile(rb"\\x([0-9a-fA-F]{2})()")
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|([\\'bfnrt0]))")
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0"}

_COMPRESSED = (ColumnType.varchar_compressed, ColumnType.blob_compressed)


class Printed(NamedTuple):
    """One row of the text: what was done to which table, and the cells by number, of one or two images."""

    verb: str
    table: str
    images: list[dict[int, str]]


def read_printed(text: str) -> Iterator[Printed]:
    """The rows in what a server's client printed."""
    row: Printed | None = None
    for line in text.split("\n"):
        if match := _HEAD.match(line):
            if row is not None:
                yield row
            # `VALUES ()` follows a row whose image has no column.
            images: list[dict[int, str]] = [{}] if match[4] else []
            row = Printed(match[1].split()[0], f"{match[2]}.{match[3]}".replace("``", "`"), images)
        elif row is not None and line in ("### SET", "### WHERE"):
            row.images.append({})
        elif row is not None and row.images and (cell := _CELL.match(line)):
            row.images[-1][int(cell[1])] = cell[2].rstrip()
    if row is not None:
        yield row


def unprinted_tables(text: str) -> set[str]:
    """Tables with rows that the client gave up on: `mysqlbinlog` knows no GEOMETRY."""
    rows = ((found, line) for found, line in _with_headers(text) if "!! Don't know how to handle" in line)
    return {head for head, _ in rows}


def _with_headers(text: str) -> Iterator[tuple[str, str]]:
    head = ""
    for line in text.split("\n"):
        if match := _HEAD.match(line):
            head = f"{match[2]}.{match[3]}"
        yield head, line


def images_of(row: Row) -> list[dict[int, Any]]:
    """The images of a row, in the order of the text: columns by number with their values."""
    shown = (row.before, row.after) if row.change is Change.UPDATE else (row.before or row.after,)
    return [
        {
            column.index + 1: (column, image[column.name])
            for column in row.schema.columns
            if column.name in image
        }
        for image in shown
        if image is not None
    ]


def agrees(printed: str, column: Column, value: Any) -> bool:
    """Whether a value is what the text says."""
    if printed == "NULL" or value is None:
        return printed == "NULL" and value is None
    if column.type == ColumnType.double:
        return float(printed) == value
    if column.type == ColumnType.float:
        return f"{float(printed):.6g}" == f"{value:.6g}"
    if column.type == ColumnType.vector:
        return printed == text_form(value, column)
    if printed.startswith("'"):
        # MariaDB's client escapes bytes as numbers and leaves backslashes as they are.
        return any(_agrees_text(_unquote(printed, escape), column, value) for escape in (_ESCAPE, _NUMBER))
    if printed.startswith("b'"):
        bits = int(printed[2:-1] or "0", 2)
        if column.type == ColumnType.set:  # its bytes stand as they are stored
            bits = int.from_bytes(bits.to_bytes(column.length, "big"), "little")
        return _bits(column, value) == bits
    if column.type == ColumnType.year and value == 0:
        return printed == "1900"  # which the clients make of it, unlike the servers
    # Of a negative number the unsigned one with the same bits follows it.
    return _plain(column, value) in printed.replace("(", "").replace(")", "").split()


def _plain(column: Column, value: Any) -> str:
    if isinstance(value, datetime):
        fraction = text_form(value, column).partition(".")
        return f"{int(value.timestamp())}{fraction[1]}{fraction[2]}"
    if isinstance(value, ZeroDate) and column.type in (ColumnType.timestamp, ColumnType.timestamp2):
        fraction = value.partition(".")
        return f"0{fraction[1]}{fraction[2]}"
    if isinstance(value, str) and column.type == ColumnType.enum:
        return str((column.members or ()).index(value) + 1 if value else 0)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def _bits(column: Column, value: Any) -> int:
    if isinstance(value, str):
        chosen = value.split(",") if value else []
        return sum(1 << (column.members or ()).index(member) for member in chosen)
    return int(value)


def is_change(printed: str) -> bool:
    """Whether the text is a partial update of a document."""
    return printed.startswith(("JSON_", "@"))


def _agrees_text(printed: bytes, column: Column, value: Any) -> bool:
    if column.type in _COMPRESSED:
        return True  # shown as it is stored
    if isinstance(value, bytes):
        # The log, and so the text, has BINARY without the zero bytes at its end.
        if column.type == ColumnType.string:
            return printed == value.rstrip(b"\0") or printed == value
        return printed == value
    if isinstance(value, date | timedelta | ZeroDate):
        return printed in (text_form(value, column).encode(), _with_colons(value).encode())
    if isinstance(value, JsonText):
        text = printed.decode("utf-8", "surrogateescape")
        return text == value or text == json.loads(value)
    return decode(printed, column.charset) == value


def _with_colons(value: Any) -> str:
    text = date_text(value) if isinstance(value, date) else str(value)
    return text.replace("-", ":")


def _unquote(printed: str, escape: re.Pattern[bytes]) -> bytes:
    data = printed[1:-1].encode("utf-8", "surrogateescape")
    return escape.sub(_byte, data)


def _byte(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes.fromhex(found[1].decode())
    return _LETTERS.get(found[2], found[2])
