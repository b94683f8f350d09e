"""Leaves out rows that were rolled back, or warns about them if that is known only after they were read.

A server logs the rows of an XA transaction when it is prepared. The commit or rollback follows later,
possibly in another log, so a streaming reader can only warn afterwards.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.spans import Span
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, RolledBackWarning, warn
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.rolled_back import RolledBack
from binlog_kaitai.log.span_reader import blocks_of
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.remote import is_url
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.line_arrays import plain

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import XaPrepareEvent

#: Maximum number of tables, or places, named in a warning.
_MOST_NAMED = 5


class LeftOut:
    """Counts the rows events that were rolled back, over several logs."""

    def __init__(self) -> None:
        self._count, self._first = 0, ""
        self._tables: dict[str, None] = {}
        self._missed: list[str] = []

    def decided(self, source: Source, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks of a log, once it is known which of their events were rolled back."""
        span = source.span or Span()

        def reopen(position: int) -> Iterator[Block]:
            with source.open() as stream:
                for block in blocks_of(replace(source, span=span.rest(position)), stream, leaves_checks=True):
                    yield from expand(block)

        def noted() -> Iterator[Block]:
            nonlocal span
            for block in blocks:
                if block.is_special:
                    formats = (*span.formats, block.raw(0))
                    span = replace(span, binlog_version=block.layout.binlog_version, formats=formats)
                yield block

        rolled_back = RolledBack(reopen if is_readable_again(source) else None)
        yield from rolled_back.decided(noted())
        self._missed += rolled_back.missed

    def without(self, images: Images, chosen: Ints) -> Ints:
        """The given events of `images` without those that were rolled back."""
        block = images.block
        if block.rolled_back is None:
            return chosen
        is_out = block.rolled_back[images.rows[chosen]]
        if is_out.any():
            out = chosen[is_out]
            self._first = self._first or f"{block.file}, position {int(block.positions[images.rows[out[0]]])}"
            self._count += len(out)
            for number in np.unique(images.table_of[out]).tolist():
                table = images.tables[number] if number >= 0 else None
                self._tables[table.schema.full_name if isinstance(table, Table) else "unknown tables"] = None
        kept: Ints = chosen[~is_out]
        return kept

    def warn(self) -> None:
        """Warn about the events left out, and about those that were read before they were rolled back."""
        if self._count:
            names = ", ".join([*self._tables][:_MOST_NAMED]) + " …" * (len(self._tables) > _MOST_NAMED)
            more = f" (the first of {self._count} such events)" if self._count > 1 else ""
            reason = f"{self._first}: rows of {names} were rolled back and are left out{more}"
            warn(plain(reason), RolledBackWarning)
        for place in self._missed[:_MOST_NAMED]:
            reason = f"{place}: rolls back rows that were read before, since a stream cannot be read ahead"
            warn(plain(reason), RolledBackWarning)


#: XA statements that end a prepared transaction, as servers write them.
END = re.compile(rb"\s*XA\s+(COMMIT|ROLLBACK)\s+(X'\w*',X'\w*',[0-9]+)\s*$", re.IGNORECASE)

#: Maximum size of the event of such a statement, and maximum number of transactions named in warnings.
_LONGEST, _MOST_XA_NAMED = 4096, 10


def is_readable_again(source: Source) -> bool:
    """Whether a log can be opened repeatedly; stdin and pipes cannot."""
    if source.path is None:
        return source.name == "<bytes>"
    return is_url(source.path) or os.path.isfile(source.path)


class _Prepared(NamedTuple):
    """A transaction with rows that were read: position of the first one, and its GTID."""

    position: str
    gtid: str | None


def xid_text(body: XaPrepareEvent) -> str:
    """The name of a transaction in an XA_PREPARE_LOG_EVENT, in the format of the server's XA statements."""
    return f"X'{body.gtrid.hex()}',X'{body.bqual.hex()}',{body.format_id}"


