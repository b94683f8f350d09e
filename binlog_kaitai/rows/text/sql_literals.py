"""SQL literals, a column at a time, by the rules of `binlog_kaitai.values.sql_text`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.log.groups import distinct_values
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.fused_columns import contents
from binlog_kaitai.rows.string_columns import extends_ascii, is_text, of_bytes, padded, printed_documents
from binlog_kaitai.rows.text import long_values, text_styles
from binlog_kaitai.rows.text.json_kernels import INTRODUCER
from binlog_kaitai.rows.text.sql_kernels import put_literals, put_pieces
from binlog_kaitai.rows.text.text_styles import HEX, TextStyle, by_value, joined, ranges, text_array, written
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import CHOICES, STRINGS, TIMES, Kind
from binlog_kaitai.values.representations import Value, sql_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.sql_text import PLAIN, UTF8, SqlDialect, document_sql, introducer, literal
from binlog_kaitai.values.strings import has_own_text

_SRID_SIZE = 4

_PLAIN = bytes(sorted(PLAIN))


def literals(texts: pa.Array, before_digits: str) -> pa.Array:
    """Text literals: quoted, or hexadecimal after an introducer (see `values.sql_text`)."""
    data, starts, ends, valid, size = ranges(texts)
    before = np.frombuffer(before_digits.encode(), dtype=np.uint8)
    room = 2 * size + (18 + len(before)) * len(texts)
    out, offsets = np.empty(room, dtype=np.uint8), np.empty(len(texts) + 1, dtype=np.int64)
    total = put_literals.run(data, starts, ends, before, out, offsets)
    if total < 0:
        raise AssertionError(f"literals exceed their buffer: {total}")
    return text_array(out[:total], offsets, valid)


def hexed(texts: pa.Array) -> pa.Array:
    """Hexadecimal literals of bytes."""
    return written(texts, HEX, b"0x", b"", empty=b"''")


def as_arguments(texts: pa.Array) -> pa.Array:
    """Texts, none of them null, as arguments of CONCAT: see `statement_text.arguments`."""
    data, starts, ends, _, size = ranges(texts)
    # Alternating runs are at most twice as long as the number of bytes that are not plain.
    used = data[starts[0] : starts[0] + size] if len(texts) else data[:0]
    others = int(np.count_nonzero((used < 0x20) | (used > 0x7E) | (used == ord("\\"))))
    room = 2 * size + 4 * (2 * others + len(texts)) + 20
    out, offsets = np.empty(room, dtype=np.uint8), np.empty(len(texts) + 1, dtype=np.int64)
    total = put_pieces.run(data, starts, ends, out, offsets)
    if total < 0:
        raise AssertionError(f"pieces exceed their buffer: {total}")
    return text_array(out[:total], offsets)


def strings(utf8: str, style: TextStyle, cells: Cells) -> pa.Array:
    """CHAR, VARCHAR, TEXT and their binary counterparts, UUID, INET4 and INET6."""
    column, charset = cells.column, cells.column.charset
    is_of_bytes = charset is None or charset == BINARY
    if has_own_text(column) or not (is_of_bytes or extends_ascii(charset)):
        return by_value(style, cells)
    if charset == BINARY and column.kind == Kind.CHAR and column.length:
        return hexed(padded(cells, pa.binary()))
    data, offsets = contents(cells)
    raw = of_bytes(cells, pa.binary(), data, offsets)
    if is_of_bytes:
        return hexed(raw)
    if charset in UTF8:
        is_utf8 = is_text(of_bytes(cells, pa.string(), data, offsets))
        return literals(raw, introducer(utf8)) if is_utf8 else by_value(style, cells)
    # From the original bytes: several of them may decode to one character, which would not round-trip.
    return literals(raw, introducer(charset or ""))


def deferred_strings(utf8: str, style: TextStyle, cells: Cells) -> pa.Array:
    """Like `strings`, but with a placeholder for a long value that is alone; see `long_values`."""
    # A long value fills an event, whose rows are therefore few.
    if len(cells) == 1 and len(cells.data) > long_values.LONG:
        found = _deferred(utf8, cells)
        if found is not None:
            return pa.array([found], pa.binary())
    return strings(utf8, style, cells)


def _deferred(utf8: str, cells: Cells) -> bytes | None:
    """The literal of one value with a placeholder; None if the value is not long, or is written otherwise."""
    column, charset = cells.column, cells.column.charset
    size = int(cells.sizes(np.zeros(1, dtype=np.int64))[0]) - cells.width.prefix
    is_of_bytes = charset is None or charset == BINARY
    if size < long_values.LONG or has_own_text(column) or not (is_of_bytes or extends_ascii(charset)):
        return None
    start = int(cells.starts[0]) + cells.width.prefix
    found = cells.data, start, start + size
    if not is_of_bytes:
        if charset in UTF8 and not long_values.is_utf8(*found):
            return None
        if long_values.consists_of(_PLAIN, *found):
            return b"'" + long_values.placeholder(*found[1:], in_hex=False) + b"'"
    before = "" if is_of_bytes else introducer(utf8 if charset in UTF8 else charset or "")
    return before.encode() + b"0x" + long_values.placeholder(*found[1:], in_hex=True)


def choices(style: TextStyle, cells: Cells) -> pa.Array:
    """ENUM and SET; each distinct value is formatted once, as a number if two members have the same text."""
    members = cells.column.members
    if members is None:
        return text_styles.numbers(style, cells)
    found = by_value(style, cells)  # raises the error of the first invalid value
    if "" not in members and len(set(members)) == len(members):
        return found
    unnamed = replace(cells.column, members=None)
    return text_styles.numbers(style, Cells(cells.table, unnamed, cells.data, cells.starts))


def documents(style: TextStyle, cells: Cells) -> pa.Array:
    """JSON as a string literal."""
    found, is_left, casts = printed_documents(cells, pa.string(), has_casts=True)
    texts = _with_casts(literals(found, INTRODUCER.tobytes().decode()), casts)
    rows = np.flatnonzero(is_left)
    if not len(rows):
        return texts
    by_value(style, cells, rows)  # raises the error of the first invalid value
    made = [None if raw is None else _document(cells, raw) for raw in cells.raw(rows)]
    return pc.replace_with_mask(texts, pa.array(is_left), pa.array(made, pa.binary()))


def _with_casts(texts: pa.Array, casts: pa.Array) -> pa.Array:
    """Literals of documents, and casts of the values that these do not express."""
    # A document that is a single value has a cast without a path.
    is_set = pc.starts_with(casts, b",")
    is_single = pc.and_not(pc.greater(pc.binary_length(casts), 0), is_set)
    if pc.any(is_set).as_py():
        texts = pc.if_else(is_set, joined(b"JSON_SET(CAST(", texts, b" AS JSON)", casts, b")"), texts)
    if pc.any(is_single).as_py():
        texts = pc.if_else(is_single, joined(b"CAST(", casts, b" AS JSON)"), texts)
    return texts


def _document(cells: Cells, raw: bytes) -> bytes:
    document = parse_cell(cells.table.table_map, cells.column.index, raw).document
    return (literal("null") if document is None else document_sql(document)).encode()


def geometries(dialect: SqlDialect, _: TextStyle, cells: Cells) -> pa.Array:
    """Geometries from SRID and WKB; those without SRID, or with a frequent one, are formatted together."""
    data, offsets = contents(cells)
    raw = of_bytes(cells, pa.binary(), data, offsets)
    valid = cells.valid
    is_short = valid & (np.diff(offsets) <= _SRID_SIZE)
    srids = _srids(data, offsets, valid & ~is_short)
    result = pa.nulls(len(cells), pa.binary())
    wkb = written(pc.binary_slice(raw, _SRID_SIZE, (1 << 31) - 1), HEX, b"0x", b"")
    for srid in distinct_values(srids[valid & ~is_short]).tolist():
        axes = b", 'axis-order=long-lat'" if srid and dialect.has_axes else b""
        number = b", %d" % srid if srid else b""
        texts = joined(b"ST_GeomFromWKB(", wkb, number + axes + b")")
        result = pc.if_else(pa.array((srids == srid) & valid & ~is_short), texts, result)
    return result


def _srids(data: Bytes, offsets: Array, chosen: Bools) -> Ints:
    found = np.zeros(len(chosen), dtype=np.int64)
    positions = offsets[:-1][chosen]
    for step in range(_SRID_SIZE):
        found[chosen] |= data[positions + step].astype(np.int64) << (8 * step)
    return found


def vectors(_: TextStyle, cells: Cells) -> pa.Array:
    """VECTOR: its floats as stored."""
    return hexed(of_bytes(cells, pa.binary(), *contents(cells)))


@cache
def sql_style(dialect: SqlDialect, *, defers_long: bool = False) -> TextStyle:
    """The style for SQL literals of a dialect; with `defers_long`, long values become placeholders."""

    def value(one: Value, column: Column) -> bytes:
        return sql_form(one, column, dialect).encode()

    own: dict[Kind, Callable[[TextStyle, Cells], pa.Array]] = dict.fromkeys(
        STRINGS, partial(deferred_strings if defers_long else strings, dialect.utf8)
    )
    return TextStyle({**_WRITERS, **own, Kind.GEOMETRY: partial(geometries, dialect)}, value)


_WRITERS: dict[Kind, Callable[[TextStyle, Cells], pa.Array]] = {
    **dict.fromkeys((Kind.INTEGER, Kind.YEAR, Kind.BIT), text_styles.numbers),
    **dict.fromkeys((Kind.FLOAT, Kind.DOUBLE), text_styles.floats),
    Kind.DECIMAL: text_styles.decimals,
    **dict.fromkeys(TIMES, text_styles.moments),
    **dict.fromkeys(CHOICES, choices),
    Kind.JSON: documents,
    Kind.VECTOR: vectors,
}
