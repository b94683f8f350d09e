"""PyMySQL's connection, with limits on what a server may send and ask for.

PyMySQL trusts its server: it reads answers of any length for any time, and sends the password by any method
that the server names.
"""

from __future__ import annotations

import time
from typing import Any

import pymysql.connections
from pymysql.protocol import MysqlPacket

from binlog_kaitai.errors import ConnectionLostError, ServerError
from binlog_kaitai.live.login import METHODS, check_method

#: Limits of an answer, and of a row of a streamed one, in bytes; no max_allowed_packet allows longer rows.
MAX_ANSWER, MAX_ROW = 256 << 20, 1 << 30

#: What a packet takes in memory besides its bytes.
PACKET_COST = 256

#: An answer, or a row of a streamed one, may take so many times the timeout of a single read.
_TIMEOUTS = 10

#: Shorter reads go through the buffer of the socket.
_BUFFERED = 8192


class Connection(pymysql.connections.Connection):
    """A connection that has logged in.

    Parameters
    ----------
    gets_public_key
        Trust the RSA key that the server sends.
    allows_clear_text
        Send the password in clear text over TLS or a Unix socket, if the server asks for it.
    read_timeout
        Seconds without a byte after which the connection is considered lost.

    Raises
    ------
    ServerError
        The server asks for the password in a way that is not safe, or sends too much.
    Exception
        Whatever PyMySQL raises for an answer that is malformed.
    """

    _result: Any = None

    def __init__(
        self, *, gets_public_key: bool, allows_clear_text: bool, read_timeout: float, **arguments: Any
    ) -> None:
        self.gets_public_key = gets_public_key
        self._allows_clear_text = allows_clear_text
        self._longest = _TIMEOUTS * read_timeout
        self._expect(MAX_ANSWER)
        super().__init__(read_timeout=read_timeout, auth_plugin_map=METHODS, **arguments)

    @property
    def is_secure(self) -> bool:
        """Whether nobody else can read what is sent: over TLS, or a Unix socket."""
        return bool(self._secure)  # type: ignore[attr-defined]

    # -- PyMySQL's methods

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        name = plugin_name.decode("utf-8", "backslashreplace")
        check_method(name, is_secure=self.is_secure, allows_clear_text=self._allows_clear_text)
        return self._base._process_auth(plugin_name, auth_packet, handler)

    def _execute_command(self, command: int, sql: str | bytes) -> None:
        self._expect(MAX_ANSWER)
        self._base._execute_command(command, sql)

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        try:
            return self._base._read_query_result(unbuffered)
        except RuntimeError as error:
            if "LOAD_LOCAL" not in str(error):
                raise
            raise ServerError("the server asks for a local file (LOAD DATA LOCAL); refused") from error

    def _read_packet(self, packet_type: Any = MysqlPacket) -> Any:
        if self._result is not None and self._result.unbuffered_active:
            self._expect(MAX_ROW)
        self._left -= PACKET_COST
        return self._base._read_packet(packet_type)

    def _read_bytes(self, num_bytes: int) -> bytes:
        self._left -= num_bytes
        if self._left < 0:
            self._force_close()
            raise ServerError("the server's answer is too long")
        parts: list[bytes] = []
        while num_bytes:
            parts.append(self._receive(num_bytes))
            num_bytes -= len(parts[-1])
        return b"".join(parts)

    def _force_close(self) -> None:
        if self._result is not None:
            self._result.unbuffered_active = False  # otherwise PyMySQL would read the rest
        self._base._force_close()

    # -- limits

    @property
    def _base(self) -> Any:
        """The methods of PyMySQL that its type stubs lack."""
        return super()

    def _expect(self, size: int) -> None:
        """Begin an answer, or a row of one, of limited size and duration."""
        self._left = size
        self._deadline = time.monotonic() + self._longest

    def _receive(self, size: int) -> bytes:
        """Some bytes of an answer, at most as many as given."""
        file: Any = self._rfile  # type: ignore[attr-defined]
        try:
            if size < _BUFFERED:
                file.peek(1)
            part: bytes = file.read1(size)
        except OSError as error:  # includes timeouts
            self._force_close()
            raise ConnectionLostError(f"the connection broke: {error.strerror or error}") from error
        if not part:
            self._force_close()
            raise ConnectionLostError("the server closed the connection")
        if time.monotonic() > self._deadline:
            self._force_close()
            raise ConnectionLostError(f"the server's answer is not complete after {self._longest:g} s")
        return part
