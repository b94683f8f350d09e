"""The transactions view: one row for each transaction of a log, in the order of the log.

Where transactions begin and end is the business of `boundaries`; `transaction_parts` says what a block tells
of each. A transaction that goes on in the next block is kept as one part, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from binlog_kaitai.columns import checksums
from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.blocks import BLOCK_SIZE, BlockReader
from binlog_kaitai.columns.boundaries import Boundaries, Outcome, roles_of
from binlog_kaitai.columns.gtids import GtidColumns
from binlog_kaitai.columns.kernels import BAD
from binlog_kaitai.columns.lines import Column, Pool
from binlog_kaitai.columns.payloads import expand
from binlog_kaitai.columns.row_counts import row_counts
from binlog_kaitai.columns.rows.images import Images
from binlog_kaitai.columns.rows.tables import Tables
from binlog_kaitai.columns.transaction_parts import Parts, columns_of, join
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import BinlogError, ChecksumError, SourceError
from binlog_kaitai.event_types import type_name
from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.options import Filters
from binlog_kaitai.reader import judge_end
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
_NEEDED = (
    *ROWS_TYPES,
    EventType.query_event,
    EventType.query_compressed_event,
    EventType.execute_load_query_event,
    EventType.table_map_event,
    EventType.xid_event,
    EventType.xa_prepare_log_event,
)
_SECOND = 1_000_000


def read_transactions(
    source: SourceLike | Iterable[SourceLike],
    *,
    verify_checksums: bool = True,
    block_size: int = BLOCK_SIZE,
    **filters: Any,
) -> pa.RecordBatchReader:
    """Read binary logs as record batches, one row for each transaction; see :data:`TRANSACTIONS_SCHEMA`.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    verify_checksums
        Raise on an event whose CRC32 does not fit.
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
    batches = _batches(sources, chosen, verify_checksums, block_size)
    return pa.RecordBatchReader.from_batches(TRANSACTIONS_SCHEMA, batches)


def _batches(
    sources: list[Source], filters: Filters, verify_checksums: bool, block_size: int
) -> Iterator[pa.RecordBatch]:
    for number, source in enumerate(sources):
        choice = _Choice(filters, is_first=number == 0, is_last=number == len(sources) - 1)
        log = _Log(source, verify_checksums, block_size, filters)
        error: BinlogError | None = None
        blocks = log.read()
        while not choice.is_over:
            try:
                found = next(blocks, None)
            except BinlogError as caught:
                error, found = caught, log.finish()
            if found:
                rows = [row for row in found if choice.takes(row)]
                if rows:
                    yield _batch(source.name, rows)
            if error is not None:
                raise error.at(file=source.name, position=0) from error.__cause__
            if found is None:
                break


class _Log:
    """One file, as lists of finished transactions."""

    def __init__(self, source: Source, verify_checksums: bool, block_size: int, filters: Filters) -> None:
        self._source = source
        self._verify_checksums = verify_checksums
        self._block_size = block_size
        self._types = [kind.value for kind in EventType if type_name(kind) in filters.event_types]
        self._with_schemas = bool(filters.databases or filters.tables)
        self._gtids, self._tables, self._boundaries = GtidColumns(), Tables(Definitions()), Boundaries()
        self._open: dict[str, Any] | None = None

    def read(self) -> Iterator[list[dict[str, Any]]]:
        """What each block finishes, and at the end what is left open."""
        try:
            with self._source.open() as stream:
                reader = BlockReader.of_file(stream, self._source.name, block_size=self._block_size)
                try:
                    for block in reader:
                        for part in expand(block):
                            yield from self._take(part)
                except BinlogError as error:
                    raise error.at(file=self._source.name, position=reader.position) from error.__cause__
                if reader.tail is not None:
                    judge_end(self._source.name, reader.tail, reader.context)
                yield self.finish()
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=self._source.name) from error

    def finish(self) -> list[dict[str, Any]]:
        """The transaction that is open, if one is."""
        left, self._open = self._open, None
        return [] if left is None else [left]

    def _take(self, block: Block) -> Iterator[list[dict[str, Any]]]:
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

    def _finished(self, block: Block, gtids: Column, pool: Pool) -> list[dict[str, Any]]:
        images, roles = Images(block, self._tables), roles_of(block)
        segments = self._boundaries.divide(roles)
        if not len(block):
            return []
        parts = Parts(block, roles, segments)
        columns = columns_of(
            block,
            roles,
            parts,
            gtids,
            pool,
            images,
            row_counts(images),
            types=self._types,
            with_schemas=self._with_schemas,
        )
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        if segments.continues and self._open is not None:
            rows[0] = join([self._open, rows[0]])
        elif self._open is not None:
            rows.insert(0, self._open)
        self._open = rows.pop() if segments.is_open else None
        return rows


