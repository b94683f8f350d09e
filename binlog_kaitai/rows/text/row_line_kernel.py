"""A kernel that writes lines of text for changed rows, directly from row images.

In the table format, values are made safe to display: truncated, on one line, with control characters escaped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.log.decoders import length_prefix
from binlog_kaitai.log.line_arrays import put_hex
from binlog_kaitai.log.text_kernels import copy, put_number
from binlog_kaitai.rows.image_walk import NULL
from binlog_kaitai.rows.text.float_texts import NO_ROOM
from binlog_kaitai.rows.text.listed_values import (
    BYTES,
    CODED,
    DOCUMENT,
    GEOMETRY,
    MEMBER,
    MEMBERS,
    NO_SCRATCH,
    QUOTED_SQL,
    SQL,
    UTF8,
    WIDEST,
    put_cell,
    put_sql,
    widest_text,
)

#: Values longer than this are truncated, in characters.
MAX_LENGTH = 60

_ELLIPSIS = np.frombuffer("…".encode(), dtype=np.uint8)

_N, _R, _T = 110, 114, 116


@kernel
def code_at(text: Bytes, offset: int, end: int) -> Any:
    """Code point and width of the character at an offset of valid UTF-8."""
    byte = np.int64(text[offset])
    if byte < 0x80:
        return byte, np.int64(1)
    width: Any = np.int64(2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
    code = byte & (0x7F >> width)
    for step in range(1, min(width, end - offset)):
        code = code << 6 | (np.int64(text[offset + step]) & 0x3F)
    return code, width


@kernel
def is_unsafe(code: int) -> bool:
    """Whether `output_text.printable` escapes a character."""
    if code < 0xA0:
        return code < 0x20 or code >= 0x7F
    if code < 0x2066:
        return code == 0x61C or 0x200E <= code <= 0x200F or 0x2028 <= code <= 0x202E
    return code <= 0x2069


@kernel
def is_space(code: int) -> bool:
    """Whether Python's `str.rstrip` removes a character."""
    if code < 0x1680:
        return 9 <= code <= 13 or 28 <= code <= 32 or code == 0x85 or code == 0xA0
    if code <= 0x202F:
        return code in (0x1680, 0x2028, 0x2029, 0x202F) or 0x2000 <= code <= 0x200A
    return code == 0x205F or code == 0x3000


@kernel
def put_printable(out: Bytes, begin: int, end: int, is_last: bool) -> int:
    """Cut the text at `out[begin:end]`, escape what is not to be printed in it, and give its end.

    With `is_last`, trailing spaces are removed. There must be room for 1000 more bytes.
    """
    # A text with no more bytes than this has no more characters.
    if end - begin > MAX_LENGTH:
        count, offset, truncated = np.int64(0), begin, begin
        while offset < end and count <= MAX_LENGTH:
            if count == MAX_LENGTH - 1:
                truncated = offset
            offset += code_at(out, offset, end)[1]
            count += 1
        if count > MAX_LENGTH:
            for step in range(_ELLIPSIS.shape[0]):
                out[truncated + step] = _ELLIPSIS[step]
            end = truncated + _ELLIPSIS.shape[0]
    while is_last and end > begin:
        offset = end - 1
        while offset > begin and out[offset] & 0xC0 == 0x80:
            offset -= 1
        if not is_space(code_at(out, offset, end)[0]):
            break
        end = offset
    is_plain = True
    for offset in range(begin, end):
        is_plain = is_plain and 32 <= out[offset] < 127
    if is_plain:
        return end
    size = end - begin
    # No byte becomes more than four, so the text is moved back and escaped in place.
    source = begin + 4 * size
    for step in range(size):
        out[source + size - 1 - step] = out[end - 1 - step]
    position = begin
    offset = source
    while offset < source + size:
        code, width = code_at(out, offset, source + size)
        if not is_unsafe(code):
            for step in range(width):
                out[position + step] = out[offset + step]
            position += width
        else:
            out[position] = 92
            position += 1
            if code in (9, 10, 13):
                out[position] = _T if code == 9 else _N if code == 10 else _R
                position += 1
            else:
                out[position] = 120 if code < 0x100 else 117
                position += 1
                if code >= 0x100:
                    position = put_hex(code >> 8, out, position)
                position = put_hex(code & 0xFF, out, position)
        offset += width
    return position


