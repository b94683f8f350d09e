"""Kernels that print binary JSON documents.

They follow `values.json_documents`, which prints what the kernels leave out: malformed documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    json_container,
    json_entries,
    json_key,
    json_opaque,
    json_value,
    len_json_entries,
)
from binlog_kaitai.log.line_arrays import ESCAPES, put_escape
from binlog_kaitai.log.text_kernels import put_number
from binlog_kaitai.rows.cast_kernels import (
    CAST_ROOM,
    DOUBLE,
    has_cast,
    is_byte_string,
    is_long_double,
    put_cast,
)
from binlog_kaitai.rows.float_texts import LEFT, NO_ROOM, NUMBER_ROOM
from binlog_kaitai.rows.json_scalars import put_scalar, put_short
from binlog_kaitai.rows.opaque_kernels import STRING, opaque_room, put_opaque
from binlog_kaitai.rows.string_kernels import length_at
from binlog_kaitai.rows.text.sql_kernels import put_literal
from binlog_kaitai.values.sql_text import introducer

#: JSON_DOCUMENT_MAX_DEPTH, and the count of numbers stored per open container.
MAX_DEPTH, LEVEL = 100, 5

#: The introducer of a path in hexadecimal; servers that support JSON also support utf8mb4.
INTRODUCER = np.frombuffer(introducer("utf8mb4").encode(), dtype=np.uint8)


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
def put_path(data: Bytes, stack: Ints, depth: int, out: Bytes, at: int) -> Any:
    """Write the path of the current value of a document, see `put_document`; NO_ROOM if `out` is full."""
    if at >= out.shape[0]:
        return NO_ROOM
    out[at] = 36
    at += 1
    for level in range(0, depth * LEVEL, LEVEL):
        if at + 32 > out.shape[0]:
            return NO_ROOM
        if stack[level] & 3 < 2:
            out[at] = 46
            at = put_quoted(data, stack[level + 3], stack[level + 4], out, at + 1)
            if at < 0:
                return NO_ROOM
        else:
            out[at] = 91
            at = put_number(stack[level + 2] - 1, out, at + 1)
            out[at] = 93
            at += 1
    return at


@kernel
def put_casting(
    data: Bytes,
    kind: int,
    start: int,
    stack: Ints,
    depth: int,
    text: Bytes,
    begin: int,
    end: int,
    casts: Bytes,
    at: int,
) -> Any:
    """Write path and cast of a value whose text is `text[begin:end]`, only the cast if it is the document."""
    # The path is assembled after the text, where the next value will overwrite it.
    end_of_path = put_path(data, stack, depth, text, end)
    size = 2 * (end_of_path - end) + INTRODUCER.shape[0] + 18 + end - begin + CAST_ROOM
    if end_of_path < 0 or at + size > casts.shape[0]:
        return NO_ROOM
    if depth:
        casts[at], casts[at + 1] = 44, 32
        at = put_literal(text, end, end_of_path, INTRODUCER, casts, at + 2)
        casts[at], casts[at + 1] = 44, 32
        at += 2
    return put_cast(data, kind, start, text, begin, end, casts, at)


@kernel
def put_document(
    data: Bytes, start: int, end: int, out: Bytes, at: int, stack: Ints, casts: Bytes, cast_at: int
) -> Any:
    """Print the document in `data[start:end]`, which must be in bounds.

    Parameters
    ----------
    stack : int64 array
        MAX_DEPTH levels: offset, count, index, and offset and length of the last key.
    casts, cast_at
        Output for SQL expressions of the values that JSON text does not express, each after a comma and its
        path (see `values.sql_text`), and the offset to write at; no expressions are written if it is empty.

    Returns
    -------
    End of the text, NO_ROOM or LEFT; and the end of the casts.
    """
    if at + 4 > out.shape[0]:
        return NO_ROOM, cast_at
    if start >= end:
        # An empty document is a null.
        for step in range(4):
            out[at + step] = b"null"[step]
        return at + 4, cast_at
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
            if at + 2 > out.shape[0]:
                return NO_ROOM, cast_at
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
            if kind == 12 or kind == 15:
                column_type: Any = STRING
                if kind == 15 and position < end:
                    column_type, position = json_opaque(data, position)
                position, length = string_at(data, position, end)
                left -= length
                if length < 0 or left < 0 or (kind == 15 and casts.shape[0] and is_byte_string(column_type)):
                    return LEFT, cast_at
                begin = at
                if column_type == STRING:
                    at = put_quoted(data, position, length, out, at)
                elif at + opaque_room(length) > out.shape[0]:
                    return NO_ROOM, cast_at
                else:
                    at = put_opaque(data, column_type, position, length, out, at)
                    if at >= 0 and casts.shape[0] and has_cast(column_type):
                        cast_at = put_casting(
                            data, column_type, position, stack, depth, out, begin, at, casts, cast_at
                        )
                        if cast_at < 0:
                            return NO_ROOM, cast_at
            else:
                begin = at
                at = put_scalar(data, kind, position, end, out, at)
                if kind == 11 and casts.shape[0] and at >= 0 and is_long_double(out, begin, at):
                    cast_at = put_casting(
                        data, DOUBLE, position, stack, depth, out, begin, at, casts, cast_at
                    )
                    if cast_at < 0:
                        return NO_ROOM, cast_at
            if at < 0:
                return at, cast_at
        is_found = False
        while not is_found:
            if depth == 0:
                return at, cast_at
            if at + 4 > out.shape[0]:
                return NO_ROOM, cast_at
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
                    return LEFT, cast_at
                if not is_after(data, key, length, stack[level + 3], stack[level + 4]):
                    return LEFT, cast_at
                stack[level + 3] = key
                stack[level + 4] = length
                at = put_quoted(data, key, length, out, at)
                if at < 0:
                    return at, cast_at
                if at + 2 > out.shape[0]:
                    return NO_ROOM, cast_at
                out[at] = 58
                out[at + 1] = 32
                at += 2
            left -= 1
            if left < 0:
                return LEFT, cast_at
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
                    return at, cast_at
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
    casts: Bytes,
    cast_offsets: Ints,
    is_left: Bools,
) -> Any:
    """Print documents from number `begin` on (`put_document`); returns the number reached and the text's end.

    `offsets` and `cast_offsets` have one more element than `starts`, and those up to number `begin` are set.
    Documents left to the event reader are flagged and empty.
    """
    for index in range(begin, starts.shape[0]):
        is_left[index] = False
        cast_end = cast_offsets[index]
        length = length_at(data, starts[index], prefix)
        if length >= 0:
            start = starts[index] + prefix
            end, cast_end = put_document(data, start, start + length, out, at, stack, casts, cast_end)
            if end == NO_ROOM:
                return index, at
            if end == LEFT:
                is_left[index] = True
                cast_end = cast_offsets[index]
            else:
                at = end
        offsets[index + 1] = at
        cast_offsets[index + 1] = cast_end
    return starts.shape[0], at
