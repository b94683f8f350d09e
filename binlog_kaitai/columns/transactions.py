"""The transactions view: one row for each transaction of a log, in the order of the log.

Where transactions begin and end is the business of `boundaries`; `transaction_parts` says what a block tells
of each. A transaction that goes on in the next block is kept as one part, however long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binlog_kaitai.columns import checksums
from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.blocks import BLOCK_SIZE
from binlog_kaitai.columns.boundaries import Boundaries, Outcome, Segments, roles_of
from binlog_kaitai.columns.gtids import GtidColumns
from binlog_kaitai.columns.kernels import BAD
from binlog_kaitai.columns.lines import Column, Pool
from binlog_kaitai.columns.part_reader import blocks_of
from binlog_kaitai.columns.parts import Parts
from binlog_kaitai.columns.payloads import expand
from binlog_kaitai.columns.row_counts import row_counts
from binlog_kaitai.columns.rows.images import Images
from binlog_kaitai.columns.rows.pages import new_definitions
from binlog_kaitai.columns.rows.tables import Tables
from binlog_kaitai.columns.transaction_parts import PART_SCHEMA, join, parts_of
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import BinlogError, ChecksumError, SourceError
from binlog_kaitai.event_types import type_name
from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.options import Filters
from binlog_kaitai.reader import End
from binlog_kaitai.sources import Source, SourceLike, resolve

#: The columns of the view.
#:
#: `start` is the earliest time stamp of its events; `duration` goes from there to the commit on the same
#: server, whole seconds as that is what event headers have. `kind` is how it ended: commit, rollback,
#: xa_prepare; ddl and implicit are single statements that commit by themselves; open has no end in its file.
#: `tables` are those with changed rows, `statement` is the text of a definition. `bytes` is what it takes in
#: the file, `events` counts those inside a compressed payload, too. Numbers of rows are null where the log
#: does not tell where a row ends.
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

#: Types whose fields are needed, so that an event of them that cannot be read is an error.
_NEEDED = frozenset(
    (
        *ROWS_TYPES,
        EventType.query_event,
        EventType.query_compressed_event,
        EventType.execute_load_query_event,
        EventType.table_map_event,
        EventType.xid_event,
        EventType.xa_prepare_log_event,
    )
)
_SECOND = 1_000_000


def read_transactions(
    source: SourceLike | Iterable[SourceLike],
    *,
    ddl: str | None = None,
    verify_checksums: bool = True,
    block_size: int = BLOCK_SIZE,
    progress: Callable[[Source, int], object] | None = None,
    **filters: Any,
) -> pa.RecordBatchReader:
    """Read binary logs as record batches, one row for each transaction; see :data:`TRANSACTIONS_SCHEMA`.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    verify_checksums
        Raise on an event whose CRC32 does not fit.
    ddl
        Text of CREATE TABLE statements, such as mysqldump writes. It tells how long values are where logs do
        not: those of MariaDB's old temporal types with fractions, whose rows are not counted without it.
    progress
        Gets the source, and the offset in it that has been reached, now and then.
    filters
        As :meth:`Filters.of` takes them, for whole transactions: positions and times are those of the
        beginning; one of the tables, or the default database of a statement, must fit; one of the events
        must be of the types.

    Raises
    ------
    SourceError, UsageError
        At once: nothing is there to read, or a filter makes no sense.
    BinlogError
        While reading, after all transactions before the damage; the one that it is in comes as open.
    """
    chosen, sources = Filters.of(**filters), resolve(source)
    watcher = None if progress is None else _Progress(progress)
    batches = transaction_batches(
        sources,
        chosen,
        verify_checksums=verify_checksums,
        block_size=block_size,
        watcher=watcher,
        definitions=new_definitions(ddl),
    )
    return pa.RecordBatchReader.from_batches(TRANSACTIONS_SCHEMA, batches)


class Page(NamedTuple):
    """All events of one block, and what the view made of them."""

    block: Block
    gtids: Column
    pool: Pool
    images: Images
    row_counts: Any  # of each rows event, see `row_counts`
    parts: Parts
    segments: Segments


class Watcher:
    """Sees, besides the transactions, all events that they are made of; does nothing by itself."""

    def begin(self, source: Source, *, is_first: bool, is_last: bool) -> None:
        """A log is going to be read."""

    def see(self, page: Page) -> None:
        """The next events; the transactions that end in them come afterwards."""

    def end(self, end: End) -> None:
        """The log has been read to its end."""


class _Progress(Watcher):
    def __init__(self, progress: Callable[[Source, int], object]) -> None:
        self._progress = progress

    def begin(self, source: Source, *, is_first: bool, is_last: bool) -> None:
        self._source = source

    def see(self, page: Page) -> None:
        self._progress(self._source, int(page.block.end_positions[-1]))


def transaction_batches(
    sources: list[Source],
    filters: Filters,
    *,
    verify_checksums: bool = True,
    block_size: int = BLOCK_SIZE,
    watcher: Watcher | None = None,
    definitions: Definitions | None = None,
) -> Iterator[pa.RecordBatch]:
    """The batches of the view; `watcher` sees the events, too, without a look at the filters.

    `definitions` are what is known of tables before the first event.
    """
    watcher = watcher or Watcher()
    definitions = Definitions() if definitions is None else definitions
    for number, source in enumerate(sources):
        is_first, is_last = number == 0, number == len(sources) - 1
        is_part = source.part is not None
        choice = _Choice(filters, is_first=is_first, is_last=is_last, is_part=is_part)
        log = _Log(source, verify_checksums, block_size, filters, watcher, definitions)
        watcher.begin(source, is_first=is_first, is_last=is_last)
        error: BinlogError | None = None
        blocks = log.read()
        while not choice.is_over:
            try:
                found = next(blocks, None)
            except BinlogError as caught:
                error, found = caught, log.finish()
            for part in found or ():
                chosen = choice.of(part)
                if len(chosen):
                    yield _batch(source.name, chosen)
            if error is not None:
                raise error.at(file=source.name, position=0) from error.__cause__
            if found is None:
                break


class _Log:
    """One file, as batches of finished transactions; see `transaction_parts.PART_SCHEMA`."""

    def __init__(
        self,
        source: Source,
        verify_checksums: bool,
        block_size: int,
        filters: Filters,
        watcher: Watcher,
        definitions: Definitions,
    ) -> None:
        self._source, self._watcher = source, watcher
        self._verify_checksums = verify_checksums
        self._block_size = block_size
        self._types = [kind.value for kind in EventType if type_name(kind) in filters.event_types]
        self._with_schemas = bool(filters.databases or filters.tables)
        self._gtids, self._tables, self._boundaries = GtidColumns(), Tables(definitions), Boundaries()
        self._open: dict[str, Any] | None = None

    def read(self) -> Iterator[list[pa.RecordBatch]]:
        """What each block finishes, and at the end what is left open."""
        try:
            with self._source.open() as stream:
                reader = blocks_of(self._source, stream, block_size=self._block_size)
                try:
                    for block in reader:
                        for part in expand(block):
                            yield from self._take(part)
                except BinlogError as error:
                    raise error.at(file=self._source.name, position=reader.position) from error.__cause__
                if (end := reader.end()) is not None:
                    self._watcher.end(end)
                yield self.finish()
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=self._source.name) from error

    def finish(self) -> list[pa.RecordBatch]:
        """The transaction that is open, if one is."""
        left, self._open = self._open, None
        return [] if left is None else [_one(left)]

    def _take(self, block: Block) -> Iterator[list[pa.RecordBatch]]:
        failures: dict[int, BinlogError] = {}
        if self._verify_checksums:
            for row in np.flatnonzero(checksums.check(block) == BAD)[:1].tolist():
                reason = "the checksum does not fit the bytes"
                failures[row] = block.event(row).locate(ChecksumError(reason, field="checksum"))
        pool = Pool()
        gtids = self._gtids.column(block, pool, failures.setdefault)
        _check(block, failures)
        if failures:
            stop = min(failures)
            block = block.part(0, stop)
            gtids = Column(gtids.kind, gtids.first[:stop], gtids.second[:stop], gtids.by_event)
        yield self._finished(block, gtids, pool)
        if failures:
            raise failures[min(failures)]

    def _finished(self, block: Block, gtids: Column, pool: Pool) -> list[pa.RecordBatch]:
        images, roles = Images(block, self._tables), roles_of(block)
        segments = self._boundaries.divide(roles)
        if not len(block):
            return []
        parts, counts = Parts(block, segments), row_counts(images)
        self._watcher.see(Page(block, gtids, pool, images, counts, parts, segments))
        batch = parts_of(
            block,
            roles,
            parts,
            gtids,
            pool,
            images,
            counts,
            types=self._types,
            with_schemas=self._with_schemas,
        )
        begin, end = 0, len(batch)
        found = []
        if segments.continues and self._open is not None:
            self._open = join([self._open, _row(batch, 0)])
            begin = 1
        if self._open is not None and (end > begin or not segments.is_open):
            found += self.finish()
        if segments.is_open and end > begin:
            end -= 1
            self._open = _row(batch, end)
        if end > begin:
            found.append(batch.slice(begin, end - begin))
        return found


def _row(batch: pa.RecordBatch, number: int) -> dict[str, Any]:
    row: dict[str, Any] = batch.slice(number, 1).to_pylist()[0]
    return row


def _one(row: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([row], schema=PART_SCHEMA)


def _check(block: Block, failures: dict[int, BinlogError]) -> None:
    """Have the reader say what is wrong with needed events that their layout does not fit."""
    for kind in _NEEDED.intersection(block.kinds):
        for row in block.rows_of(kind)[~block.body(kind).fits].tolist():
            try:
                block.event(row).parsed  # noqa: B018
            except BinlogError as error:
                failures.setdefault(row, error)


class _Choice:
    """The filters, for the transactions of one file."""

    def __init__(self, filters: Filters, *, is_first: bool, is_last: bool, is_part: bool) -> None:
        self.is_over = False
        self._is_part = is_part  # see `Selection`
        self._filters = filters
        self._has_filters = bool(filters)
        self._start = filters.start_position if is_first else None
        self._stop = filters.stop_position if is_last else None

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The transactions that are wanted."""
        if not self._has_filters:
            return batch
        return batch.filter(pa.array([self._takes(row) for row in batch.to_pylist()]))

    def _takes(self, row: dict[str, Any]) -> bool:
        filters = self._filters
        self.is_over |= self._stop is not None and row["position"] >= self._stop
        is_late = filters.stop_timestamp is not None and row["start"] >= filters.stop_timestamp
        self.is_over |= is_late and not self._is_part
        if self.is_over or is_late or (self._start is not None and row["position"] < self._start):
            return False
        if filters.start_timestamp is not None and row["start"] < filters.start_timestamp:
            return False
        if filters.server_ids and row["server_id"] not in filters.server_ids:
            return False
        if filters.event_types and not row["has_type"]:
            return False
        return filters.takes_gtid(row["gtid"]) and self._takes_names(row)

    def _takes_names(self, row: dict[str, Any]) -> bool:
        databases, tables = self._filters.databases, self._filters.tables
        names = [name for name in row["tables"] if not tables or name in tables]
        if not databases:
            return bool(names) or not tables
        if any(name.startswith(f"{database}.") for name in names for database in databases):
            return True
        return not tables and row["schema"] in databases


