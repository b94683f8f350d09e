"""MariaDB's authentication method parsec, without a server: `tests/servers/test_login.py` has one."""

from __future__ import annotations

import sys
from base64 import b64decode
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pymysql.protocol import MysqlPacket

from binlog_kaitai.errors import ServerError, UsageError
from binlog_kaitai.live.connection import Parsec, signed

#: What MariaDB 11.8 stored for a password: the salt, and the public key.
PASSWORD = "sécret".encode()
SALT = b"P\0" + b64decode("gKOZoA9+hkTdDKCqbt9pX8eV")
KEY = Ed25519PublicKey.from_public_bytes(b64decode("xD8zv14OKDjT2Q7ehBakaT/imTFkJxV/M02YDtgCPaw="))


class FakeConnection:
    """Answers a login as a server does, and keeps what it was sent."""

    def __init__(self, *packets: bytes) -> None:
        self.password = PASSWORD
        self.sent: list[bytes] = []
        self._packets = list(packets)

    def write_packet(self, data: bytes) -> None:
        self.sent.append(data)

    def _read_packet(self) -> MysqlPacket:
        return MysqlPacket(self._packets.pop(0), "ascii")


def test_both_scrambles_are_signed() -> None:
    scramble = bytes(range(32))
    connection: Any = FakeConnection(b"\1" + SALT, b"ok")
    answer = Parsec(connection).authenticate(MysqlPacket(scramble + b"\0", "ascii"))
    assert answer.get_all_data() == b"ok"
    nothing, response = connection.sent
    assert (nothing, len(response)) == (b"", 32 + 64)
    KEY.verify(response[32:], scramble + response[:32])
    other: Any = FakeConnection(b"\1" + SALT, b"ok")
    Parsec(other).authenticate(MysqlPacket(scramble, "ascii"))
    assert other.sent[1][:32] != response[:32]


def test_another_password_has_another_key() -> None:
    with pytest.raises(InvalidSignature):
        KEY.verify(signed(b"secret", SALT, b"message"), b"message")


def test_each_level_doubles_the_iterations() -> None:
    signatures = {signed(PASSWORD, b"P" + bytes([level]) + SALT[2:], b"message") for level in range(3)}
    assert len(signatures) == 3


@pytest.mark.parametrize("salt", [b"", b"P\0", SALT[:-1], b"S" + SALT[1:], b"P\x0b" + SALT[2:]])
def test_an_extended_salt_that_would_take_forever_or_is_not_known(salt: bytes) -> None:
    with pytest.raises(ServerError, match=f"parsec.*: {salt.hex()}$"):
        signed(PASSWORD, salt, b"")


def test_the_package_cryptography_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(UsageError, match='pip install "cryptography>='):
        signed(PASSWORD, SALT, b"")
