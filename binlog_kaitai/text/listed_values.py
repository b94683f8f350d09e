"""Kernels that write single values in a dialect: as JSON, for the table and CSV formats, or as SQL.

Each writes at the given offset of `out`, which must have room, and returns the end; LEFT for a value left to
the event reader. `put_cell` writes a value of any kind in the dialects up to CSV, whose numbers are those of
quotation marks (`quotes`), and `put_sql` in SQL, with texts that depend on the column as its words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints, OutBytes
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.text.float_texts import LEFT, NO_ROOM, REPR_LEAST, REPR_MOST, put_shortest, put_single
from binlog_kaitai.text.json_kernels import put_document
from binlog_kaitai.text.line_arrays import ESCAPES, copy_marked, put_escape, unquote, width_at
from binlog_kaitai.text.moment_texts import put_date, put_hours, put_micros
from binlog_kaitai.text.printed_values import (
    integers,
    put_bits,
    put_calendar,
    put_decimal,
    put_escaped,
    put_floating,
    put_integer,
    put_signed,
    put_unsigned,
    spread_escaped,
)
from binlog_kaitai.text.sql_kernels import put_digits, put_literal, put_marks
from binlog_kaitai.text.text_kernels import copy, put_hex, put_number
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.decoders import (
    date,
    datetime,
    enum,
    int_4,
    int_8,
    json_container,
    old_datetime,
    old_time,
    old_timestamp,
    time,
    timestamp,
    year,
)
from binlog_kaitai.values.json_documents import MARKER

_MARKER = np.frombuffer(MARKER.encode(), dtype=np.uint8)
_NULL = np.frombuffer(b"null", dtype=np.uint8)
_CAST, _SET_CAST, _AS_JSON = (
    np.frombuffer(text, dtype=np.uint8) for text in (b"CAST(", b"JSON_SET(CAST(", b" AS JSON)")
)
_COMMA, _SRID_SIZE = 44, 4

#: Result instead of an end offset: the scratch memory is too small.
NO_SCRATCH = -3

#: Dialects: the table format, without quotation marks and escapes in strings; JSON; JSON inside a quoted CSV
#: field; SQL; SQL inside a string in quotes; the servers' clients.
TABLE, JSON, CSV, SQL, QUOTED_SQL, CLIENT = range(6)

#: The words of a column for CLIENT, after a table of escapes (see `put_escaped`): after a value; for NULL.
CLIENT_SUFFIX, CLIENT_NULL = 1, 2

#: First byte of a document that is an object with offsets of four bytes.
_LARGE_OBJECT = 1


def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether bytes are valid UTF-8."""
    source = data[start:end]
    high = np.uint8(0)
    for index in range(source.shape[0]):
        high = np.uint8(high | source[index])
    if high < 128:
        return True
    while start < end:
        width = width_at(data, start, end)
        if width == 0:
            return False
        start += width
    return True


def is_ambiguous(data: Bytes, start: int, out: Bytes, begin: int, end: int) -> Any:
    """Whether the document at `data[start]`, printed at `out[begin:end]`, needs the marker, see `marked`."""
    size = end - begin
    is_null = size == _NULL.shape[0]
    for step in range(_NULL.shape[0] if is_null else 0):
        is_null = is_null and out[begin + step] == _NULL[step]
    if is_null or size <= _MARKER.shape[0]:
        return is_null
    for step in range(_MARKER.shape[0]):
        if out[begin + step] != _MARKER[step]:
            return False
    count, _, _ = json_container(data, start + 1, data[start] == _LARGE_OBJECT, True)
    return bool(count == 1)


def put_json(
    data: Bytes, start: int, length: int, quotes: int, stack: Ints, out: Bytes, position: int
) -> Any:
    """Write a JSON document; gives LEFT or NO_ROOM as `put_document`.

    Without quotes, LEFT also for a document that is a string, which could be mistaken for another one.
    """
    begin = position
    position, _ = put_document(data, start, start + length, out, position, stack, out[:0], 0)
    if position < 0:
        return position
    if not is_utf8(out, begin, position):
        return LEFT
    if quotes == 0:
        return LEFT if out[begin] == 34 else position
    if is_ambiguous(data, start, out, begin, position):
        size = _MARKER.shape[0]
        if position + size + 1 > out.shape[0]:
            return NO_ROOM
        for step in range(position - begin):
            out[position - 1 - step + size] = out[position - 1 - step]
        for step in range(size):
            out[begin + step] = _MARKER[step]
        out[position + size] = 125
        position += size + 1
    if quotes < 2:
        return position
    marks = np.int64(0)
    text = out[begin:position]
    for index in range(text.shape[0]):
        marks += text[index] == 34
    if position + marks > out.shape[0]:
        return NO_ROOM
    end = position + marks
    offset = end
    while marks > 0:
        position -= 1
        offset -= 1
        byte = out[position]
        out[offset] = byte
        if byte == 34:
            offset -= 1
            out[offset] = 34
            marks -= 1
    return end


