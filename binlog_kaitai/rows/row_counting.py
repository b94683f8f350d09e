"""Kernels that count rows: the walk over row images, without recording offsets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.decoders import (
    has_partial_bits,
    is_null,
    len_null_bits,
    length_prefix,
    value_options,
)

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

    The parameters are those of `walk.locate`, and the same events are rejected. `hop_limits`, `hops` and
    `hop_prefixes` are merged steps for rows without NULL: a number of bytes, then a length prefix, if any.
    """
    for event in range(begins.shape[0]):
        program = programs[event]
        which = images[program]
        at = begins[event]
        end = ends[event]
        first = limits[2 * program]
        middle = limits[2 * program + 1]
        last = limits[2 * program + 2]
        has_bytes = (middle - first if which & 1 else 0) + (last - middle if which & 2 else 0) > 0
        has_bytes = has_bytes or partials[program] >= 0
        number = 0
        is_wrong = at < 0 or at > end or end > data.shape[0] or (at < end) != has_bytes
        while not is_wrong and (at < end or (number == 0 and begins[event] == end)):
            for side in range(2):
                if is_wrong or not (which >> side) & 1:
                    continue
                step = middle if side else first
                stop = last if side else middle
                if side and partials[program] >= 0:
                    is_wrong = at >= end
                    if not is_wrong:
                        is_valid, is_none, after = value_options(data, at)
                        is_wrong = is_none or not is_valid or after > end
                    if is_wrong:
                        continue
                    is_set = has_partial_bits(data, at)
                    at = after
                    if is_set:
                        at += partials[program]
                null_at = at
                at += len_null_bits(stop - step)
                if at > end:
                    is_wrong = True
                    continue
                nulls = 0
                for bit in range((stop - step) >> 3):
                    nulls |= data[np.uint64(null_at + bit)]
                if (stop - step) & 7:
                    # Bits after the last column may be set.
                    nulls |= data[np.uint64(at - 1)] & ((1 << ((stop - step) & 7)) - 1)
                begin = step
                if nulls == 0:
                    step = hop_limits[2 * program + side]
                    stop = hop_limits[2 * program + side + 1]
                while step < stop and not is_wrong:
                    prefix = 0
                    if nulls == 0:
                        at += hops[step]
                        prefix = hop_prefixes[step]
                    elif not is_null(data, null_at, step - begin):
                        prefix = prefixes[step]
                        at += sizes[step] if prefix == 0 else 0
                    if prefix:
                        if at + prefix > end:
                            at = end + 1
                        else:
                            at += prefix + length_prefix(data, at, prefix)
                    is_wrong = at > end
                    step += 1
            number += 1
        out[event] = MISMATCH_COUNT if is_wrong else number


def hops_of(limits: Ints, sizes: Ints, prefixes: Ints) -> tuple[Any, Any, Any]:
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
