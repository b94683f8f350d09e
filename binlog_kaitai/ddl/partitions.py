"""Which rows a partition has, by RANGE and LIST of numbers and dates.

The partitioning of a table is JSON text, so that definitions can be compared and saved: the function, "" for
none, and the column of each expression; whether it is LIST; each partition with its bound (RANGE) or its
members (LIST), which are lists of literals. It is not known with MariaDB's DEFAULT, whose rows may stay there
when a partition for them is added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from itertools import chain

from binlog_kaitai.ddl.lexer import COMMA, Token, TokenCursor, UnreadableError, split
from binlog_kaitai.values.table_definition import TableDefinition

_EXPRESSION = re.compile(r"(?:(\w+)\()?`?([\w$]+)`?\)?")

#: Types of columns by functions, "" for none; and from which value on a function is not less than a number.
_TYPES = {
    "": ("tinyint", "smallint", "mediumint", "int", "bigint", "date", "datetime"),
    **dict.fromkeys(("YEAR", "TO_DAYS"), ("date", "datetime")),
    "UNIX_TIMESTAMP": ("timestamp",),
}
_FIRST: dict[str, Callable[[int], date]] = {
    "YEAR": lambda number: date(number, 1, 1),
    "TO_DAYS": lambda number: date.fromordinal(number - 365),
    "UNIX_TIMESTAMP": lambda number: datetime(1970, 1, 1) + timedelta(seconds=number),
}


def read_partitioning(cursor: TokenCursor) -> str:
    """Parse the clause after PARTITION BY; "" if the values of a row do not determine its partition."""
    if not (method := cursor.skip_one("RANGE", "LIST")):
        return ""
    cursor.skip("COLUMNS")
    try:
        by = [_EXPRESSION.fullmatch("".join(map(str, part))) for part in split(cursor.group())]
        while not (cursor.mark() == "(" and cursor.keyword(1) == "PARTITION"):
            if not cursor.skip_group():  # of SUBPARTITION BY
                cursor.next()
        partitions = _partitions(cursor)
    except UnreadableError:
        return ""
    expressions = [((match[1] or "").upper(), match[2]) for match in by if match]
    return json.dumps([expressions, method == "LIST", partitions]) if len(expressions) == len(by) else ""


def _partitions(cursor: TokenCursor) -> list[tuple[str, list[list[str]]]]:
    partitions: list[tuple[str, list[list[str]]]] = []
    for part in map(TokenCursor, split(cursor.group())):
        part.skip("PARTITION")
        name = part.name().casefold()
        if part.skip("VALUES", "LESS", "THAN"):
            values = [_literals([part.next()] if part.keyword() == "MAXVALUE" else part.group())]
        elif part.skip("VALUES", "IN"):
            members = split(part.group())
            values = [_literals(member[1:-1] if member[0].text == "(" else member) for member in members]
        else:
            raise UnreadableError("a partition without values")
        partitions.append((name, values))
    return partitions


def _literals(tokens: Sequence[Token]) -> list[str]:
    return ["".join(map(str, part)) for part in split(tokens)]


def altered(partitioning: str, clauses: Sequence[Sequence[Token]]) -> str:
    """The partitioning after an ALTER TABLE; "" if it is not known then."""
    verb, cursor = _found(clauses)
    if cursor.skip("BY"):
        return read_partitioning(cursor)
    has_wrong_rows = any(token.keyword == "WITHOUT" for clause in clauses for token in clause)  # VALIDATION
    if not partitioning or verb in ("REMOVE", "IMPORT", "TO") or has_wrong_rows:
        return ""
    by, is_list, known = json.loads(partitioning)
    renames = (token for clause in clauses if clause[0].keyword in ("CHANGE", "RENAME") for token in clause)
    renamed = {token.text.casefold() for token in renames}
    cursor.skip_one("LOCAL", "NO_WRITE_TO_BINLOG")
    if cursor.skip("IF", "NOT") or any(column.casefold() in renamed for _, column in by):
        return ""
    if verb in ("ADD", "DROP", "REORGANIZE", "CONVERT"):
        try:
            names = _names(cursor)
            new = _partitions(cursor) if cursor.mark() == "(" else []
        except UnreadableError:
            return ""
        first = next((place for place, (name, _) in enumerate(known) if name in names), len(known))
        known = [partition for partition in known if partition[0] not in names]
        known[first:first] = new
    return json.dumps([by, is_list, known])


def _found(clauses: Sequence[Sequence[Token]]) -> tuple[str, TokenCursor]:
    """The word before PARTITION or PARTITIONING, and what follows."""
    cursor, verb = TokenCursor([*chain(*((*clause, COMMA) for clause in clauses))]), ""
    while cursor and not cursor.skip_one("PARTITION", "PARTITIONING"):
        verb = "" if cursor.skip_group() else cursor.next().keyword
    return verb, cursor


def _names(cursor: TokenCursor) -> set[str]:
    """The partitions that a clause is about, up to what follows them."""
    cursor.skip("IF", "EXISTS")
    names = set()
    while cursor and cursor.mark() != "(" and not cursor.skip_one("INTO", "TO"):
        names.add(cursor.name().casefold())
        cursor.skip(",")
    return names


def rows_of(table: TableDefinition | None, clauses: Sequence[Sequence[Token]]) -> tuple[tuple[str, ...], str]:
    """Which rows the partitions have that DROP PARTITION or TRUNCATE PARTITION names.

    Returns the columns, and a condition on their values; see `values.conditions`.
    Raises `UnreadableError`, `ValueError` or `OverflowError`: that is not known.
    """
    if table is None or not table.partitioning:
        raise UnreadableError("its partitions are not known, or values do not tell their rows")
    by, is_list, known = json.loads(table.partitioning)
    names = _names(cursor := _found(clauses)[1])
    if cursor or not names <= {name for name, _ in known}:
        raise UnreadableError("a partition is not known")
    for function, name in by:
        column = None if (number := table.find(name)) is None else table.columns[number]
        has_type = column is not None and column.base_type in _TYPES.get(function, ())
        has_fraction = column is not None and column.base_type == "timestamp" and column.arguments
        if column is None or not has_type or column.is_generated or has_fraction or (function and is_list):
            raise UnreadableError(f"the type or the function of {name} is not supported")
    columns = tuple(name for _, name in by)
    if is_list:
        listed = (
            zip(columns, value, strict=True) for name, members in known if name in names for value in members
        )
        equal = (" AND ".join(f"`{name}` <=> {value}" for name, value in pairs) for pairs in listed)
        return columns, " OR ".join(equal)
    below = [_below([*zip(by, bound, strict=True)]) for _, (bound,) in known]
    ranges = zip(known, ["", *(f" AND NOT ({low})" for low in below)], below, strict=False)
    return columns, " OR ".join(f"({high}){low}" for (name, _), low, high in ranges if name in names)


def _below(bound: Sequence[tuple[tuple[str, str], str]]) -> str:
    """The condition for rows less than a bound, column by column; NULL is less than any value."""
    ((function, name), value), *more = bound
    if value.upper() == "MAXVALUE":
        return f"`{name}` IS NULL OR `{name}` IS NOT NULL"
    if function == "TO_DAYS" and (day := re.fullmatch(r"(?i)TO_DAYS\(('[-\d]{10}')\)", value)):
        value = day[1]
    elif function:
        value = f"'{_FIRST[function](int(value))}'"
    rest = f" OR `{name}` = {value} AND ({_below(more)})" if more else ""
    return f"`{name}` IS NULL OR `{name}` < {value}{rest}"