#: Kinds of values that `put_cell` writes, besides those of `Kind`. It leaves all others to the event reader.
(
    OTHER,
    SIGNED,
    UNSIGNED,
    UTF8,
    CODED,  # single-byte character set: words are the characters. detail: 1 if it extends ASCII
    BYTES,  # detail: minimum length
    MEMBER,  # words are the members
    MEMBERS,  # words are the names of the bits
    DOCUMENT,
    EXACT_FLOAT,  # a FLOAT as DOUBLE; only in SQL, like the next
    GEOMETRY,  # words are the function, and the axis order if there is an SRID
) = range(64, 75)

BIT, YEAR, FLOAT, DOUBLE = Kind.BIT.value, Kind.YEAR.value, Kind.FLOAT.value, Kind.DOUBLE.value
DECIMAL = Kind.DECIMAL.value  # detail: scale plus 256 times the precision
# Detail of times: fractional digits.
DATE, DATETIME, OLD_DATETIME = Kind.DATE.value, Kind.DATETIME.value, Kind.OLD_DATETIME.value
TIMESTAMP, OLD_TIMESTAMP = Kind.TIMESTAMP.value, Kind.OLD_TIMESTAMP.value
TIME, OLD_TIME = Kind.TIME.value, Kind.OLD_TIME.value

#: Maximum text length of values of all kinds except strings, UTF8 to GEOMETRY.
WIDEST = 96

_ONE = np.uint64(1)
_OPENING = np.frombuffer(b'{"hex": "', dtype=np.uint8)


def put_quote(quotes: int, out: Bytes, offset: int) -> int:
    """Write a quotation mark of JSON."""
    # With signed indexes, Numba would generate code for negative ones.
    place = np.uint64(offset)
    if quotes > 0:
        out[place] = 34
    if quotes > 1:
        out[place + _ONE] = 34
    return offset + quotes


def put_bytes_object(
    data: Bytes, start: int, length: int, least: int, quotes: int, out: Bytes, offset: int
) -> int:
    """Write bytes as ``{"hex": "…"}``, padded with zeros to a minimum length."""
    marks = max(quotes, 1)
    for step in range(_OPENING.shape[0]):
        out[offset] = _OPENING[step]
        offset += 1
        if marks == 2 and _OPENING[step] == 34:
            out[offset] = 34
            offset += 1
    for step in range(length):
        offset = put_hex(data[start + step], out, offset)
    for _ in range(2 * (least - length)):
        out[offset] = 48
        offset += 1
    offset = put_quote(marks, out, offset)
    out[offset] = 125
    return offset + 1


def widest_text(data: Bytes, start: int, length: int) -> Any:
    """Upper bound for the length that `put_utf8` writes."""
    controls: Any = np.int64(0)
    marks: Any = np.int64(0)
    source = data[start : start + length]
    for index in range(source.shape[0]):
        controls += source[index] < 32
        marks += (source[index] == 34) | (source[index] == 92)
    return max(2 * length, length + 5 * controls + 2 * marks) + 32


@kernel
def put_utf8(data: Bytes, start: int, length: int, quotes: int, out: OutBytes, position: int) -> int:
    """Write a string; invalid UTF-8 as an object."""
    begin = position
    position = put_quote(quotes, out, position)
    is_special, is_high = copy_marked(data, start, length, out, position)
    if not is_high and (not is_special or quotes == 0):  # as usual
        return put_quote(quotes, out, position + length)
    offset = start
    end = start + length
    while offset < end:
        byte = data[np.uint64(offset)]
        if byte >= 128:
            width = width_at(data, offset, end)
            if width == 0:
                return put_bytes_object(data, start, length, 0, quotes, out, begin)
            for step in range(width):
                out[np.uint64(position + step)] = data[np.uint64(offset + step)]
            position += width
            offset += width
            continue
        offset += 1
        if quotes == 0 or ESCAPES[byte] == 0:
            out[np.uint64(position)] = byte
            position += 1
        elif byte == 34:
            out[position] = 92
            position = put_quote(quotes, out, position + 1)
        else:
            position = put_escape(byte, out, position)
    return put_quote(quotes, out, position)


