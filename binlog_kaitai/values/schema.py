"""The columns of a table, as a table map event tells them and DDL adds to it.

Names come from the table map where `binlog_row_metadata` was FULL, else from a definition (DDL), else they
are ``c1``, ``c2`` …; what the log says always goes before what a definition says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Protocol, TypeVar

from binlog_kaitai.core.grammar import ColumnType, EventType, Format, TableMapEvent
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values.charsets import BINARY, charset_of, decode
from binlog_kaitai.values.column_metadata import ColumnFacts, facts_of

_T = TypeVar("_T")

#: Their `pack_length` is that of the value itself.
_FLOATS = frozenset((ColumnType.float, ColumnType.double))

#: Of these MariaDB's old formats have fractions, too, which only a definition tells.
OLD_TIMES = frozenset((ColumnType.time, ColumnType.datetime, ColumnType.timestamp))
_DIGITS = re.compile(r"\(([0-9])\)")
#: Types of byte strings by their SQL names.
#: A VECTOR of MariaDB is a VARBINARY to its log.
_BYTES = re.compile(r"(?:var)?binary\b|(?:tiny|medium|long)?blob\b|vector\b", re.IGNORECASE)
_MOST_DIGITS = 6


class ColumnDefinition(Protocol):
    """What a CREATE TABLE says of one column; None for what it leaves open."""

    @property
    def name(self) -> str: ...
    @property
    def type_name(self) -> str: ...
    @property
    def is_unsigned(self) -> bool | None: ...
    @property
    def charset(self) -> str | None: ...
    @property
    def members(self) -> tuple[str, ...] | None: ...
    @property
    def is_primary_key(self) -> bool | None: ...
    @property
    def is_visible(self) -> bool | None: ...
    @property
    def is_generated(self) -> bool | None: ...
    @property
    def is_row_period(self) -> bool | None: ...


class TableDefinition(Protocol):
    """What DDL says of one table; the columns in the table's order."""

    @property
    def columns(self) -> Sequence[ColumnDefinition]: ...


class NameSource(Enum):
    """Where the names of columns come from."""

    LOG = "log"
    DEFINITION = "definition"
    NONE = "none"


@dataclass(frozen=True, slots=True, repr=False)
class Column:
    """One column of a table; None stands for what neither log nor definition says.

    Attributes
    ----------
    index : int
        Place in the table, from 0.
    is_named : bool
        False where `name` is made up.
    type : ColumnType or int
        What the value's layout goes by: ENUM and SET resolved; a number that the grammar does not know.
    length : int
        Of CHAR and BINARY the longest value, of BIT, ENUM and SET a value, in bytes; else 0.
    length_size : int
        Size of the length in front of a value, in bytes; 0 where there is none.
    max_length : int or None
        Longest value of VARCHAR and VARBINARY, in bytes.
    precision, scale : int or None
        Digits of a DECIMAL, in all and behind the point.
    fractional_digits : int
        Digits of the second's fraction; 0 for types without.
    bits : int or None
        Number of bits of a BIT.
    element_type : ColumnType, int or None
        Of a typed array, the type of its elements.
    charset : str or None
        The server's name, such as ``"utf8mb4"``; ``"binary"`` for byte strings.
    members : tuple of str or None
        Of ENUM and SET.
    geometry_type : int or None
        Number of the kind of shape, 0 for any.
    type_name : str or None
        The SQL type as DDL has it, such as ``"int unsigned"`` or ``"uuid"``.
    is_generated : bool or None
        Whether the server makes the values, so that no statement can give them; only DDL tells.
    is_row_period : bool or None
        Whether it has the beginning or the end of a row's time, by MariaDB's system versioning.
    """

    index: int
    name: str
    is_named: bool
    type: ColumnType | int
    length: int
    length_size: int
    max_length: int | None
    precision: int | None
    scale: int | None
    fractional_digits: int
    bits: int | None
    element_type: ColumnType | int | None
    is_unsigned: bool | None
    is_nullable: bool
    collation_id: int | None
    charset: str | None
    members: tuple[str, ...] | None
    is_primary_key: bool | None
    is_visible: bool | None
    geometry_type: int | None
    vector_dimensions: int | None
    type_name: str | None
    is_generated: bool | None = None
    is_row_period: bool | None = None

    def __repr__(self) -> str:
        known = ((one.name, getattr(self, one.name)) for one in fields(self))
        return f"Column({', '.join(f'{name}={value!r}' for name, value in known if value is not None)})"


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns of one table at the time of an event.

    Attributes
    ----------
    primary_key : tuple of int
        Places of its columns, from 0, in the key's order where the log has it; empty where unknown.
    names_from : NameSource
        Where the names come from.
    is_readable : bool
        The lengths of all columns' values are known, so that rows can be read.
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
        """Digits of the fractions that the log does not tell, by place of the column."""
        columns = (column for column in self.columns if column.type in OLD_TIMES)
        return {column.index: column.fractional_digits for column in columns if column.fractional_digits}

    @classmethod
    def of(
        cls,
        table_map: TableMapEvent,
        definition: TableDefinition | None = None,
        *,
        is_mariadb: bool = False,
    ) -> Schema:
        """The schema that a table map tells, with a definition for what it does not.

        Parameters
        ----------
        table_map
            Body of a table map event.
        definition
            The table by DDL; not used if it has another number of columns.
        is_mariadb
            Whether MariaDB wrote the log; it counts other columns in the lists of collations.

        Raises
        ------
        GrammarError
            Two columns have the same name.
        """
        facts = facts_of(table_map, is_mariadb=is_mariadb)
        if definition is not None and len(definition.columns) != len(facts.columns):
            definition = None
        defined = definition.columns if definition is not None else [None] * len(facts.columns)
        names_from = _names_from(facts.columns, definition)
        columns = tuple(
            _column(found, known, names_from) for found, known in zip(facts.columns, defined, strict=True)
        )
        if len({column.name for column in columns}) < len(columns):
            raise GrammarError(
                "duplicate column name", field=f"{table_map.schema_name}.{table_map.table_name}"
            )
        key = facts.primary_key or tuple(one.index for one in columns if one.is_primary_key)
        return cls(table_map.schema_name, table_map.table_name, columns, key, names_from, facts.is_readable)


