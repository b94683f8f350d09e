"""The transactions view: one row per transaction; and as lines of JSON, in log order or sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.options import takes
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.read_options import DefinitionOptions, EventOptions, Reading
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.transaction_roles import Outcome
from binlog_kaitai.sources.source import Source, SourceLike, resolve
from binlog_kaitai.text.line_arrays import LineProgram, Pool, TextColumn, json_text, plain, write_lines
from binlog_kaitai.text.text_kernels import TEXT
from binlog_kaitai.views.notebook_readers import shown_in_notebooks
from binlog_kaitai.views.transaction_pages import TransactionPages

_SECOND = 1_000_000

#: The age of a statement at its BEGIN from which on its timestamp counts as one that SET TIMESTAMP has set,
#: in seconds. A timestamp in the future makes the age negative, which is logged modulo 2^32.
_MOST_AT_BEGIN = 86_400

#: The columns of the view.
#:
#: `start` is the earliest timestamp of its events; `duration` is the time from there to the commit on the
#: same server, in whole seconds like the timestamps of event headers, null if SET TIMESTAMP has set these.
#: `kind` is how the transaction ended: commit, rollback, xa_prepare; ddl and implicit are single statements
#: that commit implicitly; open has no end in its file. `tables` are those with changed rows, `statement` is
#: the text of a definition. `bytes` is the size in the file; `events` includes those inside a compressed
#: payload. Row counts are null if the log does not describe where a row ends.
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
    """The keywords of :func:`read_transactions`."""


@shown_in_notebooks
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
    definitions = SeriesDefinitions(reading.sources, options["ddl"])
    batches = transaction_batches(reading.sources, reading.filters, definitions=definitions, **reading.pages)
    return pa.RecordBatchReader.from_batches(TRANSACTIONS_SCHEMA, batches)


def transaction_batches(
    source: SourceLike | Iterable[SourceLike], filters: Filters, **options: Any
) -> Iterator[pa.RecordBatch]:
    """Batches of the view; the options are those of `TransactionPages`."""
    pages = TransactionPages(source, filters, **options)
    return pages.each(lambda transactions: [view_of(transactions.file, transactions.batch)])


def view_of(file: str, parts: pa.RecordBatch, schema: pa.Schema = TRANSACTIONS_SCHEMA) -> pa.RecordBatch:
    """Complete transactions in the form of the view."""
    columns = {**view_columns(parts), "file": pa.repeat(plain(file), len(parts))}
    arrays = [columns[field.name].cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def view_columns(parts: pa.RecordBatch) -> dict[str, pa.Array]:
    """The columns of complete transactions for the view, of types that can be cast to its types."""
    columns = dict(zip(parts.schema.names, parts.columns, strict=True))
    start = columns["start"].to_numpy()
    original = columns["original_commit_timestamp"].fill_null(0).to_numpy()
    committed = np.where(original > 0, original // _SECOND, columns["end"].to_numpy())
    is_unknown = (start == 0) | (columns["begun_after"].fill_null(0).to_numpy() >= _MOST_AT_BEGIN)
    columns["duration"] = pa.array(np.maximum(committed - start, 0), mask=is_unknown)
    columns["start"] = pa.array(start * _SECOND, mask=start == 0)
    for time in ("original_commit_timestamp", "immediate_commit_timestamp"):
        values = columns[time].fill_null(0).to_numpy()
        columns[time] = pa.array(values, mask=values == 0)
    columns["kind"] = _kinds(columns)
    columns["bytes"] = pa.array(columns["end_position"].to_numpy() - columns["position"].to_numpy())
    columns["thread_id"] = pc.coalesce(columns["thread_id"], columns["gtid_thread"])
    return columns


#: Names of outcomes, by number.
KINDS = [outcome.name.lower() for outcome in Outcome]


def _kinds(columns: dict[str, pa.Array]) -> pa.DictionaryArray:
    """How each transaction ended."""
    # MariaDB's transactions have no BEGIN; a transaction of a single statement is flagged as standalone.
    is_standalone, is_rollback_alter = (
        columns[name].fill_null(default).to_numpy()
        for name, default in (("is_standalone", 1), ("is_rollback_alter", 0))
    )
    is_begun = columns["is_begun"].to_numpy(zero_copy_only=False) | (is_standalone == 0)
    outcome, meant = (columns[name].to_numpy() for name in ("outcome", "meant"))
    outcome = np.where((outcome == Outcome.OPEN) & ~is_begun, meant, outcome)
    outcome = np.where(is_rollback_alter == 1, Outcome.ROLLBACK, outcome).astype(np.int8)
    return pa.DictionaryArray.from_arrays(pa.array(outcome), pa.array(KINDS))


# -- lines of JSON

_ROWS_OF = {"insert": "rows_inserted", "update": "rows_updated", "delete": "rows_deleted"}

#: Sort keys, and the columns whose sum each stands for.
SORTS = {
    "size": ("bytes",),
    "duration": ("duration",),
    "rows": tuple(_ROWS_OF.values()),
    "events": ("events",),
}

#: Number of rows kept before the first ones are selected again.
_ROWS_KEPT = 1 << 16


def write_transactions(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters | None = None,
    *,
    ddl: str | None = None,
    kind: Iterable[str] = (),
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

    `kind`: only transactions that ended so, by the names in the column `kind`.
    `operation`: only transactions with rows that were inserted, updated or deleted: some of "insert" …
    `min_size`, `min_rows`: only those of at least this size in bytes, and number of changed rows.
    `sort`: one of :data:`SORTS`: descending, with unknown values last.
    `limit`: maximum number of transactions; with `sort`, also the approximate number held in memory.
    Raises `BinlogError`: after the lines of all transactions before the damage; with `sort`, without any
    lines.
    """
    logs = resolve(source)
    definitions = SeriesDefinitions(logs, ddl)
    batches = transaction_batches(
        logs, filters or Filters(), definitions=definitions, ends=ends, progress=progress
    )
    if kinds := list(kind):
        batches = (batch.filter(pc.is_in(batch["kind"], pa.array(kinds))) for batch in batches)
    if operation or min_size or min_rows:
        columns = [_ROWS_OF[change] for change in operation]
        batches = (batch.filter(_is_chosen(batch, columns, min_size, min_rows)) for batch in batches)
    if sort is None:
        yield from _first(batches, limit)
        return
    for batch in _sorted(batches, sort, limit).to_batches(max_chunksize=_ROWS_KEPT):
        yield json_lines(batch)


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
            yield json_lines(batch)


