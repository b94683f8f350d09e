"""Arrow arrays of ENUM and SET texts; the event reader translates each number once per table."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.byte_kernels import read_numbers
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows import read_kernels as ways
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.fused_columns import Values, Way
from binlog_kaitai.rows.string_kernels import copy_members

#: For numbers of up to this many bytes, all possible texts are cached.
_SHORT = 2

#: Number of bytes after the texts that kernels may overwrite.
_SLACK = 16


class _Known:
    """Cached texts of a column.

    Attributes
    ----------
    numbers : int64 array
        For each value, the number of its text; -1 if unknown.
    texts : uint8 array
        Texts without separators.
    limits : int64 array
        Start of each text, and the end of the last.
    """

    def __init__(self) -> None:
        self.numbers = np.zeros(0, dtype=np.int64)
        self.texts = np.zeros(0, dtype=np.uint8)
        self.limits = np.zeros(1, dtype=np.int64)
        self.lock = Lock()  # pages of a table are processed in several threads

    def add(self, values: Ints, texts: list[str]) -> None:
        """Add values that are not cached yet, in ascending order, with their texts."""
        room = max(len(self.numbers), int(values[-1]) + 1)
        numbers = np.full(room, -1, dtype=np.int64)
        numbers[: len(self.numbers)] = self.numbers
        numbers[values] = len(self.limits) - 1 + np.arange(len(values))
        raw = [plain(text).encode() for text in texts]
        ends = self.limits[-1] + np.cumsum([len(text) for text in raw])
        self.numbers, self.limits = numbers, np.concatenate((self.limits, ends))
        self.texts = np.concatenate((self.texts, np.frombuffer(b"".join(raw), dtype=np.uint8)))


def _known(cells: Cells) -> _Known:
    found: _Known = cells.table.memory.setdefault(("choices", cells.column.index), _Known())
    return found


def way(cells: Cells) -> Way | None:
    """How kernels read the values; None if there are too many to cache."""
    return Way(ways.MEMBERS, 4, 0, _known(cells).numbers) if cells.width.fixed <= _SHORT else None


def texts(cells: Cells, kind: pa.DataType, values: Values | None) -> Any:
    """The column as an Arrow array, from the values read."""
    if values is None:
        return _by_value(cells, kind)
    known, count = _known(cells), len(cells)
    numbers = np.frombuffer(values.values, dtype=np.int32)[:count]
    if values.invalid:
        raw = _raw(cells)
        unknown = np.flatnonzero(cells.valid & (numbers < 0))
        new, first = np.unique(raw[unknown], return_index=True)
        found = cells.by_reader(unknown[first])
        positions = np.where(cells.valid, raw, 0).astype(np.int64)
        with known.lock:
            known.add(new.astype(np.int64), found)
            numbers = np.where(cells.valid, known.numbers[positions], -1).astype(np.int32, copy=False)
    with known.lock:
        members, limits = known.texts, known.limits
    # The last entry stands for no value.
    lengths = np.append(np.diff(limits), 0)
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(lengths[numbers], out=offsets[1:])
    out = np.empty(int(offsets[-1]) + _SLACK, dtype=np.uint8)
    copy_members.run(members, limits, numbers, offsets, out)
    buffers = [values.valid, pa.py_buffer(offsets), pa.py_buffer(out[: int(offsets[-1])])]
    return pa.Array.from_buffers(kind, count, buffers, values.nulls)


def _raw(cells: Cells) -> Any:
    raw = np.empty(len(cells), dtype=np.uint64)
    cells.run(read_numbers, 0, cells.width.fixed, False, raw)
    return raw


def _by_value(cells: Cells, kind: pa.DataType) -> Any:
    valid = cells.valid
    _, first, which = np.unique(_raw(cells)[valid], return_index=True, return_inverse=True)
    found = cells.by_reader(np.flatnonzero(valid)[first])
    codes = np.zeros(len(cells), dtype=np.int32)
    codes[valid] = which.reshape(-1)
    return pa.array([plain(text) for text in found], kind).take(pa.array(codes, mask=~valid))
