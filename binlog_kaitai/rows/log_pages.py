"""Reads logs page by page: a page has the events of a block that the filters select, or its rows events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import DefinitionChange
from binlog_kaitai.errors import BinlogError, GrammarError, reading
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BLOCK_SIZE
from binlog_kaitai.log.event_gtids import GtidColumns, Gtids
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import rows_of
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.span_reader import blocks_of
from binlog_kaitai.log.threads import in_order, prefetches_with, thread_count
from binlog_kaitai.rows.event_filters import EventSelection, Unmatched
from binlog_kaitai.rows.event_metadata import CommitTimes, Origins, each_time
from binlog_kaitai.rows.places import PlacedEvents, Places
from binlog_kaitai.rows.rolled_back_rows import LeftOut, PreparedTransactions
from binlog_kaitai.rows.row_counts import BlockRowNumbers
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.row_masks import NO_MASKS, Masks
from binlog_kaitai.rows.sequences import era_of
from binlog_kaitai.rows.table_maps import Table, Tables, located_error
from binlog_kaitai.sources.source import Source, SourceLike, resolve
from binlog_kaitai.text.line_arrays import Pool, TextColumn

#: Size of blocks for typed columns and for lines of text: part of the work for a block is independent of its
#: size, and threads alternate less.
ROWS_BLOCK_SIZE = 2 * BLOCK_SIZE

_Page = TypeVar("_Page")
_Result = TypeVar("_Result")


class LogPages(Generic[_Page]):
    """Pages of one or more logs, in order; subclasses make them.

    `source`: any source that `binlog_kaitai.open` accepts.
    `verify_checksums`: raise an error for an event with a wrong CRC32, after all preceding events.
    `block_size`: maximum size in bytes, unless a single event is longer.
    `progress`: called periodically with the source and the offset reached in it.
    `threads`: number of threads of `each`, see `thread_count`; 1 for sources that are read in one.
    `ends`: list to which the end of each file is appended.
    `past_stop`: logs are read past a stop, too; called with an error there.
    `options`: more of `BlockReader`.
    """

    def __init__(
        self,
        source: SourceLike | Iterable[SourceLike],
        filters: Filters,
        *,
        verify_checksums: bool = True,
        block_size: int = BLOCK_SIZE,
        progress: Callable[[Source, int], object] = lambda source, position: None,
        threads: int | None = None,
        ends: list[End] | None = None,
        past_stop: Callable[[BinlogError], object] | None = None,
        **options: Any,
    ) -> None:
        self._past_stop = past_stop
        self.sources = resolve(source)
        self.ends: list[End] = [] if ends is None else ends
        self.threads = thread_count(threads, self.sources)
        self._filters = filters
        self._has_gtids = filters.has_gtids or any(source.repeated for source in self.sources)
        self._verify_checksums = verify_checksums
        self._block_size = block_size
        self._progress = progress
        self._options = {
            **options,
            "prefetches": prefetches_with(self.threads),
            "shares_blocks": self.threads > 1,
        }

    def each(self, work: Callable[[_Page], Iterable[_Result]]) -> Iterator[_Result]:
        """What `work` returns for each page, in order; several pages are processed at a time."""
        return in_order(iter(self), work, self.threads, self._size)

    def __iter__(self) -> Generator[_Page, None, None]:
        self._unmatched = Unmatched(self._filters, self.sources)
        for number, source in enumerate(self.sources):
            is_first, is_last = number == 0, number == len(self.sources) - 1
            is_part = source.span is not None
            filters = self._filters.without(source.repeated)
            selection = self._select(source, filters, is_first=is_first, is_last=is_last, is_part=is_part)
            self._unmatched.begin(source, is_first=is_first, is_last=is_last)
            with reading(source.name), source.open() as stream:
                yield from self._read(source, stream, selection)
        self._unmatched.warn()

    def _read(self, source: Source, stream: BinaryIO, selection: EventSelection) -> Iterator[_Page]:
        reader = blocks_of(
            source,
            stream,
            block_size=self._block_size,
            verify_checksums=self._verify_checksums,
            **self._options,
        )
        state = None
        try:
            for block in self._blocks(source, reader):
                state = state or self._begin(block)
                with block.held():
                    yield from self._page(block, state, selection)
                if selection.is_over and self._past_stop is None:
                    return
                self._progress(source, reader.position)
            if (end := reader.end()) is not None:
                self.ends.append(end)
        except (BinlogError, OSError, MemoryError) as error:
            if state is not None:
                yield from self._finish(state, selection)
            if not isinstance(error, BinlogError):
                raise
            error.at(file=source.name, position=reader.position)
            if self._past_stop is None or not selection.is_over:
                raise error from error.__cause__
            self._past_stop(error)
        if state is not None:
            yield from self._finish(state, selection)

    def _select(self, source: Source, filters: Filters, **place: bool) -> EventSelection:
        """The selection of the next log; `place` is that of `EventSelection`."""
        return EventSelection(filters, **place)

    def _blocks(self, source: Source, reader: Iterable[Block]) -> Iterator[Block]:
        """The blocks of a log, with payloads expanded."""
        return chain.from_iterable(map(expand, reader))

    def _begin(self, block: Block) -> Any:
        """The state carried from one block of a log to the next, given the first."""
        raise NotImplementedError

    def _page(self, block: Block, state: Any, selection: EventSelection) -> Iterator[_Page]:
        """The page of a block, if it has selected events; then the error of the first invalid event."""
        raise NotImplementedError

    def _finish(self, state: Any, selection: EventSelection) -> Iterator[_Page]:
        """What remains of a log after its last block, or before its first error."""
        yield from ()

    def _wrong_checksums(self, block: Block) -> dict[int, BinlogError]:
        """The error for the first event of a block with a wrong checksum, by its number."""
        if not self._verify_checksums:
            return {}
        bad = np.flatnonzero(checksums.check(block) == BAD)[:1].tolist()
        return {row: checksums.error_at(block, row) for row in bad}

    @staticmethod
    def _size(page: Any) -> int:
        """Size of a page in the log, in bytes."""
        return int(page.block.sizes.sum())


@dataclass(eq=False)
class RowsPage:
    """The selected rows events of one block.

    `chosen`: int64 array, numbers of the events in `images`, in log order.
    `gtids`: the GTIDs in force in the block.
    `marker_times`: the result of `CommitTimes`.
    `first_numbers`: int64 array, for each event in `images`, the number of its first row.
    `wanted`: bool array, which events of the block match the filters on header and GTID.
    `limit`: number of the first event of the block at or after a stop position or damage; else the number of
    events.
    `origins`: JSON values of each event of the block, for the requested names of `Origins`.
    `era`: see `rows.sequences`.
    """

    block: Block
    images: Images
    chosen: NDArray[np.int64]
    pool: Pool
    gtids: Gtids
    marker_times: Ints
    first_numbers: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    limit: int
    origins: dict[str, TextColumn]
    era: int

    @property
    def others(self) -> Ints:
        """Numbers of the events that `chosen` leaves out, without those that were rolled back."""
        others = np.delete(np.arange(len(self.images)), self.chosen)
        is_out = self.block.rolled_back
        return others if is_out is None else others[~is_out[self.images.rows[others]]]

    @cached_property
    def headers(self) -> Gathered:
        """Columns of the headers of the events of `images`."""
        return self.block.header_of(self.images.rows)

    def commit_times(self, events: Ints) -> Ints:
        """Commit times of events of the block, in microseconds since 1970-01-01 UTC, int64."""
        return each_time(self.block, events, self.gtids.markers, self.marker_times)

    def places(self, of_rows: Ints) -> Places:
        """Where row images are from, given the number of each one's event in `images`."""
        block, latest = self.block, self.gtids.which
        own = block.data, block.starts, block.positions
        return Places.of(of_rows, PlacedEvents(self.images.rows, *own, latest, self.marker_times))

    def event(self, index: int) -> ParsedEvent:
        """An event of `images` as the event reader returns it."""
        table = self.images.table(index)
        row = int(self.images.rows[index])
        status = checksums.STATUSES[int(self.block.checksums[row])]
        event = self.block.event(row, table.table_map if isinstance(table, Table) else None, status)
        event.gtid = self.gtid(row)
        return event

    def position(self, index: int) -> int:
        """The position of an event of `images`."""
        return int(self.block.positions[self.images.rows[index]])

    def numbered(self, of_rows: Ints, numbers: Ints) -> Ints:
        """Row numbers in the log, from the events and the row numbers within them."""
        return numbers + self.first_numbers[of_rows] if self.first_numbers.any() else numbers

    def gtid(self, row: int) -> str | None:
        """GTID of an event of the block."""
        return self.gtids.texts[int(self.gtids.which[row])]

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

    def runs(self) -> Iterator[tuple[Table | BinlogError | None, Ints]]:
        """Runs of consecutive events of the same table."""
        numbers = self.images.table_of[self.chosen]
        limits = np.flatnonzero(np.diff(numbers, prepend=-2, append=-2)).tolist()
        for begin, end in pairwise(limits):
            yield self.images.table(int(self.chosen[begin])), self.chosen[begin:end]


