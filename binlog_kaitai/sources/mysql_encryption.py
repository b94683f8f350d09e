"""Decrypts logs encrypted by MySQL (binlog_encryption).

A header names the key. The rest is one stream in counter mode, so any part can be decrypted independently.
Offsets are those of the decrypted log, as on the server.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, cast

from binlog_kaitai.core.framing import MAGIC, holds_events, read_up_to
from binlog_kaitai.core.grammar import EncryptionHeader, detect_version, header_length, parse_structure, sizes
from binlog_kaitai.errors import BinlogError, EncryptedError, GrammarError
from binlog_kaitai.sources.ciphers import counter_decryptor, decrypt_chain
from binlog_kaitai.sources.keys import Keys, find_keys
from binlog_kaitai.sources.layer import LEAST_CHUNK, MOST_CHUNK, Layer, Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

HEADER_SIZE = sizes.EncryptionHeader.HEADER_LENGTH

#: Size of an AES block in bytes, and of the counter in it.
_BLOCK, _COUNTER = 16, 8

_FieldType = EncryptionHeader.FieldType

#: Number of bytes to decrypt when testing a key.
_START = 64 << 10


def decrypted(raw: BinaryIO, keys: Keys | None, start: bytes = b"") -> BinaryIO:
    """The plain log. Reading raises `EncryptedError` without the key, `GrammarError` of a damaged header.

    `raw`: the encrypted log, at its first byte, or after `start`.
    """
    header = read_up_to(raw, HEADER_SIZE - len(start), start)
    try:
        return _decrypted(raw, keys, header)
    except BinlogError as error:
        return cast(BinaryIO, Refused(raw, error, header))


def _decrypted(raw: BinaryIO, keys: Keys | None, header: bytes) -> BinaryIO:
    key_id, password, vector = _fields(header)
    candidates = find_keys(keys, key_id)
    if not candidates:
        raise EncryptedError(
            f"the log is encrypted with key {key_id!r}, which was not given: pass the server's keyring"
            " (--keyring FILE) or the key (--key ID=HEX)",
            position=0,
        )
    from hashlib import sha512

    peeked = read_up_to(raw, _START)
    for key in candidates:
        digest = sha512(decrypt_chain(key, vector, password)).digest()
        file_key, nonce = digest[:32], digest[32 : 32 + _BLOCK - _COUNTER]
        plain = counter_decryptor(file_key, nonce + bytes(_COUNTER)).update(peeked)
        if _is_log(plain):
            return cast(BinaryIO, CounterStream(raw, header, file_key, nonce, peeked))
    reason = (
        f"the log is encrypted, and the key given for {key_id!r} does not decrypt it: "
        "the key is wrong, or the header is damaged"
    )
    raise EncryptedError(reason, position=0)


def _fields(header: bytes) -> tuple[str, bytes, bytes]:
    """Key id, encrypted password, and its initialization vector."""
    try:
        if len(header) < HEADER_SIZE:
            raise GrammarError(f"the file ends inside the header of {HEADER_SIZE} bytes")
        fields = parse_structure(EncryptionHeader, header).fields
        values = {field.type: field.value for field in fields}
        key_id = cast(EncryptionHeader.KeyId, values[_FieldType.key_id]).name
        password = cast(EncryptionHeader.EncryptedPassword, values[_FieldType.encrypted_password]).data
        vector = values[_FieldType.initialization_vector]
    except KeyError as error:
        reason = f"the header of the encrypted log lacks its {error.args[0].name}"
        raise GrammarError(reason, position=0, field="encryption_header.fields") from None
    except BinlogError as error:
        reason = f"the header of the encrypted log is damaged: {error.reason}"
        raise GrammarError(reason, position=0, field="encryption_header") from None
    return key_id, password, cast(EncryptionHeader.InitializationVector, vector).data


def _is_log(plain: bytes) -> bool:
    """Whether these are the first bytes of a log, possibly with a damaged magic."""
    if plain.startswith(MAGIC) or MAGIC.startswith(plain):
        return True
    try:
        detect_version(plain[len(MAGIC) :][: header_length(1)])
    except (BinlogError, EOFError):
        return holds_events(plain)
    return True


class CounterStream(Layer):
    """The plaintext of a log in counter mode."""

    def __init__(self, raw: BinaryIO, header: bytes, key: bytes, nonce: bytes, peeked: bytes) -> None:
        super().__init__(raw)
        self.file_header = header
        self._key, self._nonce = key, nonce
        self._decryptor = self._decryptor_at(0)
        self._chunk = memoryview(self._decryptor.update(peeked))
        self._next = len(peeked)  # offset of the stream and the decryptor
        self._size = LEAST_CHUNK

    def _decryptor_at(self, position: int) -> CipherContext:
        count = (position // _BLOCK).to_bytes(_COUNTER, "big")
        return counter_decryptor(self._key, self._nonce + count)

    def _load(self, position: int) -> tuple[int, memoryview]:
        if position != self._next:
            self._next = position - position % _BLOCK
            self._raw.seek(HEADER_SIZE + self._next)
            self._decryptor = self._decryptor_at(self._next)
            self._size = LEAST_CHUNK
        start, data = self._next, read_up_to(self._raw, self._size)
        self._next += len(data)
        self._size = min(2 * self._size, MOST_CHUNK)
        return start, memoryview(self._decryptor.update(data))

    def _find_size(self) -> int:
        size = self._raw.seek(0, io.SEEK_END) - HEADER_SIZE
        self._raw.seek(HEADER_SIZE + self._next)
        return max(size, 0)
