"""The metadata of each column, combined from the lists of a table map.

A list of the optional metadata has entries only for the columns it applies to. Which columns these are is the
server's rule (sql/log_event.cc, `Table_map_log_event::init_metadata_fields`), not a matter of layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from binlog_kaitai.core.grammar import ColumnType, EventType, Format, TableMapEvent, TableMapField
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.charsets import BINARY, charset_of, decode_member
from binlog_kaitai.values.column_kinds import CHOICES, OLD_TIMES, Kind, of_type
from binlog_kaitai.values.table_definition import ColumnDefinition, TableDefinition

if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import TableMapMetadata

#: The first column of a table whose primary key MySQL generated.
_GENERATED_KEY = "my_row_id"


#: Fields of `Column` that the metadata of a column states.
_VALUE_FACTS = (
    *("length", "length_size", "max_length", "precision", "scale"),
    *("fractional_digits", "bits", "element_type"),
)

#: Their `pack_length` is the size of the value itself.
_FLOATS = (Kind.FLOAT, Kind.DOUBLE)


def _value_facts(metadata: Any, kind: Kind) -> tuple[Any, ...]:
    """The values of `_VALUE_FACTS`, or none: tables before 5.1.16 have no metadata."""
    if metadata is None or not metadata.has_metadata:
        return ()
    return (
        metadata.len_bytes or metadata.length,
        metadata.len_length if kind not in _FLOATS else 0,
        metadata.max_length,
        metadata.precision,
        metadata.scale,
        metadata.fractional_digits or 0,
        metadata.bytes * 8 + metadata.bits if metadata.is_bit else None,
        metadata.element_type,
    )


@dataclass(slots=True)
class ColumnFacts:
    """One column as described by the table map; None for anything it leaves out."""

    index: int
    type: ColumnType | int
    is_nullable: bool
    name: str | None = None
    is_unsigned: bool | None = None
    collation_id: int | None = None
    members: tuple[bytes, ...] | None = None
    is_primary_key: bool | None = None
    is_visible: bool | None = None
    geometry_type: int | None = None
    vector_dimensions: int | None = None
    metadata: Any = None

    @property
    def kind(self) -> Kind:
        """What the values are."""
        return of_type(self.type).kind


#: The facts without the metadata.
_key = attrgetter(
    *("index", "type", "is_nullable", "name", "is_unsigned", "collation_id", "members", "is_primary_key"),
    *("is_visible", "geometry_type", "vector_dimensions"),
)


class TableFacts(NamedTuple):
    """All columns, the indexes of the primary key's columns, and whether rows are decodable."""

    columns: list[ColumnFacts]
    primary_key: tuple[int, ...]
    is_readable: bool


def facts_of(table_map: TableMapEvent, *, is_mariadb: bool = False) -> TableFacts:
    """Collect everything that a table map says about its columns."""
    columns = list(_columns(table_map))
    described = columns if table_map.optional_metadata else []
    texts = [
        column
        for column in described
        if of_type(column.type).has_collation or (is_mariadb and column.kind == Kind.GEOMETRY)
    ]
    choices = _of_kinds(described, *CHOICES)
    key: Sequence[int] = ()
    for field in table_map.optional_metadata:
        value: Any = field.value
        match field.type:
            case TableMapField.default_charset:
                _set(texts, "collation_id", _collations(value, len(texts)))
            case TableMapField.enum_and_set_default_charset:
                _set(choices, "collation_id", _collations(value, len(choices)))
            case TableMapField.column_charset:
                _set(texts, "collation_id", _numbers(value))
            case TableMapField.enum_and_set_column_charset:
                _set(choices, "collation_id", _numbers(value))
            case TableMapField.enum_str_value | TableMapField.set_str_value:
                kind = Kind.ENUM if field.type == TableMapField.enum_str_value else Kind.SET
                members = (tuple(member.value for member in column.members) for column in value.columns)
                _set(_of_kinds(columns, kind), "members", members)
            case TableMapField.geometry_type:
                _set(_of_kinds(columns, Kind.GEOMETRY), "geometry_type", _numbers(value))
            case TableMapField.vector_dimensionality:
                _set(_of_kinds(columns, Kind.VECTOR), "vector_dimensions", _numbers(value))
            case TableMapField.simple_primary_key:
                key = _set_key(columns, _numbers(value), key)
            case TableMapField.primary_key_with_prefix:
                key = _set_key(columns, [part.column.value for part in value.parts], key)
    if table_map.has_generated_invisible_primary_key and columns and not is_mariadb:
        # A flag identifies a generated key, which works without column names too.
        columns[0].name = columns[0].name or _GENERATED_KEY
        columns[0].is_visible = False
        key = _set_key(columns, [columns[0].index], key)
    return TableFacts(columns, tuple(key), table_map.has_known_columns)


