"""Columns read together, into memory as Arrow has it: their values, and which are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.columns.kernel.arrays import Array, Bytes, Ints
from binlog_kaitai.columns.rows.cells import Cells
from binlog_kaitai.columns.rows.read_kernels import (
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
    copy_columns,
    read_columns,
)

#: Arrow would have buffers begin at a multiple of this.
_ALIGNMENT = 64

#: Behind each column of strings so many bytes are written to.
_SLACK = 16


class Way(NamedTuple):
    """How a column is read: see `read_kernels`.

    Attributes
    ----------
    how : int
    item : int
        Bytes of a value in Arrow; of an offset, for strings.
    number : int
        The number more that `how` takes.
    more : int64 array
    """

    how: int
    item: int
    number: int = 0
    more: Any = np.zeros(0, dtype=np.int64)


class Values(NamedTuple):
    """A column that was read.

    Attributes
    ----------
    valid, values : pyarrow.Buffer
        Bits, None where all values are there; values, or offsets of strings.
    data : pyarrow.Buffer or None
        The bytes of strings.
    states : uint8 array
        Of each time what it is, see `time_kernels`; of other values nothing.
    nulls, odd : int
        How many values are not there; how many are none, or a date that no calendar has.
    """

    valid: Any
    values: Any
    data: Any
    states: Any
    nulls: int
    invalid: int

    def array(self, kind: pa.DataType, count: int) -> Any:
        """As an Arrow array of a type that has its values so."""
        buffers = [self.valid, self.values] if self.data is None else [self.valid, self.values, self.data]
        return pa.Array.from_buffers(kind, count, buffers, self.nulls)

    def bytes_and_offsets(self) -> tuple[Any, Any]:
        """Of strings, as uint8 and int32 arrays; there is one offset more than values."""
        return np.frombuffer(self.data, dtype=np.uint8), np.frombuffer(self.values, dtype=np.int32)


def read_together(chosen: Sequence[tuple[Cells, Way]]) -> Iterator[Values]:
    """The values of some columns of the same rows."""
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
    views = [out.view(kind) for kind in (np.uint8, np.uint16, np.uint32, np.uint64, np.int32, np.int64)]
    flat, signed = views[0], views[4]
    is_strings = plan[:, HOW] == STRINGS
    signed[plan[is_strings, VALUES]] = 0
    results = np.zeros((len(chosen), RESULTS), dtype=np.int64)
    read_columns.run(data, starts, count, plan, np.concatenate(more), *views, results)
    texts = _strings(data, starts, count, plan[is_strings], signed, results[is_strings, TOTAL])
    memory = pa.py_buffer(out)
    bits = (count + 7) // 8
    for line, (nulls, invalid, _) in enumerate(results.tolist()):
        first, bit_offsets, states = firsts[line], plan[line, BITS], plan[line, STATES]
        yield Values(
            memory.slice(bit_offsets, bits) if nulls else None,
            memory.slice(first, lengths[0, line]),
            next(texts) if is_strings[line] else None,
            flat[states : states + lengths[2, line]],
            nulls,
            invalid,
        )


def _strings(
    data: Bytes, starts: Ints, count: int, plan: Ints, offsets: Array, totals: Ints
) -> Iterator[Any]:
    """The bytes of columns of strings, column by column."""
    if not len(plan):
        return
    positions = np.concatenate(([0], np.cumsum(totals + _SLACK)))
    out = np.empty(int(positions[-1]), dtype=np.uint8)
    copy_columns.run(data, starts, count, plan, offsets, positions, out)
    memory = pa.py_buffer(out)
    for place, total in zip(positions.tolist(), totals.tolist(), strict=False):
        yield memory.slice(place, total)


def _joined(starts: Sequence[Any]) -> tuple[Any, Any]:
    """Arrays in one, without a copy where they are parts of one already; and where each begins."""
    base = starts[0].base if starts else None
    if base is not None and all(one.base is base and one.flags.c_contiguous for one in starts):
        origin = base.__array_interface__["data"][0]
        positions = [(one.__array_interface__["data"][0] - origin) // base.itemsize for one in starts]
        return base.reshape(-1), positions
    lengths = np.array([len(one) for one in starts], dtype=np.int64)
    joined = np.concatenate([np.zeros(0, dtype=np.int64), *starts])
    return joined, np.cumsum(lengths) - lengths


def contents(cells: Cells) -> tuple[Any, Any]:
    """The bytes of all values without their lengths, one behind the other, and their offsets."""
    (values,) = read_together([(cells, Way(STRINGS, 4))])
    return values.bytes_and_offsets()
