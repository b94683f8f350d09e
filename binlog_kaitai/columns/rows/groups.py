"""Which of many numbers, or of many ranges of bytes, are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.kernels import hash_ranges, same_ranges

#: Of so few ranges the kernels are not worth their loading.
_FEW = 64


def distinct(keys: Any) -> tuple[Any, Any]:
    """Where each distinct number stands first, in the order of the numbers, and for each key which it is."""
    if len(keys) and (keys == keys[0]).all():
        return np.zeros(1, dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def group_ranges(data: Any, starts: Any, ends: Any) -> Any:
    """For each range the number of the first one with the same bytes."""
    count, lengths = len(starts), ends - starts
    if count <= _FEW:
        return _group_by_bytes(data, starts, ends)
    is_same = np.empty(count, dtype=np.bool_)
    same = same_ranges.for_work(int(lengths.sum()))
    if count and (lengths == lengths[0]).all():
        same(data, starts, np.broadcast_to(starts[:1], count).copy(), lengths, is_same)
        if is_same.all():
            return np.zeros(count, dtype=np.int64)
    hashes = np.empty(count, dtype=np.uint64)
    hash_ranges.for_work(int(lengths.sum()))(data, starts, ends, hashes)
    first, which = distinct(hashes)
    firsts = first[which]
    same(data, starts, starts[firsts], lengths, is_same)
    is_same &= lengths == lengths[firsts]
    return firsts if is_same.all() else _group_by_bytes(data, starts, ends)


def _group_by_bytes(data: Any, starts: Any, ends: Any) -> Any:
    found: dict[bytes, int] = {}
    pairs = enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
    numbers = [found.setdefault(bytes(data[start:end]), index) for index, (start, end) in pairs]
    return np.array(numbers, dtype=np.int64)