class _RowsContext(NamedTuple):
    """What the events of earlier blocks of a file establish for those of the next one."""

    gtids: GtidColumns
    commits: CommitTimes
    numbers: BlockRowNumbers
    tables: Tables
    origins: Origins


class RowsPages(LogPages[RowsPage]):
    """Pages of one or more logs, in order.

    `ddl`: table definitions in the format of mysqldump.
    `definitions`: table definitions in force before the first event; replaces `ddl`.
    `every_block`: also yield pages for blocks without selected rows events.
    `follows_xa`: finally warn about rows of XA transactions that the logs roll back later.
    `has_rolled_back`: also select rows events that were rolled back; otherwise, finally warn about those left
    out.
    `origins`: columns to compute with `Origins`.
    `era`: the era of the logs in the column `_sequence`; by default, determined by the names of the logs.
    `masks`: the rules that its user applies to the rows; statements that remove a mask end the pages.

    The attribute `definitions` has the table definitions in force where the newest log has been read.
    """

    def __init__(
        self,
        source: SourceLike | Iterable[SourceLike],
        filters: Filters,
        *,
        ddl: str | None = None,
        definitions: Definitions | None = None,
        every_block: bool = False,
        follows_xa: bool = True,
        has_rolled_back: bool = False,
        origins: Iterable[str] = (),
        era: int | None = None,
        masks: Masks = NO_MASKS,
        **options: Any,
    ) -> None:
        super().__init__(source, filters, **options)
        self._masks = masks
        self._left_out = None if has_rolled_back else LeftOut()
        self._options["shares_blocks"] |= not has_rolled_back
        self._ddl = ddl
        self._given = definitions
        self.definitions = Definitions()
        self._every_block = every_block
        is_whole = follows_xa and all(source.span is None for source in self.sources)
        self._prepared = PreparedTransactions() if is_whole else None
        self._origins = frozenset(origins)
        self._era = era_of(source.name for source in self.sources) if era is None else era

    def __iter__(self) -> Generator[RowsPage, None, None]:
        self._definitions = SeriesDefinitions(self.sources, self._ddl, self._given)
        yield from super().__iter__()
        if self._prepared is not None:
            self._prepared.warn()
        if self._left_out is not None:
            self._left_out.warn()

    def _blocks(self, source: Source, reader: Iterable[Block]) -> Iterator[Block]:
        blocks = super()._blocks(source, reader)
        return blocks if self._left_out is None else self._left_out.decided(source, blocks)

    def _begin(self, block: Block) -> _RowsContext:
        if self._prepared is not None:
            self._prepared.begin()
        self.definitions = self._definitions.of(block.file, block.fixed_header(0).server_id)
        tables = Tables(self.definitions, self._check_change if self._masks else None)
        return _RowsContext(GtidColumns(), CommitTimes(), BlockRowNumbers(), tables, Origins(self._origins))

    def _check_change(self, change: DefinitionChange) -> None:
        if change.is_taken_by(self._filters):
            self._masks.check_renames(".".join(change.key), ".".join(change.new_key), change.renamed)

    def _page(self, block: Block, state: _RowsContext, selection: EventSelection) -> Iterator[RowsPage]:
        failures = self._wrong_checksums(block)
        pool = Pool()
        gtids = state.gtids.find(block, pool, failures.setdefault)
        filtered = gtids if self._has_gtids else None
        times = state.commits.of_markers(block, gtids.markers)
        images = Images(block, state.tables)
        for row, error in state.tables.failures:
            failures.setdefault(row, error)
        firsts = state.numbers.first(images)
        wanted = selection.of(block, filtered)
        limit = min([selection.limit, *failures])
        selection.is_over &= limit == selection.limit  # not at damage before the stop
        self._unmatched.look(block, limit, filtered)
        wanted[limit:] = False
        chosen = np.flatnonzero(wanted[images.rows])
        if selection.has_names:
            chosen = self._by_name(images, chosen)
        if self._left_out is not None:
            chosen = self._left_out.without(images, chosen)
        origins = state.origins.columns(block, pool)
        page = RowsPage(block, images, chosen, pool, gtids, times, firsts, wanted, limit, origins, self._era)
        if self._prepared is not None:
            self._prepared.see(block, images.rows[chosen], limit, page.gtid)
        if len(chosen) or self._every_block:
            yield page
        if failures:
            raise failures[min(failures)]

    def _by_name(self, images: Images, chosen: Ints) -> Ints:
        takes = [
            not isinstance(table, Table) or self._filters.takes_names(*table.key) for table in images.tables
        ]
        # The last entry stands for events without a table map.
        return chosen[np.array([*takes, True], dtype=np.bool_)[images.table_of[chosen]]]
