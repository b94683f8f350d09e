"""Reads encrypted logs of MariaDB (encrypt_binlog) and Percona Server 5.7, in the form that the server sends.

The format description and START_ENCRYPTION are not encrypted; all following events are. When a server sends
such a log to a client, it decrypts the events and flags START_ENCRYPTION as ignorable. This module does the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.context import Context, is_of_percona, key_ids
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    EventType,
    Format,
    FormatDescriptionEvent,
    header_length,
    header_offset,
    header_width,
    masks,
    parse_event,
    read_header,
)
from binlog_kaitai.errors import BinlogError, EncryptedError
from binlog_kaitai.sources.keys import Keys, find_keys
from binlog_kaitai.sources.layer import LEAST_CHUNK, Refused

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import StartEncryptionEvent

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


def decrypted(raw: BinaryIO, start: bytes, keys: Keys | None) -> tuple[BinaryIO | None, bytes]:
    """The decrypted log, or None if it is not encrypted this way or its key is unknown; and bytes read.

    Without a key, the event reader reports encrypted events.

    `raw`: a log, after `start`.
    """
    header, begin = _read_begin(raw, start)
    if begin is None:
        return None, header
    from binlog_kaitai.sources.event_cipher import EventCipher
    from binlog_kaitai.sources.event_stream import EventStream

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
