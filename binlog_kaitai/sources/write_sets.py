"""Reads Galera's write sets (`GRA_*.log`) that were saved without the start of a log.

A node saves the events of a transaction that it cannot apply. MariaDB writes a magic and a format description
before them; Percona XtraDB Cluster and older servers write the events alone (sql/wsrep_binlog.cc:
`wsrep_dump_rbr_buf_with_header`, `wsrep_dump_rbr_buf`). This module adds the missing start. Offsets refer to
the resulting log.

Rules
-----
1. The file is a chain of events from its first byte on. Their positions, where they have any, count from the
   first of them; those of later fragments of a streamed transaction, from the transaction's first event. The
   GTID event of an asynchronous source may precede the others. It has the position and the checksum that it
   had in that source's log; both are removed.
2. A format description at the start is that of the events. Otherwise they get one, flagged as artificial: the
   newest of a released server that decodes most of them. Those servers agree on the layout of all events
   that write sets contain.
3. Events in write sets have no checksums, unless those of all events are correct.
4. Whatever could be the rest of a log whose start is lost is no write set.
"""

from __future__ import annotations

from typing import BinaryIO, cast

from binlog_kaitai.core.adapter import checksum_status
from binlog_kaitai.core.framing import KNOWN_TYPES, MAGIC, Frame, read_up_to, resized
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    POSITION_MASK,
    EventType,
    Format,
    header_length,
    header_offset,
    header_width,
    read_header,
)
from binlog_kaitai.core.known_formats import artificial_event, decodes, known_formats
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.sources.layer import Preceded

#: Number of bytes that are examined, and of events that must be decoded.
_PEEK, _MOST_EVENTS = 1 << 20, 200

_HEADER = header_length(4)

#: Events that only whole logs contain.
_OF_LOGS = BETWEEN - {EventType.slave_event, EventType.format_description_event}


def opened(raw: BinaryIO, start: bytes, begin: int) -> tuple[BinaryIO | None, bytes]:
    """The log that a write set becomes, or None if the file is something else; and the bytes read.

    `raw`: the file, after `start`.
    `begin`: offset of `start`, if the file is seekable.
    """
    data = read_up_to(raw, _PEEK - len(start), start)
    start_and_size = _start_of(data)
    if start_and_size is None:
        return None, data
    log_start, end = start_and_size
    return cast(BinaryIO, Preceded(raw, data[end:], begin + end, log_start)), data


def _start_of(data: bytes) -> tuple[bytes, int] | None:
    """The start of the log that a write set becomes, and the size of what it replaces in the file.

    None if the first bytes of a file are not those of a write set.
    """
    frames = _frames(data)
    received = frames.pop(0) if len(frames) > 1 and frames[0].header.type_code in GTID_TYPES else None
    whole = [frame for frame in frames if len(frame.raw) == frame.header.len_event][:_MOST_EVENTS]
    is_checksummed = bool(whole) and all(map(_has_checksum, whole))
    if not frames or not _is_write_set(frames, is_checksummed=is_checksummed, has_whole=bool(whole)):
        return None
    if received is None and frames[0].header.type_code == EventType.format_description_event:
        return MAGIC, 0
    before = b"" if received is None else _adapted(received, is_checksummed=is_checksummed)
    raws = [*([before] if before else []), *(frame.raw for frame in whole)]
    counts = {
        known: sum(decodes(known, raw, is_checksummed=is_checksummed) for raw in raws)
        for known in known_formats()
    }
    known = max(counts, key=counts.__getitem__)
    if raws and not counts[known]:
        return None
    start = artificial_event(known, f"{known.version}-write-set", is_checksummed=is_checksummed)
    return MAGIC + start + before, 0 if received is None else len(received.raw)


def _has_checksum(frame: Frame) -> bool:
    return checksum_status(frame.raw, frame.header, Format(4, _HEADER, is_checksummed=True)) == "ok"


def _adapted(received: Frame, *, is_checksummed: bool) -> bytes:
    """A GTID event without the position of another log; without its checksum, unless all events have one."""
    if is_checksummed:
        return received.raw
    raw = received.raw
    if _has_checksum(received):
        raw = resized(raw[:-CHECKSUM_SIZE], len(raw) - CHECKSUM_SIZE)
    begin = header_offset("next_position")
    end = begin + header_width("next_position")
    return raw[:begin] + bytes(end - begin) + raw[end:]


def _frames(data: bytes) -> list[Frame]:
    """The chain of events from the first byte on, the last one perhaps cut off; empty if there is none."""
    frames, begin = [], 0
    while begin + _HEADER <= len(data):
        header = read_header(data[begin : begin + _HEADER], 4)
        if header.type_code not in KNOWN_TYPES or header.len_event < _HEADER:
            return []
        frames.append(Frame(begin, header, data[begin : begin + header.len_event]))
        begin += header.len_event
    return frames


def _is_write_set(frames: list[Frame], *, is_checksummed: bool, has_whole: bool) -> bool:
    """Whether events are those of a write set, judging by their types and positions.

    `has_whole`: there is at least one of which all bytes are known.
    """
    types = {frame.header.type_code for frame in frames}
    if not _OF_LOGS.isdisjoint(types):
        return False
    begin = frames[0].position
    shifts = {
        (frame.header.next_position - (frame.position - begin + frame.header.len_event)) & POSITION_MASK
        for frame in frames
        if frame.header.next_position
    }
    if shifts == {0}:
        return True
    if len(shifts) > 1 or not has_whole:
        return False
    has_start = not GTID_TYPES.isdisjoint(types) or EventType.format_description_event in types
    return not shifts or not (is_checksummed or has_start)
