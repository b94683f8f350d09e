"""Converts the packets of a dump to the bytes of consecutive logs.

A server sends one event per packet. Besides the events of its logs, it sends events that it creates: a ROTATE
that names the following log, heartbeats, and in mid-log a format description of its own. :class:`DumpStream`
is a binary stream of exactly the bytes in the server's file, so that every reader of logs can read it.

Of a packet with an event, only the first byte and the event header are examined: the grammar's
`stream_packet`, which builds an object for each event, is a hundred times slower. Tests compare the two. All
other packets are parsed by the grammar. A kernel joins the events of many packets.
"""

from __future__ import annotations

import io
import selectors
import socket
import ssl
import time
from enum import Enum
from typing import TYPE_CHECKING, cast

import numpy as np

from binlog_kaitai.core.adapter import crc32_of, stored_checksum
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import (
    EventType,
    Format,
    Header,
    StreamPacket,
    header_length,
    header_offset,
    masks,
    parse_event,
    parse_packet,
    read_header,
    sizes,
)
from binlog_kaitai.errors import BinlogError, ConnectionLostError, DamagedError, FramingError, ServerError
from binlog_kaitai.kernels.arrays import Bools, Bytes, OutBytes, view_of
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.live.causes import TORN, broken, refusal
from binlog_kaitai.text.text_kernels import copy

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from binlog_kaitai.core.bodies import RotateEvent

_V4 = 4
_HEADER = header_length(_V4)
_SIZE_AT, _TYPE_AT = header_offset("len_event"), header_offset("type_code")
_IS_ARTIFICIAL = masks.EventHeader.IS_ARTIFICIAL
_ACK = masks.StreamPacket.SemiSyncHeader.IS_ACK_WANTED
_PLAIN = sizes.StreamPacket.HEAD_SIZE
_SEMI_SYNC = _PLAIN + sizes.StreamPacket.SemiSyncHeader.SIZE

_HEARTBEATS = (EventType.heartbeat_log_event, EventType.heartbeat_log_event_v2)
_LOOKED_AT = (
    EventType.rotate_event,
    EventType.format_description_event,
    EventType.start_encryption_event,
    *_HEARTBEATS,
)
_SPECIAL = np.zeros(256, dtype=np.bool_)
_SPECIAL[list(_LOOKED_AT)] = True

#: Longest event, in bytes: no max_allowed_packet allows more, apart from headers.
MAX_EVENT = (1 << 30) + (1 << 16)

#: Maximum number of consecutive packets without an event of a log; a real server sends at most four.
_MOST_ARTIFICIAL = 16

#: Why `unpack` stopped: it needs more bytes, or more room; the next packet is not a plain event; a packet is
#: missing.
MORE, SPECIAL, BROKEN = 0, 1, 2

PACKET_HEADER, SEQUENCE_AT = sizes.NetworkPacket.HEAD_SIZE, sizes.NetworkPacket.SEQUENCE_ID_AT
#: A payload of this length continues in the next packet.
CONTINUED = (1 << 8 * sizes.NetworkPacket.LEN_PAYLOAD_SIZE) - 1

_ONE, _TWO = np.uint64(1), np.uint64(2)


@kernel
def unpack(
    data: Bytes,
    begin: int,
    end: int,
    left: int,
    sequence: int,
    prefix: int,
    special: Bools,
    out: OutBytes,
) -> tuple[int, int, int, int, int]:
    """Copy the events of the packets in `data[begin:end]` to `out`, without gaps.

    `left`: number of bytes at first that belong to an event whose start was copied before.
    `sequence`: expected number of the next packet.
    `prefix`: bytes of a payload before its event: 1, or 3 with semi-synchronous replication.
    `special`: 256 flags: the type codes to stop at; so does an event that requests an acknowledgement.
    Returns (offset of the next byte, how many of the event there are left, number of the next packet, bytes
    in `out`, why it stopped)
    """
    count = 0
    while True:
        if begin < 0 or left < 0 or end > data.shape[0]:
            return begin, left, sequence, count, MORE
        size = min(left, end - begin, out.shape[0] - count)
        if size > 0:
            copy(data, begin, size, out, count)
            begin, left, count = begin + size, left - size, count + size
        event = begin + PACKET_HEADER + prefix
        if left > 0 or event + _HEADER > end:
            return begin, left, sequence, count, MORE
        first = np.uint64(begin)
        length = (
            np.int64(data[first])
            | np.int64(data[first + _ONE]) << np.int64(8)
            | np.int64(data[first + _TWO]) << np.int64(16)
        )
        if np.int64(data[np.uint64(begin + SEQUENCE_AT)]) != sequence:
            return begin, left, sequence, count, BROKEN
        size = int(length - prefix)
        if length == CONTINUED or size < _HEADER or data[np.uint64(begin + PACKET_HEADER)] != 0:
            return begin, left, sequence, count, SPECIAL
        if prefix > 1 and np.int64(data[np.uint64(event - 1)]) & _ACK:
            return begin, left, sequence, count, SPECIAL
        if special[data[np.uint64(event + _TYPE_AT)]] or read_u4(data, np.uint64(event + _SIZE_AT)) != size:
            return begin, left, sequence, count, SPECIAL
        begin, left, sequence = event, size, (sequence + 1) % 256


