"""Which bodies `verify` holds to the grammar, and what is wrong with them.

A checksum that fits says that the bytes are those that somebody wrote, not that they were right. Bodies that
no checksum vouches for are all looked at, and all table maps, without which no row can be read. Of the other
bodies all are looked at as long as that takes little beside the checksums: those of rare types, and those of
common types up to a number of events. Who wants all says so, and waits longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.body_validator import BodyValidator
from binlog_kaitai.columns.transactions.gtids import readable
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.info import info_of
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.reader.reader import Event

#: Types with no more events than this in a block are rare.
_RARE = 256

#: Of a common type in a block at most so many bodies, and of all common types of a log so many.
_IN_BLOCK = 4096
_IN_LOG = 500_000

#: An event that the reader reads takes as long as so many that a record layout describes.
_READ = 200

#: What the grammar does not state: the digits of a DECIMAL, the tags of a GTID set.
_CHECKED_FURTHER = (EventType.user_var_event, EventType.previous_gtids_log_event)


def check_body(event: Event) -> None:
    """Hold one body to the grammar, and to the rules that it does not state.

    Raises
    ------
    GrammarError
        It does not follow them.
    """
    kind = event.parsed.event_type.value
    if kind in _CHECKED_FURTHER:
        info_of(event.parsed)
    elif kind in GTID_TYPES:
        _ = event.stated_gtid  # the bytes of a UUID, and the tag


class Bodies:
    """Looks at the bodies of one log, block by block.

    Parameters
    ----------
    all_of_them
        Leave none out.

    Attributes
    ----------
    count : int
        Bodies that were looked at.
    refused : list of int
        Numbers of the events of the last block whose bodies do not follow the grammar.
    """

    def __init__(self, *, all_of_them: bool = False) -> None:
        self.count = 0
        self.refused: list[int] = []
        self._all = all_of_them
        self._left = _IN_LOG
        self._validator = BodyValidator()

    def check(self, block: Block, is_whole: Any, read: int | None = None) -> Iterator[BinlogError]:
        """What is wrong with the bodies of a block.

        Parameters
        ----------
        is_whole
            Whose checksums fit, a bool array; None for none.
        read
            The number of an event that somebody else has read.
        """
        self.refused = []
        if block.is_special:
            self.count += len(block)  # they have been read
            return
        for kind, count in block.counts.items():
            if kind == EventType.transaction_payload_event:
                self.count += count
                continue
            wanted = self._wanted(block, kind, is_whole)
            if not wanted.any():
                continue
            self.count += int(wanted.sum())
            before = self._validator.reads
            wanted &= block.rows_of(kind) != (-1 if read is None else read)
            accepted = self._validator.accepts(block, kind, wanted)
            if kind == EventType.previous_gtids_log_event:
                accepted[:] = False  # few, and their tags are not in the layout
            if kind in GTID_TYPES:
                accepted &= readable(block, kind)
            for row in block.rows_of(kind)[wanted & ~accepted].tolist():
                self._validator.reads += 1
                event = block.event(row)
                try:
                    check_body(event)
                except BinlogError as error:
                    self.refused.append(row)
                    yield event.locate(error)
            if count > _RARE:
                self._left -= int(wanted.sum()) + _READ * (self._validator.reads - before)

    def _wanted(self, block: Block, kind: int, is_whole: Any) -> Any:
        rows = block.rows_of(kind)
        is_rare = len(rows) <= _RARE
        if self._all or is_whole is None or is_rare or kind == EventType.table_map_event:
            return np.ones(len(rows), dtype=np.bool_)
        wanted = ~is_whole[rows]
        wanted[: min(_IN_BLOCK, max(self._left, 0))] = True
        return wanted
