"""Rows of many events, fast: by the kernel of `columns.text.printed_rows`.

Strategy
--------
1. Rows events of one table begin alike: table id, flags, columns. The grammar reads each such beginning once
   (:class:`Head`); an event that begins with the same bytes has the same.
2. For a head and a table map a :class:`_Program` says what stands around each value and how it is printed.
3. The kernel writes the text. Values of rare types it leaves to the functions of `cells`, and whatever does
   not fit to `rows`, whose errors name the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from binlog_kaitai.columns.compile import COMPILE_FROM, note_work
from binlog_kaitai.columns.rows.json_kernels import LEVEL, MAX_DEPTH, NO_ROOM, put_document
from binlog_kaitai.columns.rows.widths import width_of
from binlog_kaitai.columns.text import printed_rows as kernels
from binlog_kaitai.columns.text.general import SCRATCH
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import CHECKSUM_SIZE, ColumnType, parse_cell
from binlog_kaitai.reader import Event
from binlog_kaitai.render.dump.cells import CellText, escapes_of, json_cell
from binlog_kaitai.render.dump.rows import (
    UNMEASURED,
    RowsText,
    Style,
    column_suffixes,
    counted_rows,
    rows_text,
    table_name,
)
from binlog_kaitai.schema import Column, Schema

#: Room for text, in bytes; a value that does not fit is printed by itself.
_ROOM = 1 << 20
#: What an event costs that is printed without the kernel, in bytes that the kernel might print.
_CALL = 1 << 12
#: Beginnings of rows events that are remembered, and as many tables.
_MOST = 1 << 10
#: The largest that servers allow.
_MOST_PRECISION, _MOST_SCALE, _MOST_FRACTION = 65, 38, 6
#: As much of a beginning is looked up at once, in bytes.
_KEY = 10

_STRINGS = frozenset(
    (
        ColumnType.string,
        ColumnType.varchar,
        ColumnType.blob,
        ColumnType.varchar_compressed,
        ColumnType.blob_compressed,
        ColumnType.geometry,
    )
)
_KINDS: dict[ColumnType | int, int] = {
    ColumnType.tiny: kernels.INTEGER,
    ColumnType.short: kernels.INTEGER,
    ColumnType.int24: kernels.INTEGER,
    ColumnType.long: kernels.INTEGER,
    ColumnType.longlong: kernels.INTEGER,
    ColumnType.double: kernels.DOUBLE,
    ColumnType.float: kernels.FLOAT,
    ColumnType.newdecimal: kernels.DECIMAL,
    ColumnType.date: kernels.DATE,
    ColumnType.newdate: kernels.DATE,
    ColumnType.datetime2: kernels.DATETIME,
    ColumnType.time2: kernels.TIME,
    ColumnType.timestamp2: kernels.TIMESTAMP,
    ColumnType.year: kernels.YEAR,
    ColumnType.enum: kernels.ENUM,
    ColumnType.set: kernels.BITS,
    ColumnType.bit: kernels.BITS,
    **dict.fromkeys(_STRINGS, kernels.STRING),
}


@dataclass(eq=False)
class Head:
    """What a rows event has in front of its images.

    Attributes
    ----------
    body
        The grammar's object of the first event that began so; only its images are that event's own.
    content : bytes
        All in front of the images, without the event's header.
    line, extra : bytes and list of bytes
        The text of it, for who prints it; None before it was made.
    """

    body: Any
    content: bytes
    line: bytes | None = None
    extra: list[bytes] | None = None


class Heads:
    """The beginnings of rows events."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, int, bytes], list[Head]] = {}

    def of(self, event: Event) -> Head | None:
        """How an event begins; None for those of other kinds than plain rows events.

        Raises
        ------
        GrammarError
            It cannot be read.
        """
        raw, layout = event.raw, event.layout
        start = layout.header_length_of(event.type_code)
        key = layout, event.type_code, raw[start : start + _KEY]
        known = self._known.get(key, ())
        for head in known:
            if raw.startswith(head.content, start) and start + len(head.content) <= images_end(event):
                return head
        body = event.body
        if not hasattr(body, "images"):
            return None
        end = images_end(event) - len(body.images)
        head = Head(body, raw[start:end])
        if len(self._known) >= _MOST or len(known) >= _MOST:
            self._known.clear()
        self._known.setdefault(key, []).append(head)
        return head


def images_end(event: Event) -> int:
    """Where the images of a rows event end."""
    return len(event.raw) - (CHECKSUM_SIZE if event.layout.is_checksummed else 0)


@dataclass(eq=False)
class _Table:
    """A table map, with the programs of the heads that were seen with it."""

    body: Any
    programs: dict[tuple[Head, bytes | None], _Program | None] = field(default_factory=dict)


