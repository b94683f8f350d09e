"""MariaDB's authentication method `parsec`, as a plug-in of PyMySQL, which does not have it.

The server sends a scramble, random bytes. To an empty packet it answers with the extended salt of the user:
the letter P, the logarithm of the number of iterations, and the salt. From the password, PBKDF2 derives a key
that signs (Ed25519) the server's scramble and one of the client's. The password itself is never sent.
"""

from __future__ import annotations

import os
from hashlib import pbkdf2_hmac
from typing import Any

from binlog_kaitai.errors import ServerError, UsageError

_NEEDED = (
    "the authentication method parsec needs the package cryptography: pip install 'binlog-kaitai[encryption]'"
)

#: Sizes in bytes.
_SCRAMBLE, _SALT, _KEY = 32, 18, 32

#: First byte of the packets in which a server sends more data during a login.
MORE_DATA = b"\x01"

#: Iterations at level 0; each level doubles them. At the highest level accepted they take about a second.
_ITERATIONS, _MOST_LEVELS = 1024, 10


class Parsec:
    """The method, for PyMySQL's parameter `auth_plugin_map`.

    Parameters
    ----------
    connection
        The connection of PyMySQL that logs in.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def authenticate(self, packet: Any) -> Any:
        """Log in; returns the server's last packet.

        Parameters
        ----------
        packet
            The request to use the method, read up to the scramble.

        Raises
        ------
        ServerError
            The server asks for something else than parsec does.
        UsageError
            The package `cryptography` is missing.
        """
        scramble = packet.read_all()[:_SCRAMBLE]
        self._connection.write_packet(b"")
        salt = self._connection._read_packet().get_all_data().removeprefix(MORE_DATA)
        own = os.urandom(_SCRAMBLE)
        signature = signed(self._connection.password, salt, scramble + own)
        self._connection.write_packet(own + signature)
        return self._connection._read_packet()


def signed(password: bytes, salt: bytes, message: bytes) -> bytes:
    """The signature of a message under the key of a password and an extended salt.

    Raises
    ------
    ServerError
        The salt is not in parsec's format, or demands too many iterations.
    UsageError
        The package `cryptography` is missing.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise UsageError(_NEEDED) from error
    if len(salt) != 2 + _SALT or salt[:1] != b"P" or salt[1] > _MOST_LEVELS:
        raise ServerError(f"the server sent an extended salt for parsec that is not supported: {salt.hex()}")
    iterations = _ITERATIONS << salt[1]
    key = pbkdf2_hmac("sha512", password, salt[2:], iterations, _KEY)
    return Ed25519PrivateKey.from_private_bytes(key).sign(message)
