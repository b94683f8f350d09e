"""The transactions view: one row per transaction, in log order.

`boundaries` determines where transactions begin and end, and `parts` summarizes their events in a block. A
transaction that spans blocks is kept as a single part, however long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple, Unpack

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.event_types import QUERY_TYPES, type_name
from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.ddl.definitions import SeriesDefinitions
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BLOCK_SIZE
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.boundaries import Boundaries, Outcome, Role, Roles, roles_of
from binlog_kaitai.log.event_gtids import GtidColumns, check_gtids
from binlog_kaitai.log.line_arrays import Pool, TextColumn
from binlog_kaitai.log.part_reader import blocks_of
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.threads import in_order, prefetches_with, thread_count
from binlog_kaitai.log.transaction_choice import Choice
from binlog_kaitai.rows.event_filters import Unmatched
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Tables
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, SourceLike, resolve
from binlog_kaitai.views.left_out_watcher import Progress, Watcher
from binlog_kaitai.views.transaction_pages import TransactionsPage
from binlog_kaitai.views.transaction_parts import PART_SCHEMA, join
from binlog_kaitai.views.transactions_view import TRANSACTIONS_SCHEMA, view_of

#: Event types with required fields: an event of these types that cannot be decoded is an error.
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


def read_transactions(
    source: SourceLike | Iterable[SourceLike],
    *,
    ddl: str | None = None,
    verify_checksums: bool = True,
    block_size: int = BLOCK_SIZE,
    progress: Callable[[Source, int], object] | None = None,
    keys: Keys | None = None,
    threads: int | None = None,
    **filters: Unpack[FilterOptions],
) -> pa.RecordBatchReader:
    """Read binary logs as record batches with one row per transaction; see :data:`TRANSACTIONS_SCHEMA`.

    Parameters
    ----------
    source
        Any source that :func:`binlog_kaitai.open` accepts.
    verify_checksums
        Raise an error for an event with a wrong CRC32.
    ddl
        Text of CREATE TABLE statements, as written by mysqldump, for the length of values that logs do not
        describe: those of MariaDB's old temporal types with fractions, whose rows are otherwise not counted.
    progress
        Called periodically with the source and the offset reached in it.
    keys
        Where to find the keys of encrypted logs; see :class:`Keys`.
    threads
        Number of threads: by default, one; more are not started for small logs. The result does
        not depend on it.
    filters
        As for :meth:`Filters.of`, applied to whole transactions: positions and times are those of the
        beginning; one of the tables, or the default database of a statement, must match; and one of the
        events must be of a given type.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, or a filter is invalid.
    BinlogError
        During iteration, after all transactions before the damage; the damaged one is returned as open.
    """
    chosen, sources = Filters.of(**filters), resolve(source, keys)
    batches = transaction_batches(
        sources,
        chosen,
        verify_checksums=verify_checksums,
        block_size=block_size,
        watcher=None if progress is None else Progress(progress),
        definitions=SeriesDefinitions(ddl),
        threads=threads,
    )
    return pa.RecordBatchReader.from_batches(TRANSACTIONS_SCHEMA, batches)


def transaction_batches(
    sources: list[Source],
    filters: Filters,
    *,
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
    **options: Any,
) -> Iterator[pa.RecordBatch]:
    """Batches of the view; the other options are those of `finished_transactions`."""
    count = thread_count(threads, sources)
    found = finished_transactions(
        sources, filters, block_size=block_size, prefetches=prefetches_with(count), **options
    )
    yield from in_order(found, _view, count, size_of_rows)


def _view(found: tuple[Source, Finished]) -> tuple[pa.RecordBatch]:
    source, some = found
    return (view_of(source.name, some.batch),)


def size_of_rows(found: tuple[Source, Finished]) -> int:
    """Size of transactions that have been built as rows, in the log, in bytes."""
    batch: Any = found[1].batch
    positions, ends = (batch.column(name) for name in ("position", "end_position"))
    return max(int(ends[-1].as_py()) - int(positions[0].as_py()), 0)


class Finished(NamedTuple):
    """Complete transactions.

    Attributes
    ----------
    batch : RecordBatch or None
        Their rows, see `parts.PART_SCHEMA`; None if they have not been built.
    page, begin, end
        Without `batch`: the transactions `begin` to `end` of this page, which is valid until the next ones
        are requested, unless blocks are shared.
    """

    batch: pa.RecordBatch | None
    page: TransactionsPage | None = None
    begin: int = 0
    end: int = 0


def finished_transactions(
    sources: list[Source],
    filters: Filters,
    *,
    verify_checksums: bool = True,
    watcher: Watcher | None = None,
    definitions: SeriesDefinitions | None = None,
    makes_rows: bool = True,
    **options: Any,
) -> Generator[tuple[Source, Finished], None, None]:
    """The transactions that match the filters.

    Parameters
    ----------
    watcher
        Observes the events, too, without the filters.
    definitions
        The table definitions in force before each log.
    makes_rows
        Build all transactions as rows of `parts.PART_SCHEMA`; otherwise, for callers that need few of these
        and have no filters, mostly none.
    options
        Those of `BlockReader`.
    """
    watcher = watcher or Watcher()
    definitions = SeriesDefinitions() if definitions is None else definitions
    unmatched = Unmatched(filters, sources)
    for number, source in enumerate(sources):
        is_first, is_last = number == 0, number == len(sources) - 1
        is_part = source.span is not None
        own = filters.without(source.repeated)
        choice = Choice(own, is_first=is_first, is_last=is_last, is_part=is_part)
        log = _Log(source, filters, watcher, definitions, verify_checksums, makes_rows, options)
        log.unmatched = unmatched
        unmatched.begin(source, is_first=is_first, is_last=is_last)
        watcher.begin(source, is_first=is_first, is_last=is_last)
        error: BinlogError | None = None
        blocks = log.read()
        while not choice.is_over:
            try:
                found = next(blocks, None)
            except BinlogError as caught:
                error, found = caught, log.finish()
            for some in found or ():
                chosen = some if some.batch is None else Finished(choice.of(some.batch))
                if chosen.batch is None or len(chosen.batch):
                    yield source, chosen
            if error is not None:
                raise error
            if found is None:
                break
    unmatched.warn()


class _Log:
    """A file as batches of complete transactions; see `parts.PART_SCHEMA`."""

    def __init__(
        self,
        source: Source,
        filters: Filters,
        watcher: Watcher,
        definitions: SeriesDefinitions,
        verify_checksums: bool,
        makes_rows: bool,
        options: Mapping[str, Any],
    ) -> None:
        self._source, self._watcher = source, watcher
        self.unmatched = Unmatched(Filters(), [])
        self._makes_rows = makes_rows
        self._options = options
        self._verify_checksums = verify_checksums
        self._types = [kind.value for kind in EventType if type_name(kind) in filters.event_types]
        self._with_schemas = bool(filters.databases or filters.tables)
        self._definitions = definitions
        self._gtids, self._boundaries = GtidColumns(), Boundaries()
        self._tables: Tables | None = None
        self._validator = BodyValidator()
        self._open: dict[str, Any] | None = None

    def read(self) -> Iterator[list[Finished]]:
        """Transactions completed in each block, and finally the one left open."""
        with reading(self._source.name), self._source.open() as stream:
            reader = blocks_of(
                self._source,
                stream,
                verify_checksums=self._verify_checksums,
                ends_at_gtids=True,
                **self._options,
            )
            blocks: Iterator[Block] = chain.from_iterable(map(expand, reader))
            if self._watcher.left_out is not None:
                blocks = self._watcher.left_out.decided(self._source, blocks)
            try:
                for block in blocks:
                    with block.held():
                        yield from self._take(block)
            except BinlogError as error:
                raise error.at(file=self._source.name, position=reader.position) from error.__cause__
            if (end := reader.end()) is not None:
                self._watcher.end(end)
            yield self.finish()

    def finish(self) -> list[Finished]:
        """The open transaction, if there is one."""
        left, self._open = self._open, None
        return [] if left is None else [Finished(_one(left))]

    def _take(self, block: Block) -> Iterator[list[Finished]]:
        failures: dict[int, BinlogError] = {}
        if self._verify_checksums:
            for row in np.flatnonzero(checksums.check(block) == BAD)[:1].tolist():
                failures[row] = checksums.error_at(block, row)
        pool = Pool()
        gtids = None
        if self._makes_rows:
            gtids = self._gtids.column(block, pool, failures.setdefault)
        else:
            check_gtids(block, failures.setdefault)
        _check(block, failures)
        if failures:
            block = block.part(0, min(failures))
        roles = roles_of(block)
        self._check_definitions(block, roles, failures)
        if failures:
            stop = min(failures)
            block, roles = block.part(0, stop), roles.part(0, stop)
            gtids = gtids and gtids._replace(first=gtids.first[:stop], second=gtids.second[:stop])
        self.unmatched.look(block, len(block), gtids, pool)
        yield self._finished(block, roles, gtids, pool)
        if failures:
            raise failures[min(failures)]

    def _check_definitions(self, block: Block, roles: Roles, failures: dict[int, BinlogError]) -> None:
        """Raise the event reader's errors for invalid definitions, whose text is a column."""
        defines = (roles.roles == Role.STATEMENT) & (roles.outcomes == Outcome.DDL)
        for kind in block.kinds:
            if kind not in QUERY_TYPES:
                continue
            wanted = defines[block.rows_of(kind)]
            if not wanted.any():
                continue
            for row in block.rows_of(kind)[wanted & ~self._validator.accepts(block, kind, wanted)].tolist():
                _read(block, row, failures)

    def _finished(self, block: Block, roles: Roles, gtids: TextColumn | None, pool: Pool) -> list[Finished]:
        images = Images(block, self._tables_of(block))
        segments = self._boundaries.divide(roles, is_before_gtid=block.is_before_gtid)
        if not len(block):
            return []
        page = TransactionsPage(block, gtids, pool, images, roles, segments)
        self._watcher.see(page)
        begin, end = 0, len(page.parts)
        rows = self._rows(page, begin, end) if self._makes_rows else None

        def part(begin: int, end: int) -> pa.RecordBatch:
            return self._rows(page, begin, end) if rows is None else rows.slice(begin, end - begin)

        found = []
        if segments.continues and self._open is not None:
            self._open = join([self._open, _row(part(0, 1))])
            begin = 1
        if self._open is not None and (end > begin or not segments.is_open):
            found += self.finish()
        if segments.is_open and end > begin:
            end -= 1
            self._open = _row(part(end, end + 1))
        if end > begin:
            found.append(Finished(None if rows is None else part(begin, end), page, begin, end))
        return found

    def _tables_of(self, block: Block) -> Tables:
        if self._tables is None:
            server_id = block.fixed_header(0).server_id if len(block) else 0
            self._tables = Tables(self._definitions.of(self._source.name, server_id))
        return self._tables

    def _rows(self, page: TransactionsPage, begin: int, end: int) -> pa.RecordBatch:
        return page.rows(begin, end, types=self._types, with_schemas=self._with_schemas)


def _row(batch: pa.RecordBatch) -> dict[str, Any]:
    row: dict[str, Any] = batch.to_pylist()[0]
    return row


def _one(row: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([row], schema=PART_SCHEMA)


def _check(block: Block, failures: dict[int, BinlogError]) -> None:
    """Raise the event reader's errors for required events that do not match their layout."""
    for kind in _NEEDED.intersection(block.kinds):
        for row in block.rows_of(kind)[~block.body(kind).matches].tolist():
            _read(block, row, failures)


def _read(block: Block, row: int, failures: dict[int, BinlogError]) -> None:
    try:
        block.event(row).parsed  # noqa: B018
    except BinlogError as error:
        failures.setdefault(row, error)