@dataclass
class _Program:
    """What `put_rows` takes of a head and a table."""

    images: int
    limits: Any
    steps: Any  # int64 array of shape (4, n): kinds, sizes, prefixes, details
    columns: list[int]
    pool: Any
    texts: Any
    clauses: Any
    has_unmeasured: bool


class QuickRows:
    """Prints the rows of events.

    Parameters
    ----------
    style
        How to print; the texts of its values are those of the kernel, too.
    is_mariadb
        In which client's escapes.
    """

    def __init__(self, style: Style, *, is_mariadb: bool) -> None:
        self.style = style
        self.is_mariadb = is_mariadb
        self._escapes = escapes_of(is_mariadb=is_mariadb)
        self._tables: dict[bytes, _Table] = {}
        self._current: dict[int, _Table] = {}
        self._bodies: dict[int, Any] = {}
        self._out = np.empty(0, dtype=np.uint8)
        self._scratch = np.zeros(SCRATCH, dtype=np.int64)
        self._documents = np.empty(0, dtype=np.uint8)
        self._stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)
        self._work = 0

    def note_table(self, event: Event) -> None:
        """Take in a table map."""
        body = event.body
        start = event.layout.header_length_of(event.type_code)
        self.note(body, event.raw[start : images_end(event)])

    def note(self, body: Any, content: bytes) -> None:
        """Take in the body of a table map, and its bytes."""
        if len(self._tables) >= _MOST:
            self._tables.clear()
            self._current.clear()
            self._bodies.clear()
        table = self._tables.setdefault(content, _Table(body))
        self._current[body.table_id.value] = table
        self._bodies[body.table_id.value] = body

    def text(self, event: Event, head: Head, name: bytes | None = None) -> RowsText:
        """The rows of an event; raises as :func:`rows_text`."""
        size = len(event.raw) + _CALL
        if self._work < COMPILE_FROM:
            self._work += size
            note_work(size)
            return rows_text(event, self.style, name)
        program = self._program(event, head, name)
        found = None if program is None else self._print(event, head, program)
        return rows_text(event, self.style, name) if found is None else found

    def count(self, event: Event, head: Head | None) -> int:
        """How many rows `mariadb-binlog` counts in an event whose rows it does not print."""
        program = None if head is None or self._work < COMPILE_FROM else self._program(event, head, None)
        self._work += len(event.raw) + _CALL
        if head is None or program is None or program.has_unmeasured:
            return counted_rows(event)
        found = self._print(event, head, program)
        return counted_rows(event) if found is None else found.rows

    def _program(self, event: Event, head: Head, name: bytes | None) -> _Program | None:
        number = head.body.table_id.value
        table = self._current.get(number)
        if table is None or self._bodies.get(number) is not event.table_map:
            return None
        key = head, name
        if key not in table.programs:
            if len(table.programs) >= _MOST:
                table.programs.clear()
            table.programs[key] = self._make_program(head.body, table.body, name)
        return table.programs[key]

    def _make_program(self, body: Any, table_map: Any, name: bytes | None) -> _Program | None:
        steps = self._steps(body, table_map)
        if steps is None:
            return None
        before, after = steps
        table = table_name(table_map, name)
        verb = b"INSERT INTO" if body.is_write else b"UPDATE" if body.is_update else b"DELETE FROM"
        first = b"### " + verb + b" " + table + (b"\n### SET\n" if body.is_write else b"\n### WHERE\n")
        clauses = [first, b"### SET\n"] if body.is_update else [b"", first] if body.is_write else [first, b""]
        suffixes = column_suffixes(table_map, self.style.verbose)
        pool = b"".join(clauses)
        limits = [0, len(clauses[0]), len(pool)]
        texts = []
        for column, *_ in before + after:
            behind, null = suffixes[column]
            ends = [len(pool)]
            for piece in (b"###   @%d=" % (column + 1), behind, null):
                pool += piece
                ends.append(len(pool))
            texts.append(ends)
        numbers = np.array([one[1:] for one in before + after], dtype=np.int64).reshape(-1, 4)
        return _Program(
            (1 if not body.is_write else 0) | (2 if body.is_write or body.is_update else 0),
            np.array([0, len(before), len(before) + len(after)], dtype=np.int64),
            np.ascontiguousarray(numbers.T),
            [one[0] for one in before + after],
            np.frombuffer(pool, dtype=np.uint8),
            np.array(texts, dtype=np.int64).reshape(-1, 4),
            np.array(limits, dtype=np.int64),
            any(table_map.columns[column].real_type in UNMEASURED for column, *_ in before + after),
        )

    def _steps(self, body: Any, table_map: Any) -> tuple[list[Any], list[Any]] | None:
        """Column, kind, size, prefix and detail of the values of both images; None if not to be had."""
        if body.is_partial_update or not table_map.has_known_columns:
            return None
        if body.number_of_columns.value != table_map.number_of_columns.value:
            return None
        try:
            columns = Schema.of(table_map, is_mariadb=self.is_mariadb).columns
        except BinlogError:
            return None
        every = [self._step(column) for column in columns]
        present = [one.is_present for one in body.columns.columns]
        after = [one.is_present for one in body.columns_after.columns] if body.is_update else present
        first = [] if body.is_write else _present(every, present)
        second = _present(every, after) if body.is_write or body.is_update else []
        if None in first or None in second or not (first or second):
            return None
        return first, second

    def _step(self, column: Column) -> tuple[int, int, int, int, int] | None:
        width = width_of(column)
        if width is None or column.type not in self.style.texts:
            return None
        kind = _KINDS.get(column.type, kernels.OTHER)
        detail = _detail(kind, column)
        # The kernel trusts these numbers; what no server writes goes the slow way.
        if kind == kernels.BITS:
            is_usual = 0 < detail <= 8 * width.fixed and column.length == width.fixed
        elif kind == kernels.DECIMAL:
            is_usual = (detail & 0xFF) <= _MOST_SCALE and (detail >> 8) <= _MOST_PRECISION
        else:
            is_usual = detail <= _MOST_FRACTION
        return (column.index, kind, width.fixed, width.prefix, detail) if is_usual else None

    def _print(self, event: Event, head: Head, program: _Program) -> RowsText | None:
        """The text; None where the images do not fit."""
        raw = event.raw
        data = np.frombuffer(raw, dtype=np.uint8)
        start = event.layout.header_length_of(event.type_code) + len(head.content)
        state = np.array([start, 0, -1, 0, 0, 0], dtype=np.int64)
        end = images_end(event)
        if start >= end:
            return None
        pieces = list(self._pieces(event, program, data, end, state))
        if state[4] != kernels.DONE:
            return None
        return RowsText(pieces[0] if len(pieces) == 1 else b"".join(pieces), int(state[5]))

    def _pieces(self, event: Event, program: _Program, data: Any, end: int, state: Any) -> Iterator[bytes]:
        if not len(self._out):
            self._out = np.empty(_ROOM, dtype=np.uint8)
        put_rows, out = kernels.put_rows.compiled, self._out
        while True:
            size = put_rows(
                data,
                end,
                program.images,
                program.limits,
                *program.steps,
                program.pool,
                program.texts,
                program.clauses,
                self._escapes,
                self._scratch,
                state,
                out,
            )
            yield out[:size].tobytes()
            if state[4] == kernels.FULL and size == 0:
                state[4] = kernels.MISFIT
            if state[4] in (kernels.DONE, kernels.MISFIT):
                return
            if state[4] == kernels.STOPPED:
                text = self._cell(event, program, end, state)
                if text is None:
                    state[4] = kernels.MISFIT
                    return
                yield text

    def _cell(self, event: Event, program: _Program, end: int, state: Any) -> bytes | None:
        """The line of one value that the kernel leaves out; None where it cannot be read."""
        step, place = int(state[2]), int(state[0])
        _, fixed, prefix, _ = (int(one) for one in program.steps[:, step])
        size = prefix + int.from_bytes(event.raw[place : place + prefix], "little") if prefix else fixed
        index = program.columns[step]
        table_map: Any = event.table_map
        column = table_map.columns[index]
        text: CellText = self.style.texts[column.real_type]
        try:
            value = None
            if column.real_type == ColumnType.json:
                value = self._document(event.raw, place + prefix, place + size)
            if value is None:
                value = text(parse_cell(table_map, index, event.raw[place : place + size]), column)
        except Exception:  # of the grammar, or of generated code on hostile bytes; `rows` tells it
            return None
        front, behind, null, _ = (int(one) for one in program.texts[step])
        state[0], state[2] = place + size, step + 1
        pool = program.pool
        return bytes(pool[front:behind]) + value + bytes(pool[behind:null])

    def _document(self, raw: bytes, start: int, end: int) -> bytes | None:
        """A JSON document as `cells` prints it; None for what the kernel leaves out."""
        room = 2 * (end - start) + (1 << 12)
        data = np.frombuffer(raw, dtype=np.uint8)
        while start < end:
            if room > len(self._documents):
                self._documents = np.empty(room, dtype=np.uint8)
            size = put_document.compiled(data, start, end, self._documents, 0, self._stack)
            if size != NO_ROOM:
                break
            room = 2 * len(self._documents)
        if start >= end or size < 0:
            return None
        return json_cell(self._documents[:size].tobytes().decode())


def _detail(kind: int, column: Column) -> int:
    """What else a kind takes, see `put_rows`."""
    if kind == kernels.DECIMAL:
        return (column.precision or 0) << 8 | (column.scale or 0)
    if kind == kernels.BITS:
        return (column.bits or 0) if column.type == ColumnType.bit else 8 * column.length
    return column.fractional_digits


def _present(steps: list[Any], bits: list[bool]) -> list[Any]:
    return [step for step, is_there in zip(steps, bits, strict=True) if is_there]
