"""Rows of rows events, decoded with the grammar one row at a time into Python values.

``rows_of`` yields the rows of one event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from binlog_kaitai.core.grammar import ROWS_TYPES, TableMapEvent
from binlog_kaitai.core.tree import Node
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.text.notebook import html_table
from binlog_kaitai.values.column_kinds import OLD_TIMES, OLD_TIMES_IN_SQL
from binlog_kaitai.values.json_documents import JsonDiff, JsonText, diff_of
from binlog_kaitai.values.representations import Value, value_of
from binlog_kaitai.values.schema import Column, NameSource, Schema, is_mariadb, set_old_fractions

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import RowsBody
    from binlog_kaitai.core.grammar import RowImage

#: MariaDB's table maps do not record the fractional digits of its old temporal types.
FRACTIONS_HINT = (
    f"its {OLD_TIMES_IN_SQL} columns may have fractional seconds, which only its CREATE TABLE shows"
)


class Change(Enum):
    """The kind of change made to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(slots=True, repr=False)
class Row:
    """One changed row.

    Attributes
    ----------
    index : int
        Number of the row in the event, from 0. In a transaction payload the numbering continues across
        events, which all have the payload's position: file, position and index identify one row of a log.
    before, after : dict or None
        Values by column name, of the types in `docs/library.md`; None if the change has no such image.
        Columns missing from the image (`binlog_row_image`) are left out; in `after` of an update, these are
        unchanged.
    diffs : dict
        JSON columns logged as partial updates. Their full text is in `after` if `before` has the column.
    """

    index: int
    change: Change
    schema: Schema
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    diffs: dict[str, JsonDiff]

    def asdict(self) -> dict[str, Any]:
        """The attributes as a dictionary, with the names of schema and table in place of `schema`."""
        return {
            "index": self.index,
            "schema": self.schema.schema_name,
            "table": self.schema.table_name,
            "change": self.change.value,
            "before": self.before,
            "after": self.after,
            "diffs": self.diffs,
        }

    def __repr__(self) -> str:
        images = (("before", self.before), ("after", self.after), ("diffs", self.diffs or None))
        shown = "".join(f", {name}={value!r}" for name, value in images if value is not None)
        return f"<{type(self).__name__} {self._what()}{shown}>"

    def _repr_html_(self) -> str:
        images = {name: image for name in ("before", "after") if (image := getattr(self, name)) is not None}
        names = dict.fromkeys(name for image in images.values() for name in image)
        rows = (
            (name, *(repr(image[name]) if name in image else "" for image in images.values()))
            for name in names
        )
        return html_table(self._what(), ("column", *images), rows)

    def _what(self) -> str:
        return f"{self.change.value} {self.schema.full_name}{self._location()}, row {self.index}"

    def _location(self) -> str:
        return ""


def has_rows(event: ParsedEvent) -> bool:
    """Whether an event is a rows event of any version; not one that only ends its statement.

    Raises `GrammarError`: the event has no table map and cannot be parsed.
    """
    is_rows = event.layout.effective_type(event.type_code) in ROWS_TYPES
    return is_rows and (event.table_map is not None or not getattr(event.body, "is_dummy", False))


def schema_of(event: ParsedEvent) -> Schema:
    """The schema of a rows event's table, from its table map alone.

    Raises `GrammarError`: the table map is missing, or the event is too short to contain its table ID.
    """
    if event.table_map is None:
        _ = event.parsed  # an event that cannot be parsed has a reason of its own
        raise event.locate(GrammarError("the table map of these rows is missing", field="body.table_id"))
    try:
        return _schema_of(event.table_map, is_mariadb(event.layout))
    except BinlogError as error:
        raise event.locate(error) from error.__cause__


#: The schemas of the table maps in memory.
_schemas: WeakKeyDictionary[TableMapEvent, Schema] = WeakKeyDictionary()


def _schema_of(table_map: TableMapEvent, of_mariadb: bool) -> Schema:
    schema = _schemas.get(table_map)
    if schema is None:
        schema = _schemas[table_map] = Schema.of(table_map, is_mariadb=of_mariadb)
    return schema


def rows_of(event: ParsedEvent, schema: Schema | None = None) -> Iterator[Row]:
    """The rows of an event, in order: all or, of an event with an invalid one, none.

    Other events have no rows.

    `event`: an event from the reader.
    `schema`: the table's columns, if more is known than the event's own table map says.
    Raises `GrammarError`: the rows do not match the table map, or a value is invalid; the error names the
    table and column.
    """
    if not has_rows(event):
        return
    schema = schema or schema_of(event)
    try:
        body, images = event.body, _images(event, schema)
        change = _change(body)
        numbered = enumerate(images, _first_number(event, len(images)))
        rows = [_row(index, image, change, schema) for index, image in numbered]
    except BinlogError as error:
        raise event.locate(error) from error.__cause__
    yield from rows


