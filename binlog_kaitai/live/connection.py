"""PyMySQL's connection, with limits on what a server may send and ask for.

PyMySQL trusts its server: it reads answers of any length for any time, and sends the password by any method
that the server names.

An authentication method is safe over any connection if it answers a scramble of the server with a hash or a
signature. All others send the password itself: in clear text over TLS or a Unix socket, or encrypted with the
server's RSA key. Anybody can send a key, so it must come from a file unless the user trusts the one that the
server sends.
"""

from __future__ import annotations

import os
import socket
import time
from hashlib import pbkdf2_hmac
from io import BufferedReader
from typing import Any, Protocol

import pymysql.connections
from pymysql import MySQLError
from pymysql.protocol import MysqlPacket

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError, UsageError
from binlog_kaitai.live.causes import broken

# -- authentication


def _needs_cryptography(what: str) -> str:
    return f"{what} needs the package cryptography: {pip_install('encryption')}"


_UNSAFE = (
    "the server asks for the password itself ({}) over a connection without TLS. Use ssl-mode=REQUIRED; or "
    "server-public-key-path=FILE; or get-server-public-key=1 to trust the key that the server sends"
)

#: Methods that are safe over any connection; the last two by `Connection.server_public_key`.
_SAFE = ("mysql_native_password", "client_ed25519", "parsec", "caching_sha2_password", "sha256_password")

#: Methods that send the password in clear text whenever the server asks for it.
_CLEAR = ("mysql_clear_password", "dialog")

#: First byte of the packets in which a server sends more data during a login.
_MORE_DATA = b"\x01"


class _Packet(Protocol):
    """What methods need of PyMySQL's packets, whose type stubs say too little."""

    def read_all(self) -> bytes: ...
    def get_all_data(self) -> bytes: ...


#: Sizes of parsec's messages in bytes.
_SCRAMBLE, _SALT, _KEY = 32, 18, 32

#: Iterations at level 0; each level doubles them. At the highest level accepted they take about a second.
_ITERATIONS, _MOST_LEVELS = 1024, 10


class Parsec:
    """MariaDB's `parsec`, which PyMySQL does not have.

    The server sends a scramble, random bytes. To an empty packet it answers with the extended salt of the
    user: the letter P, the logarithm of the number of iterations, and the salt. From the password, PBKDF2
    derives a key that signs (Ed25519) the server's scramble and one of the client's.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def authenticate(self, packet: _Packet) -> _Packet:
        """Log in; returns the server's last packet.

        `packet`: the request to use the method, read up to the scramble.
        """
        scramble = packet.read_all()[:_SCRAMBLE]
        self._connection.write_packet(b"")
        salt = self._connection._read_packet().get_all_data().removeprefix(_MORE_DATA)
        own = os.urandom(_SCRAMBLE)
        self._connection.write_packet(own + signed(self._connection.password, salt, scramble + own))
        return self._connection._read_packet()


def signed(password: bytes, salt: bytes, message: bytes) -> bytes:
    """Parsec's signature of a message under the key of a password and an extended salt.

    Raises `ServerError`: the salt is not in parsec's format, or demands too many iterations; `UsageError`:
    the package `cryptography` is missing.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise UsageError(_needs_cryptography("the authentication method parsec")) from error
    if len(salt) != 2 + _SALT or salt[:1] != b"P" or salt[1] > _MOST_LEVELS:
        raise ServerError(f"the server sent an extended salt for parsec that is not supported: {salt.hex()}")
    key = pbkdf2_hmac("sha512", password, salt[2:], _ITERATIONS << salt[1], _KEY)
    return Ed25519PrivateKey.from_private_bytes(key).sign(message)


_ADDED: dict[str, Any] = {"parsec": Parsec}


