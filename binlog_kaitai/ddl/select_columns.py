"""The columns that CREATE TABLE … SELECT takes from its query.

In row format, servers log such a statement as a plain CREATE TABLE; only statement format contains the query.
It is parsed by sqlglot, which is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import TYPE_CHECKING, NamedTuple

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.ddl.lexer import Token, UnreadableError
from binlog_kaitai.values.table_definition import ColumnDefinition, TableDefinition

if TYPE_CHECKING:
    from sqlglot import exp

#: Stands for a column type that the query determines.
UNKNOWN_TYPE = ""

Find = Callable[[tuple[str, ...]], TableDefinition | None]


def columns_of(query: Sequence[Token], find: Find) -> list[ColumnDefinition]:
    """The columns of a query's result set.

    `query`: the statement, starting with the part before SELECT.
    `find`: returns the definition of a table by its name.
    Raises `UnreadableError`: the column names cannot be determined with certainty.
    """
    import logging  # the import takes 2 ms, and most statements have no query

    try:
        import sqlglot
        from sqlglot import exp
    except ImportError as error:
        raise UnreadableError(f"parsing a query requires sqlglot: {pip_install('ddl')}") from error
    words = list(dropwhile(lambda word: word.keyword in ("AS", "IGNORE", "REPLACE"), query))
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        parsed = sqlglot.parse_one(" ".join(_quoted(word) for word in words), dialect="mysql")
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise UnreadableError("the query of CREATE TABLE … SELECT") from error
    while isinstance(parsed, exp.Subquery | exp.SetOperation):
        parsed = parsed.this
    if not isinstance(parsed, exp.Select) or parsed.args.get("with_") or parsed.args.get("with"):
        raise UnreadableError("the query of CREATE TABLE … SELECT")
    first = parsed.args.get("from_") or parsed.args.get("from")
    parts = ([first] if first else []) + (parsed.args.get("joins") or [])
    tables = [_table(part.this, find) for part in parts]
    columns: list[ColumnDefinition] = []
    for item in parsed.expressions:
        columns += _columns(item, tables)
    return columns


class _QueryTable(NamedTuple):
    """A table of the query, by its name or alias there; the definition is None if it is unknown."""

    alias: str
    definition: TableDefinition | None


def _quoted(token: Token) -> str:
    text = str(token)
    return text.replace("\\", "\\\\") if text.startswith("'") else text


def _table(source: exp.Expression, find: Find) -> _QueryTable:
    from sqlglot import exp

    if not isinstance(source, exp.Table) or source.args.get("joins"):
        return _QueryTable(source.alias_or_name.casefold(), None)
    name = (source.db, source.name) if source.db else (source.name,)
    return _QueryTable(source.alias_or_name.casefold(), find(name))


def _columns(item: exp.Expression, tables: list[_QueryTable]) -> list[ColumnDefinition]:
    from sqlglot import exp

    if isinstance(item, exp.Star) and len(tables) == 1:
        return _all(tables[0])
    if isinstance(item, exp.Column):
        owner = next((table for table in tables if table.alias == item.table.casefold()), None)
        if isinstance(item.this, exp.Star):
            return _all(owner)
        if owner is None and len(tables) == 1:
            owner = tables[0]
        number = owner.definition.find(item.name) if owner and owner.definition else None
        if owner and owner.definition and number is not None:
            return [_plain(owner.definition.columns[number])]
        return [ColumnDefinition(item.name, UNKNOWN_TYPE, UNKNOWN_TYPE)]
    if isinstance(item, exp.Alias):
        if isinstance(item.this, exp.Column):
            return [replace(column, name=item.alias) for column in _columns(item.this, tables)[:1]]
        return [ColumnDefinition(item.alias, UNKNOWN_TYPE, UNKNOWN_TYPE)]
    # The server names an expression by its original text.
    raise UnreadableError("an expression without a name in CREATE TABLE … SELECT")


def _all(table: _QueryTable | None) -> list[ColumnDefinition]:
    if table is None or table.definition is None:
        raise UnreadableError("CREATE TABLE … SELECT * of an unknown table")
    return [_plain(column) for column in table.definition.columns if column.is_visible]


def _plain(column: ColumnDefinition) -> ColumnDefinition:
    """A column of a query's result: without key attributes."""
    return replace(
        column,
        is_primary_key=False,
        is_generated=False,
        is_virtual=False,
        is_visible=True,
        is_row_period=False,
        has_on_update=None,
    )
