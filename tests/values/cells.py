"""One value of one column, from the bytes of a row image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from binlog_kaitai.core.grammar import ColumnType, parse_cell
from binlog_kaitai.values.representations import json_form, text_form, value_of
from binlog_kaitai.values.schema import Column, Schema, set_old_fractions
from tests.grammar.row_bytes import field, table_map


@dataclass(frozen=True)
class Defined:
    """A column of a definition, as DDL has it."""

    type_name: str
    name: str = "a"
    charset: str | None = None
    is_unsigned: bool | None = None
    members: tuple[str, ...] | None = None
    is_primary_key: bool | None = None
    is_visible: bool | None = None
    is_generated: bool | None = None
    is_row_period: bool | None = None
    has_on_update: bool | None = None
    default: str | None = None
    collation: str | None = None
    comment: str = ""


@dataclass(frozen=True)
class _Definition:
    columns: tuple[Defined, ...]


#: All that a schema needs of a `TableDefinition`.
Definition: Any = _Definition


class Cell:
    """A table of one column, and values of it; `optional` are fields of a table map."""

    def __init__(
        self, kind: int, metadata: str = "", optional: bytes = b"", defined: Defined | None = None
    ) -> None:
        self.table_map = table_map([kind], metadata, optional)
        definition = Definition((defined,)) if defined else None
        schema = Schema.of(self.table_map, definition)
        set_old_fractions(self.table_map, schema.old_fractions)
        self.column: Column = schema.columns[0]

    def value(self, data: str | bytes) -> Any:
        raw = bytes.fromhex(data) if isinstance(data, str) else data
        return value_of(parse_cell(self.table_map, 0, raw), self.column)

    def text(self, data: str | bytes) -> str:
        return text_form(self.value(data), self.column)

    def json(self, data: str | bytes) -> Any:
        return json_form(self.value(data), self.column)


__all__ = ["Cell", "ColumnType", "Defined", "Definition", "field"]
