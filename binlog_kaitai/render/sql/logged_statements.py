"""The roles of a block's events in a script: transactions, and logged statements."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.check.masked_blocks import may_have_values
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl.statements import is_half_done
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, Roles
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.transaction_roles import Outcome, Role
from binlog_kaitai.render.sql.script_lines import (
    FIRST,
    OmissionReport,
    ScriptLines,
    comment,
    place,
    shortened,
)
from binlog_kaitai.render.sql.sql_options import SqlOptions
from binlog_kaitai.render.sql.statement_text import MisreadError, delimited, statement_text
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.values.sql_text import SqlDialect
from binlog_kaitai.views.transaction_parts import Parts

#: Events that belong to the following statement.
_CONTEXT = (EventType.intvar_event, EventType.rand_event, EventType.user_var_event)
#: Statements that need a file, whose content is in other events of the log.
_LOADS = (
    EventType.load_event,
    EventType.new_load_event,
    EventType.exec_load_event,
    EventType.execute_load_query_event,
)

#: Beginnings of INSERT, UPDATE, SET, LOAD and the like.
_NOT_OF_DEFINITIONS = b"biuslxBIUSLX"

_AS_COMMITTED = "an XA transaction is reverted as if it had been committed"


class Carried(NamedTuple):
    """State of the last transaction of a block, which may continue in the next one.

    `number`: int
    `is_begun`: there was a BEGIN.
    `is_ended`: there was an end: anything that still seems to belong to it is independent.
    """

    number: int = -1
    is_begun: bool = False
    is_ended: bool = False


class Transactions:
    """The transactions of a block, numbered continuously across blocks.

    `number_of` (int64 array): the transaction of each event; -1 for none.
    `base`, `count`: number of the first transaction in the block, and their count; the arrays have one entry
    for each.
    `first`, `closing` (int64 arrays): the first event in the block, and the one that closes the transaction;
    -1 if that is in a later block.
    `outcomes` (int8 array): see `Outcome`; a transaction that has begun but is not ended is rolled back.
    `is_begun`, `is_cut` (bool arrays): whether there was a BEGIN, or a GTID event instead; whether the end is
    missing.
    """

    def __init__(self, block: Block, roles: Roles, boundaries: Boundaries, before: Carried) -> None:
        segments = boundaries.divide(roles)
        parts = Parts(block, segments)
        self.continues = segments.continues
        self.base = base = before.number + (not segments.continues)
        self.count, self.first = len(parts), parts.first
        ends = np.flatnonzero(roles.roles == Role.END)
        # The first event that ends a transaction closes it, regardless of what follows.
        first_end = parts.first_of(ends)
        closing = np.array(parts.last, dtype=np.int64)
        if segments.is_open and self.count:
            closing[-1] = -1
        is_ended = first_end >= 0
        self.closing = np.where(is_ended, np.append(ends, -1)[first_end], closing)
        self.outcomes = np.append(roles.outcomes[ends], np.int8(Outcome.OPEN))[first_end]
        self.is_begun = parts.any(roles.begins)
        if self.continues:
            self.is_begun[0] |= before.is_begun
        self.is_cut = self.is_begun & (self.outcomes == Outcome.OPEN) & (self.closing >= 0)
        self.outcomes[self.is_cut] = Outcome.ROLLBACK
        if self.continues:
            is_ended[0] |= before.is_ended
        self.carried = before
        if self.count:
            self.carried = Carried(base + self.count - 1, bool(self.is_begun[-1]), bool(is_ended[-1]))
        # Events after the end are independent.
        numbers = parts.number_of
        goes_on = is_ended & (parts.last > self.closing)
        if goes_on.any():
            inside = np.flatnonzero(numbers >= 0)
            inside = inside[goes_on[numbers[inside]]]
            numbers[inside[inside > self.closing[numbers[inside]]]] = -1
        if self.continues and before.is_ended:
            numbers[numbers == 0] = -1
        self.number_of = np.where(numbers < 0, -1, base + numbers)


class LoggedStatements:
    """The logged statements in a block, as lines of the script."""

    def __init__(self, options: SqlOptions, filters: Filters, report: OmissionReport) -> None:
        self._options = options
        self._filters = filters
        self._report = report
        self._context: list[ParsedEvent] = []
        self._renamed = {name: mention(name) for name in options.rewrite_db}

    def lines(self, page: RowsPage, roles: Roles, dialect: SqlDialect) -> ScriptLines:
        """The lines of all wanted statements of a block."""
        block = page.block
        texts: list[bytes] = []
        events: list[int] = []
        matters = _matters(block, roles)
        for row in matters[matters < page.limit].tolist():
            kind = int(block.types[row])
            if kind in _CONTEXT:
                self._context.append(block.event(row))
                continue
            context, self._context = [] if self._options.masks else self._context, []
            if self._is_wanted(page, row) and (text := self._text(block, row, kind, context, dialect)):
                texts.append(text)
                events.append(row)
        return ScriptLines.at(texts, events, FIRST)

    def definitions(self, page: RowsPage) -> Iterator[tuple[ParsedEvent, int]]:
        """A block's statements that may define something, selected or not, and their numbers."""
        block = page.block
        rows = block.statements
        if len(rows):
            starts, _ = block.statement_bodies.ranges("query")
            firsts = block.data[np.clip(starts, 0, len(block.data) - 1)]
            rows = rows[~np.isin(firsts, list(_NOT_OF_DEFINITIONS))]
        for row in np.union1d(rows, block.rows_of(EventType.query_compressed_event)).tolist():
            event = block.event(row)
            if row < page.limit:
                _query(event)  # raises its error
            yield event, row

    def _is_wanted(self, page: RowsPage, row: int) -> bool:
        if not page.wanted[row] or self._options.wanted:
            return False
        filters = self._filters
        if not (filters.databases or filters.tables):
            return True
        return filters.takes_names(getattr(page.block.event(row).body, "schema_name", None), None)

    def _text(
        self, block: Block, row: int, kind: int, context: list[ParsedEvent], dialect: SqlDialect
    ) -> bytes:
        event = block.event(row)
        body: Any = event.body
        where = place(block, row)
        if kind == EventType.xa_prepare_log_event:
            words = b"XA COMMIT %s ONE PHASE" if body.is_one_phase else b"XA PREPARE %s"
            return self._xa(words % _xid(body), where)
        if kind == EventType.gtid_event:
            return self._xa(b"XA START " + _xid(body.xid), where)
        if kind in QUERY_TYPES:
            query = _query(event)
            if not query.strip() or query.startswith(b"#") or is_half_done(body):
                return b""  # a placeholder for an event unknown to a replica, or no change
            if not self._options.undo:
                if self._options.masks and may_have_values(block, row, query):
                    return self._left_out(query, where, "statements may contain what is masked or left out")
                if database := self._named(query):
                    reason = f"the statement names the database {database}, which --rewrite-db renames"
                    return self._left_out(query, where, reason)
                if body.error_code:
                    return self._left_out(query, where, f"the statement ended with error {body.error_code}")
                try:
                    return statement_text(event, context, dialect, self._options.rewrite_db)
                except MisreadError as misread:
                    return self._left_out(query, where, str(misread))
            if query[:2].upper() == b"XA":
                return self._left_out(query, where, _AS_COMMITTED)
            return self._left_out(query, where, "logged statements cannot be reverted")
        text = getattr(body, "query", b"") or event.type.encode()
        if kind == EventType.incident_event:
            return self._left_out(text, where, "changes were lost on the server (INCIDENT_EVENT)")
        return self._left_out(text, where, "LOAD DATA requires its file, which is not part of the script")

    def _named(self, query: bytes) -> str:
        """A renamed database that the text of a statement names; empty if there is none."""
        return next((name for name, pattern in self._renamed.items() if pattern.search(query)), "")

    def _xa(self, query: bytes, where: str) -> bytes:
        """The XA statement that an event represents."""
        return self._left_out(query, where, _AS_COMMITTED) if self._options.undo else delimited(query)

    def _left_out(self, query: bytes, where: str, reason: str) -> bytes:
        if self._options.masks:
            self._report.incomplete(reason, where)
            return comment(f"{reason}: {where}")
        text = query.decode("utf-8", "backslashreplace")
        self._report.incomplete(reason, f"{where}: {shortened(text)}")
        return comment(f"{reason}: {where}\n{text}")


