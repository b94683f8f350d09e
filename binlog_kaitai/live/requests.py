"""The messages that a replica sends (`formats/network`), as bytes.

The Kaitai compiler writes no serializers for the Python classes of this project. Each message here is a list
of its fields in the grammar's order; tests parse the bytes with the grammar, so that the two cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from binlog_kaitai.core.grammar import masks, sizes
from binlog_kaitai.core.gtids import GtidSet, Intervals

#: The stream ends after the newest event; the same bit in both dump commands.
NON_BLOCKING = masks.ComBinlogDump.IS_NON_BLOCKING

#: Without it, MariaDB omits ANNOTATE_ROWS events. In MySQL, this bit has another meaning.
WITH_ANNOTATIONS = masks.ComBinlogDump.WANTS_ANNOTATIONS

#: The largest position that COM_BINLOG_DUMP can name, in every version.
MAX_SHORT_POSITION = (1 << 8 * sizes.ComBinlogDump.POSITION_SIZE) - 1

_TAGGED = 1


def binlog_dump(file_name: str, position: int, flags: int, server_id: int) -> bytes:
    """COM_BINLOG_DUMP: the stream from a position of a log on; an empty name selects the oldest log."""
    return b"".join(
        (sizes.ComBinlogDump.COMMAND, _u4(position), _u2(flags), _u4(server_id), file_name.encode("utf-8"))
    )


def binlog_dump_gtid(file_name: str, position: int, flags: int, server_id: int, gtids: GtidSet) -> bytes:
    """COM_BINLOG_DUMP_GTID: the stream without the given transactions.

    With a name, it starts at the position, which has 8 bytes here; without one, at the first transaction that
    is not in the set.
    """
    name, data = file_name.encode("utf-8"), gtid_set(gtids)
    head = (sizes.ComBinlogDumpGtid.COMMAND, _u2(flags), _u4(server_id), _u4(len(name)), name, _u8(position))
    return b"".join((*head, _u4(len(data)), data))


def register_slave(server_id: int) -> bytes:
    """COM_REGISTER_SLAVE: SHOW REPLICAS lists this client. Host, user and password are empty."""
    host = user = password = _u1(0)
    port, rank, source_id = _u2(0), _u4(0), _u4(0)
    return b"".join(
        (sizes.ComRegisterSlave.COMMAND, _u4(server_id), host, user, password, port, rank, source_id)
    )


def semi_sync_ack(file_name: str, position: int) -> bytes:
    """The reply to an event of semi-synchronous replication: everything before the position is safe."""
    return b"".join((sizes.SemiSyncAck.MAGIC, _u8(position), file_name.encode("utf-8")))


def gtid_set(gtids: GtidSet) -> bytes:
    """A GTID set of MySQL; in the older form, which every server accepts, unless a GTID has a tag."""
    sources = sorted(_sources(gtids))
    is_tagged = any(tag for _, tag, _ in sources)
    count = len(sources)
    parts = [_u1(_TAGGED) + _number(count, 6) + _u1(_TAGGED) if is_tagged else _u8(count)]
    for uuid, tag, intervals in sources:
        parts.append(uuid)
        if is_tagged:
            # A variable-length integer; below 64, it is one byte with twice the number.
            parts += [_u1(2 * len(tag)), tag]
        ranges = list(iter(intervals))  # a list of the set itself would request its length
        parts.append(_u8(len(ranges)))
        parts += [_u8(first) + _u8(last + 1) for first, last in ranges]
    return b"".join(parts)


def _sources(gtids: GtidSet) -> Iterable[tuple[bytes, bytes, Intervals]]:
    for source, intervals in gtids.items():
        uuid, _, tag = source.partition(":")
        yield UUID(uuid).bytes, tag.encode(), intervals


def _number(value: int, width: int) -> bytes:
    return value.to_bytes(width, "little")


_u1, _u2, _u4, _u8 = (partial(_number, width=width) for width in (1, 2, 4, 8))
