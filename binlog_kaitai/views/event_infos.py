"""The main fields of each event as JSON, from columns where its record layout includes them.

`core.event_types` lists the main fields. If a layout does not include one of them, or an event does not match
its layout, the event reader decodes the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.event_types import INFO_FIELDS, InfoField
from binlog_kaitai.core.grammar import ENUMS, ROWS_TYPES, EventType
from binlog_kaitai.core.info import info_of, plain
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.line_arrays import Column, Pool, Program, json_text, text_of
from binlog_kaitai.rows.event_filters import Selection
from binlog_kaitai.rows.table_maps import TableMaps, decode

#: The fields that schema and table filters test.
_NAMES = ("schema_name", "table_name")

_OF_TABLE_MAP = "table_map."


class Infos:
    """Programs that write the main fields of the events of a block.

    Parameters
    ----------
    wanted : bool array
        The events to write; events that `selection` rejects by name are removed.
    fail
        Called with the number and the error of an event that cannot be decoded.

    Attributes
    ----------
    programs : list of Program
        Created by `new_program`, with the object of main fields appended.
    program_of, row_of : int64 arrays
        For each event of the block, its program and its row in that program.
    """

    def __init__(
        self,
        block: Block,
        pool: Pool,
        tables: TableMaps,
        wanted: NDArray[np.bool_],
        selection: Selection,
        validator: BodyValidator,
        new_program: Callable[[], Program],
        fail: Callable[[int, BinlogError], object],
    ) -> None:
        self._block, self._pool, self._tables = block, pool, tables
        self._selection, self._new_program, self._fail = selection, new_program, fail
        self._validator = validator
        self.programs: list[Program] = []
        self._program_of_kind = np.zeros(256, dtype=np.int64)
        leftover = [self._add_kind(kind, wanted) for kind in block.kinds]
        # NumPy indexes slowly with integers that are not 64 bits wide.
        self.program_of = self._program_of_kind.take(block.types.astype(np.int64))
        self.row_of = block.ranks
        self._add_by_reader(np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *leftover])), wanted)

    def _add_kind(self, kind: int, wanted: Bools) -> Any:
        """Add the events of one type; returns those left to the event reader."""
        block = self._block
        rows = block.rows_of(kind)
        is_wanted = wanted.take(rows)
        if not is_wanted.any():
            return rows[:0]
        fields = INFO_FIELDS.get(kind, ())
        columns = [self._column(kind, field) for field in fields]
        if block.is_special or None in columns:
            return rows[is_wanted]
        program = self._new_program().text("{")
        for number, (field, column) in enumerate(zip(fields, columns, strict=True)):
            program.text(f'{"," if number else ""}"{field.name}":')
            assert column is not None
            program.column(column)
        self._program_of_kind[kind] = len(self.programs)
        self.programs.append(program.text("}"))
        matches = block.body(kind).matches & self._validator.accepts(block, kind, is_wanted)
        if self._selection.has_names:
            by_name = {field.name: column for field, column in zip(fields, columns, strict=True)}
            self._strike_out(rows, matches, by_name, wanted)
        return rows[is_wanted & ~matches]

    def _strike_out(
        self, rows: Ints, matches: Bools, columns: dict[str, Column | None], wanted: Bools
    ) -> None:
        """Remove the events whose schema or table does not match."""
        for index in np.flatnonzero(wanted[rows] & matches).tolist():
            names = [self._text(columns.get(name), index) for name in _NAMES]
            wanted[rows[index]] = self._selection.takes_names(*names)

    def _text(self, column: Column | None, row: int) -> str | None:
        return None if column is None else text_of(self._block.data, self._pool, column, row)

    def _column(self, kind: int, field: InfoField) -> Column | None:
        """The values of a field, or None if the layout does not include it."""
        body, pool = self._block.body(kind), self._pool
        if field.path.startswith(_OF_TABLE_MAP) and kind in ROWS_TYPES and "table_id.value" in body:
            return self._tables.column(kind, field.path.removeprefix(_OF_TABLE_MAP))
        if kind == EventType.table_map_event and field.path in _NAMES:
            own = self._tables.own_names(field.path)
            if own is not None:
                return own
        if field.is_function or field.path not in body:
            return None
        where, mask = body.field(field.path), body.presence(field.path)
        kind_of_field = type(where).__name__
        if kind_of_field in ("Number", "Value"):
            enum = getattr(where, "enum", None)
            only = body.only(field.path)
            if only is not None:
                text = json_text(only if enum is None else ENUMS[enum].get(int(only), only))
                return pool.same(text, len(body.matches))
            values = body.numbers(field.path)
            return pool.numbers(values, mask) if enum is None else self._names(values, ENUMS[enum], mask)
        starts, lengths = body.ranges(field.path)
        if field.is_length:
            return pool.numbers(lengths, mask)
        if kind_of_field == "Run" and where.encoding is None:
            if where.is_structure or where.item is not None:
                return None
            mask = body.mask(field.path)
            return pool.verbatim([json_text(value) for value in self._bytes(starts, lengths, mask)])
        return pool.strings(self._block.data, starts, lengths, decode, mask)

    def _bytes(self, starts: Ints, lengths: Ints, mask: Bools) -> Iterator[object]:
        """Bytes in the format of listings, for each event that has them."""
        for start, length, is_there in zip(starts.tolist(), lengths.tolist(), mask.tolist(), strict=True):
            yield plain(bytes(self._block.data[start : start + length])) if is_there else None

    def _names(self, values: Ints, names: dict[int, str], mask: Any) -> Column:
        distinct, codes = np.unique(values, return_inverse=True)
        texts = [json_text(names.get(value, value)) for value in distinct.tolist()]
        return self._pool.choice(codes.reshape(-1), texts, mask)

    def _add_by_reader(self, rows: Ints, wanted: Bools) -> None:
        if not len(rows):
            return
        texts = []
        for row in rows.tolist():
            try:
                info: dict[str, Any] = info_of(self._parsed(row))
                texts.append(json_text(info))
                wanted[row] = self._selection.takes_names(*(info.get(name) for name in _NAMES))
            except BinlogError as error:
                texts.append(b"null")
                self._fail(row, self._block.event(row).locate(error))
        self.program_of[rows], self.row_of = len(self.programs), self.row_of.copy()
        self.row_of[rows] = np.arange(len(rows))
        self.programs.append(self._new_program().column(self._pool.verbatim(texts)))

    def _parsed(self, row: int) -> Any:
        block = self._block
        kind = int(block.types[row])
        table_map = None
        if kind in ROWS_TYPES:
            table_id = int(block.body(kind).numbers("table_id.value")[block.ranks[row]])
            table_map = self._tables.table_map(row, table_id)
        return block.event(row, table_map).parsed
