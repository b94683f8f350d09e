"""The authentication methods that a server may choose, and the connections over which they are safe.

A method is safe over any connection if it answers a scramble of the server with a hash or a signature. All
others send the password itself: in clear text over TLS or a Unix socket, or encrypted with the server's RSA
key. Anybody can send a key, so it must come from a file unless the user trusts the one that the server sends.
"""

from __future__ import annotations

from typing import Any

from pymysql import _auth

from binlog_kaitai.errors import ServerError, UsageError
from binlog_kaitai.live.parsec import MORE_DATA, Parsec

_NEEDED = "without TLS, {} needs the package cryptography: pip install 'binlog-kaitai[encryption]'"

_UNSAFE = (
    "the server asks for the password itself ({}) over a connection without TLS. Use ssl-mode=REQUIRED; or "
    "server-public-key-path=FILE; or get-server-public-key=1 to trust the key that the server sends"
)

#: Methods that PyMySQL implements and that are safe over any connection.
_SAFE = ("mysql_native_password", "client_ed25519")

#: Methods that send the password in clear text whenever the server asks for it.
_CLEAR = ("mysql_clear_password", "dialog")

_SALT_END = b"\0"


class _Sha2:
    """A method that sends the password itself, for PyMySQL's parameter `auth_plugin_map`.

    Parameters
    ----------
    connection
        The connection of PyMySQL that logs in.
    """

    name: str
    #: Asks the server for its RSA key.
    key_request: bytes

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def _take_salt(self, packet: Any) -> None:
        self._connection.salt = packet.read_all().removesuffix(_SALT_END)

    def _exchange(self, data: bytes) -> Any:
        self._connection.write_packet(data)
        return self._connection._read_packet()

    def _send_password(self, key: bytes = b"") -> Any:
        """Send the password, in clear text only over a secure connection; returns the server's answer.

        Parameters
        ----------
        key
            The RSA key, if the server has sent it unasked.
        """
        connection = self._connection
        if connection.is_secure or not connection.password:
            return self._exchange(connection.password + b"\0")
        if connection.server_public_key:
            key = connection.server_public_key
        elif not connection.gets_public_key:
            raise ServerError(_UNSAFE.format(self.name))
        elif not key:
            key = self._exchange(self.key_request).get_all_data().removeprefix(MORE_DATA)
        return self._exchange(self._encrypted(key))

    def _encrypted(self, key: bytes) -> bytes:
        try:
            data: bytes = _auth.sha2_rsa_encrypt(self._connection.password, self._connection.salt, key)
        except RuntimeError as error:
            raise UsageError(_NEEDED.format(self.name)) from error
        except Exception as error:
            raise ServerError(f"{self.name}: the server's public key cannot be used: {error}") from error
        return data


class CachingSha2(_Sha2):
    """`caching_sha2_password`: a hash, and the password itself if the server has not cached it."""

    name, key_request = "caching_sha2_password", b"\2"
    _IS_CACHED, _IS_NOT_CACHED = MORE_DATA + b"\3", MORE_DATA + b"\4"

    def authenticate(self, packet: Any) -> Any:
        """Log in; returns the server's last packet.

        Raises
        ------
        ServerError
            The password would have to be sent over a connection that is not secure, or the server asks for
            something else.
        """
        if packet.is_auth_switch_request():
            self._take_salt(packet)
            connection = self._connection
            packet = self._exchange(_auth.scramble_caching_sha2(connection.password, connection.salt))
        match packet.get_all_data():
            case self._IS_CACHED:
                return self._connection._read_packet()
            case self._IS_NOT_CACHED:
                return self._send_password()
        if packet.is_ok_packet():
            return packet
        raise ServerError(f"{self.name}: the server sent {packet.get_all_data()[:16]!r}")


class Sha256(_Sha2):
    """`sha256_password`: always the password itself."""

    name, key_request = "sha256_password", b"\1"

    def authenticate(self, packet: Any) -> Any:
        """Log in; returns the server's last packet.

        Raises
        ------
        ServerError
            The password would have to be sent over a connection that is not secure.
        """
        if packet.is_auth_switch_request():
            self._take_salt(packet)
            return self._send_password()
        # PyMySQL asks for the key before the server names the method.
        return self._send_password(packet.get_all_data().removeprefix(MORE_DATA))


METHODS: dict[str, Any] = {"caching_sha2_password": CachingSha2, "sha256_password": Sha256, "parsec": Parsec}


def check_method(name: str, *, is_secure: bool, allows_clear_text: bool) -> None:
    """Reject an authentication method that is unknown, or not safe over a connection.

    Raises
    ------
    ServerError
        It is.
    """
    if name in METHODS or name in _SAFE:
        return
    if name not in _CLEAR:
        raise ServerError(f"the server asks for the authentication method {name}, which is not supported")
    reason = f"the server asks for the password in clear text ({name})"
    if not is_secure:
        raise ServerError(f"{reason} over a connection without TLS; use ssl-mode=REQUIRED")
    if not allows_clear_text:
        raise ServerError(f"{reason}; if it may have it, use enable-cleartext-plugin=1")
