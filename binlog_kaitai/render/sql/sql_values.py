"""Values as SQL literals, by the rules of `binlog_kaitai.values.sql_text`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.render.sql.statement_text import inside
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.string_columns import extends_ascii
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.rows.text import listed_values as kinds
from binlog_kaitai.rows.text import long_values
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import CHOICES, STRINGS, Kind
from binlog_kaitai.values.json_documents import JsonDiff
from binlog_kaitai.values.representations import Value, sql_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.sql_text import (
    PLAIN,
    UTF8,
    SqlDialect,
    choice_sql,
    document_sql,
    double_sql,
    identifier,
    introducer,
    is_plain,
    literal,
)
from binlog_kaitai.values.strings import has_own_text
from binlog_kaitai.views.row_programs import NO_LIMIT, Cell, ValueStyle, is_usual_set, kind_of, width_of

_PLAIN = bytes(sorted(PLAIN))


@dataclass(frozen=True)
class SqlStyle(ValueStyle):
    """SQL literals for a server; for a string in quotes if `dialect` is QUOTED_SQL."""

    server: SqlDialect = field(default_factory=SqlDialect)

    @classmethod
    def of(cls, server: SqlDialect, *, is_quoted: bool) -> SqlStyle:
        """The style for statements, or for statements in quotes, where no placeholders stand for values."""
        if is_quoted:
            return cls(kinds.QUOTED_SQL, b"NULL", longest=NO_LIMIT, server=server)
        return cls(kinds.SQL, b"NULL", longest=long_values.LONG, server=server)

    def part(self, text: bytes) -> bytes:
        """Part of a statement, as it is written."""
        return inside(text) if self.dialect == kinds.QUOTED_SQL else text

    def cell(self, table: Table, column: Column) -> Cell:
        """See :class:`ValueStyle`."""
        size, prefix = width_of(table, column)
        kind, detail = kind_of(column)
        words: Sequence[str] | None = ()
        if column.kind in STRINGS:
            kind, detail, words = self._string(column)
        elif column.kind in CHOICES:
            kind, words = self._choice(column, size)
        elif column.kind == Kind.JSON:
            # Servers that support JSON also support utf8mb4.
            kind, words = kinds.DOCUMENT, [introducer("utf8mb4")]
        elif column.kind == Kind.GEOMETRY:
            axes = ", 'axis-order=long-lat'" if self.server.has_axes else ""
            kind, words = kinds.GEOMETRY, ["ST_GeomFromWKB(", axes]
        elif column.kind == Kind.VECTOR:
            kind, detail = kinds.BYTES, 0
        if words is None:
            return Cell(kinds.OTHER, size, prefix)
        return Cell(kind, size, prefix, detail, [self.part(word.encode()) for word in words])

    def exact_cell(self, table: Table, column: Column) -> Cell:
        """A FLOAT is compared as its exact DOUBLE value."""
        cell = self.cell(table, column)
        return cell._replace(kind=kinds.EXACT_FLOAT) if column.kind == Kind.FLOAT else cell

    def _string(self, column: Column) -> tuple[int, int, Sequence[str] | None]:
        charset = column.charset
        if has_own_text(column):
            return kinds.OTHER, 0, None
        if charset is None or charset == BINARY:
            is_padded = charset == BINARY and column.kind == Kind.CHAR
            return kinds.BYTES, column.length if is_padded else 0, ()
        if charset in UTF8:
            return kinds.UTF8, 0, [introducer(self.server.utf8)]
        # The original bytes: several of them may decode to one character, which would not round-trip.
        return (kinds.CODED, 0, [introducer(charset)]) if extends_ascii(charset) else (kinds.OTHER, 0, None)

    def _choice(self, column: Column, size: int) -> tuple[int, Sequence[str] | None]:
        members = column.members
        if members is None:
            return kinds.UNSIGNED, ()
        if is_ambiguous(column):
            return kinds.OTHER, None
        if column.kind == Kind.ENUM:
            return kinds.MEMBER, [choice_sql(member, column, self.server) for member in ("", *members)]
        is_usual = is_usual_set(members, size) and all(map(is_plain, members))
        return kinds.MEMBERS, [member.replace("'", "''") for member in members] if is_usual else None

    def text(self, value: Value, column: Column, kind: int = kinds.OTHER) -> bytes:
        """The literal of a value from the event reader."""
        if value is not None and kind == kinds.EXACT_FLOAT:
            assert isinstance(value, float)
            return double_sql(value).encode()
        return sql_form(value, column, self.server).encode()

    def left_texts(self, cells: Cells, rows: Ints, kind: int) -> list[bytes]:
        """See :class:`ValueStyle`."""
        column = cells.column
        starts = cells.starts[rows]
        first, which = distinct(group_ranges(cells.data, starts, starts + cells.sizes(rows)))
        chosen = rows[first]
        texts = cells.by_reader(chosen, lambda value: self.text(value, column, kind))
        if column.kind == Kind.JSON:
            texts = [self._document(cells, raw) for raw in cells.raw(chosen)]
        elif column.kind in CHOICES:
            unnamed = Cells(cells.table, replace(column, members=None), cells.data, cells.starts)
            texts = (
                unnamed.by_reader(chosen, lambda value: str(value).encode())
                if is_ambiguous(column)
                else texts
            )
        texts = list(map(self.part, texts))
        return [texts[number] for number in which.tolist()]

    def _document(self, cells: Cells, raw: bytes | None) -> bytes:
        document = parse_cell(cells.table.table_map, cells.column.index, raw or b"").document
        return (literal("null") if document is None else document_sql(document)).encode()

    def long_text(self, cells: Cells, row: int) -> bytes | None:
        """See :class:`ValueStyle`."""
        column, charset = cells.column, cells.column.charset
        is_of_bytes = charset is None or charset == BINARY
        if column.kind not in STRINGS or has_own_text(column) or not (is_of_bytes or extends_ascii(charset)):
            return None
        start, end = cells.range_of(row)
        before = ""
        if not is_of_bytes:
            if charset in UTF8 and not long_values.is_utf8(cells.data, start, end):
                return None
            if long_values.consists_of(_PLAIN, cells.data, start, end):
                return b"'" + long_values.placeholder(start, end, in_hex=False) + b"'"
            before = introducer(self.server.utf8 if charset in UTF8 else charset or "")
        return before.encode() + b"0x" + long_values.placeholder(start, end, in_hex=True)


def is_ambiguous(column: Column) -> bool:
    """Whether two members of an ENUM or SET have the same text, so that values are written as numbers."""
    members = column.members
    return members is not None and ("" in members or len(set(members)) < len(members))


def diff_sql(column: Column, diff: JsonDiff) -> bytes:
    """A partial update of a document as an expression on the column, if the document itself is not logged."""
    text = identifier(column.name)
    for one in diff.operations:
        path = literal(one.path)
        value = "" if one.document is None else f"CAST({document_sql(one.document)} AS JSON)"
        match one.operation:
            case "replace":
                text = f"JSON_REPLACE({text}, {path}, {value})"
            case "remove":
                text = f"JSON_REMOVE({text}, {path})"
            case _:
                # The path shows whether to insert an element into an array or a member into an object.
                function = "JSON_ARRAY_INSERT" if one.path.rstrip().endswith("]") else "JSON_INSERT"
                text = f"{function}({text}, {path}, {value})"
    return text.encode("utf-8", "surrogateescape")