def _sorted(batches: Iterator[pa.RecordBatch], sort: str, limit: int | None) -> pa.Table:
    greatest = TRANSACTIONS_SCHEMA.empty_table()
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if limit is not None and sum(map(len, waiting)) >= _ROWS_KEPT:
            greatest, waiting = _greatest(greatest, waiting, sort, limit), []
    return _greatest(greatest, waiting, sort, limit)


def _greatest(greatest: pa.Table, more: list[pa.RecordBatch], sort: str, limit: int | None) -> pa.Table:
    """The first transactions in sort order; equal ones keep their order."""
    every = pa.concat_tables([greatest, pa.Table.from_batches(more, TRANSACTIONS_SCHEMA)])
    order = pc.sort_indices(pa.table({"key": _sum(every, SORTS[sort])}), [("key", "descending")])
    # Copied, because a slice would keep the whole batch in memory.
    return every.take(order if limit is None else order[:limit])


def json_lines(batch: pa.RecordBatch) -> bytes:
    """A line of JSON for each transaction, as `write_transactions` writes it."""
    ranges = [_ranges(values) for values in batch.columns]
    starts = np.cumsum([0, *(len(data) for data, _ in ranges)])
    whole, pool, rows = np.concatenate([data for data, _ in ranges]), Pool(), np.arange(len(batch))
    program, between = LineProgram(pool), "{"
    for field, values, (_, limits), start in zip(batch.schema, batch.columns, ranges, starts, strict=False):
        program.text(f'{between}"{field.name}": ')
        between = ", "
        if pa.types.is_string(field.type):
            column = pool.strings(whole, start + limits[:-1], np.diff(limits), bytes.decode, _mask(values))
        elif pa.types.is_list(field.type):
            column = _placed(pool, _lists(values))
        elif pa.types.is_timestamp(field.type):
            column = _placed(pool, _times(values))
        else:
            numbers = values.cast(pa.int64()) if pa.types.is_duration(field.type) else values
            numbers = numbers.fill_null(0) if numbers.null_count else numbers
            column = pool.numbers(numbers.to_numpy(zero_copy_only=False), _mask(values))
        program.column(column)
    return bytes(write_lines(whole, pool, [program.text("}\n")], rows, rows * 0, rows)[0])


def _mask(values: pa.Array) -> Bools | None:
    """Which values are not null; None for all."""
    return values.is_valid().to_numpy(zero_copy_only=False) if values.null_count else None


def _ranges(texts: pa.Array) -> tuple[Bytes, Ints]:
    """The bytes of strings, and where each begins; nothing for other values."""
    if not pa.types.is_string(texts.type):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    _, offsets, data = texts.buffers()
    limits = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data or b"", dtype=np.uint8)[limits[0] : limits[-1]]
    return data, limits.astype(np.int64) - limits[0]


def _placed(pool: Pool, texts: pa.Array) -> TextColumn:
    """A column of JSON values given as text."""
    data, limits = _ranges(texts)
    starts, lengths = pool.append(data) + limits[:-1], np.diff(limits)
    if (mask := _mask(texts)) is not None:
        starts, lengths = np.where(mask, starts, pool.null[0]), np.where(mask, lengths, pool.null[1])
    return TextColumn(TEXT, -starts - 1, lengths)


def _lists(lists: pa.Array) -> pa.Array:
    """The JSON text of lists of strings."""
    names = lists.flatten().dictionary_encode()
    texts = pa.array([json_text(name).decode() for name in names.dictionary.to_pylist()], pa.string())
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.cumsum([0, *lengths]), pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, texts.take(names.indices)), ", ")
    return pc.binary_join_element_wise("[", joined, "]", "")


def _times(times: pa.Array) -> pa.Array:
    """The JSON text of times: seconds, with six digits of a fraction unless it is 0."""
    micros = times.cast(pa.int64())
    seconds = pc.divide(micros, _SECOND)
    rest = pc.subtract(micros, pc.multiply(seconds, _SECOND))
    whole, fraction = seconds.cast(pa.string()), pc.utf8_lpad(rest.cast(pa.string()), 6, "0")
    return pc.if_else(pc.equal(rest, 0), whole, pc.binary_join_element_wise(whole, fraction, "."))
