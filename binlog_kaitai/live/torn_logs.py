"""Logs that end within an event, because the server was killed while writing it or its disk was full.

When MySQL restarts, it cuts the partial event off; MariaDB leaves it and starts a new log. Servers send
neither the partial event nor anything after it: a dump ends with an error, although there are later logs.

What shows that nothing is missing between the tear and the next log is the event with the GTIDs before it:
the server collected them from the torn log when it restarted, and has no other logs in between. MySQL's
PREVIOUS_GTIDS_LOG_EVENT must equal the GTIDs of the complete transactions. MariaDB's GTID_LIST_EVENT must not
name any that are missing; but after a crash it may be older than the torn log (seen in 11.8, if the last
BINLOG_CHECKPOINT_EVENT names an earlier log). Then the first transaction of the next log must be a new one.
"""

from __future__ import annotations

from typing import BinaryIO

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import PREVIOUS_TYPES, read_log_header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import ConnectionLostError, ServerError
from binlog_kaitai.live.causes import TORN, with_cause
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.boundaries import QuiescentPoints
from binlog_kaitai.log.gtid_runs import add_gtids, previous_gtids

_TORN = "the server's log is torn: it ends within an event"

#: What is reported when reading continues after a torn log.
PASSED = "{log} ends within an event, at {position}, as after a crash of the server; continuing with {next}"


def torn(why: str) -> ServerError:
    """The error for a torn log that cannot be read past."""
    return with_cause(TORN, f"{_TORN}, and {why}")


def log_after(session: ServerSession, name: str) -> str:
    """The name of the server's log after another one, which may not exist.

    Raises `ServerError`: the log is the server's newest; `ConnectionLostError` if the server cannot be
    reached.
    """
    try:
        names = [log for log, _ in session.logs()]
    except ConnectionLostError:
        raise
    except ServerError:  # a privilege that reading logs does not require
        stem, _, number = name.rpartition(".")
        return f"{stem}.{int(number) + 1:0{len(number)}}"
    if name not in names[:-1]:
        raise torn("it is the server's newest: restart the server, or rotate its logs")
    return names[names.index(name) + 1]


def check_continues(log: BinaryIO, following: BinaryIO, name: str) -> None:
    """Check that no transaction is missing between a torn log and the next one, and that none is unknown.

    `log`: the torn log, up to its last whole event.
    `following`: the next log.
    `name`: its name.
    Raises `ServerError`: the next log does not continue the torn one, or has no GTIDs that show it.
    """
    mine = gtids_at_end(log)
    header = read_log_header(following, name).checked()
    theirs = None if header is None else header.previous
    if not mine or header is None or not theirs:
        raise torn(f"without GTIDs nothing shows that {name} continues it")
    if missing := theirs - mine:
        raise torn(f"the transactions {missing}, which {name} continues, are missing from it")
    is_new = header.first_gtid is None or header.first_gtid not in mine
    is_old = _is_mariadb(theirs) and is_new
    if (unknown := mine - theirs) and not is_old:
        raise torn(f"the server lost the transactions {unknown} in it, which {name} does not continue")


def gtids_at_end(log: BinaryIO) -> GtidSet:
    """The GTIDs before a log and of its complete transactions; empty if a transaction has none."""
    gtids, points, is_complete, last = GtidSet(), QuiescentPoints(), True, None
    for block in BlockReader.of_file(log, ""):
        kinds = block.counts
        if EventType.anonymous_gtid_log_event in kinds:
            return GtidSet()
        for kind in PREVIOUS_TYPES:
            for row in block.rows_of(kind).tolist():
                gtids.update(previous_gtids(block.event(row)))
        add_gtids(gtids, block)
        rows = [int(block.rows_of(kind)[-1]) for kind in GTID_TYPES if kind in kinds]
        last = block.event(max(rows)).stated_gtid if rows else last
        is_complete = len(block) in points.of(block)
    if not is_complete and last is not None:
        unfinished = GtidSet()
        unfinished.add(last)
        gtids = gtids - unfinished
    return gtids.up_to_last()


def _is_mariadb(gtids: GtidSet) -> bool:
    return any(source.count("-") == 1 for source, _ in gtids.items())
