"""What is followed: logs in files, or a running server whose logs are fetched into a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.sources.servers import is_server, servers_of

Start = str | Mapping[str, Any]


class Feed(Protocol):
    """Logs as files. Those of a server come from `binlog_kaitai.live.log_spool.TemporarySpool`.

    Attributes
    ----------
    paths : sequence of str
        What a `Follower` follows.
    start : str or mapping
        Where to begin in them.
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

    Raises
    ------
    UsageError
        A server is not the only source.
    ServerError
        The server cannot be reached, or rejects the request.
    """
    if not any(map(is_server, paths)):
        return _Files(paths, start)
    if len(paths) > 1:
        raise UsageError("a server cannot be followed together with other sources")
    feed: Feed = servers_of(paths[0]).feed(paths[0], start, is_bounded)
    return feed


def first(follower: Follower, start: Start) -> Checkpoint:
    """Where to start."""
    if isinstance(start, Mapping):
        return Checkpoint.of(start) if "log_id" in start else follower.place(start)
    return follower.earliest() if start == "earliest" else follower.latest()
