"""The steps of a block's events: each depends on its shape and on the state after the previous one.

The printer prints one event for each combination of shape and state (:class:`Capture`); a table stores the
results, and a kernel follows them from event to event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar, cast

import numpy as np

from binlog_kaitai.dump.block_columns import BlockColumns
from binlog_kaitai.dump.block_rows import RowsEvents
from binlog_kaitai.dump.dump_kernels import COUNT, ROWS, follow_steps
from binlog_kaitai.dump.dump_output import BINLOG, BINLOG_END, ROW_COUNT, Output, PutItem
from binlog_kaitai.dump.event_shapes import Shapes
from binlog_kaitai.dump.printed_event import BodyColumns, PrintedEvent, item_of
from binlog_kaitai.dump.printer import UNREADABLE, Printer, PrinterState
from binlog_kaitai.dump.selection import HiddenEvents
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.text.line_arrays import Field, LineProgram, TextColumn

#: Stands for the number of a program: no text.
NOTHING = -1


class UnfitError(Exception):
    """The output of an event cannot be described for a whole block."""


_Number = TypeVar("_Number", int, Ints)
_Flag = TypeVar("_Flag", bool, Bools)


class ShapeStep(NamedTuple, Generic[_Number, _Flag]):
    """The effect of one event; or as columns, the effects of the events of a stretch.

    `now`, `head`, `kept`: programs for the text written immediately, for its lines, and for the text printed
    with another event.
    `rows`: the kind of job for its rows; NOTHING for none.
    `extra`: number of the text before its rows.
    `state`: number of the state after it.
    `flushes`, `ends`: whether it flushes the lines, and whether it ends its statement.
    `has_body`: whether it is part of the BINLOG statement.
    `counts`: whether the row count of the statement follows.
    `takes_kept`: whether the kept event is printed with it.
    """

    now: _Number
    head: _Number
    kept: _Number
    rows: _Number
    extra: _Number
    state: _Number
    flushes: _Flag
    ends: _Flag
    has_body: _Flag
    counts: _Flag
    takes_kept: _Flag


StepColumns = ShapeStep[Ints, Bools]
#: How many of the effects are numbers.
_NUMBERS = 6


class _Fields:
    """The columns of a type, and the fields that are constant for all events of a shape."""

    def __init__(self, columns: BodyColumns, constants: dict[bytes, bytes | int]) -> None:
        self._columns, self._constants = columns, constants

    def __getitem__(self, name: str) -> Field:
        constant = self._constants.get(name.encode())
        if constant is None:
            return self._columns[name]
        return constant if isinstance(constant, bytes) else b"%d" % constant


class _Line:
    """Records pieces of text, with the interface of `TextSink`."""

    def __init__(self, lines: BlockColumns) -> None:
        self._lines = lines
        self._program: LineProgram | None = None
        self.is_flushed = True

    @property
    def number(self) -> int:
        """The number of its program."""
        return NOTHING if self._program is None else self._lines.number(self._program)

    def append(self, text: bytes) -> None:
        if text:
            self._started().text(text)

    def fill(
        self, template: bytes, printed: PrintedEvent, constants: dict[bytes, bytes | int] | None = None
    ) -> None:
        if template:
            fields = _Fields(self._lines.columns(printed.kind), constants or {})
            self._started().fill(template, cast("Mapping[str, Field]", fields))

    def column(self, column: TextColumn) -> None:
        self._started().column(column)

    def _started(self) -> LineProgram:
        self.is_flushed = False
        if self._program is None:
            self._program = LineProgram(self._lines.pool)
        return self._program


class Capture:
    """Records the output of a printer for one event, with the interface of `Output`."""

    def __init__(self, lines: BlockColumns) -> None:
        self._lines = lines
        self.now, self.head = _Line(lines), _Line(lines)
        self.tail: list[bytes] = []
        self.put: PutItem | None = None
        self._kept = NOTHING
        self._flushes = self._ends = self._has_body = self._counts = self._takes_kept = False
        self._rows = NOTHING

    def flush(self) -> None:
        self._flushes = self.head.is_flushed = True

    def add_hexdump(self, printed: PrintedEvent) -> None:
        if self._lines.hexdumps is not None:
            self.head.column(self._lines.hexdumps)

    def add_base64(self, raw: bytes) -> None:
        self._has_body = True

    def add_rows(self, *_: object) -> None:
        self._rows = ROWS

    def count_rows(self, *_: object) -> None:
        self._rows = COUNT

    def base64(self, raw: bytes) -> bytes:
        raise UnfitError

    def keep(self, printed: PrintedEvent, put: PutItem) -> None:
        head, self.head = self.head, _Line(self._lines)
        put(printed)
        self._kept, self.put = self.head.number, put
        self.head = head

    def put_kept(self, printed: PrintedEvent) -> None:
        self._takes_kept = True

    def end_statement(self, *, shows_count: bool = False, shows_zero: bool = False) -> None:
        if shows_zero:
            raise UnfitError
        self.flush()
        self._ends, self._counts = True, shows_count

    def step(self, extra: int, state: int) -> ShapeStep[int, bool]:
        """The complete step."""
        if self._flushes and not self.head.is_flushed:
            raise UnfitError  # earlier lines would be written, but those of the event wait
        numbers = self.now.number, self.head.number, self._kept, self._rows, extra, state
        flags = self._flushes, self._ends, self._has_body, self._counts, self._takes_kept
        return ShapeStep(*numbers, *flags)


#: Stand for the number of a step: unknown so far, and an event to be printed individually.
_UNKNOWN, _SINGLE = -1, -2
#: Number of states that are cached.
_MOST_STATES = 1 << 10


class ShapeSteps:
    """The steps of a block's events.

    `texts`: the texts around base64 and before a row count, and those before rows.
    `put`: adds the text of a kept event.
    """

    def __init__(
        self,
        printer: Printer,
        lines: BlockColumns,
        shapes: Shapes,
        rows: RowsEvents,
        left_out: HiddenEvents,
    ) -> None:
        self._printer, self._lines, self._shapes = printer, lines, shapes
        self._rows, self._left_out = rows, left_out
        self._of = np.zeros(len(lines.block), dtype=np.int64)
        self._steps: list[ShapeStep[int, bool]] = []
        self._after = np.zeros(64, dtype=np.int64)
        self._text_of: dict[bytes, int] = {}
        self.texts: list[LineProgram] = []
        for text in (BINLOG, BINLOG_END + printer.delimiter + b"\n", ROW_COUNT):
            self._extra(text)
        self.put: PutItem | None = None
        self._forget()

    def _forget(self) -> None:
        self._states: list[PrinterState] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._table = np.full((8, max(1, self._shapes.count)), _UNKNOWN, dtype=np.int64)

    def _number(self, state: PrinterState) -> int:
        key = state.key()
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append(state)
            if len(self._states) > len(self._table):
                self._table = np.concatenate((self._table, np.full_like(self._table, _UNKNOWN)))
        return self._numbers[key]

    def walk(self, begin: int, stop: int) -> int:
        """Find the steps of the events from one on, as far as possible; the printer is unchanged."""
        printer, shapes = self._printer, self._shapes
        if len(self._states) >= _MOST_STATES:
            self._forget()
        before = printer.state
        # The text after a payload was printed before the stretch begins.
        alone, shape = int(shapes.alone[begin]), int(shapes.numbers[begin])
        if alone < 0:
            return begin
        shapes.numbers[begin] = alone
        state, end = self._number(before.copy()), begin
        try:
            while True:
                following = follow_steps.run
                limits = end, stop, state, self._table, self._after, self._of
                end = int(following(shapes.numbers, *limits))
                if end == stop or shapes.numbers[end] < 0 or len(self._states) >= _MOST_STATES:
                    return end
                if end > begin:
                    state = self._steps[self._of[end - 1]].state
                number = int(shapes.numbers[end])
                if self._table[state, number] == _SINGLE:
                    return end
                self._table[state, number] = self._add(state, end, number)
        finally:
            printer.state = before
            shapes.numbers[begin] = shape

    def _add(self, state: int, event: int, shape: int) -> int:
        """Print an event; returns the number of its step."""
        printer, captured = self._printer, Capture(self._lines)
        printer.state = self._states[state].copy()
        out, printer.out = printer.out, cast(Output, captured)
        try:
            printed = self.printed_event(event)
            if shape != self._shapes.alone[event]:
                printer.end_payload()
            if self._left_out.is_passed[event]:
                printer.pass_over(printed)
            elif not self._left_out.is_hidden[event]:
                printer.take(printed)
            step = captured.step(self._extra(b"".join(captured.tail)), self._number(printer.state))
        except (BinlogError, UnfitError, *UNREADABLE):
            return _SINGLE  # printed individually, it reports the error
        finally:
            printer.out = out
        self.put = captured.put or self.put
        self._steps.append(step)
        if len(self._steps) > len(self._after):
            self._after = np.concatenate((self._after, np.zeros_like(self._after)))
        self._after[len(self._steps) - 1] = step.state
        return len(self._steps) - 1

    def _extra(self, text: bytes) -> int:
        if not text:
            return NOTHING
        if text not in self._text_of:
            self._text_of[text] = len(self.texts)
            self.texts.append(LineProgram(self._lines.pool).text(text))
        return self._text_of[text]

    def leave(self, event: int) -> None:
        """Leave an event to be printed individually."""
        self._shapes.numbers[event] = self._shapes.alone[event] = NOTHING

    def printed_event(self, event: int) -> PrintedEvent:
        """An event in the form the printer takes."""
        block, inside = self._lines.block, self._lines.inside
        status = "ok" if block.layout.is_checksummed else "none"
        printed = item_of(block.event(event, self._rows.table_map_of(event), status))
        if inside.is_inside[event]:
            printed.position = printed.end_position = int(inside.payload_offsets[event])
        return printed

    def acts(self, begin: int, end: int) -> StepColumns:
        """The effects of the events in the walk."""
        columns = [column[self._of[begin:end]] for column in np.array(self._steps, dtype=np.int64).T]
        flags = (column.astype(np.bool_) for column in columns[_NUMBERS:])
        return StepColumns(*columns[:_NUMBERS], *flags)

    def state_after(self, event: int) -> PrinterState:
        """The state after an event in the walk."""
        step = self._steps[int(self._of[event])]
        return self._states[step.state].copy()
