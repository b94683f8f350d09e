"""The logs that a query or a pipeline follows: where it is, what comes next, and in which steps.

An offset is a checkpoint as a dict. That of a server's logs also has the name under which the spool knows the
query, because a query is known by nothing else after a restart.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.following.backlog import Backlog, BacklogMeter
from binlog_kaitai.following.checkpoints import Checkpoint, Start
from binlog_kaitai.following.follower import SPLIT_SIZE, Follower
from binlog_kaitai.following.log_headers import header_of, size_of
from binlog_kaitai.following.walk import Step
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.sources import is_server
from binlog_kaitai.sources.source import log_name

if TYPE_CHECKING:
    from binlog_kaitai.live.log_spool import LogSpool

#: The field of an offset with the name of its query in the spool of a server.
READER = "reader"

#: Default size of a batch, in bytes, so that finding its end does not take long.
MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Following:
    """Which logs to follow, and how.

    `max_bytes`: maximum size of a batch; it has at least one transaction.
    `max_files`: maximum number of logs in a batch.
    `starting`: ``"earliest"``, ``"latest"``, or a position as for `Follower.place`.
    `fails_on_data_loss`: End the query if logs were removed before they were read.
    `ddl`: initial table definitions.
    `split_size`: approximate bytes per task.
    `at_once`: number of tasks that run at a time.
    `mode`: ``FAILFAST``, ``PERMISSIVE`` or ``DROPMALFORMED``.
    `server`: the URL of a running server; `paths` is then the directory of its spool.
    """

    paths: tuple[str, ...]
    max_bytes: int = MAX_BYTES
    max_files: int | None = None
    starting: str | Offset = "earliest"
    fails_on_data_loss: bool = True
    ddl: str | None = None
    split_size: int = SPLIT_SIZE
    at_once: int = 1
    mode: str = "FAILFAST"
    server: str | None = None


def spooled(paths: tuple[str, ...], spool: str | None) -> tuple[tuple[str, ...], str | None]:
    """The paths to follow; for a server, its spool and its URL.

    Raises `UsageError`: a server is not the only source, or its URL is invalid; or a spool is given without a
    server.
    """
    servers = [path for path in paths if is_server(path)]
    if not servers:
        if spool is not None:
            raise UsageError("a spool is for a server: mysql://USER@HOST/")
        return paths, None
    if len(paths) > 1:
        raise UsageError("a server cannot be followed together with other sources; start a query for each")
    from binlog_kaitai.live.log_spool import default_folder

    folder = default_folder(servers[0]) if spool is None else Path(spool)
    return (str(folder.absolute()),), servers[0]


def parse_starting(name: str, text: str) -> str | Offset:
    """``earliest``, ``latest``, or a position as JSON.

    Raises `UsageError`: it is none of them.
    """
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    try:
        place = json.loads(text)
    except ValueError:
        place = None
    if not isinstance(place, dict):
        example = '{"file": "binlog.000007", "position": 4}'
        raise UsageError(f"option {name}: {text!r} is not earliest, latest, or JSON like {example}")
    return place


class Stop(NamedTuple):
    """A log, by its name and `Checkpoint.log_id`, and a position in it."""

    log: str
    log_id: int | None
    position: int


class FollowedLogs:
    """Finds offsets and steps.

    `stop`: where to stop reading for now, if anywhere.
    `has_all`: whether everything up to there could be read the last time.
    """

    def __init__(self, following: Following, follows_definitions: bool) -> None:
        self.stop: Stop | None = None
        self.has_all = False
        self._following = following
        self._until: tuple[str, int] | None = None
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
        self._until = self._follower.end()

    def first(self) -> Offset:
        """Where a new query begins."""
        return self._follower.place(self._following.starting).as_dict()

    def next(self, start: Offset, max_bytes: int | None, max_files: int | None = None) -> Offset:
        """The end of the next batch; `start` if nothing is new.

        Raises `SourceError`: the logs do not continue where the last batch ended.
        """
        until, self.has_all = self._limit()
        end = self._follower.advance(
            checkpoint_of(start), max_bytes=max_bytes, max_files=max_files, until=until
        )
        return {**end.as_dict(), **({READER: start[READER]} if READER in start else {})}

    def steps(self, start: Offset, end: Offset) -> list[Step]:
        """The steps between two offsets.

        Raises `SourceError`: a log no longer exists.
        """
        return self._follower.steps(checkpoint_of(start), checkpoint_of(end))

    def done(self, end: Offset) -> None:
        """The query no longer needs anything before an offset."""

    def close(self) -> None:
        """Stop fetching."""

    def end(self) -> tuple[str, int]:
        """The newest log, and its length."""
        return self._follower.end()

    def _readable_end(self) -> tuple[str, int] | None:
        """The end of what may be read; None for no limit."""
        return self._until

    def _limit(self) -> tuple[tuple[str, int] | None, bool]:
        """The end of what is to be read, and whether that is `stop`."""
        end = self._readable_end()
        if self.stop is None:
            return end, False
        newest, size = end = end or self._follower.end()
        for path in takewhile(lambda path: path != newest, self._follower.logs()):
            if self._is_stop(path, size_of(path)):
                return (path, self.stop.position), True
        return ((newest, self.stop.position), True) if self._is_stop(newest, size) else (end, False)

    def _is_stop(self, path: str, size: int) -> bool:
        assert self.stop is not None
        if log_name(os.path.basename(path)) != self.stop.log or size < self.stop.position:
            return False
        header = header_of(path)
        return header is not None and header.log_id == self.stop.log_id

    def backlog(self, offset: Offset) -> Backlog:
        """What remains after an offset."""
        return self._meter.after(checkpoint_of(offset))


class SpooledLogs(FollowedLogs):
    """The logs of a server, through the spool as used by one query."""

    def __init__(self, following: Following, follows_definitions: bool) -> None:
        super().__init__(following, follows_definitions)
        self._spool: LogSpool | None = None
        self._reader = ""
        self._is_bounded = False

    def end_here(self) -> None:
        """Read only what the server has now, or when the query starts."""
        self._is_bounded = True
        if self._spool is not None:
            self._spool.update()
            self._until = self._spool.end()

    def first(self) -> Offset:
        """Prepare the spool for a new query.

        Raises `ServerError`, `SourceError`, `UsageError`: the server cannot be reached or refuses, or the
        spool lacks what the query wants to read.
        """
        self._reader, starting = uuid.uuid4().hex, self._following.starting
        spool = self._spool = self.opened(starting)
        start = spool.begin(starting, self._reader, is_bounded=self._is_bounded)
        if self._is_bounded:
            self._until = spool.end()
        return {**self._follower.place(start).as_dict(), READER: self._reader}

    def next(self, start: Offset, max_bytes: int | None, max_files: int | None = None) -> Offset:
        self._resume(start)
        return super().next(start, max_bytes, max_files)

    def steps(self, start: Offset, end: Offset) -> list[Step]:
        self._resume(start)
        return super().steps(start, end)

    def done(self, end: Offset) -> None:
        self._resume(end)

    def end(self) -> tuple[str, int]:
        """The newest log, and up to where it is on disk, or was when a bounded query started."""
        end = self._until or (self._spool and self._spool.end())
        assert end  # the query has begun
        return end

    _readable_end = end

    def close(self) -> None:
        """Stop fetching, unless another query takes over."""
        if self._spool is not None:
            self._spool.close()

    def _resume(self, offset: Offset) -> None:
        """Fetch everything up to an offset of the query, and keep everything after it.

        Raises `ServerError`, `SourceError`: the server rejects the request, or the spool cannot be written.
        """
        reader, spool = str(offset.get(READER, "")), self._spool
        if spool is None:
            spool = self._spool = self.opened(offset)
            if self._is_bounded or spool.end() is None:
                # A new spool: the old one was lost, or the query continues with another server.
                spool.update()
            if self._is_bounded:
                self._until = spool.end()
            else:
                spool.keep()
        spool.check()
        if self._reader and reader != self._reader:
            spool.forget(self._reader)  # Spark requested a first offset, but continues from an older one
        if reader:
            self._reader = reader
            spool.note(reader, offset["file"], offset.get("log_id", 0))

    def opened(self, start: Start) -> LogSpool:
        """The spool, opened to read from somewhere."""
        from binlog_kaitai.live.log_spool import LogSpool

        following = self._following
        assert following.server is not None
        folder, passes_gaps = Path(following.paths[0]), not following.fails_on_data_loss
        return LogSpool(following.server, folder, start, passes_gaps=passes_gaps)


def followed_logs(following: Following, *, follows_definitions: bool) -> FollowedLogs:
    """The logs to follow: those of a server pass through its spool.

    `follows_definitions`: whether column names are needed.
    """
    kind = FollowedLogs if following.server is None else SpooledLogs
    return kind(following, follows_definitions)


def checkpoint_of(offset: Offset) -> Checkpoint:
    """The checkpoint in an offset, which may also have the name of its query."""
    return Checkpoint.of({name: value for name, value in offset.items() if name != READER})


def log_header(following: Following, log: str) -> LogHeader | None:
    """The start of a log that is to be followed, by its name.

    Raises `ServerError`, `SourceError`: the server or the paths do not have it.
    """
    if following.server is not None:
        from binlog_kaitai.live import server_logs
        from binlog_kaitai.live.address import Address

        return server_logs.log_header(Address.parse(following.server)[0], log)
    for path in Follower(following.paths).logs():
        if log_name(os.path.basename(path)) == log:
            return header_of(path)
    raise SourceError(f"the dump continues in {log}, which is not among the logs")


def logs_here(following: Following) -> tuple[str, ...]:
    """The paths of a server's logs, after fetching all of them into the spool.

    Raises `ServerError`, `SourceError`, `UsageError`: the server cannot be reached or refuses, or the spool
    lacks what the query wants to read.
    """
    spool = SpooledLogs(following, follows_definitions=False).opened(following.starting)
    spool.begin(following.starting, "", is_bounded=True)
    return following.paths
