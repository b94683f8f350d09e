"""The transactions view: one row per transaction; and as lines of JSON, in log order or sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.options import takes
from binlog_kaitai.ddl.definitions import SeriesDefinitions
from binlog_kaitai.kernels.arrays import Array, Bools, Codes, Ints
from binlog_kaitai.log.boundaries import Outcome
from binlog_kaitai.log.line_arrays import json_text, plain
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.read_options import DefinitionOptions, EventOptions, Reading
from binlog_kaitai.rows.string_columns import LONGEST
from binlog_kaitai.rows.text.moment_texts import join_texts
from binlog_kaitai.sources.source import Source, SourceLike
from binlog_kaitai.views.transaction_pages import Finished, TransactionPages
from binlog_kaitai.views.transaction_parts import part_schema

_SECOND = 1_000_000

#: The columns of the view.
#:
#: `start` is the earliest timestamp of its events; `duration` is the time from there to the commit on the
#: same server, in whole seconds like the timestamps of event headers. `kind` is how the transaction ended:
#: commit, rollback, xa_prepare; ddl and implicit are single statements that commit implicitly; open has no
#: end in its file. `tables` are those with changed rows, `statement` is the text of a definition. `bytes` is
#: the size in the file; `events` includes those inside a compressed payload. Row counts are null if the log
#: does not describe where a row ends.
TRANSACTIONS_SCHEMA = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("end_position", pa.int64(), nullable=False),
        pa.field("gtid", pa.string()),
        pa.field("server_id", pa.int64(), nullable=False),
        pa.field("start", pa.timestamp("us", tz="UTC")),
        pa.field("original_commit_timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("immediate_commit_timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("duration", pa.duration("s")),
        pa.field("xid", pa.uint64()),
        pa.field("last_committed", pa.int64()),
        pa.field("sequence_number", pa.int64()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("tables", pa.list_(pa.string()), nullable=False),
        pa.field("rows_inserted", pa.int64()),
        pa.field("rows_updated", pa.int64()),
        pa.field("rows_deleted", pa.int64()),
        pa.field("events", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("is_compressed", pa.bool_(), nullable=False),
        pa.field("statement", pa.string()),
        pa.field("thread_id", pa.int64()),
    ]
)

#: The view, with the size of the rows events of each of `tables`.
WITH_TABLE_BYTES = TRANSACTIONS_SCHEMA.append(pa.field("table_bytes", pa.list_(pa.int64()), nullable=False))


class TransactionOptions(EventOptions, DefinitionOptions, total=False):
    """Of :func:`read_transactions`."""


@takes(TransactionOptions)
def read_transactions(
    source: SourceLike | Iterable[SourceLike], **options: Unpack[TransactionOptions]
) -> pa.RecordBatchReader:
    """Read binary logs as record batches with one row per transaction; see :data:`TRANSACTIONS_SCHEMA`.

    Filters apply to whole transactions: positions and times are those of the beginning; one of the tables, or
    the default database of a statement, must match; and one of the events must be of the given type.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    **options
        See :class:`TransactionOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, or a filter is invalid.
    BinlogError
        During iteration, after all transactions before the damage; the damaged one is returned as open.
    """
    reading = Reading.of(source, options)
    batches = transaction_batches(
        reading.sources, reading.filters, definitions=SeriesDefinitions(options["ddl"]), **reading.pages
    )
    return pa.RecordBatchReader.from_batches(TRANSACTIONS_SCHEMA, batches)


def transaction_batches(
    source: SourceLike | Iterable[SourceLike], filters: Filters, **options: Any
) -> Iterator[pa.RecordBatch]:
    """Batches of the view; the options are those of `TransactionPages`."""
    return TransactionPages(source, filters, **options).each(_view)


def _view(transactions: Finished) -> tuple[pa.RecordBatch]:
    return (view_of(transactions.file, transactions.batch),)


def view_of(file: str, parts: pa.RecordBatch, schema: pa.Schema = TRANSACTIONS_SCHEMA) -> pa.RecordBatch:
    """Complete transactions in the form of the view."""
    columns = dict(zip(part_schema().names, parts.columns, strict=True))
    start = columns["start"].to_numpy()
    original = columns["original_commit_timestamp"].fill_null(0).to_numpy()
    committed = np.where(original > 0, original // _SECOND, columns["end"].to_numpy())
    columns["file"] = pa.repeat(plain(file), len(parts))
    columns["duration"] = pa.array(np.maximum(committed - start, 0), mask=start == 0)
    columns["start"] = pa.array(start * _SECOND, mask=start == 0)
    for time in ("original_commit_timestamp", "immediate_commit_timestamp"):
        values = columns[time].fill_null(0).to_numpy()
        columns[time] = pa.array(values, mask=values == 0)
    columns["kind"] = _kinds(columns)
    columns["bytes"] = pa.array(columns["end_position"].to_numpy() - columns["position"].to_numpy())
    columns["thread_id"] = pc.coalesce(columns["thread_id"], columns["gtid_thread"])
    arrays = [columns[field.name].cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _kinds(columns: dict[str, pa.Array]) -> pa.Array:
    outcome = outcome_of(
        columns["is_begun"].to_numpy(zero_copy_only=False),
        columns["is_standalone"].fill_null(1).to_numpy(),
        columns["is_rollback_alter"].fill_null(0).to_numpy(),
        columns["outcome"].to_numpy(),
        columns["meant"].to_numpy(),
    )
    names = pa.array(KINDS)
    return pa.DictionaryArray.from_arrays(pa.array(outcome), names).cast(pa.string())


#: Names of outcomes, by number.
KINDS = [one.name.lower() for one in Outcome]


def outcome_of(
    is_begun: Bools, is_standalone: Ints, is_rollback_alter: Ints, outcome: Array, meant: Array
) -> Codes:
    """How each transaction ended, from the columns of `part_schema`, int8."""
    # MariaDB's transactions have no BEGIN; a transaction of a single statement is flagged as standalone.
    is_begun = is_begun | (is_standalone == 0)
    outcome = np.where((outcome == Outcome.OPEN) & ~is_begun, meant, outcome)
    return np.where(is_rollback_alter == 1, Outcome.ROLLBACK, outcome).astype(np.int8)


# -- lines of JSON

_ROWS_OF = {"insert": "rows_inserted", "update": "rows_updated", "delete": "rows_deleted"}

#: Sort keys, and the columns whose sum each stands for.
SORTS = {
    "size": ("bytes",),
    "duration": ("duration",),
    "rows": tuple(_ROWS_OF.values()),
    "events": ("events",),
}

#: Matches strings that need escapes in JSON.
_SPECIAL = r'[\x00-\x1f"\\]'

_IS_SPECIAL = np.array([byte < 32 or byte in b'"\\' for byte in range(256)])

#: Number of rows kept before the first ones are selected again.
_ROOM = 1 << 16


def write_transactions(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters | None = None,
    *,
    ddl: str | None = None,
    operation: Iterable[str] = (),
    min_size: int = 0,
    min_rows: int = 0,
    sort: str | None = None,
    limit: int | None = None,
    ends: list[End] | None = None,
    progress: Callable[[Source, int], object] = lambda source, position: None,
) -> Iterator[bytes]:
    """Lines of JSON, each an object with the columns of :data:`TRANSACTIONS_SCHEMA`.

    Times are seconds since 1970-01-01 UTC; commit times have six fractional digits.

    `operation`: only transactions with rows that were inserted, updated or deleted: some of "insert" …
    `min_size`, `min_rows`: only those of at least this size in bytes, and number of changed rows.
    `sort`: one of :data:`SORTS`: descending, with unknown values last.
    `limit`: maximum number of transactions; with `sort`, also the approximate number held in memory.
    Raises `BinlogError`: after the lines of all transactions before the damage; with `sort`, without any
    lines.
    """
    batches = transaction_batches(
        source, filters or Filters(), definitions=SeriesDefinitions(ddl), ends=ends, progress=progress
    )
    if operation or min_size or min_rows:
        columns = [_ROWS_OF[change] for change in operation]
        batches = (batch.filter(_is_chosen(batch, columns, min_size, min_rows)) for batch in batches)
    if sort is None:
        yield from _first(batches, limit)
        return
    for batch in _sorted(batches, sort, limit).to_batches(max_chunksize=_ROOM):
        yield _json_lines(batch)


def _is_chosen(batch: pa.RecordBatch, columns: list[str], min_size: int, min_rows: int) -> pa.Array:
    """Which transactions match; those whose rows cannot be counted do not match conditions on rows."""
    is_chosen = pc.greater_equal(batch["bytes"], min_size)
    if min_rows:
        is_chosen = pc.and_(is_chosen, pc.greater_equal(_sum(batch, SORTS["rows"]), min_rows))
    if columns:
        is_chosen = pc.and_(is_chosen, pc.greater(_sum(batch, columns), 0))
    return pc.fill_null(is_chosen, False)


def _sum(table: pa.RecordBatch | pa.Table, names: Iterable[str]) -> pa.Array:
    return reduce(pc.add, (table.column(name).cast(pa.int64()) for name in names))


def _first(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[bytes]:
    left = limit
    while left is None or left > 0:
        batch = next(batches, None)
        if batch is None:
            return
        if left is not None:
            batch = batch.slice(0, left)
            left -= len(batch)
        if len(batch):
            yield _json_lines(batch)


def _sorted(batches: Iterator[pa.RecordBatch], sort: str, limit: int | None) -> pa.Table:
    greatest = TRANSACTIONS_SCHEMA.empty_table()
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if limit is not None and sum(map(len, waiting)) >= _ROOM:
            greatest, waiting = _greatest(greatest, waiting, sort, limit), []
    return _greatest(greatest, waiting, sort, limit)


def _greatest(greatest: pa.Table, more: list[pa.RecordBatch], sort: str, limit: int | None) -> pa.Table:
    """The first transactions in sort order; equal ones keep their order."""
    every = pa.concat_tables([greatest, pa.Table.from_batches(more, TRANSACTIONS_SCHEMA)])
    order = pc.sort_indices(pa.table({"key": _sum(every, SORTS[sort])}), [("key", "descending")])
    # Copied, because a slice would keep the whole batch in memory.
    return every.take(order if limit is None else order[:limit])


def _json_lines(batch: pa.RecordBatch) -> bytes:
    pieces: list[pa.Array | str] = []
    for name, values in zip(batch.schema.names, batch.columns, strict=True):
        pieces += ["{" if not pieces else ", ", f'"{name}": ', *_pieces(values)]
    lines = _lines_of(*(one.encode() if isinstance(one, str) else one for one in pieces), b"}\n")
    data = lines.buffers()[2]
    offsets = memoryview(lines.buffers()[1]).cast("i")
    return b"" if data is None else bytes(memoryview(data)[offsets[0] : offsets[len(lines)]])


def _pieces(values: pa.Array) -> list[pa.Array | str]:
    """The JSON text of a column, in pieces of which constants can be merged with those around."""
    if pa.types.is_string(values.type) and not values.null_count and _is_plain(values):
        return ['"', values, '"']
    text = _json(values)
    return [pc.fill_null(text, "null") if text.null_count else text]


def _json(values: pa.Array) -> pa.Array:
    """The JSON text of a column; null for null."""
    kind = values.type
    if pa.types.is_list(kind):
        texts = _json(values.flatten())
        lists = pa.ListArray.from_arrays(_offsets(values), texts)
        return _joined("[", pc.binary_join(lists, ", "), "]")
    if pa.types.is_string(kind):
        return _quoted(values)
    if pa.types.is_boolean(kind):
        return pc.if_else(values, "true", "false")
    if pa.types.is_timestamp(kind):
        return _time(values)
    return values.cast(pa.int64() if pa.types.is_duration(kind) else kind).cast(pa.string())


def _quoted(texts: pa.Array) -> pa.Array:
    """Strings as JSON."""
    found = _joined('"', texts, '"')
    if _is_plain(texts):
        return found
    is_special = pc.fill_null(pc.match_substring_regex(texts, _SPECIAL), False)
    escaped = [json_text(one).decode() for one in texts.filter(is_special).to_pylist()]
    return pc.replace_with_mask(found, is_special, pa.array(escaped, pa.string()))


def _is_plain(texts: pa.Array) -> bool:
    """Whether no string contains a byte that may need an escape."""
    data = texts.buffers()[2]
    return data is None or not _IS_SPECIAL[np.frombuffer(data, dtype=np.uint8)].any()


def _offsets(values: pa.Array) -> pa.Array:
    """Start of each list in the flattened values."""
    lengths = pc.list_value_length(values).to_numpy(zero_copy_only=False)
    return pa.array([0, *lengths.cumsum().tolist()], pa.int32())


def _time(values: pa.Array) -> pa.Array:
    micros = values.cast(pa.int64())
    seconds = pc.divide(micros, _SECOND)
    rest = pc.subtract(micros, pc.multiply(seconds, _SECOND))
    fraction = pc.utf8_lpad(rest.cast(pa.string()), 6, "0")
    return pc.if_else(
        pc.equal(rest, 0), seconds.cast(pa.string()), _joined(seconds.cast(pa.string()), ".", fraction)
    )


def _joined(*pieces: pa.Array | str) -> pa.Array:
    """Concatenate texts row by row; null if any of them is null."""
    return pc.binary_join_element_wise(*pieces, "", null_handling="emit_null")


def _lines_of(*pieces: bytes | pa.Array) -> pa.Array:
    """Concatenate texts row by row, none of which is null. A piece of bytes is part of each row."""
    arrays, between = list[pa.Array](), [b""]
    for piece in pieces:
        if isinstance(piece, bytes):
            between[-1] += piece
        else:
            arrays.append(piece)
            between.append(b"")
    count = len(arrays[0])
    offsets = np.empty((len(arrays), count + 1), dtype=np.int32)
    limits = np.cumsum([0, *map(len, between)])
    bases = np.empty(len(arrays), dtype=np.int64)
    parts, size = [np.frombuffer(b"".join(between), dtype=np.uint8)], int(limits[-1])
    for number, array in enumerate(arrays):
        _, positions, data = array.buffers()
        offsets[number] = np.frombuffer(positions, dtype=np.int32)[array.offset : array.offset + count + 1]
        begin, end = int(offsets[number, 0]), int(offsets[number, -1])
        bases[number] = size - begin
        if data is not None:
            parts.append(np.frombuffer(data, dtype=np.uint8)[begin:end])
            size += end - begin
    total = size + (count - 1) * int(limits[-1])
    if total > LONGEST:
        raise OverflowError("the text of one column takes more than 2 GiB")
    out, ends = np.empty(total, dtype=np.uint8), np.empty(count + 1, dtype=np.int32)
    found = join_texts.run(np.concatenate(parts), offsets, bases, limits, out, ends)
    if found != total:
        raise AssertionError(f"concatenated texts exceed their buffer: {found}")
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(ends), pa.py_buffer(out)], 0)
