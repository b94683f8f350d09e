"""Selects the bodies that `verify` parses with the grammar, and reports errors in them.

A correct checksum shows that the bytes are unchanged since they were written, not that they were correct.
Bodies without checksum are all parsed, and so are all table maps, without which no row can be decoded. Other
bodies are parsed as long as this costs little compared with the checksums: those of rare types, and a limited
number of common types. The option `--thorough` selects all of them, and takes longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.info import info_of
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_gtids import readable
from binlog_kaitai.log.event_reader import Event

#: A type with at most this many events in a block is rare.
_RARE = 1024

#: Maximum number of bodies of common types, per type and block, and per log.
_IN_BLOCK = 16384
_IN_LOG = 500_000

#: Events decoded with a record layout in the time in which the event reader decodes one.
_READ = 200

#: What the grammar does not state: the digits of a DECIMAL, the tags of a GTID set.
_CHECKED_FURTHER = (EventType.user_var_event, EventType.previous_gtids_log_event)


def check_body(event: Event) -> None:
    """Parse a body with the grammar, and check the rules that the grammar does not express.

    Raises
    ------
    GrammarError
        The body is invalid.
    """
    kind = event.parsed.event_type.value
    if kind in _CHECKED_FURTHER:
        info_of(event.parsed)
    elif kind in GTID_TYPES:
        _ = event.stated_gtid  # the bytes of a UUID, and the tag


class Bodies:
    """Checks the bodies of a log, block by block.

    Parameters
    ----------
    all_of_them
        Check all bodies.

    Attributes
    ----------
    count : int
        Number of bodies checked.
    refused : list of int
        Numbers of the events of the last block with invalid bodies.
    """

    def __init__(self, *, all_of_them: bool = False) -> None:
        self.count = 0
        self.refused: list[int] = []
        self._all = all_of_them
        self._left = _IN_LOG
        self._validator = BodyValidator()

    def check(self, block: Block, is_whole: Any, read: int | None = None) -> Iterator[BinlogError]:
        """Errors in the bodies of a block.

        Parameters
        ----------
        is_whole
            Which events have a correct checksum, as a bool array; True for all, None for none.
        read
            Number of an event that has already been decoded.
        """
        self.refused = []
        if block.is_special:
            self.count += len(block)  # these have been decoded
            return
        for kind, count in block.counts.items():
            if kind == EventType.transaction_payload_event:
                self.count += count
                continue
            wanted = self._wanted(block, kind, is_whole)
            if not wanted.any():
                continue
            self.count += int(np.count_nonzero(wanted))
            before = self._validator.reads
            if read is not None:
                wanted &= block.rows_of(kind) != read
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
                self._left -= int(np.count_nonzero(wanted)) + _READ * (self._validator.reads - before)

    def _wanted(self, block: Block, kind: int, is_whole: Any) -> Any:
        rows = block.rows_of(kind)
        is_rare = len(rows) <= _RARE
        if self._all or is_whole is None or is_rare or kind == EventType.table_map_event:
            return np.ones(len(rows), dtype=np.bool_)
        wanted = np.zeros(len(rows), dtype=np.bool_) if is_whole is True else ~is_whole[rows]
        wanted[: min(_IN_BLOCK, max(self._left, 0))] = True
        return wanted
