"""Writes statements that repeat or undo changes, many at a time.

Rules
-----
1. A row is found by its primary key if that is known and in the images; else by all columns of its image,
   compared exactly, with NULL equal to NULL, and LIMIT 1. The before image then identifies the row, as it
   does for the server.
2. An UPDATE sets the changed columns, and also all TIMESTAMP and DATETIME columns: those with ON UPDATE would
   otherwise get the current time.
3. Columns whose values the server generates (generated columns, periods of system versioning) are omitted.
4. Values missing from an image are never made up: such a change is refused, with the reason.
5. Statements with names that a client could misparse are prepared from strings (`prepared`).
6. A statement that finds its row by all columns fails if there is no such row: values that a server changes
   when they are written would otherwise stay as they are, without an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.render.sql.altered_tables import FittedTable
from binlog_kaitai.render.sql.row_changes import ChangeGroup, Side
from binlog_kaitai.render.sql.statement_text import prepared_lines
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.rows.text.sql_literals import sql_style
from binlog_kaitai.rows.text.text_styles import TextStyle, floats, joined
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import COMPRESSED, STRINGS, Kind
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.sql_text import (
    UTF8,
    SqlDialect,
    double_sql,
    identifier,
    introducer,
    is_plain,
    is_utf8,
)
from binlog_kaitai.values.strings import has_own_text

_END = b";\n"

#: Fails after a statement that changed no row; the server's message quotes the text.
CHECK = b"SET sql_mode = IF(ROW_COUNT() = 1, @@sql_mode, 'the statement before found no row');\n"

_TEXT = STRINGS | COMPRESSED
#: Columns that may have ON UPDATE CURRENT_TIMESTAMP.
_UPDATED = frozenset((Kind.DATETIME, Kind.TIMESTAMP, Kind.OLD_DATETIME, Kind.OLD_TIMESTAMP))


class RefusedError(Exception):
    """Changes that cannot be written as statements, with the reason."""


class WrittenStatements(NamedTuple):
    """Statements as an Arrow array of bytes with their line ends, and their common beginning.

    `head` is empty if they cannot be merged with other statements. `check` follows them: bytes, or an Arrow
    array of them.
    """

    lines: pa.Array
    head: bytes = b""
    check: bytes | pa.Array = b""


class ChangeStatements:
    """Writes statements for one table, as it was or fitted to its current definition."""

    def __init__(
        self, table: Table, dialect: SqlDialect, *, undo: bool, fitted: FittedTable | None = None
    ) -> None:
        schema = table.schema
        self._undo = undo
        self._dialect = dialect
        #: The names of the written columns, as in the statements.
        self._now = {column.index: column for column in schema.columns} if fitted is None else fitted.columns
        self._names = [*table.key, *(column.name for column in self._now.values())]
        self._name = b".".join(map(_name, table.key))
        self._columns = [
            column
            for column in schema.columns
            if column.index in self._now and not self._now[column.index].is_generated
        ]
        key = schema.primary_key if fitted is None else fitted.primary_key
        self._key = [schema.columns[index] for index in key]
        self._is_plain = all(map(is_plain, self._names))
        self._style = sql_style(dialect, defers_long=self._is_plain)
        self._exact = _exact(self._style)

    def write(self, group: ChangeGroup) -> WrittenStatements:
        """The statements for some changes.

        Raises
        ------
        RefusedError
            The images lack required columns.
        CellError
            A value is invalid.
        """
        if invalid := [name for name in self._names if not is_utf8(name)]:
            raise RefusedError(f"names are not valid UTF-8: {_list(invalid)}")
        lines, head, check = self._lines(group)
        if not self._is_plain:
            return WrittenStatements(prepared_lines(lines, check))
        return WrittenStatements(lines if check == b"" else joined(lines, check), head)

    def _lines(self, group: ChangeGroup) -> WrittenStatements:
        before, after = group.before, group.after
        if self._undo:
            before, after = after, before
        if before is None:
            return self._insert(group, _there(after))
        return self._delete(group, before) if after is None else self._update(group, before, after)

    def _insert(self, group: ChangeGroup, side: Side) -> WrittenStatements:
        present = [column for column in self._columns if side.has(column)]
        if self._undo:
            self._refuse_without(present)
        names = b", ".join(map(self._name_of, present))
        head = b"INSERT INTO %s (%s) VALUES " % (self._name, names)
        if not present:  # all columns had their defaults, and the image is minimal
            return WrittenStatements(pa.array([head + b"()" + _END] * len(group), pa.binary()), head)
        values = _listed([side.texts(one, self._style) for one in present])
        return WrittenStatements(_line(head + b"(", *values, b")"), head)

    def _name_of(self, column: Column) -> bytes:
        return _name(self._now[column.index].name)

    def _delete(self, group: ChangeGroup, side: Side) -> WrittenStatements:
        if self._undo and not self._has_key(side):
            # The image of an insert need not identify the row.
            self._refuse_without([column for column in self._columns if side.has(column)])
        lines = _line(b"DELETE FROM %s" % self._name, *self._where(group, side))
        return WrittenStatements(lines, check=b"" if self._finds_by_key(group, side) else CHECK)

    def _update(self, group: ChangeGroup, before: Side, after: Side) -> WrittenStatements:
        """`before` is the current row, `after` the desired one."""
        touched = group.after
        present = [column for column in self._columns if _there(touched).has(column)]
        if missing := [column.name for column in present if not after.has(column)]:
            raise RefusedError(f"the before image lacks {_list(missing)}")
        if not present:
            raise RefusedError("the after image has no column to set")
        body = self._assignments(group, present, after)
        lines = _line(b"UPDATE %s SET " % self._name, body, *self._where(group, before))
        return WrittenStatements(
            lines, check=b"" if self._finds_by_key(group, before) else self._check(group, present)
        )

    def _check(self, group: ChangeGroup, present: Sequence[Column]) -> pa.Array:
        # ROW_COUNT() counts the rows that an UPDATE changes, not those that it finds.
        changes = np.logical_or.reduce([group.changed(one) for one in present])
        return pc.if_else(pa.array(changes), pa.scalar(CHECK, pa.binary()), pa.scalar(b"", pa.binary()))

    def _assignments(self, group: ChangeGroup, present: Sequence[Column], side: Side) -> pa.Array:
        every = np.ones(len(group), dtype=np.bool_)
        masks = [every if one.kind in _UPDATED else group.changed(one) for one in present]
        nothing = ~np.logical_or.reduce(masks)
        masks[0] = masks[0] | nothing
        chosen = [(one, mask) for one, mask in zip(present, masks, strict=True) if mask.any()]
        pieces = []
        for column, mask in chosen:
            text = joined(b", " + self._name_of(column) + b"=", side.texts(column, self._style))
            pieces.append(
                text if mask.all() else pc.if_else(pa.array(mask), text, pa.scalar(b"", pa.binary()))
            )
        # Without the comma before the first assignment, whichever that is.
        return pc.binary_slice(joined(*pieces), 2, (1 << 31) - 1)

    def _has_key(self, *sides: Side) -> bool:
        return bool(self._key) and all(any(side.has(one) for side in sides) for one in self._key)

    def _finds_by_key(self, group: ChangeGroup, side: Side) -> bool:
        return self._has_key(side, side if group.before is None else group.before)

    def _where(self, group: ChangeGroup, side: Side) -> list[bytes | pa.Array]:
        """The pieces of the condition that finds the current row."""
        other = group.before if group.before is not None else side
        if self._finds_by_key(group, side):
            columns, sign, tail = self._key, b" = ", b""
        else:
            columns, sign, tail = self._columns, b" <=> ", b" LIMIT 1"
            columns = [column for column in columns if other.has(column)]
        if not columns:
            raise RefusedError("the image has no column that identifies the row")
        pieces: list[bytes | pa.Array] = []
        for column in columns:
            # Columns missing from an after image are unchanged.
            texts = (side if side.has(column) else other).texts(column, self._exact)
            plain = self._name_of(column), b"", b""
            name, opening, closing = self._compared(column) if tail else plain
            word = b" AND " if pieces else b" WHERE "
            pieces += [word + name + sign + opening, texts, closing]
        return [*pieces, tail]

    def _compared(self, column: Column) -> tuple[bytes, bytes, bytes]:
        return _compared(self._now[column.index], self._dialect, column.charset in UTF8)

    def _refuse_without(self, present: Sequence[Column]) -> None:
        known = {column.index for column in present}
        if missing := [column.name for column in self._columns if column.index not in known]:
            raise RefusedError(f"the image lacks {_list(missing)}")


def _compared(column: Column, dialect: SqlDialect, is_utf8: bool) -> tuple[bytes, bytes, bytes]:
    """The expression for an exact comparison, and the text before and after the literal.

    Parameters
    ----------
    is_utf8
        If the literal is text, it is UTF-8.
    """
    name = _name(column.name)
    if column.kind in _TEXT and column.charset != BINARY and not has_own_text(column):
        # Byte by byte: a collation would treat different texts as equal.
        as_bytes = b"CAST(%s AS BINARY)" % name
        is_same = is_utf8 and column.charset in UTF8
        if column.charset is None or is_same or not introducer(column.charset):
            return as_bytes, b"", b""
        return as_bytes, b"CONVERT(", b" USING %s)" % column.charset.encode()
    if column.kind == Kind.JSON and not dialect.is_mariadb:
        return name, b"CAST(", b" AS JSON)"
    if column.kind == Kind.VECTOR:
        return b"CAST(%s AS BINARY)" % name, b"", b""
    return name, b"", b""


def _exact(style: TextStyle) -> TextStyle:
    """The style for comparisons: a FLOAT is compared as its exact DOUBLE value."""

    def value(number: Any, column: Column) -> bytes:
        is_float = column.kind == Kind.FLOAT
        return double_sql(number).encode() if is_float else style.value(number, column)

    writers = dict(style.writers)
    writers[Kind.FLOAT] = partial(floats, is_exact=True)
    return replace(style, writers=writers, value=value)


def _there(side: Side | None) -> Side:
    assert side is not None  # a change has at least one image
    return side


def _name(name: str) -> bytes:
    return identifier(name).encode("utf-8", "surrogateescape")


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(identifier, names))


def _listed(texts: Sequence[pa.Array]) -> list[bytes | pa.Array]:
    """Comma-separated texts."""
    pieces: list[bytes | pa.Array] = []
    for text in texts:
        pieces += [b", ", text] if pieces else [text]
    return pieces


def _line(*pieces: bytes | pa.Array) -> pa.Array:
    """Join pieces into lines; consecutive constants are merged."""
    merged: list[bytes | pa.Array] = []
    for piece in (*pieces, _END):
        if isinstance(piece, bytes) and merged and isinstance(merged[-1], bytes):
            merged[-1] += piece
        elif piece != b"" if isinstance(piece, bytes) else True:
            merged.append(piece)
    return joined(*merged)
