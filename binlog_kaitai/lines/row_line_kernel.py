"""A kernel that writes lines of text for changed rows, directly from row images.

In the table format, values are made safe to display: truncated, on one line, with control characters escaped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints, IntTable, OutBytes, OutInts, OutIntTable
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.rows.image_walk import ABSENT, NULL
from binlog_kaitai.text.float_texts import LEFT, NO_ROOM
from binlog_kaitai.text.listed_values import (
    BYTES,
    CLIENT,
    CLIENT_NULL,
    CLIENT_SUFFIX,
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
    CellBytes,
    put_cell,
    put_client,
    put_sql,
    put_word,
    widest_text,
)
from binlog_kaitai.text.text_kernels import copy, put_hex, put_number
from binlog_kaitai.values.decoders import length_prefix

#: Values longer than this are truncated, in characters.
MAX_LENGTH = 60

_ELLIPSIS = np.frombuffer("…".encode(), dtype=np.uint8)

_N, _R, _T = 110, 114, 116


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


def is_unsafe(code: int) -> bool:
    """Whether `output_text.printable` escapes a character."""
    if code < 0xA0:
        return code < 0x20 or code >= 0x7F
    if code < 0x2066:
        return code == 0x61C or 0x200E <= code <= 0x200F or 0x2028 <= code <= 0x202E
    return code <= 0x2069


def is_space(code: int) -> bool:
    """Whether Python's `str.rstrip` removes a character."""
    if code < 0x1680:
        return 9 <= code <= 13 or 28 <= code <= 32 or code == 0x85 or code == 0xA0
    if code <= 0x202F:
        return code in (0x1680, 0x2028, 0x2029, 0x202F) or 0x2000 <= code <= 0x200A
    return code == 0x205F or code == 0x3000


@kernel
def put_printable(out: OutBytes, begin: int, end: int, is_last: bool) -> int:
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


#: Kinds of pieces of a line, each of which follows constant bytes, its lead: nothing; the row number;
#: the end of the line, if an SQL update surely changes the row; nothing, if the list of assignments is empty;
#: a text of the line's event, without a lead; a value of the before or after image; a value of a list of
#: assignments, if the column changes; the same, where other bytes may be the same value. For the table
#: format: a value; the old value of an update, then the new one; the new one if there is no old one.
(
    CONSTANT,
    ROW_NUMBER,
    END_IF_CHANGED,
    OTHERWISE,
    OF_EVENT,
    VALUE,
    ASSIGNED,
    MAYBE_SAME,
    SHOWN,
    OLD,
    CHANGED,
    ADDED,
) = range(12)

#: Columns of a piece: its kind; index of the event's text and number of texts per event, or the column and 1
#: for the after image of an update; for values, the kind (see `listed_values`), size, size of the length
#: prefix, detail, first word and number of words; 1 for the last piece of a line of the table format, or the
#: number of bytes after the lead that an assignment has instead of an unchanged value, 0 for no assignment;
#: and offset and length of the lead. That of an assignment begins with its comma and a space.
PIECE, FIRST, SECOND, KIND, SIZE, PREFIX, DETAIL, WORD, WORDS, FLAG, LEAD, LEAD_SIZE = range(12)
PIECE_SIZE = 12

#: Number of bytes that are copied at a time, and that leads and texts of events are followed by.
COPIED_AT_ONCE = 16

_COMMA_SIZE = 2

#: Indexes into the state: the line, the offset of its beginning in `out`, number of values left out and, if
#: the text does not fit, the size that it needs from that offset, or NO_SCRATCH.
LINE, OFFSET, LEFT_COUNT, NEED, STATE_SIZE = range(5)

#: Maximum length that `put_printable` adds to a value, and an arrow; the same with a value of limited length.
_SHOWN_ROOM = 1536
_LIMITED_ROOM = _SHOWN_ROOM + WIDEST

_1, _2, _3, _4 = (np.uint64(number) for number in range(1, 5))

_ARROW = np.frombuffer("→".encode(), dtype=np.uint8)


# Not part of `copy`, which checks bounds: with the steps in a function of their own, `dump` takes 5% longer.
@inlined
def copy_steps(source: Bytes, start: int, length: int, out: Bytes, offset: int) -> None:
    """Copy bytes, which must be followed by COPIED_AT_ONCE more in both arrays."""
    from_, to, end = np.uint64(start), np.uint64(offset), np.uint64(offset + length)
    while to < end:
        # All loads before all stores, which compiles to two vector instructions.
        b0, b1, b2, b3 = source[from_], source[from_ + _1], source[from_ + _2], source[from_ + _3]
        from_ += _4
        b4, b5, b6, b7 = source[from_], source[from_ + _1], source[from_ + _2], source[from_ + _3]
        from_ += _4
        c0, c1, c2, c3 = source[from_], source[from_ + _1], source[from_ + _2], source[from_ + _3]
        from_ += _4
        c4, c5, c6, c7 = source[from_], source[from_ + _1], source[from_ + _2], source[from_ + _3]
        from_ += _4
        out[to], out[to + _1], out[to + _2], out[to + _3] = b0, b1, b2, b3
        to += _4
        out[to], out[to + _1], out[to + _2], out[to + _3] = b4, b5, b6, b7
        to += _4
        out[to], out[to + _1], out[to + _2], out[to + _3] = c0, c1, c2, c3
        to += _4
        out[to], out[to + _1], out[to + _2], out[to + _3] = c4, c5, c6, c7
        to += _4


