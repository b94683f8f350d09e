"""Changed rows as the messages of Debezium's connectors for MySQL and MariaDB, with their default settings.

Each message is a line of JSON: ``{"topic": …, "key": …, "value": …}``, without schemas. Values are as Kafka
Connect's JsonConverter writes them with these settings: ``decimal.handling.mode=precise``,
``time.precision.mode=adaptive_time_microseconds``, ``bigint.unsigned.handling.mode=long``,
``binary.handling.mode=bytes``, ``tombstones.on.delete=true``. The facts are from the documentation of the
connectors ("Data change events", "Data type mappings"), and where it leaves something open (SRID 0, digits of
TIMESTAMP(n), points) from the connectors' behavior.

A log does not have the topic prefix (`name`), nor what is known only while a connector runs: `snapshot` is
``"false"``, and `ts_ms` of the message is that of the change.
"""

from __future__ import annotations

import json
from contextlib import suppress
from os.path import basename
from typing import Any, Self

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.grammar import StringValues, parse_structure
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import copy_ranges
from binlog_kaitai.lines.masked_rows import MaskedRows
from binlog_kaitai.lines.row_forms import (
    Form,
    LineWriter,
    OfEvents,
    RowLines,
    RowShape,
    UpdatedColumns,
    lines_in_order,
    put_image,
    unnamed,
)
from binlog_kaitai.lines.row_programs import Cell, Line, TableLines, ValueStyle, width_of
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import build_some, plain_value
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.event_metadata import STATEMENT, THREAD
from binlog_kaitai.rows.image_walk import ABSENT, BEFORE, LocatedRows
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text import listed_values as kinds
from binlog_kaitai.text.base64_kernel import PAIRS
from binlog_kaitai.text.line_arrays import LineProgram, Pool, json_text
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import (
    COMPRESSED,
    DOCUMENTS,
    LOCAL_MOMENTS,
    STRINGS,
    TIMES,
    UTC_MOMENTS,
    Kind,
)
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column, NameSource
from binlog_kaitai.values.strings import has_own_text

#: Kinds whose values differ from those of `rows --format json`, besides byte strings and BIGINT UNSIGNED.
_CONVERTED = TIMES | DOCUMENTS | {Kind.DECIMAL, Kind.BIT, Kind.GEOMETRY}

#: What a zero date of a column that is NOT NULL becomes.
_EPOCH = '"1970-01-01T00:00:00Z"'

_POINT = 1


class DebeziumStyle(ValueStyle):
    """Values as in Debezium's messages."""

    def cell(self, table: Table, column: Column) -> Cell:
        if _is_converted(column):
            return Cell(kinds.OTHER, *width_of(table, column))
        cell = super().cell(table, column)
        is_long = cell.kind == kinds.UNSIGNED and column.kind == Kind.INTEGER and cell.size == 8
        return cell._replace(kind=kinds.SIGNED) if is_long else cell

    def left_texts(self, cells: Cells, rows: Ints, kind: int) -> list[bytes]:
        if not _is_converted(cells.column):
            return super().left_texts(cells, rows, kind)
        texts: list[bytes] = _texts(build_some(cells, rows), cells.column).cast(pa.binary()).to_pylist()
        return texts

    def long_text(self, cells: Cells, row: int) -> bytes | None:
        return None if _is_converted(cells.column) else super().long_text(cells, row)

    def text(self, value: Value, column: Column) -> bytes:
        if value is None or not _is_converted(column):
            if isinstance(value, int) and column.kind == Kind.INTEGER and value >= 1 << 63:
                value -= 1 << 64
            return super().text(value, column)
        kind = arrow_type(column)
        text: str = _texts(pa.array([plain_value(value, column, kind)], kind), column)[0].as_py()
        return text.encode()


def _is_converted(column: Column) -> bool:
    is_of_bytes = column.kind in STRINGS | COMPRESSED and column.charset == BINARY
    return column.kind in _CONVERTED or (is_of_bytes and not has_own_text(column))


