"""Pages of transactions: those that end in a block, in log order.

`boundaries` determines where transactions begin and end, and `transaction_parts` summarizes their events in a
block. A transaction that spans blocks is kept as a single part, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.event_types import QUERY_TYPES, type_name
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.boundaries import Boundaries, Roles, Segments, roles_of
from binlog_kaitai.log.event_gtids import GtidColumns, Gtids, check_gtids
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.transaction_roles import Outcome, Role
from binlog_kaitai.rows.event_filters import EventSelection
from binlog_kaitai.rows.log_pages import LogPages
from binlog_kaitai.rows.row_counts import row_counts
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Tables
from binlog_kaitai.sources.source import Source, SourceLike
from binlog_kaitai.text.line_arrays import Pool
from binlog_kaitai.views.transaction_parts import Changes, PartRow, Parts, join, parts_of

#: Event types with required fields: an event of these types that cannot be decoded is an error.
_NEEDED = ROWS_TYPES.union(QUERY_TYPES) | {
    EventType.execute_load_query_event,
    EventType.table_map_event,
    EventType.xid_event,
    EventType.xa_prepare_log_event,
}


class TransactionsPage:
    """All events of a block, and the parts of transactions that they form.

    `gtids`: the GTIDs in force; None if they are only needed for few transactions.
    `defines`: which events change the definition of a requested table; None if no names are requested.
    `parts`: the transactions; for one that continues in another block, the part in this block.
    """

    def __init__(
        self,
        block: Block,
        gtids: Gtids | None,
        images: Images,
        roles: Roles,
        segments: Segments,
        defines: Bools | None,
    ) -> None:
        self.block, self.gtids, self.defines = block, gtids, defines
        self.images, self.roles, self.segments = images, roles, segments
        self.parts = Parts(block, segments)
        self.changes = Changes(images.rows, images.tables, images.table_of, row_counts(images))

    def columns(self, *, types: Iterable[int] = ()) -> pa.RecordBatch:
        """All transactions, see `parts_of`; without `gtids`, some columns are missing."""
        events = self.block, self.roles, self.parts, self.gtids, self.changes
        return parts_of(*events, types=types, defines=self.defines)

    def rows(self, begin: int, end: int) -> pa.RecordBatch:
        """A few of the transactions with all columns."""
        first, after = int(self.parts.first[begin]), int(self.parts.last[end - 1]) + 1
        block = self.block.part(first, after)
        parts = Parts(block, self.parts.part(begin, end))
        # A transaction with a GTID begins with it; one from an earlier block has its GTID from there.
        gtids = GtidColumns().find(block, Pool(), lambda row, error: None)
        return parts_of(block, self.roles.part(first, after), parts, gtids, self.changes.part(first, after))


class Finished(NamedTuple):
    """Complete transactions of a log.

    `batch`: their columns, see `parts_of`; None if they have not been built.
    `page`, `begin`, `end`: without `batch`: the transactions `begin` to `end` of this page, which is valid
    until the next ones are requested, unless blocks are shared.
    """

    file: str
    batch: pa.RecordBatch | None
    page: TransactionsPage | None = None
    begin: int = 0
    end: int = 0


class TransactionSelection(EventSelection):
    """The filters, for the transactions of one file.

    `is_over`: no further transactions of this file, or of the following files, can match.
    """

    def among(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The transactions that match."""
        filters = self._filters
        if not filters:
            return batch
        takes = self._takes_moments(batch)
        if filters.server_ids:
            takes &= np.isin(batch.column("server_id").to_numpy(), sorted(filters.server_ids))
        if filters.event_types:
            takes &= batch.column("has_type").to_numpy(zero_copy_only=False)
        if self.has_names:
            takes &= self._takes_names(batch)
        if filters.has_gtids:
            rows = np.flatnonzero(takes)
            gtids = batch.column("gtid").take(pa.array(rows)).to_pylist()
            takes[rows] = [filters.takes_gtid(gtid) for gtid in gtids]
        return batch.filter(pa.array(takes))

    def _takes_moments(self, batch: pa.RecordBatch) -> Bools:
        """Which transactions match by the position and time of their beginning."""
        filters = self._filters
        positions, starts = (batch.column(name).to_numpy() for name in ("position", "start"))
        takes = np.ones(len(batch), dtype=np.bool_)
        is_after = np.zeros(len(batch), dtype=np.bool_)
        if self._stop is not None:
            is_after |= positions >= self._stop
        if filters.stop_timestamp is not None:
            takes &= starts < filters.stop_timestamp
            is_after |= ~takes & (not self._is_part)
        if self.is_over or is_after.any():
            # After the first of these, nothing can match.
            takes[0 if self.is_over else int(np.argmax(is_after)) :] = False
            self.is_over = True
        if self._start is not None:
            takes &= positions >= self._start
        if filters.start_timestamp is not None:
            takes &= starts >= filters.start_timestamp
        return takes

    def _takes_names(self, batch: pa.RecordBatch) -> Bools:
        """Which transactions change one of the tables or its definition, or have the default database."""
        databases, tables = self._filters.databases, self._filters.tables
        lists = batch.column("tables")
        names = lists.flatten().dictionary_encode()
        takes_name = [
            (not tables or name in tables)
            and (not databases or any(name.startswith(f"{database}.") for database in databases))
            for name in names.dictionary.to_pylist()
        ]
        takes: Bools = batch.column("defines").to_numpy(zero_copy_only=False).copy()
        chosen = np.array(takes_name, dtype=np.bool_)[names.indices.to_numpy()]
        takes[lists.value_parent_indices().to_numpy()[chosen]] = True
        if not tables:
            has_schema = pc.is_in(batch.column("schema"), pa.array(sorted(databases)))
            takes |= pc.fill_null(has_schema, False).to_numpy(zero_copy_only=False)
        return takes


