"""AES in the modes that the servers use, from the package `cryptography`, which is imported when needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.errors import EncryptedError
from binlog_kaitai.kernels.arrays import Array, Bytes

#: Lengths of AES keys, in bytes.
KEY_LENGTHS = (16, 24, 32)

#: Size of a block in bytes.
BLOCK = 16


def _cipher(key: bytes, mode: str, *arguments: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise EncryptedError(
            "decrypting needs the package cryptography: pip install 'binlog-kaitai[encryption]'"
        ) from None
    return Cipher(algorithms.AES(key), getattr(modes, mode)(*arguments))


def counter_decryptor(key: bytes, counter_block: bytes) -> Any:
    """Counter mode, starting from a counter block; `update` returns the next bytes."""
    return _cipher(key, "CTR", counter_block).decryptor()


def decrypt_chain(key: bytes, vector: bytes, data: bytes | memoryview) -> bytes:
    """Complete blocks in CBC mode, without padding."""
    return bytes(_cipher(key, "CBC", vector).decryptor().update(data))


class Blocks:
    """Single blocks under one key (ECB), many at a time, as arrays of bytes (uint8)."""

    def __init__(self, key: bytes) -> None:
        self._decryptor = _cipher(key, "ECB").decryptor()
        self._encryptor = _cipher(key, "ECB").encryptor()

    def decrypt(self, data: Array) -> Bytes:
        return _updated(self._decryptor, data)

    def encrypt(self, data: Array) -> Bytes:
        return _updated(self._encryptor, data)


def _updated(cipher: Any, data: Array) -> Bytes:
    """What a cipher makes of the bytes of a contiguous array of any shape, which must be whole blocks."""
    given = data.reshape(-1)
    made = np.empty(len(given) + BLOCK - 1, dtype=np.uint8)  # it asks for the spare bytes
    cipher.update_into(given, made)
    return made[: len(given)]


def bytes_to_key(digest: str, secret: bytes, salt: bytes, size: int) -> bytes:
    """OpenSSL's EVP_BytesToKey with one round."""
    from hashlib import new as new_hash

    made = last = b""
    while len(made) < size:
        last = new_hash(digest, last + secret + salt, usedforsecurity=False).digest()
        made += last
    return made[:size]


def stretched_key(digest: str, secret: bytes, salt: bytes, rounds: int, size: int) -> bytes:
    """PBKDF2 with HMAC of a digest."""
    from hashlib import pbkdf2_hmac

    return pbkdf2_hmac(digest, secret, salt, rounds, size)
