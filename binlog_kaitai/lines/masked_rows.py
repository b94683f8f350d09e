"""Masks of rows as lines of text: the values that a form writes, and the columns that it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.lines.row_programs import Cell, ValueStyle, json_bytes
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import build_some, plain_value
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.row_masks import Masks, Method, Treatment
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text import listed_values as kinds
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column, Schema


class MaskedRows:
    """What masks make of the rows of a form.

    `seen`: the tables with rows.
    Its methods raise `UsageError` like `Masks.treatments`.
    """

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        self.seen = set[str]()

    def __bool__(self) -> bool:
        return bool(self.masks)

    def style_of(self, style: ValueStyle, schema: Schema) -> ValueStyle:
        """The format of values of a table."""
        self.seen.add(schema.full_name)
        masked = {
            name: how for name, how in self.masks.treatments(schema).items() if how.method is not Method.KEPT
        }
        values = style.dialect, style.null, style.longest, style.shortens
        return _MaskedStyle(*values, plain=style, masks=self.masks, treatments=masked)

    def left_out(self, schema: Schema) -> set[str]:
        """The names of the columns of a table that are left out."""
        treatments = self.masks.treatments(schema).items()
        return {name for name, treatment in treatments if treatment.method is Method.LEFT_OUT}


@dataclass(frozen=True, kw_only=True)
class _MaskedStyle(ValueStyle):
    """Values of a table with masked columns, which are decoded by Arrow and never by a kernel.

    `plain`: the style of the other columns.
    `treatments`: those of the masked columns, by their names.
    """

    plain: ValueStyle
    masks: Masks
    treatments: dict[str, Treatment]

    def cell(self, table: Table, column: Column) -> Cell:
        cell = self.plain.cell(table, column)
        is_masked = column.name in self.treatments
        return Cell(kinds.OTHER, cell.size, cell.prefix) if is_masked else cell

    def text(self, value: Value, column: Column) -> bytes:
        if column.name not in self.treatments:
            return self.plain.text(value, column)
        kind = arrow_type(column)
        return self._texts(pa.array([plain_value(value, column, kind)], kind), column)[0]

    def result_text(self, result: object, column: Column | None) -> bytes:
        if isinstance(result, dict):
            kept = {name: field for name, field in result.items() if name not in self.treatments}
            return self.plain.result_text(kept, column)
        return super().result_text(result, column)

    def left_texts(self, cells: Cells, rows: Ints, kind: int) -> list[bytes]:
        if cells.column.name not in self.treatments:
            return self.plain.left_texts(cells, rows, kind)
        return self._texts(build_some(cells, rows), cells.column)

    def long_text(self, cells: Cells, row: int) -> bytes | None:
        return None if cells.column.name in self.treatments else self.plain.long_text(cells, row)

    def _texts(self, values: pa.Array, column: Column) -> list[bytes]:
        masked = self.masks.masked(
            values, self.treatments[column.name], f"column {column.name}: "
        ).to_pylist()
        return [
            self.plain.text(value, column) if isinstance(value, bytes) else self.of_json(json_bytes(value))
            for value in masked
        ]
