"""Writes statements that repeat or undo changes, many at a time.

Rules
-----
1. A row is found by its primary key if that is known and in the images; else by all columns of its image,
   compared exactly, with NULL equal to NULL, and LIMIT 1. The before image then identifies the row, as it
   does for the server.
2. An UPDATE sets the changed columns. A column that has ON UPDATE, or may have it, is set to itself
   (`c`=`c`): it would otherwise get the current time.
3. Columns whose values the server generates (generated columns, periods of system versioning) are omitted.
4. Values missing from an image are never made up: such a change is refused, with the reason.
5. Statements with names that a client could misparse are prepared from strings (`statement_text.prepared`).
6. Columns that are masked or left out are in no condition and no SET; an INSERT has NULL for the masked ones.
   A table whose rows are not found by other columns is refused.
7. A statement that finds its row by all columns fails if there is no such row: values that a server changes
   when they are written would otherwise stay as they are, without an error. A server counts the rows that an
   UPDATE changes, not those that it finds: one that may set equal values is followed by a look at the row.

The kernel of `rows` writes the statements, from a program for each set of columns in the images. Values are
literals by the rules of `binlog_kaitai.values.sql_text`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.groups import distinct, group_ranges
from binlog_kaitai.lines import long_values
from binlog_kaitai.lines.row_forms import CHANGES, Form, RowShape
from binlog_kaitai.lines.row_line_kernel import ASSIGNED, MAYBE_SAME
from binlog_kaitai.lines.row_programs import (
    MOST_MEMBERS,
    NO_LIMIT,
    Cell,
    Line,
    TableLines,
    ValueStyle,
    kind_of,
    width_of,
)
from binlog_kaitai.render.sql.altered_tables import FittedTable
from binlog_kaitai.render.sql.sql_options import SqlOptions
from binlog_kaitai.render.sql.statement_text import (
    ASSIGN,
    DEALLOCATE,
    RUN_ASSIGNED,
    inside,
)
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import DELETE
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.row_masks import Method
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text import listed_values as kinds
from binlog_kaitai.values.charsets import BINARY, extends_ascii
from binlog_kaitai.values.column_kinds import CHOICES, COMPRESSED, MOMENTS, STRINGS, Kind
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
    is_utf8,
    literal,
)
from binlog_kaitai.values.strings import has_own_text

#: How many names a reason lists.
_MOST_LISTED = 10

_PLAIN = bytes(sorted(PLAIN))
_END = b";\n"

_IS_CHANGED, _IS_FOUND = b"ROW_COUNT() = 1", b"@binlog_kaitai_found"

#: Fails after a statement that changed no row; the server's message quotes the text.
CHECK = b"SET sql_mode = IF(%s, @@sql_mode, 'the statement before found no row');\n" % _IS_CHANGED

#: The same for `--check`, also for clients that go on after an error: nothing is committed any more.
CHECK_ALL = b"SET @binlog_kaitai_ok = @binlog_kaitai_ok AND %s;\n" % _IS_CHANGED + CHECK.replace(
    _IS_CHANGED, b"@binlog_kaitai_ok"
)

_TEXT = STRINGS | COMPRESSED

#: The first column of MariaDB's sequences, whose only row is set by an INSERT of all columns.
_OF_SEQUENCE = "next_not_cached_value"


class RefusedError(Exception):
    """Changes that cannot be written as statements, with the reason."""


class Image(NamedTuple):
    """The columns of an image; `is_second` for the after image of an update."""

    columns: Collection[int]
    is_second: bool = False


class ImagePair(NamedTuple):
    """The images of some changes; an insert has no before image, a delete no after image."""

    before: Image | None
    after: Image | None

    @classmethod
    def of_program(cls, program: ImageProgram, *, ends: bool) -> ImagePair:
        """Those of events with a program; with `ends`, updates are deletes."""
        _, before, after, _ = RowShape.of(program)
        return cls(
            None if before is None else Image(frozenset(before)),
            None if after is None or ends else Image(frozenset(after), before is not None),
        )


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
            kind, words = self._choice(column)
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

    def _choice(self, column: Column) -> tuple[int, Sequence[str] | None]:
        members = column.members
        if members is None:
            return kinds.UNSIGNED, ()
        if is_ambiguous(column):
            return kinds.OTHER, None
        if column.kind == Kind.ENUM:
            return kinds.MEMBER, [choice_sql(member, column, self.server) for member in ("", *members)]
        is_usual = len(members) <= MOST_MEMBERS and all(map(is_plain, members))
        return kinds.MEMBERS, [member.replace("'", "''") for member in members] if is_usual else None

    def text(self, value: Value, column: Column, kind: int = kinds.OTHER) -> bytes:
        """The literal of a value from the event reader."""
        if value is not None and kind == kinds.EXACT_FLOAT:
            assert isinstance(value, float)
            return double_sql(value).encode()
        return sql_form(value, column, self.server).encode()

    def result_text(self, result: object, column: Column | None) -> bytes:
        """See :class:`ValueStyle`; an expression if the document is not known."""
        assert column is not None
        if isinstance(result, JsonDiff):
            return self.part(diff_sql(column, result))
        return self.part(super().result_text(result, column))

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
    for operation in diff.operations:
        path = literal(operation.path)
        value = "" if operation.document is None else f"CAST({document_sql(operation.document)} AS JSON)"
        match operation.operation:
            case "replace":
                text = f"JSON_REPLACE({text}, {path}, {value})"
            case "remove":
                text = f"JSON_REMOVE({text}, {path})"
            case _:
                # The path shows whether to insert an element into an array or a member into an object.
                function = "JSON_ARRAY_INSERT" if operation.path.rstrip().endswith("]") else "JSON_INSERT"
                text = f"{function}({text}, {path}, {value})"
    return text.encode("utf-8", "surrogateescape")


class ChangeStatements(Form):
    """The form of the statements for one table, as it was or fitted to its current definition.

    `ends`: updates end the period of a row; the statement deletes it.
    """

    takes_unknown = True

    def __init__(
        self,
        table: Table,
        server: SqlDialect,
        options: SqlOptions,
        *,
        fitted: FittedTable | None = None,
        ends: bool = False,
    ) -> None:
        schema = table.schema
        self._table, self._server, self._undo, self._ends = table, server, options.undo, ends
        self._insertion_words, self._checks = options.insertion, options.check
        #: The names of the written columns, as in the statements.
        self._now = {column.index: column for column in schema.columns} if fitted is None else fitted.columns
        database, name = table.key
        key = options.rewrite_db.get(database, database), name
        updated = [column.name for column in self._now.values() if _may_update_itself(column)]
        updated += fitted.updated if fitted is not None else ()
        self._names = [*key, *(column.name for column in self._now.values()), *updated]
        self._name = b".".join(map(_name, key))
        treatments = options.masks.treatments(schema)
        #: The columns without values in the statements, of which INSERTs have NULL for those that are masked.
        self._hidden = {name for name, treatment in treatments.items() if treatment.method is not Method.KEPT}
        left_out = {name for name in self._hidden if treatments[name].method is Method.LEFT_OUT}
        #: The columns that INSERTs have, and those with values in all statements.
        self._inserted = [
            column
            for column in schema.columns
            if column.index in self._now
            and not self._now[column.index].is_generated
            and column.name not in left_out
        ]
        self._columns = [column for column in self._inserted if column.name not in self._hidden]
        primary_key = schema.primary_key if fitted is None else fitted.primary_key
        self._key = [schema.columns[index] for index in primary_key]
        self._is_plain = all(map(is_plain, self._names))
        self.style: SqlStyle = SqlStyle.of(server, is_quoted=not self._is_plain)
        #: The names of columns that an UPDATE holds.
        self._held = [self.style.part(_name(name)) for name in updated]

    def describe(self, table_lines: TableLines, program: ImageProgram) -> list[tuple[int, ...]]:
        """See `row_forms.Form`; nothing for changes that cannot be written."""
        line = Line(table_lines, self.text_count)
        try:
            self._write(line, ImagePair.of_program(program, ends=self._ends))
        except RefusedError:
            return []
        return line.finish()

    def refusal(self, program: ImageProgram) -> tuple[str, str]:
        """The change of rows with a program, and why it cannot be written."""
        change = CHANGES[DELETE] if self._ends else RowShape.of(program).change.decode()
        line = Line(TableLines(self._table, self.style, self.describe), self.text_count)
        try:
            self._write(line, ImagePair.of_program(program, ends=self._ends))
        except RefusedError as refused:
            return change, str(refused)
        raise AssertionError("the statements can be written")

    def head_of(self, program: ImageProgram) -> bytes:
        """The beginning of the statements that can be merged if it is the same; else empty."""
        return self._head(ImagePair.of_program(program, ends=self._ends))

    def _head(self, images: ImagePair) -> bytes:
        before, after = reversed(images) if self._undo else images
        return self._insertion(after) if before is None and after is not None and self._is_plain else b""

    def _write(self, line: Line, images: ImagePair) -> None:
        if invalid := [name for name in self._names if not is_utf8(name)]:
            raise RefusedError(f"names are not valid UTF-8: {_list(invalid)}")
        opening, end, last = (
            (b"", _END, b"") if self._is_plain else (ASSIGN + b"'", b"'" + RUN_ASSIGNED, DEALLOCATE)
        )
        line.text(opening)
        self._refuse_hidden(self._key)
        current, wanted = reversed(images) if self._undo else images
        is_sure = not self._checks
        if current is None:
            self._insert(line, _there(wanted))
        elif wanted is None:
            is_sure &= self._delete(line, images, current)
        else:
            is_sure &= self._update(line, images, current, wanted)
        line.text(end)
        if not is_sure:
            check = CHECK_ALL if self._checks else CHECK
            if current is not None and wanted is not None:
                line.end_if_changed(check + last)
                # What has not changed the row has left it as it was found, and locked it.
                line.text(b"SET %s = %s;\n" % (_IS_FOUND, _IS_CHANGED) + opening)
                look = b"SET %s = %s OR EXISTS (SELECT 1 FROM %s" % (_IS_FOUND, _IS_FOUND, self._name)
                self._where(line.text(self.style.part(look)), images, current)
                line.text(b" FOR UPDATE)" + end)
                check = check.replace(_IS_CHANGED, _IS_FOUND)
            line.text(check)
        line.text(last)

    def _insertion(self, image: Image) -> bytes:
        names = b", ".join(
            self._name_of(column) for column in self._inserted if column.index in image.columns
        )
        return b"%s INTO %s (%s) VALUES " % (self._insertion_words, self._name, names)

    def _insert(self, line: Line, image: Image) -> None:
        present = [column for column in self._inserted if column.index in image.columns]
        if self._undo or [column.name for column in self._columns[:1]] == [_OF_SEQUENCE]:
            self._refuse_without(image)
        line.text(self.style.part(self._insertion(image)) + b"(")
        for column in present:  # none if all columns had their defaults, and the image is minimal
            line.text(b", " if column is not present[0] else b"")
            if column.name in self._hidden:
                line.text(b"NULL")
            else:
                line.value(column.index, is_second=image.is_second)
        line.text(b")")

    def _name_of(self, column: Column) -> bytes:
        return _name(self._now[column.index].name)

    def _delete(self, line: Line, images: ImagePair, image: Image) -> bool:
        """Returns whether the statement fails if there is no such row, like the others."""
        if self._undo and not self._has_key(image):
            # The image of an insert need not identify the row.
            self._refuse_without(image)
        line.text(self.style.part(b"DELETE FROM %s" % self._name))
        return self._where(line, images, image)

    def _update(self, line: Line, images: ImagePair, current: Image, wanted: Image) -> bool:
        present = [column for column in self._columns if column.index in _there(images.after).columns]
        if missing := [column.name for column in present if column.index not in wanted.columns]:
            raise RefusedError(f"the before image lacks {_list(missing)}")
        if not present:
            hidden = " that is not masked or left out" if self._hidden else ""
            raise RefusedError(f"the after image has no column to set{hidden}")
        line.text(self.style.part(b"UPDATE %s SET " % self._name))
        holds = set(self._held)
        for column in present:
            name = self.style.part(self._name_of(column))
            held = name if name in holds else b""
            holds.discard(name)
            # A server compresses by its own settings, whatever bytes the log has.
            kind = MAYBE_SAME if column.kind in COMPRESSED else ASSIGNED
            line.value(column.index, is_second=wanted.is_second, kind=kind, lead=b", %s=" % name, held=held)
        name = self.style.part(self._name_of(present[0]))
        line.otherwise(b"%s=%s" % (name, name))
        for name in self._held:
            line.text(b", %s=%s" % (name, name) if name in holds else b"")
        return self._where(line, images, current)

    def _has_key(self, *images: Image) -> bool:
        return bool(self._key) and all(
            any(column.index in image.columns for image in images) for column in self._key
        )

    def _where(self, line: Line, images: ImagePair, image: Image) -> bool:
        """Write the condition that finds the current row; returns whether that is by key."""
        other = image if images.before is None else images.before
        is_by_key = self._has_key(image, other)
        if not is_by_key:
            self._refuse_hidden(self._table.schema.columns)
        columns = self._key if is_by_key else [col for col in self._columns if col.index in other.columns]
        if is_by_key and self._checks:
            there = {*image.columns, *other.columns}
            columns = columns + [col for col in self._columns if col.index in there and col not in columns]
        if not columns:
            raise RefusedError("the image has no column that identifies the row")
        word = b" WHERE "
        for column in columns:
            name, opening, closing = self._name_of(column), b"", b""
            is_exact = not is_by_key or column not in self._key
            if is_exact:
                is_text = column.charset in UTF8
                name, opening, closing = _compared(self._now[column.index], self._server, is_text)
            line.text(self.style.part(word + name + (b" <=> " if is_exact else b" = ") + opening))
            # Columns missing from an after image are unchanged.
            source = image if column.index in image.columns else other
            line.value(column.index, is_second=source.is_second, is_exact=True).text(closing)
            word = b" AND "
        line.text(b"" if is_by_key else b" LIMIT 1")
        return is_by_key

    def _refuse_hidden(self, identity: Iterable[Column]) -> None:
        if hidden := [column.name for column in identity if column.name in self._hidden]:
            raise RefusedError(f"rows are identified by {_list(hidden)}, masked or left out")

    def _refuse_without(self, image: Image) -> None:
        if missing := [column.name for column in self._columns if column.index not in image.columns]:
            raise RefusedError(f"the image lacks {_list(missing)}")


def _compared(column: Column, dialect: SqlDialect, is_utf8: bool) -> tuple[bytes, bytes, bytes]:
    """The expression for an exact comparison, and the text before and after the literal.

    `is_utf8`: if the literal is text, it is UTF-8.
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


def _may_update_itself(column: Column) -> bool:
    """Whether an UPDATE that does not set a column may change it."""
    # Without a definition, any of these may have ON UPDATE CURRENT_TIMESTAMP.
    may_update = column.kind in MOMENTS if column.has_on_update is None else column.has_on_update
    return may_update and not column.is_generated


def _there(image: Image | None) -> Image:
    assert image is not None  # a change has at least one image
    return image


def _name(name: str) -> bytes:
    return identifier(name).encode("utf-8", "surrogateescape")


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(map(identifier, names[:_MOST_LISTED])) + more
