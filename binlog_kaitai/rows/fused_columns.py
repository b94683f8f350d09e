"""Reads several columns together into Arrow buffers: values and validity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.log.mapped_memory import LONG, pieces
from binlog_kaitai.rows.column_cells import LONGEST, Cells, check_ends
from binlog_kaitai.rows.read_kernels import (
    BITS,
    HOW,
    LINE,
    MORE,
    MORE_END,
    NUMBER,
    RESULTS,
    SIZE,
    STARTS,
    STATES,
    STRINGS,
    TIMES_OF_ALL_KINDS,
    TOTAL,
    VALUES,
    Memory,
    copy_columns,
    read_columns,
)

#: Alignment that Arrow recommends for buffers.
_ALIGNMENT = 64

#: Number of bytes after each string column that kernels may overwrite.
_SLACK = 16


class ReadMethod(NamedTuple):
    """How a column is read, see `read_kernels`.

    `item`: size of a value in Arrow, or of an offset for strings, in bytes.
    `number`: additional parameter of `how`.
    `more`: int64 array.
    """

    how: int
    item: int
    number: int = 0
    more: Ints = np.zeros(0, dtype=np.int64)


class ColumnValues(NamedTuple):
    """A column that was read.

    `valid`, `values`: validity bits, None if all values are valid; values, or offsets of strings.
    `data`: bytes of strings.
    `states`: uint8 array, state of each time, see `read_kernels`; empty for other types.
    `nulls`, `invalid`: number of missing values; number of invalid values, including zero dates.
    """

    valid: pa.Buffer | None
    values: pa.Buffer
    data: pa.Buffer | None
    states: Bytes
    nulls: int
    invalid: int

    def array(self, kind: pa.DataType, count: int) -> pa.Array:
        """An Arrow array of a type with this representation."""
        buffers = [self.valid, self.values] if self.data is None else [self.valid, self.values, self.data]
        return pa.Array.from_buffers(kind, count, buffers, self.nulls)

    def bytes_and_offsets(self) -> tuple[Bytes, NDArray[np.int32]]:
        """Strings as uint8 and int32 arrays, with one more offset than values."""
        assert self.data is not None
        return np.frombuffer(self.data, dtype=np.uint8), np.frombuffer(self.values, dtype=np.int32)


def read_together(chosen: Sequence[tuple[Cells, ReadMethod]]) -> Iterator[ColumnValues]:
    """The values of several columns of the same rows.

    Raises `CellError`: the texts of a column exceed Arrow's limit.
    """
    if not chosen:
        return
    count, data = len(chosen[0][0]), chosen[0][0].data
    plan = np.zeros((len(chosen), LINE), dtype=np.int64)
    starts, plan[:, STARTS] = _joined([cells.starts for cells, _ in chosen])
    more, limits = [np.zeros(0, dtype=np.int64)], [0]
    ways = [way for _, way in chosen]
    for line, (cells, way) in enumerate(chosen):
        more.append(way.more)
        limits.append(limits[-1] + len(way.more))
        plan[line, HOW], plan[line, NUMBER] = way.how, way.number
        plan[line, SIZE] = cells.width.prefix or cells.width.fixed
    plan[:, MORE], plan[:, MORE_END] = limits[:-1], limits[1:]
    items = np.array([way.item for way in ways], dtype=np.int64)
    is_time = np.array([way.how in TIMES_OF_ALL_KINDS for way in ways])
    lengths = np.array([items * (count + 1), np.full(len(ways), (count + 7) // 8), is_time * count])
    positions = np.append(0, np.cumsum(-(-lengths.T.reshape(-1) // _ALIGNMENT) * _ALIGNMENT))
    firsts, plan[:, BITS], plan[:, STATES] = positions[:-1].reshape(-1, 3).T
    plan[:, VALUES] = firsts // items
    out = np.empty(int(positions[-1]) // 8, dtype=np.uint64)
    kinds = np.uint8, np.uint16, np.uint32, np.uint64, np.int32, np.int64
    views = Memory._make(out.view(kind) for kind in kinds)
    flat, signed = views.bytes, views.signed4
    is_strings = plan[:, HOW] == STRINGS
    signed[plan[is_strings, VALUES]] = 0
    results = np.zeros((len(chosen), RESULTS), dtype=np.int64)
    read_columns.run(data, starts, count, plan, np.concatenate(more), views, results)
    fits = results[:, TOTAL] <= LONGEST
    texts = _strings(data, starts, count, plan[is_strings & fits], signed, results[is_strings & fits, TOTAL])
    memory = pa.py_buffer(out)
    bits = (count + 7) // 8
    for line, (nulls, invalid, _) in enumerate(results.tolist()):
        if not fits[line]:
            cells = chosen[line][0]
            check_ends(np.cumsum(np.maximum(cells.sizes(np.arange(count)) - cells.width.prefix, 0)))
        first, bit_offsets, states = firsts[line], plan[line, BITS], plan[line, STATES]
        yield ColumnValues(
            memory.slice(bit_offsets, bits) if nulls else None,
            memory.slice(first, lengths[0, line]),
            next(texts) if is_strings[line] else None,
            flat[states : states + lengths[2, line]],
            nulls,
            invalid,
        )


def _strings(
    data: Bytes, starts: Ints, count: int, plan: Ints, offsets: Array, totals: Ints
) -> Iterator[pa.Buffer]:
    """Bytes of the string columns."""
    if not len(plan):
        return
    positions = np.concatenate(([0], np.cumsum(totals + _SLACK)))
    out = np.empty(int(positions[-1]), dtype=np.uint8)
    if int(totals.sum()) > LONG * count:
        _copy_long(data, starts, count, plan, offsets, positions, out)
    else:
        copy_columns.run(data, starts, count, plan, offsets, positions, out)
    memory = pa.py_buffer(out)
    for offset, total in zip(positions.tolist(), totals.tolist(), strict=False):
        yield memory.slice(offset, total)


def _copy_long(
    data: Bytes, starts: Ints, count: int, plan: Ints, offsets: Array, positions: Ints, out: Bytes
) -> None:
    """Like `copy_columns`, for long values in a mapped file: only a piece of it is in memory."""
    for line, to in zip(plan, positions.tolist(), strict=False):
        ends = to + offsets[line[VALUES] : line[VALUES] + count + 1].astype(np.int64)
        for row in range(count):
            offset, start = int(ends[row]), int(starts[line[STARTS] + row]) + int(line[SIZE])
            for piece in pieces(data, start, start + int(ends[row + 1]) - offset):
                out[offset : offset + len(piece)] = piece
                offset += len(piece)


def _joined(starts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Concatenate arrays, without a copy if they are slices of one array; also returns the start of each."""
    base = starts[0].base if starts else None
    if base is not None and all(array.base is base and array.flags.c_contiguous for array in starts):
        origin = base.__array_interface__["data"][0]
        addresses = [array.__array_interface__["data"][0] for array in starts]
        return base.reshape(-1), (np.array(addresses, dtype=np.int64) - origin) // base.itemsize
    lengths = np.array([len(array) for array in starts], dtype=np.int64)
    joined = np.concatenate([np.zeros(0, dtype=np.int64), *starts])
    return joined, np.cumsum(lengths) - lengths