def _columns(table_map: TableMapEvent) -> Iterator[ColumnFacts]:
    if table_map.columns is None:  # before 5.1.16, without column metadata
        for index, kind in enumerate(table_map.column_types):
            yield ColumnFacts(index, kind, is_nullable=True)
        return
    for column in table_map.columns:
        metadata = column.metadata
        kind = metadata.real_type if metadata.has_metadata else metadata.column_type
        facts = ColumnFacts(column.index, kind, column.is_nullable, metadata=metadata)
        if table_map.optional_metadata:
            facts.name = column.name
            facts.is_unsigned = column.is_unsigned if column.has_signedness else None
            facts.is_visible = column.is_visible if column.has_visibility else None
        yield facts


def _of_kinds(columns: Iterable[ColumnFacts], *kinds: Kind) -> list[ColumnFacts]:
    return [column for column in columns if column.kind in kinds]


def _set(columns: Iterable[ColumnFacts], name: str, values: Iterable[Any]) -> None:
    for column, value in zip(columns, values, strict=False):
        setattr(column, name, value)


def _set_key(columns: Sequence[ColumnFacts], key: Sequence[int], before: Sequence[int]) -> Sequence[int]:
    """Mark the columns of the primary key; returns it, or the one before if this names a missing column."""
    if any(index >= len(columns) for index in key):
        return before  # part of a key identifies no row
    of_key = frozenset(key)
    _set(columns, "is_primary_key", (column.index in of_key for column in columns))
    return key


def _numbers(value: TableMapMetadata.NumberList) -> list[int]:
    return [number.value for number in value.numbers]


def _collations(value: TableMapMetadata.DefaultCollation, count: int) -> list[int]:
    exceptions = {exception.column.value: exception.collation.value for exception in value.exceptions}
    return [exceptions.get(ordinal, value.collation.value) for ordinal in range(count)]


_T = TypeVar("_T")

_DIGITS = re.compile(r"\(([0-9])\)")
#: Byte string types by SQL name.
_BYTES = re.compile(r"(?:var)?binary\b|(?:tiny|medium|long)?blob\b|vector\b", re.IGNORECASE)
_MOST_DIGITS = 6
#: Servers allow 64 characters, in up to four bytes each.
_LONGEST_NAME = 256


class NameSource(Enum):
    """The origin of column names."""

    LOG = "log"
    DEFINITION = "definition"
    NONE = "none"


