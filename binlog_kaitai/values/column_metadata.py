"""The metadata of each column, combined from the lists of a table map.

A list of the optional metadata has entries only for the columns it applies to. Which columns these are is the
server's rule (sql/log_event.cc, `Table_map_log_event::init_metadata_fields`), not a matter of layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from binlog_kaitai.core.grammar import ColumnType, TableMapEvent, TableMapField

if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import TableMapMetadata


_CHARACTER_TYPES = frozenset(
    (
        ColumnType.string,
        ColumnType.var_string,
        ColumnType.varchar,
        ColumnType.blob,
        ColumnType.vector,
        ColumnType.varchar_compressed,
        ColumnType.blob_compressed,
    )
)

#: The first column of a table whose primary key MySQL generated.
_GENERATED_KEY = "my_row_id"


@dataclass(slots=True)
class ColumnFacts:
    """One column as described by the table map; None for anything it leaves out."""

    index: int
    type: ColumnType | int
    metadata: Any
    is_nullable: bool
    name: str | None = None
    is_unsigned: bool | None = None
    collation_id: int | None = None
    members: tuple[bytes, ...] | None = None
    is_primary_key: bool | None = None
    is_visible: bool | None = None
    geometry_type: int | None = None
    vector_dimensions: int | None = None


class TableFacts(NamedTuple):
    """All columns, the indexes of the primary key's columns, and whether rows are decodable."""

    columns: list[ColumnFacts]
    primary_key: tuple[int, ...]
    is_readable: bool


def facts_of(table_map: TableMapEvent, *, is_mariadb: bool = False) -> TableFacts:
    """Collect everything that a table map says about its columns."""
    columns = list(_columns(table_map))
    reader = _Reader(columns, is_mariadb)
    for field in table_map.optional_metadata:
        if take := _FIELDS.get(field.type):
            take(reader, field.value)
    if table_map.has_generated_invisible_primary_key and columns and not is_mariadb:
        reader.take_generated_key(columns[0])
    return TableFacts(columns, reader.primary_key, table_map.has_known_columns)


def _columns(table_map: TableMapEvent) -> Iterator[ColumnFacts]:
    if table_map.columns is None:  # before 5.1.16, without column metadata
        for index, kind in enumerate(table_map.column_types):
            yield ColumnFacts(index, kind, None, is_nullable=True)
        return
    for column in table_map.columns:
        found = ColumnFacts(column.index, column.real_type, column.metadata, column.is_nullable)
        found.name = column.name
        if column.has_signedness:
            found.is_unsigned = column.is_unsigned
        if column.has_visibility:
            found.is_visible = column.is_visible
        yield found


class _Reader:
    """Assigns the entries of each metadata list to the columns it applies to."""

    def __init__(self, columns: list[ColumnFacts], is_mariadb: bool) -> None:
        self.columns = columns
        self.primary_key: tuple[int, ...] = ()
        text_types = _CHARACTER_TYPES | {ColumnType.geometry} if is_mariadb else _CHARACTER_TYPES
        self.texts = [one for one in columns if one.type in text_types]
        self.enums = self._of(ColumnType.enum)
        self.sets = self._of(ColumnType.set)
        self.choices = self._of(ColumnType.enum, ColumnType.set)

    def _of(self, *types: ColumnType) -> list[ColumnFacts]:
        return [one for one in self.columns if one.type in types]

    def take_default_collation(
        self, columns: list[ColumnFacts], value: TableMapMetadata.DefaultCollation
    ) -> None:
        exceptions = {one.column.value: one.collation.value for one in value.exceptions}
        for ordinal, column in enumerate(columns):
            column.collation_id = exceptions.get(ordinal, value.collation.value)

    def take_key(self, indexes: Iterable[int]) -> None:
        key = tuple(indexes)
        if any(index >= len(self.columns) for index in key):
            return  # part of a key identifies no row
        self.primary_key = key
        for column in self.columns:
            column.is_primary_key = column.index in self.primary_key

    def take_generated_key(self, column: ColumnFacts) -> None:
        """Identify a generated key by a flag, which works without column names too."""
        column.name = column.name or _GENERATED_KEY
        column.is_visible = False
        self.take_key([column.index])


def _set(columns: list[ColumnFacts], name: str, values: Iterable[Any]) -> None:
    for column, value in zip(columns, values, strict=False):
        setattr(column, name, value)


def _numbers(value: TableMapMetadata.NumberList) -> list[int]:
    return [one.value for one in value.numbers]


def _members(value: TableMapMetadata.MemberLists) -> list[tuple[bytes, ...]]:
    return [tuple(member.value for member in one.members) for one in value.columns]


_FIELDS: dict[TableMapField | int, Callable[[_Reader, Any], None]] = {
    TableMapField.default_charset: lambda reader, value: reader.take_default_collation(reader.texts, value),
    TableMapField.column_charset: lambda reader, value: _set(reader.texts, "collation_id", _numbers(value)),
    TableMapField.set_str_value: lambda reader, value: _set(reader.sets, "members", _members(value)),
    TableMapField.enum_str_value: lambda reader, value: _set(reader.enums, "members", _members(value)),
    TableMapField.geometry_type: lambda reader, value: _set(
        reader._of(ColumnType.geometry), "geometry_type", _numbers(value)
    ),
    TableMapField.simple_primary_key: lambda reader, value: reader.take_key(_numbers(value)),
    TableMapField.primary_key_with_prefix: lambda reader, value: reader.take_key(
        part.column.value for part in value.parts
    ),
    TableMapField.enum_and_set_default_charset: lambda reader, value: reader.take_default_collation(
        reader.choices, value
    ),
    TableMapField.enum_and_set_column_charset: lambda reader, value: _set(
        reader.choices, "collation_id", _numbers(value)
    ),
    TableMapField.vector_dimensionality: lambda reader, value: _set(
        reader._of(ColumnType.vector), "vector_dimensions", _numbers(value)
    ),
}
