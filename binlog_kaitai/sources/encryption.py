"""Decrypts logs of MySQL (binlog_encryption), MariaDB (encrypt_binlog) and Percona Server 5.7.

MySQL: a header names the key. The rest is one stream in counter mode, so any part can be decrypted
independently. Offsets are those of the decrypted log, as on the server.

MariaDB and Percona Server 5.7: the format description and START_ENCRYPTION are not encrypted; all following
events are. When a server sends such a log to a client, it decrypts the events and flags START_ENCRYPTION as
ignorable. This module does the same.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.context import Context, is_of_percona, key_ids
from binlog_kaitai.core.framing import MAGIC, holds_events, read_up_to
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    EncryptionHeader,
    EventType,
    Format,
    FormatDescriptionEvent,
    detect_version,
    header_length,
    header_offset,
    header_width,
    masks,
    parse_event,
    parse_structure,
    read_header,
    sizes,
)
from binlog_kaitai.errors import BinlogError, EncryptedError, GrammarError
from binlog_kaitai.sources.keys import BLOCK, Keys, counter_decryptor, decrypt_chain, find_keys
from binlog_kaitai.sources.layer import LEAST_CHUNK, MOST_CHUNK, Layer, Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

    from binlog_kaitai.core.bodies import StartEncryptionEvent

# -- MySQL

HEADER_SIZE = sizes.EncryptionHeader.HEADER_LENGTH

#: Size of the counter in a block, in bytes.
_COUNTER = 8

_FieldType = EncryptionHeader.FieldType

#: Number of bytes to decrypt when testing a key.
_START = 64 << 10


def decrypted_log(raw: BinaryIO, keys: Keys | None, start: bytes = b"") -> BinaryIO:
    """The plain log. Reading raises `EncryptedError` without the key, `GrammarError` of a damaged header.

    `raw`: the encrypted log, at its first byte, or after `start`.
    """
    header = read_up_to(raw, HEADER_SIZE - len(start), start)
    try:
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
            file_key, nonce = digest[:32], digest[32 : 32 + BLOCK - _COUNTER]
            plain = counter_decryptor(file_key, nonce + bytes(_COUNTER)).update(peeked)
            if _is_log(plain):
                return cast(BinaryIO, CounterStream(raw, header, file_key, nonce, peeked))
        reason = (
            f"the log is encrypted, and the key given for {key_id!r} does not decrypt it: "
            "the key is wrong, or the header is damaged"
        )
        raise EncryptedError(reason, position=0)
    except BinlogError as error:
        return cast(BinaryIO, Refused(raw, error, header))


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
        count = (position // BLOCK).to_bytes(_COUNTER, "big")
        return counter_decryptor(self._key, self._nonce + count)

    def _load(self, position: int) -> tuple[int, memoryview]:
        if position != self._next:
            self._next = position - position % BLOCK
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


# -- MariaDB, Percona Server

_HEADER = header_length(4)
_FLAGS, _FLAGS_WIDTH = header_offset("flags"), header_width("flags")

#: Maximum size of events at the start of a log, in bytes.
_LONGEST_FORMAT = 1 << 14


class Begin(NamedTuple):
    """The encryption parameters of a log.

    `key_ids`: possible ids of the key, the exact one first.
    `nonce`: part of the initialization vectors.
    `is_percona`: whether Percona Server wrote the log.
    `layout`: format of the events.
    `event`: offset of START_ENCRYPTION.
    """

    key_ids: tuple[str, ...]
    nonce: bytes
    is_percona: bool
    layout: Format
    event: int


def decrypted_events(raw: BinaryIO, start: bytes, keys: Keys | None) -> tuple[BinaryIO | None, bytes]:
    """The decrypted log, or None if it is not encrypted this way or its key is unknown; and bytes read.

    Without a key, the event reader reports encrypted events.

    `raw`: a log, after `start`.
    """
    header, begin = _read_begin(raw, start)
    if begin is None:
        return None, header
    from binlog_kaitai.sources.event_cipher import EventCipher, EventStream

    peeked = b""
    try:
        candidates = find_keys(keys, *begin.key_ids)
        if not candidates:
            return None, header
        peeked = read_up_to(raw, LEAST_CHUNK)
        for key in candidates:
            cipher = EventCipher(
                key,
                begin.nonce,
                is_percona=begin.is_percona,
                is_checksummed=begin.layout.is_checksummed,
            )
            if cipher.is_right_for(peeked, len(header)):
                return cast(BinaryIO, EventStream(raw, _as_sent(header, begin), peeked, cipher)), header
        if _wrong_checksum(header, begin):
            return None, header + peeked  # START_ENCRYPTION is damaged, which the reader reports
        reason = (
            f"the log is encrypted, and the key given for {begin.key_ids[0]!r} does not decrypt it: "
            "the key is wrong, or the first encrypted event is damaged"
        )
        error: BinlogError = EncryptedError(reason, position=len(header))
    except BinlogError as caught:
        error = caught
    return cast(BinaryIO, Refused(raw, error)), header


def _read_begin(raw: BinaryIO, start: bytes) -> tuple[bytes, Begin | None]:
    """The bytes read from a log's start, and its encryption parameters; None if it is not encrypted."""
    data = read_up_to(raw, _HEADER, start)
    if len(data) < len(start) + _HEADER:
        return data, None
    first = read_header(data[len(start) :], 4)
    is_format = first.type_code == EventType.format_description_event
    if not is_format or not _HEADER < first.len_event < _LONGEST_FORMAT:
        return data, None
    event = len(start) + first.len_event
    data = read_up_to(raw, event + _HEADER - len(data), data)
    if len(data) < event + _HEADER:
        return data, None
    second = read_header(data[event:], 4)
    is_plain = second.flags & masks.EventHeader.IS_IGNORABLE
    if second.type_code != EventType.start_encryption_event or is_plain:
        return data, None
    if not _HEADER <= second.len_event <= _LONGEST_FORMAT:
        return data, None
    data = read_up_to(raw, event + second.len_event - len(data), data)
    context = Context(4)
    try:
        described = context.observe(data[len(start) : event], first)
        body = parse_event(data[event:], second.type_code, context.layout).body
    except BinlogError:
        return data, None
    if described is None:
        return data, None
    encryption = cast("StartEncryptionEvent", body.content)
    server = cast(FormatDescriptionEvent, described.body.content).server_version
    ids = key_ids(encryption.key_version, server)
    return data, Begin(ids, encryption.nonce, is_of_percona(server), context.layout, event)


def _wrong_checksum(header: bytes, begin: Begin) -> int:
    """XOR of the stored and the correct checksum of START_ENCRYPTION; 0 if it is correct or absent."""
    if not begin.layout.is_checksummed:
        return 0
    stored = int.from_bytes(header[-CHECKSUM_SIZE:], "little")
    return stored ^ crc32(header[begin.event : -CHECKSUM_SIZE])


def _as_sent(header: bytes, begin: Begin) -> bytes:
    """The start of the log as a server sends it; a wrong checksum stays wrong."""
    sent, place = bytearray(header), begin.event + _FLAGS
    flags = int.from_bytes(sent[place : place + _FLAGS_WIDTH], "little") | masks.EventHeader.IS_IGNORABLE
    sent[place : place + _FLAGS_WIDTH] = flags.to_bytes(_FLAGS_WIDTH, "little")
    if begin.layout.is_checksummed:
        checksum = crc32(sent[begin.event : -CHECKSUM_SIZE]) ^ _wrong_checksum(header, begin)
        sent[-CHECKSUM_SIZE:] = checksum.to_bytes(CHECKSUM_SIZE, "little")
    return bytes(sent)
