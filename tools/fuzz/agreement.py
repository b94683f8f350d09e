"""Entry points that return rows in other forms: objects, Arrow columns, and the text of `dump -vv`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

import binlog_kaitai as bk
from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.event_rows import Change, Row, rows_of
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import plain_value
from binlog_kaitai.rows.change_schemas import META_FIELDS, table_schema
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column
from binlog_kaitai.views.change_batches import page_batches
from tests.rows.printed import Printed, agrees, images_of, is_change, read_printed, unprinted_tables
from tools.fuzz.outcome import Outcome
from tools.fuzz.reading import QUERIES, is_known, rolled_back
from tools.fuzz.run import Run

_VERBS = {Change.INSERT: "INSERT", Change.UPDATE: "UPDATE", Change.DELETE: "DELETE"}

#: Image kinds of the column `_change_type`.
_BEFORE = {Change.UPDATE: "update_preimage", Change.DELETE: "delete"}
_AFTER = {Change.UPDATE: "update_postimage", Change.INSERT: "insert"}

#: A row or an image with its position, and its values.
_Item = tuple[Any, ...]


def objects(run: Run) -> None:
    """`read_rows` returns the rows of `event.rows()`, with the same definitions."""
    _compare(run, "read_rows", _of_row, lambda: map(partial(_of_row, None), bk.read_rows(run.data)))


def columns(run: Run) -> None:
    """Typed columns have the values of `event.rows()`, converted one by one."""
    _compare(run, "read_changes", _of_images, lambda: _of_batches(run))


def _compare(run: Run, name: str, items_of: Any, read: Any) -> None:
    expected: list[_Item] = []
    error: BinlogError | None = None
    is_sure, is_mapped, marks = True, False, rolled_back(run)
    try:
        for event in bk.open(run.data):
            kind = event.layout.effective_type(event.type_code)
            if kind in QUERIES and (is_mapped or not is_known(event)):
                is_sure = False  # the names after it depend on when definitions are looked up
                break
            is_mapped = kind == EventType.table_map_event or (is_mapped and kind in ROWS_TYPES)
            if kind in ROWS_TYPES and next(marks, False):
                continue
            for row in event.rows():
                items = items_of(event.position, row)
                expected += items if isinstance(items, list) else [items]
    except BinlogError as caught:
        error = caught
    outcome = run.gather(name, read)
    if not is_sure:
        outcome = Outcome(outcome.value[: len(expected)])
    run.differ(f"diff-{name}", Outcome(expected, error), outcome)


def _shown(image: dict[str, Value] | None) -> object:
    return image and [(name, type(value).__name__, repr(value)) for name, value in image.items()]


def _of_row(position: int | None, row: Any) -> _Item:
    place = row.position if position is None else position
    return place, row.index, row.change.name, row.schema, _shown(row.before), _shown(row.after), row.diffs


def _of_images(position: int, row: Row) -> list[_Item]:
    images = (_BEFORE.get(row.change), row.before), (_AFTER.get(row.change), row.after)
    return [
        (position, row.index, kind, [repr(_plain(image, column)) for column in row.schema.columns])
        for kind, image in images
        if kind is not None and image is not None
    ]


def _plain(image: dict[str, Value], column: Column) -> object:
    kind = arrow_type(column, "null")
    value = image.get(column.name)
    plain = None if value is None else plain_value(value, column, kind)
    return pa.array([plain], kind).to_pylist()[0]


def _of_batches(run: Run) -> Iterator[_Item]:
    for page in RowsPages(run.source, Filters()):
        for _, batch in page_batches(page, table_schema, "null"):
            batch.validate(full=True)
            names = (batch.column(name).to_pylist() for name in ("_position", "_row", "_change_type"))
            own = [column.to_pylist() for column in batch.columns[len(META_FIELDS) :]]
            rows = zip(*own, strict=True) if own else (() for _ in range(len(batch)))
            for place, values in zip(zip(*names, strict=True), rows, strict=True):
                yield *place, list(map(repr, values))


def text(run: Run) -> None:
    """The values that `dump -vv` prints are those of `event.rows()`."""
    parts: list[bytes] = []
    options = DumpOptions(verbose=2, base64_output=Base64Output.DECODE_ROWS)
    outcome = run.attempt(
        "dump -vv", lambda: dump(run.source, lambda part: parts.append(bytes(part)), options)
    )
    rows: list[Row] = []
    all_ended = is_end = True
    try:
        for event in bk.open(run.data):
            is_of_rows = event.layout.effective_type(event.type_code) in ROWS_TYPES
            # Clients print rows when their statement ends.
            all_ended &= is_of_rows or is_end
            all_ended &= not (is_of_rows and event.fixed_header.flags)
            is_end = not is_of_rows or bool(event.body.is_statement_end)
            rows += rows_of(event)
    except BinlogError:
        return
    all_ended &= is_end
    if outcome.error is not None or not all_ended:
        return
    printed = b"".join(parts).decode("utf-8", "surrogateescape")
    left_out = unprinted_tables(printed)
    theirs = [row for row in read_printed(printed) if row.table not in left_out]
    ours = [row for row in rows if row.schema.full_name not in left_out]
    for left, right in zip_longest(theirs, ours):
        if left is None or right is None:
            run.note("diff-printed", "more" if right is None else "fewer", f"{left}\n{right}")
            return
        if difference := _difference(left, right):
            run.note("diff-printed", difference[0], f"{difference}\n{left}\n{right.asdict()}"[:4000])
            return


def _difference(printed: Printed, row: Row) -> tuple[object, ...]:
    if (printed.verb, printed.table) != (_VERBS[row.change], row.schema.full_name):
        return ("row", printed.verb, printed.table)
    images = images_of(row)
    if len(images) != len(printed.images):
        return ("images", len(images))
    for cells, image in zip(printed.images, images, strict=True):
        for number, shown in cells.items():
            if is_change(shown):
                continue
            column, value = image[number]
            if not agrees(shown, column, value):
                return (f"{column.kind.name} of {column.charset}", column.name, shown, value)
    return ()
