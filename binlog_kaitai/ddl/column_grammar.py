"""The grammar of a column in CREATE and ALTER TABLE: the words of types and of attributes, as tables.

The words are those of both servers' `sql/sql_yacc.yy`. Servers log what they have executed, so their rules
about order and combination are not checked again. A word that is not in the tables makes a statement
unreadable, since it might change the meaning of the others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple

from binlog_kaitai.core.grammar import masks
from binlog_kaitai.ddl.column_charsets import DEFAULT, OF_CHARSET, merge, read_charset
from binlog_kaitai.ddl.lexer import Token, TokenCursor, TokenKind, UnreadableError, split
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import SQL_TYPES
from binlog_kaitai.values.table_definition import UNKNOWN_CHARSET, Charset, ColumnDefinition, ForeignKey

#: What words state about a column: fields of its definition, its own charset as a :class:`Charset`, its
#: `foreign` key, and whether it `is_binary`, `is_null`, `is_unique` and `is_versioned`.
_Facts = dict[str, Any]

_MAXDB = masks.SqlMode.IS_MAXDB
#: Oracle's types need both bits: before MariaDB 10.3, and in MySQL, ORACLE alone leaves types as they are.
_ORACLE = masks.SqlMode.IS_ORACLE | masks.SqlMode.IS_SIMULTANEOUS_ASSIGNMENT << 32

#: What a type's words state besides the type.
_STATED: dict[str, _Facts] = {
    "SERIAL": {"is_unsigned": True, "is_nullable": False, "is_unique": True},
    **{word: {"arguments": ("1",)} for word in ("BOOL", "BOOLEAN")},
    **{word: {"charset": Charset("utf8mb3")} for word in ("NCHAR", "NVARCHAR", "NATIONAL")},
}


#: Other types that words stand for if `sql_mode` has these bits; some only without arguments.
_MEANINGS = {
    "REAL": (masks.SqlMode.IS_REAL_AS_FLOAT, "float", False),
    "TIMESTAMP": (_MAXDB, "datetime", False),
    "DATE": (_ORACLE, "datetime", False),
    "BLOB": (_ORACLE, "longblob", True),
    "NUMBER": (0, "double", True),
}
#: MariaDB's qualifiers of type names: the bits of `sql_mode` that apply to times instead of the session's.
_QUALIFIERS = {"MARIADB_SCHEMA": 0, "ORACLE_SCHEMA": _ORACLE, "MAXDB_SCHEMA": _MAXDB}

#: FLOAT with more binary digits is DOUBLE.
_MOST_FLOAT_DIGITS = 24

#: An argument as the server reads it: the digits before the point.
_NUMBER = re.compile(r"0*(\d*)(?: \.(?: \d*)?)?|\.\s\d*", re.ASCII)

#: What a tokenizer takes for the word in ``1e-5``.
_EXPONENT = re.compile(r"\d*e", re.I | re.A)

#: A literal that is no string.
_LITERAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)|0x[0-9a-f]+|[bx]'[0-9a-f]*'|null|true|false", re.I | re.A)


_Read = Callable[[TokenCursor], object]


def _states(
    read: _Read | None = None, fact: str = "", /, **facts: object
) -> tuple[_Facts, _Read | None, str]:
    """What an attribute's words state, how what follows them is read, and the fact that this is."""
    return facts, read, fact


