"""Captures what an event prints, as line programs for all events that print the same from the same state."""

from __future__ import annotations

from typing import Any, NamedTuple

from binlog_kaitai.log.line_arrays import Field, Program
from binlog_kaitai.render.dump.blocks.columns import Columns, Lines
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.output import PutItem
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.rows.text.text_jobs import COUNT, ROWS

#: Stands for the number of a program: no text.
NOTHING = -1


class UnfitError(Exception):
    """The output of an event cannot be described for a whole block."""


class Step(NamedTuple):
    """The effect of one event.

    Attributes
    ----------
    now, head, kept : int
        Programs for the text written immediately, for its lines, and for the text printed with another event.
    flushes, ends : bool
        Whether it flushes the lines, and whether it ends its statement.
    has_body : bool
        Whether it is part of the BINLOG statement.
    rows : int
        The kind of job for its rows; NOTHING for none.
    extra : int
        Number of the text before its rows.
    counts : bool
        Whether the row count of the statement follows.
    takes_kept : bool
        Whether the kept event is printed with it.
    state : int
        Number of the state after it.
    """

    now: int
    head: int
    kept: int
    flushes: bool
    ends: bool
    has_body: bool
    rows: int
    extra: int
    counts: bool
    takes_kept: bool
    state: int


class _Fields:
    """The columns of a type, and the fields that are constant for all events of a shape."""

    def __init__(self, columns: Columns, constants: dict[bytes, Any]) -> None:
        self._columns, self._constants = columns, constants

    def __getitem__(self, name: str) -> Field:
        found = self._constants.get(name.encode())
        if found is None:
            return self._columns[name]
        return found if isinstance(found, bytes) else b"%d" % found


class _Line:
    """Records pieces of text, with the interface of `output.Texts`."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._program: Program | None = None
        self.is_flushed = True

    @property
    def number(self) -> int:
        """The number of its program."""
        return NOTHING if self._program is None else self._lines.number(self._program)

    def append(self, text: bytes) -> None:
        if text:
            self._started().text(text)

    def fill(self, template: bytes, item: Item, constants: dict[bytes, Any] | None = None) -> None:
        if template:
            fields: Any = _Fields(self._lines.columns(item.kind), constants or {})
            self._started().fill(template, fields)

    def hexdump(self, item: Item) -> None:
        if self._lines.hexdumps is not None:
            self._started().column(self._lines.hexdumps)

    def _started(self) -> Program:
        self.is_flushed = False
        if self._program is None:
            self._program = Program(self._lines.pool)
        return self._program


class Capture:
    """Records the output of a printer for one event, with the interface of `output.Output`."""

    def __init__(self, lines: Lines, *, is_measured: bool) -> None:
        self._lines, self._is_measured = lines, is_measured
        self.now, self.head = _Line(lines), _Line(lines)
        self.tail: list[bytes] = []
        self.put: PutItem | None = None
        self._kept = NOTHING
        self._flushes = self._ends = self._has_body = self._counts = self._takes_kept = False
        self._rows = NOTHING

    def flush(self) -> None:
        self._flushes = self.head.is_flushed = True

    def hold(self) -> None:
        """Does nothing: lines that are not flushed wait."""

    def add_base64(self, raw: bytes) -> None:
        self._has_body = True

    def add_rows(self, *_: Any) -> None:
        self._rows = ROWS

    def count_rows(self, *_: Any) -> None:
        # The client stops counting after values that it cannot measure.
        if not self._is_measured:
            raise UnfitError
        self._rows = COUNT

    def base64(self, raw: bytes) -> bytes:
        raise UnfitError

    def keep(self, item: Item, put: PutItem) -> None:
        head, self.head = self.head, _Line(self._lines)
        put(item)
        self._kept, self.put = self.head.number, put
        self.head = head

    def put_kept(self, item: Item) -> None:
        self._takes_kept = True

    def end_statement(self, *, shows_count: bool = False, shows_zero: bool = False) -> None:
        if shows_zero:
            raise UnfitError
        self.flush()
        self._ends, self._counts = True, shows_count

    def step(self, extra: int, state: int) -> Step:
        """The complete step."""
        if self._flushes and not self.head.is_flushed:
            raise UnfitError  # earlier lines would be written, but those of the event wait
        return Step(
            self.now.number,
            self.head.number,
            self._kept,
            self._flushes,
            self._ends,
            self._has_body,
            self._rows,
            extra,
            self._counts,
            self._takes_kept,
            state,
        )


def capture(
    printer: Printer, lines: Lines, item: Item, *, is_measured: bool, is_passed: bool, is_after: bool
) -> Capture:
    """Capture the output of a printer for an event.

    Parameters
    ----------
    is_measured
        Whether the lengths of all values in its rows are known.
    is_passed
        Only its position is printed.
    is_after
        It follows the events of a payload.
    """
    made: Any = Capture(lines, is_measured=is_measured)
    out, printer.out = printer.out, made
    try:
        if is_after:
            printer.end_payload()
        if is_passed:
            printer.pass_over(item)
        else:
            printer.take(item)
    finally:
        printer.out = out
    found: Capture = made
    return found
