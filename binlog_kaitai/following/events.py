"""Yields the events, or the rows, of logs that a server is writing, as they appear."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Self, TypeVar, Unpack

from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.core.options import Option, part_of, takes
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.checkpoints import Start
from binlog_kaitai.following.feed import FeedFollower, never
from binlog_kaitai.log.event_log import Event, LogReader
from binlog_kaitai.log.read_options import ChecksumOptions, CriteriaOptions, LogOptions, ReaderOptions
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.sources.source import Source

if TYPE_CHECKING:
    from binlog_kaitai.views.logged_rows import LoggedRow

#: Roughly how many bytes of existing logs are read at a time.
_READ_AT_ONCE = 16 << 20

PathLike = str | os.PathLike[str]


#: Events or rows.
_Item = TypeVar("_Item")


class FollowOptions(LogOptions, total=False):
    """The keywords of :func:`follow`."""

    interval: Annotated[float, Option("Seconds to wait if there is nothing new.", 1.0)]
    idle_timeout: Annotated[
        float | None,
        Option("End after this many seconds without anything new; 0 ends at the current end of the logs."),
    ]
    stop: Annotated[
        Callable[[], bool],
        Option(
            "Called repeatedly, at most `interval` seconds apart while nothing is new; iteration ends when it"
            " returns true.",
            never,
        ),
    ]
    fails_on_loss: Annotated[
        bool,
        Option(
            "Raise an error if logs were removed before they were read; otherwise warn and continue with the"
            " remaining logs.",
            True,
        ),
    ]


class FollowRowsOptions(FollowOptions, FilterOptions, CriteriaOptions, total=False):
    """The keywords of :func:`follow_rows`."""


class LogFollower(Iterator[_Item]):
    """What the logs that a server is writing have: events, or rows."""

    def __init__(self, source: PathLike | Iterable[PathLike], start: Start, options: FollowOptions) -> None:
        self._ddl: str | None = options["ddl"]
        interval, idle_timeout = options["interval"], options["idle_timeout"]
        if not isinstance(start, Mapping) and start not in ("earliest", "latest"):
            reason = f"start must be earliest, latest or a position such as a checkpoint, not {start!r}"
            raise UsageError(reason)
        if interval <= 0:
            raise UsageError(f"interval must be a positive number of seconds, not {interval}")
        paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
        self._logs = FeedFollower(
            [os.fspath(path) for path in paths],
            start,
            is_bounded=idle_timeout == 0,
            fails_on_loss=options["fails_on_loss"],
            loss_option="fails_on_loss=False",
            ddl=self._ddl,
            keys=options["keys"],
        )
        stop: Callable[[], bool] = options["stop"]
        self._is_closed = False
        self._pending: Future[_Item | None] | None = None
        spans = self._logs.follow(
            _READ_AT_ONCE,
            interval=interval,
            idle_timeout=idle_timeout,
            stop=lambda: self._is_closed or stop(),
        )
        self._items = (item for source in spans for item in self._of_span(source))

    @property
    def checkpoint(self) -> dict[str, str | int]:
        """Where to resume: a JSON-serializable value for the parameter `start`.

        It advances by complete transactions, once everything up to it has been consumed.
        """
        return self._logs.checkpoint.as_dict()

    def __next__(self) -> _Item:
        return next(self._items)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _Item:
        """The next one, for which a thread waits. If the task is cancelled, the next call returns it."""
        from asyncio import wrap_future  # slow to load

        self._pending = self._pending or self._next_in_thread()
        item = await wrap_future(self._pending)
        self._pending = None
        if item is None:
            raise StopAsyncIteration
        return item

    def _next_in_thread(self) -> Future[_Item | None]:
        future = Future[_Item | None]()
        future.set_running_or_notify_cancel()  # from now on, it cannot be cancelled

        def run() -> None:
            try:
                future.set_result(next(self._items, None))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future

    def close(self) -> None:
        """Close the current file; nothing more is yielded. A thread that waits ends within `interval`."""
        self._is_closed = True
        if self._pending is not None:
            wait([self._pending])
        self._items.close()
        self._logs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        place = f"{self.checkpoint['position']} of {self.checkpoint['file']}"
        return f"<{type(self).__name__}, whole transactions taken up to {place}>"

    def _of_span(self, source: Source) -> Iterator[_Item]:
        raise NotImplementedError


class EventFollower(LogFollower[Event]):
    """The events of logs that a server is writing. Made by :func:`follow`."""

    def __init__(self, source: PathLike | Iterable[PathLike], start: Start, options: FollowOptions) -> None:
        self._reader = LogReader([], **part_of(options, ReaderOptions))
        super().__init__(source, start, options)

    def _of_span(self, source: Source) -> Iterator[Event]:
        span = source.span or Span()
        self._reader.know(lambda: SeriesDefinitions(of_all=restore(span.definitions, self._ddl)))
        filters = Filters.of(**span.restrict({}))
        with closing(self._reader.read_from(source)) as events:
            for event in events:
                if not filters or filters.takes_gtid(event.gtid):
                    yield event


class RowFollower(LogFollower["LoggedRow"]):
    """The rows of logs that a server is writing. Made by :func:`follow_rows`."""

    def __init__(self, source: PathLike | Iterable[PathLike], start: Start, options: FollowOptions) -> None:
        self._filters = part_of(options, FilterOptions)
        Filters.of(**self._filters)  # invalid ones are refused at once
        self._checksums = part_of(options, ChecksumOptions)
        # Following events does not need this module.
        from binlog_kaitai.rows.row_criteria import CriteriaChoice

        self._choice = CriteriaChoice.of(**part_of(options, CriteriaOptions))
        super().__init__(source, start, options)

    def _of_span(self, source: Source) -> Iterator[LoggedRow]:
        # Nor these.
        from binlog_kaitai.following.span_pages import pages_of_span
        from binlog_kaitai.rows.event_metadata import ORIGINS
        from binlog_kaitai.views.logged_rows import rows_of_pages

        pages = pages_of_span(source, self._filters, self._ddl, origins=ORIGINS, **self._checksums)
        return rows_of_pages(pages, self._choice)


@takes(FollowOptions)
def follow(
    source: PathLike | Iterable[PathLike],
    *,
    start: Start = "earliest",
    **options: Unpack[FollowOptions],
) -> EventFollower:
    """Read the events of logs that a server is writing, and wait for more.

    Events are yielded by complete transactions: those of an open transaction follow once it ends. When the
    server switches to a new log, so does the reader. Without `idle_timeout` and `stop`, iteration does not
    end on its own; leave the loop, or close the reader.

    Parameters
    ----------
    source
        A log (including those that its server writes after it), a directory, a glob pattern, a ``.index``
        file, or several of these; or one running server, ``mysql://USER@HOST/``, whose logs pass through a
        temporary directory.
    start
        Where to begin: at the oldest existing log, after the last complete transaction, or at a given
        position: a `checkpoint`, ``{"file": name, "position": offset}`` between two transactions, or
        ``{"gtids": set}`` to continue after these.
    **options
        See :class:`FollowOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately, if there is nothing to read, or an argument is invalid.
    BinlogError
        While iterating, if a log is damaged, or was removed before it was read.

    Warns
    -----
    DataLossWarning
        Without `fails_on_loss`: logs were removed before they were read.
    """
    return EventFollower(source, start, options)


@takes(FollowRowsOptions)
def follow_rows(
    source: PathLike | Iterable[PathLike],
    *,
    start: Start = "earliest",
    **options: Unpack[FollowRowsOptions],
) -> RowFollower:
    """Read the changed rows of logs that a server is writing, and wait for more.

    Rows are those of :func:`read_rows`, and are read as fast; everything else is as for :func:`follow`.

    Parameters
    ----------
    source, start
        As for :func:`follow`.
    **options
        See :class:`FollowRowsOptions`; without positions and `stop_datetime`.

    Raises
    ------
    SourceError, UsageError
        Immediately, if there is nothing to read, or an argument is invalid.
    BinlogError
        While iterating, if a log is damaged, or was removed before it was read.

    Warns
    -----
    DataLossWarning
        Without `fails_on_loss`: logs were removed before they were read.
    RolledBackWarning
        Rows were left out because they were rolled back.
    """
    for name in ("start_position", "stop_position", "stop_datetime"):
        if options.get(name) is not None:
            raise UsageError(f"{name} cannot be used with follow_rows; use start or stop")
    return RowFollower(source, start, options)
