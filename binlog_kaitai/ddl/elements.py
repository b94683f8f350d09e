"""Parses elements of a table definition other than columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from binlog_kaitai.ddl.column_grammar import Key, read_reference
from binlog_kaitai.ddl.lexer import TokenCursor, TokenKind, split
from binlog_kaitai.values.table_definition import ColumnDefinition, Columns, HiddenColumn, TableDefinition

#: First words of elements other than columns; quoted when used as column names.
_NO_COLUMN = frozenset(
    ("PRIMARY", "KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK")
)
#: The same, if the next word decides; they need no quotes as column names.
_NO_COLUMN_PAIRS = {
    "PERIOD": ("FOR", "IF"),
    "VECTOR": ("INDEX", "KEY", "IF"),
    "CLUSTERING": ("INDEX", "KEY", "UNIQUE"),  # TokuDB
}


def is_column(cursor: TokenCursor) -> bool:
    """Whether a column comes next, rather than a key, constraint or period."""
    word = cursor.keyword()
    if word == "VECTOR" and _has_key_part(cursor):
        return False
    return word not in _NO_COLUMN and cursor.keyword(1) not in _NO_COLUMN_PAIRS.get(word, ())


def _has_key_part(cursor: TokenCursor) -> bool:
    """Whether a name is in parentheses after VECTOR, or after a name that follows it, rather than numbers or
    strings, which a type has there.
    """
    place = next((number for number in (1, 2) if cursor.mark(number) == "("), 0)
    part = cursor.peek(place + 1) if place else None
    return part is not None and part.kind in (TokenKind.WORD, TokenKind.NAME) and not part.text.isdecimal()


def read_key(cursor: TokenCursor) -> Key:
    """Parse a key or constraint to its end."""
    symbol = ""
    if cursor.skip("CONSTRAINT") and cursor.keyword() not in _NO_COLUMN:
        symbol = cursor.name()
    if cursor.skip("FOREIGN", "KEY"):
        cursor.skip("IF", "NOT", "EXISTS")
        index = "" if cursor.mark() == "(" else cursor.name()
        cursor.group()
        reference = read_reference(cursor) if cursor.skip("REFERENCES") else None
        cursor.rest()
        return Key(foreign=reference and reference._replace(name=symbol or index))
    cursor.skip("CLUSTERING")
    kind = cursor.skip_one("PRIMARY", "UNIQUE", "KEY", "INDEX")
    if not kind:
        return Key(required=_period(TokenCursor(cursor.rest())))
    cursor.skip_one("KEY", "INDEX")
    only_if_new = cursor.skip("IF", "NOT", "EXISTS")
    token = cursor.peek()
    name = token.text if token and token.kind is not TokenKind.MARK and token.keyword != "USING" else ""
    while cursor and cursor.mark() != "(":
        cursor.next()
    parts = [TokenCursor(part) for part in split(cursor.group())]
    cursor.rest()
    if kind == "PRIMARY":
        names = [_key_column(part) for part in parts]
        known = tuple(filter(None, names))
        return Key(None if None in names else known, only_if_new=only_if_new, required=known)
    expressions = tuple(number for number, part in enumerate(parts) if part.mark() == "(")
    return Key(name=name, expressions=expressions, is_unique=kind == "UNIQUE")


def _period(cursor: TokenCursor) -> tuple[str, ...]:
    """The columns of PERIOD FOR, if that comes next; those of SYSTEM_TIME cannot be NULL anyway."""
    if not cursor.skip("PERIOD"):
        return ()
    cursor.skip("IF", "NOT", "EXISTS")
    cursor.skip("FOR")
    cursor.name()
    return tuple(TokenCursor(part).name() for part in split(cursor.group()))


def _key_column(part: TokenCursor) -> str | None:
    """The column of a part of a key; None for an expression, a period, and anything else."""
    if part.mark():
        return None
    name = part.name()
    if part.mark() == "(" and part.mark(2) == ")":
        part.group()  # where a prefix is unique, the whole value is, too
    part.skip_one("ASC", "DESC")
    return None if part else name


def read_new_name(cursor: TokenCursor) -> tuple[str, ...] | None:
    """Parse a table's new name after RENAME in ALTER TABLE; None if columns or indexes are renamed."""
    # These words are reserved: a table with such a name is quoted.
    if cursor.keyword() in ("COLUMN", "INDEX", "KEY"):
        return None
    cursor.skip_one("TO", "AS", "=")
    return cursor.dotted_name()


def hidden_columns_of(key: Key, place: int, present: Iterable[HiddenColumn]) -> list[HiddenColumn]:
    """The hidden columns of a new key, next to those that are present already."""
    names = {hidden.key_name.casefold() for hidden in present}
    numbered = (f"functional_index_{number}" for number in count(2))
    choices = chain(["functional_index"], numbered)
    index = key.name or next(name for name in choices if name not in names)
    return [HiddenColumn(index, part, place) for part in key.expressions]


def parted(
    columns: Sequence[ColumnDefinition],
    before: Mapping[str, HiddenColumn],
    renamed: Mapping[str, str],
    added: Iterable[HiddenColumn],
) -> tuple[list[ColumnDefinition], tuple[HiddenColumn, ...]]:
    """Separate the hidden columns of an altered table from the others.

    `before`: the hidden columns among `columns`, by the name they have there.
    `renamed`: new names of keys, by the old ones in lower case; a dropped key has none.
    `added`: those of new keys, which come after all others.
    """
    kept: list[ColumnDefinition] = []
    hidden: list[HiddenColumn] = []
    for column in columns:
        if (hidden_column := before.get(column.name)) is None:
            kept.append(column)
        elif name := renamed.get(hidden_column.key_name.casefold(), hidden_column.key_name):
            hidden.append(hidden_column._replace(key_name=name, place=len(kept)))
    return kept, (*hidden, *(hidden_column._replace(place=len(kept)) for hidden_column in added))


def with_period(table: TableDefinition) -> TableDefinition:
    """The table with the two hidden columns that MariaDB adds for system versioning."""
    row_start = ColumnDefinition(
        "row_start", "timestamp(6)", "timestamp", ("6",),
        is_nullable=False, is_generated=True, is_visible=False, is_row_period=True,
    )  # fmt: skip
    row_end = replace(row_start, name="row_end")
    return replace(table, columns=Columns((*table.columns, row_start, row_end)), has_implicit_period=True)
