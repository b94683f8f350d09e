"""The receive buffer of a connection, and the packets in it."""

from __future__ import annotations

import select
import ssl
import time
from contextlib import suppress
from typing import Any

import numpy as np

from binlog_kaitai.errors import ConnectionLostError, FramingError
from binlog_kaitai.live.packet_kernels import PACKET_HEADER, SEQUENCE_AT

#: Size of the buffer in bytes. Longer packets are received directly by the caller's buffer.
BUFFER = 4 << 20

#: With fewer bytes received, wait this long for more, in seconds.
_SMALL_BURST, _PATIENCE = 3 << 20, 0.002

#: Seconds within which a burst is returned, even if single bytes keep arriving.
_LONGEST_BURST = 1.0

#: Slowest rate of a packet, in bytes per second, and by how many timeouts it may fall behind.
_SLOWEST, _TIMEOUTS = 4096, 10

_CLOSED = "the server closed the connection"


class Wire:
    """The receiving side of a connection.

    Parameters
    ----------
    timeout
        Seconds without a byte after which the connection is considered lost.
    is_eager
        Return as soon as bytes are available.

    Attributes
    ----------
    buffer, view
        The bytes received, as a uint8 array and as a memoryview.
    at, end : int
        Offsets in it: of the next packet, and after the last byte.
    sequence : int
        Expected number of the next packet.
    """

    def __init__(self, socket: Any, timeout: float, *, is_eager: bool = False) -> None:
        self._socket = socket
        self._timeout = timeout
        self._patience = 0.0 if is_eager else _PATIENCE
        self._poll = select.poll()
        self._poll.register(socket, select.POLLIN)
        self._heard = time.monotonic()
        self._waited = 0.0  # seconds by which the current packet is later than at the slowest rate
        buffer: Any = np.empty(BUFFER, dtype=np.uint8)
        self.buffer = buffer
        self.view = memoryview(buffer)
        self.at = self.end = 0
        self.sequence = 1  # the command had 0

    def close(self) -> None:
        """Release the buffer, because an error may keep a reference to this object."""
        self.view = memoryview(b"")
        self.buffer = np.empty(0, dtype=np.uint8)
        self.at = self.end = 0

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until bytes are available; False if none arrive in time.

        Raises
        ------
        ConnectionLostError
            Nothing has arrived within the timeout, not even a heartbeat.
        """
        left = max(0.0, self._heard + self._timeout - time.monotonic())
        patience = left if seconds is None else min(seconds, left)
        if self.at < self.end or self.is_ready(patience):
            return True
        if patience == left:
            raise ConnectionLostError(f"no data from the server for {self._timeout:g} s")
        return False

    def length(self) -> int:
        """Payload length of the next packet, whose header has been received."""
        return int.from_bytes(self.view[self.at : self.at + SEQUENCE_AT], "little")

    def check_sequence(self) -> None:
        """Reject the next packet if one is missing before it."""
        found = int(self.buffer[self.at + SEQUENCE_AT])
        if found != self.sequence and found:  # MariaDB numbers an error at its shutdown 0
            reason = f"expected packet {self.sequence}, received packet {found}"
            raise ConnectionLostError(reason)

    def begin_packet(self) -> int:
        """Consume the header of a packet; returns the length of its payload."""
        self.check_sequence()
        length = self.length()
        self.at += PACKET_HEADER
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
        self.at += length
        return bytes(self.view[self.at - length : self.at])

    def need(self, size: int) -> None:
        """Receive until the buffer has `size` bytes."""
        while self.end - self.at < size:
            self.receive()

    def receive(self) -> None:
        """Receive more bytes into the buffer."""
        if self.at == self.end:
            self.at = self.end = 0
            self._waited = 0.0
        elif self.end == len(self.buffer) or self.at > len(self.buffer) // 2:
            have = self.end - self.at
            self.buffer[:have] = self.buffer[self.at : self.end].copy()
            self.at, self.end = 0, have
        self.end += self.receive_into(self.view[self.end :])
        began, before = time.monotonic(), self.end
        # TLS returns 16 KiB at a time, and each further step costs as much as receiving a megabyte.
        with suppress(ConnectionLostError):  # received bytes take precedence
            while self._has_room() and self.is_ready(self._patience):
                self._receive_available()
                if time.monotonic() - began > _LONGEST_BURST:
                    break
        self._check_rate(self.end - before, began)

    def _check_rate(self, count: int, began: float) -> None:
        """Reject a packet of which too little arrives."""
        longest = _TIMEOUTS * self._timeout
        self._waited = max(0.0, self._waited + time.monotonic() - began - count / _SLOWEST)
        if self._waited > longest:
            raise ConnectionLostError(f"the server sends less than {_SLOWEST} bytes/s for {longest:g} s")

    def advance(self, place: int, sequence: int) -> None:
        """Continue after packets that were taken out of the buffer."""
        if place != self.at:
            self._waited = 0.0
        self.at, self.sequence = place, sequence

    def _has_room(self) -> bool:
        return self.end - self.at < _SMALL_BURST and self.end < len(self.buffer)

    def _receive_available(self) -> None:
        """Receive what is there, without asking before each of TLS's 16 KiB whether more is."""
        begin, end, limit = self.end, self.end, min(self.at + _SMALL_BURST, len(self.buffer))
        view, timeout = self.view, self._socket.gettimeout()
        # Of SSLSocket's functions, this one does the least for each of TLS's records.
        read: Any = self._socket.read if isinstance(self._socket, ssl.SSLSocket) else None
        self._socket.settimeout(0)
        try:
            while end < limit:
                room = view[end:]
                count = self._socket.recv_into(room) if read is None else read(len(room), room)
                if not count:
                    raise ConnectionLostError(_CLOSED)
                end += count
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except OSError as error:
            raise _broken(error) from error
        finally:
            self.end = end
            if end > begin:
                self._heard = time.monotonic()
            self._socket.settimeout(timeout)

    def receive_into(self, view: memoryview) -> int:
        """Receive bytes from the socket directly into a buffer."""
        began = time.monotonic()
        try:
            count = int(self._socket.recv_into(view))
        except OSError as error:  # includes timeouts
            raise _broken(error) from error
        if not count:
            raise ConnectionLostError(_CLOSED)
        self._heard = time.monotonic()
        self._check_rate(count, began)
        return count

    def is_idle(self) -> bool:
        """Whether the buffer is empty and no bytes are available."""
        return self.at == self.end and not self.is_ready(0)

    def is_ready(self, seconds: float) -> bool:
        """Whether bytes are available, or arrive within some seconds."""
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        deadline = time.monotonic() + seconds
        while True:
            if self._poll.poll(max(0.0, 1000 * (deadline - time.monotonic()))):
                return True
            if time.monotonic() >= deadline:
                return False


def _broken(error: OSError) -> ConnectionLostError:
    return ConnectionLostError(f"the connection broke: {error.strerror or error}")
