"""Validates event bodies against the grammar, parsing only a few of them.

A record layout covers all bytes except structures that require more than arithmetic. Some of these, such as
the status variables of a statement, are covered by a walk generated from the grammar. Others repeat, like the
table maps of a table: each distinct content is parsed once by the event reader. An event that is not accepted
is left to the event reader, which reports the error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from binlog_kaitai.core.grammar import BODIES, ROWS_TYPES, UNKNOWN_BODY, EventType
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.kernels.groups import distinct_values, group_ranges
from binlog_kaitai.log.block import Block

#: Structures whose meaning depends only on event type and format, not on preceding fields.
ALONE = ("extra_data",)

#: Size of the cache of valid contents, in bytes.
_MAX_KNOWN = 16 << 20


class BodyValidator:
    """Validates the events of one file; the cache of valid contents persists across blocks.

    `reads`: number of events parsed by the event reader.
    """

    def __init__(self) -> None:
        self.reads = 0
        self._known: set[tuple[object, ...]] = set()
        self._size = 0

    def accepts(self, block: Block, kind: int, wanted: Bools) -> Bools:
        """Which events of a type are certainly valid, bool; undefined for events that are not wanted."""
        layout = BODIES.get(kind, UNKNOWN_BODY)
        if layout.complete:
            body = block.body(kind)
            accepted = body.matches & wanted
            for field in layout.fields:
                if getattr(field, "walk", None):
                    accepted &= body.follows(field.path)
        else:
            accepted = wanted.copy()
        for starts, lengths in _structures(block, kind) if layout.complete else _whole(block, kind):
            if starts is None:
                accepted &= lengths == 0
                continue
            accepted &= lengths >= 0
            chosen = np.flatnonzero(accepted)
            starts, ends = starts[chosen], starts[chosen] + lengths[chosen]
            groups = group_ranges(block.data, starts, ends)
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
            # The structure has been validated, so its content does not affect the following fields.
            _ = (block.head(row) if kind in ROWS_TYPES else block.event(row)).parsed
        except BinlogError:
            return False
        self._size += len(content)
        if self._size > _MAX_KNOWN:
            self._known.clear()
            self._size = len(content)
        self._known.add(key)
        return True


def _structures(block: Block, kind: int) -> Iterator[tuple[Ints | None, Ints]]:
    """Range of the structures that the layout skips; (None, 0 where absent) if they depend on other bytes.

    An empty structure is not absent: its type may require bytes.
    """
    body = block.body(kind)
    for field in body.layout.fields:
        if getattr(field, "is_structure", False) and not getattr(field, "walk", None):
            starts, lengths = body.ranges(field.path)
            yield (starts, lengths) if field.path in ALONE else (None, starts)


def _whole(block: Block, kind: int) -> Iterator[tuple[Ints | None, Ints]]:
    """Range of the rest of the body, of a layout that ends early."""
    rows = block.rows_of(kind)
    if kind != EventType.table_map_event:
        yield None, np.ones(len(rows), dtype=np.int64)
        return
    # A table gets a new id when it is reopened; everything after the id stays the same.
    starts = block.starts[rows] + (block.offset(kind, "flags") or 0)
    yield starts, block.all_body_ends(kind) - starts
