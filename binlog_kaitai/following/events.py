"""Yields the events of logs that a server is writing, as they appear."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal, Self

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl.saved import restore
from binlog_kaitai.ddl.series import OneSeries
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.feed import Feed, feed_of, first
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.walk import Span
from binlog_kaitai.reader.log import Event, LogReader
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import MAGIC, Source, with_later_logs

#: Roughly how many bytes of existing logs are read at a time.
_STEP = 16 << 20

PathLike = str | os.PathLike[str]


class EventFollower(Iterator[Event]):
    """The events of logs that a server is writing. Made by :func:`follow`.

    Attributes
    ----------
    checkpoint : dict
        Where to resume: a JSON-serializable value for `follow(start=…)`. It advances by complete
        transactions, once all events up to it have been consumed.
    """

    def __init__(
        self,
        follower: Follower,
        checkpoint: Checkpoint,
        reader: LogReader,
        ddl: str | None,
        interval: float,
        idle_timeout: float | None,
        stop: Callable[[], bool],
        keys: Keys | None,
        feed: Feed,
    ) -> None:
        self._feed = feed
        self.checkpoint = checkpoint.as_dict()
        self._follower = follower
        self._checkpoint = checkpoint
        self._reader = reader
        self._ddl = ddl
        self._keys = keys
        self._interval, self._idle_timeout, self._stop = interval, idle_timeout, stop
        self._events = self._follow()

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Close the current file; no more events are yielded."""
        self._events.close()
        self._feed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        place = f"{self.checkpoint['position']} of {self.checkpoint['file']}"
        return f"<EventFollower, whole transactions taken up to {place}>"

    def _follow(self) -> Generator[Event, None, None]:
        follower, last = self._follower, time.monotonic()
        while not self._stop():
            here = self._checkpoint
            until = self._feed.end(here.file, here.log_id)
            end = follower.advance(here, max_bytes=_STEP, until=until)
            for span in follower.spans(self._checkpoint, end):
                yield from self._events_of(span)
            if end != self._checkpoint:
                self._checkpoint, self.checkpoint = end, end.as_dict()
                last = time.monotonic()
                continue
            left = None if self._idle_timeout is None else last + self._idle_timeout - time.monotonic()
            if left is not None and left <= 0:
                return
            time.sleep(self._interval if left is None else min(self._interval, left))

    def _events_of(self, span: Span) -> Iterator[Event]:
        self._reader.know(lambda: OneSeries(restore(span.definitions, self._ddl)))
        filters = Filters(
            include_gtids=GtidSet.parse(span.include) if span.include else None,
            exclude_gtids=GtidSet.parse(span.exclude) if span.exclude else None,
        )
        stops = sorted({len(MAGIC), span.format_position}) if span.start > len(MAGIC) else []
        source = replace(Source.of_path(span.path, self._keys), name=self._feed.name_of(span.path))
        events = self._reader.read_from(source, [*stops, span.start] if stops else [], end=span.end)
        with closing(events):
            for event in events:
                if not filters or filters.takes_gtid(event.gtid):
                    yield event


class _Logs(Follower):
    """If a single file is given, the logs that the server writes after it are included."""

    def logs(self) -> list[str]:
        found = super().logs()
        if found != self._paths:
            return found
        return [one.path for one in with_later_logs([*map(Source.of_path, found)]) if one.path is not None]


def follow(
    source: PathLike | Iterable[PathLike],
    *,
    start: Literal["earliest", "latest"] | str | Mapping[str, Any] = "earliest",
    interval: float = 1.0,
    idle_timeout: float | None = None,
    stop: Callable[[], bool] = lambda: False,
    ddl: str | None = None,
    keys: Keys | None = None,
    verify_checksums: bool = True,
    fails_on_loss: bool = True,
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
    interval
        Seconds to wait if there is nothing new.
    idle_timeout
        End after this many seconds without anything new; 0 ends at the current end of the logs.
    stop
        Called repeatedly, at most `interval` seconds apart while nothing is new; iteration ends when it
        returns true.
    ddl
        CREATE TABLE statements, such as mysqldump writes, for logs without column names.
    keys
        Where to look for the keys of encrypted logs; see :class:`Keys`.
    verify_checksums
        Raise on an event whose CRC32 does not match; otherwise the event is only marked.
    fails_on_loss
        Raise if logs were removed before they were read; otherwise warn and continue with the remaining logs.

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
    if not isinstance(start, Mapping) and start not in ("earliest", "latest"):
        raise UsageError(f"start must be earliest, latest or a position such as a checkpoint, not {start!r}")
    if interval <= 0:
        raise UsageError(f"interval must be a positive number of seconds, not {interval}")
    paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    names = [os.fspath(path) for path in paths]
    feed = feed_of(names, start, is_bounded=idle_timeout == 0)
    follower = _Logs(
        feed.paths,
        fails_on_loss=fails_on_loss,
        loss_option="fails_on_loss=False",
        follows_definitions=True,
        ddl=ddl,
        keys=keys,
    )
    reader = LogReader([], verify_checksums=verify_checksums, ddl=ddl)
    begin = first(follower, feed.start)
    return EventFollower(follower, begin, reader, ddl, interval, idle_timeout, stop, keys, feed)
