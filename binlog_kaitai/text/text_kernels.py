"""Kernels that write lines of text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints, IntTable, Number, OutBools, OutBytes, OutInts
from binlog_kaitai.kernels.compile import inlined, kernel

#: Bytes per line.
WIDTH = 16
#: Upper bounds for the length of a line, and of everything else, in bytes.
_LINE, _REST = 112, 640

#: Sizes of the header's fields, in the order of the clients' columns.
HEADER_FIELDS = (4, 1, 4, 4, 4, 2)
_HEADER_SIZE = sum(HEADER_FIELDS)

# The packed form of a style: the character of each byte, the fill character of positions, the width of the
# digits of a line; then texts, each preceded by its length.
_FILL_AT, _WIDTH_AT, _TEXTS_AT = 256, 257, 258

HEX_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


@inlined
def put_hex(byte: Number, out: Bytes, offset: int) -> int:
    """Write a byte as two hexadecimal digits; returns the end."""
    out[offset] = HEX_DIGITS[byte >> 4]
    out[offset + 1] = HEX_DIGITS[byte & 15]
    return offset + 2


class HexdumpStyle(NamedTuple):
    """The format of a client's hex dump.

    `letters`: the character for each of the 256 bytes.
    `fill`: fill character that pads positions to eight digits.
    `width`: width of the digits of a line.
    `head`: text before the position of the header.
    `gaps`: text before each field.
    `after_header`, `gap`, `end`, `end_without_lines`: text after the fields; between the position and the
    digits of a line; after the lines, or without lines.
    """

    letters: bytes
    fill: bytes
    width: int
    head: bytes
    gaps: tuple[bytes, ...]
    after_header: bytes
    gap: bytes
    end: bytes
    end_without_lines: bytes

    def packed(self) -> bytes:
        """The packed form that `put_hexdump` takes."""
        texts = self.head, *self.gaps, self.after_header, self.gap, self.end, self.end_without_lines
        packed = b"".join(bytes([len(text)]) + text for text in texts)
        return self.letters + self.fill + bytes([self.width]) + packed


def room_for(sizes: Ints) -> int:
    """Sufficient output size for events of these lengths, in bytes."""
    return int((sizes // WIDTH + 1).sum()) * _LINE + _REST * len(sizes)


@kernel
def put_hexdump(
    data: Bytes,
    start: int,
    size: int,
    position: int,
    style: Bytes,
    style_at: int,
    out: OutBytes,
    offset: Number,
) -> Number:
    """Write the hex dump of an event.

    `data`, `start`, `size`: range of the event.
    `position`: position to print for the first byte; 0 writes nothing.
    `style`, `style_at`: bytes, and the offset of a packed `HexdumpStyle` in them.
    `out`, `offset`: output, and the offset to write at.
    Returns the end of the text; -1 if `out` is full, -2 if the event or the style is outside the data.
    """
    if position == 0:
        return offset
    if offset + (size // WIDTH + 1) * _LINE + _REST > out.shape[0]:
        return -1
    if style_at < 0 or style_at + _TEXTS_AT >= style.shape[0]:
        return -2
    if start < 0 or size < _HEADER_SIZE or start + size > data.shape[0]:
        return -2
    text = style_at + _TEXTS_AT
    offset = _put_text(style, text, out, offset)
    text = _after(style, text)
    fill = np.int64(style[style_at + _FILL_AT])
    offset = _put_position(position, fill, out, offset)
    byte: Number = start
    for field in HEADER_FIELDS:
        offset = _put_text(style, text, out, offset)
        text = _after(style, text)
        for step in range(field):
            if step:
                out[offset] = 32
                offset += 1
            offset = put_hex(data[byte], out, offset)
            byte += 1
    offset = _put_text(style, text, out, offset)
    gap = _after(style, text)
    end = _after(style, gap)
    width = np.int64(style[style_at + _WIDTH_AT])
    left: Number = start + size - byte
    if left == 0:
        return _put_text(style, _after(style, end), out, offset)
    while left > 0:
        count = left if left < WIDTH else np.int64(WIDTH)
        out[offset] = 35
        out[offset + 1] = 32
        offset = _put_position(position + byte - start, fill, out, offset + 2)
        offset = _put_text(style, gap, out, offset)
        for step in range(width):
            out[offset + step] = 32
        for step in range(count):
            put_hex(data[byte + step], out, offset + 3 * step + (step >> 3))
        offset += width
        out[offset] = 32
        out[offset + 1] = 124
        offset += 2
        for step in range(count):
            out[offset + step] = np.int64(style[style_at + np.int64(data[byte + step])])
        offset += count
        out[offset] = 124
        out[offset + 1] = 10
        offset += 2
        byte += count
        left -= count
    return _put_text(style, end, out, offset)


def _after(style: Number, text: Number) -> Number:
    return text + 1 + np.int64(style[text])


def _put_text(style: Number, text: Number, out: Number, offset: Number) -> Number:
    for step in range(style[text]):
        out[offset + step] = np.int64(style[text + 1 + step])
    return offset + np.int64(style[text])


def _put_position(position: Number, fill: Number, out: Number, offset: Number) -> Number:
    digits = 1
    while digits < 16 and position >> (4 * digits):
        digits += 1
    for _ in range(digits, 8):
        out[offset] = fill
        offset += 1
    for step in range(digits - 1, -1, -1):
        digit = (position >> (4 * step)) & 15
        out[offset] = digit + (48 if digit < 10 else 87)
        offset += 1
    return offset


#: Kinds of pieces of a line: bytes of the pool; a number; text from the block or the pool; raw bytes from
#: either; a 32-bit number in hexadecimal; a number with six digits; bytes in hexadecimal.
CONSTANT, NUMBER, TEXT, BYTES, HEXADECIMAL, FRACTION, HEXDUMP = 0, 1, 2, 3, 4, 5, 6

# With signed indexes, Numba would generate code for negative ones; increments are therefore unsigned, too.
_1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(number) for number in range(1, 9))
_TEN, _HUNDRED, _THOUSAND, _TO_FOUR = (np.uint64(number) for number in (10, 100, 1000, 10_000))

#: The digits of 0 to 99, two each.
PAIRS = np.frombuffer("".join(f"{number:02}" for number in range(100)).encode(), dtype=np.uint8)


@kernel
@inlined
def copy(source: Bytes, start: int, length: int, out: OutBytes, offset: int) -> int:
    """Copy bytes to `out` within bounds, and give the end; the sixteen bytes after it may be overwritten."""
    done = np.uint64(0)
    from_, to, count = np.uint64(start), np.uint64(offset), np.uint64(length)
    # As long as full steps stay inside both arrays.
    last = np.int64(min(source.shape[0] - start, out.shape[0] - offset)) - 16
    while done < count and np.int64(done) <= last:
        # All loads before all stores, which compiles to two vector instructions.
        a, b = from_ + done, to + done
        b0, b1, b2, b3 = source[a], source[a + _1], source[a + _2], source[a + _3]
        b4, b5, b6, b7 = source[a + _4], source[a + _5], source[a + _6], source[a + _7]
        a += _8
        c0, c1, c2, c3 = source[a], source[a + _1], source[a + _2], source[a + _3]
        c4, c5, c6, c7 = source[a + _4], source[a + _5], source[a + _6], source[a + _7]
        out[b], out[b + _1], out[b + _2], out[b + _3] = b0, b1, b2, b3
        out[b + _4], out[b + _5], out[b + _6], out[b + _7] = b4, b5, b6, b7
        b += _8
        out[b], out[b + _1], out[b + _2], out[b + _3] = c0, c1, c2, c3
        out[b + _4], out[b + _5], out[b + _6], out[b + _7] = c4, c5, c6, c7
        done += np.uint64(16)
    while done < count:
        out[to + done] = source[from_ + done]
        done += _1
    return offset + length


@kernel
def join_ranges(data: Bytes, starts: Ints, lengths: Ints, offsets: OutInts, out: OutBytes) -> None:
    """Copy the ranges to `out`, one after another, and store where each begins and the last ends.

    Bytes outside `data` are read as zeros. `out` must have room for all lengths, which must not be negative.
    """
    target = 0
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        offsets[index] = target
        if length < 0 or target + length > out.shape[0]:
            break
        if 0 <= start <= data.shape[0] - length:
            copy(data, start, length, out, target)
        else:
            out[target : target + length] = 0
        target += length
    offsets[starts.shape[0]] = target


@kernel
def find_clean(data: Bytes, starts: Ints, lengths: Ints, is_clean: Bools, out: OutBools) -> None:
    """Whether each range is inside `data` and contains only bytes allowed by the 256 flags `is_clean`."""
    for index in range(starts.shape[0]):
        start = starts[index]
        length = lengths[index]
        clean = start >= 0 and length >= 0 and start + length <= data.shape[0]
        step = 0
        while clean and step < length:
            clean = is_clean[data[start + step]]
            step += 1
        out[index] = clean


@kernel
def put_number(value: Number, out: OutBytes, start: int) -> Number:
    """Write a number (not -2^63) in decimal at `out[start]`, which must have room for 20; returns the end."""
    begin = np.uint64(start)
    if value < 0:
        value = -value
        out[begin] = 45
        begin += _1
    value = np.uint64(value)
    digits, rest = _1, value
    while rest >= _TO_FOUR:
        rest //= _TO_FOUR
        digits += _4
    if rest >= _HUNDRED:
        digits += _2 if rest < _THOUSAND else _3
    elif rest >= _TEN:
        digits += _1
    offset = begin + digits
    # Four digits at a time, because each division depends on the previous one.
    while value >= _TO_FOUR:
        four = value % _TO_FOUR
        value //= _TO_FOUR
        high, low = _2 * (four // _HUNDRED), _2 * (four % _HUNDRED)
        offset -= _4
        out[offset + _3], out[offset + _2] = PAIRS[low + _1], PAIRS[low]
        out[offset + _1], out[offset] = PAIRS[high + _1], PAIRS[high]
    if value >= _HUNDRED:
        pair = _2 * (value % _HUNDRED)
        value //= _HUNDRED
        offset -= _2
        out[offset + _1] = PAIRS[pair + _1]
        out[offset] = PAIRS[pair]
    if value >= _TEN:
        out[begin + _1] = PAIRS[_2 * value + _1]
        out[begin] = PAIRS[_2 * value]
    else:
        out[begin] = np.uint64(48) + value
    return np.int64(begin + digits)


def put_padded(value: Number, digits: int, out: Bytes, start: Number) -> Number:
    """Write a non-negative number that has at most `digits` digits, with leading zeros; returns the end."""
    begin, value, end = np.uint64(start), np.uint64(value), np.uint64(start + digits)
    offset = end
    while offset - begin > _1:
        pair = _2 * (value % _HUNDRED)
        value //= _HUNDRED
        offset -= _2
        out[offset + _1] = PAIRS[pair + _1]
        out[offset] = PAIRS[pair]
    if offset > begin:
        out[begin] = np.uint64(48) + value
    return np.int64(end)


class Lines(NamedTuple):
    """For each line, its event's number in the block, its program, and its row in the columns of that."""

    events: Ints
    programs: Ints
    rows: Ints


