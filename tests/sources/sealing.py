"""Encrypts plain logs like the servers, event by event, and writes key files."""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from pathlib import Path
from zlib import crc32

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, header_length, read_header
from tools.sealing import EventSealer, mysql_cipher, mysql_header

MYSQL_ID = "MySQLReplicationKey_0f9c2b6e-e519-11f1-a9a2-02fc00000001_3"
MYSQL_KEY = sha256(b"a key of MySQL").digest()
MARIADB_KEY = sha256(b"a key of MariaDB").digest()
PERCONA_KEY = MARIADB_KEY[:16]

_NONCE = bytes(range(0xF4, 0x100))


def as_mysql(plain: bytes, key_id: str = MYSQL_ID, key: bytes = MYSQL_KEY) -> bytes:
    """The log as stored by a MySQL server with binlog_encryption."""
    password, vector = sha256(plain).digest(), sha256(key_id.encode()).digest()[:16]
    return mysql_header(key_id, key, password, vector) + bytes(mysql_cipher(password).update(plain))


def write_keyring(path: Path, keys: dict[str, bytes]) -> Path:
    """A file of component_keyring_file."""
    elements = [
        {"user": "", "data_id": name, "data_type": "AES", "data": key.hex().upper(), "extension": []}
        for name, key in keys.items()
    ]
    path.write_text(json.dumps({"version": "1.0", "elements": elements}))
    return path


def old_keyring(keys: dict[str, bytes], version: str = "2.0") -> bytes:
    """A file of the plugin keyring_file."""
    data = b""
    for name, key in keys.items():
        hidden = bytes(one ^ b"*305=Ljt0*!@$Hnm(*-9-w;:"[at % 24] for at, one in enumerate(key))
        texts = name.encode() + b"AES" + hidden
        size = -(-(40 + len(texts)) // 8) * 8
        data += struct.pack("<5Q", size, len(name), 3, 0, len(key)) + texts.ljust(size - 40, b"\0")
    end = b"EOF" + (sha256(data).digest() if version == "2.0" else b"")
    return b"Keyring file version:" + version.encode() + data + end


def events_of(log: bytes) -> list[tuple[int, int]]:
    """Begin and end of each event of a plain log that is whole."""
    found, at = [], len(MAGIC)
    while at < len(log):
        size = read_header(log[at : at + 19], 4).len_event
        found.append((at, at + size))
        at += size
    return found


def with_start(log: bytes, key_version: int = 1) -> bytes:
    """The log with START_ENCRYPTION as its second event, marked as servers do in what they send."""
    (begin, end), *others = events_of(log)
    context = Context(4)
    first = read_header(log[begin:end], 4)
    context.observe(log[begin:end], first)
    is_checksummed = context.layout.is_checksummed
    size = header_length(4) + 17 + 4 * is_checksummed
    start = struct.pack("<IBIIIH", first.timestamp, 164, first.server_id, size, end + size, 0x80)
    start += struct.pack("<BI", 1, key_version) + _NONCE
    if is_checksummed:
        start += struct.pack("<I", crc32(start))
    made = bytearray(log[:end] + start)
    for begin, end in others:
        raw = bytearray(log[begin:end])
        header = read_header(bytes(raw), 4)
        if header.next_position and not context.is_relay_log:
            raw[13:17] = struct.pack("<I", header.next_position + size)
        if is_checksummed:
            raw[-4:] = struct.pack("<I", crc32(raw[:-4]))
        made += raw
        if header.type_code == EventType.format_description_event:
            context.observe(bytes(raw), header)
            is_checksummed = context.layout.is_checksummed
    return bytes(made)


def as_mariadb(sent: bytes, key: bytes = MARIADB_KEY, *, is_percona: bool = False) -> bytes:
    """The log as stored by a server with encrypt_binlog; its plain form is a log from `with_start`."""
    (_, first), (begin, end), *others = events_of(sent)
    start = bytearray(sent[begin:end])
    start[17:19] = b"\0\0"
    if len(start) > header_length(4) + 17:
        start[-4:] = struct.pack("<I", crc32(start[:-4]))
    sealed = bytearray(sent[:first] + start)
    seal = EventSealer(key, _NONCE, is_percona=is_percona)
    for begin, end in others:
        sealed += seal(sent[begin:end], begin)
    return bytes(sealed)
