"""What is followed, logs in files or a running server whose logs are fetched into a folder, and its spans."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, Protocol, cast

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.sources.servers import is_server, servers_of
from binlog_kaitai.sources.source import Source, with_later_logs

#: Where to begin: a word, or a position as JSON has it.
Start = str | Mapping[str, object]


class Feed(Protocol):
    """Logs as files. Those of a server come from `binlog_kaitai.live.log_spool.TemporarySpool`.

    `paths`: what a `Follower` follows.
    `start`: where to begin in them.
    """

    paths: Sequence[str]
    start: Start

    def end(self, file: str, log_id: int) -> tuple[str, int] | None:
        """The newest log, and up to where it can be read; logs before that of a checkpoint may be removed.

        None if all logs can be read to their ends.
        """

    def name_of(self, path: str) -> str:
        """The name of a log in output and errors: that on its server."""

    def close(self) -> None:
        """Stop fetching."""


class _Files:
    """Logs that their server, or somebody else, puts where they are."""

    def __init__(self, paths: Sequence[str], start: Start) -> None:
        self.paths, self.start = paths, start

    def end(self, file: str, log_id: int) -> None:
        return None

    def name_of(self, path: str) -> str:
        return path

    def close(self) -> None:
        pass


def feed_of(paths: Sequence[str], start: Start, *, is_bounded: bool = False) -> Feed:
    """The feed of some paths, or of a server.

    Raises `UsageError`: a server is not the only source.
    Raises `ServerError`: the server cannot be reached, or rejects the request.
    """
    if not any(map(is_server, paths)):
        return _Files(paths, start)
    if len(paths) > 1:
        raise UsageError("a server cannot be followed together with other sources")
    return cast(Feed, servers_of(paths[0]).feed(paths[0], start, is_bounded))


def first(follower: Follower, start: Start) -> Checkpoint:
    """Where to start."""
    if isinstance(start, Mapping):
        return Checkpoint.of(start) if "log_id" in start else follower.place(start)
    return follower.earliest() if start == "earliest" else follower.latest()


#: How often to check for new data, in seconds.
PAUSE = 0.5

#: How many bytes are scanned before a part is yielded.
_AT_ONCE = 64 << 20


class _Series(Follower):
    """Follows a log into the logs that its server starts after it."""

    def logs(self) -> list[str]:
        logs = with_later_logs([Source.of_path(path) for path in super().logs()])
        return [log.path for log in logs if log.path is not None]

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

    `paths`: logs, glob patterns, directories or index files; a log is followed into the later ones of its
    series. Or one running server.
    `from_now`: skip the existing content.
    `ddl`: initial table definitions, as mysqldump writes them.
    `stop`: called before each check for new data.
    Raises `BinlogError`: a log is damaged, missing or replaced; everything before that point has been
    yielded.
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