def mention(database: str) -> re.Pattern[bytes]:
    """What a statement has that names a database, in any case: ``shop.``, ``DATABASE shop``, ``USE shop``."""
    name = rb"(?:`%s`|\"%s\"|%s)" % tuple(
        re.escape(database.replace(mark, 2 * mark).encode()) for mark in ("`", '"', "\0")
    )
    words = rb"\b(?:database|schema|use)\s+(?:if\s+(?:not\s+)?exists\s+)?"
    return re.compile(rb"(?<![\w$.`\"])%s\s*\.|%s%s(?![\w$])" % (name, words, name), re.IGNORECASE)


def _query(event: ParsedEvent) -> bytes:
    """The text of a statement.

    Raises `GrammarError`: it is compressed, and cannot be decompressed.
    """
    body: Any = event.body
    try:
        return bytes(body.query)
    except zlib.error as error:
        raise event.locate(GrammarError(f"the statement does not decompress: {error}")) from error


def _xid(name: Any) -> bytes:
    """The identifier of an XA transaction as written in XA statements."""
    return f"X'{name.gtrid.hex()}',X'{name.bqual.hex()}',{name.format_id}".encode()


def _matters(block: Block, roles: Roles) -> Ints:
    """Events that are statements or belong to one, other than BEGIN, COMMIT and row changes."""
    others = (*_CONTEXT, *_LOADS, EventType.incident_event, EventType.xa_prepare_log_event)
    queries = [block.rows_of(kind) for kind in QUERY_TYPES]
    statements = [rows[roles.roles[rows] == Role.STATEMENT] for rows in queries]
    return distinct_values(np.concatenate((*map(block.rows_of, others), *statements, xa_rows(block))))


def xa_rows(block: Block) -> Ints:
    """Indexes of the events of XA statements, which need more than BEGIN and COMMIT."""
    of_mariadb: Ints = block.rows_of(EventType.gtid_event)
    if len(of_mariadb):
        prepares = block.body(EventType.gtid_event).numbers("is_prepared_xa")
        of_mariadb = of_mariadb[prepares.astype(np.bool_)]
    rows = block.statements
    if not len(rows):
        return of_mariadb
    starts, lengths = block.statement_bodies.ranges("query")
    data, last = block.data, len(block.data) - 2
    offsets = np.clip(starts, 0, max(last, 0))
    # Servers write these two letters in upper or lower case.
    is_xa = (lengths > 2) & (data[offsets] | 0x20 == ord("x")) & (data[offsets + 1] | 0x20 == ord("a"))
    return np.union1d(of_mariadb, rows[is_xa])
