"""Reads logs page by page: a page has the events of a block that the filters select."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import Any, Generic, TypeVar

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BLOCK_SIZE
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.part_reader import blocks_of
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.threads import in_order, prefetches_with, thread_count
from binlog_kaitai.rows.event_selection import Selection
from binlog_kaitai.rows.unmatched_filters import Unmatched
from binlog_kaitai.sources.source import Source, SourceLike, resolve

_Page = TypeVar("_Page")
_Result = TypeVar("_Result")


class LogPages(Generic[_Page]):
    """Pages of one or more logs, in order; subclasses make them.

    Parameters
    ----------
    source
        Any source that `binlog_kaitai.open` accepts.
    verify_checksums
        Raise an error for an event with a wrong CRC32, after all preceding events.
    block_size
        Maximum size in bytes, unless a single event is longer.
    progress
        Called periodically with the source and the offset reached in it.
    threads
        Number of threads of `each`, see `columns.threads.thread_count`.
    options
        More of `BlockReader`.

    Attributes
    ----------
    ends : list of End
        How each file ended.
    threads : int
        Number of threads, 1 for sources that are read in one.
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
        **options: Any,
    ) -> None:
        self.sources = resolve(source)
        self.ends: list[End] = []
        self.threads = thread_count(threads, self.sources)
        self._filters = filters
        self._has_gtids = filters.has_gtids or any(one.repeated for one in self.sources)
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
        return in_order(iter(self), work, self.threads, _size)

    def __iter__(self) -> Generator[_Page, None, None]:
        self._unmatched = Unmatched(self._filters, self.sources)
        for number, source in enumerate(self.sources):
            is_first, is_last = number == 0, number == len(self.sources) - 1
            is_part = source.span is not None
            filters = self._filters.without(source.repeated)
            selection = Selection(filters, is_first=is_first, is_last=is_last, is_part=is_part)
            self._unmatched.begin(source, is_first=is_first, is_last=is_last)
            with reading(source.name), source.open() as stream:
                yield from self._read(source, stream, selection)
        self._unmatched.warn()

    def _read(self, source: Source, stream: Any, selection: Selection) -> Iterator[_Page]:
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
                if selection.is_over:
                    return
                self._progress(source, reader.position)
        except BinlogError as error:
            raise error.at(file=source.name, position=reader.position) from error.__cause__
        if (end := reader.end()) is not None:
            self.ends.append(end)

    def _blocks(self, source: Source, reader: Iterable[Block]) -> Iterator[Block]:
        """The blocks of a log, with payloads expanded."""
        return chain.from_iterable(map(expand, reader))

    def _begin(self, block: Block) -> Any:
        """The state carried from one block of a log to the next, given the first."""
        raise NotImplementedError

    def _page(self, block: Block, state: Any, selection: Selection) -> Iterator[_Page]:
        """The page of a block, if it has selected events; then the error of the first invalid event."""
        raise NotImplementedError


def _size(page: Any) -> int:
    return int(page.block.sizes.sum())