class LinePieces(NamedTuple):
    """What programs consist of.

    `limits`: program `p` has the pieces from `limits[p]` to `limits[p + 1]`.
    `pieces`: kind; then for CONSTANT, offset in the pool and length, else the index of the column in `first`
    and `second`, and 1 if its rows are numbered like the events of the block instead of by `rows`.
    `first`, `second`: a number is in `first`, with 0 in `second`. Text has its offset in the block and its
    length, and is quoted, but BYTES are not; an offset `-p - 1` refers to the bytes at `p` in the pool, which
    are copied unchanged. So does a number whose `second` is not 0, with offset in the pool and length.
    HEXDUMP has two entries per row: offset and length of the bytes; then their position, and the offset in
    the pool of the style (`HexdumpStyle`).
    """

    limits: Ints
    pieces: IntTable
    first: Ints
    second: Ints


@kernel
def assemble(
    data: Bytes, pool: Bytes, lines: Lines, parts: LinePieces, out: OutBytes, ends: OutInts
) -> Number:
    """Write one line per event, piece by piece.

    `data`, `pool`: the block, and additional bytes.
    `out`, `ends`: output: the lines, and the end of each.
    Returns the length of all lines; -1 if `out` is too small, -2 if a piece is outside `data` or `pool`.
    """
    events, programs, rows = lines
    limits, pieces, first, second = parts
    target = 0
    room = out.shape[0]
    for line in range(programs.shape[0]):
        program = programs[line]
        for piece in range(limits[program], limits[program + 1]):
            kind = pieces[piece, 0]
            start = pieces[piece, 1]
            length = pieces[piece, 2]
            from_pool = True
            if kind != CONSTANT:
                row = events[line] if length == 1 else rows[line]
                if kind == HEXDUMP:
                    cell = start + 2 * row
                    size, shown = second[cell], first[cell + 1]
                    target = put_hexdump(data, first[cell], size, shown, pool, second[cell + 1], out, target)
                    if target < 0:
                        return target
                    continue
                cell = start + row
                start = first[cell]
                length = second[cell]
                if kind == NUMBER and length == 0:
                    if target + 20 > room:
                        return -1
                    target = put_number(start, out, target)
                    continue
                if kind >= HEXADECIMAL:
                    if target + 20 > room:
                        return -1
                    if kind == FRACTION:
                        target = put_padded(start, 6, out, target)
                    else:
                        for shift in range(24, -8, -8):
                            target = put_hex((start >> shift) & 255, out, target)
                    continue
                if kind in (TEXT, BYTES):
                    from_pool = start < 0
                    if from_pool:
                        start = -start - 1
            if target + length + 2 > room:
                return -1
            if start < 0 or length < 0 or start + length > (pool.shape[0] if from_pool else data.shape[0]):
                return -2
            if from_pool:
                target = copy(pool, start, length, out, target)
            elif kind == BYTES:
                target = copy(data, start, length, out, target)
            else:
                out[target] = 34
                copy(data, start, length, out, target + 1)
                out[target + 1 + length] = 34
                target += length + 2
        ends[line] = target
    return target
