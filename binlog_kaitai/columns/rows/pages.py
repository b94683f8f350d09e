"""Selected rows events of logs, block by block, with their tables and metadata."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.columns.blocks import checksums
from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.blocks.part_reader import blocks_of
from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.columns.blocks.reader import BLOCK_SIZE
from binlog_kaitai.columns.gather import Gathered
from binlog_kaitai.columns.kernel.arrays import Ints
from binlog_kaitai.columns.kernel.byte_kernels import BAD
from binlog_kaitai.columns.lines import Column, Pool
from binlog_kaitai.columns.row_counts import RowNumbers
from binlog_kaitai.columns.rows.commit_times import CommitTimes
from binlog_kaitai.columns.rows.images import Images
from binlog_kaitai.columns.rows.origins import Origins
from binlog_kaitai.columns.rows.sequences import era_of
from binlog_kaitai.columns.rows.tables import Table, Tables, located_error
from binlog_kaitai.columns.rows.xa import Prepared
from binlog_kaitai.columns.selection import Selection
from binlog_kaitai.columns.threads import in_order, thread_count
from binlog_kaitai.columns.transactions.event_gtids import GtidColumns, Markers
from binlog_kaitai.columns.unmatched_filters import Unmatched
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.series import OneSeries, SeriesDefinitions
from binlog_kaitai.errors import BinlogError, GrammarError, reading
from binlog_kaitai.reader.ends import End
from binlog_kaitai.reader.reader import Event
from binlog_kaitai.reader.rows import rows_of
from binlog_kaitai.sources.source import Source, SourceLike, resolve

_Result = TypeVar("_Result")


class RowsPage:
    """The selected rows events of one block.

    Attributes
    ----------
    chosen : int64 array
        Numbers of the events in `images`, in log order.
    gtids : Column
        GTID of each event of the block, as JSON text in `pool`.
    commit_times : int64 array
        For each event of the block.
    first_numbers : int64 array
        For each event in `images`, the number of its first row.
    wanted : bool array
        Which events of the block match the filters on header and GTID.
    limit : int
        Number of the first event of the block at or after a stop position or damage; else the number of
        events.
    origins : dict of Column
        JSON values of each event of the block, for the requested names of `Origins`.
    era : int
        See `columns.rows.sequences`.
    """

    def __init__(
        self,
        block: Block,
        images: Images,
        chosen: NDArray[np.int64],
        pool: Pool,
        gtids: Column,
        commit_times: NDArray[np.int64],
        first_numbers: NDArray[np.int64],
        wanted: NDArray[np.bool_],
        limit: int,
        origins: dict[str, Column],
        era: int,
    ) -> None:
        self.block = block
        self.images = images
        self.chosen = chosen
        self.pool = pool
        self.gtids = gtids
        self.commit_times = commit_times
        self.first_numbers = first_numbers
        self.wanted = wanted
        self.limit = limit
        self.origins = origins
        self.era = era

    @cached_property
    def headers(self) -> Gathered:
        """Columns of the headers of the events of `images`."""
        return self.block.header_of(self.images.rows)

    def event(self, index: int) -> Event:
        """An event of `images` as the event reader returns it."""
        table = self.images.table(index)
        row = int(self.images.rows[index])
        status = checksums.STATUSES[int(self.block.checksums[row])]
        event = self.block.event(row, table.table_map if isinstance(table, Table) else None, status)
        event.gtid = self.gtid(row)
        return event

    def numbered(self, of_rows: Ints, numbers: Ints) -> Any:
        """Row numbers in the log, from the events and the row numbers within them."""
        return numbers + self.first_numbers[of_rows] if self.first_numbers.any() else numbers

    def gtid(self, row: int) -> str | None:
        """GTID of an event of the block."""
        offset, length = -int(self.gtids.first[row]) - 1, int(self.gtids.second[row])
        text = self.pool.read(offset, length).decode()
        return None if text == "null" else text[1:-1]

    def refuse(self, index: int, otherwise: BinlogError | None = None) -> BinlogError:
        """Raise the event reader's error for an invalid event, or `otherwise` if it finds none."""
        table, event = self.images.table(index), self.event(index)
        if isinstance(table, BinlogError):
            return located_error(table, event)
        try:
            for _ in rows_of(event, table.schema if table else None):
                pass
        except BinlogError as error:
            return error
        return event.locate(otherwise or GrammarError("the rows cannot be separated"))

    def runs(self) -> Iterator[tuple[Table | BinlogError | None, Any]]:
        """Runs of consecutive events of the same table."""
        numbers = self.images.table_of[self.chosen]
        limits = np.flatnonzero(np.diff(numbers, prepend=-2, append=-2)).tolist()
        for begin, end in pairwise(limits):
            yield self.images.table(int(self.chosen[begin])), self.chosen[begin:end]


class _State(NamedTuple):
    """State carried from one block of a file to the next."""

    gtids: GtidColumns
    commits: CommitTimes
    numbers: RowNumbers
    tables: Tables
    origins: Origins