@dataclass(frozen=True, slots=True, repr=False)
class Column:
    """One column of a table; None for facts that neither the log nor a definition gives.

    Attributes
    ----------
    index : int
        Position in the table, from 0.
    is_named : bool
        False if `name` is a placeholder.
    type : ColumnType or int
        The type that determines the layout, with ENUM and SET resolved; an int if the grammar does not know
        it.
    length : int
        Maximum length of CHAR and BINARY, size of BIT, ENUM and SET, in bytes; else 0.
    length_size : int
        Size of the length prefix of a value, in bytes; 0 if there is none.
    max_length : int or None
        Maximum length of VARCHAR and VARBINARY, in bytes.
    precision, scale : int or None
        Digits of a DECIMAL: total, and after the decimal point.
    fractional_digits : int
        Digits of fractional seconds; 0 for types without.
    bits : int or None
        Number of bits of a BIT.
    element_type : ColumnType, int or None
        Element type of a typed array.
    collation : str or None
        The collation that DDL gives.
    charset : str or None
        The server's name, such as ``"utf8mb4"``; ``"binary"`` for byte strings.
    members : tuple of str or None
        Of ENUM and SET.
    geometry_type : int or None
        Number of the geometry type, 0 for any.
    type_name : str or None
        The SQL type from DDL, such as ``"int unsigned"`` or ``"uuid"``.
    is_generated : bool or None
        Whether the column is generated, so that statements cannot assign to it; known only from DDL.
    default : str or None
        The default by its definition, as an SQL literal: ``"'a'"``, ``"-1.5"``, ``"NULL"``; ``""`` without
        one; None for an expression or a function, and if it is unknown.
    is_row_period : bool or None
        Whether it is ROW START or ROW END of MariaDB's system versioning.
    has_on_update : bool or None
        Whether the server sets it to the current time when a row changes; known only from DDL.
    comment : str or None
        The text after COMMENT; known only from DDL.
    """

    index: int
    name: str
    is_named: bool
    type: ColumnType | int
    length: int = 0
    length_size: int = 0
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    fractional_digits: int = 0
    bits: int | None = None
    element_type: ColumnType | int | None = None
    is_unsigned: bool | None = None
    is_nullable: bool = True
    collation_id: int | None = None
    collation: str | None = None
    charset: str | None = None
    members: tuple[str, ...] | None = None
    is_primary_key: bool | None = None
    is_visible: bool | None = None
    geometry_type: int | None = None
    vector_dimensions: int | None = None
    type_name: str | None = None
    is_generated: bool | None = None
    is_row_period: bool | None = None
    has_on_update: bool | None = None
    default: str | None = None
    comment: str | None = None

    @property
    def kind(self) -> Kind:
        """What the values are, whatever their bytes. MariaDB logs a VECTOR as a VARBINARY."""
        kind = of_type(self.type).kind
        is_vector = kind is Kind.VARCHAR and (self.type_name or "").startswith("vector")
        return Kind.VECTOR if is_vector else kind

    @property
    def has_old_fraction(self) -> bool:
        """Whether the values have a fraction in MariaDB's old format, which only a definition shows."""
        return self.kind in OLD_TIMES and self.fractional_digits > 0

    def __repr__(self) -> str:
        known = ((field.name, getattr(self, field.name)) for field in fields(self))
        return f"Column({', '.join(f'{name}={value!r}' for name, value in known if value is not None)})"


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns of one table at the time of an event.

    Attributes
    ----------
    primary_key : tuple of int
        Indexes of its columns, from 0, in key order if the log has it; empty if unknown.
    names_from : NameSource
        The origin of the column names.
    is_readable : bool
        The value lengths of all columns are known, so that rows can be decoded.
    """

    schema_name: str
    table_name: str
    columns: tuple[Column, ...]
    primary_key: tuple[int, ...]
    names_from: NameSource
    is_readable: bool

    def __repr__(self) -> str:
        columns = ", ".join(
            f"{column.name} {column.type_name or _type_of(column)}" for column in self.columns
        )
        return f"<Schema {self.full_name} ({columns}), names from {self.names_from.value}>"

    @property
    def full_name(self) -> str:
        """``schema.table``."""
        return f"{self.schema_name}.{self.table_name}"

    @property
    def old_fractions(self) -> dict[int, int]:
        """Fractional digits that the log does not record, by column index."""
        return {column.index: column.fractional_digits for column in self.columns if column.has_old_fraction}

    @classmethod
    def of(
        cls,
        table_map: TableMapEvent,
        definition: TableDefinition | None = None,
        *,
        is_mariadb: bool = False,
    ) -> Schema:
        """Build the schema from a table map, completed from a definition.

        Parameters
        ----------
        table_map
            Body of a table map event.
        definition
            The table's definition by DDL; ignored if its number of columns differs.
        is_mariadb
            Whether MariaDB wrote the log; its collation lists cover different columns.

        Raises
        ------
        GrammarError
            Two columns have the same name, or one has a name that no server allows.
        """
        facts = facts_of(table_map, is_mariadb=is_mariadb)
        if definition is not None and len(definition.columns) != len(facts.columns):
            definition = None
        defined = definition.columns if definition is not None else [None] * len(facts.columns)
        names_from = NameSource.NONE if definition is None else NameSource.DEFINITION
        if facts.columns and all(column.name is not None for column in facts.columns):
            names_from = NameSource.LOG
        columns = tuple(
            _column(_key(logged), _value_facts(logged.metadata, logged.kind), known, names_from)
            for logged, known in zip(facts.columns, defined, strict=True)
        )
        table, names = f"{table_map.schema_name}.{table_map.table_name}", {column.name for column in columns}
        if len(names) < len(columns):
            raise GrammarError("duplicate column name", field=table)
        if (longest := max(map(len, names), default=0)) > _LONGEST_NAME:
            raise GrammarError(f"a column has a name of {longest} characters", field=table)
        key = facts.primary_key or tuple(column.index for column in columns if column.is_primary_key)
        return cls(table_map.schema_name, table_map.table_name, columns, key, names_from, facts.is_readable)


def _type_of(column: Column) -> str:
    """The type of a column by the log alone, in the grammar's terms."""
    return column.type.name if isinstance(column.type, ColumnType) else f"type {column.type}"