def _texts(values: pa.Array, column: Column) -> pa.StringArray:
    """JSON of values in Arrow's representation, none of which is NULL; a null is a zero date."""
    match column.kind:
        case Kind.DATE:
            return _or_epoch(values.cast(pa.int32()).cast(pa.string()), column, "0")
        case Kind.TIME | Kind.OLD_TIME:
            return values.cast(pa.int64()).cast(pa.string())
        case kind if kind in LOCAL_MOMENTS:
            micros = values.cast(pa.int64())
            numbers = micros if column.fractional_digits > 3 else pc.divide(micros, 1000)
            return _or_epoch(numbers.cast(pa.string()), column, "0")
        case kind if kind in UTC_MOMENTS:
            digits = column.fractional_digits
            texts = values.cast(pa.timestamp("us")).cast(pa.string())
            texts = pc.utf8_slice_codeunits(texts, 0, 20 + digits if digits else 19)
            texts = pc.binary_join_element_wise(pc.utf8_replace_slice(texts, 10, 11, "T"), "Z", "")
            return _or_epoch(_quoted(texts), column, _EPOCH)
        case Kind.DECIMAL:
            return _quoted(_unscaled(values))
        case Kind.BIT if column.bits == 1:
            return pc.if_else(pc.equal(values, 0), "false", "true")
        case Kind.BIT:
            raw, count = _items(values), len(values)
            sizes = np.full(count, ((column.bits or 64) + 7) // 8, dtype=np.int64)
            return _quoted(base64_texts(raw.reshape(-1), 8 * np.arange(count), sizes))
        case Kind.GEOMETRY:
            is_point = column.geometry_type == _POINT
            return pa.array([_geometry(value, is_point=is_point) for value in values.to_pylist()])
        case kind if kind in DOCUMENTS:
            texts = pc.replace_substring(pc.replace_substring(values, "\\", "\\\\"), '"', '\\"')
            return _quoted(texts)
    offsets = np.frombuffer(values.buffers()[1], dtype=np.int32)[: len(values) + 1].astype(np.int64)
    data = values.buffers()[2]
    return _quoted(base64_texts(np.frombuffer(data or b"", np.uint8), offsets[:-1], np.diff(offsets)))


def _or_epoch(texts: pa.StringArray, column: Column, epoch: str) -> pa.StringArray:
    return pc.fill_null(texts, "null" if column.is_nullable else epoch) if texts.null_count else texts


def _quoted(texts: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise('"', texts, '"', "")


def _items(values: pa.Array) -> Bytes:
    """The bytes of numbers, a row for each."""
    size = values.type.bit_width // 8
    return np.frombuffer(values.buffers()[1], dtype=np.uint8)[: size * len(values)].reshape(-1, size)


def _unscaled(values: pa.Array) -> pa.StringArray:
    """The digits of decimals as integers: base64 of as few bytes of two's complement as needed."""
    raw = np.ascontiguousarray(_items(values)[:, ::-1])
    is_negative = raw[:, :1] >= 128
    is_sign = (raw[:, :-1] == np.where(is_negative, 255, 0)) & ((raw[:, 1:] >= 128) == is_negative)
    skipped = np.logical_and.accumulate(is_sign, axis=1).sum(axis=1)
    count, size = raw.shape
    return base64_texts(raw.reshape(-1), size * np.arange(count) + skipped, size - skipped)


def base64_texts(data: Bytes, starts: Ints, lengths: Ints) -> pa.StringArray:
    """The base64 of ranges of bytes, padded, in one line each."""
    groups = (lengths + 2) // 3
    ends = np.cumsum(groups)
    padded = np.zeros(3 * int(groups.sum()), dtype=np.uint8)
    copy_ranges.run(data, starts, lengths, 3 * (ends - groups), padded)
    first, second, third = padded.reshape(-1, 3).T.astype(np.uint32)
    bits = first << 16 | second << 8 | third
    letters = np.column_stack((PAIRS[bits >> 12], PAIRS[bits & 4095])).view(np.uint8).reshape(-1)
    rest = lengths % 3
    letters[4 * ends[rest > 0] - 1] = letters[4 * ends[rest == 1] - 2] = ord("=")
    offsets = np.concatenate(([0], 4 * ends)).astype(np.int32)
    return pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(letters))


def _geometry(value: bytes, *, is_point: bool) -> str:
    content: Any = parse_structure(StringValues.GeometryContent, value)
    place = {}
    if is_point:
        with suppress(Exception):  # generated code on bytes that no server stores
            place = {"x": content.shape.content.x, "y": content.shape.content.y}
    wkb = np.frombuffer(content.data, np.uint8)
    text = base64_texts(wkb, *np.array([[0], [len(wkb)]]))[0].as_py()
    return json.dumps({**place, "wkb": text, "srid": content.srid or None})


class DebeziumForm(Form):
    """Messages of changed rows: one for an insert or update, and a tombstone after that of a delete.

    `is_moved`: for updates that change the key: a delete, a tombstone and an insert. The form for all other
    changes has the one for these as `moved`.
    """

    style = DebeziumStyle(kinds.JSON, b"null")
    text_count = 3

    def __init__(self, *, is_moved: bool = False) -> None:
        self._is_moved = is_moved
        self.moved = None if is_moved else DebeziumForm(is_moved=True)

    def masked(self, masks: MaskedRows) -> Self:
        if self.moved is not None:
            self.moved.masked(masks)
        return super().masked(masks)

    def writer(self, page: RowsPage, table: Table, events: Ints) -> DebeziumWriter:
        return DebeziumWriter(page, table, events, self)

    def of_events(self, events: OfEvents, pool: Pool) -> list[LineProgram]:
        connector = "mariadb" if events.is_mariadb else "mysql"
        millis, micros, nanos = (pool.numbers(events.timestamps * 1000**power) for power in (1, 2, 3))
        begin = LineProgram(pool).text(
            f', "source": {{"version": "binlog-kaitai", "connector": "{connector}", "name": "", "ts_ms": '
        )
        begin.column(millis).text(b', "snapshot": "false", "db": ' + json_text(events.schema))
        begin.text(', "ts_us": ').column(micros).text(', "ts_ns": ').column(nanos)
        begin.text(b', "table": ' + json_text(events.table) + b', "server_id": ')
        begin.column(pool.numbers(events.server_ids)).text(', "gtid": ').column(events.gtids)
        begin.text(b', "file": ' + json_text(basename(events.file)) + b', "pos": ')
        begin.column(pool.numbers(events.positions)).text(', "row": ')
        middle = LineProgram(pool)
        for name, key in ((THREAD, "thread"), (STATEMENT, "query")):
            middle.text(f', "{key}": ')
            middle = middle.column(events.origins[name]) if name in events.origins else middle.text("null")
        middle.text('}, "transaction": null, "op": "')
        end = LineProgram(pool).text('", "ts_ms": ').column(millis).text("}")
        return [begin, middle, end]

    def put(self, line: Line, table_lines: TableLines, shape: RowShape) -> None:
        _, before, after, _ = shape
        key = table_lines.table.schema.primary_key
        has_key = bool(key) and {*(before or ()), *(after or ())}.issuperset(key)
        is_update = before is not None and after is not None
        topic = b'{"topic": ' + json_text(".".join(table_lines.table.key)) + b', "key": '

        def put_key(*, is_new: bool) -> None:
            between = b"{"
            for index in key if has_key else ():
                name = json_text(table_lines.table.schema.columns[index].name)
                # A column missing from one image of an update is in the other.
                is_second = is_update and index in (after or ()) and (is_new or index not in (before or ()))
                line.text(between + name + b": ").value(index, is_second=is_second)
                between = b", "
            line.text(b"}" if has_key else b"null")

        operations = [b"u"] if is_update else [b"d"] if after is None else [b"c"]
        for operation in [b"d", b"c"] if is_update and self._is_moved else operations:
            is_delete = operation == b"d"
            line.text(topic)
            put_key(is_new=not is_delete)
            if is_update and self._is_moved:
                line.text(b', "headers": {"__debezium.%s": ' % (b"newkey" if is_delete else b"oldkey"))
                put_key(is_new=is_delete)
                line.text(b"}")
            put_image(
                line.text(b', "value": {"before": '), table_lines, None if operation == b"c" else before
            )
            line.text(b', "after": ')
            put_image(line, table_lines, None if is_delete else after, is_second=is_update)
            line.event(0).number().event(1).text(operation).event(2).text(b"}\n")
            if is_delete and has_key:
                line.text(topic)
                put_key(is_new=False)
                line.text(b', "value": null}\n')


class DebeziumWriter(LineWriter):
    """Writes the messages of rows of a table.

    Raises `UsageError`: the names of its columns are unknown.
    """

    def __init__(self, page: RowsPage, table: Table, events: Ints, form: DebeziumForm) -> None:
        if table.schema.names_from is NameSource.NONE:
            raise unnamed(page, table, int(events[0]))
        super().__init__(page, table, events, form)
        assert form.moved is not None
        self._of_moved = LineWriter(page, table, events, form.moved)

    def lines(self, located: LocatedRows, updated: UpdatedColumns | None = None) -> RowLines:
        is_moved = self._moves(located)
        if updated is not None or not is_moved.any():
            return super().lines(located, updated)
        write = super().lines
        return lines_in_order(
            located, is_moved.tolist(), lambda rows, moves: (self._of_moved.lines if moves else write)(rows)
        )

    def _moves(self, located: LocatedRows) -> Bools:
        """Which images are those of updates that change the key."""
        moves = np.zeros(len(located.events), dtype=np.bool_)
        first = np.flatnonzero(located.changes == BEFORE)
        columns = self._table.schema.columns
        for index in self._table.schema.primary_key if len(first) else ():
            before, after = (
                Cells.of(self._table, columns[index], located).part(first + step) for step in (0, 1)
            )
            is_there = (before.starts != ABSENT) & (after.starts != ABSENT)
            moves[first] |= is_there & before.differs(after)
        moves[first + 1] = moves[first]
        return moves