def is_same_text(text: Bytes, first: int, second: int, end: int) -> bool:
    """Whether the bytes from `first` to `second` are equal to those from `second` to the end."""
    size = second - first
    step = 0
    while step < size and end - second == size and text[first + step] == text[second + step]:
        step += 1
    return step == size and end - second == size


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


class LineRows(NamedTuple):
    """The rows of some lines, for `put_row_lines`.

    `data`, `starts`, `first_start`, `step_start`: bytes, and the offsets of values in them, see
    `walk_images`: the entry of column `c` and row `r` has the index `first_start + c * step_start + r`.
    `rows`, `events`, `numbers`, `programs`: for each line, its (first) row, the index of its event, and the
    row number in the log; for each event, the program that writes its lines.
    """

    data: Bytes
    starts: Ints
    first_start: int
    step_start: int
    rows: Ints
    events: Ints
    numbers: Ints
    programs: Ints


class LinePrograms(NamedTuple):
    """The programs of lines, for `put_row_lines`.

    `limits`, `pieces`: program `p` has the pieces from `limits[p]` to `limits[p + 1]`.
    `pool`, `null`: leads, and the text for NULL.
    `words`, `word_limits`: words of columns, and the start of each: see `listed_values`.
    `texts`, `text_limits`: texts of events, consecutive for each event, and the start of each.
    """

    limits: Ints
    pieces: IntTable
    pool: Bytes
    null: Bytes
    words: Bytes
    word_limits: Ints
    texts: Bytes = np.zeros(0, dtype=np.uint8)
    text_limits: Ints = np.zeros(1, dtype=np.int64)


class LineMemory(NamedTuple):
    """Memory and output of `put_row_lines`.

    `scratch`, `stack`: memory for documents in SQL, and the stack of `put_document`.
    `state` (int64 array of STATE_SIZE): where to continue; initially all 0.
    `left` (int64 array of shape (n, 3)): output: line, piece and offset in `out` of each value left to the
    event reader; in the table format, where the whole line is left out, the offset of its beginning.
    `out`, `ends`: output: the lines, and the end of each.
    """

    scratch: OutBytes
    stack: OutInts
    state: OutInts
    left: OutIntTable
    out: OutBytes
    ends: OutInts


