"""Rows of the event reader in the form of `rows --format json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import Row, rows_of
from binlog_kaitai.values.representations import Value, json_form
from binlog_kaitai.values.schema import Column, Schema

#: A row in the JSON form of `rows --format json`.
RowObject = dict[str, Any]


def row_object(event: ParsedEvent, row: Row) -> RowObject:
    """A row in the JSON form of `rows --format json`; :func:`to_json` serializes it."""
    columns = {column.name: column for column in row.schema.columns}
    found = {
        "file": event.file,
        "position": event.position,
        "row": row.index,
        "timestamp": event.fixed_header.timestamp,
        "gtid": event.gtid,
        "server_id": event.fixed_header.server_id,
        "schema": row.schema.schema_name,
        "table": row.schema.table_name,
        "change": row.change.value,
        "before": _image_object(row.before, columns),
        "after": _image_object(row.after, columns),
    }
    diffs = {name: diff.objects() for name, diff in row.diffs.items()}
    return found | ({"diffs": diffs} if diffs else {})


def row_objects(event: ParsedEvent, schema: Schema | None = None) -> Iterator[RowObject]:
    """The rows of an event in the JSON form of `rows --format json`; raises as :func:`rows_of`."""
    for row in rows_of(event, schema):
        yield row_object(event, row)


def _image_object(image: dict[str, Value] | None, columns: dict[str, Column]) -> dict[str, object] | None:
    return None if image is None else {name: json_form(value, columns[name]) for name, value in image.items()}
