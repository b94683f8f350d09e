"""What is followed, logs in files or a running server whose logs are fetched into a folder, and its spans."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.checkpoints import Checkpoint, Start
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.sources import is_server, servers_of
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, later_logs

#: How often to check for new data, in seconds.
PAUSE = 0.5


def never() -> bool:
    """Do not stop."""
    return False


class Feed:
    """Logs that their server, or somebody else, puts where they are.

    Those of a running server come from `binlog_kaitai.live.log_spool.TemporarySpool`.

    `paths`: what a `Follower` follows.
    `start`: where to begin in them.
    """

    def __init__(self, paths: Sequence[str], start: Start) -> None:
        self.paths, self.start = paths, start

    def end(self, file: str, log_id: int) -> tuple[str, int] | None:
        """The newest log, and up to where it can be read; logs before that of a checkpoint may be removed.

        None if all logs can be read to their ends.
        """
        return None

    def name_of(self, path: str) -> str:
        """The name of a log in output and errors: that on its server."""
        return path

    def close(self) -> None:
        """Stop fetching."""


class _FilesFollower(Follower):
    """If files are given, the logs that the server writes after them are included."""

    def logs(self) -> list[str]:
        paths = super().logs()
        return [*paths, *later_logs(paths[-1])] if paths == self._paths else paths


class FeedFollower:
    """Follows a feed, span by span.

    Raises `UsageError`: a server is not the only source; `ServerError`: it cannot be reached, or rejects the
    request.

    `paths`: logs, glob patterns, directories or index files; files are followed into the later ones of their
    series. Or one running server.
    `is_bounded`: read only what a server has now.
    `fails_on_loss`, `loss_option`, `ddl`, `keys`: as for `Follower`.

    `checkpoint`: up to where everything has been consumed.
    """

    def __init__(
        self,
        paths: Sequence[str],
        start: Start,
        *,
        is_bounded: bool = False,
        fails_on_loss: bool = True,
        loss_option: str = "",
        ddl: str | None = None,
        keys: Keys | None = None,
    ) -> None:
        self._feed = Feed(paths, start)
        if any(map(is_server, paths)):
            if len(paths) > 1:
                raise UsageError("a server cannot be followed together with other sources")
            self._feed = cast(Feed, servers_of(paths[0]).feed(paths[0], start, is_bounded))
        self._follower = follower = _FilesFollower(
            self._feed.paths,
            fails_on_loss=fails_on_loss,
            loss_option=loss_option,
            follows_definitions=True,
            ddl=ddl,
            keys=keys,
        )
        start = self._feed.start
        if isinstance(start, Mapping) and "log_id" in start:
            self.checkpoint = Checkpoint.of(start)
        else:
            self.checkpoint = follower.place(start)

    def spans(self, max_bytes: int) -> Iterator[Source]:
        """The next spans, of about so many bytes; the checkpoint advances once they are consumed.

        Raises `BinlogError`: a log is damaged, missing or replaced.
        """
        here = self.checkpoint
        end = self._follower.advance(here, max_bytes=max_bytes, until=self._feed.end(here.file, here.log_id))
        for step in self._follower.steps(here, end):
            yield replace(step.source, name=self._feed.name_of(step.source.name))
        self.checkpoint = end

    def follow(
        self,
        max_bytes: int,
        *,
        interval: float = PAUSE,
        idle_timeout: float | None = None,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Source]:
        """The spans of existing logs, of about so many bytes each, then new ones.

        `interval`: seconds to wait if there is nothing new.
        `idle_timeout`: end after this many seconds without anything new.
        `stop`: called before each check for new data; ends the iteration when it returns true.
        Raises `BinlogError`: a log is damaged, missing or replaced; everything before that point has been
        yielded.
        """
        last = time.monotonic()
        while not stop():
            before = self.checkpoint
            yield from self.spans(max_bytes)
            if self.checkpoint != before:
                last = time.monotonic()
                continue
            left = math.inf if idle_timeout is None else last + idle_timeout - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(interval, left))

    def close(self) -> None:
        """Stop fetching."""
        self._feed.close()
