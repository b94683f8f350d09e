"""Explains what is lost between an archive and a server that has purged logs."""

from __future__ import annotations

from binlog_kaitai.columns.blocks.reader import BlockReader
from binlog_kaitai.columns.transactions.gtid_runs import add_gtids
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import reading
from binlog_kaitai.following.log_headers import read_log_header
from binlog_kaitai.live.archive import Archive
from binlog_kaitai.live.causes import GTIDS_PURGED, PURGED
from binlog_kaitai.live.session import Session


def explain_gap(cause: str, session: Session, archive: Archive) -> str:
    """Details on a log that the server no longer has: its oldest log, and the missing GTIDs.

    Raises
    ------
    BinlogError
        The server or the archive cannot be queried.
    """
    if cause not in (PURGED, GTIDS_PURGED):
        return ""
    purged = GtidSet.parse(session.variable("global.gtid_purged") or "")
    oldest = session.dump("", 4).log_name
    found = f"; its oldest log is {oldest}"
    if archive.place is not None:
        if missing := purged.without(gtids_of(archive)):
            found += f"; the transactions {missing} are lost to this archive"
        found += "; an archive has no gaps: fetch into another directory"
    return found


def gtids_of(archive: Archive) -> GtidSet:
    """The transactions of all logs up to the safe position, according to the newest log.

    Raises
    ------
    BinlogError
        The log cannot be read.
    """
    found = GtidSet()
    if archive.place is None or not archive.place.position:
        return found
    path = str(archive.folder / archive.place.name)
    head = read_log_header(path)
    if head is not None and head.previous is not None:
        found.update(head.previous)
    with reading(path), open(path, "rb") as stream:
        for block in BlockReader.of_file(stream, path, prefetches=False):
            for kind in block.counts:
                if kind in GTID_TYPES:
                    add_gtids(found, block, kind)
    return found
