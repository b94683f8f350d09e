"""The number of rows that each rows event changes: the walk over row images, without recording offsets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    has_partial_bits,
    is_null,
    len_null_bits,
    length_prefix,
    value_options,
)
from binlog_kaitai.rows.image_walk import JoinedPrograms
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.schema import set_old_fractions

#: Result for an event that contradicts its table map.
MISMATCH_COUNT = -1


@kernel
def count_rows(
    data: Bytes,
    begins: Ints,
    ends: Ints,
    programs: Ints,
    images: Ints,
    partials: Ints,
    limits: Ints,
    sizes: Ints,
    prefixes: Ints,
    hop_limits: Ints,
    hops: Ints,
    hop_prefixes: Ints,
    out: Ints,
) -> None:
    """Count the rows of each event; an update counts once.

    The parameters are those of `locate`, and the same events are rejected. `hop_limits`, `hops` and
    `hop_prefixes` are merged steps for rows without NULL: a number of bytes, then a length prefix, if any.
    """
    for event in range(begins.shape[0]):
        program = programs[event]
        which = images[program]
        offset = begins[event]
        end = ends[event]
        first = limits[2 * program]
        middle = limits[2 * program + 1]
        last = limits[2 * program + 2]
        has_bytes = (middle - first if which & 1 else 0) + (last - middle if which & 2 else 0) > 0
        has_bytes = has_bytes or partials[program] >= 0
        number = 0
        is_wrong = offset < 0 or offset > end or end > data.shape[0] or (offset < end) != has_bytes
        while not is_wrong and (offset < end or (number == 0 and begins[event] == end)):
            for side in range(2):
                if is_wrong or not (which >> side) & 1:
                    continue
                step = middle if side else first
                stop = last if side else middle
                if side and partials[program] >= 0:
                    is_wrong = offset >= end
                    if not is_wrong:
                        is_valid, is_none, after = value_options(data, offset)
                        is_wrong = is_none or not is_valid or after > end
                    if is_wrong:
                        continue
                    is_set = has_partial_bits(data, offset)
                    offset = after
                    if is_set:
                        offset += partials[program]
                null_at = offset
                offset += len_null_bits(stop - step)
                if offset > end:
                    is_wrong = True
                    continue
                nulls = 0
                for bit in range((stop - step) >> 3):
                    nulls |= data[np.uint64(null_at + bit)]
                if (stop - step) & 7:
                    # Bits after the last column may be set.
                    nulls |= data[np.uint64(offset - 1)] & ((1 << ((stop - step) & 7)) - 1)
                begin = step
                if nulls == 0:
                    step = hop_limits[2 * program + side]
                    stop = hop_limits[2 * program + side + 1]
                while step < stop and not is_wrong:
                    prefix = 0
                    if nulls == 0:
                        offset += hops[step]
                        prefix = hop_prefixes[step]
                    elif not is_null(data, null_at, step - begin):
                        prefix = prefixes[step]
                        offset += sizes[step] if prefix == 0 else 0
                    if prefix:
                        if offset + prefix > end:
                            offset = end + 1
                        else:
                            offset += prefix + length_prefix(data, offset, prefix)
                    is_wrong = offset > end
                    step += 1
            number += 1
        out[event] = MISMATCH_COUNT if is_wrong else number


def hops_of(limits: Ints, sizes: Ints, prefixes: Ints) -> tuple[Ints, Ints, Ints]:
    """Merge the steps of each image: limits as for the steps, byte counts, sizes of length prefixes."""
    hop_limits, hops, hop_prefixes = [0], list[int](), list[int]()
    bounds = limits.tolist()
    for begin, end in pairwise(bounds):
        gap = 0
        for size, prefix in zip(sizes[begin:end].tolist(), prefixes[begin:end].tolist(), strict=True):
            gap += 0 if prefix else size
            if prefix:
                hops.append(gap)
                hop_prefixes.append(prefix)
                gap = 0
        if gap:
            hops.append(gap)
            hop_prefixes.append(0)
        hop_limits.append(len(hops))
    return tuple(np.array(values, dtype=np.int64) for values in (hop_limits, hops, hop_prefixes))  # type: ignore[return-value]


#: Result if the number is unknown.
UNKNOWN = MISMATCH_COUNT


def row_counts(images: Images, wanted: Bools | bool = True) -> Ints:
    """Number of rows of each rows event of a block, int64; an update counts once.

    UNKNOWN if the table map is missing or contradicts the rows, or if the length of a value is unknown;
    and for events excluded by `wanted`, an array of truth values.
    """
    counts = np.full(len(images), UNKNOWN, dtype=np.int64)
    for number, table in enumerate(images.tables):
        if isinstance(table, Table):
            _count(images, np.flatnonzero((images.table_of == number) & wanted), table, counts)
    return counts


class RowNumbers:
    """The first row number of each event, for consecutive blocks of a file.

    It is 0, except in a transaction payload, whose events all have the same position: there, row numbers
    continue from one rows event to the next.
    """

    def __init__(self) -> None:
        self._position, self._end = -1, 0

    def first(self, images: Images) -> Ints:
        """The number of the first row of each rows event of the block, int64."""
        block, rows = images.block, images.rows
        if block.holders is None:
            return np.zeros(len(rows), dtype=np.int64)
        positions = block.positions[rows]
        is_inside = block.end_positions[rows] - positions != block.sizes[rows]
        if not is_inside.any():
            return np.zeros(len(rows), dtype=np.int64)
        begins = np.diff(positions, prepend=self._position) != 0
        goes_on = is_inside & np.append(~begins[1:], True)  # possibly into the next block
        counts = np.maximum(row_counts(images, goes_on), 0)
        before = np.cumsum(counts) - counts
        # The first transaction may have begun in the previous block.
        first = before - np.maximum.accumulate(np.where(begins, before, -self._end))
        self._position, self._end = int(positions[-1]), int(first[-1] + counts[-1])
        return first


def walked_counts(images: Images, chosen: Ints, table: Table) -> Ints:
    """Number of rows of some events of a table with known widths; UNKNOWN if the rows do not match."""
    counts = np.full(len(chosen), UNKNOWN, dtype=np.int64)
    programs, program_of = images.programs()
    is_known = np.array([program is not None for program in programs], dtype=np.bool_)[program_of[chosen]]
    found = [counts[:0]]
    for events, data, begins, ends in images.portions(chosen[is_known]):
        joined = JoinedPrograms.of(programs, program_of[events])
        sizes, prefixes = (np.ascontiguousarray(joined.steps[:, column]) for column in (1, 2))
        steps = joined.limits, sizes, prefixes, *hops_of(joined.limits, sizes, prefixes)
        found.append(np.empty(len(events), dtype=np.int64))
        count_rows.run(data, begins, ends, joined.numbers, joined.which, joined.partials, *steps, found[-1])
    counts[is_known] = np.concatenate(found)
    return counts


def _count(images: Images, chosen: Ints, table: Table, counts: Ints) -> None:
    if table.widths is not None:
        counts[chosen] = walked_counts(images, chosen, table)
    for index in chosen[counts[chosen] == UNKNOWN].tolist():
        counts[index] = _by_reader(images, index, table)


def _by_reader(images: Images, index: int, table: Table) -> int:
    event = images.block.event(int(images.rows[index]), table.table_map)
    set_old_fractions(table.table_map, table.schema.old_fractions)
    try:
        rows = getattr(event.body, "rows", None)
    except BinlogError:
        return UNKNOWN
    except Exception:  # generated code may raise anything on invalid bytes
        return UNKNOWN
    return UNKNOWN if rows is None else len(rows)