def _batch(file: str, parts: pa.RecordBatch) -> pa.RecordBatch:
    """Finished transactions as the view shows them."""
    columns = dict(zip(PART_SCHEMA.names, parts.columns, strict=True))
    start = columns["start"].to_numpy()
    original = columns["original_commit_timestamp"].fill_null(0).to_numpy()
    committed = np.where(original > 0, original // _SECOND, columns["end"].to_numpy())
    columns["file"] = pa.repeat(file.encode("utf-8", "backslashreplace").decode(), len(parts))
    columns["duration"] = pa.array(np.maximum(committed - start, 0), mask=start == 0)
    columns["start"] = pa.array(start * _SECOND, mask=start == 0)
    for time in ("original_commit_timestamp", "immediate_commit_timestamp"):
        values = columns[time].fill_null(0).to_numpy()
        columns[time] = pa.array(values, mask=values == 0)
    columns["kind"] = _kinds(columns)
    columns["bytes"] = pa.array(columns["end_position"].to_numpy() - columns["position"].to_numpy())
    columns["thread_id"] = pc.coalesce(columns["thread_id"], columns["gtid_thread"])
    arrays = [columns[field.name].cast(field.type) for field in TRANSACTIONS_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=TRANSACTIONS_SCHEMA)


def _kinds(columns: dict[str, Any]) -> pa.Array:
    # MariaDB's transactions have no BEGIN; a statement that is one by itself is marked as standalone.
    is_begun = columns["is_begun"].to_numpy(zero_copy_only=False)
    is_begun = is_begun | (columns["is_standalone"].fill_null(1).to_numpy() == 0)
    outcome, meant = columns["outcome"].to_numpy(), columns["meant"].to_numpy()
    outcome = np.where((outcome == Outcome.OPEN) & ~is_begun, meant, outcome)
    outcome = np.where(columns["is_rollback_alter"].fill_null(0).to_numpy() == 1, Outcome.ROLLBACK, outcome)
    names = pa.array([one.name.lower() for one in Outcome])
    return pa.DictionaryArray.from_arrays(pa.array(outcome.astype(np.int8)), names).cast(pa.string())
