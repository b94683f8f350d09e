"""Splits a byte stream into events.

Rules
-----
1. A file begins with the magic; only the first event determines its version.
2. The header gives the length of an event. Memory grows as bytes arrive, never because of a declared length.
3. A position is the file offset, counted here; headers hold only its low 32 bits.
4. The caller judges how a file ends: the bytes after the last complete event are its :class:`Tail`.
5. A file holds one log. The magic and first event of another log mean concatenated files, which is an error.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import BinaryIO, NamedTuple

from binlog_kaitai.core.grammar import (
    POSITION_MASK,
    EventType,
    Header,
    detect_version,
    header_length,
    header_offset,
    header_struct,
    read_header,
    sizes,
)
from binlog_kaitai.errors import (
    AnotherLogError,
    DamagedStartError,
    EncryptedError,
    FramingError,
    NotABinlogError,
)

#: The first four bytes of a binary log, plain and encrypted (`BINLOG_MAGIC`, sql/rpl_log_encryption.h).
MAGIC, ENCRYPTED_MAGIC = sizes.MysqlBinlog.MAGIC, sizes.EncryptionHeader.MAGIC

_READ_AT_ONCE = 1 << 20

#: The types a log can begin with.
FIRST_TYPES = (EventType.start_event_v3, EventType.format_description_event)


class Frame(NamedTuple):
    """One complete event: its position, its header and all its bytes."""

    position: int
    header: Header
    raw: bytes

    @property
    def end_position(self) -> int:
        return self.position + len(self.raw)


class TailKind(Enum):
    """What follows the last complete event of a file."""

    NOTHING = "nothing"
    ZEROS = "zero bytes up to the end"
    PART = "a part of an event"


class Tail(NamedTuple):
    """The bytes after the last complete event.

    `header` is set if a partial event has a complete header.
    """

    kind: TailKind
    position: int
    size: int
    header: Header | None = None


class Framer:
    """Iterates over the events of one stream, as bytes.

    Iteration yields :class:`Frame` objects; afterwards :attr:`tail` describes how the stream ended.

    `stream`: a binary stream, positioned at an event; for a stream at the magic, see :meth:`of_file`.
    `binlog_version`: 1, 3 or 4: whether headers have 13 or 19 bytes.
    `position`: offset of the stream's next byte.
    `max_event_size`: the longest event to accept; limits memory.
    `start`: the bytes after the magic that were read to detect the version.
    Raises `FramingError`: a header is invalid (raised during iteration).
    """

    def __init__(
        self, stream: BinaryIO, binlog_version: int, position: int = 0, max_event_size: int = 1 << 32
    ) -> None:
        self._stream = stream
        self.start = self._peeked = b""
        self._max_event_size = max_event_size
        self.binlog_version = binlog_version
        self.position = position
        self.tail = Tail(TailKind.NOTHING, position, 0)

    @classmethod
    def of_file(cls, stream: BinaryIO) -> Framer:
        """Frame a whole file; its first event determines the version.

        Raises `NotABinlogError`, `EncryptedError`: the file does not begin like a readable log.
        """
        version, peeked = read_start(stream)
        framer = cls(stream, version, len(MAGIC))
        framer.start = framer._peeked = peeked
        return framer

    def __iter__(self) -> Iterator[Frame]:
        return iter(self._next, None)

    def peek(self) -> Header | None:
        """The header of the next event, unchecked, before its body is read; None if it is incomplete."""
        length = header_length(self.binlog_version)
        head = self._read(length)
        self._peeked = head + self._peeked
        return read_header(head, self.binlog_version) if len(head) == length else None

    def skip_to(self, position: int) -> None:
        """Continue at a later offset, which must be the start of an event."""
        distance = position - self.position - len(self._peeked)
        if distance < 0:
            return
        if self._stream.seekable():
            self._stream.seek(position)
        else:
            while distance > 0 and (chunk := self._stream.read(min(distance, _READ_AT_ONCE))):
                distance -= len(chunk)
        self._peeked = b""
        self.position = position

    def _next(self) -> Frame | None:
        length = header_length(self.binlog_version)
        head = self._read(length)
        if len(head) < length:
            kind = TailKind.PART if head.strip(b"\0") else TailKind.ZEROS if head else TailKind.NOTHING
            self.tail = Tail(kind, self.position, len(head))
            return None
        header = read_header(head, self.binlog_version)
        if is_start(head):
            raise another_log(self.position)
        if header.len_event < length:
            if not head.strip(b"\0"):
                self.tail = Tail(TailKind.ZEROS, self.position, self._count_zeros(len(head)))
                return None
            raise FramingError(
                f"invalid event size: {header.len_event} bytes are too few for an event header",
                position=self.position,
                field="header.len_event",
            )
        if header.len_event > self._max_event_size:
            raise FramingError(
                f"an event of {header.len_event:,} bytes exceeds the {self._max_event_size:,}"
                " bytes supported here",
                position=self.position,
                field="header.len_event",
            )
        raw = self._read(header.len_event - length, head)
        if len(raw) < header.len_event:
            self.tail = Tail(TailKind.PART, self.position, len(raw), header)
            return None
        frame = Frame(self.position, header, raw)
        self.position += len(raw)
        return frame

    def _read(self, size: int, start: bytes = b"") -> bytes:
        """`start` plus up to `size` bytes."""
        data, self._peeked = self._peeked[:size], self._peeked[size:]
        return read_up_to(self._stream, size - len(data), start + data)

    def _count_zeros(self, size: int) -> int:
        """Length of a tail of zeros, of which `size` bytes have already been read."""
        while chunk := self._stream.read(_READ_AT_ONCE):
            if chunk.strip(b"\0"):
                raise FramingError("zero bytes where an event should begin", position=self.position)
            size += len(chunk)
        return size


def not_at_an_event(stream: BinaryIO, position: int) -> str | None:
    """Why no event can be read at a position, with the nearest event boundaries; None if one can be read.

    The stream must be seekable and at the first byte of the log. Only headers are read.
    """
    version, _ = read_start(stream)
    length, size, offset = header_length(version), stream.seek(0, io.SEEK_END), len(MAGIC)
    before = None
    while offset < position and offset + length <= size:
        stream.seek(offset)
        event_size = read_header(read_up_to(stream, length), version).len_event
        if event_size < length:
            break
        before, offset = offset, offset + event_size
    if offset == position:
        return None
    if offset < position:
        return f"no event begins at {position}; the last one before it begins at {before}" if before else None
    return nearest_events(
        position, *(place for place in (before, offset) if place is not None and place < size)
    )


def nearest_events(position: int, *nearest: int) -> str:
    """Error for an unreadable position, naming the nearest event boundaries."""
    return f"no event begins at {position}; the nearest begin at {' and '.join(map(str, nearest))}"


def another_log(position: int) -> AnotherLogError:
    """Error for a file that contains the start of a second log."""
    reason = f"another log begins here: files were concatenated; split the file at {position}"
    return AnotherLogError(reason, position=position)


def is_start(head: bytes) -> bool:
    """Whether these bytes, as many as a header has, are the start of a log: the magic and a first event.

    An event written in 2028 may have a timestamp equal to the magic, followed by a server ID that looks like
    a type; but its flags do not match the position of a first event. A version 1 header ends before that
    field.
    """
    if not head.startswith(MAGIC) or head[len(MAGIC) + header_offset("type_code")] not in FIRST_TYPES:
        return False
    if len(head) < header_length(4):
        return True
    size = read_header(head[len(MAGIC) :], 1).len_event
    # The header includes the first bytes of the position.
    position = head[len(MAGIC) + header_offset("next_position") : header_length(4)]
    expected = (len(MAGIC), len(MAGIC) + size)
    return position in [end.to_bytes(8, "little")[: len(position)] for end in expected]


def resized(raw: bytes, size: int) -> bytes:
    """An event with another size in its header."""
    begin, end = header_offset("len_event"), header_offset("next_position")
    return raw[:begin] + size.to_bytes(end - begin, "little") + raw[end:]


def read_up_to(stream: BinaryIO, size: int, start: bytes = b"") -> bytes:
    """`start` plus up to `size` bytes, fewer at the end of the stream; memory grows only as bytes arrive."""
    data = stream.read(min(size, _READ_AT_ONCE)) or b""
    if len(data) >= size or not data:
        return start + data if start else data
    # A bytearray grows in place, and its contents can be used without a copy.
    parts = io.BytesIO()
    parts.write(start)
    parts.write(data)
    size -= len(data)
    while size > 0 and (chunk := stream.read(min(size, 16 * _READ_AT_ONCE))):
        size -= parts.write(chunk)
    return parts.getvalue()


def read_start(stream: BinaryIO) -> tuple[int, bytes]:
    """The version of a log, and the bytes after its magic that were read to detect it.

    In a saved stream, these are the ROTATE_EVENT with which it begins, and the start of the next header.

    Raises `NotABinlogError`, `EncryptedError`: the file does not begin like a readable log.
    """
    start = read_up_to(stream, len(MAGIC))
    if start != MAGIC:
        raise _not_a_log(start + read_up_to(stream, _PEEK_SIZE))
    peeked = read_up_to(stream, header_length(1))
    # Fewer bytes do not identify the version; they are a partial event in any of them.
    if len(peeked) < header_length(1):
        return 4, peeked
    version, first = detect_version(peeked), read_header(peeked, 1)
    if first.type_code != EventType.rotate_event:
        return version, peeked
    rest = min(max(first.len_event, header_length(4)), _PEEK_SIZE) - len(peeked)
    peeked += read_up_to(stream, rest)
    head = read_up_to(stream, header_length(1))
    if len(head) == header_length(1) and read_header(head, 1).type_code not in FIRST_TYPES:
        raise DamagedStartError("unknown version: no format description follows the first ROTATE_EVENT")
    return version, peeked + head


#: How far a file that does not begin like a log is searched for events, in bytes.
_PEEK_SIZE = 64 << 10

#: Type codes of all known events.
KNOWN_TYPES = frozenset(int(kind) for kind in EventType if kind)


def _not_a_log(data: bytes) -> NotABinlogError | EncryptedError:
    """Error for a file that does not begin with the magic.

    The file is a damaged log, rather than another kind of file, if it ends inside the magic or if events
    follow.
    """
    start = data[: len(MAGIC)]
    if start == ENCRYPTED_MAGIC:
        return EncryptedError("the file is encrypted by MySQL (binlog_encryption)", position=0)
    if not start:
        return DamagedStartError("not a binary log: the file is empty", position=0)
    reason = f"not a binary log: it starts with {start.hex(' ')} instead of {MAGIC.hex(' ')}"
    if MAGIC.startswith(start):
        return DamagedStartError(reason, position=0)
    if _is_tar(data):
        return NotABinlogError(f"{reason}: it is a tar archive; unpack it first", position=0)
    if holds_events(data):
        reason = f"the magic is damaged: {start.hex(' ')} instead of {MAGIC.hex(' ')}, but events follow"
        return DamagedStartError(reason, position=0)
    is_zip = ": it is a zip archive; unpack it first" if start == b"PK\x03\x04" else ""
    return NotABinlogError(reason + is_zip, position=0)


def _is_tar(data: bytes) -> bool:
    """Whether a file begins with the header of a tar archive, by its checksum: old archives have no magic."""
    import tarfile

    with suppress(tarfile.HeaderError):
        tarfile.TarInfo.frombuf(data[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
        return True
    return False


def holds_events(data: bytes) -> bool:
    """Whether the start of a file contains two consecutive events, judging by their headers."""
    read, length = header_struct(4), header_length(4)
    last = len(data) - 2 * length
    for offset in range(last + 1):
        if data[offset + header_offset("type_code")] not in KNOWN_TYPES:
            continue
        first = Header(*read.unpack_from(data, offset))
        if not first.next_position or not length <= first.len_event <= last - offset + length:
            continue
        second = Header(*read.unpack_from(data, offset + first.len_event))
        expected = (first.next_position + second.len_event) & POSITION_MASK
        if (
            second.type_code in KNOWN_TYPES
            and length <= second.len_event
            and second.next_position == expected
        ):
            return True
    return False