class PreparedTransactions:
    """Tracks the XA transactions of logs, block by block, at little cost for blocks without any."""

    def __init__(self) -> None:
        self._first: str | None = None  # first selected rows event of the current transaction
        self._prepared: dict[str, _Prepared] = {}
        self._rolled_back: list[tuple[str, _Prepared, str]] = []

    def begin(self) -> None:
        """Start the next log, with no open transaction."""
        self._first = None

    def see(
        self, block: Block, chosen: NDArray[np.int64], limit: int, gtid_of: Callable[[int], str | None]
    ) -> None:
        """Process the next block.

        `chosen`: int64 array, the block's rows events that were read, ascending.
        `limit`: number of the first event after a stop position.
        `gtid_of`: returns the GTID of an event.
        """
        gtids = [block.rows_of(kind) for kind in GTID_TYPES.intersection(block.counts)]
        begins = gtids[0] if len(gtids) == 1 else np.sort(np.concatenate([chosen[:0], *gtids]))
        if EventType.xa_prepare_log_event in block.counts or self._prepared:
            for row, xid, verb in sorted(self._statements(block, limit)):
                if verb == b"PREPARE":
                    first = self._first_of(block, chosen, begins, row)
                    if first is not None:
                        self._prepared[xid] = _Prepared(first, gtid_of(row))
                elif (known := self._prepared.pop(xid, None)) is not None and verb == b"ROLLBACK":
                    self._rolled_back.append((xid, known, _position(block, row)))
        self._first = self._first_of(block, chosen, begins, len(block))

    def _first_of(self, block: Block, chosen: Ints, begins: Ints, row: int) -> str | None:
        """The first rows event of the transaction that ends before `row`."""
        index = int(np.searchsorted(begins, row))
        begin = int(begins[index - 1]) if index else 0
        first = int(np.searchsorted(chosen, begin))
        if not index and self._first is not None:
            return self._first
        return _position(block, int(chosen[first])) if first < len(chosen) and chosen[first] < row else None

    def _statements(self, block: Block, limit: int) -> Iterator[tuple[int, str, bytes]]:
        """Events that prepare or end a transaction, with its name and the effect."""
        for row in block.rows_of(EventType.xa_prepare_log_event).tolist():
            body: Any = _body(block, row)
            if body is not None and not body.is_one_phase and row < limit:
                yield row, xid_text(body), b"PREPARE"
        for row in _candidates(block):
            body = _body(block, row)
            try:
                statement = None if body is None else END.match(body.query)
            except zlib.error:
                continue
            if statement is not None and row < limit:
                yield row, statement[2].decode(), statement[1].upper()

    def warn(self) -> None:
        """Warn about transactions whose rows were read and that were rolled back."""
        for xid, known, position in self._rolled_back[:_MOST_XA_NAMED]:
            hint = f"; GTID {known.gtid}" if known.gtid else ""
            reason = (
                f"{known.position}: rows of XA transaction {xid}, which is rolled back at {position}{hint}"
            )
            warn(plain(reason), RolledBackWarning)
        more = len(self._rolled_back) - _MOST_XA_NAMED
        if more > 0:
            reason = f"rows of {more} more XA transactions that are rolled back later"
            warn(reason, RolledBackWarning)


def _position(block: Block, row: int) -> str:
    return f"{block.file}, position {int(block.positions[row])}"


def _body(block: Block, row: int) -> Any:
    try:
        return block.event(row).body
    except BinlogError:
        return None  # ends an unknown transaction


def _candidates(block: Block) -> list[int]:
    """Statements that may be XA statements, by their first letters or as short compressed events."""
    packed = block.rows_of(EventType.query_compressed_event)
    candidates: list[int] = packed[block.sizes[packed] < _LONGEST].tolist()
    if len(rows := block.statements):
        body = block.statement_bodies
        starts, lengths = body.ranges("query")
        usable = np.flatnonzero(body.matches & (lengths > 2))
        first = starts[usable]
        is_xa = (block.data[first] | 0x20 == ord("x")) & (block.data[first + 1] | 0x20 == ord("a"))
        candidates += rows[usable[is_xa]].tolist()
    return candidates
