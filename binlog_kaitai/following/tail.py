"""Yields the existing content of logs, then new transactions as they are committed, without end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

from binlog_kaitai.errors import SourceError
from binlog_kaitai.following.feed import feed_of, first
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.sources.source import Source, with_later_logs

#: How often to check for new data, in seconds.
PAUSE = 0.5

#: How many bytes are scanned before a part is yielded.
_AT_ONCE = 64 << 20


class _Series(Follower):
    """Follows a log into the logs that its server starts after it."""

    def logs(self) -> list[str]:
        found = with_later_logs([Source.of_path(path) for path in super().logs()])
        return [one.path for one in found if one.path is not None]

    def _lose(self, error: SourceError) -> NoReturn:
        raise error


def tail(
    paths: Sequence[str],
    *,
    from_now: bool = False,
    ddl: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Source]:
    """The spans of logs in order, existing ones, then new ones, until `stop` returns true.

    Parameters
    ----------
    paths
        Logs, glob patterns, directories or index files; a log is followed into the later ones of its series.
        Or one running server.
    from_now
        Skip the existing content.
    ddl
        Initial table definitions, as mysqldump writes them.
    stop
        Called before each check for new data.

    Raises
    ------
    BinlogError
        A log is damaged, missing or replaced; everything before that point has been yielded.
    """
    feed = feed_of(paths, "latest" if from_now else "earliest")
    follower = _Series(feed.paths, follows_definitions=True, ddl=ddl)
    try:
        checkpoint = first(follower, feed.start)
        while not stop():
            until = feed.end(checkpoint.file, checkpoint.log_id)
            reached = follower.advance(checkpoint, max_bytes=_AT_ONCE, until=until)
            if reached == checkpoint:
                time.sleep(PAUSE)
                continue
            for step in follower.steps(checkpoint, reached):
                yield replace(step.source, name=feed.name_of(step.source.name))
            checkpoint = reached
    finally:
        feed.close()
