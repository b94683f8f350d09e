"""The post-header lengths that released servers write into their format description events, and such events.

Source: format description events of real logs. Those of MySQL 5.6.24, 5.7.22, 8.0.15 and 9.7 and of MariaDB
10.2.11, 10.5, 10.11, 11.4.5 and 11.8 are in `tests/corpus`; the others were published as BINLOG statements,
printed by mysqlbinlog, in bug reports and test suites. They agree with the constructors of the servers'
sources (`sql/log_event.cc`; `libs/mysql/binlog/event/control_events.cpp`). MariaDB 10.0 is from its source
alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    FORMAT_DESCRIPTION_EVENT,
    EventType,
    Format,
    Header,
    header_length,
    header_width,
    masks,
    parse_event,
    read_header,
)
from binlog_kaitai.errors import BinlogError

#: The length of the body before the table, as stated in the event's own entry.
_BEFORE_TABLE = 57


@dataclass(frozen=True)
class KnownFormat:
    """The table written by a range of releases.

    `is_mariadb`: True for MariaDB, False for MySQL.
    `since`, `until`: the first release that writes the table, and the first later one that does not.
    `post_header_lengths`: for each event type from 1 on, the length of the fixed part of its body.
    `has_algorithm`: the table is followed by a checksum algorithm byte and a checksum.
    """

    is_mariadb: bool
    since: tuple[int, ...]
    until: tuple[int, ...]
    post_header_lengths: bytes
    has_algorithm: bool = True

    @property
    def version(self) -> str:
        """The first release that writes the table, in the form of a server version."""
        text = ".".join(map(str, self.since))
        return f"{text}-MariaDB" if self.is_mariadb else text

    def matches(self, server_version: str) -> bool:
        """Whether a server of this version writes the table."""
        numbers = version_numbers(server_version)
        if numbers is None or self.is_mariadb != ("mariadb" in server_version.lower()):
            return False
        return self.since <= numbers < self.until


def version_numbers(server_version: str) -> tuple[int, ...] | None:
    """The leading numbers of a server version; None if it does not look like one."""
    match = re.match(r"(\d{1,2})\.(\d{1,2})\.(\d{1,3})(?!\d)", server_version)
    return None if match is None else tuple(map(int, match.groups()))


def known_formats(server_version: str | None = None) -> list[KnownFormat]:
    """All tables, newest first; or those that a server of this version may write."""
    return [known for known in _KNOWN if server_version is None or known.matches(server_version)]


@cache
def field_ranges(known: KnownFormat) -> Mapping[str, tuple[int, int]]:
    """Start and end of the fields of an event with this table."""
    sizes = [(name, header_width(name)) for name in Header._fields]
    for field in FORMAT_DESCRIPTION_EVENT.fields:
        length = getattr(field, "size", None)
        size = length(0, {}) if length is not None else int(getattr(field, "dtype", "")[-1])
        sizes.append((field.path, size))
    sizes.append(("len_post_headers", len(known.post_header_lengths)))
    sizes.append(("checksum_algorithm", int(known.has_algorithm)))
    sizes.append(("checksum", CHECKSUM_SIZE * known.has_algorithm))
    ends = accumulate(size for _, size in sizes)
    return {name: (end - size, end) for (name, size), end in zip(sizes, ends, strict=True)}


def artificial_event(
    known: KnownFormat, server_version: str, *, begin: int | None = None, is_checksummed: bool = False
) -> bytes:
    """A format description for events that have none, flagged as artificial.

    It states its end if its position `begin` is given.
    """
    size = field_ranges(known)["checksum"][1]
    fields: dict[str, int | bytes] = {
        "type_code": EventType.format_description_event,
        "len_event": size,
        "next_position": 0 if begin is None else begin + size,
        "flags": masks.EventHeader.IS_ARTIFICIAL,
        "binlog_version": 4,
        "server_version": server_version.encode(),
        "len_header": header_length(4),
        "len_post_headers": known.post_header_lengths,
        "checksum_algorithm": int(is_checksummed),
    }
    return filled(known, bytes(size), fields)


def filled(known: KnownFormat, event: bytes, fields: Mapping[str, int | bytes]) -> bytes:
    """An event with this table, other values in some fields, and the matching checksum if it has one."""
    data = bytearray(event)
    for name, value in fields.items():
        start, end = field_ranges(known)[name]
        new = value if isinstance(value, bytes) else int(value).to_bytes(end - start, "little")
        data[start : start + len(new)] = new
    start, end = field_ranges(known)["checksum"]
    data[start:] = crc32(data[:start]).to_bytes(CHECKSUM_SIZE, "little")[: end - start]
    return bytes(data)


def _table(*parts: bytes) -> bytes:
    lengths = bytearray(b"".join(parts))
    lengths[EventType.format_description_event - 1] = _BEFORE_TABLE + len(lengths)
    return bytes(lengths)


# Types 1 to 18, with and without the events that MySQL 8.0 no longer writes.
_OLD = bytes((56, 13, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0, 0, 0, 4, 26))
_NEW = bytes((0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 0, 0, 4, 26))
# Types 19 to 27: table maps, rows events (before 5.1, version 1), incident, heartbeat.
_ROWS = bytes((8, 0, 0, 0, 8, 8, 8, 2, 0))
_ROWS_8_4 = bytes((8, 0, 0, 0, 0, 0, 0, 2, 0))
# Types 28 to 35: rows events of version 2, GTIDs.
_GTIDS_5_6 = bytes((0, 0, 10, 10, 10, 25, 25, 0))
_GTIDS = bytes((0, 0, 10, 10, 10, 42, 42, 0))
# Types 36 to 42: Group Replication, XA, partial JSON, payload, heartbeat, tagged GTIDs.
_NEWER = bytes((18, 52, 0, 10, 40, 0, 0))
# Types 28 to 159 of MariaDB, and the same since some release of 2023 or later.
_MARIADB = bytes((0, 0, 10, 10, 10)) + bytes(127)
_MARIADB_NOW = bytes((0, 0, 10, 10, 10)) + bytes(6) + bytes((10, 10, 10)) + bytes(118)
# Types 160 to 171: annotations, checkpoints, GTIDs, encryption, compressed events.
_OWN = bytes((0, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10))

_END = (99,)

_KNOWN = [
    KnownFormat(False, (8, 4, 0), _END, _table(_NEW, _ROWS_8_4, _GTIDS, _NEWER)),
    KnownFormat(False, (8, 3, 0), (8, 4), _table(_NEW, _ROWS, _GTIDS, _NEWER)),
    KnownFormat(False, (8, 0, 28), (8, 3), _table(_NEW, _ROWS, _GTIDS, _NEWER[:6])),
    KnownFormat(False, (8, 0, 20), (8, 0, 28), _table(_NEW, _ROWS, _GTIDS, _NEWER[:5])),
    KnownFormat(False, (8, 0, 3), (8, 0, 20), _table(_NEW, _ROWS, _GTIDS, _NEWER[:4])),
    KnownFormat(False, (5, 7, 6), (5, 8, 1), _table(_OLD, _ROWS, _GTIDS, _NEWER[:3])),
    KnownFormat(False, (5, 6, 2), (5, 7), _table(_OLD, _ROWS, _GTIDS_5_6)),
    KnownFormat(False, (5, 5, 0), (5, 6), _table(_OLD, _ROWS), has_algorithm=False),
    KnownFormat(False, (5, 1, 18), (5, 5), _table(_OLD, _ROWS[:8]), has_algorithm=False),
    KnownFormat(False, (5, 0, 4), (5, 1), _table(_OLD), has_algorithm=False),
    KnownFormat(True, (10, 5, 0), _END, _table(_OLD, _ROWS, _MARIADB_NOW, _OWN)),
    KnownFormat(True, (10, 2, 3), _END, _table(_OLD, _ROWS, _MARIADB, _OWN)),
    KnownFormat(True, (10, 1, 7), (10, 2, 3), _table(_OLD, _ROWS, _MARIADB, _OWN[:5])),
    KnownFormat(True, (10, 0, 2), (10, 1, 7), _table(_OLD, _ROWS, _MARIADB, _OWN[:4])),
    KnownFormat(True, (5, 3, 0), (10, 0, 2), _table(_OLD, _ROWS, bytes(132), _OWN[:1])),
]

#: Types whose body has a fixed part in every server that writes them.
_HAVE_LENGTH = frozenset(
    kind for known in _KNOWN for kind, length in enumerate(known.post_header_lengths, 1) if length
)


def decodes(known: KnownFormat, event: bytes, *, is_checksummed: bool) -> bool:
    """Whether an event can be decoded with a table."""
    kind, lengths = read_header(event, 4).type_code, known.post_header_lengths
    if is_checksummed and not known.has_algorithm:
        return False
    if kind > len(lengths) or (kind in _HAVE_LENGTH and not lengths[kind - 1]):
        return False
    try:
        parse_event(event, kind, Format(4, header_length(4), is_checksummed, False, tuple(lengths)))
    except BinlogError:
        return False
    return True