def _value(cursor: TokenCursor) -> None:
    """Skip a default value: a literal, a name, call or variable, or an expression in parentheses."""
    if cursor.skip_group():
        return
    if cursor.skip("{"):  # ODBC's {d '2020-01-01'}
        while not cursor.skip("}"):
            cursor.next()
        return
    if cursor.skip("CASE"):
        _rest_of_case(cursor)
        return
    while cursor.skip_one("+", "-", ".", "@"):
        pass
    token = cursor.next()
    if token.keyword.startswith("_") and cursor.keyword():  # _utf8mb4 x'41'
        token = cursor.next()
    last = token
    while cursor.skip("."):  # a fraction, or the name of a sequence
        if cursor.peek() is not None:
            last = cursor.next()
    if _EXPONENT.fullmatch(last.text) and cursor.skip_one("+", "-"):
        cursor.next()
    while (following := cursor.peek()) is not None and following.kind is TokenKind.STRING:
        cursor.next()  # x'41', _utf8mb4'text', DATE '2020-01-01', 'a' 'b'
    if token.keyword in ("NEXT", "PREVIOUS") and cursor.skip("VALUE", "FOR"):
        cursor.dotted_name()
    cursor.skip_group()


def _rest_of_case(cursor: TokenCursor) -> None:
    """Skip a CASE expression, which MariaDB takes without parentheses, from after its first word."""
    depth = 1
    while depth:
        word = cursor.next().keyword
        depth += (word == "CASE") - (word == "END")


def _constraint_name(cursor: TokenCursor) -> None:
    if cursor.keyword() not in ("CHECK", "REFERENCES"):
        cursor.name()


def read_reference(cursor: TokenCursor) -> ForeignKey:
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
    first, *others = cursor.passed(_value)
    if first.kind is TokenKind.STRING:
        return None if others else str(first)  # others: such as 'a' 'b', which are joined
    text = "".join(map(str, (first, *others)))
    return text if _LITERAL.fullmatch(text) and first.kind is not TokenKind.NAME else None