def is_mariadb(layout: Format) -> bool:
    """Whether MariaDB wrote a log: its format description covers MariaDB's own event types."""
    return len(layout.post_header_lengths) >= EventType.annotate_rows_event


@lru_cache(maxsize=1 << 15)
def _column(
    logged: tuple[Any, ...],
    values: tuple[Any, ...],
    known: ColumnDefinition | None,
    names_from: NameSource,
) -> Column:
    """A column; the same object for tables that agree on it.

    `logged`, `values`: the facts, see `_key` and `_value_facts`.
    """
    facts = ColumnFacts(*logged)
    name = facts.name if names_from is NameSource.LOG else known.name if known else None
    charset = charset_of(facts.collation_id) if facts.collation_id is not None else None
    if charset is None and known is not None:
        charset = known.charset or (BINARY if _BYTES.match(known.type_name) else None)
    members = (
        None if facts.members is None else tuple(decode_member(member, charset) for member in facts.members)
    )
    is_key = facts.is_primary_key
    if is_key is None and names_from is NameSource.LOG:
        is_key = False  # a log with column names also has the primary key, if any
    stated = dict(zip(_VALUE_FACTS, values, strict=False))
    if facts.kind in OLD_TIMES and known is not None and (digits := _DIGITS.search(known.type_name)):
        stated["fractional_digits"] = min(int(digits[1]), _MOST_DIGITS)
    stated.update((field, getattr(facts, field)) for field in _LOGGED_ONLY)
    if known is not None:
        stated.update((field, getattr(known, field)) for field in _DEFINED_ONLY)
    return Column(
        facts.index,
        f"c{facts.index + 1}" if name is None else name,
        name is not None,
        facts.type,
        is_unsigned=_first(facts.is_unsigned, known.is_unsigned if known else None),
        charset=charset,
        members=_first(members, known.members if known else None),
        is_primary_key=_first(is_key, known.is_primary_key if known else None),
        is_visible=_first(facts.is_visible, known.is_visible if known else None),
        **stated,
    )


#: Facts that only the table map states, and those that only definitions state.
_LOGGED_ONLY = ("is_nullable", "collation_id", "geometry_type", "vector_dimensions")
_DEFINED_ONLY = (
    *("collation", "type_name", "is_generated", "is_row_period", "has_on_update", "default"),
    "comment",
)


def _first(logged: _T | None, defined: _T | None) -> _T | None:
    return defined if logged is None else logged


def set_old_fractions(table_map: TableMapEvent, digits: dict[int, int]) -> None:
    """Set the fractional digits of MariaDB's old temporal formats in a table map, by column index.

    The log does not record them; they must be known before rows of the table are decoded.
    """
    for column in table_map.columns or ():
        # The attribute in which Kaitai's runtime caches the value of an instance: see `table_map_event.ksy`.
        vars(column)["_m_old_fractional_digits"] = digits.get(column.index, 0)
