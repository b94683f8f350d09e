"""From a stream of bytes to the bytes of one event after another.

Rules
-----
1. A file begins with the magic; its version is known from the first event alone.
2. An event is as long as its header says. Memory is taken as bytes arrive, never because a length says so.
3. A position is the offset in the file, counted here; headers know only 32 bits of it.
4. How a file ends is for the caller to judge: what is left behind the last whole event is its :class:`Tail`.
5. A file is one log. Where another one's magic and first event stand, files were put together, which is said.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
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
)
from binlog_kaitai.errors import (
    AnotherLogError,
    DamagedStartError,
    EncryptedError,
    FramingError,
    NotABinlogError,
)

#: The first four bytes of a binary log, plain and encrypted (`BINLOG_MAGIC`, sql/rpl_log_encryption.h).
MAGIC = b"\xfebin"
ENCRYPTED_MAGIC = b"\xfdbin"

_STEP = 1 << 20

#: The types of a log's first event.
FIRST_TYPES = (EventType.start_event_v3, EventType.format_description_event)


class Frame(NamedTuple):
    """One whole event: where it begins, its header, all its bytes."""

    position: int
    header: Header
    raw: bytes

    @property
    def end_position(self) -> int:
        return self.position + len(self.raw)


class TailKind(Enum):
    """What lies behind the last whole event of a file."""

    NOTHING = "nothing"
    ZEROS = "zero bytes up to the end"
    PART = "a part of an event"


class Tail(NamedTuple):
    """The bytes behind the last whole event.

    Of a part of an event with a whole header, `header` is that.
    """

    kind: TailKind
    position: int
    size: int
    header: Header | None = None


class Framer:
    """The events of one stream, as bytes.

    Iterating gives :class:`Frame` after :class:`Frame`; afterwards :attr:`tail` tells how the stream ended.

    Parameters
    ----------
    stream
        A binary stream; at the magic of a file, see :meth:`of_file`, or at an event.
    binlog_version
        1, 3 or 4: whether headers have 13 or 19 bytes.
    position
        Offset of the stream's next byte.
    max_event_size
        An event that says it is longer is refused: the most that may be held of it.

    Raises
    ------
    FramingError
        A header that cannot be right, while iterating.
    """

    def __init__(
        self, stream: BinaryIO, binlog_version: int, position: int = 0, max_event_size: int = 1 << 32
    ) -> None:
        self._stream = stream
        self._ahead = b""
        self._max_event_size = max_event_size
        self.binlog_version = binlog_version
        self.position = position
        self.tail = Tail(TailKind.NOTHING, position, 0)

    @classmethod
    def of_file(cls, stream: BinaryIO) -> Framer:
        """The events of a whole file, whose version its first event tells.

        Raises
        ------
        NotABinlogError, EncryptedError
            The first bytes are not those of a readable log.
        """
        version, ahead = read_start(stream)
        framer = cls(stream, version, len(MAGIC))
        framer._ahead = ahead
        return framer

    def __iter__(self) -> Iterator[Frame]:
        while (frame := self._next()) is not None:
            yield frame

    def skip_to(self, position: int) -> None:
        """Go on at a later offset, which must be the start of an event."""
        distance = position - self.position - len(self._ahead)
        if distance < 0:
            return
        if self._stream.seekable():
            self._stream.seek(position)
        else:
            while distance > 0 and (chunk := self._stream.read(min(distance, _STEP))):
                distance -= len(chunk)
        self._ahead = b""
        self.position = position

    def _next(self) -> Frame | None:
        length = header_length(self.binlog_version)
        head = self._ahead + read_up_to(self._stream, length - len(self._ahead))
        self._ahead = b""
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
        raw = read_up_to(self._stream, header.len_event - length, head)
        if len(raw) < header.len_event:
            self.tail = Tail(TailKind.PART, self.position, len(raw), header)
            return None
        frame = Frame(self.position, header, raw)
        self.position += len(raw)
        return frame

    def _count_zeros(self, size: int) -> int:
        """Length of a tail of zeros, `size` of which have been read."""
        while chunk := self._stream.read(_STEP):
            if chunk.strip(b"\0"):
                raise FramingError("zero bytes where an event should begin", position=self.position)
            size += len(chunk)
        return size


def not_at_an_event(stream: BinaryIO, position: int) -> str | None:
    """Why no event can be read at a position of a log, and where the nearest ones begin; None if one can.

    The stream can seek, and is at the log's first byte. Only headers are read.
    """
    version, _ = read_start(stream)
    length, size, at = header_length(version), stream.seek(0, io.SEEK_END), len(MAGIC)
    before = None
    while at < position and at + length <= size:
        stream.seek(at)
        event_size = read_header(read_up_to(stream, length), version).len_event
        if event_size < length:
            break
        before, at = at, at + event_size
    if at == position:
        return None
    if at < position:
        return f"no event begins at {position}; the last one before it begins at {before}" if before else None
    return nearest_events(position, *(place for place in (before, at) if place is not None and place < size))


def nearest_events(position: int, *nearest: int) -> str:
    """Why nothing can be read at a position, and where the nearest events begin."""
    return f"no event begins at {position}; the nearest begin at {' and '.join(map(str, nearest))}"


def another_log(position: int) -> AnotherLogError:
    """What is wrong with a file in which a second log begins."""
    reason = f"another log begins here: files were concatenated; split the file at {position}"
    return AnotherLogError(reason, position=position)


def is_start(head: bytes) -> bool:
    """Whether a log begins with these bytes, as many as a header has: the magic, and a first event.

    An event of 2028 may have the magic for its time, and behind it a server's number that looks like a type;
    but not the position of a first event in its flags. A header of version 1 ends before that.
    """
    if not head.startswith(MAGIC) or head[len(MAGIC) + header_offset("type_code")] not in FIRST_TYPES:
        return False
    if len(head) < header_length(4):
        return True
    size = read_header(head[len(MAGIC) :], 1).len_event
    # Of the position the head has the first bytes.
    position = head[len(MAGIC) + header_offset("next_position") : header_length(4)]
    expected = (len(MAGIC), len(MAGIC) + size)
    return position in [one.to_bytes(8, "little")[: len(position)] for one in expected]


def resized(raw: bytes, size: int) -> bytes:
    """An event whose header says that it has another size."""
    begin, end = header_offset("len_event"), header_offset("next_position")
    return raw[:begin] + size.to_bytes(end - begin, "little") + raw[end:]


def read_up_to(stream: BinaryIO, size: int, start: bytes = b"") -> bytes:
    """`start`, and `size` bytes or what is there before the end; takes memory only as bytes arrive."""
    data = stream.read(min(size, _STEP)) or b""
    if len(data) >= size or not data:
        return start + data if start else data
    # This grows in place, and gives what it has without a copy.
    parts = io.BytesIO()
    parts.write(start)
    parts.write(data)
    size -= len(data)
    while size > 0 and (chunk := stream.read(min(size, 16 * _STEP))):
        size -= parts.write(chunk)
    return parts.getvalue()


def read_start(stream: BinaryIO) -> tuple[int, bytes]:
    """The version of a log, and the bytes behind its magic that were read to tell it.

    Raises
    ------
    NotABinlogError, EncryptedError
        The first bytes are not those of a readable log.
    """
    start = read_up_to(stream, len(MAGIC))
    if start != MAGIC:
        raise _not_a_log(start + read_up_to(stream, _LOOK_AHEAD))
    ahead = read_up_to(stream, header_length(1))
    # Of fewer bytes nothing can be told; they are a part of an event in any version.
    return detect_version(ahead) if len(ahead) == header_length(1) else 4, ahead


#: As much of a file that does not begin like a log is searched for events, in bytes.
_LOOK_AHEAD = 64 << 10

_KNOWN_TYPES = frozenset(int(kind) for kind in EventType if kind)

#: What people have instead of a log, by its first bytes, and what to do with it.
_OTHER_FILES = {
    b"PK\x03\x04": "it is a zip archive",
    b"\xfe\xfe\r\x01": "it is a log that InnoDB of MariaDB 12.3 keeps, in a format of its own",
}


def _not_a_log(data: bytes) -> NotABinlogError | EncryptedError:
    """What is wrong with a file that begins with these bytes, and not with the magic.

    It is a damaged log, and not another file, if it is cut off inside the magic, or if events follow.
    """
    start = data[: len(MAGIC)]
    if start == ENCRYPTED_MAGIC:
        return EncryptedError("the file is encrypted by MySQL (binlog_encryption)", position=0)
    if not start:
        return DamagedStartError("not a binary log: the file is empty", position=0)
    reason = f"not a binary log: it starts with {start.hex(' ')} instead of {MAGIC.hex(' ')}"
    if MAGIC.startswith(start):
        return DamagedStartError(reason, position=0)
    if holds_events(data):
        reason = f"the magic is damaged: {start.hex(' ')} instead of {MAGIC.hex(' ')}, but events follow"
        return DamagedStartError(reason, position=0)
    for other, what in _OTHER_FILES.items():
        if start.startswith(other):
            reason += f": {what}"
    return NotABinlogError(reason, position=0)


def holds_events(data: bytes) -> bool:
    """Whether two events follow each other somewhere in the start of a file, by their headers."""
    read, length = header_struct(4), header_length(4)
    last = len(data) - 2 * length
    for at in range(last + 1):
        if data[at + header_offset("type_code")] not in _KNOWN_TYPES:
            continue
        first = Header(*read.unpack_from(data, at))
        if not first.next_position or not length <= first.len_event <= last - at + length:
            continue
        second = Header(*read.unpack_from(data, at + first.len_event))
        expected = (first.next_position + second.len_event) & POSITION_MASK
        if (
            second.type_code in _KNOWN_TYPES
            and length <= second.len_event
            and second.next_position == expected
        ):
            return True
    return False
