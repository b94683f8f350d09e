"""Checks row images against their table maps, and values against their column types.

Strategy
--------
1. Events of the same table are processed together. The walk finds those whose images do not match.
2. For most types, any bytes are a valid value. Only columns of other types are decoded, by the kernels that
   `read_changes` uses.
3. Values that the kernels cannot decode are passed to the event reader, whose error is the one that `rows`
   reports.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import BinlogError, DefinitionWarning
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.log.event_rows import rows_of
from binlog_kaitai.log.groups import distinct
from binlog_kaitai.rows.builders import build_all
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import Found, MismatchError, walk
from binlog_kaitai.rows.row_counts import UNKNOWN, walked_counts
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table, Tables, located_error
from binlog_kaitai.values.column_kinds import INTEGER_TYPES, STRING_TYPES
from binlog_kaitai.values.schema import Column

#: Rows decoded at a time, few enough for their values to fit into the processor's cache.
_MAX_ROWS = 1 << 14

#: Types for which any bytes are valid, once the walk has found their length.
_ANY_BYTES = frozenset(
    (
        ColumnType.null,
        *INTEGER_TYPES,
        ColumnType.float,
        ColumnType.double,
        ColumnType.bit,
        ColumnType.year,
        ColumnType.date,
        ColumnType.newdate,
        *STRING_TYPES,
        ColumnType.geometry,
    )
)
_CHOICES = frozenset((ColumnType.enum, ColumnType.set))


class RowImages:
    """Checks the rows events of a log, block by block.

    Parameters
    ----------
    definitions
        Table definitions before the first event of the log; updated by its statements.
    """

    def __init__(self, definitions: Definitions) -> None:
        self._tables = Tables(definitions)

    def check(self, block: Block, wanted: Any) -> Iterator[BinlogError]:
        """Errors in the rows of the selected events (a bool array) of a block, table by table."""
        with warnings.catch_warnings():
            # A definition that does not match is not damage.
            warnings.simplefilter("ignore", DefinitionWarning)
            images = Images(block, self._tables)
        chosen = np.flatnonzero(wanted[images.rows])
        first, which = distinct(images.table_of[chosen])
        for number, one in enumerate(chosen[first].tolist()):
            table = images.table(one)
            for index, error in _suspects(images, table, chosen[which == number]):
                if (found := _check_values(images, index, table, error)) is not None:
                    yield found


def _suspects(
    images: Images, table: Table | BinlogError | None, events: Any
) -> Iterator[tuple[int, CellError | None]]:
    """The events that the kernels reject, with the error of a value."""
    if not isinstance(table, Table) or table.widths is None:
        yield from ((index, None) for index in events.tolist())
        return
    columns = table.memory.setdefault("checked columns", list(filter(_is_checked, table.schema.columns)))
    for chosen, is_walked in images.divided(events):
        if not is_walked:
            yield from ((index, None) for index in chosen.tolist())
        elif not columns:
            counts = walked_counts(images, chosen, table)
            yield from ((index, None) for index in chosen[counts == UNKNOWN].tolist())
        else:
            yield from _undecoded(images, table, columns, chosen)


def _is_checked(column: Column) -> bool:
    return column.type not in _ANY_BYTES and (column.type not in _CHOICES or column.members is not None)


def _undecoded(
    images: Images, table: Table, columns: list[Column], chosen: Any
) -> Iterator[tuple[int, CellError | None]]:
    last = -1  # the rows of a long event come in several portions
    while len(chosen):
        try:
            for found in walk(images, chosen, len(table.schema.columns), _MAX_ROWS):
                for index, error in _wrong_values(table, columns, found):
                    if index != last:
                        yield index, error
                    last = index
            return
        except MismatchError as mismatch:
            if mismatch.index != last:
                yield mismatch.index, None
            chosen = chosen[chosen > mismatch.index]


def _wrong_values(
    table: Table, columns: list[Column], found: Found
) -> Iterator[tuple[int, CellError | None]]:
    """The events with values that cannot be decoded, found by bisection."""
    try:
        for _ in build_all([Cells.of(table, column, found) for column in columns]):
            pass
    except CellError as error:
        first, last = int(found.events[0]), int(found.events[-1])
        if first == last:
            yield first, error
            return
        limits = np.flatnonzero(np.diff(found.events)) + 1
        middle = int(limits[len(limits) // 2])
        yield from _wrong_values(table, columns, found.part(0, middle))
        yield from _wrong_values(table, columns, found.part(middle, len(found.events)))


def _check_values(
    images: Images, index: int, table: Table | BinlogError | None, cell: CellError | None
) -> BinlogError | None:
    """The event reader's error for an event, or the kernels' error if the reader decodes all of it."""
    own_map = table.table_map if isinstance(table, Table) else None
    event: Event = images.block.event(int(images.rows[index]), own_map)
    if isinstance(table, BinlogError):
        # A table map that violates the grammar is reported as damage of its own.
        return located_error(table, event) if table.position is None else None
    try:
        for _ in rows_of(event, table.schema if table else None):
            pass
    except BinlogError as error:
        return error
    return None if cell is None else event.locate(cell.error)
