"""The events view as Arrow record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from binlog_kaitai.columns import checksums
from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.events import EventPages, Page
from binlog_kaitai.columns.gather import take_ranges
from binlog_kaitai.columns.lines import Column, Pool, Program, write_lines
from binlog_kaitai.event_types import type_name
from binlog_kaitai.options import Filters
from binlog_kaitai.sources import Source, SourceLike

#: The columns of the view. `info` is JSON; `timestamp` is when the statement began.
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

#: Text of a batch's column must be shorter than 2 GiB.
_MAX_TEXT = 1 << 30

_SECOND = 1_000_000


def read_events(
    source: SourceLike | Iterable[SourceLike],
    *,
    verify_checksums: bool = True,
    progress: Callable[[Source, int], object] = lambda source, position: None,
    **filters: Any,
) -> pa.RecordBatchReader:
    """Read binary logs as record batches, one row for each event; see :data:`EVENTS_SCHEMA`.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    verify_checksums
        Raise on an event whose CRC32 does not fit; otherwise it is only marked.
    progress
        Gets the source, and the offset in it that has been reached, now and then.
    filters
        As :meth:`Filters.of` takes them: ``start_position``, ``event_type`` and so on.

    Raises
    ------
    SourceError, UsageError
        At once: nothing is there to read, or a filter makes no sense.
    BinlogError
        While reading, after the batches of all events before the damage.
    """
    pages = EventPages(source, Filters.of(**filters), verify_checksums=verify_checksums, prologue=_info_alone)
    pages.progress = progress
    return pa.RecordBatchReader.from_batches(EVENTS_SCHEMA, _batches(pages))


def _batches(pages: EventPages) -> Iterator[pa.RecordBatch]:
    for page in pages:
        yield from _batches_of(page, page.rows)


def _batches_of(page: Page, rows: Any) -> Iterator[pa.RecordBatch]:
    infos, block = page.infos, page.block
    lines, ends = write_lines(
        block.data, page.pool, infos.programs, rows, infos.program_of[rows], infos.row_of[rows]
    )
    if len(lines) > _MAX_TEXT and len(rows) > 1:
        yield from _batches_of(page, rows[: len(rows) // 2])
        yield from _batches_of(page, rows[len(rows) // 2 :])
        return
    header = block.header
    columns = [
        pa.repeat(pa.scalar(block.file.encode("utf-8", "backslashreplace").decode(), pa.string()), len(rows)),
        pa.array(block.positions[rows]),
        pa.array(block.end_positions[rows]),
        pa.array(header["timestamp"][rows] * _SECOND).cast(EVENTS_SCHEMA.field("timestamp").type),
        _texts(block.types[rows], [type_name(kind) for kind in range(256)]),
        pa.array(block.codes[rows].astype(np.int32)),
        pa.array(header.numbers("server_id")[rows]),
        pa.array(block.sizes[rows]),
        pa.array(header.numbers("flags")[rows].astype(np.int32)),
        _texts(page.statuses[rows], list(checksums.STATUSES)),
        gtid_texts(page.gtids, page.pool, rows),
        _strings(lines, np.concatenate(([0], ends))),
    ]
    yield pa.RecordBatch.from_arrays(columns, schema=EVENTS_SCHEMA)


def _info_alone(block: Block, pool: Pool, statuses: Any, gtids: Column) -> Callable[[], Program]:
    return lambda: Program(pool)


def _texts(codes: Any, texts: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int16)), pa.array(texts)).cast(pa.string())


def gtid_texts(gtids: Column, pool: Pool, rows: Any) -> pa.Array:
    """The GTIDs of some events without the quotes of their JSON text; null for none."""
    """The GTIDs without the quotes of their JSON text; all lie in the pool."""
    starts, lengths = -gtids.first[rows] - 1, gtids.second[rows]
    valid = (starts != pool.null[0]) | (lengths != pool.null[1])
    data, offsets = take_ranges(pool.array(), starts + 1, np.where(valid, lengths - 2, 0))
    return _strings(data, offsets, valid)


def _strings(data: Any, offsets: Any, valid: Any = None) -> pa.Array:
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
