"""Prints the rows of single events fast, with the kernel of `columns.text.printed_rows`.

Strategy
--------
1. Rows events of one table begin with the same bytes: table ID, flags, columns. The grammar parses each such
   header once (`row_programs.RowsHeader`) and reuses it for events that begin with the same bytes.
2. For a header and a table map, a program describes the text around each value, and how the value is printed.
3. The kernel writes the text. The functions of `cells` format values of rare types; rows that contradict
   their
   table map go to `row_comments`, whose errors name the position.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.render.dump.jobs import KERNELS_FROM, Jobs, MismatchError
from binlog_kaitai.render.dump.row_comments import RowsText, Style, counted_rows, rows_text
from binlog_kaitai.render.dump.row_programs import MOST, Programs, RowsHeader, images_end
from binlog_kaitai.rows.text.text_jobs import COUNT, ROWS

if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import TableMapEvent


#: The cost of printing an event without the kernel, in bytes that the kernel could print.
_CALL = 1 << 12
_NOTHING = np.zeros(0, dtype=np.uint8)


class _Written(NamedTuple):
    """The text of rows in pieces, and their number."""

    pieces: Iterable[bytes]
    rows: int


class QuickRows:
    """Prints the rows of events.

    Parameters
    ----------
    style
        How to print; its formatting of values matches the kernel's.
    is_mariadb
        Selects the client whose escapes are used.
    """

    def __init__(self, style: Style, *, is_mariadb: bool) -> None:
        self.style = style
        self.programs = Programs(style, is_mariadb=is_mariadb)
        self.jobs = Jobs(self.programs)
        self._tables: dict[int, tuple[Any, bytes]] = {}
        self._work = 0

    def note_table(self, event: Event) -> None:
        """Register a table map."""
        start = event.layout.header_length_of(event.type_code)
        self.note(event.body, event.raw[start : images_end(event)])

    def note(self, body: TableMapEvent, content: bytes) -> None:
        """Register the body of a table map, and its bytes."""
        if len(self._tables) >= MOST:
            self._tables.clear()
        self._tables[body.table_id.value] = body, content

    def content_of(self, body: TableMapEvent) -> tuple[Any, bytes | None]:
        """A table map, with its bytes if they are known."""
        noted, content = self._tables.get(body.table_id.value, (None, b""))
        return body, content if noted is body else None

    def text(self, event: Event, rows_header: RowsHeader | None, name: bytes | None = None) -> RowsText:
        """The rows of an event; raises as :func:`rows_text`."""
        found = self._written(event, rows_header, name)
        if found is None:
            return rows_text(event, self.style, name)
        return RowsText(b"".join(found.pieces), found.rows)

    def pieces(
        self, event: Event, rows_header: RowsHeader | None, name: bytes | None = None
    ) -> tuple[Iterable[bytes], int]:
        """The rows of an event in pieces, to be used before the next call, and their number."""
        found = self._written(event, rows_header, name)
        if found is None:
            text = rows_text(event, self.style, name)
            return (text.text,), text.rows
        return found

    def _written(self, event: Event, rows_header: RowsHeader | None, name: bytes | None) -> _Written | None:
        """The rows as written by the kernel; None if `rows_text` must write them."""
        if rows_header is None:
            return None
        self._work += 4 * len(event.raw) + _CALL
        program = self._program(event, rows_header, name) if self._work >= KERNELS_FROM else -1
        return None if program < 0 else self._run(ROWS, event, rows_header, program)

    def count(self, event: Event, rows_header: RowsHeader | None) -> int:
        """How many rows `mariadb-binlog` counts in an event whose rows it does not print."""
        program = (
            -1
            if rows_header is None or self._work < KERNELS_FROM
            else self._program(event, rows_header, None)
        )
        self._work += 4 * len(event.raw) + _CALL
        if rows_header is None or program < 0 or self.programs[program].has_unmeasured:
            return counted_rows(event)
        found = self._run(COUNT, event, rows_header, program)
        return counted_rows(event) if found is None else found.rows

    def _program(self, event: Event, rows_header: RowsHeader, name: bytes | None) -> int:
        body, content = (None, None) if event.table_map is None else self.content_of(event.table_map)
        if content is None:
            return -1
        self.programs.begin()
        return self.programs.number_of(rows_header, body, content, name)

    def _run(self, kind: int, event: Event, rows_header: RowsHeader, program: int) -> _Written | None:
        """The text; None if the images contradict the table map."""
        start = event.layout.header_length_of(event.type_code) + len(rows_header.content)
        jobs = np.array([[kind, start, images_end(event), program, 0]], dtype=np.int64)
        data = np.frombuffer(event.raw, dtype=np.uint8)
        rows, self.jobs.rows = self.jobs.rows, 0
        try:
            pieces = self.jobs.run(data, _NOTHING, jobs)
            first = next(pieces)  # after which all rows are known to be valid
            return _Written(chain((first,), pieces), self.jobs.rows)
        except MismatchError:
            return None
        finally:
            self.jobs.rows = rows