def _type_of(column: Column) -> str:
    """A column's type by the log alone, as the grammar names it."""
    return column.type.name if isinstance(column.type, ColumnType) else f"type {column.type}"


def is_mariadb(layout: Format) -> bool:
    """Whether MariaDB wrote a log: its format description knows MariaDB's own types."""
    return len(layout.post_header_lengths) >= EventType.annotate_rows_event


def _names_from(columns: Sequence[ColumnFacts], definition: TableDefinition | None) -> NameSource:
    if columns and all(column.name is not None for column in columns):
        return NameSource.LOG
    return NameSource.NONE if definition is None else NameSource.DEFINITION


def _column(found: ColumnFacts, known: ColumnDefinition | None, names_from: NameSource) -> Column:
    name = found.name if names_from is NameSource.LOG else known.name if known else None
    charset = charset_of(found.collation_id) if found.collation_id is not None else None
    charset = charset or (_defined_charset(known) if known else None)
    members = None if found.members is None else tuple(_member(one, charset) for one in found.members)
    is_key = found.is_primary_key
    if is_key is None and names_from is NameSource.LOG:
        is_key = False  # a log with names has the primary key too, if there is one
    metadata = found.metadata
    return Column(
        index=found.index,
        name=f"c{found.index + 1}" if name is None else name,
        is_named=name is not None,
        type=found.type,
        length=metadata.len_bytes or metadata.length if metadata else 0,
        length_size=metadata.len_length if metadata and found.type not in _FLOATS else 0,
        max_length=metadata.max_length if metadata else None,
        precision=metadata.precision if metadata else None,
        scale=metadata.scale if metadata else None,
        fractional_digits=_fractional_digits(found, known),
        bits=metadata.bytes * 8 + metadata.bits if metadata and metadata.is_bit else None,
        element_type=metadata.element_type if metadata else None,
        is_unsigned=_first(found.is_unsigned, known.is_unsigned if known else None),
        is_nullable=found.is_nullable,
        collation_id=found.collation_id,
        charset=charset,
        members=_first(members, known.members if known else None),
        is_primary_key=_first(is_key, known.is_primary_key if known else None),
        is_visible=_first(found.is_visible, known.is_visible if known else None),
        geometry_type=found.geometry_type,
        vector_dimensions=found.vector_dimensions,
        type_name=known.type_name if known else None,
        is_generated=known.is_generated if known else None,
        is_row_period=known.is_row_period if known else None,
    )


def _defined_charset(known: ColumnDefinition) -> str | None:
    return known.charset or (BINARY if _BYTES.match(known.type_name) else None)


def _fractional_digits(found: ColumnFacts, known: ColumnDefinition | None) -> int:
    if found.type in OLD_TIMES and known is not None and (digits := _DIGITS.search(known.type_name)):
        return min(int(digits[1]), _MOST_DIGITS)
    return (found.metadata.fractional_digits or 0) if found.metadata else 0


def _first(told: _T | None, defined: _T | None) -> _T | None:
    return defined if told is None else told


def _member(value: bytes, charset: str | None) -> str:
    text = decode(value, charset)
    return text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")


def set_old_fractions(table_map: TableMapEvent, digits: dict[int, int]) -> None:
    """Tell a table map the digits of fractions in MariaDB's old formats, by place of the column.

    The log does not have them; they must be known before rows of the table are read.
    """
    for column in table_map.columns or ():
        # Where the grammar's runtime keeps a value that was asked for: see `table_map_event.ksy`.
        vars(column)["_m_old_fractional_digits"] = digits.get(column.index, 0)
