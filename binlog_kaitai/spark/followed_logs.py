"""The logs that a query or a pipeline follows: where it is, what comes next, and in which steps.

An offset is a checkpoint as a dict. That of a server's logs also has the name under which the spool knows the
query, because a query is known by nothing else after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from binlog_kaitai.following.backlog import Backlog, BacklogMeter
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.feed import Start
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.walk import Step
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.spark.stream_options import READER, Following

if TYPE_CHECKING:
    from binlog_kaitai.spark.spooling import QuerySpool


class FollowedLogs:
    """Finds offsets and steps.

    `follows_definitions`: whether column names are needed.
    """

    def __init__(self, following: Following, *, follows_definitions: bool) -> None:
        self._following = following
        self._until: tuple[str, int] | None = None
        self._spool: QuerySpool | None = None
        if following.server is not None:
            from binlog_kaitai.spark.spooling import QuerySpool

            self._spool = QuerySpool(following.server, following.paths[0], following.starting)
        self._follower = Follower(
            following.paths,
            fails_on_loss=following.fails_on_data_loss,
            follows_definitions=follows_definitions,
            ddl=following.ddl,
            split_size=following.split_size,
            at_once=following.at_once,
            passes_damage=following.mode != "FAILFAST",
        )
        self._meter = BacklogMeter(self._follower)

    def end_here(self) -> None:
        """Read only what the logs have now."""
        if self._spool is not None:
            self._spool.is_bounded = True
        else:
            self._until = self._follower.end()

    def first(self) -> Offset:
        """Where a new query begins."""
        starting: Start = self._following.starting
        added = {}
        if self._spool is not None:
            added[READER], starting = self._spool.begin()
        if not isinstance(starting, str):
            checkpoint = self._follower.place(starting)
        else:
            checkpoint = self._follower.latest() if starting == "latest" else self._follower.earliest()
        return {**checkpoint.as_dict(), **added}

    def next(self, start: Offset, max_bytes: int | None, max_files: int | None = None) -> Offset:
        """The end of the next batch; `start` if nothing is new.

        Raises `SourceError`: the logs do not continue where the last batch ended.
        """
        until = self._until
        if self._spool is not None:
            self._spool.resume(start)
            until = self._spool.end()
        end = self._follower.advance(
            checkpoint_of(start), max_bytes=max_bytes, max_files=max_files, until=until
        )
        return {**end.as_dict(), **({READER: start[READER]} if READER in start else {})}

    def steps(self, start: Offset, end: Offset) -> list[Step]:
        """The steps between two offsets.

        Raises `SourceError`: a log no longer exists.
        """
        if self._spool is not None:
            self._spool.resume(start)
        return self._follower.steps(checkpoint_of(start), checkpoint_of(end))

    def done(self, end: Offset) -> None:
        """The query no longer needs anything before an offset."""
        if self._spool is not None:
            self._spool.done(end)

    def close(self) -> None:
        """Stop fetching."""
        if self._spool is not None:
            self._spool.close()

    def end(self) -> tuple[str, int]:
        """The newest log, and its length."""
        return self._follower.end() if self._spool is None else self._spool.end()

    def backlog(self, offset: Offset) -> Backlog:
        """What remains after an offset."""
        return self._meter.after(checkpoint_of(offset))


def checkpoint_of(offset: Offset) -> Checkpoint:
    """The checkpoint in an offset, which may also have the name of its query."""
    return Checkpoint.of({name: value for name, value in offset.items() if name != READER})
