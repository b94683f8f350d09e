"""The transactions view: one row per transaction, in log order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.options import takes
from binlog_kaitai.ddl.definitions import SeriesDefinitions
from binlog_kaitai.kernels.arrays import Array, Bools, Codes, Ints
from binlog_kaitai.log.boundaries import Outcome
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.log.read_options import DefinitionOptions, EventOptions, Reading
from binlog_kaitai.sources.source import SourceLike
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