def _check(block: Block, failures: dict[int, BinlogError]) -> None:
    """Have the reader say what is wrong with needed events that their layout does not fit."""
    for kind in _NEEDED:
        for row in block.rows_of(kind)[~block.body(kind).fits].tolist():
            try:
                block.event(row).parsed  # noqa: B018
            except BinlogError as error:
                failures.setdefault(row, error)


class _Choice:
    """The filters, for the transactions of one file."""

    def __init__(self, filters: Filters, *, is_first: bool, is_last: bool) -> None:
        self.is_over = False
        self._filters = filters
        self._start = filters.start_position if is_first else None
        self._stop = filters.stop_position if is_last else None

    def takes(self, row: dict[str, Any]) -> bool:
        """Whether a transaction is wanted."""
        filters = self._filters
        if not filters:
            return True
        self.is_over |= self._stop is not None and row["position"] >= self._stop
        self.is_over |= filters.stop_timestamp is not None and row["start"] >= filters.stop_timestamp
        if self.is_over or (self._start is not None and row["position"] < self._start):
            return False
        if filters.start_timestamp is not None and row["start"] < filters.start_timestamp:
            return False
        if filters.server_ids and row["server_id"] not in filters.server_ids:
            return False
        if filters.event_types and not row["has_type"]:
            return False
        return filters.takes_gtid(row["gtid"]) and self._takes_names(row)

    def _takes_names(self, row: dict[str, Any]) -> bool:
        if not (self._filters.databases or self._filters.tables):
            return True
        names = [*row["tables"], (row["schema"], None)]
        return any(self._filters.takes_names(*name) for name in names)


def _batch(file: str, rows: list[dict[str, Any]]) -> pa.RecordBatch:
    name = file.encode("utf-8", "backslashreplace").decode()
    columns = {field.name: [row.get(field.name) for row in rows] for field in TRANSACTIONS_SCHEMA}
    columns["file"] = [name] * len(rows)
    columns["start"] = [row["start"] * _SECOND or None for row in rows]
    for time in ("original_commit_timestamp", "immediate_commit_timestamp"):
        columns[time] = [value or None for value in columns[time]]
    columns["duration"] = [_duration(row) for row in rows]
    columns["kind"] = [_kind(row) for row in rows]
    columns["tables"] = [[".".join(one) for one in row["tables"]] for row in rows]
    columns["bytes"] = [row["end_position"] - row["position"] for row in rows]
    columns["thread_id"] = [
        row["thread_id"] if row["thread_id"] is not None else row["gtid_thread"] for row in rows
    ]
    return pa.RecordBatch.from_pydict(columns, schema=TRANSACTIONS_SCHEMA)


def _duration(row: dict[str, Any]) -> int | None:
    committed = (row["original_commit_timestamp"] or 0) // _SECOND or row["end"]
    return max(committed - row["start"], 0) if row["start"] else None


def _kind(row: dict[str, Any]) -> str:
    is_begun = row["is_begun"] or row["is_standalone"] is False
    outcome = Outcome.ROLLBACK if row["is_rollback_alter"] else Outcome(row["outcome"])
    if outcome is Outcome.OPEN and not is_begun:
        outcome = Outcome(row["meant"])
    return outcome.name.lower()
