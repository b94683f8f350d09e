"""Continues a snapshot that was interrupted: finds out what the logs have changed since.

A row that the logs have not changed since it was read is the same in the new consistent snapshot. The other
rows are read again, so that in the end all rows are those of one position.
"""

from __future__ import annotations

from collections.abc import Iterable

from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.session import Session
from binlog_kaitai.live.source import log_header, sources_of
from binlog_kaitai.snapshot.chunks import Chunk
from binlog_kaitai.snapshot.table_ranges import Table
from binlog_kaitai.snapshot.touched import Touched, touched_since


def log_id(address: Address, log: str) -> int | None:
    """Identifies a log of a server; None if it cannot be read."""
    try:
        header = log_header(address, log)
    except BinlogError:
        return None
    return None if header is None else header.log_id


def unlogged(session: Session) -> str:
    """Why the logs of a server may lack changes of its tables; empty if they do not."""
    if any(session.log_status()[2:4]):
        return "the server logs the changes of some databases only"
    # The name since MySQL 8.0.26, and the one of older servers and of MariaDB.
    values = (session.variable(f"global.{name}") for name in ("log_replica_updates", "log_slave_updates"))
    try:
        is_lost = "1" not in values and session.is_replica()
    except ConnectionLostError:
        raise
    except ServerError as error:
        return f"whether the server is a replica is not known: {error.reason}"
    return "the server does not log what it replicates" if is_lost else ""


def usable(address: Address, logs: dict[str, int], chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks whose position is in the logs of a server, given with their sizes."""
    ids: dict[str, int | None] = {}
    found = []
    for one in chunks:
        view = one.view
        if view.log not in ids:
            ids[view.log] = log_id(address, view.log) if view.log in logs else None
        known = ids[view.log]
        if known is not None and known == view.log_id and view.position <= logs[view.log]:
            found.append(one)
    return found


def touched(address: Address, logs: list[str], chunks: list[Chunk], tables: Iterable[Table]) -> Touched:
    """What a server's logs have changed in tables since the first of their chunks.

    Parameters
    ----------
    logs
        The names of the server's logs, up to the newest one to read.
    """
    start, position = min((logs.index(one.view.log), one.view.position) for one in chunks)
    wanted = {one.key for one in chunks}
    sources = sources_of(address, logs[start:])
    return touched_since(sources, position, {one.key: one for one in tables if one.key in wanted})
