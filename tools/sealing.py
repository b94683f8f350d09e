"""Encrypts logs as the servers do, for tests and measurements, without the package's own code."""

from __future__ import annotations

import struct
from hashlib import sha512
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

_HEADER_SIZE, _BLOCK = 512, 16


def mysql_header(key_id: str, key: bytes, password: bytes, vector: bytes) -> bytes:
    """The header of a log that a MySQL server encrypts with `binlog_encryption`."""
    sealed = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor().update(password)
    name = key_id.encode()
    header = b"\xfdbin\x01\x01" + bytes([len(name)]) + name + b"\x02" + sealed + b"\x03" + vector
    return header.ljust(_HEADER_SIZE, b"\0")


def mysql_cipher(password: bytes) -> Any:
    """What encrypts the bytes after that header, in order."""
    made = sha512(password).digest()
    return Cipher(algorithms.AES(made[:32]), modes.CTR(made[32:40] + bytes(8))).encryptor()


class EventSealer:
    """Encrypts events as MariaDB does with `encrypt_binlog`, or as Percona Server 5.7 does."""

    def __init__(self, key: bytes, nonce: bytes, *, is_percona: bool = False) -> None:
        self._aes, self._nonce, self._is_percona = algorithms.AES(key), nonce, is_percona
        self._block = Cipher(self._aes, modes.ECB()).encryptor()

    def __call__(self, event: bytes, position: int) -> bytes:
        """The event at an offset of its log, encrypted."""
        vector = self._nonce + struct.pack("<I", position & 0xFFFFFFFF)
        if self._is_percona:
            vector = self._block.update(vector)
        moved = event[4:9] + event[:4] + event[13:]
        count = len(moved) // _BLOCK * _BLOCK
        rest = len(moved) - count
        sealed = Cipher(self._aes, modes.CBC(vector)).encryptor().update(moved[:count])
        mask = int.from_bytes(self._block.update(vector)[:rest], "little")
        sealed += (int.from_bytes(moved[count:], "little") ^ mask).to_bytes(rest, "little")
        return sealed[5:9] + sealed[:5] + event[9:13] + sealed[9:]
