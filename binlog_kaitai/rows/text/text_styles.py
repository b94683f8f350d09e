"""Text styles: a writer function for each column type, and a fallback for rare types.

A writer takes the cells of a column and returns an Arrow array of bytes, with null for missing values and for
values that the style's `value` function has to write. The writers here are shared by several styles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.rows.builders import build
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import ABSENT
from binlog_kaitai.rows.string_columns import LONGEST
from binlog_kaitai.rows.text.float_texts import float_texts
from binlog_kaitai.rows.text.moment_texts import (
    DATE,
    MOMENT,
    TIME,
    ByteTexts,
    clock_texts,
    join_texts,
    moment_texts,
    number_texts,
    put_bytes,
)
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column


@dataclass(frozen=True)
class TextStyle:
    """A text style for values.

    Attributes
    ----------
    writers : mapping from kind of column to callable
        Takes the style and the cells of a column, and returns an Arrow array of bytes, with null for missing
        values and for values that `value` has to write.
    value : callable
        Takes a value, not None, in the event reader's form, and its column; for types without a writer.
    null : bytes
        Text for NULL.
    """

    writers: Mapping[Kind, Callable[[TextStyle, Cells], pa.Array]]
    value: Callable[[Value, Column], bytes]
    null: bytes = b"NULL"

    def texts(self, cells: Cells) -> pa.Array:
        """The text of each cell; null if the image does not contain the column.

        Raises
        ------
        CellError
            A value is invalid, or cannot be written in this style.
        """
        writer = self.writers.get(cells.column.kind)
        found = by_value(self, cells) if writer is None else writer(self, cells)
        if writer is not None and found.null_count:
            found = replaced(self, cells, found, is_null(found) & cells.valid)
        if not found.null_count:
            return found
        is_absent = cells.starts == ABSENT
        if not is_absent.any():
            return pc.fill_null(found, self.null)
        is_nothing = pa.array(is_null(found) & ~is_absent)
        return pc.if_else(is_nothing, pa.scalar(self.null, pa.binary()), found)


def by_value(style: TextStyle, cells: Cells, rows: Ints | None = None) -> pa.Array:
    """Text of the given rows (or all), one value at a time, each distinct value once."""
    rows = np.arange(len(cells)) if rows is None else rows
    starts = np.maximum(cells.starts[rows], 0)
    firsts = np.where(cells.valid[rows], group_ranges(cells.data, starts, starts + cells.sizes(rows)), -1)
    first, which = distinct(firsts)
    made = cells.by_reader(rows[first], lambda value: style.value(value, cells.column))
    return pa.array(made, pa.binary()).take(pa.array(which))


def replaced(style: TextStyle, cells: Cells, texts: pa.Array, is_other: Bools) -> pa.Array:
    """Texts with some rows, given by a bool array, replaced by values written one at a time."""
    rows = np.flatnonzero(is_other)
    if not len(rows):
        return texts
    return pc.replace_with_mask(texts, pa.array(is_other), by_value(style, cells, rows))


def is_null(array: pa.Array) -> Bools:
    """Where an Arrow array is null, as a bool array."""
    flags: Bools = array.is_null().to_numpy(zero_copy_only=False)
    return flags


_TOO_LONG = "the text of one column takes more than 2 GiB"


HEX = ByteTexts.of({byte: b"%02X" % byte for byte in range(256)})


def written(
    array: pa.Array, table: ByteTexts, before: bytes, suffix: bytes, empty: bytes | None = None
) -> pa.Array:
    """The values of an array of bytes or text, translated by a table, each between two texts.

    Parameters
    ----------
    empty
        Text for empty values, if it differs.
    """
    raw, starts, ends, valid, size = ranges(array)
    count = len(array)
    is_empty = starts == ends if empty is not None else None
    around = np.zeros((2, 1 + max(len(before), len(suffix))), dtype=np.int64)
    for row, text in enumerate((before, suffix)):
        around[row, 0] = len(text)
        around[row, 1 : 1 + len(text)] = list(text)
    room = size * int(table.sizes.max()) + count * (len(before) + len(suffix)) + 16
    out, ending = np.empty(room, dtype=np.uint8), np.empty(count + 1, dtype=np.int64)
    total = put_bytes.run(raw, starts, ends, *table, around, out, ending)
    if total < 0:
        raise AssertionError(f"translated bytes exceed their buffer: {total}")
    texts = text_array(out[:total], ending, valid)
    if is_empty is not None and is_empty.any():
        texts = pc.if_else(pa.array(is_empty), pa.scalar(empty, pa.binary()), texts)
    return texts


class Ranges(NamedTuple):
    """The texts of an array: their bytes and ranges.

    Attributes
    ----------
    data : uint8 array
    starts, ends : int64 arrays
        A null has an end before its start.
    valid : bool array or None
        Which are not null; None if none is null.
    size : int
        Upper bound for the size of all texts, in bytes.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    valid: NDArray[np.bool_] | None
    size: int


def ranges(array: pa.Array) -> Ranges:
    """The texts of an array of bytes or text."""
    _, offsets, data = array.buffers()
    window = slice(array.offset, array.offset + len(array) + 1)
    positions = np.frombuffer(offsets, dtype=np.int32)[window].astype(np.int64)
    raw = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    valid = ~is_null(array) if array.null_count else None
    starts, ends = positions[:-1], positions[1:]
    if valid is not None:
        ends = np.where(valid, ends, starts - 1)
    return Ranges(raw, starts, ends, valid, int(positions[-1] - positions[0]))