class StreamState(Enum):
    """Why a stream returns no bytes at the moment."""

    READING = "more is there"
    IDLE = "nothing more has come yet"
    NEXT_LOG = "another log follows"
    ENDED = "the server has nothing more to send"
    TORN = "the log ends within an event, of which the server sends nothing"


class DumpStream(io.RawIOBase):
    """The bytes of a server's log, from its magic or from an event on; then those of the next log.

    Reading returns no bytes unless :attr:`state` is READING; this happens only between two events.

    `connection`: the socket, after the dump command.
    `timeout`: seconds without a packet after which the connection is considered lost.
    `waits`: the server sends heartbeats while there is nothing more, for any time.
    `is_eager`: end a burst as soon as no more bytes are available, because a server waits for an
    acknowledgement.

    `state`: what the next bytes are.
    `log_name`: the log that the bytes belong to; ``""`` before the first packet.
    `position`: offset of the next byte in it.
    `next_name`: in the state NEXT_LOG, the following log.
    `error`: in the state TORN, the server's message.
    `description`: the format description event that the server sends if the stream starts in mid-log.
    `ack_wanted`: whether the server waits for an acknowledgement of the bytes read.
    """

    def __init__(
        self, connection: socket.socket, timeout: float, *, waits: bool = False, is_eager: bool = False
    ) -> None:
        self._wire = Wire(connection, timeout, is_eager=is_eager)
        self._waits = waits
        self._prefix = 0  # unknown before the first packet
        self._left = 0  # bytes of the event in the current packet that are not given yet
        self._is_continued, self._in_next_packets = False, 0
        self._artificial = 0  # packets since the last event of a log
        self._pending = b""
        self.state = StreamState.IDLE
        self.log_name = self.next_name = ""
        self.error: ServerError | None = None
        self.position = self._next_position = 0
        self.description = b""
        self.ack_wanted = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Release the buffer, because an error may keep a reference to the stream."""
        self._wire.close()
        super().close()

    # -- the log that is read

    def begin(self) -> None:
        """Read up to the ROTATE that names the first log and the position in it; sets :attr:`log_name`."""
        while self.state is not StreamState.NEXT_LOG:
            if self.state is StreamState.ENDED:
                raise ServerError("the server ends the stream before it names a log")
            if self.error is not None:
                raise self.error
            self.wait()
            try:
                self._special()
            except DamagedError as error:  # not yet in a log, where it would have a position
                raise ServerError(f"the server's stream cannot be read: {error.reason}") from error
        self.begin_next()

    def begin_next(self) -> None:
        """Continue with the next log, starting at its magic."""
        self.log_name, self.position = self.next_name, self._next_position
        if self.position <= len(MAGIC):
            self.position, self._pending = 0, MAGIC
        self.next_name, self.description = "", b""
        self.state = StreamState.READING

    def wait(self, seconds: float | None = None) -> bool:
        """In the state IDLE, wait for more bytes; False if none arrive in time.

        Raises `ConnectionLostError`: nothing has arrived within the timeout, not even a heartbeat.
        """
        if not self._wire.wait(seconds):
            return False
        self.state = StreamState.READING
        return True

    def readinto(self, room: WriteableBuffer) -> int:
        """Fill a buffer with bytes of the log; returns 0 if `state` gives a reason."""
        view = memoryview(room).cast("B")
        if not len(view):
            return 0
        while self.state is StreamState.READING:
            count = self._give(view)
            if count:
                self.position += count
                self._artificial = 0
                return count
        return 0

    # -- packets

    def _give(self, view: memoryview) -> int:
        """Bytes of the log; 0 if the next packet has none, or is not available yet."""
        if self._pending:
            part = self._pending[: len(view)]
            view[: len(part)] = part
            self._pending = self._pending[len(part) :]
            return len(part)
        if self._is_continued and not self._left:
            self._wire.need(PACKET_HEADER)
            self._begin_part(self._wire.begin_packet())
        elif self.ack_wanted and not self._left:
            self.state = StreamState.IDLE
            return 0
        count, why = self._unpack(view)
        if count:
            return count
        if why == BROKEN:
            self._wire.check_sequence()
        if why == MORE and (self._left or not self._wire.has_packet()):
            if not self._left and self._wire.is_idle():
                self.state = StreamState.IDLE
            else:
                self._wire.receive()
            return 0
        self._special()
        return 0

    def _unpack(self, view: memoryview) -> tuple[int, int]:
        wire = self._wire
        is_last = self._is_continued or self.ack_wanted
        begin, left, sequence, count, why = unpack.run(
            wire.buffer, wire.begin, min(wire.end, wire.begin + self._left) if is_last else wire.end,
            self._left, wire.sequence, self._prefix, _SPECIAL, np.frombuffer(view, dtype=np.uint8),
        )  # fmt: skip
        self._left = int(left)
        wire.advance(int(begin), int(sequence))
        return int(count), int(why)

    def _special(self) -> None:
        """Process the next packet, which is not a plain event."""
        self._wire.need(PACKET_HEADER)
        self._wire.check_sequence()
        length = self._wire.length()
        self._wire.need(PACKET_HEADER + min(length, _SEMI_SYNC + _HEADER))
        begin = self._wire.begin + PACKET_HEADER
        head = bytes(self._wire.view[begin : begin + min(length, _SEMI_SYNC + _HEADER)])
        if not head or head[0] != StreamPacket.PacketKind.event:
            self._end_of_stream(self._wire.whole_packet())
            return
        if self._wire.buffer[self._wire.begin + SEQUENCE_AT] != self._wire.sequence:
            raise ConnectionLostError("a packet of the stream is missing")
        if not self._prefix:
            # The first event has the timestamp 0, so this is not a continuation of it.
            self._prefix = (
                _SEMI_SYNC if head[_PLAIN:].startswith(sizes.StreamPacket.SemiSyncHeader.MAGIC) else _PLAIN
            )
        if length < self._prefix + _HEADER:
            raise FramingError("a packet of the stream cannot hold an event's header")
        header = read_header(head[self._prefix :], _V4)
        if header.type_code in _LOOKED_AT and self._is_artificial(header):
            self._read_artificial(header, self._wire.whole_packet()[self._prefix :])
            return
        self._begin_event(header, length, head)

    def _begin_event(self, header: Header, length: int, head: bytes) -> None:
        """Start returning the event's bytes as they arrive."""
        if not self.log_name:
            raise FramingError("the stream does not begin with a ROTATE_EVENT")
        if header.len_event > MAX_EVENT:
            raise FramingError(f"an event of {header.len_event} bytes, which is more than a server can send")
        self._in_next_packets = self._prefix + header.len_event
        self._begin_part(length)
        self._left -= self._prefix
        self._wire.begin_packet()
        self._wire.begin += self._prefix
        if self._prefix == _SEMI_SYNC and head[self._prefix - 1] & _ACK:
            self.ack_wanted = True

    def _begin_part(self, length: int) -> None:
        """Start with a packet of an event, which has as much of the event as fits."""
        needed = min(self._in_next_packets, CONTINUED)
        if length != needed:
            raise FramingError(f"a packet has {length} bytes, and the event in it needs {needed}")
        self._in_next_packets -= length
        self._left, self._is_continued = length, length == CONTINUED

    def sent_acknowledgement(self) -> None:
        """A packet was sent in between, from whose number the server continues."""
        self.ack_wanted = False
        self._wire.sequence = 1

    # -- events of the server that are in no log

    def _is_artificial(self, header: Header) -> bool:
        kind = header.type_code
        if kind == EventType.format_description_event:
            return self.position != len(MAGIC)
        if kind == EventType.start_encryption_event:
            # MariaDB repeats it after the format description that it sends.
            return bool(self.description) and not header.next_position
        return kind in _HEARTBEATS or bool(header.flags & _IS_ARTIFICIAL)

    def _read_artificial(self, header: Header, raw: bytes) -> None:
        is_idle = self._waits and self.log_name and header.type_code in _HEARTBEATS
        self._artificial += not is_idle
        if self._artificial > _MOST_ARTIFICIAL:
            reason = f"the server has sent {self._artificial} events of its own in a row, and none of a log"
            raise ServerError(reason)
        if header.type_code == EventType.format_description_event:
            self.description = raw
        elif header.type_code == EventType.rotate_event:
            # Whether it has a checksum depends on the preceding log, or on a variable.
            is_checksummed = stored_checksum(raw) == crc32_of(raw, header)
            layout = Format.before_description(is_checksummed=is_checksummed)
            try:
                body = cast("RotateEvent", parse_event(raw, header.type_code, layout).body.content)
            except BinlogError as error:
                raise ServerError(f"the server's ROTATE_EVENT cannot be read: {error}") from error
            self.next_name, self._next_position = checked_name(body.next_log), body.position or 0
            if self.log_name and (self.position <= len(MAGIC) or self.next_name == self.log_name):
                reason = f"the server continues {self.log_name} at {self.position} with {self.next_name}"
                raise ServerError(f"{reason}, which no server does")
            self.state = StreamState.NEXT_LOG

    def _end_of_stream(self, payload: bytes) -> None:
        body = parse_packet(payload).body
        if isinstance(body, StreamPacket.Error):
            error = refusal(body.error_code, body.message)
            if error.cause != TORN:
                raise error
            # Not raised, so that readers return the events that they have buffered.
            self.error, self.state = error, StreamState.TORN
            return
        self.state = StreamState.ENDED


