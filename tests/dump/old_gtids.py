"""GTID events as written by older MySQL servers."""

from __future__ import annotations

from pathlib import Path

from binlog_kaitai.core.grammar import EventType
from tests import corpus_files
from tests.log_maker import LogMaker, events_of

#: Up to the end of the fixed part.
_FIXED = 19 + 42
_TIME, _EARLIER = 1795202962050637, 1795202962050000
_IMMEDIATE = _TIME.to_bytes(7, "little")
_BOTH = (_TIME | 1 << 55).to_bytes(7, "little") + _EARLIER.to_bytes(7, "little")
_LENGTH = bytes.fromhex("fc 3412")
#: What follows the fixed part, by the version of the server.
AFTER_GTIDS = {
    "5.7.30": b"",
    "8.0.1": _IMMEDIATE,
    "8.0.1 replica": _BOTH,
    "8.0.11": _IMMEDIATE + _LENGTH,
    "8.0.11 replica": _BOTH + _LENGTH,
    "8.0.14": _IMMEDIATE + _LENGTH + (80014).to_bytes(4, "little"),
    "8.0.34 replica": _BOTH
    + _LENGTH
    + (80034 | 1 << 31).to_bytes(4, "little")
    + (999999).to_bytes(4, "little"),
}


def log_of(version: str, case: str, folder: Path) -> Path:
    """The log of a case of MySQL 9.7 with GTID events of an older version."""
    layout, groups = events_of(corpus_files.case("mysql-9.7", case).logs[0])
    maker = LogMaker(layout)
    number = version.partition(" ")[0].encode().ljust(50, b"\0")
    maker.add(groups[0][0][:21] + number + groups[0][0][71:])
    maker.add_all(groups[0][1:])
    for group in groups[1:]:
        for raw in group:
            is_gtid = raw[4] in (EventType.gtid_log_event, EventType.anonymous_gtid_log_event)
            maker.add(raw[:_FIXED] + AFTER_GTIDS[version] + bytes(4) if is_gtid else raw)
    return maker.write(folder / "binlog.000001")