class CellBytes(NamedTuple):
    """A value: its bytes `data[offset : offset + length]`, its kind, and what this takes of its column.

    `words`, `limits`: words of columns, and the start of each.
    `first`, `word_count`: the words of its column.
    """

    data: Bytes
    offset: int
    length: int
    kind: int
    detail: int
    words: Bytes
    limits: Ints
    first: int
    word_count: int


def put_coded(cell: CellBytes, quotes: int, out: Bytes, offset: int) -> int:
    """Write a string byte by byte, translated by words; LEFT if a byte has none."""
    data, start, length, _, detail, words, limits, first, _ = cell
    offset = put_quote(quotes, out, offset)
    if detail == 1:
        is_special, is_high = copy_marked(data, start, length, out, offset)
        if not (is_special or is_high):
            return put_quote(quotes, out, offset + length)
    for step in range(length):
        word = first + np.int64(data[start + step])
        size = limits[word + 1] - limits[word]
        if size == 0:
            return LEFT
        for letter in range(size):
            out[offset + letter] = words[limits[word] + letter]
        offset += size
    return put_quote(quotes, out, offset)


def put_members(cell: CellBytes, quotes: int, out: Bytes, offset: int) -> int:
    """Write the names of bits, separated by commas; LEFT if a bit has none."""
    _, bits = integers(cell.data, cell.offset, cell.length)
    count = cell.word_count
    if count < 64 and bits >> count != 0:
        return LEFT
    offset = put_quote(quotes, out, offset)
    is_first = True
    for bit in range(count):
        if (bits >> bit) & 1:
            if not is_first:
                out[offset] = 44
                offset += 1
            is_first = False
            offset = put_word(cell.words, cell.limits, cell.first + bit, out, offset)
    return put_quote(quotes, out, offset)


