"""Table definitions: data classes for tables and columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """One column as a statement defines it.

    `name`: as spelled in its definition.
    `type_name`: the SQL type in lower case, synonyms resolved, without a charset: ``"int unsigned"``,
    ``"decimal(10,2)"``, ``"uuid"``.
    `base_type`: its first word: ``"int"``, ``"decimal"``.
    `arguments`: the type's arguments in parentheses: lengths, precision and scale.
    `is_unsigned`: none for non-numeric types.
    `charset`, `collation`: for text, ENUM and SET, by the server's names; None if unknown.
    `members`: of ENUM and SET.
    `is_primary_key`: none if the primary key is not fully understood, so that any column may belong to it.
    `is_generated`, `is_virtual`: computed from other columns; virtual columns are not stored.
    `is_visible`: whether ``SELECT *`` shows it.
    `is_row_period`: whether it is ROW START or ROW END of MariaDB's system versioning.
    `default`: the literal after DEFAULT: ``"'a'"``, ``"-1.5"``, ``"NULL"``; "" without DEFAULT; None for an
    expression or a function, and if it is unknown.
    `has_on_update`: whether it gets the current time when its row changes; None if it may: a TIMESTAMP's
    missing DEFAULT may mean that.
    `comment`: the text after COMMENT.
    """

    name: str
    type_name: str
    base_type: str
    arguments: tuple[str, ...] = ()
    is_unsigned: bool | None = None
    charset: str | None = None
    collation: str | None = None
    members: tuple[str, ...] | None = None
    is_nullable: bool = True
    is_primary_key: bool | None = False
    is_generated: bool = False
    is_virtual: bool = False
    is_visible: bool = True
    is_row_period: bool = False
    default: str | None = None
    has_on_update: bool | None = None
    comment: str = ""

    @property
    def key(self) -> str:
        """Its name for comparison: column names are case-insensitive."""
        return self.name.casefold()


class Charset(NamedTuple):
    """A character set and its collation, as far as they are known."""

    charset: str | None = None
    collation: str | None = None

    def __bool__(self) -> bool:
        return self != UNKNOWN_CHARSET


UNKNOWN_CHARSET = Charset()


class HiddenColumn(NamedTuple):
    """A column that MySQL creates for an expression in a key.

    `key_name`: name of the key.
    `part`: number of the expression among the parts of the key, from 0.
    `place`: number of columns before it that are not hidden.
    `is_placed`: whether that is known: the server's own definitions (SHOW CREATE TABLE) do not show it.
    """

    key_name: str
    part: int
    place: int
    is_placed: bool = True

    @property
    def name(self) -> str:
        """Its name in MySQL since 8.0.16."""
        return f"!hidden!{self.key_name}!{self.part}!0"

    @property
    def definition(self) -> ColumnDefinition:
        """The column, of unknown type."""
        return hidden_column(self.name)


class ForeignKey(NamedTuple):
    """A foreign key of a table.

    `name`: "" if the server chooses it.
    `parent`: schema and name of the table that it refers to.
    `columns`: the columns of `parent`.
    `on_delete`, `on_update`: whether rows change with those of `parent` (CASCADE, SET NULL, SET DEFAULT).
    """

    name: str
    parent: tuple[str, ...]
    columns: tuple[str, ...]
    on_delete: bool
    on_update: bool

    def of_schema(self, name: str) -> ForeignKey:
        """The key of a table in a schema: that of `parent` if it has none."""
        return self if len(self.parent) > 1 else self._replace(parent=(name, *self.parent))


def hidden_column(name: str) -> ColumnDefinition:
    """A column that the server computes and does not show, of unknown type."""
    return ColumnDefinition(name, "", "", is_generated=True, is_virtual=True, is_visible=False)


class Columns(tuple[ColumnDefinition, ...]):
    """Columns in their order; `keys` are their names for comparison.

    A change of a wide table costs little more than a copy of both tuples.
    """

    keys: tuple[str, ...]

    def __new__(cls, columns: Iterable[ColumnDefinition] = (), keys: Iterable[str] | None = None) -> Columns:
        """Give the keys if they are known."""
        new = super().__new__(cls, columns)
        new.keys = tuple(column.key for column in new) if keys is None else tuple(keys)
        return new

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The index of each column by its key."""
        return dict(zip(self.keys, range(len(self)), strict=True))


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """The columns of a table, in their order.

    `schema_name`, `table_name`: str
    `columns`: Columns
    `default_charset`: for columns that do not name one.
    `origin`: ``"log"``: defined by a statement of the log; ``"file"``: by a file of definitions.
    `hidden_columns`: those that MySQL creates for keys on expressions; only some versions include them in
    table maps.
    `unique_keys`: upper bound of their number: MariaDB creates a hidden column for each long one.
    `foreign_keys`: those of its own, in the order in which they were added.
    `has_implicit_period`: whether the last two columns are those that MariaDB adds for system versioning.
    `partitioning`: see `ddl.partitions`; "" if it has none, or it is not known.
    """

    schema_name: str
    table_name: str
    columns: Columns
    default_charset: Charset = UNKNOWN_CHARSET
    origin: str = "log"
    hidden_columns: tuple[HiddenColumn, ...] = ()
    unique_keys: int = 0
    has_implicit_period: bool = False
    foreign_keys: tuple[ForeignKey, ...] = ()
    partitioning: str = ""

    @property
    def primary_key(self) -> tuple[int, ...]:
        """Indexes of the primary key's columns, in table order; empty if there is none, or it is unknown."""
        return tuple(number for number, column in enumerate(self.columns) if column.is_primary_key)

    @property
    def all_columns(self) -> Columns:
        """The columns and, in their places, the hidden ones."""
        if not self.hidden_columns:
            return self.columns
        columns = list(self.columns)
        for hidden in reversed(self.hidden_columns):
            columns.insert(hidden.place, hidden.definition)
        return Columns(columns)

    def with_primary_key(self, names: Iterable[str] | None) -> TableDefinition:
        """The table with these columns as its primary key; None if they are unknown.

        A key that names a column which the table lacks is unknown, too: part of a key identifies no row.
        """
        keys = None if names is None else {name.casefold() for name in names}
        if keys is not None and not keys.issubset(self.columns.numbers):
            keys = None
        columns = list(self.columns)
        for number, (column, key) in enumerate(zip(columns, self.columns.keys, strict=True)):
            is_key = None if keys is None else key in keys
            if column.is_primary_key is not is_key or (is_key and column.is_nullable):
                is_nullable = column.is_nullable and not is_key
                columns[number] = replace(column, is_primary_key=is_key, is_nullable=is_nullable)
        return replace(self, columns=Columns(columns, self.columns.keys))

    def find(self, name: str) -> int | None:
        """Index of the column with a name."""
        return self.columns.numbers.get(name.casefold())
