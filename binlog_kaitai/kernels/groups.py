"""Groups equal numbers and equal byte ranges."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import hash_ranges, same_ranges

#: With so few ranges, or without machine code, kernels cost more than they save.
_TOO_FEW_RANGES = 64


def distinct(keys: Array) -> tuple[Ints, Ints]:
    """Index of the first occurrence of each distinct number, ascending, and the group of each key."""
    if len(keys) and (keys == keys[0]).all():
        return np.zeros(1, dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def distinct_values(values: Array) -> Array:
    """The distinct numbers, sorted; unlike `np.unique`, does not import `numpy.ma`."""
    once, _ = np.unique(values, return_counts=True)
    return once


def group_ranges(data: Bytes, starts: Ints, ends: Ints) -> Ints:
    """For each range, the number of the first range with the same bytes."""
    count, lengths = len(starts), ends - starts
    if count <= _TOO_FEW_RANGES or hash_ranges.run is hash_ranges.plain:
        return _group_by_bytes(data, starts, ends)
    length = int(lengths[0])
    if (lengths == length).all() and (not length or are_same(data, starts, length)):
        return np.zeros(count, dtype=np.int64)
    hashes = np.empty(count, dtype=np.uint64)
    hash_ranges.run(data, starts, ends, hashes)
    first, which = distinct(hashes)
    firsts = first[which]
    is_same = np.empty(count, dtype=np.bool_)
    same_ranges.run(data, starts, starts[firsts], lengths, is_same)
    is_same &= lengths == lengths[firsts]
    return firsts if is_same.all() else _group_by_bytes(data, starts, ends)


def are_same(data: Bytes, starts: Ints, length: int) -> bool:
    """Whether all ranges, of which there is at least one, contain the same bytes."""
    is_same = np.empty(len(starts), dtype=np.bool_)
    others, lengths = np.full(len(starts), starts[0]), np.full(len(starts), length)
    same_ranges.run(data, starts, others, lengths, is_same)
    return bool(is_same.all())


def _group_by_bytes(data: Bytes, starts: Ints, ends: Ints) -> Ints:
    firsts: dict[bytes, int] = {}
    pairs = enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
    numbers = [firsts.setdefault(bytes(data[start:end]), index) for index, (start, end) in pairs]
    return np.array(numbers, dtype=np.int64)
