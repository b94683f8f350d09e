"""The columns and the reader give the same rows, on every log of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.log.block_reader import BLOCK_SIZE
from binlog_kaitai.log.event_rows import rows_of
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, META_FIELDS, own_columns, table_schema
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.partial_updates import walk_rows
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.charsets import escaped
from binlog_kaitai.values.schema import Schema, is_mariadb
from binlog_kaitai.values.temporal import ZeroDate
from binlog_kaitai.views.change_batches import page_batches
from tests.corpus_files import LogFile, logs
from tests.extent import sample
from tests.support import all_files, use_plain_kernels

FILES = all_files()
META_NAMES = {field.name for field in (*META_FIELDS, ABSENT_FIELD)}
_QUERIES = (EventType.query_event, EventType.query_compressed_event)


def by_columns(path: Path, block_size: int = BLOCK_SIZE) -> Iterator[tuple[Any, ...]]:
    """Every row image as (position, row, change, gtid, values by name), then the error, if any."""
    pages = RowsPages(path, Filters(), block_size=block_size)
    try:
        for page in pages:
            for _, batch in page_batches(page, table_schema, "null"):
                batch.validate(full=True)
                for row in batch.to_pylist():
                    names = "_position", "_row", "_change_type", "_gtid"
                    yield (
                        *(row[name] for name in names),
                        {name: value for name, value in row.items() if name not in META_NAMES},
                    )
    except bk.BinlogError as error:
        yield ("error", str(error))


def by_reader(path: Path) -> Iterator[tuple[Any, ...]]:
    """The same by the event reader, with values converted as for Arrow."""
    definitions = Definitions()
    try:
        for event in bk.open(path):
            observe(definitions, event)
            schema = None
            if event.table_map is not None:
                names = event.table_map.schema_name, event.table_map.table_name
                definition = definitions.of(*names, event.table_map)
                schema = Schema.of(event.table_map, definition, is_mariadb=is_mariadb(event.layout))
            for row in list(rows_of(event, schema)):
                images = [
                    ("update_preimage" if row.after is not None else "delete", row.before),
                    ("update_postimage" if row.before is not None else "insert", row.after),
                ]
                for change, image in images:
                    if image is not None:
                        gtid = None if event.gtid is None else plain(event.gtid)
                        yield event.position, row.index, change, gtid, _plain(row.schema, image)
    except bk.BinlogError as error:
        yield ("error", str(error))


def observe(definitions: Definitions, event: bk.Event) -> None:
    """Pass a statement to the definitions; one that cannot be parsed makes all tables unknown."""
    if event.layout.effective_type(event.type_code) in _QUERIES:
        body: Any
        try:
            body = event.body
        except bk.BinlogError as error:
            body = error
        definitions.observe_query(body)


def _plain(schema: Schema, image: dict[str, Any]) -> dict[str, Any]:
    types = {field.name: field.type for field in table_schema_of(schema)}
    return {
        name: _arrow_value(image.get(column.name), types[name], column.charset)
        for name, column in own_columns(schema).items()
    }


def table_schema_of(schema: Schema) -> Any:
    class Table:
        pass

    table: Any = Table()
    table.schema = schema
    return [field for field in table_schema(table) if field.name not in META_NAMES]


def _arrow_value(value: Any, kind: Any, charset: str | None) -> Any:
    if isinstance(value, ZeroDate) or value is None:
        return None
    if isinstance(value, bytes) and pa.types.is_string(kind):
        return escaped(value, charset)
    if pa.types.is_decimal(kind) and isinstance(value, int):
        return Decimal(value)
    if pa.types.is_duration(kind) and isinstance(value, timedelta):
        return value
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_rows_are_those_of_the_reader(path: Path) -> None:
    found, expected = list(by_columns(path)), list(by_reader(path))
    for one, other in zip(found, expected, strict=False):
        assert one == other
    assert len(found) == len(expected)


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.id)
def test_no_rows_of_an_undamaged_log_are_left_to_the_reader(log: LogFile) -> None:
    for page in RowsPages(log.path, Filters()):
        for table, events in page.runs():
            assert isinstance(table, Table)
            assert all(len(found) for found in walk_rows(page.images, events, table))


@pytest.mark.parametrize("block_size", [300, 5000])
def test_rows_do_not_depend_on_the_size_of_blocks(block_size: int) -> None:
    for path in sample(FILES[::7], 6):
        assert list(by_columns(path, block_size)) == list(by_columns(path))


def test_plain_kernels_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = {path: list(by_columns(path)) for path in sample(FILES[::5], 8)}
    use_plain_kernels(monkeypatch)
    for path, rows in compiled.items():
        assert list(by_columns(path)) == rows