#: Kinds of pieces of a line: constant bytes; a text of the line's event; the row number; a value of the
#: before or after image. For the assignments of an SQL update: a value of a list separated by commas, if the
#: column changes; a value if the list is empty; constant bytes if a column of the list changes. For the table
#: format: a value, both values of an update, or the new one if there is no old one.
(
    CONSTANT,
    OF_EVENT,
    ROW_NUMBER,
    VALUE,
    ASSIGNED,
    OTHERWISE,
    IF_CHANGED,
    SHOWN,
    CHANGED,
    ADDED,
) = range(10)

#: Columns of a piece: its kind; offset and length of the constant, or index of the event's text and number of
#: texts per event, or the column and 1 for the after image of an update; for values, the kind (see
#: `listed_values`), size, size of the length prefix, detail, first word and number of words; 1 for the last
#: piece of a line of the table format, or for a value that is assigned even if it does not change; and offset
#: and length of a constant before the value. An ASSIGNED value has its comma and a space there.
PIECE, FIRST, SECOND, KIND, SIZE, PREFIX, DETAIL, WORD, WORDS, FLAG, LEAD, LEAD_SIZE = range(12)
PIECE_SIZE = 12

_COMMA_SIZE = 2

#: Indexes into the state: the line, the offset of its beginning in `out`, number of values left out and, if
#: the text does not fit, the size that it needs from that offset, or NO_SCRATCH.
LINE, OFFSET, LEFT_COUNT, NEED, STATE_SIZE = range(5)

#: Maximum length that `put_printable` adds to a value, and an arrow.
_SHOWN_ROOM = 1536

_ONE = np.uint64(1)

_ARROW = np.frombuffer("→".encode(), dtype=np.uint8)


@kernel
def is_same_text(text: Bytes, first: int, second: int, end: int) -> bool:
    """Whether the bytes from `first` to `second` are equal to those from `second` to the end."""
    size = second - first
    step = 0
    while step < size and end - second == size and text[first + step] == text[second + step]:
        step += 1
    return step == size and end - second == size


@kernel
def is_same_value(data: Bytes, first: int, second: int, size: int, prefix: int) -> bool:
    """Whether two values, given by their offsets or NULL, have the same bytes."""
    if first < 0 or second < 0:
        return first == second
    if prefix and max(first, second) + prefix <= data.shape[0]:
        size = length_prefix(data, first, prefix)
        if size != length_prefix(data, second, prefix):
            return False
    if max(first, second) + prefix + size > data.shape[0]:
        return False
    step = prefix
    while step < prefix + size and data[np.uint64(first + step)] == data[np.uint64(second + step)]:
        step += 1
    return step == prefix + size


