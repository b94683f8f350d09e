"""SQL literals, a column at a time; the rules are those of `binlog_kaitai.values.sql_text`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binlog_kaitai.charsets import BINARY
from binlog_kaitai.columns.rows.cells import Cells
from binlog_kaitai.columns.rows.documents import documents_and_rest
from binlog_kaitai.columns.rows.strings import extends_ascii, is_text, of_bytes, padded, single_bytes
from binlog_kaitai.columns.rows.together import contents
from binlog_kaitai.columns.text import pieces
from binlog_kaitai.columns.text.pieces import HEX, ByteTexts, joined, written
from binlog_kaitai.columns.text.style import Style, by_value
from binlog_kaitai.grammar import ColumnType, parse_cell
from binlog_kaitai.values import Dialect, Value, sql_form
from binlog_kaitai.values.json_sql import document_sql
from binlog_kaitai.values.sql_text import ESCAPES
from binlog_kaitai.values.sql_text import quoted as quote
from binlog_kaitai.values.strings import has_own_text

_QUOTED = ByteTexts.of(ESCAPES)

UTF8 = frozenset(("utf8", "utf8mb3", "utf8mb4"))
#: Character sets that have all of Unicode, but other bytes; text in them reads better as text.
_WIDE = frozenset(("ucs2", "utf16", "utf16le", "utf32"))

#: Types of text, and of byte strings.
TEXT_TYPES = (
    ColumnType.string,
    ColumnType.varchar,
    ColumnType.tiny_blob,
    ColumnType.blob,
    ColumnType.medium_blob,
    ColumnType.long_blob,
)

_SRID_SIZE = 4


def quoted(found: Any) -> Any:
    """String literals of UTF-8 text."""
    return written(found, _QUOTED, b"'", b"'")


def hexed(found: Any, introducer: bytes = b"") -> Any:
    """Hexadecimal literals."""
    return written(found, HEX, introducer + b"0x", b"", empty=b"''")


def strings(style: Style, cells: Cells) -> Any:
    """CHAR, VARCHAR, TEXT and their binary twins, UUID, INET4 and INET6."""
    column, charset = cells.column, cells.column.charset
    if has_own_text(column) or charset in _WIDE:
        return by_value(style, cells)
    if charset == BINARY and column.type == ColumnType.string and column.length:
        return hexed(padded(cells, pa.binary()))
    data, offsets = contents(cells)
    raw = of_bytes(cells, pa.binary(), data, offsets)
    if charset is None or charset == BINARY:
        return hexed(raw)
    if charset in UTF8:
        return quoted(raw) if is_text(of_bytes(cells, pa.string(), data, offsets)) else by_value(style, cells)
    if not extends_ascii(charset):
        return hexed(raw, f"_{charset} ".encode())
    if not len(data) or int(data.max()) < 0x80:
        return quoted(raw)
    table = _texts_of_bytes(charset)
    if table is not None and table.sizes[data].all():
        return written(raw, table, b"'", b"'")
    return _by_introducer(raw, charset)


def _by_introducer(raw: Any, charset: str) -> Any:
    """Text that would not surely come back the same is given by its bytes."""
    is_ascii = pc.string_is_ascii(raw.view(pa.string()))
    return pc.if_else(is_ascii, quoted(raw), hexed(raw, f"_{charset} ".encode()))


@cache
def _texts_of_bytes(charset: str) -> ByteTexts | None:
    """Of a character set of single bytes, what each stands for in a literal; None if two are the same."""
    table = single_bytes(charset)
    if table is None:
        return None
    sizes, characters = table
    texts = {byte: bytes(characters[byte, : sizes[byte]]) for byte in range(256)}
    known = [text for text in texts.values() if text]
    if len(set(known)) < len(known):
        return None
    return ByteTexts.of({byte: text for byte, text in texts.items() if text != bytes([byte])} | ESCAPES)


def choices(style: Style, cells: Cells) -> Any:
    """ENUM and SET: each distinct value is made once. Numbers where the text of two of them is the same."""
    members = cells.column.members
    if members is None:
        return pieces.numbers(style, cells)
    found = by_value(style, cells)  # says what is wrong with any of them
    if "" not in members and len(set(members)) == len(members):
        return found
    unnamed = replace(cells.column, members=None)
    return pieces.numbers(style, Cells(cells.table, unnamed, cells.data, cells.starts))


def documents(style: Style, cells: Cells) -> Any:
    """JSON as a string literal."""
    found, is_left = documents_and_rest(cells, pa.string())
    texts = quoted(found)
    rows = np.flatnonzero(is_left)
    if not len(rows):
        return texts
    by_value(style, cells, rows)  # says what is wrong with any of them
    made = [None if raw is None else _document(cells, raw) for raw in cells.raw(rows)]
    return pc.replace_with_mask(texts, pa.array(is_left), pa.array(made, pa.binary()))


def _document(cells: Cells, raw: bytes) -> bytes:
    document = parse_cell(cells.table.table_map, cells.column.index, raw).document
    text = quote("null") if document is None else document_sql(document)
    return text.encode("utf-8", "surrogateescape")


def geometries(dialect: Dialect, _: Style, cells: Cells) -> Any:
    """Shapes out of SRID and WKB; those without SRID, or of one that is common, at once."""
    data, offsets = contents(cells)
    raw = of_bytes(cells, pa.binary(), data, offsets)
    valid = cells.valid
    is_short = valid & (np.diff(offsets) <= _SRID_SIZE)
    srids = _srids(data, offsets, valid & ~is_short)
    result = pa.nulls(len(cells), pa.binary())
    wkb = written(pc.binary_slice(raw, _SRID_SIZE, (1 << 31) - 1), HEX, b"0x", b"")
    for srid in np.unique(srids[valid & ~is_short]).tolist():
        axes = b", 'axis-order=long-lat'" if srid and dialect.has_axes else b""
        number = b", %d" % srid if srid else b""
        texts = joined(b"ST_GeomFromWKB(", wkb, number + axes + b")")
        result = pc.if_else(pa.array((srids == srid) & valid & ~is_short), texts, result)
    return result


def _srids(data: Any, offsets: Any, chosen: Any) -> Any:
    found = np.zeros(len(chosen), dtype=np.int64)
    places = offsets[:-1][chosen]
    for step in range(_SRID_SIZE):
        found[chosen] |= data[places + step].astype(np.int64) << (8 * step)
    return found


def vectors(_: Style, cells: Cells) -> Any:
    """VECTOR: its floats as they are stored."""
    return hexed(of_bytes(cells, pa.binary(), *contents(cells)))


@cache
def sql_style(dialect: Dialect) -> Style:
    """SQL literals of a dialect."""

    def value(one: Value, column: Any) -> bytes:
        return sql_form(one, column, dialect).encode("utf-8", "surrogateescape")

    return Style({**_WRITERS, ColumnType.geometry: partial(geometries, dialect)}, value)


_WRITERS: dict[ColumnType | int, Any] = {
    **dict.fromkeys(
        (
            ColumnType.tiny,
            ColumnType.short,
            ColumnType.int24,
            ColumnType.long,
            ColumnType.longlong,
            ColumnType.year,
            ColumnType.bit,
        ),
        pieces.numbers,
    ),
    **dict.fromkeys((ColumnType.float, ColumnType.double), pieces.floats),
    ColumnType.newdecimal: pieces.decimals,
    **dict.fromkeys(
        (
            ColumnType.date,
            ColumnType.newdate,
            ColumnType.time,
            ColumnType.time2,
            ColumnType.datetime,
            ColumnType.datetime2,
            ColumnType.timestamp,
            ColumnType.timestamp2,
        ),
        pieces.moments,
    ),
    **dict.fromkeys(TEXT_TYPES, strings),
    **dict.fromkeys((ColumnType.enum, ColumnType.set), choices),
    ColumnType.json: documents,
    ColumnType.vector: vectors,
}
