"""The eras of an archive: where it begins, and how it continues at another server after a failover.

=====================  =========================================================================
`archive/`             the first server's logs, index and state
`archive/era-1/`       the same of the server at which the archive was continued, and so on
=====================  =========================================================================

Each era is an archive of its own: its logs are byte for byte the files of one server, under that server's
names. It begins with the server's first log that has a transaction which the eras before it lack. That log
usually has some that they do have, since logs cannot be cut; the state lists all GTIDs read before, so that
readers of the whole archive return each transaction once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import ConnectionLostError, ServerError, UsageError, reading
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.archive import Archive, ArchiveState, SafePosition, read_names, remove_logs
from binlog_kaitai.live.packets import checked_name
from binlog_kaitai.live.server_logs import gtids_at_end
from binlog_kaitai.live.server_session import Server, ServerSession
from binlog_kaitai.sources import eras, source

#: Where a new archive may start, besides a log and a GTID set.
EARLIEST, LATEST = "earliest", "latest"


def all_eras(folder: Path) -> list[Path]:
    """The directories of an archive's eras, oldest first."""
    return [folder, *map(Path, eras.folders(str(folder)))]


def newest_era(folder: Path) -> Path:
    """The directory of an archive's last era."""
    return all_eras(folder)[-1]


def is_same_server(known: Server, server: Server) -> bool:
    """Whether two descriptions are of one server; MariaDB's have no UUID, but a server id in its topology."""
    if known.is_mariadb != server.is_mariadb:
        return False
    return known.uuid == server.uuid if known.uuid or server.uuid else known.server_id == server.server_id


def choose(
    addresses: Sequence[Address],
    known: Server | None,
    connect: Callable[[Address], ServerSession],
    continue_at: Callable[[Address], None],
    *,
    may_move: bool,
) -> Address:
    """The address of a server, or of one that takes its place; of any server if it is unknown.

    A single address is returned as it is.

    `continue_at`: makes the archive continue at another server, or raises `ServerError`.
    `may_move`: use another server if the known one cannot be reached; it is always used if all can be
    reached.
    Raises `ConnectionLostError`: the server cannot be reached, and no other one can take its place, or not
    yet; `ServerError`: all servers were reached, and refuse.
    """
    if len(addresses) == 1:
        return addresses[0]
    others, errors = [], list[ServerError]()
    for address in addresses:
        try:
            with connect(address) as session:
                if known is None or is_same_server(known, session.server):
                    return address
            others.append(address)
        except ServerError as error:
            errors.append(error)
    is_lost = any(isinstance(error, ConnectionLostError) for error in errors)
    for address in others if may_move or not is_lost else ():
        try:
            continue_at(address)
            return address
        except ServerError as error:
            errors.append(error)
    may_pass = any(isinstance(error, ConnectionLostError) for error in errors)
    raise (ConnectionLostError if may_pass else ServerError)("; ".join(map(str, errors)))


def read_so_far(archive: Archive) -> GtidSet:
    """The transactions of an archive, all eras included, and those before its first log.

    Empty if transactions of its newest log have no GTIDs.
    """
    before, place = GtidSet.parse(archive.read_before), archive.place
    if place is None or not place.position:
        return before
    path = str(archive.folder / place.name)
    with reading(path), open(path, "rb") as log:
        last = gtids_at_end(log)
    return before | last if last else last


def log_to_continue_with(session: ServerSession, read: GtidSet) -> str:
    """The log of a server in which reading continues after some transactions.

    The session is of no use afterwards.

    Raises `ServerError`: the server lacks transactions that were read, or has purged others.
    """
    if not read:
        raise ServerError("without GTIDs nothing shows where another server's logs continue")
    if missing := read - _executed(session, read):
        reason = f"the server lacks the transactions {missing}, which were read from another one: it lags, "
        raise ServerError(f"{reason}or they were lost in the failover")
    purged = session.gtids("global.gtid_purged")
    if lost := purged - read:
        raise ServerError(f"the server has purged the transactions {lost}, which were never read")
    return session.log_after(read)


def begin_era(folder: Path, archive: Archive, server: Server, read: GtidSet, log: str) -> Path:
    """Begin an era, with a log of another server.

    `archive`: its last era.
    Returns the era's directory; until it is opened, it has nothing but its state.
    """
    era = Path(eras.folder_of(str(folder), len(all_eras(folder))))
    era.mkdir(exist_ok=True)
    ArchiveState(server, archive.replica, SafePosition(log), str(read)).save(era)
    return era


def remove_before(folder: Path, archive: Archive, log: str) -> None:
    """Remove the logs before one of them.

    `archive`: its last era, which is open.
    `log`: its path in the archive's directory.
    """
    number, name = eras.number_of(log), Path(log).name
    for era_number, era in enumerate(all_eras(folder)):
        if era_number < number:
            remove_logs(era, read_names(era), [])
        elif era_number == number and era == archive.folder:
            archive.remove_before(name)
        elif era_number == number and name in (names := read_names(era)):
            remove_logs(era, names, names[names.index(name) :])


def age(log: str) -> tuple[int, list[tuple[int, int, str]]]:
    """A key that sorts the logs of an archive by age."""
    return eras.number_of(log), source.natural_key(Path(log).name)


def _executed(session: ServerSession, read: GtidSet) -> GtidSet:
    """The transactions that a server has, as far as they matter for those that were read."""
    if not session.server.is_mariadb:
        return session.gtids("global.gtid_executed")
    state = session.gtids("global.gtid_binlog_state").up_to_last()
    # What a server got from a backup is not in its logs, only in the position at which it began to replicate.
    replicated = session.gtids("global.gtid_slave_pos")
    logged = {domain for domain, _ in state.items()}
    for domain, numbers in replicated.up_to_here([read]).items():
        if domain not in logged:
            state.add_ranges(domain, [(first, last + 1) for first, last in numbers])
    return state


def log_to_start_with(address: Address, connect: Callable[[Address], ServerSession], start: str) -> str:
    """The first log to request of a server, by what users give as a start; ``""`` for its oldest log.

    Raises `ServerError`: the server refuses, or does not have it.
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
            return session.newest_position()[0]
        return session.log_after(gtids)
