"""What a table is defined as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """One column as a statement defines it.

    Attributes
    ----------
    name : str
        As it is written where it was defined.
    type_name : str
        The SQL type in lower case, synonyms resolved, without a charset: ``"int unsigned"``,
        ``"decimal(10,2)"``, ``"uuid"``.
    base_type : str
        Its first word: ``"int"``, ``"decimal"``.
    arguments : tuple of str
        What stands in parentheses behind the type: lengths, precision and scale.
    is_unsigned : bool or None
        None for types that are no numbers.
    charset, collation : str or None
        Of text, ENUM and SET, by the server's names; None where nothing tells.
    members : tuple of str or None
        Of ENUM and SET.
    is_generated, is_virtual : bool
        Computed from other columns; virtual: and not stored.
    is_visible : bool
        ``SELECT *`` shows it.
    is_row_period : bool
        MariaDB keeps in it when the row began or ended to be true.
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
    is_primary_key: bool = False
    is_generated: bool = False
    is_virtual: bool = False
    is_visible: bool = True
    is_row_period: bool = False

    @property
    def key(self) -> str:
        """What its name is compared by: names of columns have no case."""
        return self.name.casefold()


@dataclass(frozen=True, slots=True)
class Charset:
    """A character set with its collation, as far as they are known."""

    charset: str | None = None
    collation: str | None = None

    def __bool__(self) -> bool:
        return self != UNKNOWN_CHARSET


UNKNOWN_CHARSET = Charset()


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """The columns of a table, in their order.

    Attributes
    ----------
    schema_name, table_name : str
    columns : tuple of ColumnDefinition
    default_charset : Charset
        Of columns that name none.
    origin : str
        ``"log"``: defined by a statement of the log; ``"file"``: by one of a file of definitions.
    hidden_columns : tuple of str
        Columns that MySQL makes for keys on expressions, by its names. They come last, and not every
        version has them in its table maps.
    unique_keys : int
        At least as many as there are: MariaDB makes a hidden column for one that is long.
    has_implicit_period : bool
        The last two columns are those that MariaDB adds for system versioning.
    """

    schema_name: str
    table_name: str
    columns: tuple[ColumnDefinition, ...]
    default_charset: Charset = UNKNOWN_CHARSET
    origin: str = "log"
    hidden_columns: tuple[str, ...] = ()
    unique_keys: int = 0
    has_implicit_period: bool = False

    @property
    def primary_key(self) -> tuple[int, ...]:
        """Numbers of the primary key's columns, in the order of the table."""
        return tuple(number for number, column in enumerate(self.columns) if column.is_primary_key)

    def with_primary_key(self, names: Iterable[str]) -> TableDefinition:
        """The table with these columns as its primary key."""
        keys = {name.casefold() for name in names}
        columns = tuple(
            replace(one, is_primary_key=True, is_nullable=False)
            if one.key in keys
            else replace(one, is_primary_key=False)
            for one in self.columns
        )
        return replace(self, columns=columns)

    def find(self, name: str) -> int | None:
        """Number of the column with a name."""
        key = name.casefold()
        return next((number for number, column in enumerate(self.columns) if column.key == key), None)
