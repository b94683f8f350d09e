"""How far a reader lags behind the newest event in the newest log."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.log_headers import blocks_from, header_of, size_of
from binlog_kaitai.log.gtid_runs import add_gtids


@dataclass(frozen=True)
class Backlog:
    """What the logs have after a checkpoint.

    `logs`, `bytes`: logs with bytes after the checkpoint, and the number of these bytes.
    `gtids`: transactions with GTIDs; None if there are no GTIDs, or the newest log cannot be read.
    `seconds`: time of the newest event minus the time of the first event after the checkpoint; 0 if there is
    none. None if either of them cannot be read.
    """

    logs: int
    bytes: int
    gtids: int | None
    seconds: int | None


class BacklogMeter:
    """Measures the backlog repeatedly.

    Of the newest log, each byte is read once, headers only, and only what lies after the checkpoint.

    `follower`: lists the logs.
    """

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._sizes: dict[str, int] = {}
        self._reached = Checkpoint("")
        self._gtids = GtidSet()
        self._newest = 0

    def after(self, checkpoint: Checkpoint) -> Backlog:
        """The backlog at a checkpoint.

        Raises `SourceError`: no log was found.
        """
        paths = self._follower.logs()
        if checkpoint.file not in paths:  # purged, or those of another server
            return Backlog(len(paths), sum(map(self._size, paths)), None, None)
        unread = paths[paths.index(checkpoint.file) :]
        self._sizes.pop(paths[-1], None)  # it grows
        sizes = [self._size(path) for path in unread]
        sizes[0] -= checkpoint.position
        waiting = [size for size in sizes if size > len(MAGIC)] if sizes[0] <= 0 else sizes
        if not waiting:
            return Backlog(0, 0, 0 if checkpoint.gtids else None, 0)
        try:
            self._read_newest(checkpoint, paths[-1])
            seconds = self._newest - self._time_at(checkpoint, unread)
        except BinlogError:
            return Backlog(len(waiting), sum(waiting), None, None)
        theirs = self._gtids.up_to_here()
        mine = GtidSet.parse(checkpoint.gtids).up_to_here([theirs])
        gtids = len(theirs.without(mine)) if theirs else None
        return Backlog(len(waiting), sum(waiting), gtids, max(seconds, 0))

    def _size(self, path: str) -> int:
        if path not in self._sizes:
            self._sizes[path] = size_of(path)
        return self._sizes[path]

    def _read_newest(self, checkpoint: Checkpoint, path: str) -> None:
        """Read on in the newest log, at the checkpoint if that is later."""
        if self._reached.file != path or self._reached.position > self._size(path):
            header = header_of(path)
            self._reached, self._gtids, self._newest = Checkpoint(path), GtidSet(), 0
            if header is None:
                return
            self._gtids.update(header.previous or GtidSet())
            self._newest = header.begun
        if checkpoint.file == path and checkpoint.position > self._reached.position:
            self._reached = checkpoint
            self._gtids.update(GtidSet.parse(checkpoint.gtids))
        position, format_position = self._reached.position, self._reached.format_position
        with reading(path), blocks_from(self._reached) as (reader, _):
            for block in reader:
                add_gtids(self._gtids, block)
                if block.is_special:
                    format_position = int(block.positions[0])
                position = int(block.end_positions[-1])
                self._newest = max(self._newest, int(block.header.numbers("timestamp").max()))
        self._reached = Checkpoint(path, position, format_position=format_position)

    def _time_at(self, checkpoint: Checkpoint, unread: list[str]) -> int:
        """The time of the first event after a checkpoint."""
        for path in unread:
            place = checkpoint if path == checkpoint.file else Checkpoint(path)
            with suppress(BinlogError), reading(path), blocks_from(place) as (reader, _):
                for block in reader:
                    return int(block.header.numbers("timestamp")[0])
        return self._newest
