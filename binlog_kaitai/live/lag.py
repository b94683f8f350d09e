"""What a server has and an archive lacks, in bytes and transactions; and what the server has purged.

The server is asked now and then, over a connection of its own, because that of the dump cannot serve
queries. That takes REPLICATION CLIENT (MariaDB: BINLOG MONITOR); without it, the figures are not a number.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.live.archive import Archive, SafePosition
from binlog_kaitai.live.causes import GTIDS_PURGED, PURGED
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gtid_runs import add_gtids, logged_gtids
from binlog_kaitai.sources.source import natural_key

#: Seconds between two questions, and after one that was not answered.
_SECONDS, _SECONDS_AFTER_FAILURE = 10.0, 60.0


def explain_gap(cause: str, session: ServerSession, archive: Archive) -> str:
    """Details on a log that the server no longer has: its oldest log, and the missing GTIDs."""
    if cause not in (PURGED, GTIDS_PURGED):
        return ""
    purged = session.gtids("global.gtid_purged")
    oldest = session.dump("", 4).log_name
    details = f"; its oldest log is {oldest}"
    if archive.place is not None:
        if missing := purged.without(gtids_of(archive)):
            details += f"; the transactions {missing} are lost to this archive"
        details += "; an archive has no gaps: fetch into another directory"
    return details


def gtids_of(archive: Archive) -> GtidSet:
    """The transactions of all logs up to the safe position, according to the newest log."""
    if archive.place is None or not archive.place.position:
        return GtidSet()
    return logged_gtids(archive.folder / archive.place.name)


class Lag:
    """Follows what an archive gets, and compares it with what the server has.

    `bytes_behind`, `gtids_behind`: as of the last question; not a number where the server does not say.
    """

    def __init__(self, archive: Archive, connect: Callable[[], ServerSession]) -> None:
        self._archive = archive
        self._connect = connect
        self._session: ServerSession | None = None
        self._next = 0.0
        self._gtids = GtidSet()
        with suppress(BinlogError):
            self._gtids = gtids_of(archive)
        self.bytes_behind = self.gtids_behind = math.nan

    def add(self, block: Block) -> None:
        """Add the transactions of a block that the archive has got."""
        add_gtids(self._gtids, block)

    def update(self) -> bool:
        """Ask the server, unless it was asked a moment ago; whether it has answered."""
        if time.monotonic() < self._next:
            return False
        try:
            if self._session is None:
                self._session = self._connect()
            self.bytes_behind = self._bytes(self._session)
            self.gtids_behind = self._transactions(self._session)
            self._next = time.monotonic() + _SECONDS
            return True
        except BinlogError:
            self.bytes_behind = self.gtids_behind = math.nan
            self._next = time.monotonic() + _SECONDS_AFTER_FAILURE
            self.close()
            return False

    def facts(self) -> dict[str, int | None]:
        """What the server said last, for reports; None for what it did not say."""
        figures = {"bytes_behind": self.bytes_behind, "gtids_behind": self.gtids_behind}
        return {name: None if math.isnan(value) else int(value) for name, value in figures.items()}

    def close(self) -> None:
        """Close the connection; the next question opens another one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _bytes(self, session: ServerSession) -> float:
        place, logs = self._archive.place or SafePosition(""), session.logs()
        later = sum(size for name, size in logs if natural_key(name) > natural_key(place.name))
        return float(later + max(0, dict(logs).get(place.name, 0) - place.position))

    def _transactions(self, session: ServerSession) -> float:
        if session.server.is_mariadb:
            theirs = session.gtids("global.gtid_binlog_pos")
            return float(len(theirs.up_to_here().without(self._gtids.up_to_here([theirs]))))
        if session.variable("global.gtid_mode") != "ON":
            return math.nan
        return float(len(session.gtids("global.gtid_executed").without(self._gtids)))
