"""Rows events over more than one event: the pieces of a split one, and row numbers in a payload.

MariaDB (since 12.3) splits rows events that exceed the packet size.

Rules
-----
1. The pieces of one event are consecutive and numbered from 1; anything else is damage. They contain the
   event from its header on, without its own checksum.
2. Memory is allocated for bytes that were read, never for a size that a piece declares.
3. The reassembled event takes the position of its last piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Generic, TypeVar

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, ROWS_TYPES, Format, header_struct, read_header
from binlog_kaitai.core.tree import Node
from binlog_kaitai.errors import BinlogError, GrammarError

#: The largest size an event header can hold (`Log_event::data_written`).
MAX_SIZE = (1 << 32) - 1

_FIELD = "body.fragment_number"


class Pieces:
    """Collects the pieces of a rows event, in log order, until it is complete."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._total = 0
        self._size = 0
        self._promised: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether pieces are still missing."""
        return bool(self._data)

    def take(self, body: Node, layout: Format) -> bytes | None:
        """Add the next piece; after the last one, return the rows event without a checksum.

        `body`: the body of the event, as the grammar reads it.
        Raises `GrammarError`: the piece is out of order, or the pieces do not form a rows event.
        """
        missing = self._missing()
        number, total = body.fragment_number, body.num_fragments
        if number == 1:
            self._forget()
            self._total, self._promised = total, body.len_original
        elif (number, total) != (len(self._data) + 1, self._total) or not self._data:
            self._forget()
            reason = f"is piece {number} of {total} of a rows event; {missing or 'the first is missing'}"
            raise GrammarError(reason, field=_FIELD)
        self._data.append(body.data)
        self._size += len(body.data)
        if number == 1 and missing:
            raise GrammarError(
                f"begins a rows event, but the one before is incomplete: {missing}", field=_FIELD
            )
        most = MAX_SIZE if self._promised is None else min(self._promised, MAX_SIZE)
        if self._size > most:
            reason = f"the pieces have {self._size} bytes, more than the {most} of the rows event"
            self._forget()
            raise GrammarError(reason, field="body.data")
        return self._joined(layout) if number == total else None

    def interrupt(self) -> None:
        """Handle an event that is not a piece.

        Raises `GrammarError`: pieces were missing.
        """
        if missing := self._missing():
            self._forget()
            raise GrammarError(f"interrupts the pieces of a rows event: {missing}")

    def finish(self) -> None:
        """Handle the end of the log; raises as :meth:`interrupt`."""
        if missing := self._missing():
            self._forget()
            raise GrammarError(f"the log ends between the pieces of a rows event: {missing}")

    def _missing(self) -> str:
        return f"{len(self._data)} of {self._total} pieces were found" if self._data else ""

    def _forget(self) -> None:
        self._data, self._size = [], 0

    def _joined(self, layout: Format) -> bytes:
        raw = b"".join(self._data)
        self._forget()
        if len(raw) < layout.header_length:
            raise GrammarError("the pieces do not contain a complete event header", field="body.data")
        kind = layout.effective_type(read_header(raw, layout.binlog_version).type_code)
        if kind not in ROWS_TYPES:
            reason = f"the pieces form a {type_name(kind)}, which is not a rows event"
            raise GrammarError(reason, field="body.data")
        if layout.is_checksummed and _has_checksum(raw):
            raw = raw[:-CHECKSUM_SIZE]
        # The size may include a checksum that is absent; the grammar does not use this field.
        packed, header = header_struct(layout.binlog_version), read_header(raw, layout.binlog_version)
        return packed.pack(*header._replace(len_event=len(raw))) + raw[packed.size :]


def _has_checksum(raw: bytes) -> bool:
    """Whether the last bytes are the CRC32 of the preceding ones; servers are not known to write one here."""
    return crc32(raw[:-CHECKSUM_SIZE]) == int.from_bytes(raw[-CHECKSUM_SIZE:], "little")


_Event = TypeVar("_Event")


class RowNumbers(Generic[_Event]):
    """The first row number of each rows event in one payload.

    `read_again`: returns the payload's rows events, starting from the first one.
    """

    def __init__(self, read_again: Callable[[], Iterator[_Event]]) -> None:
        self._firsts = {0: 0}
        self._read_again = read_again

    def first(self, ordinal: int, count: Callable[[_Event], int]) -> int:
        """The number of an event's first row.

        `ordinal`: index of the rows event in the payload, from 0.
        `count`: counts the rows of an event; called for all of them unless the end of the one before was
        recorded with `set_end`.
        """
        if ordinal not in self._firsts:
            with suppress(BinlogError):  # damage is reported where the payload is read
                self._firsts.update(enumerate(accumulate(map(count, self._read_again())), 1))
        return self._firsts.get(ordinal, 0)

    def set_end(self, ordinal: int, end: int) -> None:
        """Record the number after an event's last row."""
        self._firsts[ordinal + 1] = end