def to_json(value: object) -> str:
    """Serialize a row object; JSON documents are inserted as the server prints them."""
    if isinstance(value, JsonText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(key)}: {to_json(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _change(body: RowsBody) -> Change:
    return Change.INSERT if body.is_write else Change.UPDATE if body.is_update else Change.DELETE


def _images(event: ParsedEvent, schema: Schema) -> list[Node]:
    """The grammar's objects for all rows."""
    if event.table_map is not None:
        set_old_fractions(event.table_map, schema.old_fractions)
    try:
        images = getattr(event.body, "rows", None)
    except BinlogError:
        raise
    except Exception as error:  # generated code on hostile bytes, as in the gate
        raise _describe(event, schema, error) from error
    if not images:
        raise GrammarError(_why_unreadable(event, schema) + _hint(event, schema), field=schema.full_name)
    return list(images)


def _first_number(event: ParsedEvent, count: int) -> int:
    """The number of an event's first row; also records its row count for later events of the payload."""
    if event.row_numbers is None:
        return 0
    numbers, ordinal = event.row_numbers
    first = numbers.first(ordinal, _count)
    numbers.set_end(ordinal, first + count)
    return first


def _count(event: ParsedEvent) -> int:
    try:
        return len(_images(event, schema_of(event)))
    except BinlogError:
        return 0  # an unreadable event is reported where it is read


def _why_unreadable(event: ParsedEvent, schema: Schema) -> str:
    number = event.body.num_columns.value
    if number != len(schema.columns):
        return f"the rows have {number} columns, but the table map has {len(schema.columns)}"
    if not hasattr(event.body, "rows"):
        return "rows from servers before 5.1.16 are in an internal format that the log does not describe"
    if not schema.is_readable:
        return "the table map has a column type of unknown length"
    if not event.body.columns.num_present and not len(getattr(event.body, "images", b"")):
        return "the images have no columns, so the number of rows is unknown"
    return "the row images do not match their columns"


def _describe(event: ParsedEvent, schema: Schema, error: Exception) -> GrammarError:
    """The error, extended with the column that failed."""
    column = _unfinished_column(event)
    location = schema.full_name if column is None else _location(schema, schema.columns[column])
    kind = "end too early" if isinstance(error, EOFError) else "cannot be read"
    return GrammarError(f"the rows {kind}: {error}{_hint(event, schema)}", field=location)


def _hint(event: ParsedEvent, schema: Schema) -> str:
    """What may be the reason if no definition of the table is known."""
    return f"; {FRACTIONS_HINT}" if may_have_fractions(event, schema) else ""


def may_have_fractions(event: ParsedEvent, schema: Schema) -> bool:
    """Whether values may be longer than the table map shows: MariaDB's old times, without a definition."""
    return (
        is_mariadb(event.layout)
        and schema.names_from is not NameSource.DEFINITION
        and not schema.old_fractions
        and any(column.kind in OLD_TIMES for column in schema.columns)
    )


def _unfinished_column(event: ParsedEvent) -> int | None:
    body = event.body
    try:
        holder = getattr(body, "_m_inflated_rows", None)
        row = (body._m_rows if holder is None else holder.rows)[-1]
        image = row.before if row.before is not None and row.before._end is None else row.after
        return int(image.cells[-1].index)
    except (AttributeError, IndexError, TypeError):  # reading stopped before the first cell
        return None


def _location(schema: Schema, column: Column) -> str:
    return f"{schema.full_name}, column {column.name}"


def _row(index: int, row: Node, change: Change, schema: Schema) -> Row:
    before = None if row.before is None else _values(row.before, schema)
    after = None if row.after is None else _values(row.after, schema)
    diffs: dict[str, JsonDiff] = {}
    for name, value in list((after or {}).items()):
        if after is not None and isinstance(value, JsonDiff):
            diffs[name] = value
            _apply(name, value, before or {}, after, schema)
    return Row(index, change, schema, before, after, diffs)


def _apply(
    name: str, diff: JsonDiff, before: dict[str, Value], after: dict[str, Value], schema: Schema
) -> None:
    document = before.get(name)
    if not isinstance(document, str):
        del after[name]
        return
    try:
        after[name] = diff.apply(document)
    except GrammarError as error:
        raise GrammarError(error.reason, field=f"{schema.full_name}, column {name}") from error


def _values(image: RowImage, schema: Schema) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for cell, column in zip(image.cells, schema.columns, strict=True):
        if not cell.is_present:
            continue
        try:
            if cell.is_null:
                values[column.name] = None
            elif cell.diffs is not None:
                values[column.name] = diff_of(cell.diffs)
            else:
                values[column.name] = value_of(cell.value, column)
        except GrammarError as error:
            raise GrammarError(error.reason, field=_location(schema, column)) from error.__cause__
        except Exception as error:  # generated code on hostile bytes: lazy parts of a value
            raise GrammarError(f"cannot be read: {error}", field=_location(schema, column)) from error
    return values
