"""AES in the modes that the servers use, from the package `cryptography`, which is imported when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from binlog_kaitai.errors import EncryptedError
from binlog_kaitai.kernels.arrays import Array, Bytes, view_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
    from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR, ECB

#: Lengths of AES keys, in bytes.
KEY_LENGTHS = (16, 24, 32)

#: Size of a block in bytes.
BLOCK = 16


def _cipher(key: bytes, mode: str, *arguments: bytes) -> Cipher[CBC | CTR | ECB]:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise EncryptedError(
            "decrypting needs the package cryptography: pip install 'binlog-kaitai[encryption]'"
        ) from None
    return Cipher(algorithms.AES(key), getattr(modes, mode)(*arguments))


def counter_decryptor(key: bytes, counter_block: bytes) -> CipherContext:
    """Counter mode, starting from a counter block; `update` returns the next bytes."""
    return _cipher(key, "CTR", counter_block).decryptor()


def decrypt_chain(key: bytes, vector: bytes, data: bytes | memoryview) -> bytes:
    """Complete blocks in CBC mode, without padding."""
    return bytes(_cipher(key, "CBC", vector).decryptor().update(data))


def block_ciphers(key: bytes) -> tuple[CipherContext, CipherContext]:
    """Decrypt and encrypt single blocks (ECB)."""
    cipher = _cipher(key, "ECB")
    return cipher.decryptor(), cipher.encryptor()


def updated(cipher: CipherContext, data: Array) -> Bytes:
    """What a cipher makes of the bytes of a contiguous array of any shape, which must be whole blocks."""
    blocks = data.reshape(-1)
    result = np.empty(len(blocks) + BLOCK - 1, dtype=np.uint8)  # it asks for the spare bytes
    cipher.update_into(view_of(blocks), view_of(result))
    return result[: len(blocks)]


def bytes_to_key(digest: str, secret: bytes, salt: bytes, size: int) -> bytes:
    """OpenSSL's EVP_BytesToKey with one round."""
    from hashlib import new as new_hash

    derived = last = b""
    while len(derived) < size:
        last = new_hash(digest, last + secret + salt, usedforsecurity=False).digest()
        derived += last
    return derived[:size]
