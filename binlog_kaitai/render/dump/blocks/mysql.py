"""Blocks of MySQL's logs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.payload_heads import payload_heads
from binlog_kaitai.columns.lines import Column, Field
from binlog_kaitai.columns.text.jobs import ROWS
from binlog_kaitai.columns.text_kernels import TEXT
from binlog_kaitai.columns.transactions.tagged_gtids import TaggedGtids
from binlog_kaitai.context import Context
from binlog_kaitai.grammar import EventType
from binlog_kaitai.render.dump.blocks.columns import clean_bytes
from binlog_kaitai.render.dump.blocks.printer import BlockPrinter
from binlog_kaitai.render.dump.blocks.queries import Queries
from binlog_kaitai.render.dump.gtids import (
    GTID_LINE,
    ROWS_ONLY_STATEMENT,
    UNDEFINED_VERSION,
    gtid_name,
    gtid_statements,
)
from binlog_kaitai.render.dump.mysql import (
    PAYLOAD_END,
    PAYLOAD_LINE,
    PAYLOAD_START,
    UNPACKED_SIZE,
    MysqlPrinter,
)
from binlog_kaitai.render.dump.mysql_rows import tells_invisible_keys
from binlog_kaitai.render.dump.options import Base64Output
from binlog_kaitai.render.dump.rows import extra_info
from binlog_kaitai.render.dump.text import encode
from binlog_kaitai.transactions import mysql_source

_TAGGED = EventType.gtid_tagged_log_event
_NUMBERS = (
    "last_committed",
    "sequence_number",
    "len_transaction",
    "original_commit_timestamp",
    "immediate_commit_timestamp",
)
_VERSIONS = ("original_server_version", "immediate_server_version")
_GTIDS = (EventType.gtid_log_event, EventType.anonymous_gtid_log_event, _TAGGED)
#: What `text.comment` writes in other ways, and what ends its lines.
_COMMENT_CLEAN = clean_bytes(b"\r\\\x08\t\0\n")


class MysqlBlocks(BlockPrinter):
    """Prints blocks in the dress of `mysqlbinlog`."""

    printer: MysqlPrinter
    keeps_places = True
    opens_payloads = True
    behind_payload = PAYLOAD_END

    def __init__(self, printer: MysqlPrinter, context: Context) -> None:
        super().__init__(printer, context)
        self.queries = Queries(printer, printer.statements)
        self.rows_job = ROWS if printer.options.shown_rows else None

    def begin_dress(self) -> None:
        lines = self.lines
        self._versions = np.full(len(lines.block), -1, dtype=np.int64)
        for kind in _GTIDS:
            self._add_gtids(kind)
        self.add_xids()
        self._add_payloads()
        self._add_statements_of_rows()
        self._add_table_maps()
        self._add_rows()
        self.queries.begin(lines)
        self.is_quiet[self.queries.left_out] = True
        self._leave_statements_to_reader()
        self._leave_gtids_to_reader()

    def _add_gtids(self, kind: int) -> None:
        lines = self.lines
        fits, body = lines.fits(kind)
        events = lines.block.rows_of(kind)
        if not len(events) or not body.layout.complete:
            return
        pool, end = lines.pool, self.printer.delimiter + b"\n"
        is_timed = body.mask("immediate_commit_timestamp")
        numbers = {name: np.where(body.mask(name), body.numbers(name), 0) for name in (*_NUMBERS, *_VERSIONS)}
        for name in _VERSIONS:
            numbers[name][is_timed & ~body.mask(name)] = UNDEFINED_VERSION
        original, immediate = (numbers[f"{name}_commit_timestamp"] for name in ("original", "immediate"))
        times = lines.moments(original.astype(np.int64)), lines.moments(immediate.astype(np.int64))
        fields: dict[str, Field] = {
            "name": gtid_name(kind),
            "last_committed": pool.numbers(numbers["last_committed"]),
            "sequence_number": pool.numbers(numbers["sequence_number"]),
            "original": pool.numbers(original),
            "original_time": times[0],
            "immediate": pool.numbers(immediate),
            "immediate_time": times[1],
            "transaction_length": pool.numbers(numbers["len_transaction"]),
            "original_version": pool.numbers(numbers["original_server_version"]),
            "immediate_version": pool.numbers(numbers["immediate_server_version"]),
            "gtid": b"ANONYMOUS",
            "end": end,
        }
        if kind == EventType.gtid_log_event:
            fields["gtid"] = self._gtids(body)
        elif kind == _TAGGED:
            tagged = TaggedGtids.of(lines.block)
            sources = [encode(source) for source in tagged.sources]
            fields["gtid"] = pool.choice(tagged.codes, sources), b":", pool.numbers(tagged.numbers)
            fits = fits & tagged.fits
        self._versions[events] = numbers["immediate_server_version"].astype(np.int64)
        rows_only = ~np.broadcast_to(np.asarray(body["may_have_statements"], dtype=np.bool_), len(events))
        is_old = ~is_timed & self.printer.options.prints_base64
        for is_only, is_for_old in product((False, True), repeat=2):
            rows = np.flatnonzero(fits & (rows_only == is_only) & (is_old == is_for_old))
            if len(rows):
                fields["rows_only"] = b"yes" if is_only else b"no"
                program = lines.program().fill(GTID_LINE, fields)
                program.text(ROWS_ONLY_STATEMENT + end if is_only else b"")
                program.fill(gtid_statements(is_for_old_server=is_for_old), fields)
                lines.add(program, events[rows], rows)

    def _add_payloads(self) -> None:
        """Payloads whose events follow in the block."""
        lines = self.lines
        events = lines.block.rows_of(EventType.transaction_payload_event)
        if lines.inside is None or not len(events):
            return
        heads, pool = payload_heads(lines.block, events), lines.pool
        fields: dict[str, Field] = {
            "payload_size": pool.numbers(heads.payload_sizes),
            "uncompressed_size": pool.numbers(heads.uncompressed_sizes),
            "compression": b"ZSTD",
        }
        program = lines.program().fill(PAYLOAD_LINE + UNPACKED_SIZE + PAYLOAD_START, fields)
        lines.add(program, events[heads.fits], np.flatnonzero(heads.fits))

    def _leave_statements_to_reader(self) -> None:
        """Have the reader leave out the statements that have to use up a GTID: it writes COMMIT for them."""
        left_out = self.queries.left_out
        if not len(left_out):
            return
        block, printer = self.lines.block, self.printer
        settled = np.concatenate((self.queries.shown, block.rows_of(EventType.xid_event), left_out + 1))
        gtids = np.concatenate([block.rows_of(kind) for kind in _GTIDS])
        places = np.concatenate((settled, gtids, [-1]))
        waits = np.zeros(len(places), dtype=np.bool_)
        waits[len(settled) : -1] = True
        waits[-1] = printer.has_seen_gtid and not printer.is_in_transaction
        order = np.lexsort((waits, places))
        before = order[np.searchsorted(places[order], left_out, side="right") - 1]
        self.lines.program_of[left_out[waits[before]]] = -1
        self.is_quiet[left_out[waits[before]]] = False

    def _leave_gtids_to_reader(self) -> None:
        """Have the reader print the GTIDs behind what was left out: it writes COMMIT in front of some."""
        block, is_left_out = self.lines.block, self.is_quiet.copy()
        is_left_out[self.rows.events[self.rows.is_left_out]] = True
        self._left_out = np.flatnonzero(is_left_out & ~self.is_passed)
        if not len(self._left_out) and not self.printer.has_left_out:
            return
        gtids = np.concatenate([block.rows_of(kind) for kind in _GTIDS])
        gtids = np.sort(gtids[~self.is_passed[gtids]])
        settled = np.sort(np.concatenate(([-2], gtids, block.rows_of(EventType.xid_event))))
        left_out = np.append(-1 if self.printer.has_left_out else -2, self._left_out)
        last_left_out = left_out[np.searchsorted(left_out, gtids) - 1]
        self.lines.program_of[gtids[last_left_out > settled[np.searchsorted(settled, gtids) - 1]]] = -1

    def _gtids(self, body: Any) -> Field:
        pool = self.lines.pool
        high, low = body.halves("uuid")
        changes = np.ones(len(high), dtype=np.bool_)
        changes[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        starts, _ = body.ranges("uuid")
        data = self.lines.block.data
        sources = [mysql_source(bytes(data[at : at + 16])).encode() for at in starts[changes].tolist()]
        source = pool.choice(np.cumsum(changes) - 1, sources)
        return source, b":", pool.numbers(body.numbers("gno"))

    def _add_statements_of_rows(self) -> None:
        """Rows_query events."""
        lines, kind = self.lines, EventType.rows_query_log_event
        events = lines.block.rows_of(kind)
        if not len(events):
            return
        fits, body = lines.fits(kind)
        if self.printer.options.shown_rows < 2:
            lines.program_of[events[fits]] = 0
            return
        starts, lengths = body.ranges("query")
        clean = fits & lines.clean(starts, lengths, _COMMENT_CLEAN)
        program = lines.program().text(b"\tRows_query\n# ").column(lines.pool.ranges(starts, lengths))
        lines.add(program.text(b"\n"), events[clean], np.flatnonzero(clean))
        others = np.flatnonzero(fits & ~clean)
        if len(others):
            ranges = zip(starts[others].tolist(), lengths[others].tolist(), strict=True)
            data = lines.block.data
            texts = [self.printer.rows_query_text(bytes(data[at : at + size])) for at, size in ranges]
            column = lines.pool.verbatim(texts)
            lines.add(lines.program().column(column), events[others], np.arange(len(others)))

    def body_kinds(self) -> list[int]:
        kinds = super().body_kinds()
        return [*kinds, EventType.rows_query_log_event] if self.printer.options.shown_rows > 1 else kinds

    def _add_table_maps(self) -> None:
        events, made, _ = self.maps
        if not len(events):
            return
        texts = [
            self.printer.table_map_text(body, tells=tells) for body, _ in made for tells in (False, True)
        ]
        self._map_texts = np.array([self.lines.pool.place(text) for text in texts], dtype=np.int64)
        self._map_places = np.zeros((2, len(events)), dtype=np.int64)
        column = Column(TEXT, *self._map_places)
        self.lines.add(self.lines.program().column(column), events, np.arange(len(events)))

    def _tell_keys(self, begin: int, end: int) -> None:
        """Choose the text of table maps by the version of the server that wrote their transaction."""
        events, _, which = self.maps
        first, last = np.searchsorted(events, (begin, end)).tolist()
        if first == last:
            return
        known = np.flatnonzero(self._versions[begin:end] >= 0) + begin
        versions = np.append(self._versions[known], self.printer.server_version)
        found = tells_invisible_keys(versions[np.searchsorted(known, events[first:last]) - 1])
        places, lengths = self._map_texts[2 * which[first:last] + found].T
        self._map_places[:, first:last] = -places - 1, lengths

    def _add_rows(self) -> None:
        rows, lines = self.rows, self.lines
        lines.program_of[rows.events[rows.is_left_out]] = 0
        found = np.flatnonzero((rows.program_of >= 0) & ~rows.is_left_out)
        if not len(found) or self.printer.options.base64_output is Base64Output.NEVER:
            return
        texts = [self.printer.rows_line(head.kind, head.body) for head in rows.heads]
        column = lines.pool.choice(rows.head_of, texts)
        lines.add(lines.program().column(column), rows.events[found], found)

    def extra(self, head: Any) -> list[bytes]:
        return extra_info(head.body)

    def is_ready(self, event: int) -> bool:
        return super().is_ready(event) and not self.printer.waiting and not self.printer.head

    def begin_stretch(self, begin: int, end: int) -> None:
        self.queries.step_through(begin, end)
        self._tell_keys(begin, end)

    def begin_text(self) -> None:
        self.printer.flush_head()

    def finish_dress(self, begin: int, end: int, left: bytes) -> None:
        printer = self.printer
        if left:
            printer.left_out.append(left)
        self.queries.set_session(begin, end)
        xid = _last(self.lines.block.rows_of(EventType.xid_event), begin, end)
        if xid >= 0:
            printer.is_in_transaction = printer.has_seen_gtid = printer.has_left_out = False
        # What was before that is settled.
        steps = self.queries.group_words(max(begin, xid), end)
        gtid = max(_last(self.lines.block.rows_of(kind), begin, end) for kind in _GTIDS)
        left_out = _last(self._left_out, begin, end)
        steps += [(event, b"") for event in (gtid, left_out) if event > xid]
        for event, query in sorted(steps):
            if event == gtid:
                printer.has_seen_gtid = True
            elif event == left_out:
                printer.has_left_out = True
            else:
                printer.note_statement(query)
        versions = self._versions[begin:end]
        known = np.flatnonzero(versions >= 0)
        if len(known):
            printer.server_version = int(versions[known[-1]])


def _last(events: Any, begin: int, end: int) -> int:
    """The last of some events in a stretch, -1 for none."""
    first, last = np.searchsorted(events, (begin, end)).tolist()
    return int(events[last - 1]) if last > first else -1
