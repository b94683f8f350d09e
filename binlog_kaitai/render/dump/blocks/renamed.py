"""`--rewrite-db` for blocks: renames databases in the bytes of events, like `rewrite`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.kernels.arrays import view_of
from binlog_kaitai.log.block import Block
from binlog_kaitai.render.dump.rewrite import renamed, with_checksum

#: Offset of the length of the database name, by type of event; in statements only checksums change.
_LENGTHS: dict[int, str] = {
    EventType.table_map_event: "len_schema_name.first",
    EventType.query_event: "len_schema_name",
}


class Renamed:
    """The bytes of a block's events, as they appear in BINLOG statements.

    Parameters
    ----------
    block
        Whole events.
    names
        New names by old names.
    rewrites_all
        See `Printer.rewrites_all`.
    keeps_all
        Also keep the bytes of statements, not only their checksums.

    Attributes
    ----------
    data : uint8 array
        Bytes of the block, followed by those of rewritten events.
    starts, sizes : int64 arrays
        Position and size of each event in `data`.
    checksums : dict
        Recomputed checksums, by event index.
    """

    def __init__(
        self, block: Block, names: Mapping[bytes, bytes], *, rewrites_all: bool, keeps_all: bool = False
    ) -> None:
        self.data, self.starts, self.sizes = block.data, block.starts, block.sizes
        self.checksums: dict[int, int] = {}
        if not names:
            return
        self.starts, self.sizes = block.starts.copy(), block.sizes.copy()
        self._after: list[bytes] = []
        self._at, self._keeps_all = len(block.data), keeps_all
        makes_checksums = rewrites_all and block.layout.is_checksummed
        is_of_all = makes_checksums or (rewrites_all and keeps_all)
        for kind in _LENGTHS if is_of_all else (EventType.table_map_event,):
            self._rename(block, kind, names, makes_checksums=makes_checksums)
        added = np.frombuffer(b"".join(self._after), dtype=np.uint8)
        self.data = np.concatenate((block.data, added)) if len(added) else block.data

    def _rename(
        self, block: Block, kind: int, names: Mapping[bytes, bytes], *, makes_checksums: bool
    ) -> None:
        events, body = block.rows_of(kind), block.body(kind)
        if not len(events) or "schema_name" not in body:
            return
        starts, lengths = body.ranges("schema_name")
        lengths_at = body.positions(_LENGTHS[kind])
        columns = (
            events,
            block.starts[events],
            block.sizes[events],
            lengths_at,
            starts,
            lengths,
            body.matches,
        )
        view, is_kept = view_of(block.data), kind == EventType.table_map_event or self._keeps_all
        for event, at, size, length_at, start, length, matches in zip(
            *(values.tolist() for values in columns), strict=True
        ):
            new = names.get(bytes(view[start : start + length])) if matches else None
            if new is None:
                continue
            raw = bytes(view[at : at + size])
            raw = renamed(raw, length_at - at, start - at, start + length - at, new)
            if makes_checksums:
                raw, self.checksums[event] = with_checksum(raw)
            if is_kept:
                self.starts[event], self.sizes[event] = self._at, len(raw)
                self._after.append(raw)
                self._at += len(raw)
