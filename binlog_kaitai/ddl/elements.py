"""Parses one element of a table definition: a column or a key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, NamedTuple

from binlog_kaitai.core.grammar import masks
from binlog_kaitai.ddl.column_charsets import DEFAULT, merge, read_charset
from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError, split
from binlog_kaitai.values.column_kinds import sql_type
from binlog_kaitai.values.table_definition import (
    UNKNOWN_CHARSET,
    Charset,
    ColumnDefinition,
    ForeignKey,
    HiddenColumn,
    TableDefinition,
)

#: First words of elements other than columns; quoted when used as column names.
_NO_COLUMN = frozenset(
    ("PRIMARY", "KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK")
)
#: The same, if the next word decides; they need no quotes as column names.
_NO_COLUMN_PAIRS = {
    "PERIOD": ("FOR", "IF"),
    "VECTOR": ("INDEX", "KEY"),
    "CLUSTERING": ("INDEX", "KEY", "UNIQUE"),  # TokuDB
}

#: Synonyms of types, with their full names.
_SYNONYMS = {
    "int1": "tinyint",
    "int2": "smallint",
    "int3": "mediumint",
    "middleint": "mediumint",
    "int4": "int",
    "integer": "int",
    "int8": "bigint",
    "dec": "decimal",
    "numeric": "decimal",
    "fixed": "decimal",
    "number": "decimal",
    "float4": "float",
    "float8": "double",
    "character": "char",
    "varcharacter": "varchar",
    "varchar2": "varchar",
    "nchar": "char",
    "nvarchar": "varchar",
    "clob": "longtext",
    "raw": "varbinary",
    "geomcollection": "geometrycollection",
}

#: Types that are synonyms for another type with fixed arguments.
_BOOLEANS, _SERIAL = ("bool", "boolean"), "serial"

_REAL_AS_FLOAT = masks.SqlMode.IS_REAL_AS_FLOAT
_MAXDB = masks.SqlMode.IS_MAXDB
#: Oracle's types need both bits: before MariaDB 10.3, and in MySQL, ORACLE alone leaves types as they are.
_ORACLE = masks.SqlMode.IS_ORACLE | masks.SqlMode.IS_SIMULTANEOUS_ASSIGNMENT << 32
#: The modes that MariaDB's qualifiers of type names stand for.
_MODES_OF_QUALIFIERS = {"mariadb_schema": 0, "oracle_schema": _ORACLE, "maxdb_schema": _MAXDB}

#: FLOAT with more binary digits is DOUBLE.
_MOST_FLOAT_DIGITS = 24

_NATIONAL = Charset("utf8mb3")

#: Types that may have ON UPDATE.
_UPDATED = ("datetime", "timestamp")

#: A literal that is no string.
_LITERAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)|0x[0-9a-f]+|[bx]'[0-9a-f]*'|null|true|false", re.I | re.A)


def is_column(cursor: TokenCursor) -> bool:
    """Whether a column comes next, rather than a key, constraint or period."""
    word = cursor.keyword()
    return word not in _NO_COLUMN and cursor.keyword(1) not in _NO_COLUMN_PAIRS.get(word, ())


class Key(NamedTuple):
    """A key defined as a separate element.

    `primary`: the columns of a primary key; empty for other keys, None if they are not fully understood.
    `only_if_new`: not added if the table has such a key.
    `name`: empty if the server chooses it.
    `expressions`: numbers of the parts that are expressions; MySQL creates a hidden column for each.
    `foreign`: the foreign key that it is.
    """

    primary: tuple[str, ...] | None = ()
    name: str = ""
    expressions: tuple[int, ...] = ()
    is_unique: bool = False
    only_if_new: bool = False
    foreign: ForeignKey | None = None


def read_key(cursor: TokenCursor) -> Key:
    """Parse a key or constraint to its end."""
    symbol = ""
    if cursor.skip("CONSTRAINT") and cursor.keyword() not in _NO_COLUMN:
        symbol = cursor.name()
    if cursor.skip("FOREIGN", "KEY"):
        cursor.skip("IF", "NOT", "EXISTS")
        index = "" if cursor.mark() == "(" else cursor.name()
        cursor.group()
        reference = _reference(cursor) if cursor.skip("REFERENCES") else None
        cursor.rest()
        return Key(foreign=reference and reference._replace(name=symbol or index))
    cursor.skip("CLUSTERING")
    kind = cursor.skip_one("PRIMARY", "UNIQUE", "KEY", "INDEX")
    if not kind:
        cursor.rest()
        return Key()
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
        return Key(None if None in names else tuple(filter(None, names)), only_if_new=only_if_new)
    expressions = tuple(number for number, part in enumerate(parts) if part.mark() == "(")
    return Key(name=name, expressions=expressions, is_unique=kind == "UNIQUE")


def _key_column(part: TokenCursor) -> str | None:
    """The column of a part of a key; None for an expression, a period, and anything else."""
    if part.mark():
        return None
    name = part.name()
    if part.mark() == "(" and part.mark(2) == ")":
        part.group()  # where a prefix is unique, the whole value is, too
    part.skip_one("ASC", "DESC")
    return None if part else name


#: What a type and the attributes after it state: fields of a column, whether it `is_binary` and `is_unique`,
#: its `charset` as a :class:`Charset`, and its `foreign` key.
_Facts = dict[str, Any]


def read_column(cursor: TokenCursor, sql_mode: int) -> tuple[ColumnDefinition, Key]:
    """Parse a column, and whether it has a unique or foreign key; stops before FIRST or AFTER.

    Raises `UnreadableError`: the column has no name, or no type that a server has.
    """
    name = cursor.dotted_name()[-1]
    facts: _Facts = {"default": ""}
    base, arguments = _type(cursor, facts, sql_mode)
    _attributes(cursor, facts)
    texts = tuple(" ".join(map(str, part)) for part in split(arguments)) if arguments else ()
    if base == _SERIAL:
        base, facts["is_unsigned"], facts["is_nullable"] = "bigint", True, False
    if base in _BOOLEANS:
        base, texts = "tinyint", ("1",)
    kind = sql_type(base)
    type_name = base + (f"({','.join(texts)})" if texts else "")
    is_unsigned = facts.pop("is_unsigned", False) if kind.is_number else None
    if is_unsigned:
        type_name += " unsigned"
    is_binary, is_unique = (facts.pop(name, False) for name in ("is_binary", "is_unique"))
    key = Key(is_unique=is_unique, foreign=facts.pop("foreign", None))
    own_charset = facts.pop("charset", UNKNOWN_CHARSET)
    charset = own_charset if kind.is_text else UNKNOWN_CHARSET
    if is_binary and charset.charset is None:
        charset = charset._replace(collation="bin")  # the binary collation of a charset that is not known yet
    if base == "json":
        charset = Charset("utf8mb4")  # a text type in MariaDB
    facts |= {"is_unsigned": is_unsigned, "charset": charset.charset, "collation": charset.collation}
    if base in _UPDATED and "has_on_update" not in facts:
        # A TIMESTAMP without DEFAULT or NULL may have implicit attributes.
        has_none = base != "timestamp" or facts["default"] != "" or "is_null" in facts
        facts["has_on_update"] = False if has_none else None
    facts.pop("is_null", None)
    return ColumnDefinition(name, type_name, base, texts, **facts), key


def _type(cursor: TokenCursor, facts: _Facts, sql_mode: int) -> tuple[str, list[Token]]:
    """Parse the base name and arguments of a type, to the end of the type."""
    first = cursor.next()
    if first.kind is TokenKind.MARK or first.kind is TokenKind.STRING:
        raise UnreadableError(f"expected a type, found {first.shown}")
    if cursor.skip("."):
        mode = _MODES_OF_QUALIFIERS.get(first.text.lower())
        if mode is None:
            raise UnreadableError(f"unknown qualifier of a type: {first.shown}")
        sql_mode, first = sql_mode & _REAL_AS_FLOAT | mode, cursor.next()
    base = first.text.lower()
    if base == "national":
        facts["charset"] = _NATIONAL
        base = cursor.name().lower()
    elif base in ("nchar", "nvarchar"):
        facts["charset"] = _NATIONAL
    if base == "long":
        base = "mediumblob" if cursor.skip("VARBINARY") else "mediumtext"
        cursor.skip_one("VARCHAR", "VARCHARACTER", "CHAR", "CHARACTER")
    if base == "double":
        cursor.skip("PRECISION")
    base = _full_name(base, sql_mode, has_arguments=cursor.mark() == "(")
    if base == "char" and cursor.skip_one("VARYING", "VARCHARACTER", "VARCHAR"):
        base = "varchar"
    cursor.skip("VARYING")
    arguments = cursor.group() if cursor.mark() == "(" else []
    if cursor.skip("BYTE"):
        base = {"char": "binary", "varchar": "varbinary"}.get(base, base)
    if not sql_type(base).logged and base not in (*_BOOLEANS, _SERIAL):
        raise UnreadableError(f"unknown type {first.shown}")
    if base == "float" and len(arguments) == 1:  # binary digits, which only choose the type
        digits, arguments = arguments[0].text, []
        base = "double" if digits.isdecimal() and int(digits) > _MOST_FLOAT_DIGITS else "float"
    return base, arguments


def _full_name(name: str, sql_mode: int, *, has_arguments: bool) -> str:
    """The full name of a type by a name in lower case, which may depend on `sql_mode`."""
    if name == "real":
        return "float" if sql_mode & _REAL_AS_FLOAT else "double"
    if name == "timestamp" and sql_mode & _MAXDB:
        return "datetime"
    if name == "number" and not has_arguments:
        return "double"
    if sql_mode & _ORACLE == _ORACLE:
        if name == "date":
            return "datetime"
        if name == "blob" and not has_arguments:
            return "longblob"
    return _SYNONYMS.get(name, name)


def _attributes(cursor: TokenCursor, facts: _Facts) -> None:
    """Parse the attributes after a type, up to the end, FIRST or AFTER."""
    while cursor and cursor.keyword() not in ("FIRST", "AFTER"):
        if charset := read_charset(cursor):
            if charset.charset != DEFAULT:
                facts["charset"] = merge(facts.get("charset", UNKNOWN_CHARSET), charset)
            continue
        token = cursor.next()
        if take := _ATTRIBUTES.get(token.keyword):
            take(cursor, facts)
        elif token.kind is TokenKind.MARK and token.text == "(":
            raise UnreadableError("unexpected parenthesized group")
        if cursor.skip("="):  # the value of an engine's attribute
            cursor.next()
        cursor.skip_group()


def _not(cursor: TokenCursor, facts: _Facts) -> None:
    if cursor.skip("NULL"):
        facts["is_nullable"] = False


def _primary(cursor: TokenCursor, facts: _Facts) -> None:
    cursor.skip("KEY")
    facts |= {"is_primary_key": True, "is_nullable": False}


def _unique(cursor: TokenCursor, facts: _Facts) -> None:
    cursor.skip("CLUSTERING")
    cursor.skip("KEY")
    facts["is_unique"] = True


def _constraint(cursor: TokenCursor, facts: _Facts) -> None:
    if cursor.keyword() not in ("CHECK", "REFERENCES"):
        cursor.name()


def _as(cursor: TokenCursor, facts: _Facts) -> None:
    facts |= {"is_generated": True, "is_virtual": True}
    if cursor.skip("ROW"):
        facts |= {"is_virtual": False, "is_nullable": False, "is_row_period": True}
        cursor.skip_one("START", "END")


def _on_update(cursor: TokenCursor, facts: _Facts) -> None:
    facts["has_on_update"] = True
    cursor.next()
    _skip_value(cursor)


def _set(name: str, value: object) -> Callable[[TokenCursor, _Facts], None]:
    return lambda cursor, facts: facts.update({name: value})


def _skip_value(cursor: TokenCursor) -> None:
    """Skip a default value: a literal, a name or call, or an expression in parentheses."""
    if cursor.skip_group():
        return
    if cursor.skip("CASE"):
        _skip_case(cursor)
        return
    while cursor.skip_one("+", "-", "."):
        pass
    token = cursor.next()
    while cursor.skip("."):  # a fraction, or the name of a sequence
        if cursor.peek() is not None:
            cursor.next()
    following = cursor.peek()
    if token.kind is TokenKind.WORD and following is not None and following.kind is TokenKind.STRING:
        cursor.next()  # x'41', _utf8mb4'text', DATE '2020-01-01'
    if token.keyword in ("NEXT", "PREVIOUS") and cursor.skip("VALUE", "FOR"):
        cursor.dotted_name()
    cursor.skip_group()


def _skip_case(cursor: TokenCursor) -> None:
    """Skip a CASE expression, which MariaDB takes without parentheses, from after its first word."""
    depth = 1
    while depth:
        word = cursor.next().keyword
        depth += (word == "CASE") - (word == "END")


def _reference(cursor: TokenCursor) -> ForeignKey:
    """Parse a foreign key from after REFERENCES."""
    parent, changing = cursor.dotted_name(), set[str]()
    columns = [part[0].text for part in split(cursor.group()) if part] if cursor.mark() == "(" else []
    while cursor.skip_one("MATCH", "ON"):
        event = cursor.next().keyword
        if cursor.skip("SET"):
            cursor.next()
            changing.add(event)
        elif cursor.skip("CASCADE"):
            changing.add(event)
        elif not cursor.skip("RESTRICT"):
            cursor.skip("NO", "ACTION")
    return ForeignKey("", parent, tuple(columns), "DELETE" in changing, "UPDATE" in changing)


def read_default(cursor: TokenCursor) -> str | None:
    """Parse a default; returns its literal, or None for anything else."""
    first, *others = cursor.passed(_skip_value)
    following = cursor.peek()
    if following is not None and following.kind is TokenKind.STRING:
        return None  # such as 'a' 'b', which are joined
    if first.kind is TokenKind.STRING:
        return None if others else str(first)
    text = "".join(map(str, (first, *others)))
    return text if _LITERAL.fullmatch(text) and first.kind is not TokenKind.NAME else None


_ATTRIBUTES: dict[str, Callable[[TokenCursor, _Facts], object]] = {
    "UNSIGNED": _set("is_unsigned", True),
    "ZEROFILL": _set("is_unsigned", True),
    "ASCII": _set("charset", Charset("latin1")),
    "UNICODE": _set("charset", Charset("ucs2")),
    "BINARY": _set("is_binary", True),
    "NOT": _not,
    "PRIMARY": _primary,
    "KEY": _primary,
    "UNIQUE": _unique,
    "AS": _as,
    "STORED": _set("is_virtual", False),
    "PERSISTENT": _set("is_virtual", False),
    "INVISIBLE": _set("is_visible", False),
    "AUTO_INCREMENT": _set("is_nullable", False),
    "NULL": _set("is_null", True),
    "DEFAULT": lambda cursor, facts: facts.update(default=read_default(cursor)),
    "ON": _on_update,
    "COMMENT": lambda cursor, facts: cursor.next(),
    "COLUMN_FORMAT": lambda cursor, facts: cursor.next(),
    "STORAGE": lambda cursor, facts: cursor.next(),
    "CONSTRAINT": _constraint,
    "CLUSTERING": lambda cursor, facts: cursor.skip("KEY"),  # of TokuDB; no primary key
    "REFERENCES": lambda cursor, facts: facts.update(foreign=_reference(cursor)),
}


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
    columns: Sequence[ColumnDefinition], before: Mapping[str, HiddenColumn], added: Iterable[HiddenColumn]
) -> tuple[list[ColumnDefinition], tuple[HiddenColumn, ...]]:
    """Separate the hidden columns of an altered table from the others.

    `before`: the hidden columns among `columns`, by the name they have there; a dropped key has no name.
    `added`: those of new keys, which come after all others.
    """
    kept: list[ColumnDefinition] = []
    hidden: list[HiddenColumn] = []
    for column in columns:
        if (hidden_column := before.get(column.name)) is None:
            kept.append(column)
        elif hidden_column.key_name:
            hidden.append(hidden_column._replace(place=len(kept)))
    return kept, (*hidden, *(hidden_column._replace(place=len(kept)) for hidden_column in added))


def with_period(table: TableDefinition) -> TableDefinition:
    """The table with the two hidden columns that MariaDB adds for system versioning."""
    row_start = ColumnDefinition(
        "row_start", "timestamp(6)", "timestamp", ("6",),
        is_nullable=False, is_generated=True, is_visible=False, is_row_period=True,
    )  # fmt: skip
    row_end = replace(row_start, name="row_end")
    return replace(table, columns=(*table.columns, row_start, row_end), has_implicit_period=True)


def without_period(table: TableDefinition) -> TableDefinition:
    """The table without the hidden system versioning columns."""
    if not table.has_implicit_period:
        return table
    return replace(table, columns=table.columns[:-2], has_implicit_period=False)