@kernel
@inlined
def put_lines(
    is_sql: bool,
    dialect: int,
    data: Bytes,
    starts: Ints,
    first_start: int,
    step_start: int,
    rows: Ints,
    events: Ints,
    numbers: Ints,
    programs: Ints,
    limits: Ints,
    pieces: Ints,
    pool: Bytes,
    null: Bytes,
    texts: Bytes,
    text_limits: Ints,
    words: Bytes,
    word_limits: Ints,
    longest: int,
    scratch: Bytes,
    stack: Ints,
    state: Ints,
    left: Ints,
    out: Bytes,
    ends: Ints,
) -> bool:
    """See `put_row_lines`.

    `is_sql`: a constant: other dialects are slower in a loop that contains the code for SQL.
    `dialect`: see `listed_values`.
    `data`, `starts`, `first_start`, `step_start`: bytes, and the offsets of values in them, see
    `walk_images`: the entry of column `c` and row `r` has the index `first_start + c * step_start + r`.
    `rows`, `events`, `numbers`, `programs`: for each line, its (first) row, the index of its event, and the
    row number in the log; for each event, the program that writes its lines.
    `limits`, `pieces`: program `p` has the pieces from `limits[p]` to `limits[p + 1]`.
    `pool`, `null`: constants, and the text for NULL.
    `texts`, `text_limits`: texts of events, consecutive for each event, and the start of each.
    `words`, `word_limits`: words of columns, and the start of each: see `listed_values`.
    `longest`: maximum length of a string that is not left out.
    `scratch`, `stack`: memory for documents in SQL, and the stack of `put_document`.
    `state` (int64 array of STATE_SIZE): where to continue; initially all 0.
    `left` (int64 array of shape (n, 3)): output: line, piece and offset in `out` of each value left to the
    event reader; in the table format, where the whole line is left out, the offset of its beginning.
    `out`, `ends`: output: the lines, and the end of each.
    """
    room = out.shape[0]
    line = state[LINE]
    position = state[OFFSET]
    lefts = state[LEFT_COUNT]
    need = np.int64(0)
    while line < rows.shape[0]:
        event = np.uint64(events[line])
        program = programs[event]
        begin = position
        lefts_before = lefts
        assigned = 0
        is_changed = False
        for number in range(limits[program], limits[program + 1]):
            # With a signed index, Numba would generate code for negative indexes.
            piece = pieces[np.uint64(number)]
            kind = piece[PIECE]
            if kind == CONSTANT:
                length = piece[SECOND]
                if position + length + 16 > room:
                    need = length + 16
                    break
                copy(pool, piece[FIRST], length, out, position)
                position += length
                continue
            if kind == OF_EVENT:
                text = np.uint64(np.int64(event) * piece[SECOND] + piece[FIRST])
                start = text_limits[text]
                length = text_limits[text + _ONE] - start
                if position + length + 16 > room:
                    need = length + 16
                    break
                copy(texts, start, length, out, position)
                position += length
                continue
            if kind == ROW_NUMBER:
                if position + 32 > room:
                    need = np.int64(32)
                    break
                position = put_number(numbers[line], out, position)
                continue
            cell_kind, prefix, word = piece[KIND], piece[PREFIX], piece[WORD]
            lead, length = piece[LEAD], piece[LEAD_SIZE]
            if is_sql and ASSIGNED <= kind <= IF_CHANGED:
                if kind == ASSIGNED:
                    place = first_start + piece[FIRST] * step_start + rows[line]
                    first, second = starts[np.uint64(place)], starts[np.uint64(place + 1)]
                    is_other = not is_same_value(data, first, second, piece[SIZE], prefix)
                    is_changed = is_changed or is_other
                    if not is_other and piece[FLAG] == 0:
                        continue
                    if assigned == 0:
                        lead += _COMMA_SIZE
                        length -= _COMMA_SIZE
                    assigned += 1
                elif (kind == OTHERWISE and assigned > 0) or (kind == IF_CHANGED and not is_changed):
                    continue
            if position + length + 16 > room:
                need = length + 16
                break
            copy(pool, lead, length, out, position)
            position += length
            if is_sql and kind == IF_CHANGED:
                continue
            first = position
            second = position
            is_left = False
            nulls = 0
            for turn in range(2 if kind == CHANGED else 1):
                row = rows[line] + (piece[SECOND] if turn == 0 else 1)
                offset = starts[np.uint64(first_start + piece[FIRST] * step_start + row)]
                if offset < 0:
                    nulls += 1
                    length = null.shape[0]
                    if position + length + 16 + _SHOWN_ROOM > room:
                        need = length + 16 + _SHOWN_ROOM
                        break
                    if kind == ADDED and offset == NULL:
                        kind = SHOWN
                    copy(null, 0, length, out, position)
                    position += length
                else:
                    length = piece[SIZE]
                    if prefix and offset + prefix <= data.shape[0]:
                        length = length_prefix(data, offset, prefix)
                        offset += prefix
                    if offset + length > data.shape[0]:
                        is_left = True
                        break
                    widest = np.int64(WIDEST)
                    if length > longest and UTF8 <= cell_kind <= BYTES and length >= piece[DETAIL]:
                        is_left = True
                        break
                    if is_sql and UTF8 <= cell_kind <= GEOMETRY and cell_kind != DOCUMENT:
                        widest = (4 if dialect == QUOTED_SQL else 2) * max(length, piece[DETAIL])
                        widest += word_limits[word + piece[WORDS]] - word_limits[word] + piece[WORDS] + 64
                    elif cell_kind == UTF8:
                        widest = 6 * length + 32
                        if position + widest + _SHOWN_ROOM > room:
                            widest = widest_text(data, offset, length)
                    elif cell_kind == BYTES:
                        widest = 2 * max(length, piece[DETAIL]) + 32
                    elif cell_kind == CODED:
                        widest = 6 * length + 32
                    elif cell_kind in (MEMBER, MEMBERS):
                        widest = word_limits[word + piece[WORDS]] - word_limits[word] + piece[WORDS] + 32
                    if position + widest + _SHOWN_ROOM > room:
                        need = widest + _SHOWN_ROOM
                        break
                    if is_sql:
                        end = put_sql(
                            data,
                            offset,
                            length,
                            cell_kind,
                            piece[DETAIL],
                            words,
                            word_limits,
                            word,
                            piece[WORDS],
                            dialect - SQL + 1,
                            scratch,
                            stack,
                            out,
                            position,
                        )
                    else:
                        end = put_cell(
                            data,
                            offset,
                            length,
                            cell_kind,
                            piece[DETAIL],
                            words,
                            word_limits,
                            word,
                            piece[WORDS],
                            dialect,
                            stack,
                            out,
                            position,
                        )
                    if is_sql and end == NO_SCRATCH:
                        need = np.int64(NO_SCRATCH)
                        break
                    if cell_kind == DOCUMENT and (end == NO_ROOM or end + _SHOWN_ROOM > room):
                        need = 2 * (room - begin) + 2 * length + _SHOWN_ROOM
                        break
                    if end < 0:
                        is_left = True
                        break
                    position = end
                if turn == 0:
                    second = position
            if need:
                break
            if is_left:
                if lefts == left.shape[0]:
                    need = room - begin + 1
                    break
                left[lefts, 0] = line
                left[lefts, 1] = number
                left[lefts, 2] = begin if kind >= SHOWN else position
                lefts += 1
                if kind >= SHOWN:
                    position = begin
                    break
                continue
            if kind == CHANGED and (nulls == 1 or not is_same_text(out, first, second, position)):
                # The new value is moved, to make room for escapes in the old one.
                length = put_printable(out, second, position, piece[FLAG] == 1) - second
                if second + 2 * _SHOWN_ROOM > room:
                    need = room - begin + 2 * _SHOWN_ROOM
                    break
                aside = second + _SHOWN_ROOM
                copy(out, second, length, out, aside)
                position = put_printable(out, first, second, False)
                copy(_ARROW, 0, _ARROW.shape[0], out, position)
                position += _ARROW.shape[0]
                copy(out, aside, length, out, position)
                position += length
            elif kind == ADDED:
                length = position - first
                for step in range(length):
                    out[position + _ARROW.shape[0] - 1 - step] = out[position - 1 - step]
                for step in range(_ARROW.shape[0]):
                    out[first + step] = _ARROW[step]
                first += _ARROW.shape[0]
                position = put_printable(out, first, first + length, piece[FLAG] == 1)
            elif kind >= SHOWN:
                position = put_printable(out, first, second, piece[FLAG] == 1)
        if need:
            need += position - begin if need > 0 else 0
            position = begin
            lefts = lefts_before
            break
        ends[line] = position
        line += 1
    state[LINE] = line
    state[OFFSET] = position
    state[LEFT_COUNT] = lefts
    state[NEED] = need
    return bool(need == 0)


@kernel
def put_row_lines(
    dialect: int,
    data: Bytes,
    starts: Ints,
    first_start: int,
    step_start: int,
    rows: Ints,
    events: Ints,
    numbers: Ints,
    programs: Ints,
    limits: Ints,
    pieces: Ints,
    pool: Bytes,
    null: Bytes,
    texts: Bytes,
    text_limits: Ints,
    words: Bytes,
    word_limits: Ints,
    longest: int,
    scratch: Bytes,
    stack: Ints,
    state: Ints,
    left: Ints,
    out: Bytes,
    ends: Ints,
) -> bool:
    """Write lines from the one in the state on; returns whether all are done, or False if `out` is full.

    See `put_lines` for the parameters.
    """
    arguments = (
        dialect,
        data,
        starts,
        first_start,
        step_start,
        rows,
        events,
        numbers,
        programs,
        limits,
        pieces,
        pool,
        null,
        texts,
        text_limits,
        words,
        word_limits,
        longest,
        scratch,
        stack,
        state,
        left,
        out,
        ends,
    )
    return put_lines(True, *arguments) if dialect >= SQL else put_lines(False, *arguments)