def text_array(data: Bytes, offsets: Ints, valid: Bools | None = None) -> pa.Array:
    """An Arrow array of bytes from all texts and the start of each.

    Raises
    ------
    OverflowError
        They exceed the capacity of an array.
    """
    if offsets[-1] > LONGEST:
        raise OverflowError(_TOO_LONG)
    nulls = 0 if valid is None else len(valid) - int(np.count_nonzero(valid))
    bits = pa.py_buffer(np.packbits(valid, bitorder="little")) if valid is not None and nulls else None
    buffers = [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers, nulls)


def as_bytes(array: pa.Array) -> pa.Array:
    """A text array as an array of bytes."""
    return array.view(pa.binary())


def numbers(_: TextStyle, cells: Cells) -> pa.Array:
    """Integers, BIT and YEAR, in decimal."""
    found = build(cells)
    kind = found.type
    if not pa.types.is_integer(kind):
        return as_bytes(found.cast(pa.string()))
    values = np.frombuffer(found.buffers()[1], dtype=kind.to_pandas_dtype())[: len(found)]
    if kind.bit_width == 64 and len(values) and _is_beyond(values):
        return as_bytes(found.cast(pa.string()))
    return digits(values.astype(np.int64, copy=False), cells.valid)


def digits(values: Ints, valid: Bools | None = None) -> pa.Array:
    """Numbers (int64, not -2^63) in decimal; null where `valid` is false."""
    return text_array(*number_texts(values, valid), valid)


def clock(seconds: Ints) -> pa.Array:
    """Timestamps (int64, seconds since 1970-01-01 UTC) as ``YYYY-MM-DD hh:mm:ss``."""
    return text_array(*clock_texts(seconds))


def _is_beyond(values: Array) -> bool:
    """Whether there are numbers that `put_numbers` cannot write."""
    is_signed = values.dtype.kind == "i"
    return int(values.min()) == np.iinfo(np.int64).min if is_signed else int(values.max()) >= 1 << 63


def floats(_: TextStyle, cells: Cells, *, is_exact: bool = False) -> pa.Array:
    """FLOAT and DOUBLE with the fewest digits that round-trip; with `is_exact`, as DOUBLE."""
    found = build(cells)
    single = found.type.bit_width == 32
    values = np.frombuffer(found.buffers()[1], dtype=np.float32 if single else np.float64)[: len(found)]
    if single and is_exact:
        values = values.astype(np.float64)
    texts, is_left = float_texts(values, cells.valid, is_bare=True)
    if not cells.valid.all():
        texts = pc.if_else(pa.array(cells.valid), texts, pa.scalar(None, pa.binary()))
    rows = np.flatnonzero(is_left)
    if not len(rows):
        return texts
    rest = pa.array(values[rows]).cast(pa.string())
    # Negative zero, NaN and infinities are null here: the style's `value` function writes or rejects them.
    is_special = pc.or_(pc.equal(rest, "-0"), pc.match_substring_regex(rest, "n|N"))
    rest = pc.if_else(is_special, pa.scalar(None, pa.string()), rest)
    return pc.replace_with_mask(texts, pa.array(is_left), as_bytes(rest))


def decimals(_: TextStyle, cells: Cells) -> pa.Array:
    """DECIMAL, with all digits of its scale."""
    text = build(cells).cast(pa.string())
    # Arrow writes some small numbers with an exponent.
    is_short = pc.match_substring(text, "E")
    if pc.any(is_short).as_py():
        text = pc.if_else(is_short, pa.scalar(None, pa.string()), text)
    return as_bytes(text)


def moments(style: TextStyle, cells: Cells, quote: bytes = b"'") -> pa.Array:
    """DATE, DATETIME, TIMESTAMP (in UTC) and TIME in quotes; null for dates that are not in the calendar."""
    found = build(cells)
    kind = found.type
    number = pa.int32() if kind.bit_width == 32 else pa.int64()
    values = found.view(number)
    valid = ~is_null(found)
    which = DATE if pa.types.is_date(kind) else TIME if pa.types.is_duration(kind) else MOMENT
    plain = np.frombuffer(values.buffers()[1], dtype=number.to_pandas_dtype())[: len(found)].astype(np.int64)
    return text_array(*moment_texts(plain, valid, which, cells.column.fractional_digits, quote), valid)


def joined(*pieces: bytes | pa.Array) -> pa.Array:
    """Concatenate texts row by row; null if one of them is null. A piece of bytes is part of each row."""
    arrays, between = list[pa.Array](), [b""]
    for piece in pieces:
        if isinstance(piece, bytes):
            between[-1] += piece
        else:
            arrays.append(piece)
            between.append(b"")
    if any(array.null_count for array in arrays):
        return pc.binary_join_element_wise(*pieces, b"", null_handling="emit_null")
    count = len(arrays[0])
    offsets = np.empty((len(arrays), count + 1), dtype=np.int32)
    limits = np.cumsum([0, *map(len, between)])
    bases = np.empty(len(arrays), dtype=np.int64)
    parts, size = [np.frombuffer(b"".join(between), dtype=np.uint8)], int(limits[-1])
    for number, array in enumerate(arrays):
        _, positions, data = array.buffers()
        offsets[number] = np.frombuffer(positions, dtype=np.int32)[array.offset : array.offset + count + 1]
        begin, end = int(offsets[number, 0]), int(offsets[number, -1])
        bases[number] = size - begin
        if data is not None:
            parts.append(np.frombuffer(data, dtype=np.uint8)[begin:end])
            size += end - begin
    total = size + (count - 1) * int(limits[-1])
    if total > LONGEST:
        raise OverflowError(_TOO_LONG)
    out, ends = np.empty(total, dtype=np.uint8), np.empty(count + 1, dtype=np.int32)
    found = join_texts.run(np.concatenate(parts), offsets, bases, limits, out, ends)
    if found != total:
        raise AssertionError(f"concatenated texts exceed their buffer: {found}")
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(ends), pa.py_buffer(out)], 0)
