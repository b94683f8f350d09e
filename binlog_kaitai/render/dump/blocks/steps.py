"""The steps of a block's events: each depends on its shape and on the state after the previous one.

The printer prints one event for each combination of shape and state (`capture`); a table stores the results,
and a kernel follows them from event to event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.line_arrays import Program
from binlog_kaitai.render.dump.blocks.capture import NOTHING, Step, UnfitError, capture
from binlog_kaitai.render.dump.blocks.columns import Lines
from binlog_kaitai.render.dump.blocks.plan import Acts
from binlog_kaitai.render.dump.blocks.row_events import RowsEvents
from binlog_kaitai.render.dump.blocks.shapes import Shapes
from binlog_kaitai.render.dump.item import Item, item_of
from binlog_kaitai.render.dump.output import PutItem
from binlog_kaitai.render.dump.printer import UNREADABLE, Printer
from binlog_kaitai.render.dump.row_programs import Programs
from binlog_kaitai.render.dump.state import State
from binlog_kaitai.rows.text.text_steps import follow_steps

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Bools


#: Stand for the number of a step: unknown so far, and an event to be printed individually.
_UNKNOWN, _SINGLE = -1, -2
#: Number of states that are cached.
_MOST = 1 << 10


class Steps:
    """The steps of a block's events.

    Attributes
    ----------
    texts : list of Program
        Text before rows.
    put : callable or None
        Adds the text of a kept event.
    """

    def __init__(
        self,
        printer: Printer,
        lines: Lines,
        shapes: Shapes,
        rows: RowsEvents,
        programs: Programs,
        is_passed: Bools,
    ) -> None:
        self._printer, self._lines, self._shapes = printer, lines, shapes
        self._programs, self._is_passed = programs, is_passed
        self._program_of = np.full(len(lines.block), -1, dtype=np.int64)
        self._program_of[rows.events] = rows.program_of
        self._of = np.zeros(len(lines.block), dtype=np.int64)
        self._steps: list[Step] = []
        self._after = np.zeros(64, dtype=np.int64)
        self.texts: list[Program] = []
        self._text_of: dict[bytes, int] = {}
        self.put: PutItem | None = None
        self._forget()

    def _forget(self) -> None:
        self._states: list[State] = []
        self._numbers: dict[Any, int] = {}
        self._table = np.full((8, max(1, self._shapes.count)), _UNKNOWN, dtype=np.int64)

    def _number(self, state: State) -> int:
        key = state.key()
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append(state)
            if len(self._states) > len(self._table):
                self._table = np.concatenate((self._table, np.full_like(self._table, _UNKNOWN)))
        return self._numbers[key]

    def leave_out(self, event: int) -> None:
        """Have an event printed individually."""
        self._shapes.numbers[event] = self._shapes.alone[event] = -1

    def walk(self, at: int, stop: int) -> int:
        """Find the steps of the events from one on, as far as possible; the printer is unchanged."""
        printer, shapes = self._printer, self._shapes
        if len(self._states) >= _MOST:
            self._forget()
        before = printer.state
        # The text after a payload was printed before the stretch begins.
        alone, shape = int(shapes.alone[at]), int(shapes.numbers[at])
        if alone < 0:
            return at
        shapes.numbers[at] = alone
        state, end = self._number(before.copy()), at
        try:
            while True:
                following = follow_steps.run
                limits = end, stop, state, self._table, self._after, self._of
                end = int(following(shapes.numbers, *limits))
                if end == stop or shapes.numbers[end] < 0 or len(self._states) >= _MOST:
                    return end
                if end > at:
                    state = self._steps[self._of[end - 1]].state
                number = int(shapes.numbers[end])
                if self._table[state, number] == _SINGLE:
                    return end
                self._table[state, number] = self._add(state, end, number)
        finally:
            printer.state = before
            shapes.numbers[at] = shape

    def _add(self, state: int, event: int, shape: int) -> int:
        """Print an event; returns the number of its step."""
        printer = self._printer
        printer.state = self._states[state].copy()
        try:
            found = capture(
                printer,
                self._lines,
                self.item(event),
                is_measured=self._is_measured(event),
                is_passed=bool(self._is_passed[event]),
                is_after=shape != self._shapes.alone[event],
            )
            after = self._number(printer.state)
            step = found.step(self._extra(b"".join(found.tail)), after)
        except (BinlogError, UnfitError, *UNREADABLE):
            return _SINGLE  # printed individually, it reports the error
        self.put = found.put or self.put
        self._steps.append(step)
        if len(self._steps) > len(self._after):
            self._after = np.concatenate((self._after, np.zeros_like(self._after)))
        self._after[len(self._steps) - 1] = after
        return len(self._steps) - 1

    def _is_measured(self, event: int) -> bool:
        program = int(self._program_of[event])
        return program >= 0 and not self._programs[program].has_unmeasured

    def _extra(self, text: bytes) -> int:
        if not text:
            return NOTHING
        if text not in self._text_of:
            self._text_of[text] = len(self.texts)
            self.texts.append(Program(self._lines.pool).text(text))
        return self._text_of[text]

    def item(self, event: int) -> Item:
        """An event in the form the printer takes."""
        block, program = self._lines.block, int(self._program_of[event])
        table_map = self._programs[program].table_map if program >= 0 else None
        status = "ok" if block.layout.is_checksummed else "none"
        return item_of(block.event(event, table_map, status))

    def acts(self, begin: int, end: int) -> Acts:
        """The effects of the events in the walk."""
        columns = np.array(self._steps, dtype=np.int64).T
        acts = Acts(*(column[self._of[begin:end]] for column in columns))
        flags = ("flushes", "ends", "has_body", "counts", "takes_kept")
        return acts._replace(**{name: getattr(acts, name).astype(np.bool_) for name in flags})

    def state_after(self, event: int) -> State:
        """The state after an event in the walk."""
        step = self._steps[int(self._of[event])]
        return self._states[step.state].copy()
