"""`--rewrite-db` in blocks: the events that name a database, with its new name, as `rewrite` has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.render.dump.rewrite import renamed, with_checksum

#: The first byte of the length of a database's name, by type of event; of statements no more than checksums
#: change.
_LENGTHS: dict[int, str] = {
    EventType.table_map_event: "len_schema_name.first",
    EventType.query_event: "len_schema_name",
}


class Renamed:
    """The bytes of the events of a block, as BINLOG statements have them.

    Parameters
    ----------
    block
        Whole events.
    names
        New names by the old ones.
    rewrites_all
        See `Printer.rewrites_all`.
    keeps_all
        Keep the bytes of statements, too, not their checksums only.

    Attributes
    ----------
    data : uint8 array
        Bytes of the block, and behind them those of events that were written anew.
    starts, sizes : int64 arrays
        Where each event lies there.
    checksums : dict
        Those that were made anew, by the numbers of their events.
    """

    def __init__(
        self, block: Block, names: Mapping[bytes, bytes], *, rewrites_all: bool, keeps_all: bool = False
    ) -> None:
        self.data, self.starts, self.sizes = block.data, block.starts, block.sizes
        self.checksums: dict[int, int] = {}
        if not names:
            return
        self.starts, self.sizes = block.starts.copy(), block.sizes.copy()
        self._behind: list[bytes] = []
        self._at, self._keeps_all = len(block.data), keeps_all
        makes_checksums = rewrites_all and block.layout.is_checksummed
        is_of_all = makes_checksums or (rewrites_all and keeps_all)
        for kind in _LENGTHS if is_of_all else (EventType.table_map_event,):
            self._rename(block, kind, names, makes_checksums=makes_checksums)
        added = np.frombuffer(b"".join(self._behind), dtype=np.uint8)
        self.data = np.concatenate((block.data, added)) if len(added) else block.data

    def _rename(
        self, block: Block, kind: int, names: Mapping[bytes, bytes], *, makes_checksums: bool
    ) -> None:
        events, body = block.rows_of(kind), block.body(kind)
        if not len(events) or "schema_name" not in body:
            return
        starts, lengths = body.ranges("schema_name")
        lengths_at = body.places(_LENGTHS[kind])
        columns = (events, block.starts[events], block.sizes[events], lengths_at, starts, lengths, body.fits)
        view, is_kept = memoryview(block.data), kind == EventType.table_map_event or self._keeps_all
        for event, at, size, length_at, start, length, fits in zip(
            *(values.tolist() for values in columns), strict=True
        ):
            new = names.get(bytes(view[start : start + length])) if fits else None
            if new is None:
                continue
            raw = bytes(view[at : at + size])
            raw = renamed(raw, length_at - at, start - at, start + length - at, new)
            if makes_checksums:
                raw, self.checksums[event] = with_checksum(raw)
            if is_kept:
                self.starts[event], self.sizes[event] = self._at, len(raw)
                self._behind.append(raw)
                self._at += len(raw)
