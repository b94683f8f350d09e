"""Which events follow the grammar to their last byte, though just a few of them are read by it.

A record layout tells of all bytes but those of structures that take more than arithmetic. Through some of
these, such as the status variables of a statement, goes a walk that is made of the grammar. Others repeat, as
the table maps of one table do: there each distinct content is read once, by the reader. An event that is not
accepted is the reader's to read, and to say what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.kernel.arrays import Bools, Bytes, Ints
from binlog_kaitai.columns.kernel.byte_kernels import hash_ranges
from binlog_kaitai.columns.rows.groups import distinct_values, group_ranges
from binlog_kaitai.core.grammar import BODIES, ROWS_TYPES, UNKNOWN_BODY, EventType
from binlog_kaitai.errors import BinlogError

#: Structures that mean the same in every event of a type and format: nothing before them matters.
ALONE = ("extra_data",)

#: What is remembered of contents that follow the grammar, in bytes.
_MAX_KNOWN = 16 << 20


class BodyValidator:
    """Accepts events of one file; what it has read once it knows in later blocks too.

    Attributes
    ----------
    reads : int
        Events that the reader has read for it.
    """

    def __init__(self) -> None:
        self.reads = 0
        self._known: set[tuple[object, ...]] = set()
        self._size = 0

    def accepts(self, block: Block, kind: int, wanted: Bools) -> Any:
        """Which events of a type follow the grammar for sure, bool; of those not wanted it may be any."""
        is_complete = BODIES.get(kind, UNKNOWN_BODY).complete
        accepted = block.body(kind).fits & wanted if is_complete else wanted.copy()
        for path in _walked(block, kind):
            accepted &= block.body(kind).follows(path)
        for starts, lengths in _structures(block, kind) if is_complete else _whole(block, kind):
            if starts is None:
                accepted &= lengths == 0
                continue
            accepted &= lengths >= 0
            chosen = np.flatnonzero(accepted)
            starts, ends = starts[chosen], starts[chosen] + lengths[chosen]
            groups = _groups(block.data, starts, ends)
            for group in distinct_values(groups).tolist() if groups.any() else [0][: len(groups)]:
                content = bytes(block.data[starts[group] : ends[group]])
                if not self._follows(block, kind, int(chosen[group]), content):
                    accepted[chosen[groups == group]] = False
        return accepted

    def _follows(self, block: Block, kind: int, index: int, content: bytes) -> bool:
        row = int(block.rows_of(kind)[index])
        key = block.layout, int(block.codes[row]), content
        if key in self._known:
            return True
        self.reads += 1
        try:
            # The structure is judged: what comes behind it matters as little as what comes before.
            _ = (block.head(row) if kind in ROWS_TYPES else block.event(row)).parsed
        except BinlogError:
            return False
        self._size += len(content)
        if self._size > _MAX_KNOWN:
            self._known.clear()
            self._size = len(content)
        self._known.add(key)
        return True


def _walked(block: Block, kind: int) -> list[str]:
    """The structures that a walk goes over."""
    layout = block.body(kind).layout
    return [field.path for field in layout.fields if getattr(field, "walk", None)] if layout.complete else []


def _structures(block: Block, kind: int) -> Iterator[tuple[Any, Any]]:
    """Place and length of what the layout passes over; no place where more matters than these bytes."""
    body = block.body(kind)
    for field in body.layout.fields:
        if getattr(field, "is_structure", False) and not getattr(field, "walk", None):
            starts, lengths = body.ranges(field.path)
            yield starts if field.path in ALONE else None, lengths


def _whole(block: Block, kind: int) -> Iterator[tuple[Any, Any]]:
    """The same where a layout ends early: that is the whole body."""
    rows = block.rows_of(kind)
    if kind != EventType.table_map_event:
        yield None, np.ones(len(rows), dtype=np.int64)
        return
    # A table gets a new id whenever it is opened anew; all behind that stays the same.
    starts = block.starts[rows] + (block.offset(kind, "flags") or 0)
    yield starts, block.all_body_ends(kind) - starts


def _groups(data: Bytes, starts: Ints, ends: Ints) -> Any:
    """For each range the number of the first one with the same bytes."""
    if hash_ranges.run is not hash_ranges.plain:
        return group_ranges(data, starts, ends)
    numbers: dict[bytes, int] = {}
    pairs = enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
    found = [numbers.setdefault(bytes(data[start:end]), index) for index, (start, end) in pairs]
    return np.array(found, dtype=np.int64)