#: Attributes that change nothing that is recorded here, alone or with a value.
_HARMLESS = (
    *("SIGNED", "COMPRESSED", "NOT SECONDARY", "GENERATED ALWAYS", "WITHOUT SYSTEM VERSIONING"),
    *("ENFORCED", "NOT ENFORCED", "CLUSTERING", "CLUSTERING KEY"),
)
_HARMLESS_WITH_VALUE = (
    *("COLUMN_FORMAT", "STORAGE", "SRID", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"),
    *("EXTERNAL_FORMAT", "MASKING POLICY", "WITH COMPRESSION_DICTIONARY"),
)
_ATTRIBUTES = {
    "UNSIGNED": _states(is_unsigned=True),
    "ZEROFILL": _states(is_unsigned=True),
    "BYTE": _states(charset=Charset(BINARY)),
    "ASCII": _states(charset=Charset("latin1")),
    "UNICODE": _states(charset=Charset("ucs2")),
    "BINARY": _states(is_binary=True),
    "NULL": _states(is_nullable=True, is_null=True),
    "NOT NULL": _states(is_nullable=False),
    "NOT NULL ENABLE": _states(is_nullable=False),
    "PRIMARY KEY": _states(is_primary_key=True),
    "KEY": _states(is_primary_key=True),
    "UNIQUE": _states(is_unique=True),
    "UNIQUE KEY": _states(is_unique=True),
    "AUTO_INCREMENT": _states(is_nullable=False),
    "SERIAL DEFAULT VALUE": _states(is_nullable=False, is_unique=True, default=None),
    "DEFAULT": _states(read_default, "default"),
    "ON UPDATE": _states(_value, has_on_update=True),
    "COMMENT": _states(lambda cursor: cursor.next().text, "comment"),
    "AS": _states(TokenCursor.group, is_generated=True, is_virtual=True),
    "VIRTUAL": _states(is_virtual=True),
    "STORED": _states(is_virtual=False),
    "PERSISTENT": _states(is_virtual=False),
    **{
        f"AS ROW {end}": _states(is_generated=True, is_nullable=False, is_row_period=True)
        for end in ("START", "END")
    },
    "WITH SYSTEM VERSIONING": _states(is_versioned=True),
    "VISIBLE": _states(is_visible=True),
    "INVISIBLE": _states(is_visible=False),
    "CONSTRAINT": _states(_constraint_name),
    "CHECK": _states(TokenCursor.group),
    "REFERENCES": _states(read_reference, "foreign"),
    **dict.fromkeys(("UNIQUE CLUSTERING", "UNIQUE CLUSTERING KEY"), _states(is_unique=True)),  # of TokuDB
    **dict.fromkeys(_HARMLESS, _states()),
    **dict.fromkeys(_HARMLESS_WITH_VALUE, _states(TokenCursor.next)),
}

#: Words that servers do not distinguish.
_SAME_WORDS = {"CHAR": ("CHAR", "CHARACTER"), "VARCHAR": ("VARCHAR", "VARCHARACTER")}

_Phrases = dict[str, list[tuple[tuple[str, ...], str]]]


def _phrases(phrases: Iterable[str]) -> _Phrases:
    """Phrases by their first words, the longest first: the words, and the phrase that they stand for."""
    by_word: _Phrases = defaultdict(list)
    for phrase in sorted(phrases, key=lambda phrase: -phrase.count(" ")):
        for words in product(*(_SAME_WORDS.get(word, (word,)) for word in phrase.split())):
            by_word[words[0]].append((words, phrase))
    return by_word


_BASES = {spelling: base for base, row in SQL_TYPES.items() for spelling in row.spellings}
_TYPE_PHRASES, _ATTRIBUTE_PHRASES = _phrases(_BASES), _phrases(_ATTRIBUTES)


def _phrase(cursor: TokenCursor, phrases: _Phrases) -> str:
    """Advance past the longest phrase that comes next; empty if none does."""
    return next((phrase for words, phrase in phrases.get(cursor.keyword(), ()) if cursor.skip(*words)), "")


class Key(NamedTuple):
    """A key defined as a separate element, or what a column states about keys.

    `primary`: the columns of a primary key; empty for other keys, None if they are not fully understood.
    `only_if_new`: not added if the table has such a key.
    `name`: empty if the server chooses it.
    `expressions`: numbers of the parts that are expressions; MySQL creates a hidden column for each.
    `foreign`: the foreign key that it is.
    `required`: columns that cannot be NULL: those of a period, and those known of a primary key.
    `is_versioned`: of a column that has system versioning.
    """

    primary: tuple[str, ...] | None = ()
    name: str = ""
    expressions: tuple[int, ...] = ()
    is_unique: bool = False
    only_if_new: bool = False
    foreign: ForeignKey | None = None
    required: tuple[str, ...] = ()
    is_versioned: bool = False


def read_column(cursor: TokenCursor, sql_mode: int) -> tuple[ColumnDefinition, Key]:
    """Parse a column, and whether it has a unique or foreign key; stops before FIRST or AFTER.

    Raises `UnreadableError`: the column has no name, or no type that a server has, or an unknown attribute.
    """
    name = cursor.dotted_name()[-1]
    facts: _Facts = {"charset": UNKNOWN_CHARSET, "default": ""}
    base = _type(cursor, facts, sql_mode)
    _attributes(cursor, facts)
    is_unique, is_versioned, is_binary, is_null = (
        facts.pop(flag, False) for flag in ("is_unique", "is_versioned", "is_binary", "is_null")
    )
    key = Key(is_unique=is_unique, foreign=facts.pop("foreign", None), is_versioned=is_versioned)
    charset: Charset = facts.pop("charset")
    # MariaDB makes a text of byte strings with a collation.
    if charset.charset not in (None, BINARY):
        base = next((text for text, row in SQL_TYPES.items() if row.of_bytes == base), base)
        base = "longtext" if base == "json" else base
    kind = SQL_TYPES[base]
    if base == "json":
        charset = Charset("utf8mb4")  # a text type in MariaDB
    elif not kind.is_text:
        charset = UNKNOWN_CHARSET
    elif is_binary:
        charset = charset._replace(collation=OF_CHARSET)
    arguments = facts.pop("arguments", ())
    is_unsigned = facts.pop("is_unsigned", False) if kind.is_number else None
    type_name = (
        base + (f"({','.join(arguments)})" if arguments else "") + (" unsigned" if is_unsigned else "")
    )
    facts |= {"is_unsigned": is_unsigned, "charset": charset.charset, "collation": charset.collation}
    if facts.get("is_primary_key"):
        facts["is_nullable"] = False
    if base in ("datetime", "timestamp") and "has_on_update" not in facts:
        # A TIMESTAMP without DEFAULT or NULL may have implicit attributes.
        has_none = base != "timestamp" or facts["default"] != "" or is_null
        facts["has_on_update"] = False if has_none else None
    return ColumnDefinition(name, type_name, base, arguments, **facts), key


def _type(cursor: TokenCursor, facts: _Facts, sql_mode: int) -> str:
    """Parse a type with its arguments; returns its full name."""
    first = cursor.peek()
    if first is not None and first.kind in (TokenKind.WORD, TokenKind.NAME) and cursor.mark(1) == ".":
        bits = _QUALIFIERS.get(first.text.upper())
        if bits is None:
            raise UnreadableError(f"unknown qualifier of a type: {first.shown}")
        cursor.next()
        cursor.next()
        sql_mode = bits if cursor.keyword() in ("DATE", "TIMESTAMP") else sql_mode
    phrase = _phrase(cursor, _TYPE_PHRASES)
    if not phrase:
        token = cursor.next()
        phrase = token.text.upper() if token.kind is TokenKind.NAME else ""  # of a type that is a plugin
        if phrase not in _BASES:
            is_name = token.kind in (TokenKind.WORD, TokenKind.NAME)
            raise UnreadableError(f"{'unknown type' if is_name else 'expected a type, found'} {token.shown}")
    base = _BASES[phrase]
    word = phrase.partition(" ")[0]
    facts |= _STATED.get(word, {})
    has_arguments = cursor.mark() == "("
    bits, other, is_bare = _MEANINGS.get(phrase, (0, base, False))
    if sql_mode & bits == bits and not (has_arguments and is_bare):
        base = other
    if has_arguments:
        arguments = _arguments(base, cursor.group())
        if base == "float" and len(arguments) == 1:  # binary digits, which only choose the type
            is_double = arguments[0].isdecimal() and int(arguments[0][:3]) > _MOST_FLOAT_DIGITS
            base, arguments = "double" if is_double else base, ()
        facts["arguments"] = arguments
    return base


def _arguments(base: str, tokens: list[Token]) -> tuple[str, ...]:
    texts = tuple(" ".join(map(str, part)) for part in split(tokens)) if tokens else ()
    if base in ("enum", "set"):
        return texts
    numbers = tuple(
        (number[1] or "0") if (number := _NUMBER.fullmatch(text)) is not None else text for text in texts
    )
    # Zeros stand for the type's own lengths, which the server then shows; some types can be empty.
    is_default = set(numbers) == {"0"} and base not in ("char", "varchar", "binary", "varbinary")
    return () if is_default else numbers


def _attributes(cursor: TokenCursor, facts: _Facts) -> None:
    """Parse the attributes after a type, up to the end, FIRST or AFTER."""
    while cursor and cursor.keyword() not in ("FIRST", "AFTER"):
        if cursor.keyword() != "DEFAULT" and (charset := read_charset(cursor)):
            if charset.charset != DEFAULT:
                facts["charset"] = merge(facts["charset"], charset)
        elif cursor.mark(1) == "=":  # an attribute for the engine
            for _ in range(3):
                cursor.next()
        elif phrase := _phrase(cursor, _ATTRIBUTE_PHRASES):
            stated, read, fact = _ATTRIBUTES[phrase]
            value = None if read is None else read(cursor)
            facts |= {**stated, fact: value} if fact else stated
        else:
            raise UnreadableError(f"unexpected {cursor.next().shown} after a column")
