"""Kernels that print binary JSON documents, and SQL expressions for values that JSON text does not express.

They follow `json_documents.json_of` and `sql_text.document_sql`, which print what the kernels leave out:
malformed documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints, Number, OutBools, OutBytes, OutInts
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.text.base64_kernel import LINE, PAIRS, put_base64
from binlog_kaitai.text.float_texts import LEFT, NO_ROOM, NUMBER_ROOM, put_shortest
from binlog_kaitai.text.line_arrays import ESCAPES, copy_marked, put_escape
from binlog_kaitai.text.moment_texts import put_micros
from binlog_kaitai.text.printed_values import (
    put_calendar,
    put_clock,
    put_decimal,
    put_signed,
    put_unsigned,
)
from binlog_kaitai.text.sql_kernels import put_literal
from binlog_kaitai.text.text_kernels import copy, put_number
from binlog_kaitai.values.column_kinds import (
    OPAQUE_BYTES,
    OPAQUE_DATE,
    OPAQUE_DATETIME,
    OPAQUE_DECIMAL,
    OPAQUE_DOUBLE,
    OPAQUE_TEXT,
    OPAQUE_TIME,
    OPAQUE_TIMESTAMP,
    of_type,
)
from binlog_kaitai.values.decoders import (
    json_container,
    json_datetime,
    json_datetime_end,
    json_decimal,
    json_decimal_number,
    json_entries,
    json_int16,
    json_int32,
    json_int64,
    json_key,
    json_opaque,
    json_time,
    json_time_end,
    json_uint16,
    json_uint32,
    json_uint64,
    json_value,
    len_json_entries,
    length_at,
)
from binlog_kaitai.values.sql_text import MOST_DIGITS, introducer, is_long_double

_DASH, _QUOTE = ord("-"), ord('"')
_BASE64 = np.frombuffer(b'"base64:type', dtype=np.uint8)

#: Maximum text length of a DECIMAL, whose precision is one byte.
_MOST_DIGITS = 264


def opaque_room(length: int) -> int:
    """Upper bound for the length that `put_opaque` writes for a number of bytes."""
    return max((length // LINE + 1) * 78 + 40, _MOST_DIGITS)


def put_opaque(data: Bytes, kind: int, start: int, length: int, out: Bytes, offset: int) -> int:
    """Print the value of a column type other than text, in bounds; LEFT if it is invalid."""
    end = start + length
    if kind == OPAQUE_DECIMAL:
        return put_json_decimal(data, start, end, out, offset)
    if kind in (OPAQUE_DATE, OPAQUE_DATETIME, OPAQUE_TIMESTAMP):
        offset = put_json_datetime(data, start, end, kind == OPAQUE_DATE, out, offset)
    elif kind == OPAQUE_TIME:
        offset = put_json_time(data, start, end, out, offset)
    else:
        offset = put_json_bytes(data, kind, start, end, out, offset)
    return offset if offset >= 0 else LEFT


def put_json_decimal(data: Bytes, start: int, end: int, out: Bytes, offset: int) -> int:
    """Print a DECIMAL."""
    number = json_decimal_number(data, start)
    if number > end:
        return LEFT
    precision, scale, size = json_decimal(data, start)
    if number + size > end:
        return LEFT
    return put_decimal(data, number, precision, scale, out, offset)


def put_json_datetime(data: Bytes, start: int, end: int, is_date: bool, out: Bytes, offset: int) -> int:
    """Print a date or a date with time in quotes; negative if it is invalid."""
    if json_datetime_end(data, start) > end:
        return LEFT
    year, month, day, hour, minute, second, microsecond = json_datetime(data, start)
    if year > 9999:
        return LEFT
    out[offset] = _QUOTE
    offset = put_calendar(year, month, day, _DASH, out, offset + 1)
    if not is_date:
        out[offset] = 32
        offset = put_micros(microsecond, 6, out, put_clock(hour, minute, second, out, offset + 1))
        if offset < 0:
            return LEFT
    out[offset] = _QUOTE
    return offset + 1


def put_json_time(data: Bytes, start: int, end: int, out: Bytes, offset: int) -> int:
    """Print a time in quotes; negative if it is invalid."""
    if json_time_end(data, start) > end:
        return LEFT
    is_negative, hour, minute, second, microsecond = json_time(data, start)
    out[offset] = _QUOTE
    offset += 1
    if is_negative:
        out[offset] = _DASH
        offset += 1
    offset = put_clock(hour, minute, second, out, offset)
    if offset >= 0:
        offset = put_micros(microsecond, 6, out, offset)
    if offset < 0:
        return LEFT
    out[offset] = _QUOTE
    return offset + 1


def put_json_bytes(data: Bytes, kind: int, start: int, end: int, out: Bytes, offset: int) -> int:
    """Print bytes in base64 after the number of their type, in quotes."""
    offset = put_number(kind, out, copy(_BASE64, 0, _BASE64.shape[0], out, offset))
    out[offset] = 58
    offset += 1
    while start < end:
        stop = min(start + LINE, end)
        offset = put_base64(data, start, stop, PAIRS, out, offset)
        start = stop
        # The end of a line, escaped; the last line has none.
        if start < end:
            out[offset - 1], out[offset] = 92, 110
            offset += 1
        else:
            offset -= 1
    out[offset] = _QUOTE
    return offset + 1


#: Maximum length of a cast in addition to the text of its value.
CAST_ROOM = 64


def _text(text: str) -> Bytes:
    return np.frombuffer(text.encode(), dtype=np.uint8)


_CAST, _AS, _END = _text("CAST('"), _text("' AS "), _text(")")
_EXPONENT, _ZERO = b"e0"
_TO_DECIMAL, _COMMA = _text("DECIMAL("), ord(",")
_TO_DATE, _TO_TIME = _text(of_type(OPAQUE_DATE).document_type), _text(of_type(OPAQUE_TIME).document_type)
_TO_DATETIME = _text(of_type(OPAQUE_DATETIME).document_type)


def has_cast(kind: int) -> bool:
    """Whether JSON text does not express a value of a column type, but SQL does."""
    return kind in (OPAQUE_DECIMAL, OPAQUE_DATE, OPAQUE_TIME, OPAQUE_DATETIME, OPAQUE_TIMESTAMP)


def is_byte_string(kind: int) -> bool:
    """Whether a value has a column type of byte strings, whose casts the event reader writes."""
    return kind in OPAQUE_BYTES


def put_cast(
    data: Bytes, kind: int, start: int, text: Bytes, begin: int, end: int, out: Bytes, offset: int
) -> Any:
    """Write the cast of the value at `data[start]`, whose JSON text is `text[begin:end]`.

    A DOUBLE needs no cast, but an exponent: without one, it would be a DECIMAL.
    """
    if kind == OPAQUE_DOUBLE:
        has_exponent = False
        for position in range(begin, end):
            has_exponent |= text[position] == _EXPONENT
        offset = copy(text, begin, end - begin, out, offset)
        if not has_exponent:
            out[offset], out[offset + 1] = _EXPONENT, _ZERO
            offset += 2
        return offset
    offset = copy(_CAST, 0, _CAST.shape[0], out, offset)
    if text[begin] == _QUOTE:
        begin += 1
        end -= 1
    offset = copy(text, begin, end - begin, out, offset)
    offset = copy(_AS, 0, _AS.shape[0], out, offset)
    if kind == OPAQUE_DECIMAL:
        precision, scale, _ = json_decimal(data, start)
        offset = copy(_TO_DECIMAL, 0, _TO_DECIMAL.shape[0], out, offset)
        offset = put_number(min(precision, MOST_DIGITS), out, offset)
        out[offset] = _COMMA
        offset = put_number(scale, out, offset + 1)
        offset = copy(_END, 0, _END.shape[0], out, offset)
    else:
        name = _TO_DATE if kind == OPAQUE_DATE else _TO_TIME if kind == OPAQUE_TIME else _TO_DATETIME
        offset = copy(name, 0, name.shape[0], out, offset)
    return copy(_END, 0, _END.shape[0], out, offset)


#: Whole numbers of this magnitude are printed with an exponent.
_WITH_EXPONENT = 1e15


def integer_at(data: Bytes, kind: Any, position: int) -> Any:
    """An INT16 (5), UINT16, INT32, UINT32, INT64 or UINT64 (10), which must be in bounds.

    A UINT64 of 2^63 or more wraps to a negative number.
    """
    if kind == 5:
        return json_int16(data, position)
    if kind == 6:
        return json_uint16(data, position)
    if kind == 7:
        return json_int32(data, position)
    if kind == 8:
        return json_uint32(data, position)
    return json_int64(data, position) if kind == 9 else json_uint64(data, position)


def put_double(data: Bytes, start: int, out: Bytes, position: int) -> Any:
    """Print a double as servers do, see `double_text`; LEFT for NaN and infinities."""
    bits = json_int64(data, start)
    end = put_shortest(bits, -15, 16, out, position)
    if end < 0 or abs(np.uint64(bits).view(np.float64)) < _WITH_EXPONENT:
        return end
    if out[end - 2] == 46 and out[end - 1] == 48:
        end = put_shortest(bits, -15, 15, out, position)
    # The exponent is printed without a plus.
    plus = end
    for offset in range(position, end):
        if out[offset] == 43:
            plus = offset
    for offset in range(plus, end - 1):
        out[offset] = out[offset + 1]
    return end - 1 if plus < end else end


def put_scalar(data: Bytes, kind: Number, start: Number, end: int, out: Bytes, offset: int) -> Any:
    """Print a value that is not a container."""
    if offset + NUMBER_ROOM > out.shape[0]:
        return NO_ROOM
    if kind == 4:
        if start + 1 > end or data[start] > 2:
            return LEFT
        text = b"null" if data[start] == 0 else b"true" if data[start] == 1 else b"false"
        for step in range(len(text)):
            out[offset + step] = text[step]
        return offset + len(text)
    if 5 <= kind <= 10:
        size = 2 if kind < 7 else 4 if kind < 9 else 8
        if start + size > end:
            return LEFT
        number = integer_at(data, kind, start)
        return put_signed(number, out, offset) if kind & 1 else put_unsigned(number, out, offset)
    return put_double(data, start, out, offset) if kind == 11 and start + 8 <= end else LEFT


#: JSON_DOCUMENT_MAX_DEPTH, and the count of numbers stored per open container.
MAX_DEPTH, LEVEL = 100, 5

#: The introducer of a path in hexadecimal; servers that support JSON also support utf8mb4.
INTRODUCER = np.frombuffer(introducer("utf8mb4").encode(), dtype=np.uint8)


def put_quoted(data: Bytes, start: int, length: int, out: Bytes, offset: int) -> int:
    """Print a string with quotes, escaped; its bytes must be within `data`."""
    if offset + 6 * length + 2 > out.shape[0]:
        need = offset + length + 2
        for step in range(length):
            byte = data[start + step]
            need += 5 if byte < 32 else 1 if byte == 34 or byte == 92 else 0
        if need > out.shape[0]:
            return NO_ROOM
    out[offset] = 34
    offset += 1
    is_special, _ = copy_marked(data, start, length, out, offset)
    if not is_special:  # as usual
        out[offset + length] = 34
        return offset + length + 1
    for step in range(length):
        byte = data[np.uint64(start + step)]
        if ESCAPES[byte]:
            offset = put_escape(byte, out, offset)
        else:
            out[np.uint64(offset)] = byte
            offset += 1
    out[offset] = 34
    return offset + 1


def string_at(data: Bytes, start: int, end: int) -> Any:
    """Offset and length of a string, whose length is a 7-bit varint at `start`; length -1 if invalid."""
    length = np.int64(0)
    for step in range(5):
        if start >= end:
            return start, np.int64(-1)
        byte = np.int64(data[start])
        start += 1
        length |= (byte & 0x7F) << (7 * step)
        if byte < 0x80:
            return start, length if start + length <= end else np.int64(-1)
    return start, np.int64(-1)


def is_after(data: Bytes, start: int, length: int, before: int, length_before: int) -> Any:
    """Whether a key sorts after another: by length, then by bytes."""
    if length != length_before:
        return length > length_before
    for step in range(length):
        if data[start + step] != data[before + step]:
            return data[start + step] > data[before + step]
    return False


def put_path(data: Bytes, stack: Ints, depth: int, out: Bytes, offset: int) -> int:
    """Write the path of the current value of a document, see `put_document`; NO_ROOM if `out` is full."""
    if offset >= out.shape[0]:
        return NO_ROOM
    out[offset] = 36
    offset += 1
    for level in range(0, depth * LEVEL, LEVEL):
        if offset + 32 > out.shape[0]:
            return NO_ROOM
        if stack[level] & 3 < 2:
            out[offset] = 46
            offset = put_quoted(data, stack[level + 3], stack[level + 4], out, offset + 1)
            if offset < 0:
                return NO_ROOM
        else:
            out[offset] = 91
            offset = put_number(stack[level + 2] - 1, out, offset + 1)
            out[offset] = 93
            offset += 1
    return offset


def put_path_of_cast(
    data: Bytes, stack: Ints, depth: int, text: Bytes, begin: int, end: int, casts: Bytes, offset: int
) -> Any:
    """Write the path before the cast of a value whose text is `text[begin:end]`, nothing for the document."""
    # The path is assembled after the text, where the next value will overwrite it.
    end_of_path = put_path(data, stack, depth, text, end)
    size = 2 * (end_of_path - end) + INTRODUCER.shape[0] + 18 + end - begin + CAST_ROOM
    if end_of_path < 0 or offset + size > casts.shape[0]:
        return NO_ROOM
    if depth:
        casts[offset], casts[offset + 1] = 44, 32
        offset = put_literal(text, end, end_of_path, INTRODUCER, 1, casts, offset + 2)
        casts[offset], casts[offset + 1] = 44, 32
        offset += 2
    return offset


@kernel
def put_document(
    data: Bytes,
    start: int,
    end: int,
    out: OutBytes,
    place: int,
    stack: OutInts,
    casts: OutBytes,
    cast_at: int,
) -> tuple[int, int]:
    """Print the document in `data[start:end]`, which must be in bounds.

    `stack` (int64 array): MAX_DEPTH levels: offset, count, index, and offset and length of the last key.
    `casts`, `cast_at`: output for SQL expressions of the values that JSON text does not express, each after a
    comma and its path (see `values.sql_text`), and the offset to write at; no expressions are written if it
    is empty.
    Returns the end of the text, NO_ROOM or LEFT; and the end of the casts.
    """
    if place + 4 > out.shape[0]:
        return NO_ROOM, cast_at
    if start >= end:
        # An empty document is a null.
        for step in range(4):
            out[place + step] = b"null"[step]
        return place + 4, cast_at
    kind = np.int64(data[start])
    position = start + 1
    kinds = stack.shape[0] // LEVEL
    depth = 0
    left = end - start
    left_to_copy = left * MAX_DEPTH
    while True:
        if kind < 4:
            is_large = kind & 1 == 1
            if depth >= MAX_DEPTH or depth >= kinds or json_entries(data, position, is_large) > end:
                return LEFT, cast_at
            count, size, table = json_container(data, position, is_large, kind < 2)
            left_to_copy -= size
            if size < table or position + size > end or left_to_copy < 0:
                return LEFT, cast_at
            if place + 2 > out.shape[0]:
                return NO_ROOM, cast_at
            out[place] = 123 if kind < 2 else 91
            place += 1
            level = depth * LEVEL
            stack[level] = position * 4 + kind
            stack[level + 1] = count
            stack[level + 2] = 0
            stack[level + 3] = position
            stack[level + 4] = -1
            depth += 1
        else:
            if kind == 12 or kind == 15:
                column_type: Any = OPAQUE_TEXT
                if kind == 15 and position < end:
                    column_type, position = json_opaque(data, position)
                position, length = string_at(data, position, end)
                left -= length
                if length < 0 or left < 0 or (kind == 15 and casts.shape[0] and is_byte_string(column_type)):
                    return LEFT, cast_at
                begin = place
                if column_type == OPAQUE_TEXT:
                    place = put_quoted(data, position, length, out, place)
                elif place + opaque_room(length) > out.shape[0]:
                    return NO_ROOM, cast_at
                else:
                    place = put_opaque(data, column_type, position, length, out, place)
                    if place >= 0 and casts.shape[0] and has_cast(column_type):
                        cast_at = put_path_of_cast(data, stack, depth, out, begin, place, casts, cast_at)
                        if cast_at < 0:
                            return NO_ROOM, cast_at
                        cast_at = put_cast(data, column_type, position, out, begin, place, casts, cast_at)
            else:
                begin = place
                place = put_scalar(data, kind, position, end, out, place)
                if kind == 11 and casts.shape[0] and place >= 0 and is_long_double(out, begin, place):
                    cast_at = put_path_of_cast(data, stack, depth, out, begin, place, casts, cast_at)
                    if cast_at < 0:
                        return NO_ROOM, cast_at
                    cast_at = put_cast(data, OPAQUE_DOUBLE, position, out, begin, place, casts, cast_at)
            if place < 0:
                return place, cast_at
        is_found = False
        while not is_found:
            if depth == 0:
                return place, cast_at
            if place + 4 > out.shape[0]:
                return NO_ROOM, cast_at
            level = (depth - 1) * LEVEL
            base = stack[level] >> 2
            outer = stack[level] & 3
            count = stack[level + 1]
            index = stack[level + 2]
            if index == count:
                out[place] = 125 if outer < 2 else 93
                place += 1
                depth -= 1
                continue
            stack[level + 2] = index + 1
            if index > 0:
                out[place] = 44
                out[place + 1] = 32
                place += 2
            is_large = outer & 1 == 1
            len_key, len_value = len_json_entries(is_large)
            entry = json_entries(data, base, is_large) + index * len_value
            if outer < 2:
                entry += count * len_key
                key, length = json_key(data, json_entries(data, base, is_large) + index * len_key, is_large)
                key += base
                left -= length
                if left < 0 or key + length > end:
                    return LEFT, cast_at
                if not is_after(data, key, length, stack[level + 3], stack[level + 4]):
                    return LEFT, cast_at
                stack[level + 3] = key
                stack[level + 4] = length
                place = put_quoted(data, key, length, out, place)
                if place < 0:
                    return place, cast_at
                if place + 2 > out.shape[0]:
                    return NO_ROOM, cast_at
                out[place] = 58
                out[place + 1] = 32
                place += 2
            left -= 1
            if left < 0:
                return LEFT, cast_at
            kind, is_inlined, offset, inlined = json_value(data, entry, is_large)
            if 5 <= kind <= 6 and place + NUMBER_ROOM <= out.shape[0]:
                place = put_number(integer_at(data, kind, inlined), out, place)
                # A common case in arrays.
                index += 1
                while outer >= 2 and index < count and left > 0 and place + NUMBER_ROOM <= out.shape[0]:
                    entry += len_value
                    kind, is_inlined, offset, inlined = json_value(data, entry, is_large)
                    if kind < 5 or kind > 6:
                        break
                    out[place] = 44
                    out[place + 1] = 32
                    place = put_number(integer_at(data, kind, inlined), out, place + 2)
                    index += 1
                    left -= 1
                stack[level + 2] = index
            elif is_inlined:
                place = put_scalar(data, kind, inlined, end, out, place)
                if place < 0:
                    return place, cast_at
            else:
                position = base + offset
                is_found = True


@kernel
def put_documents(
    data: Bytes,
    starts: Ints,
    prefix: int,
    begin: int,
    stack: OutInts,
    out: OutBytes,
    offsets: OutInts,
    is_left: OutBools,
) -> tuple[int, int]:
    """Print documents from number `begin` on (`put_document`); returns the number reached and the text's end.

    `offsets` has one more element than `starts`, and those up to number `begin` are set. Documents left to
    the event reader are flagged and empty.
    """
    offset = offsets[begin]
    for index in range(begin, starts.shape[0]):
        length = length_at(data, starts[index], prefix)
        is_left[index] = False
        if length >= 0:
            start = starts[index] + prefix
            end, _ = put_document(data, start, start + length, out, offset, stack, out[:0], 0)
            if end == NO_ROOM:
                return index, offset
            is_left[index] = end == LEFT
            offset = offset if end == LEFT else end
        offsets[index + 1] = offset
    return starts.shape[0], offset
