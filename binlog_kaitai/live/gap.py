"""Events that are missing: lost on the way, or because a server has purged its logs."""

from __future__ import annotations

from binlog_kaitai.core.grammar import POSITION_MASK, Header
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import FramingError, reading
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.live.archive import Archive
from binlog_kaitai.live.causes import GTIDS_PURGED, PURGED
from binlog_kaitai.live.session import Session
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.checksum_runs import check, error_at
from binlog_kaitai.log.gtid_runs import add_gtids


def check_received(block: Block, *, has_exact_positions: bool) -> Header | None:
    """The header of the last event; None for a format description or another event that changes the format.

    Rejects events that were damaged or lost on the network or on the server.

    Raises
    ------
    ChecksumError, FramingError
        An event is damaged; events before the last one are missing.
    """
    states = check(block)
    if (states == BAD).any():
        raise error_at(block, int((states == BAD).argmax()))
    if block.is_special:
        return None
    last, end = block.fixed_header(len(block) - 1), int(block.end_positions[-1])
    if has_exact_positions and last.next_position and last.next_position != end & POSITION_MASK:
        reason = (
            f"events are missing before this one, which ends at {end}; its header says {last.next_position}"
        )
        raise FramingError(reason, file=block.file, position=int(block.positions[-1]))
    return last


def explain_gap(cause: str, session: Session, archive: Archive) -> str:
    """Details on a log that the server no longer has: its oldest log, and the missing GTIDs.

    Raises
    ------
    BinlogError
        The server or the archive cannot be queried.
    """
    if cause not in (PURGED, GTIDS_PURGED):
        return ""
    purged = session.gtids("global.gtid_purged")
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
    from binlog_kaitai.following.log_headers import read_log_header  # not when `fetch` starts

    path = str(archive.folder / archive.place.name)
    head = read_log_header(path)
    if head is not None and head.previous is not None:
        found.update(head.previous)
    with reading(path), open(path, "rb") as stream:
        for block in BlockReader.of_file(stream, path):
            add_gtids(found, block)
    return found
