"""What the events of a block are to a script: transactions, and statements of the log."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.boundaries import Boundaries, Outcome, Role, Roles
from binlog_kaitai.columns.rows.pages import RowsPage
from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.options import Filters
from binlog_kaitai.reader import Event
from binlog_kaitai.render.sql.lines import FIRST, Lines
from binlog_kaitai.render.sql.options import SqlOptions
from binlog_kaitai.render.sql.report import Report, comment, place, shortened
from binlog_kaitai.render.sql.session import delimited, statement_text
from binlog_kaitai.values import Dialect

_QUERIES = (EventType.query_event, EventType.query_compressed_event)
#: Events that belong to the statement behind them.
_CONTEXT = (EventType.intvar_event, EventType.rand_event, EventType.user_var_event)
#: Statements that need a file, which only parts of the log have.
_LOADS = (
    EventType.load_event,
    EventType.new_load_event,
    EventType.exec_load_event,
    EventType.execute_load_query_event,
)


class Transactions:
    """The transactions of a block, each with a number that goes on from block to block.

    Parameters
    ----------
    last
        Number of the last transaction of the block before.
    is_begun
        That one has begun with BEGIN, if it goes on here.

    Attributes
    ----------
    number_of : int64 array
        Of each event; -1 for events of none.
    base, count : int
        Number of the first transaction in the block, and how many there are; the arrays have one entry each.
    first, closing : int64 arrays
        The first event in the block, and the one that closes the transaction; -1 if that is still to come.
    outcomes : int8 array
        See `Outcome`; one that has begun and is closed by nothing is rolled back.
    is_begun : bool array
        Whether there was a BEGIN, or a GTID event that stands for it.
    """

    def __init__(self, block: Block, found: Roles, boundaries: Boundaries, last: int, is_begun: bool) -> None:
        count = len(found.roles)
        parts = boundaries.divide(found)
        self.continues = parts.continues
        base = last if parts.continues else last + 1
        self.number_of = np.full(count, -1, dtype=np.int64)
        lengths = np.diff(parts.starts, append=len(parts.rows))
        self.number_of[parts.rows] = base + np.repeat(np.arange(len(parts.starts)), lengths)
        self.base = base
        self.count = len(parts.starts)
        self.last = base + self.count - 1 if self.count else last
        self.first = parts.rows[parts.starts]
        ends = parts.rows[np.append(parts.starts[1:], len(parts.rows)) - 1] if self.count else parts.starts
        self.closing = np.array(ends, dtype=np.int64)
        if parts.is_open and self.count:
            self.closing[-1] = -1
        roles, outcomes = found.roles, found.outcomes
        # An event that ends a transaction closes it, whatever follows.
        rows = np.flatnonzero((roles == Role.END) & (self.number_of >= 0))[::-1]
        self.closing[self.number_of[rows] - base] = rows
        self.outcomes = np.full(self.count, Outcome.OPEN, dtype=np.int8)
        self.outcomes[self.number_of[rows] - base] = outcomes[rows]
        self.is_begun = np.zeros(self.count, dtype=np.bool_)
        begins = np.flatnonzero((roles == Role.BEGIN) & (self.number_of >= 0))
        self.is_begun[self.number_of[begins] - base] = True
        self.is_begun[self.number_of[_mariadb_begins(block)] - base] = True
        if parts.continues:
            self.is_begun[0] |= is_begun
        self.is_cut = self.is_begun & (self.outcomes == Outcome.OPEN) & (self.closing >= 0)
        self.outcomes[self.is_cut] = Outcome.ROLLBACK


def _mariadb_begins(block: Block) -> Any:
    """MariaDB's GTID events that begin a transaction of several events."""
    rows = block.rows_of(EventType.gtid_event)
    if not len(rows):
        return rows
    return rows[~block.body(EventType.gtid_event).numbers("is_standalone").astype(np.bool_)]


