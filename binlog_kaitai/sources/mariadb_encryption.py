"""Logs that MariaDB (encrypt_binlog) or Percona Server 5.7 encrypted, as the server sends them.

The format description and START_ENCRYPTION stand in plain, every event after them is encrypted. A server that
sends such a log to a client decrypts the events and marks START_ENCRYPTION as ignorable. So does this.
"""

from __future__ import annotations

from typing import Any, BinaryIO, NamedTuple, cast

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.context import Context, is_of_percona, key_ids
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    EventType,
    Format,
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

_HEADER = header_length(4)
_FLAGS, _FLAGS_WIDTH = header_offset("flags"), header_width("flags")

#: Longer events are not at the start of a log, in bytes.
_LONGEST_FORMAT = 1 << 14


class Begin(NamedTuple):
    """What a log says of its encryption.

    Attributes
    ----------
    key_ids : tuple of str
        What the key may be called, the exact name first.
    nonce : bytes
        For the initialization vectors.
    is_percona : bool
        Percona Server wrote it.
    layout : Format
        How the events are laid out.
    event : int
        Offset of START_ENCRYPTION.
    """

    key_ids: tuple[str, ...]
    nonce: bytes
    is_percona: bool
    layout: Format
    event: int


def decrypted(raw: BinaryIO, start: bytes, keys: Keys | None) -> tuple[BinaryIO | None, bytes]:
    """The plain log, or None where it is not encrypted so or its key is not known; and what was read of it.

    Without a key, the reader of the events refuses those that are encrypted.

    Parameters
    ----------
    raw
        A log, behind `start`.
    """
    head, begin = _read_begin(raw, start)
    if begin is None:
        return None, head
    from binlog_kaitai.sources.event_cipher import EventCipher
    from binlog_kaitai.sources.event_stream import EventStream

    peeked = b""
    try:
        candidates = find_keys(keys, *begin.key_ids)
        if not candidates:
            return None, head
        peeked = read_up_to(raw, LEAST_CHUNK)
        for key in candidates:
            cipher = EventCipher(
                key,
                begin.nonce,
                is_percona=begin.is_percona,
                is_checksummed=begin.layout.is_checksummed,
            )
            if cipher.is_right_for(peeked, len(head)):
                return cast(BinaryIO, EventStream(raw, _as_sent(head, begin), peeked, cipher)), head
        if _wrong_checksum(head, begin):
            return None, head + peeked  # of START_ENCRYPTION, which the reader finds damaged
        reason = f"the log is encrypted, and the key given for {begin.key_ids[0]!r} does not decrypt it"
        error: BinlogError = EncryptedError(reason, position=len(head))
    except BinlogError as caught:
        error = caught
    return cast(BinaryIO, Refused(raw, error)), head


def _read_begin(raw: BinaryIO, start: bytes) -> tuple[bytes, Begin | None]:
    """What was read of a log's start, and what it says of its encryption; None if nothing."""
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
    if second.type_code != EventType.start_encryption_event or is_plain or second.len_event > _LONGEST_FORMAT:
        return data, None
    data = read_up_to(raw, event + second.len_event - len(data), data)
    context = Context(4)
    try:
        described = context.observe(data[len(start) : event], first)
        content: Any = parse_event(data[event:], second.type_code, context.layout).body.content
    except BinlogError:
        return data, None
    if described is None:
        return data, None
    format_content: Any = described.body.content
    server = format_content.server_version
    ids = key_ids(content.key_version, server)
    return data, Begin(ids, content.nonce, is_of_percona(server), context.layout, event)


def _wrong_checksum(head: bytes, begin: Begin) -> int:
    """How far the checksum of START_ENCRYPTION is off (XOR); 0 where it is right or there is none."""
    if not begin.layout.is_checksummed:
        return 0
    stored = int.from_bytes(head[-CHECKSUM_SIZE:], "little")
    return stored ^ crc32(head[begin.event : -CHECKSUM_SIZE])


def _as_sent(head: bytes, begin: Begin) -> bytes:
    """The start of the log as a server sends it; a checksum that is wrong stays wrong."""
    sent, at = bytearray(head), begin.event + _FLAGS
    flags = int.from_bytes(sent[at : at + _FLAGS_WIDTH], "little") | masks.EventHeader.IS_IGNORABLE
    sent[at : at + _FLAGS_WIDTH] = flags.to_bytes(_FLAGS_WIDTH, "little")
    if begin.layout.is_checksummed:
        checksum = crc32(sent[begin.event : -CHECKSUM_SIZE]) ^ _wrong_checksum(head, begin)
        sent[-CHECKSUM_SIZE:] = checksum.to_bytes(CHECKSUM_SIZE, "little")
    return bytes(sent)
