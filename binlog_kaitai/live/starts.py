"""Where a new archive begins."""

from __future__ import annotations

from collections.abc import Callable

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import ServerError, UsageError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.packets import checked_name
from binlog_kaitai.live.session import Session

EARLIEST, LATEST = "earliest", "latest"


def first_log_of(address: Address, connect: Callable[[Address], Session], start: str) -> str:
    """The first log to request of a server, by what users give as a start; ``""`` for its oldest log.

    Raises
    ------
    ServerError
        The server refuses, or does not have it.
    """
    if start == EARLIEST:
        return ""
    try:
        gtids = GtidSet.parse(start)
    except UsageError:
        gtids = None
    if gtids is None and start != LATEST:
        return checked_name(start)
    with connect(address) as session:
        if gtids is None:
            return session.newest_log()
        try:
            return session.log_after(gtids)
        except ServerError as error:
            raise error.at(file=address.name, position=None) from error.__cause__