def checked_name(name: str) -> str:
    """The name of a log from a server, validated as a file name.

    Raises `ServerError`: it would be outside the archive, or is not a log name.
    """
    stem, dot, number = name.rpartition(".")
    if not (stem and dot and number.isascii() and number.isdigit()) or stem[0] in ".-":
        raise ServerError(f"the server names a log {name!r}, which is not the name of a binary log")
    if any(separator in name for separator in "/\\") or not name.isprintable():
        raise ServerError(f"the server names a log {name!r}, which is not the name of a file")
    return name


#: Size of the buffer in bytes. Only events may be longer.
BUFFER = 4 << 20

#: With fewer bytes received, wait this long for more, in seconds.
_SMALL_BURST, _PATIENCE = 3 << 20, 0.002

#: Seconds within which a burst is returned, even if single bytes keep arriving.
_LONGEST_BURST = 1.0

#: Slowest rate of a packet, in bytes per second, and by how many timeouts it may fall behind.
_SLOWEST, _TIMEOUTS = 4096, 10

#: Needs no descriptor of its own, which would have to be closed.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class Wire:
    """The receiving side of a connection.

    `timeout`: seconds without a byte after which the connection is considered lost.
    `is_eager`: return as soon as bytes are available.

    `buffer`, `view`: the bytes received, as a uint8 array and as a memoryview.
    `begin`, `end`: offsets in it: of the next packet, and after the last byte.
    `sequence`: expected number of the next packet.
    """

    def __init__(self, connection: socket.socket, timeout: float, *, is_eager: bool = False) -> None:
        self._socket = connection
        self._timeout = timeout
        self._patience = 0.0 if is_eager else _PATIENCE
        self._poll = _Selector()
        self._poll.register(connection, selectors.EVENT_READ)
        self._heard = time.monotonic()
        self._waited = 0.0  # seconds by which the current packet is later than at the slowest rate
        self.buffer = np.empty(BUFFER, dtype=np.uint8)
        self.view = view_of(self.buffer)
        self.begin = self.end = 0
        self.sequence = 1  # the command had 0

    def close(self) -> None:
        """Release the buffer, because an error may keep a reference to this object."""
        self.view = memoryview(b"")
        self.buffer = np.empty(0, dtype=np.uint8)
        self.begin = self.end = 0

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until bytes are available; False if none arrive in time.

        Raises `ConnectionLostError`: nothing has arrived within the timeout, not even a heartbeat.
        """
        left = max(0.0, self._heard + self._timeout - time.monotonic())
        patience = left if seconds is None else min(seconds, left)
        if self.begin < self.end or self.is_ready(patience):
            return True
        if patience == left:
            raise ConnectionLostError(f"no data from the server for {self._timeout:g} s")
        return False

    def has_packet(self) -> bool:
        """Whether the next packet is in the buffer to its end."""
        have = self.end - self.begin
        return have >= PACKET_HEADER and have >= PACKET_HEADER + self.length()

    def length(self) -> int:
        """Payload length of the next packet, whose header has been received."""
        return int.from_bytes(self.view[self.begin : self.begin + SEQUENCE_AT], "little")

    def check_sequence(self) -> None:
        """Reject the next packet if one is missing before it."""
        number = int(self.buffer[self.begin + SEQUENCE_AT])
        if number != self.sequence and number:  # MariaDB numbers an error at its shutdown 0
            reason = f"expected packet {self.sequence}, received packet {number}"
            raise ConnectionLostError(reason)

    def begin_packet(self) -> int:
        """Consume the header of a packet; returns the length of its payload."""
        self.check_sequence()
        length = self.length()
        self.begin += PACKET_HEADER
        self._waited = 0.0
        self.sequence = (self.sequence + 1) % 256
        return length

    def whole_packet(self) -> bytes:
        """The payload of the next packet, which is not a long event."""
        length = self.length()
        if PACKET_HEADER + length > BUFFER:
            raise FramingError(f"a packet of {length} bytes that is not an event")
        self.need(PACKET_HEADER + length)
        self.begin_packet()
        self.begin += length
        return bytes(self.view[self.begin - length : self.begin])

    def need(self, size: int) -> None:
        """Receive until the buffer has `size` bytes."""
        while self.end - self.begin < size:
            self.receive()

    def receive(self) -> None:
        """Receive more bytes into the buffer."""
        if self.begin == self.end:
            self.begin = self.end = 0
        elif self.end == len(self.buffer) or self.begin > len(self.buffer) // 2:
            have = self.end - self.begin
            self.buffer[:have] = self.buffer[self.begin : self.end].copy()
            self.begin, self.end = 0, have
        began, before = time.monotonic(), self.end
        self._receive_some(len(self.buffer))
        # TLS returns 16 KiB at a time, and each further step costs as much as receiving a megabyte.
        limit = min(self.begin + _SMALL_BURST, len(self.buffer))
        timeout = self._socket.gettimeout()
        self._socket.settimeout(self._patience)
        try:
            while self.end < limit and time.monotonic() - began < _LONGEST_BURST:
                self._receive_some(limit)
        except ConnectionLostError:
            pass  # received bytes take precedence
        finally:
            self._socket.settimeout(timeout)
        self._check_rate(self.end - before, began)

    def _receive_some(self, limit: int) -> None:
        """Receive bytes into the buffer, up to an offset."""
        try:
            count = self._socket.recv_into(self.view[self.end : limit])
        except OSError as error:  # includes timeouts
            raise broken(error) from error
        if not count:
            raise ConnectionLostError("the server closed the connection")
        self.end += count
        self._heard = time.monotonic()

    def _check_rate(self, count: int, began: float) -> None:
        """Reject a packet of which too little arrives."""
        longest = _TIMEOUTS * self._timeout
        self._waited = max(0.0, self._waited + time.monotonic() - began - count / _SLOWEST)
        if self._waited > longest:
            raise ConnectionLostError(f"the server sends less than {_SLOWEST} bytes/s for {longest:g} s")

    def advance(self, begin: int, sequence: int) -> None:
        """Continue after packets that were taken out of the buffer."""
        if sequence != self.sequence:
            self._waited = 0.0
        self.begin, self.sequence = begin, sequence

    def is_idle(self) -> bool:
        """Whether the buffer is empty and no bytes are available."""
        return self.begin == self.end and not self.is_ready(0)

    def is_ready(self, seconds: float) -> bool:
        """Whether bytes are available, or arrive within some seconds."""
        is_pending = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()
        return bool(is_pending or self._poll.select(seconds))
