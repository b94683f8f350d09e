"""The spool of one query that streams from a server.

Spark passes nothing that identifies a query. It does return the query's offsets after a restart, so each
offset contains the name under which the spool knows the query.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.errors import SourceError
from binlog_kaitai.following.feed import Start
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.log_headers import header_of
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.live import server_logs as source
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.log_spool import LogSpool
from binlog_kaitai.sources.source import log_name
from binlog_kaitai.spark.stream_options import READER, Following


class QuerySpool:
    """The spool as used by one query.

    `server`: its URL.
    `folder`: the spool's directory.
    `starting`: where a new query begins, as `Following.starting`.
    `is_bounded`: only what the server has when the query starts is read.
    """

    def __init__(self, server: str, folder: str, starting: Start) -> None:
        self._server = server
        self._folder = Path(folder)
        self._starting = starting
        self._spool: LogSpool | None = None
        self._until: tuple[str, int] | None = None
        self._reader = ""
        self.is_bounded = False

    def begin(self) -> tuple[str, Start]:
        """Prepare the spool for a new query; returns the query's name, and where it starts.

        Raises `ServerError`, `SourceError`, `UsageError`: the server cannot be reached or refuses, or the
        spool lacks what the query wants to read.
        """
        self._reader = uuid.uuid4().hex
        spool = self._spool = LogSpool(self._server, self._folder, self._starting)
        start = spool.begin(self._starting, self._reader, is_bounded=self.is_bounded)
        if self.is_bounded:
            self._until = spool.end()
        return self._reader, start

    def resume(self, offset: Offset) -> None:
        """Fetch everything up to an offset of the query, and keep everything after it.

        Raises `ServerError`, `SourceError`: the server rejects the request, or the spool cannot be written.
        """
        reader, spool = str(offset.get(READER, "")), self._spool
        if spool is None:
            spool = self._spool = LogSpool(self._server, self._folder, offset)
            if self.is_bounded or spool.end() is None:
                # A new spool: the old one was lost, or the query continues with another server.
                spool.update()
            if self.is_bounded:
                self._until = spool.end()
            else:
                spool.keep()
        spool.check()
        if self._reader and reader != self._reader:
            spool.forget(self._reader)  # Spark requested a first offset, but continues from an older one
        if reader:
            self._reader = reader
            spool.note(reader, offset["file"], offset.get("log_id", 0))

    def done(self, offset: Offset) -> None:
        """The query no longer needs anything before an offset."""
        self._begun().note(str(offset[READER]), offset["file"], offset.get("log_id", 0))

    def end(self) -> tuple[str, int]:
        """The newest log, and up to where it is on disk, or was when a bounded query started."""
        found = self._until or self._begun().end()
        assert found is not None  # the query has begun
        return found

    def close(self) -> None:
        """Stop fetching, unless another query takes over."""
        if self._spool is not None:
            self._spool.close()

    def _begun(self) -> LogSpool:
        assert self._spool is not None
        return self._spool


def log_header(following: Following, log: str) -> LogHeader | None:
    """The start of a log that is to be followed, by its name.

    Raises `ServerError`, `SourceError`: the server or the paths do not have it.
    """
    if following.server is not None:
        return source.log_header(Address.parse(following.server)[0], log)
    for path in Follower(following.paths).logs():
        if log_name(os.path.basename(path)) == log:
            return header_of(path)
    raise SourceError(f"the dump continues in {log}, which is not among the logs")


def logs_here(following: Following) -> tuple[str, ...]:
    """The paths of a server's logs, after fetching all of them into the spool.

    Raises `ServerError`, `SourceError`, `UsageError`: the server cannot be reached or refuses, or the spool
    lacks what the query wants to read.
    """
    assert following.server is not None
    spool = LogSpool(following.server, Path(following.paths[0]), following.starting)
    spool.begin(following.starting, "", is_bounded=True)
    return following.paths