def put_moment(
    is_client: bool, data: Bytes, offset: int, kind: int, digits: int, out: Bytes, end: int
) -> Any:
    """Write a date or time of any kind, without quotes.

    `is_client`: the clients print invalid ones, too, and a TIMESTAMP in seconds.
    """
    microsecond = np.int64(0)
    if kind in (OLD_TIMESTAMP, TIMESTAMP):
        if kind == OLD_TIMESTAMP:
            seconds = old_timestamp(data, offset)
        else:
            seconds, microsecond = timestamp(data, offset, digits)
        if is_client:
            end = put_number(seconds, out, end)
        else:
            end = put_date(seconds // 86400, out, end) if seconds else put_calendar(0, 0, 0, 45, out, end)
            out[end] = 32
            end = put_hours(seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, out, end + 1)
    elif kind in (OLD_TIME, TIME):
        has_spare_bit = False
        if kind == OLD_TIME:
            is_negative, hour, minute, second = old_time(data, offset)
        else:
            has_spare_bit, is_negative, hour, minute, second, microsecond = time(data, offset, digits)
        if not is_client and (has_spare_bit or hour > 999 or minute > 59 or second > 59):
            return LEFT
        if is_negative:
            out[end] = 45
            end += 1
        end = put_hours(hour, minute, second, out, end)
    elif kind == DATE:
        years, month, day = date(data, offset)
        if not is_client and years > 9999:
            return LEFT
        return put_calendar(years, month, day, 58 if is_client else 45, out, end)
    else:
        is_positive = True
        if kind == OLD_DATETIME:
            years, month, day, hour, minute, second = old_datetime(data, offset)
        else:
            is_positive, years, month, day, hour, minute, second, microsecond = datetime(data, offset, digits)
        if years < 0 or (not is_client and (not is_positive or years > 9999)):
            return LEFT
        end = put_calendar(years, month, day, 45, out, end)
        out[end] = 32
        end = put_hours(hour, minute, second, out, end + 1)
    # Of a second or more, which only damaged values hold, the clients print the first digits.
    while is_client and microsecond >= 1_000_000:
        microsecond //= 10
    end = put_micros(microsecond, digits, out, end)
    return end if end >= 0 else LEFT


def bare(end: Any, out: Bytes, begin: int) -> Any:
    """The end of the number `out[begin:end]` in SQL: a whole one has no point. LEFT remains LEFT."""
    if end < 0 or out[end - 2] != 46 or out[end - 1] != 48:
        return end
    if end - begin == 4 and out[begin] == 45 and out[begin + 1] == 48:
        # A zero keeps its sign only as a DOUBLE.
        out[end - 2], out[end - 1] = 101, 48
        return end
    return end - 2


def put_sql_document(
    cell: CellBytes, quotes: int, scratch: Bytes, stack: Ints, out: Bytes, position: int
) -> Any:
    """Write a document as a string literal, or as an expression; gives LEFT, NO_ROOM or NO_SCRATCH.

    The first half of the scratch memory is for the text of the document, the second one for its casts.
    """
    data, start, length, _, _, words, limits, first, _ = cell
    introducer = words[limits[first] : limits[first + 1]]
    half = scratch.shape[0] // 2
    text, casts = scratch[:half], scratch[half:]
    end, end_of_casts = put_document(data, start, start + length, text, 0, stack, casts, 0)
    if end < 0:
        return NO_SCRATCH if end == NO_ROOM else end
    if not is_utf8(text, 0, end):
        return LEFT
    if position + 2 * quotes * (end + end_of_casts) + 128 > out.shape[0]:
        return NO_ROOM
    if end_of_casts == 0:
        return put_literal(text, 0, end, introducer, quotes, out, position)
    # The cast of a document that is a single value has no path.
    is_single = casts[0] != _COMMA
    before = _CAST if is_single else _SET_CAST
    position = copy(before, 0, before.shape[0], out, position)
    if not is_single:
        position = put_literal(text, 0, end, introducer, quotes, out, position)
        position = copy(_AS_JSON, 0, _AS_JSON.shape[0], out, position)
    for step in range(end_of_casts):
        byte = casts[step]
        for _ in range(quotes if byte == 39 else 1):
            out[position] = byte
            position += 1
    if is_single:
        return copy(_AS_JSON, 0, _AS_JSON.shape[0], out, position)
    out[position] = 41
    return position + 1


def put_geometry(cell: CellBytes, quotes: int, out: Bytes, end: int) -> int:
    """Write a geometry from SRID and WKB; one without WKB as bytes."""
    data, start, length, _, _, words, limits, first, _ = cell
    if length <= _SRID_SIZE:
        return put_digits(data, start, start + length, 0, quotes, out, end)
    end = put_word(words, limits, first, out, end)
    end = put_digits(data, start + _SRID_SIZE, start + length, 0, quotes, out, end)
    srid = int_4(data, start, True)
    if srid:
        out[end], out[end + 1] = _COMMA, 32
        end = put_number(srid, out, end + 2)
        end = put_word(words, limits, first + 1, out, end)
    out[end] = 41
    return end + 1


def put_rare(cell: CellBytes, out: Bytes, end: int) -> Any:
    """Write a YEAR or BIT, the same in all dialects; LEFT for any other kind."""
    if cell.kind == YEAR:
        _, number = year(cell.data, cell.offset)
        return put_signed(number, out, end)
    if cell.kind == BIT:
        bits = np.int64(0)
        for step in range(cell.length):
            bits = (bits << 8) | np.int64(cell.data[cell.offset + step])
        return put_unsigned(bits, out, end)
    return LEFT


def put_word(words: Bytes, limits: Ints, word: int, out: Bytes, end: int) -> Any:
    """Write a word."""
    return copy(words, limits[word], limits[word + 1] - limits[word], out, end)


@inlined
def put_client(cell: CellBytes, stack: Ints, out: Bytes, end: int) -> Any:
    """Like `put_cell`, as the clients print values; BYTES are strings, MEMBERS bits."""
    data, offset, length, kind, detail, words, limits, first, _ = cell
    escapes = words[limits[first] : limits[first + 1]]
    if kind == SIGNED:
        return put_integer(data, offset, length, out, end)
    if kind == BYTES:
        out[end] = 39
        end = put_escaped(data, offset, length, escapes, out, end + 1)
        out[end] = 39
        return end + 1
    if kind == DECIMAL:
        return put_decimal(data, offset, detail >> 8, detail & 255, out, end)
    if kind in (FLOAT, DOUBLE):
        return put_floating(data, offset, kind == DOUBLE, stack, out, end)
    if DATE <= kind <= OLD_TIME:
        quotes = 0 if kind in (TIMESTAMP, OLD_TIMESTAMP) else 1
        end = put_moment(True, data, offset, kind, detail, out, put_marks(quotes, out, end))
        return put_marks(quotes, out, end) if end >= 0 else LEFT
    if kind == YEAR:
        # The clients print the year 0 as 1900.
        years, _ = year(data, offset)
        return put_number(1900 + years, out, end)
    if kind == MEMBER:
        return put_number(enum(data, offset, length), out, end)
    if kind == MEMBERS:
        return put_bits(data, offset, length, detail, out, end)
    if kind == DOCUMENT:
        start = end + 1
        end, _ = put_document(data, offset, offset + length, out, start, stack, out[:0], 0)
        # A document that is a string, a date, or bytes is printed without its quotes.
        if end >= 0 and out[start] == 34:
            end = unquote(out, start, end)
        if end >= 0:
            end = spread_escaped(escapes, out, start, end, out.shape[0] - 1)
        if end >= 0:
            out[start - 1] = 39
            out[end] = 39
            end += 1
        return end
    return LEFT


@inlined
def put_sql(cell: CellBytes, quotes: int, scratch: Bytes, stack: Ints, out: Bytes, end: int) -> Any:
    """Like `put_cell`, in SQL: the words of a MEMBER are literals. NO_SCRATCH only for a DOCUMENT."""
    data, offset, length, kind, detail, words, limits, first, count = cell
    if kind == SIGNED:
        number, _ = integers(data, offset, length)
        return put_signed(number, out, end)
    if kind == UNSIGNED:
        _, bits = integers(data, offset, length)
        return put_unsigned(bits, out, end)
    if kind in (UTF8, CODED, DOCUMENT):
        if kind == DOCUMENT:
            return put_sql_document(cell, quotes, scratch, stack, out, end)
        if kind == UTF8 and not is_utf8(data, offset, offset + length):
            # Servers reject an introducer before invalid bytes.
            return put_digits(data, offset, offset + length, 0, quotes, out, end)
        introducer = words[limits[first] : limits[first + 1]]
        return put_literal(data, offset, offset + length, introducer, quotes, out, end)
    if DATE <= kind <= OLD_TIME:
        end = put_moment(False, data, offset, kind, detail, out, put_marks(quotes, out, end))
        return put_marks(quotes, out, end) if end >= 0 else LEFT
    if kind == DECIMAL:
        return put_decimal(data, offset, detail >> 8, detail & 255, out, end)
    if kind == DOUBLE:
        return bare(put_shortest(int_8(data, offset), REPR_LEAST, REPR_MOST, out, end), out, end)
    if kind in (FLOAT, EXACT_FLOAT):
        single = np.float64(np.uint32(int_4(data, offset, True)).view(np.float32))
        if kind == EXACT_FLOAT:
            return bare(put_shortest(single.view(np.int64), REPR_LEAST, REPR_MOST, out, end), out, end)
        return bare(put_single(single, out, end), out, end)
    if kind == BYTES:
        return put_digits(data, offset, offset + length, detail, quotes, out, end)
    if kind == GEOMETRY:
        return put_geometry(cell, quotes, out, end)
    if kind == MEMBER:
        number = enum(data, offset, length)
        if number >= count:
            return LEFT
        return put_word(words, limits, first + number, out, end)
    if kind == MEMBERS:
        end = put_members(cell, 0, out, put_marks(quotes, out, end))
        return put_marks(quotes, out, end) if end >= 0 else LEFT
    return put_rare(cell, out, end)


@inlined
def put_cell(cell: CellBytes, quotes: int, stack: Ints, out: Bytes, end: int) -> Any:
    """Write a value; NO_ROOM only for a DOCUMENT."""
    data, offset, length, kind, detail, words, limits, first, count = cell
    if kind == SIGNED:
        number, _ = integers(data, offset, length)
        return put_signed(number, out, end)
    if kind == UTF8:
        return put_utf8(data, offset, length, quotes, out, end)
    if kind == UNSIGNED:
        _, bits = integers(data, offset, length)
        return put_unsigned(bits, out, end)
    if DATE <= kind <= OLD_TIME or kind == DECIMAL:
        end = put_quote(quotes, out, end)
        if kind == DECIMAL:
            end = put_decimal(data, offset, detail >> 8, detail & 255, out, end)
        else:
            end = put_moment(False, data, offset, kind, detail, out, end)
        return put_quote(quotes, out, end) if end >= 0 else LEFT
    if kind == DOUBLE:
        return put_shortest(int_8(data, offset), REPR_LEAST, REPR_MOST, out, end)
    if kind == FLOAT:
        return put_single(np.float64(np.uint32(int_4(data, offset, True)).view(np.float32)), out, end)
    if kind == CODED:
        return put_coded(cell, quotes, out, end)
    if kind == BYTES:
        return put_bytes_object(data, offset, length, detail, quotes, out, end)
    if kind == DOCUMENT:
        return put_json(data, offset, length, quotes, stack, out, end)
    if kind == MEMBER:
        number = enum(data, offset, length)
        if number >= count:
            return LEFT
        end = put_word(words, limits, first + number, out, put_quote(quotes, out, end))
        return put_quote(quotes, out, end)
    if kind == MEMBERS:
        return put_members(cell, quotes, out, end)
    return put_rare(cell, out, end)