class Statements:
    """The statements of the log in a block, as lines of the script."""

    def __init__(self, options: SqlOptions, filters: Filters, report: Report) -> None:
        self._options = options
        self._filters = filters
        self._report = report
        self._context: list[Event] = []

    def lines(self, page: RowsPage, found: Roles, dialect: Dialect) -> Lines:
        """The lines of all wanted statements of a block."""
        block, roles = page.block, found.roles
        texts: list[bytes] = []
        events: list[int] = []
        for row in np.flatnonzero(_matters(block, found)[: page.limit]).tolist():
            kind = int(block.types[row])
            if kind in _CONTEXT:
                self._context.append(block.event(row))
                continue
            context, self._context = self._context, []
            if self._is_wanted(page, row) and (
                text := self._text(block, row, kind, roles[row], context, dialect)
            ):
                texts.append(text)
                events.append(row)
        return Lines.at(texts, events, FIRST)

    def _is_wanted(self, page: RowsPage, row: int) -> bool:
        if not page.wanted[row] or self._options.rows_only:
            return False
        filters = self._filters
        if not (filters.databases or filters.tables):
            return True
        return filters.takes_names(getattr(page.block.event(row).body, "schema_name", None), None)

    def _text(
        self, block: Block, row: int, kind: int, role: int, context: list[Event], dialect: Dialect
    ) -> bytes:
        event = block.event(row)
        body: Any = event.body
        where = place(block, row)
        if kind == EventType.xa_prepare_log_event:
            return self._xa_prepare(body, where)
        if kind in _QUERIES:
            query: bytes = body.query
            if query.startswith(b"#"):
                return b""  # a server's filling for an event that a replica would not know
            if not self._options.undo:
                return statement_text(event, context, dialect)
            if role == Role.BEGIN or (role == Role.END and b"XA" in query[:20].upper()):
                return self._left_out(query, where, "an XA transaction is taken back as if it was committed")
            return self._left_out(query, where, "statements of the log cannot be taken back")
        text = getattr(body, "query", b"") or event.type.encode()
        if kind == EventType.incident_event:
            return self._left_out(text, where, "changes got lost on the server (INCIDENT_EVENT)")
        return self._left_out(text, where, "LOAD DATA needs its file, which is not in the script")

    def _xa_prepare(self, body: Any, where: str) -> bytes:
        name = f"X'{body.gtrid.hex()}',X'{body.bqual.hex()}',{body.format_id}"
        query = f"XA COMMIT {name} ONE PHASE" if body.is_one_phase else f"XA PREPARE {name}"
        if not self._options.undo:
            return delimited(query.encode())
        return self._left_out(query.encode(), where, "an XA transaction is taken back as if it was committed")

    def _left_out(self, query: bytes, where: str, reason: str) -> bytes:
        text = query.decode("utf-8", "backslashreplace")
        self._report.incomplete(reason, f"{where}: {shortened(text)}")
        return comment(f"{reason}: {where}\n{text}")


def _matters(block: Block, found: Roles) -> Any:
    """Which events are statements, or belong to one: BEGIN, COMMIT and row changes do not count."""
    types, roles = block.types, found.roles
    matters = np.isin(types, (*_CONTEXT, *_LOADS, EventType.incident_event, EventType.xa_prepare_log_event))
    is_query = np.isin(types, _QUERIES)
    matters |= is_query & (roles == Role.STATEMENT)
    matters[xa_rows(block)] = True
    return matters & ~np.isin(types, list(ROWS_TYPES))


def xa_rows(block: Block) -> Any:
    """The statements of XA, as numbers of events: more than the BEGIN and COMMIT that they stand for."""
    kind = EventType.query_event
    rows = block.rows_of(kind)
    if not len(rows):
        return rows
    starts, lengths = block.body(kind).ranges("query")
    data, last = block.data, len(block.data) - 2
    places = np.clip(starts, 0, max(last, 0))
    # Servers write these two letters, large or small.
    is_xa = (lengths > 2) & (data[places] | 0x20 == ord("x")) & (data[places + 1] | 0x20 == ord("a"))
    return rows[is_xa]