@inlined
def put_lines(
    is_sql: bool,
    is_client: bool,
    dialect: int,
    lines: LineRows,
    written: LinePrograms,
    longest: int,
    memory: LineMemory,
) -> bool:
    """See `put_row_lines`.

    `is_sql`, `is_client`: constants: other dialects are slower in a loop that contains the code for these.
    """
    data, starts, first_start, step_start, rows, events, numbers, programs = lines
    limits, pieces, pool, null, words, word_limits, texts, text_limits = written
    scratch, stack, state, left, out, ends = memory
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
        old, was_null = position, False
        for number in range(limits[program], limits[program + 1]):
            # With a signed index, Numba would generate code for negative indexes.
            piece = pieces[np.uint64(number)]
            kind = piece[PIECE]
            if kind == OF_EVENT:
                text = np.uint64(np.int64(event) * piece[SECOND] + piece[FIRST])
                start = text_limits[text]
                length = text_limits[text + _1] - start
                if position + length + COPIED_AT_ONCE > room:
                    need = length + COPIED_AT_ONCE
                    break
                copy_steps(texts, start, length, out, position)
                position += length
                continue
            lead, length = piece[LEAD], piece[LEAD_SIZE]
            cell_kind, prefix = piece[KIND], piece[PREFIX]
            place = np.uint64(first_start + piece[FIRST] * step_start + rows[line])
            is_held = False
            if is_sql and kind in (ASSIGNED, MAYBE_SAME):
                is_held = is_same_value(data, starts[place], starts[place + _1], piece[SIZE], prefix)
                is_sure = kind == ASSIGNED and starts[place] != ABSENT
                is_changed = is_changed or (is_sure and not is_held)
                if is_held and piece[FLAG] == 0:
                    continue
                if is_held:
                    length += piece[FLAG]
                if assigned == 0:
                    lead += _COMMA_SIZE
                    length -= _COMMA_SIZE
                assigned += 1
            elif is_sql and (
                (kind == OTHERWISE and assigned > 0) or (kind == END_IF_CHANGED and not is_changed)
            ):
                continue
            # Enough for all values of limited length, too.
            if position + length + _LIMITED_ROOM > room:
                need = length + _LIMITED_ROOM
                break
            copy_steps(pool, lead, length, out, position)
            position += length
            if is_sql and kind == END_IF_CHANGED:
                break
            if kind == ROW_NUMBER:
                position = put_number(numbers[line], out, position)
            if kind < VALUE or is_held:
                continue
            offset = starts[place + np.uint64(piece[SECOND])]
            end: Any = np.int64(LEFT)
            if is_client and offset < 0:
                end = put_word(words, word_limits, piece[WORD] + CLIENT_NULL, out, position)
            elif offset < 0:
                end = copy(null, 0, null.shape[0], out, position)
            else:
                length = piece[SIZE]
                if prefix and offset + prefix <= data.shape[0]:
                    length = length_prefix(data, offset, prefix)
                    offset += prefix
                is_left = offset + length > data.shape[0]
                if UTF8 <= cell_kind <= GEOMETRY:
                    is_left = is_left or (length > longest and cell_kind <= BYTES and length >= piece[DETAIL])
                    widest: Any = np.int64(WIDEST)
                    if is_left:
                        pass
                    elif is_client:
                        widest = (
                            WIDEST
                            if cell_kind == DOCUMENT
                            else (4 if cell_kind == BYTES else 8) * length + 32
                        )
                    elif cell_kind in (MEMBER, MEMBERS) or (is_sql and cell_kind != DOCUMENT):
                        word = piece[WORD]
                        widest = word_limits[word + piece[WORDS]] - word_limits[word] + piece[WORDS] + 64
                        if is_sql:
                            widest += (4 if dialect == QUOTED_SQL else 2) * max(length, piece[DETAIL])
                    elif cell_kind == UTF8:
                        widest = 6 * length + 32
                        if position + widest + _SHOWN_ROOM > room:
                            widest = widest_text(data, offset, length)
                    elif cell_kind == BYTES:
                        widest = 2 * max(length, piece[DETAIL]) + 32
                    elif cell_kind == CODED:
                        widest = 6 * length + 32
                    if position + widest + _SHOWN_ROOM > room:
                        need = widest + _SHOWN_ROOM
                        break
                if not is_left:
                    column = piece[DETAIL], words, word_limits, piece[WORD], piece[WORDS]
                    cell = CellBytes(data, offset, length, cell_kind, *column)
                    if is_client:
                        end = put_client(cell, stack, out, position)
                    elif is_sql:
                        end = put_sql(cell, dialect - SQL + 1, scratch, stack, out, position)
                    else:
                        end = put_cell(cell, dialect, stack, out, position)
                if is_sql and end == NO_SCRATCH:
                    need = np.int64(NO_SCRATCH)
                    break
                if cell_kind == DOCUMENT and (end == NO_ROOM or end + _SHOWN_ROOM > room):
                    need = 2 * (room - begin) + 2 * length + _SHOWN_ROOM
                    break
            if end < 0:
                if lefts == left.shape[0]:
                    need = room - begin + 1
                    break
                is_shown = not is_sql and kind >= SHOWN
                left[lefts, 0] = line
                left[lefts, 1] = number
                left[lefts, 2] = begin if is_shown else position
                lefts += 1
                if is_shown:
                    position = begin
                    break
            elif is_sql or kind < SHOWN:
                position = end
            elif kind == OLD:
                old, was_null = position, offset < 0
                position = end
            elif kind == CHANGED and (was_null != (offset < 0) or not is_same_text(out, old, position, end)):
                # The new value is moved, to make room for escapes in the old one.
                length = put_printable(out, position, end, piece[FLAG] == 1) - position
                if position + 2 * _SHOWN_ROOM > room:
                    need = room - begin + 2 * _SHOWN_ROOM
                    break
                aside = position + _SHOWN_ROOM
                copy(out, position, length, out, aside)
                position = put_printable(out, old, position, False)
                position = copy(_ARROW, 0, _ARROW.shape[0], out, position)
                position = copy(out, aside, length, out, position)
            elif kind == ADDED and offset != NULL:
                for step in range(end - position):
                    out[end + _ARROW.shape[0] - 1 - step] = out[end - 1 - step]
                position = copy(_ARROW, 0, _ARROW.shape[0], out, position)
                position = put_printable(out, position, end + _ARROW.shape[0], piece[FLAG] == 1)
            elif kind == CHANGED:
                position = put_printable(out, old, position, piece[FLAG] == 1)
            else:
                position = put_printable(out, position, end, piece[FLAG] == 1)
            if is_client and offset >= 0:
                position = put_word(words, word_limits, piece[WORD] + CLIENT_SUFFIX, out, position)
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
    dialect: int, lines: LineRows, programs: LinePrograms, longest: int, memory: LineMemory
) -> bool:
    """Write lines from the one in the state on; returns whether all are done, or False if `out` is full.

    `dialect`: see `listed_values`.
    `longest`: maximum length of a string that is not left out.
    """
    if dialect == CLIENT:
        return put_lines(False, True, dialect, lines, programs, longest, memory)
    if dialect >= SQL:
        return put_lines(True, False, dialect, lines, programs, longest, memory)
    return put_lines(False, False, dialect, lines, programs, longest, memory)