class RowsPages:
    """Pages of one or more logs, in order.

    Parameters
    ----------
    source
        Any source that `binlog_kaitai.open` accepts.
    ddl
        Table definitions in the format of mysqldump.
    definitions
        Table definitions in force before the first event; replaces `ddl`.
    verify_checksums
        Raise an error for an event with a wrong CRC32, after all preceding rows.
    every_block
        Also yield pages for blocks without selected rows events.
    follows_xa
        Finally warn about rows of XA transactions that the logs roll back later.
    origins
        Columns to compute with `Origins`.
    progress
        Called periodically with the source and the offset reached in it.
    era
        The era of the logs in the column `_sequence`; by default, determined by the names of the logs.
    threads
        Number of threads of `each`, see `columns.threads.thread_count`; 1: also read in the caller's thread.

    Attributes
    ----------
    ends : list of End
        How each file ended.
    """

    def __init__(
        self,
        source: SourceLike | Iterable[SourceLike],
        filters: Filters,
        *,
        ddl: str | None = None,
        definitions: Definitions | None = None,
        verify_checksums: bool = True,
        block_size: int = BLOCK_SIZE,
        every_block: bool = False,
        follows_xa: bool = True,
        origins: Iterable[str] = (),
        progress: Callable[[Source, int], object] = lambda source, position: None,
        era: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.sources = resolve(source)
        self._threads = thread_count(threads, self.sources)
        self._prefetches = threads != 1
        self.ends: list[End] = []
        self._filters = filters
        self._ddl = ddl
        self._definitions = definitions
        self._verify_checksums = verify_checksums
        self._block_size = block_size
        self._every_block = every_block
        is_whole = follows_xa and all(one.part is None for one in self.sources)
        self._prepared = Prepared() if is_whole else None
        self._origins = frozenset(origins)
        self._progress = progress
        self._era = era_of(one.name for one in self.sources) if era is None else era

    def each(self, work: Callable[[RowsPage], Iterable[_Result]]) -> Iterator[_Result]:
        """What `work` returns for each page, in order; several pages are processed at a time."""
        return in_order(iter(self), work, self._threads, _size, self._block_size)

    def __iter__(self) -> Generator[RowsPage, None, None]:
        given = self._definitions
        definitions = SeriesDefinitions(self._ddl) if given is None else OneSeries(given)
        self._unmatched = Unmatched(self._filters, self.sources)
        for number, source in enumerate(self.sources):
            is_first, is_last = number == 0, number == len(self.sources) - 1
            is_part = source.part is not None
            selection = Selection(self._filters, is_first=is_first, is_last=is_last, is_part=is_part)
            self._unmatched.begin(source, is_first=is_first, is_last=is_last)
            if self._prepared is not None:
                self._prepared.begin()
            with reading(source.name), source.open() as stream:
                yield from self._read(source, stream, selection, definitions)
        self._unmatched.warn()
        if self._prepared is not None:
            self._prepared.warn()

    def _read(
        self, source: Source, stream: Any, selection: Selection, definitions: SeriesDefinitions
    ) -> Iterator[RowsPage]:
        reader = blocks_of(
            source,
            stream,
            block_size=self._block_size,
            verify_checksums=self._verify_checksums,
            prefetches=self._prefetches,
            shares_blocks=self._threads > 1,
        )
        state: _State | None = None
        try:
            for block in reader:
                if state is None:
                    own = definitions.of(source.name, block.fixed_header(0).server_id)
                    state = _State(
                        GtidColumns(), CommitTimes(), RowNumbers(), Tables(own), Origins(self._origins)
                    )
                for part in expand(block):
                    with part.held():
                        yield from self._page(part, state, selection)
                    if selection.is_over:
                        return
                self._progress(source, reader.position)
        except BinlogError as error:
            raise error.at(file=source.name, position=reader.position) from error.__cause__
        if (end := reader.end()) is not None:
            self.ends.append(end)

    def _page(self, block: Block, state: _State, selection: Selection) -> Iterator[RowsPage]:
        failures: dict[int, BinlogError] = {}
        pool = Pool()
        if self._verify_checksums:
            for row in np.flatnonzero(checksums.check(block) == BAD)[:1].tolist():
                failures[row] = checksums.error_at(block, row)
        markers = Markers.of(block)
        column = state.gtids.column(block, pool, failures.setdefault, markers)
        times = state.commits.column(block, markers)
        images = Images(block, state.tables)
        for row, error in state.tables.failures:
            failures.setdefault(row, error)
        first_numbers = state.numbers.first(images)
        wanted = selection.of(block, column, pool)
        limit = min([selection.limit, *failures])
        self._unmatched.look(block, limit, column, pool)
        wanted[limit:] = False
        chosen = np.flatnonzero(wanted[images.rows])
        if selection.has_names:
            chosen = self._by_name(images, chosen)
        origins = state.origins.columns(block, pool)
        page = RowsPage(
            block, images, chosen, pool, column, times, first_numbers, wanted, limit, origins, self._era
        )
        if self._prepared is not None:
            self._prepared.see(block, images.rows[chosen], limit, page.gtid)
        if len(chosen) or self._every_block:
            yield page
        if failures:
            raise failures[min(failures)]

    def _by_name(self, images: Images, chosen: Any) -> Any:
        takes = [
            not isinstance(table, Table) or self._filters.takes_names(*table.key) for table in images.tables
        ]
        # The last entry stands for events without a table map.
        return chosen[np.array([*takes, True], dtype=np.bool_)[images.table_of[chosen]]]


def new_definitions(ddl: str | None) -> Definitions:
    """New definitions, initialized from a file."""
    definitions = Definitions()
    if ddl is not None:
        definitions.load(ddl)
    return definitions


def _size(page: RowsPage) -> int:
    return int(page.block.sizes.sum())
