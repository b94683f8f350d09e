"""Rows events that MariaDB (since 12.3) writes in pieces, being too long for a packet, joined again.

Rules
-----
1. The pieces of one event follow each other, numbered from 1; anything else is damage. They hold the event
   from its header on, without a checksum of its own.
2. Memory is taken for what was read, never for what a piece says of the whole.
3. The joined event stands where its last piece does.
"""

from __future__ import annotations

from typing import Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, ROWS_TYPES, Format, header_struct, read_header
from binlog_kaitai.errors import GrammarError

#: What the size in an event's header can say (`Log_event::data_written`).
MAX_SIZE = (1 << 32) - 1

_FIELD = "body.content.fragment_number"


class Pieces:
    """The pieces of a rows event, in the order of a log, until all are there."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._total = 0
        self._size = 0
        self._promised: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether pieces are still missing."""
        return bool(self._data)

    def take(self, body: Any, layout: Format) -> bytes | None:
        """Take in the next piece; gives the rows event when it is the last, without a checksum.

        Parameters
        ----------
        body
            The body of the event, as the grammar reads it.
        layout
            The format of the log.

        Raises
        ------
        GrammarError
            It is not the piece that should come, or what the pieces make up is no rows event.
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
            raise GrammarError(reason, field="body.content.data")
        return self._joined(layout) if number == total else None

    def interrupt(self) -> None:
        """Something else than a piece comes.

        Raises
        ------
        GrammarError
            Pieces were missing.
        """
        if missing := self._missing():
            self._forget()
            raise GrammarError(f"interrupts the pieces of a rows event: {missing}")

    def finish(self) -> None:
        """The log ends; raises as :meth:`interrupt`."""
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
            raise GrammarError("the pieces do not contain a complete event header", field="body.content.data")
        kind = layout.effective_type(read_header(raw, layout.binlog_version).type_code)
        if kind not in ROWS_TYPES:
            reason = f"the pieces form a {type_name(kind)}, which is not a rows event"
            raise GrammarError(reason, field="body.content.data")
        if layout.is_checksummed and _has_checksum(raw):
            raw = raw[:-CHECKSUM_SIZE]
        # The size may count a checksum that is not there, and is not what the grammar goes by.
        packed, header = header_struct(layout.binlog_version), read_header(raw, layout.binlog_version)
        return packed.pack(*header._replace(len_event=len(raw))) + raw[packed.size :]


def _has_checksum(raw: bytes) -> bool:
    """Whether the last bytes are the CRC32 of those before, which servers are not known to write here."""
    return crc32(raw[:-CHECKSUM_SIZE]) == int.from_bytes(raw[-CHECKSUM_SIZE:], "little")