class TransactionPages(LogPages[Finished]):
    """The transactions of one or more logs that match the filters, in order.

    After damage, the transaction left open is yielded before the error is raised.

    `definitions`: the table definitions in force before each log.
    `makes_rows`: build all columns of all transactions; otherwise, for callers that need few of these and
    have no filters, mostly none.
    The others are those of `LogPages`.
    """

    def __init__(
        self,
        source: SourceLike | Iterable[SourceLike],
        filters: Filters,
        *,
        definitions: SeriesDefinitions | None = None,
        makes_rows: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(source, filters, ends_at_gtids=True, **options)
        self._definitions = SeriesDefinitions(self.sources) if definitions is None else definitions
        self._makes_rows = makes_rows
        self._types = [kind.value for kind in EventType if type_name(kind) in filters.event_types]

    def see(self, page: TransactionsPage) -> None:
        """Called with the next events, without the filters, before the transactions that end in them."""

    def _select(self, source: Source, filters: Filters, **place: bool) -> TransactionSelection:
        return TransactionSelection(filters, **place)

    def _begin(self, block: Block) -> _OpenLog:
        server_id = block.fixed_header(0).server_id if len(block) else 0
        return _OpenLog(Tables(self._definitions.of(block.file, server_id)))

    def _page(self, block: Block, state: _OpenLog, selection: EventSelection) -> Iterator[Finished]:
        failures = self._wrong_checksums(block)
        gtids = None
        if self._makes_rows:
            gtids = state.gtids.find(block, Pool(), failures.setdefault)
        else:
            check_gtids(block, failures.setdefault)
        _check(block, failures)
        if failures:
            block = block.part(0, min(failures))
        roles = roles_of(block)
        state.check_definitions(block, roles, failures)
        if failures:
            stop = min(failures)
            block, roles = block.part(0, stop), roles.part(0, stop)
            gtids = gtids and gtids.part(slice(stop))
        changes = selection.definition_changes(block)
        self._unmatched.look(block, len(block), gtids, changes)
        images = Images(block, state.tables)
        segments = state.boundaries.divide(roles, is_before_gtid=block.is_before_gtid)
        if len(block):
            defines = selection.defines(block, changes) if selection.has_names else None
            page = TransactionsPage(block, gtids, images, roles, segments, defines)
            self.see(page)
            yield from self._chosen(self._finished(page, state), selection)
        if failures and not selection.is_over:
            raise failures[min(failures)]

    def _finish(self, state: _OpenLog, selection: EventSelection) -> Iterator[Finished]:
        yield from self._chosen(state.finish(), selection)

    def _finished(self, page: TransactionsPage, state: _OpenLog) -> Iterator[Finished]:
        begin, end, segments = 0, len(page.parts), page.segments
        batch = page.columns(types=self._types) if self._makes_rows else None

        def row(number: int) -> PartRow:
            rows = page.rows(number, number + 1) if batch is None else batch.slice(number, 1)
            state.schema = rows.schema
            row: PartRow = rows.to_pylist()[0]
            return row

        if segments.continues and state.transaction is not None:
            join(state.transaction, row(0))
            begin = 1
        if state.transaction is not None and (end > begin or not segments.is_open):
            yield from state.finish()
        if segments.is_open and end > begin:
            end -= 1
            state.transaction = row(end)
            state.file = page.block.file
        if end > begin:
            chosen = batch and batch.slice(begin, end - begin)
            yield Finished(page.block.file, chosen, page, begin, end)

    @staticmethod
    def _chosen(finished: Iterable[Finished], selection: EventSelection) -> Iterator[Finished]:
        assert isinstance(selection, TransactionSelection)
        for transactions in finished:
            if transactions.batch is None:
                yield transactions
            elif len(batch := selection.among(transactions.batch)):
                yield Finished(transactions.file, batch)

    @staticmethod
    def _size(page: Finished) -> int:
        """Size of the transactions in the log, in bytes; without rows, that of the block."""
        if page.batch is None:
            return 0 if page.page is None else int(page.page.block.sizes.sum())
        positions, ends = (page.batch.column(name) for name in ("position", "end_position"))
        return max(int(ends[-1].as_py()) - int(positions[0].as_py()), 0)


class _OpenLog:
    """State carried from one block of a log to the next: among it, the open transaction."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.gtids, self.boundaries = GtidColumns(), Boundaries()
        self.transaction: PartRow | None = None
        self.schema: pa.Schema | None = None
        self.file = ""
        self._validator = BodyValidator()

    def finish(self) -> Iterator[Finished]:
        """The open transaction, if there is one."""
        row, self.transaction = self.transaction, None
        if row is not None:
            yield Finished(self.file, pa.RecordBatch.from_pylist([row], schema=self.schema))

    def check_definitions(self, block: Block, roles: Roles, failures: dict[int, BinlogError]) -> None:
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
