"""Recovers the start of a damaged log: the magic and the format description event, which everything else
needs.

Strategy
--------
1. A first event with a matching checksum is used unchanged.
2. If a single byte is wrong, the checksum identifies it.
3. If the event is intact but elsewhere (bytes were inserted before it, or the magic is damaged), it is moved.
4. Otherwise it is rebuilt from what released servers write, and proven by its checksum or by the events
   that follow (`format_search`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.check.format_search import CorrectedStart, no_event_between, rebuild
from binlog_kaitai.core.adapter import checksum_status
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC, Frame, Framer, read_up_to
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    EventType,
    Format,
    header_length,
    header_offset,
    masks,
    parse_event,
    read_header,
)
from binlog_kaitai.core.known_formats import known_formats
from binlog_kaitai.core.tree import Node
from binlog_kaitai.errors import BAD_CHECKSUM, BinlogError, ChecksumError, DamagedError, TruncatedError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.resync import Search

#: No server writes a longer first event.
_LONGEST_HEADER = 1 << 10

_IN_USE = masks.EventHeader.IS_IN_USE

_KIND = "FORMAT_DESCRIPTION_EVENT"


def read_log_start(stream: BinaryIO) -> CorrectedStart:
    """The magic and first event of a log, unchanged; and the ROTATE_EVENT before it in a saved stream.

    Raises `BinlogError`: they cannot be read.
    """
    stream.seek(0)
    framer = Framer.of_file(stream)
    end, has_format = len(MAGIC), False
    for frame in framer:
        end, has_format = frame.end_position, frame.header.type_code != EventType.rotate_event
        if has_format:
            break
    stream.seek(0)
    start = CorrectedStart(stream.read(end), end)
    _ = start.context
    if not has_format and (end > len(MAGIC) or stream.read(1)):
        raise TruncatedError("ends inside its first event", position=end)
    return start


def find_log_start(stream: BinaryIO) -> CorrectedStart:
    """Start of a log, corrected if it is damaged.

    Raises `BinlogError`: the start is damaged, and its original content cannot be proven.
    """
    head, wrong = _as_it_is(stream)
    if head is not None and wrong is None:
        return head
    start = _corrected(stream) or _elsewhere(stream, wrong) or rebuild(stream, wrong)
    if start is None and head is not None and _goes_on_after(head, stream):
        start = CorrectedStart(head.data, head.end, wrong)  # from an unknown server version
    if start is None:
        assert wrong is not None
        raise wrong
    return start


def _as_it_is(stream: BinaryIO) -> tuple[CorrectedStart | None, BinlogError | None]:
    """The start of a log, if it can be read, and the damage to it."""
    try:
        head = read_log_start(stream)
        is_right = _is_right(head, stream)
    except BinlogError as error:
        return None, error
    if is_right:
        return head, None
    reason = "its bytes have changed since the server wrote them"
    return head, ChecksumError(reason, position=len(MAGIC), event_type=_KIND)


def _is_right(head: CorrectedStart, stream: BinaryIO) -> bool:
    """Whether the first event is as a server wrote it: by its checksum, else by what known servers write."""
    layout = head.context.layout
    if head.end == len(MAGIC) or layout.binlog_version < 4:
        return True
    raw = head.event
    header = read_header(raw, 4)
    status = checksum_status(raw, header, Context(4).layout)
    if status != "none":
        return status == "ok"
    content: Node = parse_event(raw, header.type_code, Context(4).layout).body.content
    known = [form for form in known_formats(content.server_version) if not form.has_algorithm]
    is_known = not known or bytes(layout.post_header_lengths) in (form.post_header_lengths for form in known)
    return is_known and _goes_on_after(head, stream)


def _goes_on_after(head: CorrectedStart, stream: BinaryIO) -> bool:
    """Whether an intact event, or the end of the log, follows the first event."""
    size = stream.seek(0, io.SEEK_END)
    return head.end == size or Search(stream).is_whole(head.end, head.context.layout)


def _corrected(stream: BinaryIO) -> CorrectedStart | None:
    """The start of a log whose first event has a single wrong byte, identified by its checksum.

    None if no change of one byte makes the checksum match. A byte does so by chance in about one of 100,000
    cases, and then the result must also be a format description event.
    """
    stream.seek(0)
    start = read_up_to(stream, _LONGEST_HEADER)
    if len(start) < len(MAGIC) + header_length(4) or not start.startswith(MAGIC):
        return None
    size = read_header(start[len(MAGIC) :], 4).len_event
    data = start[: len(MAGIC) + size]
    if not header_length(4) + CHECKSUM_SIZE < size == len(data) - len(MAGIC):
        return None
    starts = [(start, offset) for start, offset in _neighbours(data) if _is_header(start)]
    if len(starts) != 1:
        return None
    data, offset = starts[0]
    reason = f"{BAD_CHECKSUM}: the byte at {offset} is wrong"
    wrong = ChecksumError(reason, position=len(MAGIC), event_type=_KIND, field="checksum")
    return CorrectedStart(data, len(data), wrong, corrected=offset)


def _is_header(data: bytes) -> bool:
    """Whether this is the start of a version 4 log with a matching checksum."""
    with suppress(BinlogError):
        frame = next(iter(Framer.of_file(io.BytesIO(data))))
        is_format = frame.header.type_code == EventType.format_description_event
        return is_format and checksum_status(frame.raw, frame.header, Context(4).layout) == "ok"
    return False


def _neighbours(head: bytes) -> Iterator[tuple[bytes, int]]:
    """The variants that differ in one byte and have a matching checksum, with the offset of that byte."""
    data, end = bytearray(head), len(head) - CHECKSUM_SIZE
    flags = len(MAGIC) + header_offset("flags")
    in_use = data[flags] & _IN_USE
    data[flags] &= ~_IN_USE  # the checksum is that of a closed log
    stored = int.from_bytes(head[end:], "little")
    for offset in range(len(MAGIC), end):
        before = crc32(memoryview(data)[len(MAGIC) : offset])
        after, own = bytes(data[offset + 1 : end]), data[offset]
        for value in range(256):
            if crc32(after, crc32(bytes([value]), before)) == stored and value != own:
                new = bytes(data[:offset]) + bytes([value]) + after + head[end:]
                yield new[:flags] + bytes([new[flags] | in_use]) + new[flags + 1 :], offset
    right = crc32(memoryview(data)[len(MAGIC) : end]).to_bytes(CHECKSUM_SIZE, "little")
    wrong = [index for index, (a, b) in enumerate(zip(right, head[end:], strict=True)) if a != b]
    if len(wrong) == 1:
        yield head[:end] + right, end + wrong[0]


def _elsewhere(stream: BinaryIO, wrong: BinlogError | None) -> CorrectedStart | None:
    """A format description with a matching checksum at a position where it should not be."""
    layout = Format(4, header_length(4), is_checksummed=True)
    place = Search(stream).event(0, layout, has_own_positions=False)
    if place is None:
        return None
    stream.seek(place)
    frame: Frame | None = None
    with suppress(BinlogError):
        frame = next(iter(Framer(stream, 4, place, max_event_size=_LONGEST_HEADER)), None)
    if frame is None or not _is_header(MAGIC + frame.raw):
        return None
    before = Gap(len(MAGIC), place, DamagedError("precedes the format description"))
    lost = before if place > len(MAGIC) else None
    return CorrectedStart(MAGIC + frame.raw, frame.end_position, wrong, lost=lost)


def replaced(stream: BinaryIO, other: CorrectedStart) -> CorrectedStart:
    """The start of a damaged log, replaced by the first event of another one."""
    _, wrong = _as_it_is(stream)
    layout, size = other.context.layout, stream.seek(0, io.SEEK_END)
    search = Search(stream)
    if other.end == size or search.is_whole(other.end, layout):
        return CorrectedStart(other.data, other.end, wrong)
    begin = search.event_or_shifted(1, layout, has_own_positions=not layout.is_checksummed)
    end = size if begin is None else begin
    return CorrectedStart(other.data, end, wrong, lost=no_event_between(min(other.end, end), end))