# -- the connection

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

    Raises `ServerError`: the server asks for the password in a way that is not safe, or sends too much;
    `Exception`: whatever PyMySQL raises for an answer that is malformed.

    `gets_public_key`: trust the RSA key that the server sends.
    `allows_clear_text`: send the password in clear text over TLS or a Unix socket, if the server asks for it.
    `read_timeout`: seconds without a byte after which the connection is considered lost.
    """

    # Attributes of PyMySQL that its type stubs lack.
    _auth_plugin_name: str
    _next_seq_id: int
    _secure: bool
    _sock: socket.socket
    _rfile: BufferedReader
    _result: pymysql.connections.MySQLResult | None = None

    def __init__(
        self,
        *,
        server_public_key: bytes | None = None,
        gets_public_key: bool,
        allows_clear_text: bool,
        read_timeout: float,
        **arguments: Any,
    ) -> None:
        self._gets_public_key = gets_public_key
        self._public_key = server_public_key
        self._allows_clear_text = allows_clear_text
        self._longest = _TIMEOUTS * read_timeout
        self._expect(MAX_ANSWER)
        super().__init__(read_timeout=read_timeout, auth_plugin_map=_ADDED, **arguments)

    @property
    def server_public_key(self) -> bytes | None:
        """The RSA key with which PyMySQL encrypts the password where nothing else does.

        PyMySQL sets it to the one that the server sends, which is ignored if there is one from a file.

        Raises `ServerError`: there is none, and the server's is not trusted.
        """
        return self._public_key

    @server_public_key.setter
    def server_public_key(self, key: bytes | None) -> None:
        if self._public_key or key is None:
            return
        if not self._gets_public_key:
            raise ServerError(_UNSAFE.format(self._auth_plugin_name))
        self._public_key = key

    # -- PyMySQL's methods

    def _request_authentication(self) -> None:
        try:
            self._base._request_authentication()
        except (MySQLError, BinlogError, OSError):
            raise
        except Exception as error:
            if self._secure or self._public_key is None:
                raise
            name = self._auth_plugin_name
            if isinstance(error, RuntimeError):
                raise UsageError(f"without TLS, {_needs_cryptography(name)}") from error
            raise ServerError(f"{name}: the server's public key cannot be used: {error}") from error

    def _process_auth(self, plugin_name: bytes, auth_packet: _Packet, handler: object = None) -> _Packet:
        name = self._auth_plugin_name = plugin_name.decode("utf-8", "backslashreplace")
        if name not in (*_SAFE, *_CLEAR):
            reason = f"the server asks for the authentication method {name}, which is not supported"
            raise ServerError(reason)
        reason = f"the server asks for the password in clear text ({name})"
        if name in _CLEAR and not self._secure:
            raise ServerError(f"{reason} over a connection without TLS; use ssl-mode=REQUIRED")
        if name in _CLEAR and not self._allows_clear_text:
            raise ServerError(f"{reason}; if it may have it, use enable-cleartext-plugin=1")
        packet: _Packet = self._base._process_auth(plugin_name, auth_packet, handler)
        return packet

    def _execute_command(self, command: int, sql: str | bytes) -> None:
        self._expect(MAX_ANSWER)
        self._base._execute_command(command, sql)

    def _read_query_result(self, unbuffered: bool = False) -> int:
        try:
            rows: int = self._base._read_query_result(unbuffered)
        except RuntimeError as error:
            if "LOAD_LOCAL" not in str(error):
                raise
            raise ServerError("the server asks for a local file (LOAD DATA LOCAL); refused") from error
        return rows

    def _read_packet(self, packet_type: type[MysqlPacket] = MysqlPacket) -> _Packet:
        if self._result is not None and self._result.unbuffered_active:
            self._expect(MAX_ROW)
        self._left -= PACKET_COST
        packet: _Packet = self._base._read_packet(packet_type)
        return packet

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
        try:
            if size < _BUFFERED:
                self._rfile.peek(1)
            part = self._rfile.read1(size)
        except OSError as error:  # includes timeouts
            self._force_close()
            raise broken(error) from error
        if not part:
            self._force_close()
            raise ConnectionLostError("the server closed the connection")
        if time.monotonic() > self._deadline:
            self._force_close()
            raise ConnectionLostError(f"the server's answer is not complete after {self._longest:g} s")
        return part
