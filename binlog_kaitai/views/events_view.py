"""The events view as Arrow record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, Unpack

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.options import takes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.lines.event_lines import EventPages, EventsPage
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.read_options import EventOptions, Reading
from binlog_kaitai.rows.column_cells import LONGEST
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.text.line_arrays import LineProgram, plain
from binlog_kaitai.views.change_batches import joined_columns, repeated
from binlog_kaitai.views.notebook_readers import shown_in_notebooks
from binlog_kaitai.views.row_conditions import Where, chosen_columns

EventColumn = Literal[
    "file", "position", "end_position", "timestamp", "type", "type_code", "server_id", "size", "flags",
    "checksum", "gtid", "info",
]  # fmt: skip

#: The columns of the view. `info` is JSON; `timestamp` is when the statement started.
EVENTS_SCHEMA = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("end_position", pa.int64(), nullable=False),
        pa.field("timestamp", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("type_code", pa.int32(), nullable=False),
        pa.field("server_id", pa.int64(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("flags", pa.int32(), nullable=False),
        pa.field("checksum", pa.string(), nullable=False),
        pa.field("gtid", pa.string()),
        pa.field("info", pa.string(), nullable=False),
    ]
)

#: Maximum number of events of a batch. Each batch costs some milliseconds.
_MAX_EVENTS = 120_000

#: The text of a batch's column must be shorter than 2 GiB.
_MAX_TEXT = 1 << 30

_SECOND = 1_000_000


#: Texts by number.
_TYPE_NAMES = pa.array([type_name(kind) for kind in range(256)])
_STATUSES = pa.array(checksums.STATUSES)

#: Events of a block, by number or all.
Selection = Ints | slice

#: Builds a column of a page, given the selected events and their number.
_MakeColumn = Callable[[EventsPage, Selection, int], pa.Array]


@shown_in_notebooks
@takes(EventOptions)
def read_events(
    source: SourceLike | Iterable[SourceLike],
    *,
    columns: Sequence[EventColumn | str] | None = None,
    where: pc.Expression | None = None,
    **options: Unpack[EventOptions],
) -> pa.RecordBatchReader:
    """Read binary logs as record batches with one row per event; see :data:`EVENTS_SCHEMA`.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    columns
        Names of the columns to read, in this order; all by default. Without `info` and filters by schema or
        table, bodies are not decoded, so damage in them is not detected.
    where
        A condition on the columns of the view, such as ``pc.field("size") > 1_000_000``
        (`pyarrow.compute`): return only events that match it.
    **options
        See :class:`EventOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, a column does not exist, or a filter is invalid.
    BinlogError
        During iteration, after the batches of all events before the damage.
    """
    schema = chosen_columns(EVENTS_SCHEMA, columns)
    condition = None if where is None else Where.of(where, EVENTS_SCHEMA)
    needed = [*schema.names, *(condition.needed.names if condition is not None else ())]
    reading = Reading.of(source, options)
    pages = EventPages(
        reading.sources,
        reading.filters,
        max_events=_MAX_EVENTS,
        prologue=lambda block, pool, statuses, gtids: lambda: LineProgram(pool),
        needs_info="info" in needed,
        needs_gtid="gtid" in needed,
        **reading.pages,
    )
    batches = pages.each(partial(_page_batches, schema=schema, where=condition))
    return pa.RecordBatchReader.from_batches(schema, batches)


def _page_batches(page: EventsPage, schema: pa.Schema, where: Where | None) -> Iterator[pa.RecordBatch]:
    with page.block.held():
        rows = page.rows if where is None else _matching(page, where)
        if len(rows):
            yield from _batches_of(page, rows, schema)


def _matching(page: EventsPage, where: Where) -> Ints:
    """The events of a page that match a condition."""
    matching, begin = [page.rows[:0]], 0
    for batch in _batches_of(page, page.rows, where.needed):
        matching.append(page.rows[begin + where.rows(batch)])
        begin += batch.num_rows
    return np.concatenate(matching)


def _batches_of(page: EventsPage, rows: Ints, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    infos, count = None, len(rows)
    if "info" in schema.names:
        lines, ends = page.lines(rows)
        if len(lines) > _MAX_TEXT and count > 1:
            yield from _batches_of(page, rows[: count // 2], schema)
            yield from _batches_of(page, rows[count // 2 :], schema)
            return
        if len(lines) > LONGEST:
            position, kind = int(page.block.positions[rows[0]]), type_name(int(page.block.types[rows[0]]))
            reason = "its main fields exceed 2 GiB, Arrow's limit for strings; omit `info`"
            raise BinlogError(reason, file=plain(page.block.file), position=position, event_type=kind)
        offsets = pa.py_buffer(np.concatenate(([0], ends)).astype(np.int32))
        infos = pa.StringArray.from_buffers(count, offsets, pa.py_buffer(lines))
    # If all events of a block are selected, they are used without copies.
    chosen = slice(None) if count == len(page.block) else rows
    columns = {
        name: infos if name == "info" else _COLUMNS[name](page, chosen, count) for name in schema.names
    }
    yield joined_columns(columns, count, schema)


def _timestamp(page: EventsPage, rows: Selection, count: int) -> pa.Array:
    moments = page.block.header.numbers("timestamp")[rows] * _SECOND
    return pa.array(moments).view(EVENTS_SCHEMA.field("timestamp").type)


def _header_number(name: str) -> _MakeColumn:
    type_ = EVENTS_SCHEMA.field(name).type

    def make(page: EventsPage, rows: Selection, count: int) -> pa.Array:
        only = page.block.header.only(name)
        if only is not None:
            return repeated(only, count, type_)
        return pa.array(page.block.header.numbers(name)[rows].astype(type_.to_pandas_dtype()))

    return make


def _checksum(page: EventsPage, rows: Selection, count: int) -> pa.Array:
    statuses = page.statuses[rows]
    if count and (statuses == statuses[0]).all():
        return repeated(checksums.STATUSES[int(statuses[0])], count, pa.string())
    return _STATUSES.take(pa.array(statuses))


def _gtid(page: EventsPage, rows: Selection, count: int) -> pa.Array:
    assert page.gtids is not None
    return page.gtids.array(page.gtids.which[rows])


_COLUMNS: dict[str, _MakeColumn] = {
    "file": lambda page, rows, count: repeated(plain(page.block.file), count, pa.string()),
    "position": lambda page, rows, count: pa.array(page.block.positions[rows]),
    "end_position": lambda page, rows, count: pa.array(page.block.end_positions[rows]),
    "timestamp": _timestamp,
    "type": lambda page, rows, count: _TYPE_NAMES.take(pa.array(page.block.types[rows])),
    "type_code": lambda page, rows, count: pa.array(page.block.codes[rows].astype(np.int32)),
    "server_id": _header_number("server_id"),
    "size": lambda page, rows, count: pa.array(page.block.sizes[rows]),
    "flags": _header_number("flags"),
    "checksum": _checksum,
    "gtid": _gtid,
}
