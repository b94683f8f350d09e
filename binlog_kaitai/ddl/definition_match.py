"""Checks a definition against a table map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from binlog_kaitai.core.grammar import YearBits
from binlog_kaitai.values.column_kinds import Kind, sql_type, type_name
from binlog_kaitai.values.table_definition import ColumnDefinition, Columns, TableDefinition, hidden_column

if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import TableMapEvent
    from binlog_kaitai.values.schema import Schema


#: A precision or scale in digits; servers allow at most 65.
_SMALL = re.compile(r"[0-9]{1,9}")


#: The hidden key that Aliyun's RDS and PolarDB add as the last column of tables without a primary key.
IMPLICIT_KEY = "__#alibaba_rds_row_id#__"


class DefinitionMismatch(NamedTuple):
    """A definition that a table map contradicts; the table's columns remain unnamed.

    `file`, `position`: location of the table map event; None if the caller did not give it.
    """

    schema_name: str
    table_name: str
    reason: str
    file: str | None = None
    position: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}, position {self.position}: " if self.file is not None else ""
        return f"{place}table {self.schema_name}.{self.table_name}: {self.reason}"


def fitted(table: TableDefinition, table_map: TableMapEvent) -> TableDefinition | str:
    """The definition with the hidden columns of the table map, or the mismatch.

    `table_map`: body of a table map event.
    """
    types = table_map.column_types
    if table_map.columns is not None:
        types = [column.real_type for column in table_map.columns]
    columns = _with_hidden(table, types)
    if len(types) != len(columns):
        counts = f"the log has {len(types)} columns, the definition has {len(table.columns)}"
        return f"{counts} (was the table altered since?)"
    if columns is not table.columns:
        table = replace(table, columns=Columns(columns))
    details: Sequence[TableMapEvent.Column | None] = table_map.columns or [None] * len(types)
    for number, (column, logged, detail) in enumerate(zip(table.columns, types, details, strict=True), 1):
        known = sql_type(column.base_type).logged
        defined = f"column {number}, {column.name}, is {column.type_name} in the definition, in the log it"
        if known and logged not in known:
            return f"{defined} is {type_name(logged)}"
        if detail is not None and (reason := _difference(column, detail)):
            return f"{defined} has {reason}"
    if not _agrees_on_signs(table, table_map):
        return "the numbers after its YEAR columns have other signs in the log"
    return table


def _with_hidden(table: TableDefinition, types: Sequence[int]) -> tuple[ColumnDefinition, ...]:
    """The columns with those that the server may have added on its own, if that explains the difference."""
    more = types[len(table.columns) :]
    is_added = bool(more) and set(more).issubset(sql_type("bigint").logged)
    if more and len(more) == len(table.hidden_columns):
        is_placed = all(hidden.is_placed for hidden in table.hidden_columns)
        return table.all_columns if is_placed else _arranged(table, types)
    if is_added and len(more) <= table.unique_keys:
        hashes = (hidden_column(f"DB_ROW_HASH_{number}") for number in range(1, len(more) + 1))
        return (*table.columns, *hashes)
    if is_added and len(more) == 1 and all(column.is_primary_key is False for column in table.columns):
        return (*table.columns, hidden_column(IMPLICIT_KEY))
    return table.columns


def with_unplaced(table: TableDefinition) -> TableDefinition:
    """A table from a file of definitions, which does not show where hidden columns are."""
    return replace(
        table, hidden_columns=tuple(hidden._replace(is_placed=False) for hidden in table.hidden_columns)
    )


def _arranged(table: TableDefinition, types: Sequence[int]) -> tuple[ColumnDefinition, ...]:
    """The columns with the hidden ones, if the types leave only one arrangement; else without."""
    known = [sql_type(column.base_type).logged for column in table.columns]
    first = _first_matching(known, types)
    last = [len(types) - 1 - number for number in reversed(_first_matching(known[::-1], types[::-1]))]
    if first != last:
        return table.columns
    columns = dict(zip(first, table.columns, strict=True))
    hidden = iter(table.hidden_columns)
    return tuple(columns.get(number) or next(hidden).definition for number in range(len(types)))


def _first_matching(known: Sequence[tuple[int, ...]], types: Sequence[int]) -> list[int]:
    """For each column, the first type in the log that may be its type, after that of the column before."""
    numbers: list[int] = []
    number = 0
    for possible in known:
        while number < len(types) and possible and types[number] not in possible:
            number += 1
        numbers.append(number)
        number += 1
    return numbers


def _difference(column: ColumnDefinition, detail: TableMapEvent.Column) -> str:
    """How the table map contradicts the definition of a column; empty if it does not."""
    if detail.has_signedness and column.is_unsigned is not None and detail.is_unsigned != column.is_unsigned:
        return "the opposite sign"
    if detail.name is not None and detail.name.casefold() != column.key:
        return f"the name {detail.name}"
    digits = (getattr(detail.metadata, "precision", None), getattr(detail.metadata, "scale", None))
    if column.base_type == "decimal" and None not in digits and digits != decimal_digits(column.arguments):
        return f"{digits[0]} digits, {digits[1]} after the decimal point"
    longest = getattr(detail.metadata, "max_length", None)  # of MariaDB's VECTOR, a VARBINARY in the log
    if column.base_type == "vector" and longest is not None and (f"{longest / 4:g}",) != column.arguments:
        return f"up to {longest} bytes"
    return ""


def _agrees_on_signs(table: TableDefinition, table_map: TableMapEvent) -> bool:
    """Whether the log has these signs with bits for YEAR columns, or without, if it may be either."""
    if table_map.year_bits != YearBits.undetermined or not table_map.has_signedness:
        return True
    signs = [
        (column.is_unsigned, logged.is_unsigned_with_years, logged.is_unsigned_without_years)
        for column, logged in zip(table.columns, table_map.columns or (), strict=True)
        if logged.is_number and column.is_unsigned is not None
    ]
    return any(all(defined == logged[reading] for defined, *logged in signs) for reading in (0, 1))


def unknown_signs(schema: Schema, table_map: TableMapEvent) -> str:
    """Which integers may be unsigned although the log has signs, as a sentence; empty if none.

    `schema`: the columns by the table map and a definition, if there is one.
    """
    columns = [
        column.name for column in schema.columns if column.kind == Kind.INTEGER and column.is_unsigned is None
    ]
    if not (columns and table_map.has_signedness):
        return ""
    return (
        f"the log does not show whether {', '.join(columns)} is unsigned, because some servers of its version"
        " count YEAR columns and others may not; signed numbers are assumed (definitions show it: --ddl)"
    )


def decimal_digits(arguments: Sequence[str]) -> tuple[int, int]:
    """Precision and scale of DECIMAL with these arguments."""
    digits = [int(text) if _SMALL.fullmatch(text) else -1 for text in arguments]
    return (digits[0] or 10 if digits else 10, digits[1] if len(digits) > 1 else 0)
