"""Statements of a block.

Strategy
--------
1. The status variables of most statements are the same but for a fraction of a second or a number of a
   transaction. The grammar reads each such :class:`_Template` once.
2. What a statement prints of the session depends on its template, its database, its flags and on the session
   before it. The reader's printer writes that once for each such step; where statement after statement is
   alike, the first two steps are all that there is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.columns.lines import Column, Field
from binlog_kaitai.columns.rows.groups import distinct, group_ranges
from binlog_kaitai.columns.text_kernels import TEXT
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import EventType, trace_event
from binlog_kaitai.render.dump.blocks.columns import Lines
from binlog_kaitai.render.dump.item import item_of
from binlog_kaitai.render.dump.printer import QUERY_LINE, Printer
from binlog_kaitai.render.dump.session import STATEMENT_FIELDS
from binlog_kaitai.render.dump.text import encode
from binlog_kaitai.render.dump.variables import (
    StatementHead,
    is_transaction_keyword,
    is_two_phase,
    status_variables,
)

#: Templates and steps that are remembered.
_MOST = 1 << 10
#: New templates of a block; the statements with more are left to the reader.
_NEW = 64
#: Longer status variables are left to the reader, in bytes.
_LONGEST = 1 << 10
_MILLION = 10**6
#: Variables that differ from statement to statement, besides the number of a transaction.
_FRACTIONS = ("microseconds", "mariadb_microseconds")
_ALTER = "mariadb_gtid_flags3"
#: The beginnings of statements that may be more than just statements to `starts_group` and `ends_group`.
_GROUP_WORDS = frozenset((b"BEG", b"COM", b"XA ", b"ROL"))
_WORD = 3
_BEGIN = b"BEGIN"
#: How statements begin that `is_transaction_keyword` knows.
_MAY_BE_KEYWORD = np.isin(np.arange(256), np.frombuffer(b"BCSRXsrx", dtype=np.uint8))


class _Template(NamedTuple):
    """Status variables, with places of those that differ: -1 for none."""

    number: int
    content: Any
    is_fixed: Any
    fraction_at: int
    xid_at: int
    is_usual: bool


class Queries:
    """Prints statements.

    Parameters
    ----------
    printer, statements
        Whose text it is.
    """

    #: The variable with the number of a transaction, which the client prints.
    xid_name = "ddl_xid"

    def __init__(self, printer: Printer, statements: StatementHead) -> None:
        self.printer = printer
        self.statements = statements
        self._templates: dict[int, list[_Template]] = {}
        self._states: list[dict[str, Any]] = []
        self._numbers: dict[Any, int] = {}
        self._steps: dict[Any, tuple[tuple[bytes, ...], int]] = {}

    def begin(self, lines: Lines) -> None:
        """Go on with a block."""
        if len(self._steps) >= _MOST or sum(map(len, self._templates.values())) >= _MOST:
            self._templates.clear()
            self._states.clear()
            self._numbers.clear()
            self._steps.clear()
        self._lines = lines
        fits, body = lines.fits(EventType.query_event)
        if not body.layout.complete or "status_vars" not in body:
            fits = np.zeros(len(fits), dtype=np.bool_)
        self.events = lines.block.rows_of(EventType.query_event)
        starts, lengths = body.ranges("status_vars") if len(fits) else (self.events, self.events)
        self._fractions, self._xids = self._match(fits, starts, lengths)
        count = len(self.events)
        self._places = np.zeros((6, count), dtype=np.int64)
        self.state_after = np.full(count, -1, dtype=np.int64)
        self._shown = np.arange(count)
        self.shown, self.left_out = self.events, self.events[:0]
        if not count:
            return
        is_usual = self._template_of >= 0
        self._schema_starts, self._schema_lengths = body.ranges("schema_name")
        ends = self._schema_starts + self._schema_lengths
        self._schemas = group_ranges(lines.block.data, self._schema_starts, ends)
        self._threads = body.numbers("thread_id").astype(np.int64)
        self._query_starts, self._query_lengths = body.ranges("query")
        self._add_programs(body, is_usual)
        header = lines.block.header_of(self.events)
        names = ("is_thread_specific", "is_use_suppressed", "is_skipped_for_replication")
        specific, suppressed, skipped = (np.broadcast_to(header[name], count) for name in names)
        self._is_specific, self._is_suppressed = specific.astype(np.bool_), suppressed.astype(np.bool_)
        lines.program_of[self.events[skipped.astype(np.bool_)]] = -1
        self._leave_out(lines.program_of[self.events] >= 0)

    def _leave_out(self, is_ready: Any) -> None:
        """Find the statements of databases that are left out, but those that are a transaction's."""
        first = distinct(self._schemas)[0]
        numbers = self._schemas[first].tolist()
        left_out = [number for number in numbers if self.printer.skips_database(self._schema(number))]
        skipped = is_ready & np.isin(self._schemas, left_out)
        self._is_keyword = self._find_keywords((self._is_suppressed & (self._template_of >= 0)) | skipped)
        is_left_out = skipped & ~self._is_keyword
        self.left_out = self.events[is_left_out]
        self._shown = np.flatnonzero(~is_left_out)
        self.shown = self.events[self._shown]

    def _schema(self, number: int) -> bytes:
        """The name of the database by its number: that of the first statement of it."""
        start, length = int(self._schema_starts[number]), int(self._schema_lengths[number])
        return bytes(self._lines.block.data[start : start + length])

    def _find_keywords(self, asked: Any) -> Any:
        """Which of some statements begin, end or mark a transaction."""
        data, starts = self._lines.block.data, self._query_starts
        begins = np.where(self._query_lengths > 0, starts, 0)
        asked = asked & (self._query_lengths > 0) & _MAY_BE_KEYWORD[data[begins]]
        found = asked & (self._query_lengths == len(_BEGIN))
        places = starts[found][:, None] + np.arange(len(_BEGIN))
        found[found] = (data[places] == np.frombuffer(_BEGIN, dtype=np.uint8)).all(axis=1)
        for index in np.flatnonzero(asked & ~found).tolist():
            found[index] = is_transaction_keyword(self.query(index))
        return found

    def _add_programs(self, body: Any, is_usual: Any) -> None:
        """The programs of the statements: with a fraction of the second or without, and with a number."""
        lines, pool = self._lines, self._lines.pool
        ahead, before, after = (Column(TEXT, *self._places[2 * part : 2 * part + 2]) for part in range(3))
        fields: dict[str, Field] = {
            "name": b"Query",
            "thread_id": pool.numbers(self._threads),
            "execution_time": pool.numbers(body.numbers("execution_time")),
            "error_code": pool.numbers(body.numbers("error_code")),
        }
        end = self.printer.delimiter + b"\n"
        seconds = pool.numbers(lines.timestamps[self.events])
        xids = pool.numbers(np.maximum(self._xids, 0).view(np.uint64))
        query = pool.ranges(self._query_starts, self._query_lengths)
        fraction_kinds, fractions = self.fractions(self._fractions)
        is_usual &= fraction_kinds >= 0
        for kind in np.unique(fraction_kinds[is_usual]).tolist():
            for has_xid in (False, True):
                rows = np.flatnonzero(is_usual & (fraction_kinds == kind) & ((self._xids >= 0) == has_xid))
                if not len(rows):
                    continue
                program = lines.program(ahead=ahead if self.printer.rewritten else None)
                program.fill(QUERY_LINE, fields)
                program.fill(self.xid_line(has_xid=has_xid), {"xid": xids}).text(b"\n").column(before)
                program.text(b"SET TIMESTAMP=").column(seconds)
                if kind:
                    program.text(b".").column(fractions[kind])
                program.text(end).column(after).column(query).text(b"\n" + end)
                lines.add(program, self.events[rows], rows)

    def fractions(self, micros: Any) -> tuple[Any, dict[int, Column]]:
        """How the fraction of each second is written: 0 not at all, -1 by the reader, else by a column."""
        pool = self._lines.pool
        kinds = np.where(micros <= 0, 0, np.where(micros < _MILLION, 1, -1))
        return kinds, {1: pool.fractions(np.maximum(micros, 0))}

    def xid_line(self, *, has_xid: bool) -> bytes:
        """The template of what the line tells of the number of a transaction."""
        return b"\tXid = %(xid)d" if has_xid else b""

    def _match(self, fits: Any, starts: Any, lengths: Any) -> tuple[Any, Any]:
        """Find the template of each statement; gives its microseconds and its transaction, -1 for none."""
        data = self._lines.block.data
        template_of, fractions, xids = (np.full(len(fits), -1, dtype=np.int64) for _ in range(3))
        self._template_of = template_of
        new = 0
        for length in np.unique(lengths[fits]).tolist() if len(fits) else []:
            rows = np.flatnonzero(fits & (lengths == length))
            if length > _LONGEST:
                continue
            known = self._templates.setdefault(length, [])
            contents = data[starts[rows][:, None] + np.arange(length)]
            tried = 0
            while len(rows):
                if tried == len(known):
                    new += 1
                    template = self._read(int(self.events[rows[0]]), contents[0]) if new < _NEW else None
                    if template is None:
                        break
                    known.append(template)
                template = known[tried]
                tried += 1
                is_same = ((contents == template.content) | ~template.is_fixed).all(axis=1)
                if not is_same.any():
                    continue
                found = rows[is_same]
                if template.is_usual:
                    template_of[found] = template.number
                    self._take(starts[found], template, found, fractions, xids)
                rows, contents = rows[~is_same], contents[~is_same]
        return fractions, xids

    def _take(self, starts: Any, template: _Template, rows: Any, fractions: Any, xids: Any) -> None:
        data = self._lines.block.data
        for at, size, out in ((template.fraction_at, 3, fractions), (template.xid_at, 8, xids)):
            if at >= 0:
                value = np.zeros(len(rows), dtype=np.int64)
                for step in range(size):
                    value |= data[starts + at + step].astype(np.int64) << (8 * step)
                out[rows] = value
                # With the top bit set it is none of a server's, and the reader's.
                self._template_of[rows[value < 0]] = -1

    def _read(self, event: int, content: Any) -> _Template | None:
        block = self._lines.block
        one = block.event(event)
        try:
            _ = one.parsed
        except BinlogError:
            return None
        traced, _ = trace_event(one.raw, one.type_code, one.layout, None)
        variables = traced.body.content.status_vars
        places = {"fraction": -1, "xid": -1}
        is_fixed = np.ones(len(content), dtype=np.bool_)
        is_usual = variables is not None
        for variable in variables.variables if variables is not None else ():
            name = getattr(variable.key, "name", "")
            field = "microseconds" if name in _FRACTIONS else "xid" if name == self.xid_name else None
            if name == _ALTER and is_two_phase(variable.value):
                is_usual = False
            if field is None:
                continue
            where = variable.value._debug[field]
            which = "xid" if name == self.xid_name else "fraction"
            stated = int.from_bytes(bytes(content[where["start"] : where["end"]]), "little")
            is_usual &= places[which] < 0 and stated == getattr(variable.value, field)
            places[which] = where["start"]
            is_fixed[where["start"] : where["end"]] = False
        number = sum(map(len, self._templates.values()))
        return _Template(number, content.copy(), is_fixed, places["fraction"], places["xid"], is_usual)

    # The session -----------------------------------------------------------------------------------------

    def step_through(self, begin: int, end: int) -> None:
        """Find what the statements among some events set; the session itself stays as it is."""
        first, last = np.searchsorted(self.shown, (begin, end)).tolist()
        if first == last:
            return
        own = self._shown[first:last]
        flags = self._lines.flags[self.events[own]]
        parts = self._template_of, self._schemas, self._is_keyword
        keys = (*(values[own] for values in parts), flags)
        is_new = np.zeros(len(own), dtype=np.bool_)
        is_new[0] = True
        for values in keys:
            is_new[1:] |= values[1:] != values[:-1]
        is_new |= self._is_specific[own]
        starts = np.flatnonzero(is_new)
        ends = np.append(starts[1:], len(own))
        # The second of a run may print other things than the first; all others print what it prints.
        places = np.unique(np.concatenate((starts, np.minimum(starts + 1, ends - 1))))
        before = vars(self.printer.session).copy()
        found = self._steps_at(own[places])
        vars(self.printer.session).update(before)
        counts = np.diff(places, append=len(own))
        self._places[:, own] = np.repeat(found[:, :6], counts, axis=0).T
        self.state_after[own] = np.repeat(found[:, 6], counts)

    def _steps_at(self, places: Any) -> Any:
        """What some statements set: place and length of the three texts of each, and the state behind it."""
        columns = (
            places,
            self._template_of[places],
            self._schemas[places],
            self._lines.flags[self.events[places]],
            self._threads[places],
            self._is_specific[places],
            self._is_keyword[places],
        )
        state, pool, found = self._number_of_state(), self._lines.pool, []
        schemas: dict[int, bytes] = {}
        for index, template, number, flags, thread, is_specific, is_keyword in zip(
            *(values.tolist() for values in columns), strict=True
        ):
            schema = schemas.get(number)
            if schema is None:
                schema = schemas[number] = self._schema(number)
            shown = thread if is_specific or self._states[state]["thread_id"] is None else None
            key = state, template, schema, flags, shown, is_keyword
            step = self._steps.get(key)
            if step is None:
                step = self._steps[key] = self._print(state, index)
            texts, state = step
            found_at = [number for at, size in map(pool.place, texts) for number in (-at - 1, size)]
            found.append((*found_at, state))
        return np.array(found, dtype=np.int64)

    def _print(self, state: int, index: int) -> tuple[tuple[bytes, ...], int]:
        printer = self.printer
        vars(printer.session).update(self._states[state])
        item = item_of(self._lines.block.event(int(self.events[index])))
        body: Any = item.event.body
        kept, printer.head = printer.head, []
        try:
            query = bytes(body.query)
            ahead = printer.ahead_of_statement(item, body)
            self.statements.print_use(item, encode(body.schema_name), query)
            before = b"".join(printer.head)
            printer.head = []
            self.statements.print_session(item, body, status_variables(body))
            return (ahead, before, b"".join(printer.head)), self._number_of_state()
        finally:
            printer.head = kept

    def _number_of_state(self) -> int:
        """The number of the session as it is."""
        session = self.printer.session
        state = {name: getattr(session, name) for name in STATEMENT_FIELDS}
        key = tuple(getattr(value, "flags", value) for value in state.values())
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append(state)
        return self._numbers[key]

    def set_session(self, begin: int, end: int) -> None:
        """Leave the session as it is behind the statements among some events."""
        last = int(np.searchsorted(self.shown, end)) - 1
        if last >= 0 and self.shown[last] >= begin:
            vars(self.printer.session).update(self._states[self.state_after[self._shown[last]]])

    def query(self, index: int) -> bytes:
        """The text of a statement."""
        start, length = int(self._query_starts[index]), int(self._query_lengths[index])
        return bytes(self._lines.block.data[start : start + length])

    def group_words(self, begin: int, end: int) -> list[tuple[int, bytes]]:
        """The statements among some events that may begin or end a transaction; of others no text."""
        first, last = np.searchsorted(self.shown, (begin, end)).tolist()
        found = []
        for index in self._shown[first:last].tolist():
            start = int(self._query_starts[index])
            word = bytes(self._lines.block.data[start : start + _WORD]).upper()
            found.append((int(self.events[index]), self.query(index) if word in _GROUP_WORDS else b""))
        return found
