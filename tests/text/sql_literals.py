"""The SQL literals that the kernel writes for the columns of a log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.lines.row_forms import Form, LineWriter
from binlog_kaitai.lines.row_programs import Line, TableLines
from binlog_kaitai.render.sql.change_statements import SqlStyle
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import AFTER, MismatchError, walk
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.sql_text import SqlDialect


class LiteralForm(Form):
    """A line per row with the literal of one column, if the first image has it."""

    def __init__(self, column: int, *, is_exact: bool, is_quoted: bool) -> None:
        self.style = SqlStyle.of(SqlDialect(), is_quoted=is_quoted)
        self._column, self._is_exact = column, is_exact

    def describe(self, table_lines: TableLines, program: ImageProgram) -> list[tuple[int, ...]]:
        line, (before, after) = Line(table_lines, 0), program.columns()
        if self._column in (before if program.which & 1 else after):
            line.value(self._column, is_exact=self._is_exact)
        return line.finish()


class WalkedColumn(NamedTuple):
    """A column of some rows, and its literals; None if one is invalid."""

    cells: Cells
    literals: list[bytes] | None


def walked_columns(path: Path, *, is_exact: bool = False, is_quoted: bool = False) -> Iterator[WalkedColumn]:
    """The columns of the first images, table by table."""
    try:
        for page in RowsPages(path, Filters()):
            for table, events in page.runs():
                if isinstance(table, Table):
                    for rows in walk(page.images, events, len(table.schema.columns)):
                        for column in table.schema.columns:
                            first = rows.select(np.flatnonzero(rows.changes != AFTER))
                            form = LiteralForm(column.index, is_exact=is_exact, is_quoted=is_quoted)
                            try:
                                lines = LineWriter(page, table, events, form).lines(rows)
                            except CellError:
                                yield WalkedColumn(Cells.of(table, column, first), None)
                                continue
                            text = lines.data.tobytes()
                            limits = pairwise([0, *lines.ends.tolist()])
                            literals = [text[begin:end] for begin, end in limits]
                            yield WalkedColumn(Cells.of(table, column, first), literals)
    except (bk.BinlogError, MismatchError):
        return
