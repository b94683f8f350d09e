"""Kernels that print binary JSON documents.

They follow `binlog_kaitai.values.json_text`, which prints what the kernels leave out: opaque values, numbers
with more than fifteen digits, and malformed documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.json_strings import ESCAPES, put_escape
from binlog_kaitai.columns.kernel.arrays import Bools, Bytes, Ints
from binlog_kaitai.columns.kernel.compile import kernel
from binlog_kaitai.columns.kernel.decoders import (
    json_container,
    json_entries,
    json_int16,
    json_int32,
    json_int64,
    json_key,
    json_uint16,
    json_uint32,
    json_uint64,
    json_value,
    len_json_entries,
)
from binlog_kaitai.columns.kernel.text_kernels import put_number
from binlog_kaitai.columns.rows.float_texts import LEFT, NUMBER_ROOM, put_digits
from binlog_kaitai.columns.rows.string_kernels import length_at
from binlog_kaitai.columns.text.shortest import put_shortest

#: Results instead of an end offset: the output is full, or (`LEFT`) the event reader must decode the value.
NO_ROOM = -1

#: JSON_DOCUMENT_MAX_DEPTH, and the count of numbers stored per open container.
MAX_DEPTH, LEVEL = 100, 5

#: Doubles with a magnitude between these are printed without an exponent.
_LEAST, _MOST = 1e-14, 1e15

# With a signed index, Numba would generate code for negative indexes.
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@kernel
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


@kernel
def put_short(data: Bytes, kind: Any, start: int, out: Bytes, at: int) -> Any:
    """Print an INT16 (5) or UINT16 at `start`, which must be within the data; the output must have room."""
    number = json_int16(data, start) if kind == 5 else json_uint16(data, start)
    if number < 0:
        out[at] = 45
        at += 1
        number = -number
    position = np.uint64(at)
    if number < 10:
        out[position] = 48 + number
        return at + 1
    if number < 100:
        out[position] = 48 + number // 10
        out[position + _ONE] = 48 + number % 10
        return at + 2
    return put_digits(number, 1, out, at)


@kernel
def put_quoted(data: Bytes, start: int, length: int, out: Bytes, at: int) -> Any:
    """Print a string with quotes, escaped; its bytes must be within `data`."""
    if at + 6 * length + 2 > out.shape[0]:
        need = at + length + 2
        for step in range(length):
            byte = data[start + step]
            need += 5 if byte < 32 else 1 if byte == 34 or byte == 92 else 0
        if need > out.shape[0]:
            return NO_ROOM
    out[at] = 34
    at += 1
    # Usually nothing is escaped. Numba compiles slices, whose indexes cannot be negative, to vector
    # instructions.
    source = data[start : start + length]
    target = out[at : at + length]
    special = np.uint8(0)
    for index in range(source.shape[0]):
        byte = source[index]
        special = np.uint8(special | np.uint8(byte < 32) | np.uint8(byte == 34) | np.uint8(byte == 92))
        target[index] = byte
    if special == 0:
        out[at + length] = 34
        return at + length + 1
    for step in range(length):
        byte = data[np.uint64(start + step)]
        if ESCAPES[byte]:
            at = put_escape(byte, out, at)
        else:
            out[np.uint64(at)] = byte
            at += 1
    out[at] = 34
    return at + 1


@kernel
def put_double(data: Bytes, start: int, out: Bytes, at: int) -> Any:
    """Print a double of moderate magnitude, which servers print without an exponent; leave others."""
    bits = json_int64(data, start)
    size = abs(np.uint64(bits).view(np.float64))
    if size == 0.0 or _LEAST <= size < _MOST:
        return put_shortest(bits, -15, 16, out, at)
    return LEFT


@kernel
def put_scalar(data: Bytes, kind: int, start: int, end: int, out: Bytes, at: int) -> Any:
    """Print a value that is not a container."""
    if at + NUMBER_ROOM > out.shape[0]:
        return NO_ROOM
    if kind == 4:
        if start + 1 > end or data[start] > 2:
            return LEFT
        text = b"null" if data[start] == 0 else b"true" if data[start] == 1 else b"false"
        for step in range(len(text)):
            out[at + step] = text[step]
        return at + len(text)
    if 5 <= kind <= 10:
        size = 2 if kind < 7 else 4 if kind < 9 else 8
        if start + size > end:
            return LEFT
        number = integer_at(data, kind, start)
        if kind & 1:
            if number < -0x7FFFFFFFFFFFFFFF:
                return LEFT
            if number < 0:
                out[at] = 45
                at += 1
                number = -number
        if number < 0:
            return LEFT  # beyond the signed range
        return put_number(number, out, at)
    return put_double(data, start, out, at) if kind == 11 and start + 8 <= end else LEFT


@kernel
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


@kernel
def is_after(data: Bytes, start: int, length: int, before: int, length_before: int) -> Any:
    """Whether a key sorts after another: by length, then by bytes."""
    if length != length_before:
        return length > length_before
    for step in range(length):
        if data[start + step] != data[before + step]:
            return data[start + step] > data[before + step]
    return False


@kernel
def put_document(data: Bytes, start: int, end: int, out: Bytes, at: int, stack: Ints) -> Any:
    """Print the document in `data[start:end]`, in bounds; returns the end of the text, NO_ROOM or LEFT.

    `stack`, int64, holds MAX_DEPTH levels: offset, count, index, and offset and length of the last key.
    """
    if at + 4 > out.shape[0]:
        return NO_ROOM
    if start >= end:
        # An empty document is a null.
        for step in range(4):
            out[at + step] = b"null"[step]
        return at + 4
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
                return LEFT
            count, size, table = json_container(data, position, is_large, kind < 2)
            left_to_copy -= size
            if size < table or position + size > end or left_to_copy < 0:
                return LEFT
            if at + 2 > out.shape[0]:
                return NO_ROOM
            out[at] = 123 if kind < 2 else 91
            at += 1
            level = depth * LEVEL
            stack[level] = position * 4 + kind
            stack[level + 1] = count
            stack[level + 2] = 0
            stack[level + 3] = position
            stack[level + 4] = -1
            depth += 1
        else:
            if kind == 12:
                position, length = string_at(data, position, end)
                left -= length
                if length < 0 or left < 0:
                    return LEFT
                at = put_quoted(data, position, length, out, at)
            else:
                at = put_scalar(data, kind, position, end, out, at)
            if at < 0:
                return at
        is_found = False
        while not is_found:
            if depth == 0:
                return at
            if at + 4 > out.shape[0]:
                return NO_ROOM
            level = (depth - 1) * LEVEL
            base = stack[level] >> 2
            outer = stack[level] & 3
            count = stack[level + 1]
            index = stack[level + 2]
            if index == count:
                out[at] = 125 if outer < 2 else 93
                at += 1
                depth -= 1
                continue
            stack[level + 2] = index + 1
            if index > 0:
                out[at] = 44
                out[at + 1] = 32
                at += 2
            is_large = outer & 1 == 1
            len_key, len_value = len_json_entries(is_large)
            entry = json_entries(data, base, is_large) + index * len_value
            if outer < 2:
                entry += count * len_key
                key, length = json_key(data, json_entries(data, base, is_large) + index * len_key, is_large)
                key += base
                left -= length
                if left < 0 or key + length > end:
                    return LEFT
                if not is_after(data, key, length, stack[level + 3], stack[level + 4]):
                    return LEFT
                stack[level + 3] = key
                stack[level + 4] = length
                at = put_quoted(data, key, length, out, at)
                if at < 0:
                    return at
                if at + 2 > out.shape[0]:
                    return NO_ROOM
                out[at] = 58
                out[at + 1] = 32
                at += 2
            left -= 1
            if left < 0:
                return LEFT
            kind, is_inlined, offset, inlined = json_value(data, entry, is_large)
            if 5 <= kind <= 6 and at + NUMBER_ROOM <= out.shape[0]:
                at = put_short(data, kind, inlined, out, at)
                # A common case in arrays.
                index += 1
                while outer >= 2 and index < count and left > 0 and at + NUMBER_ROOM <= out.shape[0]:
                    entry += len_value
                    kind, is_inlined, offset, inlined = json_value(data, entry, is_large)
                    if kind < 5 or kind > 6:
                        break
                    out[at] = 44
                    out[at + 1] = 32
                    at = put_short(data, kind, inlined, out, at + 2)
                    index += 1
                    left -= 1
                stack[level + 2] = index
            elif is_inlined:
                at = put_scalar(data, kind, inlined, end, out, at)
                if at < 0:
                    return at
            else:
                position = base + offset
                is_found = True


@kernel
def put_documents(
    data: Bytes,
    starts: Ints,
    prefix: int,
    begin: int,
    at: int,
    stack: Ints,
    out: Bytes,
    offsets: Ints,
    is_left: Bools,
) -> Any:
    """Print documents from number `begin` on (`put_document`); returns the number reached and the text's end.

    `offsets` has one more element than `starts`. Documents left to the event reader are flagged and empty.
    """
    for index in range(begin, starts.shape[0]):
        is_left[index] = False
        length = length_at(data, starts[index], prefix)
        if length >= 0:
            start = starts[index] + prefix
            end = put_document(data, start, start + length, out, at, stack)
            if end == NO_ROOM:
                return index, at
            if end == LEFT:
                is_left[index] = True
            else:
                at = end
        offsets[index + 1] = at
    return starts.shape[0], at
